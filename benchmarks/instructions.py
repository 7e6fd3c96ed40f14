"""Instructions of two builds, job by job: whether a change costs speed, on a machine whose seconds cannot tell.

    PERCEPTIVE_DATA=… python benchmarks/instructions.py OLD/.venv/bin/python NEW/.venv/bin/python [--only NAME …]

Needs valgrind with its headers, and cc. Each build plays every job in two sizes under callgrind, which counts inside
the job alone. The large minus the small is what examples cost; the small is mostly what a call costs. `--seconds N`
takes CPU seconds of the large size instead: N repetitions, the builds in turns, each in a process of its own. `--keep
FOLDER` keeps the profiles, for callgrind_annotate. The jobs use public names alone, so that builds whose insides
differ can be compared.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

# What builds have different defaults for.
FIXED: dict[str, Any] = {"bias": 1.0, "dtype": "float32"}
TEMPLATE = ["word[-2:2]", "word[-1..1]", "pos[-2:2]", "pos[-1..1]", "prefix(1..4)", "suffix(1..4)", "shape", "@label"]
TAGGING: dict[str, Any] = {"template": TEMPLATE, "rule": "perceptron", "C": 0.03, "encoding": None, "min_count": 1}
OPTIONS = ["--rule", "perceptron", "--hypothesis", "averaged", "--bias", "1"]
Play = Callable[[], object]
JOBS: dict[str, tuple[Callable[[int], Play], int, int]] = {}  # what makes a job of a size, and the two sizes
ALONE = {**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
MARKS = """
#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void stop(const char* name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""
PROCESSES = {
    "import perceptive": ["-c", "import perceptive"],
    "perceptive --help": ["-m", "perceptive", "--help"],
    "perceptive train, 3 lines": ["-m", "perceptive", "train", "tiny.svm", "-o", "tiny.model", "--quiet"],
}


# ---------------------------------------------------------------- jobs


def job(name: str, small: int, large: int) -> Callable[[Callable[[int], Play]], None]:
    """Add a job."""

    def add(make: Callable[[int], Play]) -> None:
        JOBS[name] = make, small, large

    return add


