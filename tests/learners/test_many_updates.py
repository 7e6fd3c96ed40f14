"""Weights in float32 become float64 before equal steps are lost: 2²⁴ of them later a step changes nothing."""

import copy
import pickle

import numpy as np
import pytest

from perceptive import LinearClassifier, load_learner, save
from perceptive.learners import LinearLearner, RankingLearner
from perceptive.learners import weight_vector as module

pytestmark = pytest.mark.core
RNG = np.random.default_rng(0)
X, Y = RNG.integers(-3, 4, size=(300, 4)).astype(np.float32), RNG.integers(3, size=300)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(module, "MOST_UPDATES", 50)


def test_a_step_is_not_lost_after_2_to_the_24():
    learner = LinearLearner(classes=[-1, 1], bias=0.0)
    learner.learn([1.0], 1)
    vector = learner.vectors[()]
    vector.weights.arrays["z"][:] = -(2.0**24)
    vector.run.updates = 2**24
    learner.learn([1.0], 1)  # found here that there were so many
    assert vector.dtype == np.float64
    before = learner.score([1.0])
    learner.learn([1.0], 1)
    assert learner.score([1.0]) == before + 1.0


def test_nor_by_the_short_way_of_dicts():
    clf = LinearClassifier(bias=0.0, hypothesis="last")
    for x, label in (({"a": 1.0}, 0), ({"b": 1.0}, 1), ({"a": 1.0}, 0)):
        clf.learn_one(x, label)
    clf.learner_.vectors[()].run.updates = module.MOST_UPDATES
    clf.learn_one({"a": 1.0}, 1)
    assert clf.learner_.vectors[()].dtype == np.float64
    mistakes = clf.learner_.mistakes
    clf.learn_one({"a": 1.0}, 1)
    assert clf.learner_.mistakes <= mistakes + 1


FORMS = [{}, {"hypothesis": "last"}, {"hypothesis": "voted"}, {"delta": 0.5}, {"multiclass": "ovr"}, {"rule": "arow"}]


@pytest.mark.parametrize("parameters", FORMS)
def test_widening_in_the_midst_changes_nothing_else(few, parameters, tmp_path):
    """On small whole numbers both are exact, so that what was widened equals what was float64 from the start."""
    kept = {"hypothesis": "averaged", **parameters}
    narrow, wide = (LinearLearner(classes=[0, 1, 2], dtype=dtype, **kept) for dtype in ("float32", "float64"))
    for learner in (narrow, wide):
        dataset = learner.dataset(X, Y, epochs=3)
        for _ in range(3):
            for part in np.array_split(np.arange(300), 10):
                dataset.play(part)
        learner.finish()
    assert all(vector.dtype == np.float64 for vector in narrow.vectors.values())
    if parameters.get("rule") != "arow":
        assert narrow.scores(X).tolist() == wide.scores(X).tolist()
        assert narrow.mistakes == wide.mistakes
    save(narrow, tmp_path / "model")
    for twin in (load_learner(tmp_path / "model"), pickle.loads(pickle.dumps(narrow)), copy.deepcopy(narrow)):
        assert twin.scores(X).tolist() == narrow.scores(X).tolist()
        twin.learn_many(X, Y)
    before = narrow.snapshot()
    narrow.learn_many(X, Y)
    narrow.restore(before)


def test_a_snapshot_from_before_is_gone_back_to(few):
    learner = LinearLearner(classes=[0, 1, 2], keep="all")
    learner.learn_many(X[:20], Y[:20])
    before, scores = learner.snapshot(), learner.scores(X).tolist()
    learner.learn_many(X, Y)
    assert learner.vectors[()].dtype == np.float64
    learner.restore(before)
    assert learner.scores(X).tolist() == scores


def test_rankers_are_widened_too(few):
    learner = RankingLearner()
    lists = RNG.integers(-3, 4, size=(200, 3, 4)).astype(float)
    learner.learn_many(list(lists), RNG.integers(3, size=200).tolist())
    assert learner.vector.dtype == np.float64
    assert learner.rounds == 200
