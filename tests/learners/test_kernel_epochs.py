"""Kernel learners over several epochs and blocks: as if every score were made anew."""

import numpy as np
import pytest

from perceptive import KernelClassifier, _core
from perceptive.learners.dual_epochs import BLOCK
from perceptive.training.loop import hash_seed

pytestmark = pytest.mark.core


def test_shuffled_epochs_of_several_blocks_are_those_of_brute_force():
    """Scores are kept between epochs, block by block; the order of an epoch must not change under those of the last."""
    rng = np.random.default_rng(0)
    n = 2 * BLOCK + 100
    X = rng.integers(-3, 4, size=(n, 4)).astype(float)
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < 0.1)
    clf = KernelClassifier(kernel="poly(2)", epochs=4, dtype="float64").fit(X, y)
    K, target, scores, order = (1 + X @ X.T) ** 2, np.where(y, 1, -1), np.zeros(n), np.arange(n)
    mistakes = []
    for epoch in range(4):
        order = order[_core.random_order(n, hash_seed(0, epoch))]
        wrong = 0
        for i in order:
            if target[i] * scores[i] <= 0:
                scores += target[i] * K[:, i]
                wrong += 1
        mistakes.append(wrong)
    assert clf.mistakes_.tolist() == mistakes
    assert clf.decision_function(X, hypothesis="last").tolist() == scores.tolist()