def add_jobs(scratch: Path) -> None:
    """All jobs of the build that runs this."""
    import numpy as np
    import scipy.sparse as sp
    from sklearn.datasets import load_svmlight_file

    from perceptive import KernelClassifier, LinearClassifier, LinearRanker, SequenceTagger
    from perceptive.cli import main
    from perceptive.kernels import Gaussian, Subsequence
    from perceptive.streams import conll

    folder = Path(os.environ["PERCEPTIVE_DATA"])
    lines = (folder / "a9a/train.svm").read_text().splitlines(keepends=True)[:8000]
    adult, income = load_svmlight_file(io.BytesIO("".join(lines).encode()), n_features=123)
    adult = sp.csr_array((adult.data.astype(np.float32), adult.indices, adult.indptr), shape=adult.shape)
    with np.load(folder / "mnist/mnist.npz") as file:
        digit = file["y_test"][:1000]
        dense = (file["x_test"][:1000].reshape(1000, -1) / 255).astype(np.float32)
    inked = sp.csr_array(dense)
    words, tags = conll.read(folder / "conll2002_ned/ned.testa")
    rng = np.random.default_rng(0)
    graded = rng.normal(size=(8000, 50)).astype(np.float32)
    grades = (graded @ rng.normal(size=50) + 2 * rng.normal(size=len(graded))).round()
    query = np.repeat(np.arange(400), 20)

    def fits(name: str, X: Any, y: Any, small: int, large: int, **parameters: Any) -> None:
        @job(name, small, large)
        def make(n: int) -> Play:
            rows, labels = X[:n], y[:n]
            return lambda: LinearClassifier(**{"epochs": 5, **FIXED, **parameters}).fit(rows, labels)

    for rule in ("perceptron", "pa1", "romma", "aggressive-romma", "arow"):
        fits(f"sparse {rule} last", adult, income, 2000, 8000, rule=rule, hypothesis="last")
    fits("sparse float64", adult.astype(np.float64), income, 2000, 8000, dtype="float64")
    for hypothesis in ("averaged", "voted", "best"):
        fits(f"sparse perceptron {hypothesis}", adult, income, 2000, 8000, hypothesis=hypothesis)
    fits("sparse arow averaged", adult, income, 2000, 8000, rule="arow")
    fits("sparse normalize delta", adult, income, 2000, 8000, normalize=True, delta=0.1)
    for rule in ("perceptron", "pa1", "romma", "arow"):
        fits(f"dense {rule} last", dense, digit % 2, 250, 1000, rule=rule, hypothesis="last")
    fits("dense perceptron averaged", dense, digit % 2, 250, 1000)
    for kind, X in (("sparse", inked), ("dense", dense)):
        fits(f"joint {kind} last", X, digit, 150, 600, hypothesis="last")
        fits(f"joint {kind} averaged", X, digit, 150, 600)
        fits(f"joint {kind} pa1", X, digit, 150, 600, rule="pa1", hypothesis="last")
        fits(f"joint {kind} arow", X, digit, 150, 600, rule="arow", hypothesis="last")
    fits("joint sparse voted", inked, digit, 150, 600, hypothesis="voted")
    fits("ovr sparse", inked, digit, 150, 600, multiclass="ovr")
    fits("ovo sparse", inked, digit, 150, 600, multiclass="ovo")

    def predicts(name: str, X: Any, y: Any, small: int, large: int, **parameters: Any) -> None:
        @job(name, small, large)
        def make(n: int) -> Play:
            model, rows = LinearClassifier(epochs=2, **FIXED, **parameters).fit(X[:1000], y[:1000]), X[:n]
            return lambda: model.predict(rows)

    predicts("predict sparse", adult, income, 2000, 8000)
    predicts("predict sparse voted", adult, income, 200, 800, hypothesis="voted")
    predicts("predict dense", dense, digit % 2, 250, 1000)
    predicts("predict joint sparse", inked, digit, 250, 1000)
    predicts("predict joint dense", dense, digit, 250, 1000)
    predicts("predict joint voted", inked, digit, 50, 200, hypothesis="voted")

    named = [{f"f{j}": 1.0 for j in adult.indices[adult.indptr[i] : adult.indptr[i + 1]]} for i in range(600)]

    @job("learn_one", 150, 600)
    def learn_one(n: int) -> Play:
        model = LinearClassifier(n_features=None)
        return lambda: [model.learn_one(x, y) for x, y in zip(named[:n], income[:n].tolist(), strict=True)]

    @job("predict_one", 150, 600)
    def predict_one(n: int) -> Play:
        model = LinearClassifier()
        for x, y in zip(named[:200], income[:200].tolist(), strict=True):
            model.learn_one(x, y)
        return lambda: [model.predict_one(x) for x in named[:n]]

    def ranks(name: str, X: Any, small: int, large: int, **parameters: Any) -> None:
        @job(name, small, large)
        def make(n: int) -> Play:
            rows = X[: 20 * n]
            return lambda: LinearRanker(epochs=3, **parameters).fit(rows, grades[: 20 * n], qid=query[: 20 * n])

    sparse_lists = sp.csr_array(np.where(np.abs(graded) > 1, graded, 0).astype(np.float32))
    ranks("rank dense best", graded, 100, 400, pairs="best")
    ranks("rank dense all", graded, 100, 400, pairs="all")
    ranks("rank dense worst, last", graded, 100, 400, pairs="worst", hypothesis="last")
    ranks("rank sparse best", sparse_lists, 100, 400, pairs="best")
    ranks("rank sparse pa1 all", sparse_lists, 100, 400, pairs="all", rule="pa1", C=0.1)
    ranks("rank sparse voted", sparse_lists, 100, 400, pairs="best", hypothesis="voted")

    def tagging(name: str, small: int, large: int, **parameters: Any) -> None:
        @job(name, small, large)
        def make(n: int) -> Play:
            return lambda: SequenceTagger(epochs=3, **{**TAGGING, **parameters}).fit(words[:n], tags[:n])

    tagging("tagger fit", 50, 200)
    tagging("tagger fit pa1", 50, 200, rule="pa1", C=0.1)
    tagging("tagger fit mira k=3", 25, 100, rule="mira", k=3)
    tagging("tagger fit voted", 50, 200, hypothesis="voted")
    tagging("tagger fit segments", 25, 100, segments=True)

    @job("tagger predict", 100, 400)
    def tag(n: int) -> Play:
        model = SequenceTagger(epochs=1, **TAGGING).fit(words[:100], tags[:100])
        return lambda: model.predict(words[-n:])

    @job("kernel Gaussian fit", 75, 225)
    def gaussian(n: int) -> Play:
        return lambda: KernelClassifier(kernel=Gaussian(gamma=0.02), epochs=3).fit(dense[:n], digit[:n])

    @job("kernel Gaussian predict", 75, 225)
    def gaussian_predict(n: int) -> Play:
        model = KernelClassifier(kernel=Gaussian(gamma=0.02), epochs=1).fit(dense[:75], digit[:75])
        return lambda: model.predict(dense[-n:])

    texts = [" ".join(token[0] for token in sentence)[:40] for sentence in words[:400]]
    long = [len(sentence) > 10 for sentence in words[:400]]

    @job("kernel strings fit", 20, 60)
    def strings(n: int) -> Play:
        return lambda: KernelClassifier(kernel=Subsequence(), epochs=3).fit(texts[:n], long[:n])

    def command(name: str, ending: str, line: Callable[[int], str], *options: str, head: str = "") -> None:
        @job(name, 1000, 4000)
        def make(n: int) -> Play:
            path = scratch / f"{n}.{ending}"
            path.write_text(head + "".join(line(i) for i in range(n)))
            out = ["--quiet", "--threads", "1", "-o", str(scratch / "made.model"), *OPTIONS, *options]

            def play() -> None:
                with contextlib.redirect_stdout(io.StringIO()):
                    assert main(["train", str(path), "--epochs", "1", *out]) in (0, None)

            return play

    def columns(i: int) -> list[int]:
        return adult.indices[adult.indptr[i] : adult.indptr[i + 1]].tolist()

    command("train svmlight", "svm", lambda i: f"{income[i]:+.0f} " + " ".join(f"{j + 1}:1" for j in columns(i)) + "\n")
    command("train vw", "vw", lambda i: f"{income[i]:.0f} | " + " ".join(f"f{j}:0.5" for j in columns(i)) + "\n")
    table = [rng.normal(size=8).round(3).tolist() for _ in range(4000)]
    command("train csv", "csv", lambda i: f"{income[i]:.0f}," + ",".join(map(str, table[i])) + ",red\n",
            head="label,a,b,c,d,e,f,g,h,colour\n")  # fmt: skip
    command("train text", "tsv", lambda i: f"{income[i]:.0f}\t{texts[i % 400]}\n", "--text", "--format", "text",
            "--words", "1", "--idf")  # fmt: skip

    @job("fit_stream svmlight, 3 epochs", 2000, 8000)
    def stream(n: int) -> Play:
        path = scratch / f"{n}.svm"
        path.write_text("".join(lines[:n]))
        return lambda: LinearClassifier(epochs=3, **FIXED).fit_stream(str(path))


