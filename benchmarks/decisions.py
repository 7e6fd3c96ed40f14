"""The figures of decisions that no other benchmark makes; each part names its page in docs/decisions.

    python benchmarks/decisions.py            # all
    python benchmarks/decisions.py bias scale # some

Texts, Adult and taggers need PERCEPTIVE_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

os.environ.update(dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1"))

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import data
from defaults import accuracy, tables
from perceptive import LinearClassifier, SequenceTagger, load
from perceptive.cli import main as perceptive
from perceptive.evaluation.conlleval import evaluate
from perceptive.evaluation.metrics import ndcg
from perceptive.features.presets import lines_for
from perceptive.streams import conll
from processes import run
from report import Table, show

KNOWN = ("iris", "wine", "breast_cancer", "digits")
COMMAND = ["perceptive", "train", "--quiet", "--text"]


def probabilities() -> Table:
    """0032: the worst and the mean log loss over ten splits."""
    table = Table("Log loss over 10 splits: worst (mean)", ["", "perceptive", "logistic regression"])
    for name in KNOWN[:3]:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        for scaled in (False, True):
            models = LinearClassifier(probability=True), LogisticRegression(max_iter=10_000)
            cells = [_losses(make_pipeline(StandardScaler(), model) if scaled else model, X, y) for model in models]
            table.rows.append([name + ", standardised" * scaled, *cells])
        table.rows.append([f"{name}, from a CSV file", _told(_losses_of_files(X, y)), ""])
    return table


def _losses_of_files(X: Any, y: Any) -> Iterator[float]:
    """The log loss of what the command line learns from each of ten splits."""
    with tempfile.TemporaryDirectory() as name:
        path, model = Path(name) / "train.csv", Path(name) / "model"
        for one, two, of_one, of_two in splits(pd.DataFrame(X).add_prefix("column "), y):
            one.assign(label=of_one).to_csv(path, index=False)
            perceptive(["train", str(path), "--label", "label", "--holdout", "0.1", "-o", str(model), "--quiet"])
            yield log_loss(of_two, load(model).predict_proba(two))


def wine() -> Table:
    """0032: the same on wine as it is, by what else the perceptron could do, and what its scores allow at best."""
    ways: dict[str, dict[str, Any]] = {"the defaults": {}}
    ways |= {f"epochs={n}": {"epochs": n} for n in (100, 1000, 10_000)}
    ways |= {"bias=1": {"bias": 1.0}, "rule='pa1'": {"rule": "pa1"}, "rule='arow'": {"rule": "arow"}}
    table = Table("Log loss on wine as it is: worst (mean)", ["", "perceptive", "regression on tested scores"])
    X, y = datasets.load_wine(return_X_y=True)
    for title, options in ways.items():
        model = LinearClassifier(probability=True, **options)
        table.rows.append([title, _losses(model, X, y), _losses(model, X, y, _regressed)])
    return table


def _losses(model: Any, X: Any, y: Any, probabilities: Callable[[Any, Any, Any], Any] | None = None) -> str:
    """The worst and the mean log loss over ten splits; ``probabilities`` of the model, the rows and their labels."""
    losses = []
    for one, two, of_one, of_two in splits(X, y):
        fitted = model.fit(one, of_one)
        found = probabilities(fitted, two, of_two) if probabilities else fitted.predict_proba(two)
        losses.append(log_loss(of_two, found))
    return _told(losses)


def splits(X: Any, y: Any) -> Iterator[Any]:
    """Ten splits: rows to learn from and to test on, and the labels of both."""
    return (train_test_split(X, y, test_size=0.3, random_state=seed) for seed in range(10))


def _told(losses: Iterable[float]) -> str:
    found = list(losses)
    return f"{max(found):.2f} ({np.mean(found):.2f})"


def _regressed(model: Any, X: Any, y: Any) -> Any:
    """Probabilities by a logistic regression from scores to the very labels that are tested."""
    scores = StandardScaler().fit_transform(model.decision_function(X))
    return LogisticRegression(C=1e6, max_iter=100_000).fit(scores, y).predict_proba(scores)


def arrays() -> Iterator[tuple[str, Any, Any]]:
    """Rows that were not scaled, and the same standardised."""
    for name in KNOWN:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, X, y
        yield f"{name}, standardised", StandardScaler().fit_transform(X), y
    for one in data.a9a():
        yield "a9a, 10,000 rows", one.X[:10_000], one.y[:10_000]
    mnist = data.digits()
    X, y = mnist.X[:5000].astype(float), mnist.y[:5000]
    yield f"{mnist.name}, {len(y):,} rows, of 0 … 1", X / X.max(), y
    yield f"{mnist.name}, {len(y):,} rows, of 0 … {X.max():.0f}", X, y
    centers = [[20, 20], [21, 24], [22, 22]]
    yield "three blobs around (21, 22)", *datasets.make_blobs(300, random_state=0, centers=centers)
    yield "make_classification, 20 columns", *datasets.make_classification(2000, random_state=0)


def bias() -> Table:
    """0033: a constant feature of 1, and one as large as rows are long."""
    rules = {"perceptron": {}, "pa1": {"rule": "pa1", "C": 0.1}}
    header = [f"{rule}, {b}" for rule in rules for b in (1, "auto")]
    table = Table("Accuracy in per cent, five splits", ["", "rms length", *header])
    for name, X, y in arrays():
        length = (X.multiply(X) if hasattr(X, "multiply") else X**2).sum(axis=1).mean() ** 0.5
        cells = []
        for options in rules.values():
            for b in (1.0, "auto"):
                right = []
                for seed in range(5):
                    one, two, of_one, of_two = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
                    right.append(LinearClassifier(bias=b, **options).fit(one, of_one).score(two, of_two))
                cells.append(f"{100 * np.mean(right):.1f}")
        table.rows.append([name, f"{length:.1f}", *cells])
    return table


def scale() -> Table:
    """0036: tables as they are, standardised, and divided by the largest value."""
    ways = ("none", "standard", "max")
    table = Table("Accuracy in per cent of `perceptive train`", ["", *ways])
    with tempfile.TemporaryDirectory() as name:
        for one in tables(Path(name)):
            scores = (accuracy(one, f"--scale {way}", 1, Path(name)) for way in ways)
            table.rows.append([one.name, *(f"{score:.1f}" for score in scores)])
    return table


def scaled_lists() -> Table:
    """0036: lists of five rows, graded by class, as they are and standardised."""
    kinds: dict[str, list[str]] = {"linear": [], "gaussian": ["--kernel", "gaussian(sigma=2)"]}
    ways = [(kind, way) for kind in kinds for way in ("none", "standard")]
    table = Table("NDCG of `perceptive train --task rank --pairs all`", ["", *(f"{kind}, {way}" for kind, way in ways)])
    with tempfile.TemporaryDirectory() as folder:
        file, model = str(Path(folder, "lists.jsonl")), str(Path(folder, "rank.model"))
        for name in KNOWN[:3]:
            X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
            rng, lists = np.random.default_rng(0), []
            for rows in np.array_split(rng.permutation(len(y)), 2):  # to learn from, and new ones
                chosen = np.array([rng.choice(rows, 5, replace=False) for _ in range(300)])
                named = [[{f"c{j}": x for j, x in enumerate(row)} for row in X[some].tolist()] for some in chosen]
                lists.append((named, y[chosen].astype(float)))
            lines = (json.dumps({"candidates": xs, "grades": g.tolist()}) for xs, g in zip(*lists[0], strict=True))
            Path(file).write_text("\n".join(lines))
            cells, (new, grades) = [name], lists[1]
            for kind, way in ways:
                how = ["--task", "rank", "--pairs", "all", "--scale", way, *kinds[kind]]
                perceptive(["train", file, "-o", model, "--quiet", *how])
                scores = np.concatenate(load(model).decision_function(new))
                cells.append(f"{ndcg(grades.ravel(), scores, np.arange(0, scores.size + 1, 5)):.3f}")
            table.rows.append(cells)
    return table


def raw_input() -> Table:
    """0034: rows of a model of the command line, from Python and from a file."""
    rng, n = np.random.default_rng(0), 100_000
    frame = pd.DataFrame(
        {"a": rng.normal(size=n), "b": rng.integers(9, size=n), "c": rng.choice(["x", "y", "z"], size=n)}
    )
    frame["label"] = np.where(frame["a"] + frame["b"] > 4, "yes", "no")
    table = Table("Rows predicted a second of CPU", ["", "rows/s"])
    with tempfile.TemporaryDirectory() as name:
        file, model, out = (str(Path(name, part)) for part in ("rows.csv", "rows.model", "out"))
        frame.to_csv(file, index=False)
        perceptive(["train", file, "--label", "label", "-o", model, "--quiet"])
        loaded, rows = load(model), frame.drop(columns="label")
        dicts = rows.to_dict("records")
        ways: dict[str, Callable[[], Any]] = {
            "a data frame": lambda: loaded.predict(rows),
            "dicts": lambda: loaded.predict(dicts),
            "the CSV file, on the command line": lambda: perceptive(["predict", model, file, "-o", out]),
        }
        for title, way in ways.items():
            table.rows.append([title, f"{n / _cpu(way):,.0f}"])
    return table


def sizes() -> Table:
    """0030: time and size of models of many classes, whole commands."""
    table = Table("`perceptive train FILE --text`", ["", "CPU, s", "model, MB"])
    with tempfile.TemporaryDirectory() as name:
        model = str(Path(name, "model"))
        for which in ("trec", "languages"):
            file = data.part(f"{which}/train.tsv")
            if file is not None:
                _, cpu, _ = run([*COMMAND, str(file), "-o", model])
                table.rows.append([which, f"{cpu:.2f}", f"{os.path.getsize(model) / 1e6:.2f}"])
        iris = next(one for one in tables(Path(name)) if one.name == "iris")
        accuracy(iris, "", 1, Path(name))
        table.rows.append(["iris, a table", "", f"{os.path.getsize(model) / 1e6:.3f}"])
    return table


def checksum() -> Table:
    """0021: how fast the checksum of a model file is."""
    content = np.random.default_rng(0).bytes(10**8)
    return Table("CRC-32", ["", "GB/s"], [["zlib.crc32", f"{0.1 / _cpu(lambda: zlib.crc32(content)):.1f}"]])


def slips(seeds: int = 10) -> Table:
    """0038: one label in a thousand becomes another segment's, so that it does not follow from the one before."""
    folder, header = Path(os.environ["PERCEPTIVE_DATA"]), ["", "clean", "with slips", "loses"]
    table = Table(f"F1 of taggers, {seeds} seeds: means, and the standard error of the loss", header)
    for name, preset, train, test in (
        ("chunks", "chunking", "conll2000/train.txt", "conll2000/test.txt"),
        ("Dutch names", "ner", "conll2002_ned/ned.train", "conll2002_ned/ned.testb"),
    ):
        (X, y), (X_test, y_test) = (conll.read(folder / path) for path in (train, test))
        found = []
        for seed in range(seeds):
            taggers = (
                SequenceTagger(template=preset, random_state=seed).fit(X, labels) for labels in (y, _slipped(y, seed))
            )
            found.append([evaluate(y_test, tagger.predict(X_test)).f1 for tagger in taggers])
        clean, slipped = np.array(found).T
        error = np.std(clean - slipped, ddof=1) / seeds**0.5
        table.rows.append(
            [name, f"{clean.mean():.2f}", f"{slipped.mean():.2f}", f"{(clean - slipped).mean():.2f} ± {error:.2f}"]
        )
    return table


