"""``perceptive predict``."""

import json

import numpy as np
import pytest

from command_line import perceptive, write_rows
from perceptive import load


def test_predict(data, model):
    learner = load(model)
    X, y = write_rows(data / "test.svm", seed=1)
    expected = learner.predict_many(X)
    assert perceptive("predict", model, data / "test.svm").stdout == "".join(f"{label}\n" for label in expected)
    rows = [
        line.split("\t") for line in perceptive("predict", model, data / "test.svm", "--scores").stdout.splitlines()
    ]
    assert [int(row[0]) for row in rows] == expected
    assert np.allclose([float(row[1]) for row in rows], learner.scores(X), rtol=1e-4)
    out = data / "out.txt"
    perceptive("predict", model, data / "test.svm", "--proba", "-o", out)
    proba = np.loadtxt(out, delimiter="\t")[:, 1:]
    assert np.allclose(proba.sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(proba.argmax(axis=1), expected)
    text = (data / "test.svm").read_text()
    told = [json.loads(line) for line in perceptive("predict", model, "-", "--json", input=text).stdout.splitlines()]
    assert [one["label"] for one in told] == expected
    assert (
        perceptive("predict", model, data / "test.svm", "--threads", 1).stdout
        == perceptive("predict", model, data / "test.svm", "--threads", 4).stdout
    )
    assert len(y) == len(expected)


def test_features_that_the_model_has_never_seen_have_no_weight(data, model):
    (data / "new.svm").write_text("0 1:1 2000:5\n0 1:1\n")
    first, second = perceptive("predict", model, data / "new.svm", "--scores").stdout.splitlines()
    assert first == second


def test_models_made_in_python(data):
    from perceptive import LinearClassifier, save

    X, y = write_rows(data / "t.svm")
    dicts = [{f"f{j}": float(x) for j, x in zip(row.indices, row.data, strict=True)} for row in X]
    save(LinearClassifier(bits=12).fit(dicts, y), data / "bits.model")
    (data / "t.jsonl").write_text(
        "".join(json.dumps({**d, "label": int(t)}) + "\n" for d, t in zip(dicts, y, strict=True))
    )
    told = json.loads(perceptive("eval", data / "bits.model", data / "t.jsonl", "--format", "json", "--json").stdout)
    assert told["metrics"]["accuracy"] == pytest.approx(np.mean(load(data / "bits.model").predict(dicts) == y))
    save(LinearClassifier().fit(X, y), data / "array.model")
    (data / "one.svm").write_text("0 1:1\n1 2:1 99:1\n")
    assert len(perceptive("predict", data / "array.model", data / "one.svm").stdout.splitlines()) == 2
    assert (
        "give svmlight"
        in perceptive("predict", data / "array.model", data / "t.jsonl", "--format", "json", code=2).stderr
    )
    (data / "narrow.svm").write_text("0 1:1\n1 2:1\n")
    perceptive("train", data / "narrow.svm", "--continue", data / "array.model", "-o", data / "m", "--quiet")
    perceptive("certify", data / "array.model", data / "narrow.svm")
    (data / "empty.svm").write_text("")
    perceptive("certify", data / "array.model", data / "empty.svm", code=1)


def test_labels_that_would_break_lines_are_quoted(tmp_path):
    """A field of a table may hold a line break; the output has a line for each example all the same."""
    table = tmp_path / "table.csv"
    table.write_text("label,x\n" + '"two\nlines",1\nplain,-1\n"a\ttab",5\n"""quoted""",-9\n' * 3)
    perceptive("train", table, "-o", tmp_path / "m", "--epochs", 9, "--quiet")
    labels = load(tmp_path / "m").classes
    assert {"two\nlines", "a\ttab", '"quoted"', "plain"} == set(labels)
    found = perceptive("predict", tmp_path / "m", table).stdout
    assert found.count("\n") == 12
    assert {json.loads(line) if line[0] == '"' else line for line in found.split("\n")[:-1]} <= set(labels)
    rows = perceptive("predict", tmp_path / "m", table, "--scores").stdout.split("\n")[:-1]
    assert [row.count("\t") for row in rows] == [4] * 12