# ---------------------------------------------------------------- within a build


def child(scratch: Path, names: list[str], marks: str | None) -> None:
    """Play jobs between callgrind's marks; without marks, one at each line of standard input, and print its seconds."""
    add_jobs(scratch)
    chosen = [name for name in JOBS if not names or any(part in name for part in names)]
    shim = ctypes.CDLL(marks) if marks else None
    print(*chosen, sep="|", flush=True)
    for name in chosen:
        make, *sizes = JOBS[name]
        make(sizes[0])()  # what is done once only is done now
        plays = {size: make(size) for size in (sizes if shim else sizes[1:])}
        gc.disable()
        for size, play in plays.items():
            if shim:
                gc.collect()
                shim.start()
                play()
                shim.stop(f"{name}|{size}".encode())
                continue
            while sys.stdin.readline() == "again\n":
                gc.collect()
                began = time.process_time()
                play()
                print(time.process_time() - began, flush=True)
        gc.enable()


# ---------------------------------------------------------------- outside


def play_counted(python: str, scratch: Path, names: list[str], out: Path) -> subprocess.Popen[bytes]:
    """Start playing the jobs; callgrind writes a profile of each."""
    out.mkdir(parents=True)
    scratch = scratch / out.name
    scratch.mkdir(exist_ok=True)
    (scratch / "marks.c").write_text(MARKS)
    shim = scratch / "marks.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", str(scratch / "marks.c"), "-o", str(shim)], check=True)
    valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}/jobs"]
    command = [*valgrind, python, __file__, "--child", str(scratch), "--marks", str(shim), "--only", *names]
    return subprocess.Popen(command, env=ALONE, stdout=subprocess.DEVNULL, stderr=(out / "log").open("w"))


