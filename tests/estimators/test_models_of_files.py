"""Models of the command line in Python: they go on from raw examples, and say what they take."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file, load_wine

import perceptive
from command_line import perceptive as run
from perceptive import KernelClassifier, LinearClassifier

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


LINES = {
    "svm": (["+1 1:1 2:0.5", "-1 2:0.25 3:1", "+1 1:0.7", "-1"], [{1: 1, "2": 0.5}, {"3": 1.0, 2: 0.25}, {1: 0.7}, {}]),
    "vw": (
        ["1 | plain:2 |a x:1 y:2 |b z", "-1 |a x:-1 |b w=red", "1 |a y:1 |b z:0.5", "-1 |"],
        [
            {"plain": 2, "a^x": 1, "a^y": 2, "b^z": 1.0},
            {"a^x": -1, "b^w": "red"},
            {"a^y": 1, "b^z": 0.5},
            {"a^y": None},
        ],
    ),
}


@pytest.mark.parametrize("options", [[], ["--interactions", "a:b"]])
@pytest.mark.parametrize("form", ["svm", "vw"])
def test_dicts_of_features_are_what_lines_are(tmp_path, form, options):
    if form == "svm" and options:
        options = ["--zero-based"]
    lines, dicts = LINES[form]
    y = [1, -1, 1, -1]
    (tmp_path / f"a.{form}").write_text("\n".join(lines) + "\n")
    run("train", f"a.{form}", "-o", "m", "--quiet", *options, cwd=tmp_path)
    model, expected = perceptive.load(tmp_path / "m"), go_on(tmp_path, "m", f"a.{form}")
    np.testing.assert_array_equal(model.decision_function(dicts), model.decision_function(lines))
    assert [model.predict_one(x) for x in dicts] == model.predict(lines).tolist()
    said = model.explain(dicts[0])
    assert {part.name for part in said.parts} == {part.name for part in model.explain(lines[0]).parts} != set()
    again = perceptive.load(tmp_path / "m").partial_fit(dicts, y)
    assert bits(again) == bits(expected)
    assert clone(model).fit(dicts, y).score(dicts, y) == 1


@pytest.mark.parametrize(
    ("form", "x", "message"),
    [
        ("svm", {"size": 1.0}, r"row 1 has the feature 'size', but .* numbered features; give numbers: \{1: 0.5"),
        ("svm", {2: "red"}, "row 1 has the value 'red'"),
        ("svm", {0: 1.0}, "row 1: feature index 0: indices start at 1"),
        ("svm", {1: np.inf}, "row 1: value 'inf' is not finite"),
        ("vw", {"a b": 1.0}, "row 1: 'a b' has a space, a bar or a colon"),
        ("vw", {"a": "1|2"}, "row 1: 'a' has a space, a bar or a colon"),
        ("vw", {"a:b^c": 1.0}, "row 1: 'a:b\\^c' has a space, a bar or a colon"),
    ],
)
def test_dicts_that_no_line_can_say_are_refused(tmp_path, form, x, message):
    (tmp_path / f"a.{form}").write_text("\n".join(LINES[form][0]) + "\n")
    run("train", f"a.{form}", "-o", "m", "--quiet", cwd=tmp_path)
    model = perceptive.load(tmp_path / "m")
    with pytest.raises(ValueError, match=message):
        model.predict([{}, x])


def test_a_row_that_is_wider_is_explained_by_what_is_known(tmp_path):
    (tmp_path / "a.svm").write_text("\n".join(LINES["svm"][0]) + "\n")
    run("train", "a.svm", "-o", "m", "--quiet", cwd=tmp_path)
    model = perceptive.load(tmp_path / "m")
    wide = np.arange(7.0)
    assert model.explain(wide).score == pytest.approx(model.explain(wide[:3]).score) != 0


def test_a_model_of_numbered_features_is_fitted_to_named_ones(tmp_path):
    (tmp_path / "a.svm").write_text("\n".join(LINES["svm"][0]) + "\n")
    model = LinearClassifier().fit_stream(tmp_path / "a.svm")
    model.fit([{"weight": 1.0}, {"weight": -1.0}], ["up", "down"])
    assert model.predict([{"weight": 3.0}]).tolist() == ["up"]


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
        ("table", [{"nope": 1.0}], "the data has none of the columns that the model learned from, 'size', 'colour'"),
        ("table", np.ones((2, 3)), "has learned from the columns 'size', 'colour': give a data frame, dicts, or a"),
        ("text", np.ones((2, 3)), "it has learned from texts: give a list of them"),
        ("text", "red apple", "X is one text, 'red apple'; give a list of examples"),
        ("text", pd.DataFrame({"body": ["red"]}), "X has no 'text', only 'body'; rename the text"),
        ("text", [{"body": "red"}], "X has no 'text', only 'body'; rename the text"),
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
        (LinearClassifier(), TEXTS, ValueError, "encode texts with HashedText, or give a data frame or a list"),
        (
            KernelClassifier(),
            TEXTS,
            ValueError,
            r"choose a kernel of what it holds: kernels.Spectrum\(2\) is one of str",
        ),
    ],
)
def test_examples_that_are_no_numbers(estimator, X, kind, message):
    with pytest.raises(kind, match=message):
        estimator.fit(X, KINDS)


@pytest.mark.parametrize("form", ["frame", "dicts", "rows"])
@pytest.mark.parametrize("options", [[], ["--kernel", "gaussian(sigma=2)"]])
def test_fit_measures_the_columns_anew(tmp_path, form, options):
    """A model of files learns from examples in memory as it has learned from the files, without a warning."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    X.columns = [f"c{j}" for j in range(X.shape[1])]
    X.assign(label=y)[::2].to_csv(tmp_path / "a.csv", index=False)
    X.assign(label=y)[1::2].to_csv(tmp_path / "b.csv", index=False)
    for name in "ab":
        run("train", f"{name}.csv", "-o", name, "--quiet", *options, cwd=tmp_path)
    first, second = perceptive.load(tmp_path / "a"), perceptive.load(tmp_path / "b")
    given = {"frame": X, "dicts": X.to_dict("records"), "rows": X.to_numpy()}[form][1::2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (clone(first), clone(clone(first)), first):
            model.fit(given, y[1::2])
            found, expected = (one.learner_.space.format.scaling for one in (model, second))
            assert found.names == expected.names
            np.testing.assert_allclose((found.shift, found.factor), (expected.shift, expected.factor), rtol=1e-9)
            assert model.score(X, y) > 0.95
            assert model.learner_.space.header == second.learner_.space.header


def test_fit_counts_the_texts_anew(folder):
    run("train", "b.tsv", "--text", "-o", "other", "--quiet", cwd=folder)
    model = perceptive.load(folder / "text").fit(TEXTS[2:], KINDS[2:])
    assert bits(model) == bits(perceptive.load(folder / "other"))


@pytest.mark.parametrize("options", [[], ["--kernel", "gaussian(sigma=2)"]])
def test_rankers_are_fitted_again_as_they_were(tmp_path, options):
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:150].reshape(30, 5)
    lists = [[dict(zip("abcdefghijklm", row, strict=True)) for row in X[some].tolist()] for some in order]
    grades = y[order].tolist()
    lines = [{"candidates": xs, "grades": some} for xs, some in zip(lists, grades, strict=True)]
    for name, part in (("a", lines[:10]), ("b", lines)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in part))
        run("train", f"{name}.jsonl", "--task", "rank", "-o", name, "--quiet", *options, cwd=tmp_path)
    first, second = perceptive.load(tmp_path / "a"), perceptive.load(tmp_path / "b")
    model = clone(first).fit(lists, grades)
    expected = np.concatenate(second.decision_function(lists))
    np.testing.assert_allclose(np.concatenate(model.decision_function(lists)), expected, rtol=1e-5, atol=1e-5)
    frame = pd.DataFrame([row for xs in lists for row in xs])
    model = first.fit(frame, np.ravel(grades), qid=np.repeat(np.arange(30), 5))
    np.testing.assert_allclose(np.concatenate(model.decision_function(lists)), expected, rtol=1e-5, atol=1e-5)
    assert first.partial_fit(lists, grades).score(lists, grades) > 0.9


