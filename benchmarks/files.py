"""From files to models, whole processes: against Vowpal Wabbit, scikit-learn and LIBLINEAR. `--help` says more."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

os.environ.update(dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1"))

import numpy as np

import data
from machine import machine
from perceptive import streams
from perceptive.streams.blocks import blocks
from perceptive.streams.file_format import FileFormat
from processes import Command, Processes, interleave, ratio
from report import Table, Target, show, write

PYTHON = sys.executable
PERCEPTIVE = (PYTHON, "-m", "perceptive")
VW = (PYTHON, "-m", "vowpalwabbit", "--quiet")
SCIKIT_LEARN = """
import sys
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier
X, y = load_svmlight_file(sys.argv[1])
X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
once = {"max_iter": 1, "tol": None, "average": True}
SGDClassifier(loss="perceptron", learning_rate="constant", eta0=1, penalty=None, **once).fit(X, y)
"""
TEXTS = """
import sys
import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
def read(path):
    rows = [line.rstrip("\\n").split("\\t", 1) for line in open(path, encoding="utf-8")]
    return [text for _, text in rows], [label for label, _ in rows]
vectorizer = HashingVectorizer(ngram_range=(1, 2), n_features=2**18)
texts, y = read(sys.argv[1])
model = SGDClassifier(random_state=int(sys.argv[3])).fit(vectorizer.transform(texts), y)
texts, y = read(sys.argv[2])
print(np.mean(model.predict(vectorizer.transform(texts)) == np.array(y)))
"""
RIVER = """
import sys
from river import linear_model, stream
model = linear_model.Perceptron()
for x, y in stream.iter_libsvm(sys.argv[1], target_type=int):
    model.learn_one(x, y > 0)
"""


def train(path: Path, model: Path, *options: str) -> Command:
    """Our command."""
    return (
        *PERCEPTIVE,
        "train",
        str(path),
        "-o",
        str(model),
        "--quiet",
        "--rule",
        "perceptron",
        "--bias",
        "1",
        *options,
    )


def seconds(times: Processes) -> list[str]:
    """Cells of a table."""
    return [f"{times.seconds:.2f}", f"{times.cpu_seconds:.2f}", f"{max(times.memory) / 1e6:.0f}"]


# ---------------------------------------------------------------- parsers alone


def parsing(path: Path, reading: FileFormat, repetitions: int) -> float:
    """MB of text a second of CPU time, one thread, the parser of the core alone."""
    texts = [bytes(block.text) for block, _ in zip(blocks(str(path)), range(64), strict=False)]
    size = sum(map(len, texts))
    parser = reading.parser()
    rates = []
    for _ in range(repetitions):
        began = time.process_time()
        for text in texts:
            parser.parse(text, True, False)
        rates.append(size / (time.process_time() - began) / 1e6)
    return median(rates)


# ---------------------------------------------------------------- text


def texts(folder: Path, source: Path, repetitions: int) -> tuple[list[list[str]], float, float]:
    """Raw texts, word pairs hashed: rows of the table, the ratio of times, and how far ahead we are in accuracy."""
    lines = [line for line in source.read_text(encoding="utf-8").splitlines() if line.count("\t") == 1]
    ours, theirs, gains, accuracies = [], [], [], []
    script = folder / "texts.py"
    script.write_text(TEXTS)
    train_file, test_file, model = folder / "train.txt", folder / "test.txt", folder / "texts.model"
    for seed in range(repetitions):
        order = np.random.default_rng(seed).permutation(len(lines))
        cut = len(lines) // 5
        test_file.write_text("\n".join(lines[i] for i in order[:cut]) + "\n", encoding="utf-8")
        train_file.write_text("\n".join(lines[i] for i in order[cut:]) + "\n", encoding="utf-8")
        options = ("--text", "--words", "1-2", "--bits", "18", "--rule", "arow", "--seed", str(seed))
        rival = (PYTHON, str(script), str(train_file), str(test_file), str(seed))
        results = interleave({"ours": train(train_file, model, *options), "theirs": rival}, 1)
        ours.append(results["ours"].wall[0])
        theirs.append(results["theirs"].wall[0])
        right = _accuracy(model, test_file)
        rival_right = float(os.popen(" ".join(rival)).read())
        accuracies.append((right, rival_right))
        gains.append(right - rival_right)
    mean_ours, mean_theirs = (100 * float(np.mean(column)) for column in zip(*accuracies, strict=True))
    rows = [
        ["perceptive train --text --words 1-2 --bits 18 --rule arow", f"{median(ours):.2f}", f"{mean_ours:.2f}"],
        ["HashingVectorizer(ngram_range=(1, 2)) + SGDClassifier()", f"{median(theirs):.2f}", f"{mean_theirs:.2f}"],
    ]
    return rows, median(a / b for a, b in zip(ours, theirs, strict=True)), 100 * float(np.mean(gains))


def _accuracy(model: Path, path: Path) -> float:
    from perceptive.models.registry import load_learner

    learner = load_learner(model)
    right = total = 0
    for X, y in streams.open(path, format=learner.space.format):
        right += int(np.sum(np.array(learner.predict_many(X)) == y))
        total += len(y)
    return right / total


# ---------------------------------------------------------------- all of it


def main() -> None:
    """Measure, print, and write down if asked to."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="small files, to try the script out")
    options.add_argument("--write", action="store_true", help="put the tables into README.md")
    options.add_argument("--repetitions", type=int, default=5)
    options.add_argument("--beside", metavar="PYTHON", help="compare only with another build, by its interpreter")
    chosen = options.parse_args()
    repetitions = 2 if chosen.quick else chosen.repetitions
    if chosen.beside:
        with tempfile.TemporaryDirectory(prefix="perceptive-bench-") as name:
            show([beside(chosen.beside, Path(name), chosen.quick, repetitions)], [])
        return
    with tempfile.TemporaryDirectory(prefix="perceptive-bench-") as name:
        tables, targets = measure(Path(name), chosen.quick, repetitions)
    show(tables, targets)
    if chosen.write:
        write("files", tables, targets, machine("two cores", "numpy", "vowpalwabbit", "scikit-learn"))


