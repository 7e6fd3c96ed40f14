"""What the order of files does to a model: sorted by label, a file per class, or shuffled, against `fit` in memory."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.update(dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1"))

import numpy as np

import data
from machine import machine
from perceptive import LinearClassifier, streams
from report import Table, Target, show, write

WORDS = {"format": "text"}
LETTERS = {"format": "text", "text": {"words": None, "chars": (1, 4)}}
ORDERS = ("shuffled", "sorted", "a file per class")
CLOSE, NEAR = 0.5, 2.0  # points of accuracy that ten epochs, and one, may lose


@dataclass(frozen=True)
class Set:
    """Lines to learn from, each with its label, and lines to test on."""

    name: str
    lines: list[tuple[str, str]]
    test: list[str]
    reading: dict[str, Any]


def sets() -> Iterator[Set]:
    """Those that are there."""
    for name, reading in (("subjectivity", WORDS), ("trec", WORDS), ("languages", LETTERS), ("names", LETTERS)):
        train, test = data.part(f"{name}/train.tsv"), data.part(f"{name}/test.tsv")
        if train is not None and test is not None:
            yield Set(name, lines_of(train, name), [line for _, line in lines_of(test, name)], reading)
    sms = data.part("sms_spam/SMSSpamCollection")
    if sms is not None:
        lines = lines_of(sms, "sms_spam")
        order = np.random.default_rng(0).permutation(len(lines)).tolist()
        cut = len(lines) // 5
        yield Set("sms_spam", [lines[i] for i in order[cut:]], [lines[i][1] for i in order[:cut]], WORDS)
    train, test = data.part("a9a/train.svm"), data.part("a9a/test.svm")
    if train is not None and test is not None:
        lines, tests = lines_of(train, "a9a"), [line for _, line in lines_of(test, "a9a")]
        reading = {"format": "svmlight", "n_features": 123}
        yield Set("a9a", lines, tests, reading)
        yield Set("a9a × 20", lines * 20, tests, reading)


def lines_of(path: Path, name: str) -> list[tuple[str, str]]:
    """Labels and lines; the labels of TREC without what is behind the colon."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        label, blank, rest = line.partition(" " if name == "a9a" else "\t")
        label = label.partition(":")[0] if name == "trec" else label
        if blank:
            found.append((label, f"{label}{blank}{rest}\n"))
    return found


def files_of(one: Set, order: str, folder: Path) -> list[Path]:
    """The lines, in files."""
    shuffled = [one.lines[i] for i in np.random.default_rng(1).permutation(len(one.lines)).tolist()]
    parts = {"all": shuffled}
    if order == "sorted":
        parts = {"all": sorted(shuffled, key=lambda pair: pair[0])}
    elif order == "a file per class":
        parts = {str(i): [pair for pair in shuffled if pair[0] == label] for i, label in enumerate(labels_of(one))}
    paths = [folder / name for name in parts]
    for path, lines in zip(paths, parts.values(), strict=True):
        path.write_text("".join(line for _, line in lines), "utf-8")
    return paths


def labels_of(one: Set) -> list[str]:
    """The classes."""
    return sorted({label for label, _ in one.lines})


def accuracies(one: Set, epochs: int, seeds: int) -> list[float]:
    """In percent, the mean over some seeds: `fit` in memory, then `fit_stream` with each order."""
    options = [{"epochs": epochs, "random_state": seed} for seed in range(seeds)]
    found = []
    with tempfile.TemporaryDirectory(prefix="perceptive-bench-") as name:
        folder = Path(name)
        (folder / "test").write_text("".join(one.test), "utf-8")
        X_test, y_test = streams.load(folder / "test", dtype="float32", **one.reading)
        X, y = streams.load(files_of(one, "shuffled", folder), dtype="float32", **one.reading)
        found.append([LinearClassifier(**o).fit(X, y).score(X_test, y_test) for o in options])
        del X, y
        for order in ORDERS:
            paths = files_of(one, order, folder)
            models = (
                LinearClassifier(**o).fit_stream(streams.open(paths, dtype="float32", **one.reading)) for o in options
            )
            found.append([model.score(X_test, y_test) for model in models])
    return [100 * float(np.mean(scores)) for scores in found]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="runs that are averaged")
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    chosen = parser.parse_args()
    table = Table("Accuracy in percent", ["", "epochs", "fit in memory", *ORDERS, "lost at most"])
    worst = {1: -np.inf, 10: -np.inf}
    for one in sets():
        for epochs in worst:
            memory, *files = accuracies(one, epochs, chosen.seeds)
            lost = memory - min(files)
            worst[epochs] = max(worst[epochs], lost)
            table.rows.append([one.name, str(epochs), *(f"{score:.2f}" for score in (memory, *files)), f"{lost:.2f}"])
    targets = [
        Target("ten epochs lose at most 0.5 points, whatever the order", f"{worst[10]:.2f}", worst[10] <= CLOSE),
        Target("one epoch loses at most 2 points", f"{worst[1]:.2f}", worst[1] <= NEAR),
    ]
    show([table], targets)
    if chosen.write:
        write("order", [table], targets, machine("two cores", "numpy"))


if __name__ == "__main__":
    main()
