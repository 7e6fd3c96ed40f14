"""A kernel learner predicts on rows as it has learned from them: in one precision."""

import numpy as np
import pytest

from perceptive import KernelClassifier, KernelRanker, certify
from perceptive.kernels import Gaussian
from perceptive.learners import KernelLearner

pytestmark = pytest.mark.core
# Points that float32 moves by a good part of their distances.
X = 1e4 + 2e-3 * np.random.default_rng(0).normal(size=(200, 2))
Y = (np.random.default_rng(1).normal(size=200) + (X[:, 0] - 1e4) * 1e3 > 0).astype(int)
KERNEL = Gaussian(sigma=1e-3)


def told_apart():
    """The points that stay different in float32."""
    _, first = np.unique(X.astype(np.float32), axis=0, return_index=True)
    return X[first], Y[first]


def test_what_has_converged_is_right_about_its_own_data():
    X, y = told_apart()
    clf = KernelClassifier(kernel=KERNEL, hypothesis="last", epochs=500).fit(X, y)
    assert clf.converged_
    assert clf.score(X, y) == 1.0
    np.testing.assert_array_equal(clf.decision_function(X), clf.decision_function(X.astype(np.float32)))


def test_certificates_are_about_the_rows_as_learned():
    X, y = told_apart()
    learner = KernelLearner(classes=[0, 1], kernel=KERNEL)
    learner.learn_many(X, y)
    one, other = certify(learner, X, y), certify(learner, X.astype(np.float32), y)
    assert (one.bound, one.margin, one.deviation) == (other.bound, other.margin, other.deviation)


def test_rankers_too():
    X, _ = told_apart()
    lists = [X[i : i + 4] for i in range(0, len(X) - 4, 4)]
    best = [i % 4 for i in range(len(lists))]
    ranker = KernelRanker(kernel=KERNEL, hypothesis="last", epochs=500).fit(lists, best)
    assert ranker.converged_
    assert [int(np.argmax(ranker.learner_.scores(one))) for one in lists] == best
    rounded = [one.astype(np.float32) for one in lists]
    assert ranker.learner_.predict_many(rounded) == ranker.learner_.predict_many(lists)
