"""A v_k that is 0, or 0 along an example, abstains: rounding does not vote for it."""

import numpy as np
import pytest

from perceptive import KernelClassifier, KernelRanker, LinearClassifier, LinearRanker

pytestmark = pytest.mark.core

E1, E2, ZERO = [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]
ROUNDS = {"epochs": 1, "shuffle": False, "dtype": "float64", "hypothesis": "voted"}
V = np.array([ZERO, E1, [1.0, 1.0], E2, ZERO, E1])  # v₀, v₁, … of the runs below
SURVIVAL = np.array([1, 1, 1, 1, 1, 0])
T = np.random.default_rng(0).normal(size=(2000, 2))


@pytest.mark.parametrize("model", [LinearClassifier(bias=0, **ROUNDS), KernelClassifier(kernel="linear", **ROUNDS)])
def test_votes_of_two_classes_are_those_of_every_vector(model):
    model.fit([E1, E2, E1, E2, E1], [1, 1, 0, 0, 1])
    expected = SURVIVAL @ np.sign(V @ T.T) / 5
    np.testing.assert_array_equal(model.decision_function(T), expected)


@pytest.mark.parametrize("ranker", [LinearRanker(**ROUNDS), KernelRanker(kernel="linear", **ROUNDS)])
def test_votes_in_lists_are_those_of_every_vector(ranker):
    ranker.fit([[E1, ZERO], [E2, ZERO], [ZERO, E1], [ZERO, E2], [E1, ZERO]], [0] * 5)
    lists = T.reshape(-1, 4, 2)
    expected = np.zeros((len(lists), 4))
    for v, m in zip(V, SURVIVAL, strict=True):
        if v.any():
            expected[np.arange(len(lists)), np.argmax(lists @ v, axis=1)] += m / 5
    np.testing.assert_allclose(ranker.decision_function(list(lists)), expected)


@pytest.mark.parametrize("model", [LinearClassifier(bias=0, **ROUNDS), KernelClassifier(kernel="linear", **ROUNDS)])
def test_votes_of_competing_classes_leave_out_vectors_that_are_equal(model):
    X, y = np.array([E1, E2, E1, E2, E1]), [0, 1, 1, 0, 2]
    weights, votes = np.zeros((3, 2)), np.zeros((len(T), 3))
    for x, label in zip(X, y, strict=True):
        scores = T @ weights.T
        some = np.ptp(weights, axis=0).any()  # else all classes have the same vector
        votes[np.arange(len(T)), np.argmax(scores, axis=1)] += some
        mine = weights @ x
        rival = max((c for c in range(3) if c != label), key=lambda c: (mine[c], -c))
        if mine[label] <= mine[rival]:
            weights[label] += x
            weights[rival] -= x
    np.testing.assert_allclose(model.fit(X, y).decision_function(T), votes / 5)