def large_files(quick: bool) -> tuple[Path, Path]:
    """The large file as svmlight and as VW text, in the page cache."""
    large, large_vw = data.zipf_files(20_000 if quick else 500_000, 2**20)
    for path in (large, large_vw):
        for block in blocks(str(path)):
            block.release()
    return large, large_vw


def beside(python: str, folder: Path, quick: bool, repetitions: int) -> Table:
    """The large file by this build and by another, in turns: medians of the ratios, this to the other."""
    large, large_vw = large_files(quick)
    jobs = {
        "two lines": (folder / "one.svm", "1"),
        "one epoch": (large, "1"),
        "one epoch, --bits 20": (large, "1", "--bits", "20"),
        "one epoch, VW text": (large_vw, "1", "--bits", "20"),
        "two epochs": (large, "2"),
    }
    (folder / "one.svm").write_text("1 1:1\n0 2:1\n")
    rows = []
    for name, (path, *more) in jobs.items():
        ours = train(path, folder / "ours.model", "--epochs", *more)
        found = interleave({"this": ours, "other": (python, *ours[1:])}, repetitions)
        this, other = found["this"], found["other"]
        cpu = median(a / b for a, b in zip(this.cpu, other.cpu, strict=False))
        rows.append([name, f"{this.seconds:.2f}", f"{ratio(this, other):.2f}", f"{cpu:.2f}"])
    return Table(f"This build beside that of {python}", ["", "wall s", "wall, ratio", "CPU, ratio"], rows)


