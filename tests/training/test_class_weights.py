"""Weights of classes and of examples, and what is missing, from files."""

import os

import numpy as np
import pytest

from command_line import perceptive
from perceptive import KernelClassifier, LinearClassifier, streams
from perceptive.cli import main
from perceptive.data.labels import Labels
from perceptive.models.registry import load_learner
from perceptive.training.class_weights import balanced
from perceptive.training.holdout import HoldOut

rng = np.random.default_rng(3)
X = rng.normal(size=(200, 3))
y = np.where(X[:, 0] + rng.normal(size=200) > 1.2, "rare", "often")
weights = rng.integers(0, 4, 200)


@pytest.fixture
def path(tmp_path):
    rows = (f"{label},{w},{','.join(map(repr, x.tolist()))}\n" for label, w, x in zip(y, weights, X, strict=True))
    (tmp_path / "a.csv").write_text("y,w,a,b,c\n" + "".join(rows))
    return tmp_path / "a.csv"


def train(path, *options):
    model = str(path.parent / "m.model")
    assert main(["train", str(path), "--label", "y", "-o", model, "--quiet", "--scale", "none", *options]) == 0
    return load_learner(model)


LITERAL = {"bias": 1.0, "shuffle": False, "dtype": "float64"}
AS_GIVEN = ("--bias", "1", "--no-shuffle", "--dtype", "float64")


@pytest.mark.parametrize("asked", ["balanced", {"rare": 3.0, "often": 0.5}, {"rare": 2.0}])
def test_classes_weigh_the_same_in_files_and_in_memory(path, asked):
    words = asked if isinstance(asked, str) else ",".join(f"{name}={weight}" for name, weight in asked.items())
    learner = train(path, "--ignore", "w", "--class-weight", words, *AS_GIVEN)
    found, _ = streams.load(path, label="y", ignore=("w",))
    memory = LinearClassifier(**LITERAL, class_weight=asked).fit(found, y)
    stream = streams.open(path, label="y", ignore=("w",), scale=None)
    files = LinearClassifier(**LITERAL, class_weight=asked).fit_stream(stream)
    np.testing.assert_allclose(files.coef_, memory.coef_, rtol=1e-9)
    assert learner.predict_many(found) == memory.predict(found).tolist()
    plain = train(path, "--ignore", "w", *AS_GIVEN)
    assert sum(label == "rare" for label in learner.predict_many(found)) > sum(
        label == "rare" for label in plain.predict_many(found)
    )


def test_balanced_weights_count_what_is_not_held_out(path):
    """In files and in memory, for linear and for kernel models."""
    found, _ = streams.load(path, label="y", ignore=("w",))
    hold_out = ("--class-weight", "balanced", "--holdout", "0.3", "--ignore", "w")
    asked = {"validation_fraction": 0.3, "class_weight": "balanced"}
    linear = LinearClassifier(**LITERAL, **asked).fit(found, y)
    assert train(path, *AS_GIVEN, *hold_out).loss == pytest.approx(linear.learner_.loss, rel=1e-12)
    kernel = KernelClassifier(kernel="linear", shuffle=False, dtype="float64", **asked).fit(found, y)
    learner = train(path, "--kernel", "linear", "--no-shuffle", "--dtype", "float64", *hold_out)
    assert learner.loss == pytest.approx(kernel.learner_.loss, rel=1e-12)
    held = HoldOut(0.3, seed=0).choose(Labels.of(y))
    counts = balanced({"rare": np.count_nonzero(y[~held] == "rare"), "often": np.count_nonzero(y[~held] == "often")})
    numbers = ",".join(f"{name}={float(weight)!r}" for name, weight in counts.items())
    again = train(path, *AS_GIVEN, "--class-weight", numbers, *hold_out[2:])
    assert again.loss == pytest.approx(linear.learner_.loss, rel=1e-12)


@pytest.mark.parametrize("asked", ["balanced", {"rare": 2.0, "often": 1.0}])
def test_so_they_do_for_kernels(path, asked):
    words = asked if isinstance(asked, str) else ",".join(f"{name}={weight}" for name, weight in asked.items())
    kernel = ("--kernel", "linear", "--no-shuffle", "--weight", "w")
    learner = train(path, *kernel, "--class-weight", words)
    found, _ = streams.load(path, label="y", weight="w")
    memory = KernelClassifier(kernel="linear", shuffle=False, class_weight=asked).fit(found, y, sample_weight=weights)
    np.testing.assert_allclose(learner.scores(found), memory.decision_function(found), rtol=1e-5, atol=1e-5)
    assert not np.allclose(learner.scores(found), train(path, *kernel).scores(found))


