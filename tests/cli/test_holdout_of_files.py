"""The same seed holds out the same examples from Python and from the command line."""

import json

import numpy as np
import pytest

from command_line import perceptive, write_sentences
from perceptive import KernelClassifier, KernelRanker, LinearClassifier, LinearRanker, SequenceTagger
from perceptive.data.labels import Labels
from perceptive.streams import conll
from perceptive.training.holdout import HoldOut

TRAINING = {"epochs": 4, "shuffle": False, "random_state": 3, "validation_fraction": 0.2, "patience": 4}
OPTIONS = ["--epochs", 4, "--no-shuffle", "--seed", 3, "--holdout", 0.2, "--patience", 4]
rng = np.random.default_rng(0)
X = rng.integers(-3, 4, size=(150, 5)).astype(np.float64)
y = (X @ [1, -2, 1, 0, 3] + rng.normal(size=150, scale=4) > 0).astype(int)
qid = np.repeat(np.arange(50), 3)
grades = np.zeros(150)
grades[np.arange(50) * 3 + np.argmax((X @ [1, -2, 1, 0, 3] + rng.normal(size=150)).reshape(50, 3), axis=1)] = 1


def svmlight(path, labels, queries=None):
    """Rows of whole numbers, which float32 holds exactly."""
    lines = []
    for i, row in enumerate(X):
        query = "" if queries is None else f"qid:{queries[i]} "
        lines.append(f"{int(labels[i])} {query}" + " ".join(f"{j + 1}:{v:g}" for j, v in enumerate(row) if v) + "\n")
    path.write_text("".join(lines))
    return path


def trained(path, *options):
    done = perceptive("train", path, "-o", path.with_suffix(".model"), "--json", *OPTIONS, *options)
    return json.loads(done.stdout)["training"]


def same(told, estimator):
    assert told["held_out"] == estimator.held_out_.tolist()
    assert told["mistakes"] == estimator.mistakes_.tolist()
    assert len(told["held_out"]) > 1


@pytest.mark.parametrize("seed", [3, 4])
def test_rows(tmp_path, seed):
    path = svmlight(tmp_path / "a.svm", y)
    training = {**TRAINING, "random_state": seed}
    more = ["--seed", seed, "--features", 5]
    told = trained(path, "--rule", "perceptron", *more)
    for labels in (y, y.astype(float)):
        same(told, LinearClassifier(**training).fit(X, labels))
    same(trained(path, "--kernel", "poly(2)", *more), KernelClassifier(kernel="poly(2)", **training).fit(X, y))


@pytest.mark.parametrize("two", [(False, True), ("0", "1"), ("07", "08"), ("1.5", "-2"), (" a", "b "), (1.0, 2.0)])
def test_labels_that_files_have_in_another_type(tmp_path, two):
    """A CSV file has no types, and files of every kind have the words True and False."""
    labels = [two[i] for i in y]
    rows = [{**dict(zip("abcde", row, strict=True)), "label": one} for row, one in zip(X.tolist(), labels, strict=True)]
    (tmp_path / "a.csv").write_text(
        "".join(",".join(map(str, row)) + "\n" for row in [rows[0], *map(dict.values, rows)])
    )
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    estimator = LinearClassifier(bias=1.0, **TRAINING).fit(X, labels)
    for name in ("a.csv", "a.jsonl"):
        same(trained(tmp_path / name, "--rule", "perceptron", "--bias", 1, "--scale", "none"), estimator)


def test_lists(tmp_path):
    path = svmlight(tmp_path / "a.svm", grades, qid)
    same(trained(path, "--task", "rank"), LinearRanker(**TRAINING).fit(X, grades, qid=qid))
    kernel = KernelRanker(kernel="poly(2)", **TRAINING).fit(X, grades, qid=qid)
    same(trained(path, "--task", "rank", "--kernel", "poly(2)"), kernel)


def test_sentences(tmp_path):
    path = tmp_path / "a.conll"
    write_sentences(path)
    sentences, labels = conll.read(path)
    tagger = SequenceTagger(rule="perceptron", encoding=None, **TRAINING).fit(sentences, labels)
    told = trained(path, "--task", "tag", "--rule", "perceptron", "--encoding", "none")
    assert told["mistakes"] == tagger.mistakes_.tolist()
    assert told["held_out"] == pytest.approx(tagger.held_out_.tolist())


def test_each_file_is_held_out_by_itself(tmp_path):
    """The first example of a class is never held out, whatever the files before it had."""
    first = svmlight(tmp_path / "a.svm", y)
    (tmp_path / "b.svm").write_text("0 1:1\n1 2:1\n" * 3)
    holdout = HoldOut(0.2, seed=3)
    holdout.choose(Labels.of(y.tolist()))
    in_first = holdout.held
    holdout.next_file()
    holdout.choose(Labels.of([0, 1] * 3))
    assert holdout.held > in_first
    for more in ([], ["--kernel", "poly(2)"]):
        both = ["train", first, tmp_path / "b.svm", "-o", tmp_path / "m", "--json", *OPTIONS, *more]
        for score in json.loads(perceptive(*both).stdout)["training"]["held_out"]:
            assert score * holdout.held == pytest.approx(round(score * holdout.held))