def measure(folder: Path, quick: bool, repetitions: int) -> tuple[list[Table], list[Target]]:
    """Everything."""
    large, large_vw = large_files(quick)
    size = large.stat().st_size / 1e6
    tables, targets = [], []

    model, vw_model, out = folder / "ours.model", folder / "vw.model", folder / "out.txt"
    script = folder / "loader.py"
    script.write_text(SCIKIT_LEARN)
    commands: dict[str, Command] = {
        "perceptive": train(large, model, "--epochs", "1"),
        "perceptive --bits 20": train(large, model, "--epochs", "1", "--bits", "20"),
        "perceptive, VW text": train(large_vw, model, "--epochs", "1", "--bits", "20"),
        "VW": (*VW, "-d", str(large_vw), "-b", "20", "-f", str(vw_model)),
        "scikit-learn averaged": (PYTHON, str(script), str(large)),
    }
    if shutil.which("liblinear-train"):
        commands["LIBLINEAR (until it is done)"] = (
            "liblinear-train",
            "-q",
            str(large),
            str(folder / "liblinear.model"),
        )
    one = interleave(commands, repetitions)
    header = ["", "wall s", "CPU s", "peak MB", "wall / VW"]
    table = Table(f"One pass over {size:.0f} MB of text, to an averaged model", header)
    table.rows += [[name, *seconds(times), f"{ratio(times, one['VW']):.2f}"] for name, times in one.items()]
    tables.append(table)
    against = ratio(one["perceptive"], one["VW"])
    targets.append(
        Target("large file → one-pass averaged model ≤ 0.2 × VW's wall time", f"{against:.2f}", against <= 0.2)
    )
    against = ratio(one["perceptive"], one["scikit-learn averaged"])
    targets.append(Target("… ≤ 0.04 × scikit-learn's", f"{against:.3f}", against <= 0.04))
    peak = max(one["perceptive --bits 20"].memory) / 1e6
    targets.append(Target("peak memory with --bits 20 ≤ 150 MB", f"{peak:.0f} MB", peak <= 150))

    run = interleave(
        {
            "perceptive predict": (*PERCEPTIVE, "predict", str(folder / "again.model"), str(large), "-o", str(out)),
            "VW -t": (*VW, "-d", str(large_vw), "-t", "-i", str(vw_model), "-p", str(out)),
        },
        repetitions,
        before=lambda: _train_once(large, folder / "again.model"),
    )
    table = Table(f"Predictions for {size:.0f} MB", header[:4])
    table.rows += [[name, *seconds(times)] for name, times in run.items()]
    tables.append(table)
    against = ratio(run["perceptive predict"], run["VW -t"])
    targets.append(Target("predict on the large file ≤ 0.2 × VW", f"{against:.2f}", against <= 0.2))

    few, many = 2, 6
    cache = str(folder / "vw.cache")
    passes = {
        f"{name} {n}": (*command, option, str(n))
        for name, command, option in (
            ("perceptive", train(large, model), "--epochs"),
            ("VW", (*VW, "-d", str(large_vw), "-b", "20", "-k", "--cache_file", cache, "--holdout_off"), "--passes"),
        )
        for n in (few, many)
    }
    later = interleave(passes, repetitions)
    per_pass = {
        name: [
            (b - a) / (many - few)
            for a, b in zip(later[f"{name} {few}"].wall, later[f"{name} {many}"].wall, strict=True)
        ]
        for name in ("perceptive", "VW")
    }
    table = Table(f"A later pass, from the cache ({many} passes less {few}, over {many - few})", ["", "wall s"])
    table.rows += [[name, f"{median(times):.2f}"] for name, times in per_pass.items()]
    tables.append(table)
    against = median(a / b for a, b in zip(*per_pass.values(), strict=True))
    targets.append(Target("later passes from the cache ≤ 0.25 × VW's", f"{against:.2f}", against <= 0.25))

    table = Table("The parser alone, one thread, CPU time", ["", "MB/s"])
    for what, path, reading, least in (
        ("svmlight", large, FileFormat(), 600),
        ("svmlight, hashed", large, FileFormat(bits=20), None),
        ("VW text", large_vw, FileFormat(name="vw", bits=20), 400),
    ):
        rate = parsing(path, reading, repetitions)
        table.rows.append([what, f"{rate:.0f}"])
        if least:
            targets.append(Target(f"single-thread parse of {what} ≥ {least} MB/s", f"{rate:.0f}", rate >= least))
    tables.append(table)

    a9a = data.part("a9a/train.svm")
    if a9a is not None:
        vw_text = folder / "a9a.vw"
        vw_text.write_text("".join(f"{y} | {x}" for y, _, x in (line.partition(" ") for line in a9a.open())))
        script = folder / "online.py"
        script.write_text(RIVER)
        small = interleave(
            {
                "perceptive": train(a9a, model, "--epochs", "1"),
                "VW": (*VW, "-d", str(vw_text), "-b", "18", "-f", str(vw_model)),
                "River": (PYTHON, str(script), str(a9a)),
            },
            3 * repetitions,
        )
        table = Table("a9a, one pass (2.3 MB): the cost of starting", header[:4])
        table.rows += [[name, *seconds(times)] for name, times in small.items()]
        tables.append(table)
        against = ratio(small["perceptive"], small["VW"])
        targets.append(Target("no slower than VW on the smallest file", f"{against:.2f}", against <= 1.0))

    start = interleave(
        {
            "import numpy, one thread": ("env", "OPENBLAS_NUM_THREADS=1", PYTHON, "-c", "import numpy"),
            "perceptive --help": (*PERCEPTIVE, "--help"),
            "perceptive inspect": (*PERCEPTIVE, "inspect", str(folder / "start.model")),
            "perceptive predict, one line": (
                *PERCEPTIVE,
                "predict",
                str(folder / "start.model"),
                str(folder / "one.svm"),
            ),
        },
        5 * repetitions,
        before=lambda: _one_line(folder),
    )
    table = Table("Starting", header[:4])
    table.rows += [[name, f"{times.seconds:.3f}", *seconds(times)[1:]] for name, times in start.items()]
    tables.append(table)
    numpy = start["import numpy, one thread"].seconds
    slowest = max(start[f"perceptive {what}"].seconds for what in ("inspect", "predict, one line")) - numpy
    help = start["perceptive --help"].seconds
    targets.append(Target("perceptive --help ≤ 0.1 s", f"{help:.3f} s", help <= 0.1))
    targets.append(Target("a command within 0.15 s of importing NumPy", f"{slowest:.3f} s", slowest <= 0.15))

    sms = data.part("sms_spam/SMSSpamCollection")
    if sms is not None:
        lines, against, gain = texts(folder, sms, repetitions)
        table = Table(
            "SMS spam, raw text to a model, a random split for each repetition",
            ["", "wall s", "accuracy %"],
            list(lines),
        )
        tables.append(table)
        targets.append(
            Target("raw text, hashed pairs ≤ 0.2 × HashingVectorizer + SGD", f"{against:.2f}", against <= 0.2)
        )
        targets.append(Target("… with at least its accuracy", f"{gain:+.2f} points", gain >= 0))
    return tables, targets


def _one_line(folder: Path) -> None:
    if not (folder / "start.model").exists():
        (folder / "one.svm").write_text("1 1:1\n0 2:1\n")
        _train_once(folder / "one.svm", folder / "start.model")


def _train_once(path: Path, model: Path) -> None:
    if not model.exists():
        interleave({"train": train(path, model, "--epochs", "1")}, 1)


if __name__ == "__main__":
    main()
