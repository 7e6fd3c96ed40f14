"""Before its first example a learner predicts with v₀ = 0, and by default it predicts with its last vector."""

import numpy as np
import pytest

from perceptive import KernelClassifier, KernelRanker, LinearClassifier, LinearRanker, SequenceTagger
from perceptive.learners import KernelLearner, KernelRankingLearner, LinearLearner, RankingLearner, SequenceLearner

pytestmark = pytest.mark.core


@pytest.mark.parametrize("x", [(1, 2), {"a": 1.0}, np.array([1.0, 2.0])])
@pytest.mark.parametrize("hypothesis", ["last", "averaged", "voted", "best", "random"])
def test_two_classes(x, hypothesis):
    learner = LinearLearner(classes=["loss", "profit"], hypothesis=hypothesis)
    assert learner.score(x) == 0.0
    assert learner.predict(x) == "loss"
    assert learner.predict_many([x, x]) == ["loss", "loss"]
    assert LinearLearner(classes=[0, 1], ties="positive").predict(x) == 1
    learner.learn(x, "profit")
    assert learner.predict(x, "last") == "profit"


@pytest.mark.parametrize("multiclass", ["joint", "ovr", "ovo"])
@pytest.mark.parametrize("columns", [{}, {"bits": 8}, {"n_features": 3}])
def test_more_classes(multiclass, columns):
    learner = LinearLearner(classes="abc", multiclass=multiclass, **columns)
    assert learner.predict({"x": 1.0}) == "a"
    if "bits" not in columns:
        assert learner.score([1, 2, 3]).tolist() == [0, 0, 0]
    if "n_features" in columns:
        with pytest.raises(ValueError, match="X has 2 features, but this model expects 3"):
            learner.predict([1, 2])
    with pytest.raises(ValueError, match=r"no classes are known yet; announce them \(classes=…\), or let it learn"):
        LinearLearner(multiclass=multiclass).predict([1, 2])


def test_kernels_and_lists():
    assert KernelLearner(classes=[0, 1]).score([1, 2]) == 0.0
    assert KernelLearner(classes="abc").predict([1, 2]) == "a"
    with pytest.raises(ValueError, match="no classes are known yet"):
        KernelLearner().predict([1, 2])
    for learner in (RankingLearner(), RankingLearner(hypothesis="voted"), KernelRankingLearner()):
        assert learner.rank([[1, 2], [3, 4]]) == [(0, 0.0), (1, 0.0)]
    assert RankingLearner().find_best([{"a": 1}, {"b": 1}]) == 0


@pytest.mark.parametrize(
    "learner", [LinearLearner, KernelLearner, RankingLearner, KernelRankingLearner, SequenceLearner]
)
def test_a_learner_predicts_with_its_last_vector_unless_told_otherwise(learner):
    assert learner().parameters.hypothesis == "last"
    assert learner(hypothesis="averaged").parameters.hypothesis == "averaged"


def test_score_and_predict_are_the_notes():
    """v_k·x after each example: what the learner is judged by in the next round is what it says."""
    rng, learner = np.random.default_rng(0), LinearLearner(classes=[-1, 1])
    for x in rng.normal(size=(50, 3)):
        y = 1 if x @ [1, -2, 1] > 0.3 else -1
        score, label = learner.score(x), learner.predict(x)
        assert learner.learn(x, y) == (y * score <= 0)
        assert label == (1 if score > 0 else -1)


@pytest.mark.parametrize("estimator", [LinearClassifier, KernelClassifier, LinearRanker, KernelRanker, SequenceTagger])
def test_estimators_average(estimator):
    assert estimator().hypothesis == "averaged"


def test_the_learner_of_an_estimator_has_its_hypothesis():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1]
    for estimator in (LinearClassifier(), KernelClassifier()):
        assert estimator.fit(X, y).learner_.parameters.hypothesis == "averaged"
        assert type(estimator)(hypothesis="last").partial_fit(X, y).learner_.parameters.hypothesis == "last"
    assert LinearClassifier().learn_one({"a": 1.0}, "y").learner_.parameters.hypothesis == "averaged"