def counts(out: Path) -> dict[str, tuple[int, int]]:
    """Instructions of each job, small and large, from the profiles."""
    found: dict[str, list[int]] = {}
    for path in sorted(out.glob("jobs.*"), key=lambda path: int(path.suffix[1:])):
        text = path.read_text()
        name = re.search(r"^desc: Trigger: Client Request: (.*)\|", text, re.M)
        total = re.search(r"^(?:summary|totals): (\d+)", text, re.M)
        if name and total:
            found.setdefault(name[1], []).append(int(total[1]))
    return {name: (sizes[0], sizes[1]) for name, sizes in found.items() if len(sizes) == 2}


def process(python: str, arguments: list[str], scratch: Path) -> tuple[int, int]:
    """Instructions of a whole process, and the modules that it imports."""
    (scratch / "tiny.svm").write_text("+1 1:1 2:1\n-1 3:1\n+1 2:1\n")
    out = scratch / "process"
    installed = {**ALONE, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(scratch / "bytecode")}
    how: dict[str, Any] = {"env": installed, "check": True, "cwd": scratch, "capture_output": True}
    noted = subprocess.run([python, "-X", "importtime", *arguments], **how)  # and all is compiled, as by pip
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", python, *arguments], **how)
    total = re.search(r"^totals: (\d+)", out.read_text(), re.M)
    assert total
    return int(total[1]), noted.stderr.count(b"import time:") - 1


def seconds(pythons: list[str], scratch: Path, names: list[str], repetitions: int) -> None:
    """CPU seconds of the large sizes, the builds in turns."""
    command = [__file__, "--child", str(scratch), "--only", *names]
    pipe = subprocess.PIPE
    builds = [subprocess.Popen([p, *command], env=ALONE, text=True, stdin=pipe, stdout=pipe) for p in pythons]
    lists = [build.stdout.readline().strip().split("|") for build in builds]  # type: ignore[union-attr]
    print("| job | old, ms | new, ms | medians | fastest | of the pairs |\n|---|---:|---:|---:|---:|---:|")
    for name in lists[0]:
        took: list[list[float]] = [[], []]
        for turn in range(repetitions):
            for k in (0, 1) if turn % 2 else (1, 0):
                print("again", file=builds[k].stdin, flush=True)
                took[k].append(float(builds[k].stdout.readline()))  # type: ignore[union-attr]
        for build in builds:
            print("next", file=build.stdin, flush=True)
        old, new = map(median, took)
        fastest = min(took[1]) / min(took[0])
        paired = median(b / a for a, b in zip(*took, strict=True))
        ratios = f"{new / old:.3f} | {fastest:.3f} | {paired:.3f}"
        print(f"| {name} | {1e3 * old:.1f} | {1e3 * new:.1f} | {ratios} |", flush=True)
    for build in builds:
        build.wait()


def main() -> None:
    """Compare two builds, or be one of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="of the old build and of the new one")
    parser.add_argument("--only", nargs="*", default=[], help="jobs whose names contain one of these")
    parser.add_argument("--seconds", type=int, default=0, metavar="N", help="CPU seconds, of N repetitions")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="for the profiles, of both builds")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--marks", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.child, options.only, options.marks)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        if options.seconds:
            return seconds(options.pythons, scratch, options.only, options.seconds)
        keep = options.keep or scratch
        outs = [keep / "profiles-old", keep / "profiles-new"]
        both = [play_counted(p, scratch, options.only, out) for p, out in zip(options.pythons, outs, strict=True)]
        if any([one.wait() for one in both]):
            sys.exit("a build failed:\n" + "".join((out / "log").read_text()[-2000:] for out in outs))
        found = [counts(out) for out in outs]
        print("| job | old, M | new, M | examples, new / old | a call, new / old |\n|---|---:|---:|---:|---:|")
        for label in found[0]:
            (a, b), (c, d) = found[0][label], found[1][label]
            print(f"| {label} | {(b - a) / 1e6:.1f} | {(d - c) / 1e6:.1f} | {(d - c) / (b - a):.3f} | {c / a:.3f} |")
        if options.only:
            return None
        print("\n| process | old, M | new, M | ratio | modules, old | new |\n|---|---:|---:|---:|---:|---:|")
        for label, arguments in PROCESSES.items():
            (a, m), (b, n) = (process(python, arguments, scratch) for python in options.pythons)
            print(f"| {label} | {a / 1e6:.1f} | {b / 1e6:.1f} | {b / a:.3f} | {m} | {n} |")
    return None


if __name__ == "__main__":
    main()
