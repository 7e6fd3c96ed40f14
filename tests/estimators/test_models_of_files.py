"""Models of the command line in Python: they go on from raw examples, and say what they take."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import perceptive
from command_line import perceptive as run
from perceptive import KernelClassifier, LinearClassifier
from perceptive.errors import ScaleWarning

FRUIT = pd.DataFrame(
    {"size": [2.0, 1.0, 3.0, 2.5, 0.5, 2.0], "colour": ["red", "green", "red", "blue", "green", "blue"],
     "kind": ["apple", "grape", "apple", "plum", "grape", "plum"]}
)  # fmt: skip
MORE = pd.DataFrame({"size": [2.2, 0.7, 4.0], "colour": ["red", "black", "green"], "kind": ["apple", "grape", "melon"]})
TEXTS = ["sweet red apple", "small green grape", "blue plum", "red apple pie"]
KINDS = ["apple", "grape", "plum", "apple"]


@pytest.fixture
def folder(tmp_path):
    FRUIT.to_csv(tmp_path / "a.csv", index=False)
    MORE.to_csv(tmp_path / "b.csv", index=False)
    for name, part in (("a.tsv", slice(0, 3)), ("b.tsv", slice(2, 4))):
        lines = [f"{kind}\t{text}\n" for kind, text in zip(KINDS[part], TEXTS[part], strict=True)]
        (tmp_path / name).write_text("".join(lines))
    run("train", "a.csv", "--label", "kind", "-o", "table", "--quiet", cwd=tmp_path)
    run("train", "a.tsv", "--text", "-o", "text", "--quiet", cwd=tmp_path)
    return tmp_path


def bits(model):
    return {name: array.tobytes() for name, array in model.learner_.state().arrays.items()}


def go_on(folder, model, data):
    once = ("--epochs", "1", "--no-shuffle", "--quiet")
    run("train", data, "--continue", model, *once, "-o", "more", cwd=folder)
    return perceptive.load(folder / "more")


@pytest.mark.parametrize("form", ["frame", "dicts", "rows"])
def test_a_table_is_learned_from_as_a_file_is(folder, form):
    X, y = MORE[["size", "colour"]], MORE["kind"]
    given = {"frame": X, "dicts": X.to_dict("records"), "rows": X.to_numpy().tolist()}[form]
    model, expected = perceptive.load(folder / "table"), go_on(folder, "table", "b.csv")
    model.partial_fit(given, y)
    assert bits(model) == bits(expected)
    assert model.learner_.fingerprint == expected.learner_.fingerprint
    assert model.classes_.tolist() == ["apple", "grape", "melon", "plum"]
    again = perceptive.load(folder / "table")
    for x, label in zip(X.to_dict("records"), y, strict=True):
        again.learn_one(x, label)
    assert again.learner_.mistakes == model.learner_.mistakes


def test_texts_are_learned_from_as_a_file_is(folder):
    model = perceptive.load(folder / "text").partial_fit(TEXTS[2:], KINDS[2:])
    assert bits(model) == bits(go_on(folder, "text", "b.tsv"))


@pytest.mark.parametrize("data", ["a.csv", "a.tsv"])
def test_so_does_a_kernel(folder, data):
    reading = ["--label", "kind"] if data == "a.csv" else ["--text"]
    run("train", data, *reading, "--kernel", "linear", "-o", "kernel", "--quiet", cwd=folder)
    X, y = (MORE[["size", "colour"]], MORE["kind"]) if data == "a.csv" else (TEXTS[2:], KINDS[2:])
    model = perceptive.load(folder / "kernel").partial_fit(X, y)
    assert bits(model) == bits(go_on(folder, "kernel", data.replace("a.", "b.")))


@pytest.mark.parametrize(
    ("name", "X", "message"),
    [
        ("table", [{"nope": 1.0}], "there is none of the columns that the model has learned from, 'size', 'colour'"),
        ("table", np.ones((2, 3)), "has learned from the columns 'size', 'colour': give a data frame, dicts, or a"),
        ("text", np.ones((2, 3)), "it has learned from texts: give a list of them"),
        ("text", "red apple", "X is one text, 'red apple'; give a list of examples"),
        ("text", pd.DataFrame({"body": ["red"]}), "X has none called 'text' but 'body'; rename it"),
        ("text", [{"body": "red"}], "X has none called 'text' but 'body'; rename it"),
    ],
)  # fmt: skip
def test_what_they_cannot_read_is_told(folder, name, X, message):
    model = perceptive.load(folder / name)
    before = bits(model)
    for use in (model.predict, lambda X: model.partial_fit(X, ["apple"] * len(X))):
        with pytest.raises(ValueError, match=message):
            use(X)
    assert bits(model) == before


@pytest.mark.parametrize(
    ("estimator", "X", "kind", "message"),
    [
        (LinearClassifier(), TEXTS, ValueError, "encode texts by HashedText, or give dicts"),
        (
            KernelClassifier(),
            TEXTS,
            ValueError,
            r"choose a kernel of what it holds: kernels.Spectrum\(2\) is one of str",
        ),
        (KernelClassifier(), [{"a": 1.0}] * 4, TypeError, "choose a kernel of what it holds"),
    ],
)
def test_examples_that_are_no_numbers(estimator, X, kind, message):
    with pytest.raises(kind, match=message):
        estimator.fit(X, KINDS)


def test_fit_tells_that_it_does_not_scale(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,label\n" + "".join(f"{1000 + i},{'ab'[i > 5]}\n" for i in range(12)))
    model = perceptive.LinearClassifier().fit_stream(path)
    rows, y = [{"x": 1000 + i} for i in range(12)], ["ab"[i > 5] for i in range(12)]
    for one in (clone(model), clone(clone(model)), model):
        with pytest.warns(ScaleWarning, match="whose numbers were scaled by column, and fit takes X as it is; scale X"):
            one.fit(rows, y)