def test_a_column_holds_the_weights_of_examples(path, capsys):
    learner = train(path, "--weight", "w", *AS_GIVEN)
    found, _ = streams.load(path, label="y", weight="w")
    assert found.nnz == 600  # the weight is no feature
    memory = LinearClassifier(**LITERAL).fit(found, y, sample_weight=weights)
    assert learner.predict_many(found) == memory.predict(found).tolist()
    both = train(path, "--weight", "w", "--class-weight", "rare=2", *AS_GIVEN)
    memory = LinearClassifier(**LITERAL, class_weight={"rare": 2.0}).fit(found, y, sample_weight=weights)
    assert both.predict_many(found) == memory.predict(found).tolist()
    assert main(["predict", str(path.parent / "m.model"), str(path)]) == 0
    assert main(["train", str(path), "--label", "y", "--weight", "none", "-o", str(path.parent / "m.model")]) != 0
    assert "there is no column 'none' for the weight" in capsys.readouterr().err


def test_what_cannot_be_is_refused(path, capsys):
    assert balanced({"a": 1, "b": 3}) == {"a": 2.0, "b": 2 / 3}
    for wrong in ("fair", "a=", "a=-1", "=2", "a=inf"):
        assert main(["train", str(path), "-o", "m", "--class-weight", wrong]) == 2
        assert "neither 'balanced' nor weights of classes" in capsys.readouterr().err
    with pytest.raises(ValueError, match="class_weight"):
        LinearClassifier(class_weight="fair").fit_stream(path)
    model = str(path.parent / "m.model")
    assert main(["train", str(path), "-o", model, "--follow", "--class-weight", "balanced"]) == 2
    assert "--follow cannot; give numbers" in capsys.readouterr().err
    path.write_text("y,w\na,-1\n")
    assert main(["train", str(path), "--label", "y", "--weight", "w", "-o", model]) != 0
    assert "weight '-1' is negative; give 0 or more" in capsys.readouterr().err


@pytest.mark.parametrize("how", [(), ("--kernel", "linear"), ("--epochs", "1", "--memory", "1k"), ("--shards", "2")])
def test_where_all_examples_weigh_nothing_there_is_no_model(how, tmp_path):
    path, model = tmp_path / "a.csv", tmp_path / "m"
    said = "all examples have weight 0: there is nothing to learn"
    path.write_text("x,w,label\n1,0,a\n2,0,b\n3,0,a\n4,0,b\n")
    assert said in perceptive("train", path, "--weight", "w", "-o", model, *how, code=1).stderr
    assert said in perceptive("train", path, "--class-weight", "a=0,b=0", "-o", model, *how, code=1).stderr
    (tmp_path / "a.vw").write_text("1 0 |a x\n-1 0 |a y\n1 0 |a z\n")
    assert said in perceptive("train", tmp_path / "a.vw", "-o", model, *how, code=1).stderr
    assert not model.exists()
    path.write_text("x,w,label\n1,0,a\n2,1,b\n3,0,a\n4,0,b\n")
    perceptive("train", path, "--weight", "w", "-o", model, "--quiet", *how)


def test_a_missing_weight_is_one_in_every_table(tmp_path):
    (tmp_path / "a.csv").write_text("x,w,label\n1,2,a\n2,,b\n3,NA,a\n4,0.5,b\n")
    lines = ['"x": 1, "w": 2, "label": "a"', '"x": 2, "w": null, "label": "b"', '"x": 3, "label": "a"',
             '"x": 4, "w": 0.5, "label": "b"']  # fmt: skip
    (tmp_path / "a.jsonl").write_text("".join(f"{{{line}}}\n" for line in lines))
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    weights = [2.0, None, float("nan"), 0.5]
    parquet.write_table(pa.table({"x": [1, 2, 3, 4], "w": weights, "label": [*"abab"]}), tmp_path / "a.parquet")
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        [examples] = streams.open(tmp_path / name, weight="w").blocks()
        assert examples.weight.tolist() == [2, 1, 1, 0.5]


def test_many_files_are_not_measured_for_each_of_them(tmp_path, monkeypatch):
    for i in range(40):
        (tmp_path / f"{i}.svm").write_text("1 1:1\n-1 2:1\n")
    asked = []
    monkeypatch.setattr("os.path.getsize", lambda path: asked.append(path) or os.stat(path).st_size)
    LinearClassifier(epochs=3).fit_stream(str(tmp_path / "*.svm"), memory=1)
    assert len(asked) <= 2 * 40


