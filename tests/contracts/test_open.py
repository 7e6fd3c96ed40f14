"""Between two examples of a stream the average credits v_K with the one it is about to predict; training closes it."""

import copy
import pickle

import numpy as np
import pytest

import perceptive
from perceptive import KernelClassifier, LinearClassifier, load_learner, reference, save
from perceptive.parameters import TrainingParameters
from perceptive.training.loop import InMemory, Run, train
from zoo import CASES

pytestmark = pytest.mark.core
HALF = len(CASES[0].X) // 2
every = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def trained(case):
    learner = case.make()
    dataset = learner.dataset(case.X, case.y, epochs=3)
    train(Run.of(learner, TrainingParameters(epochs=3)), InMemory(dataset, shuffle=False))
    return learner


@every
def test_streams_open_and_training_closes(case):
    learner = case.make()
    assert not learner.open
    learner.learn(case.X[0], case.y[0])
    assert learner.open
    learner.learn_many(*case.part(1, HALF))
    assert learner.open
    dataset = learner.dataset(case.X, case.y, epochs=2)
    train(Run.of(learner, TrainingParameters(epochs=2)), InMemory(dataset, shuffle=True))
    assert not learner.open
    learner.learn(case.X[0], case.y[0])
    assert learner.open


@pytest.mark.once
@every
def test_the_flag_is_part_of_the_model(case, tmp_path):
    for learner in (trained(case), case.make()):
        if not learner.rounds:
            learner.learn_many(case.X, case.y)
        save(learner, tmp_path / "model")
        answers = [str(answer) for answer in learner.predict_many(case.X)]
        for twin in (load_learner(tmp_path / "model"), pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)):
            assert twin.open == learner.open
            assert [str(answer) for answer in twin.predict_many(case.X)] == answers
            assert [str(twin.predict(x)) for x in case.X[:6]] == [str(learner.predict(x)) for x in case.X[:6]]
    state = learner.snapshot()
    learner.open = False
    learner.restore(state)
    assert learner.open


def vector_of(learner):
    """All averaged weights in a row, bias weights last."""
    vectors = [vector.vector("averaged") for vector in learner.vectors.values()]
    return np.concatenate([np.append(w[:, : len(b)].astype(float), b) for w, b in vectors])


@pytest.mark.parametrize("parameters", [{}, {"multiclass": "ovr"}, {"multiclass": "ovo"}, {"average": "mistakes"}])
@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 2]])
def test_the_open_average_is_a_mean_with_one_round_more(parameters, classes):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, size=(30, 4)).astype(float), rng.integers(len(classes), size=30)
    learner = perceptive.learners.LinearLearner(classes, hypothesis="averaged", dtype="float64", **parameters)
    for x, label in zip(X, y, strict=True):
        learner.learn(x, label)
        opened = vector_of(learner)
        parts = [(v.run.rounds, *v.vector("last")) for v in learner.vectors.values()]
        last = np.concatenate([np.append(w[:, : len(b)].astype(float), b) for _, w, b in parts])
        m = np.concatenate([np.full(w[:, : len(b)].size + len(b), rounds) for rounds, w, b in parts])
        scores = learner.scores(X)
        learner.open = False
        closed = vector_of(learner)
        if "average" in parameters:
            assert opened.tolist() == closed.tolist()
        else:
            played = m > 0
            np.testing.assert_allclose(opened[played], ((m * closed + last) / (m + 1))[played], atol=1e-12)
        learner.open = True
        learner.finish()
        if parameters.get("multiclass") != "ovo":  # whose votes turn with the sign of a score
            np.testing.assert_allclose(learner.scores(X), scores, atol=1e-12)


def test_a_newcomer_gets_back_what_was_said():
    clf = LinearClassifier()
    clf.learn_one({"b": 1}, "y")
    assert clf.predict_one({"b": 1}) == "y"
    assert clf.predict([{"b": 1}]).tolist() == ["y"]
    for clf in (LinearClassifier(bias=0.0), KernelClassifier(kernel="linear")):
        clf.partial_fit([[0.0, 1.0]], ["y"], classes=["n", "y"])
        assert clf.predict([[0.0, 1.0]]).tolist() == ["y"]
        clf.partial_fit([[1.0, 0.0]], ["n"])
        assert clf.predict([[0.0, 1.0], [1.0, 0.0]]).tolist() == ["y", "n"]
        assert [clf.predict_one(x) for x in ([0.0, 1.0], [1.0, 0.0])] == ["y", "n"]


def test_two_dicts_by_the_short_way():
    clf = LinearClassifier(bias=0.0)
    for x, label in (({"b": 1}, "y"), ({"a": 1}, "n")):
        clf.learn_one(x, label)
    assert [clf.predict_one({"b": 1}), clf.predict_one({"a": 1})] == clf.predict([{"b": 1}, {"a": 1}]).tolist()
    loaded = LinearClassifier(bias=0.0).fit([{"a": 1}, {"b": 1}], ["n", "y"])
    assert not loaded.learner_.open
    loaded.learn_one({"a": 1}, "n")
    assert loaded.learner_.open
    assert loaded.learner_.vectors[()].run.open


def test_the_normalized_average_of_a_kernel_is_open_too():
    clf = KernelClassifier(kernel="linear", normalized=True)
    clf.partial_fit([[0.0, 2.0]], [1], classes=[0, 1])
    assert clf.decision_function([[0.0, 1.0]]) == pytest.approx(0.5)


@pytest.mark.parametrize("normalized", [False, True])
def test_the_dual_is_open_as_its_twin(normalized):
    rng = np.random.default_rng(1)
    X, y = rng.integers(-3, 4, size=(25, 3)).astype(float), rng.integers(2, size=25)
    learner = perceptive.learners.KernelLearner([0, 1], kernel="linear", hypothesis="averaged", dtype="float64")
    twin = reference.DualBinary(lambda a, b: float(np.dot(a, b)))
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        learner.learn(x, int(label))
        twin.learn(x.tolist(), 1 if label else -1, i)
        mean = reference.average_alpha(twin, normalized, open=True)
        found = learner.scores(X, "averaged", normalized)
        np.testing.assert_allclose(found, [twin.scores(x.tolist(), mean)[0] for x in X], atol=1e-9)


def test_sentences_and_lists():
    tagger = perceptive.SequenceTagger(template="word")
    tagger.partial_fit([["a", "b"]], [["Y", "X"]], classes=["X", "Y"])
    assert tagger.predict([["a", "b"]]) == [["Y", "X"]]
    ranker = perceptive.LinearRanker()
    ranker.partial_fit([[[1, 0], [0, 1]]], [1])
    assert ranker.learner_.find_best([[1, 0], [0, 1]]) == 1