def test_fit_takes_other_examples_as_they_are(folder):
    model = perceptive.LinearClassifier().fit_stream(perceptive.streams.open(folder / "a.csv", label="kind"))
    model.fit([{"weight": 1.0}, {"weight": -1.0}], ["up", "down"])
    assert model.learner_.space.format is None
    assert model.predict([{"weight": 3.0}]).tolist() == ["up"]


@pytest.mark.parametrize("options", [[], ["--kernel", "gaussian(sigma=2)"]])
@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
def test_matrices_are_scaled_as_svmlight_files_were(tmp_path, options, as_given):
    X, y = load_wine(return_X_y=True)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    run("train", "a.svm", "--scale", "standard", "-o", "m", "--quiet", *options, cwd=tmp_path)
    model, X = perceptive.load(tmp_path / "m"), as_given(X)
    assert model.score(X, y) > 0.97
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = clone(model).fit(X, y)
    assert again.learner_.space.format.scaling == model.learner_.space.format.scaling
    assert again.score(X, y) > 0.97
    went_on = go_on(tmp_path, "m", "a.svm")
    model.partial_fit(sp.csr_array(X), y)
    assert (model.learner_.rounds, model.learner_.mistakes) == (went_on.learner_.rounds, went_on.learner_.mistakes)
    found, expected = (one.decision_function(X, hypothesis="last") for one in (model, went_on))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