def test_what_is_missing_has_a_feature_where_asked(tmp_path):
    (tmp_path / "a.csv").write_text("y,a,b\n1,NA,x\n0,2,\n1,,x\n")
    stream = streams.open(tmp_path / "a.csv", label="y", missing="indicator", remember_names=True)
    [(found, _)] = stream
    names = stream.log.names
    assert sorted(name for bucket in names.buckets(1) for name in names.names(bucket)) == [
        "a",
        "a=missing",
        "b=missing",
        "b=x",
    ]
    assert np.diff(found.indptr).tolist() == [2, 2, 2]
    (tmp_path / "a.jsonl").write_text('{"label": 1, "a": null, "b": "x"}\n{"label": 0, "a": 2, "b": null}\n')
    same, _ = streams.load(tmp_path / "a.jsonl", missing="indicator")
    assert (same != found[:2]).nnz == 0
    assert streams.load(tmp_path / "a.csv", label="y")[0].nnz == 3
    with pytest.raises(ValueError, match="missing='mean': it must be 'indicator' or None"):
        streams.open(tmp_path / "a.csv", missing="mean")
    with pytest.raises(ValueError, match="missing: this means nothing in vw files"):
        streams.open(tmp_path / "a.csv", format="vw", missing="indicator")


@pytest.mark.parametrize("memory", [1 << 25, 1 << 10])
def test_classes_are_counted_before_the_first_round(path, memory):
    """Where memory holds the examples, and where they are parsed as they are played."""

    def fitted(asked):
        stream = streams.open(path, label="y", ignore=("w",), scale=None)
        classifier = LinearClassifier(**LITERAL, epochs=1, class_weight=asked)
        return classifier.fit_stream(stream, memory=memory)

    counts = {label: int(np.sum(y == label)) for label in ("rare", "often")}
    np.testing.assert_array_equal(fitted("balanced").coef_, fitted(balanced(counts)).coef_)
    assert (fitted("balanced").coef_ != fitted(None).coef_).any()


def test_a_model_that_goes_on_weighs_classes(path):
    train(path, "--ignore", "w", *AS_GIVEN)
    model, more = str(path.parent / "m.model"), ["train", str(path), "--quiet", "--no-shuffle", "-o"]
    found, _ = streams.load(path, label="y", ignore=("w",))
    said = []
    for name, options in (("plain", []), ("weighed", ["--class-weight", "balanced"])):
        other = str(path.parent / name)
        assert main([*more, other, "--continue", model, "--scale", "none", *options]) == 0
        said.append(sum(label == "rare" for label in load_learner(other).predict_many(found)))
    assert said[0] < said[1]


@pytest.mark.parametrize("make", [LinearClassifier, lambda **how: KernelClassifier(kernel="linear", **how)])
def test_a_stream_weighs_classes_as_a_batch_does(make):
    given = {"rare": 3.0, "advert": 2.0}  # of one that has not come yet
    whole = make(class_weight=given, dtype="float64").partial_fit(X, y)
    parts, ones = make(class_weight=given, dtype="float64"), make(class_weight=given, dtype="float64")
    for row, label in zip(X, y, strict=True):
        parts.partial_fit([row], [label])
        ones.learn_one(row, label)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X))
    np.testing.assert_allclose(ones.decision_function(X), whole.decision_function(X))
    plain = make(dtype="float64").partial_fit(X, y)
    assert not np.allclose(plain.decision_function(X), whole.decision_function(X))
    twice, once = make(class_weight={"rare": 2.0}), make()
    for row, label in zip(X, y, strict=True):
        twice.learn_one(row, label, 3.0)
        once.learn_one(row, label, 6.0 if label == "rare" else 3.0)
    np.testing.assert_array_equal(twice.decision_function(X), once.decision_function(X))


@pytest.mark.parametrize("make", [LinearClassifier, KernelClassifier])
def test_a_stream_cannot_be_balanced(make):
    model = make(class_weight="balanced")
    for learn in (lambda: model.learn_one(X[0], "rare"), lambda: model.partial_fit(X, y)):
        with pytest.raises(ValueError, match="counts the classes of all examples first"):
            learn()


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_what_is_missing_in_memory_is_as_in_files(tmp_path, name):
    pd, path = pytest.importorskip("pandas"), tmp_path / name
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"label": [1, 0, 1, 0], "a": [None, 2.0, None, 3.0], "b": ["x", None, "x", "z"]})
    if name.endswith("csv"):
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    stream = streams.open(path, missing="indicator")
    classifier = LinearClassifier().fit_stream(stream)
    [(found, _)] = streams.open(path, format=classifier.learner_.space.format)
    scores = classifier.decision_function(found)
    rows = frame.drop(columns="label").astype(object).where(frame.drop(columns="label").notna(), None)
    np.testing.assert_allclose(classifier.decision_function(frame), scores, rtol=1e-6)
    one_by_one = [classifier.decision_function([row])[0] for row in rows.to_dict("records")]
    np.testing.assert_allclose(one_by_one, scores, rtol=1e-6)
    sparse = [{k: v for k, v in row.items() if v is not None} for row in rows.to_dict("records")]
    np.testing.assert_allclose([classifier.decision_function([row])[0] for row in sparse], scores, rtol=1e-6)
