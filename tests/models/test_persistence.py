"""Models come back from their files as they were, bit for bit, and go on learning; damaged ones are refused."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits

import perceptive
from examples import examples
from perceptive import LinearClassifier, model_file
from perceptive.learners import LinearLearner
from perceptive.model_file import ModelFileError

X, y = load_digits(return_X_y=True)
X2, y2 = load_breast_cancer(return_X_y=True)
HYPOTHESES = ("last", "averaged", "best", "voted", "random")

MODELS = {
    "joint": LinearClassifier(),
    "all": LinearClassifier(keep="all", max_voters=30),
    "ovr": LinearClassifier(multiclass="ovr", reference=3, hypothesis="last"),
    "ovo": LinearClassifier(multiclass="ovo", dtype="float64"),
    "arow": LinearClassifier(rule="arow", normalize=True, bias=0.0),
    "romma": LinearClassifier(rule="aggressive-romma", keep="all"),
    "mira": LinearClassifier(rule="mira", cost=np.ones((10, 10)) - np.eye(10)),
    "weighted": LinearClassifier(class_weight={k: 1.0 + k for k in range(10)}, probability=True),
}


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name, tmp_path):
    model = MODELS[name].fit(X, y)
    path = tmp_path / "a.model"
    perceptive.save(model, path)
    again = perceptive.load(path)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.classes_, model.classes_)
    assert again.classes_.dtype == model.classes_.dtype
    assert str(again.get_params()) == str(model.get_params())
    np.testing.assert_array_equal(again.mistakes_, model.mistakes_)
    if model.keep == "all":
        for hypothesis in HYPOTHESES:
            np.testing.assert_array_equal(
                again.decision_function(X, hypothesis=hypothesis), model.decision_function(X, hypothesis=hypothesis)
            )
    assert str(again.certificate(X, y)) == str(model.certificate(X, y))
    twice = tmp_path / "b.model"
    perceptive.save(again, twice)
    assert twice.read_bytes() == path.read_bytes()


def test_learning_goes_on_where_it_stopped(tmp_path):
    model = LinearClassifier(keep="all").partial_fit(X[:900], y[:900], classes=range(10))
    perceptive.save(model, tmp_path / "a.model")
    again = perceptive.load(tmp_path / "a.model")
    for clf in (model, again):
        clf.partial_fit(X[900:], y[900:])
    for hypothesis in HYPOTHESES:
        np.testing.assert_array_equal(
            again.decision_function(X, hypothesis=hypothesis), model.decision_function(X, hypothesis=hypothesis)
        )


def test_named_features_and_late_classes(tmp_path):
    learner = LinearLearner()
    rows = [({"a": 1, "b": "x"}, "m"), ({"c": 2}, "k"), ({"ä": 1.5}, "m")]
    for x, label in rows:
        learner.learn(x, label)
    perceptive.save(learner, tmp_path / "a.model")
    again = perceptive.load_learner(tmp_path / "a.model")
    assert isinstance(again, LinearLearner)
    assert again.space.vocabulary.names() == ["a", "b=x", "c", "ä"]
    for L in (learner, again):
        L.learn({"new": 1.0}, "a third class")
    assert again.classes == learner.classes
    np.testing.assert_array_equal(again.scores([x for x, _ in rows]), learner.scores([x for x, _ in rows]))


def test_column_names_are_kept(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X2[:, :3], columns=["a", "b", "c"])
    perceptive.save(LinearClassifier().fit(frame, y2), tmp_path / "a.model")
    again = perceptive.load(tmp_path / "a.model")
    assert again.feature_names_in_.tolist() == ["a", "b", "c"]
    assert again.predict(frame[["c", "b", "a"]]).tolist() == again.predict(frame).tolist()
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[["c", "b"]])


@pytest.mark.parametrize("labels", [["x", "y"], [True, False], [1.0, 2.0], [3, 7]])
def test_labels_of_every_kind(labels, tmp_path):
    model = LinearClassifier().fit(X2, np.array(labels)[y2])
    perceptive.save(model, tmp_path / "a.model")
    again = perceptive.load(tmp_path / "a.model").predict(X2)
    np.testing.assert_array_equal(again, model.predict(X2))
    assert again.dtype == model.predict(X2).dtype


def test_labels_that_cannot_be_saved(tmp_path):
    learner = LinearLearner()
    learner.learn([1.0], 1j)
    with pytest.raises(ValueError, match="cannot be saved"):
        perceptive.save(learner, tmp_path / "a.model")
    with pytest.raises(TypeError, match="cannot save"):
        perceptive.save(object(), tmp_path / "a.model")


def _rewrite(path, change):
    """A file that is well formed and has the right checksums, but says something else."""
    kind, meta, arrays = model_file.read(path)
    arrays = {name: array.copy() for name, array in arrays.items()}
    said = change(meta, arrays)
    model_file.write(path, said if isinstance(said, str) else kind, meta, arrays)


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.model"
    learner = LinearLearner(classes=["a", "b", "c"], keep="all")
    learner.learn_many([[1.0, 2.0], [0.0, 1.0], [-1.0, 0.5]], ["a", "b", "c"])
    perceptive.save(learner, path)
    return path


LIES = {
    "other kind": lambda m, a: "Oracle",
    "more features": lambda m, a: m.update(n_features=10**12),
    "fewer features": lambda m, a: m.update(n_features=1),
    "features no number": lambda m, a: m.update(n_features="2"),
    "more classes": lambda m, a: m.update(classes=[str(i) for i in range(50)]),
    "one class": lambda m, a: m.update(classes=["a"]),
    "no classes": lambda m, a: m.pop("classes"),
    "unknown rule": lambda m, a: m["parameters"].update(rule="evil"),
    "unknown parameter": lambda m, a: m["parameters"].update(evil=1),
    "no weights": lambda m, a: a.pop("0.z"),
    "weights of another type": lambda m, a: a.update({"0.z": a["0.z"].astype(np.float64)}),
    "flat weights": lambda m, a: a.update({"0.z": a["0.z"].ravel()}),
    "short sum": lambda m, a: a.update({"0.sum": a["0.sum"][:1]}),
    "short bias": lambda m, a: a.update({"0.z_bias": a["0.z_bias"][:1]}),
    "journal index out of range": lambda m, a: a["0.index"].__setitem__(0, 99),
    "journal index negative": lambda m, a: a["0.index"].__setitem__(0, -1),
    "journal class out of range": lambda m, a: a["0.entry_label"].__setitem__(0, 3),
    "journal vector out of range": lambda m, a: a["0.entry_vector"].__setitem__(0, 99),
    "journal starts wrong": lambda m, a: a["0.vector_start"].__setitem__(1, 99),
    "journal steps wrong": lambda m, a: a["0.first_entry"].__setitem__(1, -5),
    "journal survival short": lambda m, a: a.update({"0.survival": a["0.survival"][:-1]}),
    "journal survival negative": lambda m, a: a["0.survival"].__setitem__(0, -1),
    "negative rounds": lambda m, a: m["problems"][0]["run"].update(rounds=-1),
    "rounds no number": lambda m, a: m["problems"][0]["run"].update(rounds="x"),
    "scale not finite": lambda m, a: m["problems"][0]["run"].update(scale=float("inf")),
    "no run": lambda m, a: m["problems"][0].pop("run"),
    "two problems": lambda m, a: m["problems"].append(m["problems"][0]),
    "problems no list": lambda m, a: m.update(problems=7),
}


@pytest.mark.core
@pytest.mark.parametrize("lie", LIES)
def test_well_formed_files_that_lie_are_refused(lie, small):
    _rewrite(small, LIES[lie])
    with pytest.raises(ModelFileError, match=str(small)):
        perceptive.load(small)


@pytest.mark.core
@examples(60)
@given(data=st.data())
def test_arrays_of_any_content_never_crash_the_core(data, tmp_path_factory):
    """Either the file is refused, or the model predicts, votes and learns without reading out of bounds."""
    path = tmp_path_factory.mktemp("fuzz") / "a.model"
    learner = LinearLearner(classes=["a", "b", "c"], keep="all")
    learner.learn_many([[1.0, 2.0], [0.0, 1.0], [-1.0, 0.5]], ["a", "b", "c"])
    perceptive.save(learner, path)
    kind, meta, arrays = model_file.read(path)
    arrays = {name: array.copy() for name, array in arrays.items()}
    name = data.draw(st.sampled_from(sorted(arrays)))
    raw = bytearray(arrays[name].tobytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    arrays[name] = np.frombuffer(bytes(raw), arrays[name].dtype).reshape(arrays[name].shape)
    model_file.write(path, kind, meta, arrays)
    try:
        model = perceptive.load_learner(path)
    except ModelFileError:
        return
    for hypothesis in HYPOTHESES:
        with contextlib.suppress(ValueError):  # weights that are no numbers
            model.predict([1.0, 1.0], hypothesis=hypothesis)
    model.learn([1.0, -1.0], "b")


def test_loading_is_a_matter_of_milliseconds(tmp_path):
    import time

    path = tmp_path / "a.model"
    learner = LinearLearner(classes=[0, 1])
    learner.learn_many([{f"word{i}": 1.0 for i in range(100_000)}], [1])
    perceptive.save(learner, path)
    best = min(_timed(lambda: perceptive.load_learner(path), time) for _ in range(5))
    assert best < 0.05


def _timed(call, time):
    began = time.process_time()
    call()
    return time.process_time() - began


@pytest.mark.parametrize("wrong", [None, 3, "abc", {}, [None], ["1"], [[1]], [True]])
@pytest.mark.parametrize("what", ["history", "mistakes", "loss", "held_out", "converged"])
@pytest.mark.parametrize("kind", ["linear", "kernel", "ranker", "kernel ranker", "tagger"])
def test_an_impossible_history_is_refused(kind, what, wrong, tmp_path):
    X, y, qid = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 2.0]], [0, 1, 1, 0], [0, 0, 1, 1]
    if kind == "tagger":
        model = perceptive.SequenceTagger(template="ner").fit([["a", "b"], ["c"]], [["X", "Y"], ["Y"]])
    elif "ranker" in kind:
        ranker = perceptive.LinearRanker() if kind == "ranker" else perceptive.KernelRanker(kernel="linear")
        model = ranker.fit(X, y, qid)
    else:
        classifier = perceptive.LinearClassifier() if kind == "linear" else perceptive.KernelClassifier(kernel="linear")
        model = classifier.fit(X, y)
    path = tmp_path / "a.model"
    perceptive.save(model, path)
    found, meta, arrays = model_file.read(path)
    if what == "history":
        meta["history"] = wrong if wrong != {} else {"passes": 3}
    else:
        meta["history"][what] = wrong
    model_file.write(path, found, meta, dict(arrays))
    with pytest.raises(ModelFileError):
        perceptive.load(path)