def _slipped(y: list[list[str]], seed: int) -> list[list[str]]:
    """Labels of which one in a thousand, wherever it is, is I- of another kind than the one before."""
    rng, slipped = random.Random(seed), [list(labels) for labels in y]
    kinds = sorted({label[2:] for labels in y for label in labels if label != "O"})
    places = [(labels, i) for labels in slipped for i in range(len(labels))]
    for labels, i in rng.sample(places, len(places) // 1000):
        before = labels[i - 1][2:] if i else ""
        labels[i] = "I-" + rng.choice([kind for kind in kinds if kind != before])
    return slipped


def parts_of_speech(seeds: int = 5) -> Table:
    """0050: the preset without some of its lines, on EWT's development file."""
    (X, y), (X_dev, y_dev) = (_xpos(f"ud_ewt/{part}.tsv") for part in ("train", "dev"))
    pairs, apart = {"lower[-1] & @label[-1]"}, {"lower[-2] & lower[1]", "lower[-1] & lower[2]"}
    shapes = {"lower[-1] & shape", "lower[1] & shape"}
    ways: dict[str, tuple[set[str], int]] = {
        "the preset": (set(), 2),
        "without a word and two labels": (pairs, 2),
        "… nor pairs of words around the next one": (pairs | apart, 2),
        "… nor a neighbour and the shape": (pairs | apart | shapes, 2),
        "… and with min_count=1": (pairs | apart | shapes, 1),
    }
    table = Table(f"EWT's XPOS, development file, {seeds} seeds", ["", "accuracy", "CPU s, fit", "tokens/s"])
    for name, (without, min_count) in ways.items():
        lines = [line for line in lines_for("pos", 1, 50).replace(" ; ", "\n").splitlines() if line not in without]
        accuracy, fit, speed = [], [], []
        for seed in range(seeds):
            tagger = SequenceTagger(
                template="\n".join(lines), rule="pa1", C=0.03, min_count=min_count, random_state=seed
            )
            tagger.set_params(epochs=40, tol=0.005)
            began = time.process_time()
            tagger.fit(X, y)
            fit.append(time.process_time() - began)
            began = time.process_time()
            accuracy.append(100 * tagger.score(X_dev, y_dev))
            speed.append(sum(map(len, X_dev)) / (time.process_time() - began))
        told = f"{np.mean(accuracy):.2f} ± {np.std(accuracy, ddof=1):.2f}"
        table.rows.append([name, told, f"{median(fit):.1f}", f"{median(speed):,.0f}"])
    return table


def many_types() -> Table:
    """0040: training on names of many types, whose labels have constraints; the checksum is that of the predictions.

    OTHER/bin/python benchmarks/decisions.py many_types measures another build.
    """
    table = Table("4,000 made sentences, preset ner (BIOES inside)", ["types", "labels", "epochs", "CPU s", "checksum"])
    for types, epochs in ((66, 5), (400, 1)):
        draw = random.Random(0)
        X, y = [], []
        for _ in range(4000):
            kinds = [draw.randrange(types) for _ in range(3)]
            X.append([word for kind in kinds for word in ("so", f"Name{kind}", f"Of{draw.randrange(50)}", "went")])
            y.append([label for kind in kinds for label in ("O", f"B-T{kind}", f"I-T{kind}", "O")])
        tagger = SequenceTagger(template="ner", epochs=epochs, tol=0.0)
        began = time.process_time()
        tagger.fit(X, y)
        seconds = time.process_time() - began
        found = zlib.crc32(json.dumps([[*labels] for labels in tagger.predict(X[:200])]).encode())
        table.rows.append([*map(str, (types, len(tagger.learner_.labels), epochs)), f"{seconds:.1f}", f"{found:08x}"])
    return table


def _xpos(path: str) -> tuple[list[list[str]], list[list[str]]]:
    """Words and their tags in the second column."""
    X, _ = conll.read(Path(os.environ["PERCEPTIVE_DATA"]) / path)
    return [[token[0] for token in sentence] for sentence in X], [[token[1] for token in sentence] for sentence in X]


def _cpu(work: Callable[[], Any]) -> float:
    """The median CPU time of five runs."""
    found = []
    for _ in range(5):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return median(found)


PARTS = {
    part.__name__: part
    for part in (
        checksum, sizes, probabilities, wine, bias, raw_input, scale, scaled_lists, slips, many_types, parts_of_speech
    )
}  # fmt: skip


def main() -> None:
    """Print a table for each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=", ".join(PARTS))
    chosen = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that are not scaled are what this is about
        show([PARTS[name]() for name in chosen.parts or PARTS], [])


if __name__ == "__main__":
    main()
