"""Moving targets and regret; the perceptron as stochastic gradient descent; copies of features."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from perceptive.games import (
    batch_descent,
    drifting_game,
    duplicated_features,
    regret,
    separable_game,
    stochastic_descent,
)
from perceptive.games.drift import best_path_loss
from perceptive.learners import LinearLearner


def test_the_target_turns():
    X, y, U = drifting_game(200, 0.1, 1.0, 0.05, 3)
    assert (y * (X * U).sum(axis=1) >= 0.1 - 1e-12).all()
    assert (np.linalg.norm(X, axis=1) <= 1 + 1e-12).all()
    np.testing.assert_allclose((U[1:] * U[:-1]).sum(axis=1), np.cos(0.05))
    still = drifting_game(50, 0.1, 1.0, 0.0, 3)[2]
    np.testing.assert_allclose(still, np.tile(still[:1], (50, 1)))


@pytest.mark.parametrize("step", [0.0, 0.03, 0.2])
def test_regret(step):
    X, y, U = drifting_game(80, 0.3, 1.0, step, 1)
    length = float(np.abs(np.diff(U / 0.3, axis=0)).sum())
    found = regret(X, y, length)
    assert found.best_path <= 1e-6  # the path of the target, scaled to a hinge of 1, loses nothing
    assert found.best_path <= found.best_fixed + 1e-9
    assert found.against_fixed == found.loss - found.best_fixed
    assert found.mistakes <= found.loss  # the hinge loss of a mistake is at least 1
    if step == 0.0:
        assert found.best_fixed <= 1e-6
        assert found.mistakes <= (1 / 0.3) ** 2
    else:
        assert found.best_fixed > found.best_path + 1
        assert found.against_path > found.against_fixed


def test_the_best_path_shortens_with_its_length():
    X, y, _ = drifting_game(40, 0.3, 1.0, 0.2, 2)
    Z = X * y[:, None]
    losses = [best_path_loss(Z, length) for length in (0.0, 0.5, 2.0, 10.0, 100.0)]
    assert all(a >= b - 1e-9 for a, b in pairwise(losses))
    found = minimize(lambda u: np.maximum(0, 1 - Z @ u).sum(), np.zeros(2), method="Nelder-Mead", tol=1e-9)
    assert losses[0] <= found.fun + 1e-9  # no vector that another method finds is better
    assert losses[0] == pytest.approx(found.fun, rel=1e-3)


def test_bad_streams():
    with pytest.raises(ValueError, match="0 < margin < radius"):
        drifting_game(5, 2, 1, 0.1)
    with pytest.raises(ValueError, match="at least one"):
        drifting_game(0, 0.1, 1, 0.1)
    with pytest.raises(ValueError, match="length=-1"):
        regret([[1.0]], [1], -1)
    with pytest.raises(ValueError, match="only"):
        regret([[1.0]], [2], 1)
    with pytest.raises(ValueError, match="n labels"):
        stochastic_descent([[1.0]], [1, 1], 1)
    with pytest.raises(ValueError, match="learning_rate"):
        batch_descent([[1.0]], [1], 1, learning_rate=0)
    with pytest.raises(ValueError, match="0 and 1 only"):
        duplicated_features([[2]], [1], 0, [1])
    with pytest.raises(ValueError, match="columns"):
        duplicated_features([[1]], [1], 3, [1])


@pytest.mark.core
def test_stochastic_descent_is_the_perceptron():
    X, y, _ = separable_game(60, 4, 0.1, 1.0, 1)
    learner = LinearLearner(classes=[-1, 1], bias=0.0, dtype="float64")
    for epoch in stochastic_descent(X, y, 4):
        before = learner.mistakes
        for x, label in zip(X, y, strict=True):
            learner.learn(x, int(label))
        assert learner.mistakes - before == epoch.updates
        np.testing.assert_allclose(learner.scores(X, "last"), X @ epoch.v, atol=1e-12)


def test_the_batch_follows_the_gradient():
    X, y, _ = separable_game(60, 4, 0.2, 1.0, 2)
    Z = X * y[:, None]
    v = np.zeros(4)
    for epoch in batch_descent(X, y, 30, learning_rate=0.5):
        v = v + 0.5 * Z[Z @ v <= 0].sum(axis=0)
        np.testing.assert_allclose(epoch.v, v)
        assert epoch.criterion == pytest.approx(np.maximum(0, -Z @ v).sum())
    assert epoch.errors == 0
    assert stochastic_descent(X, y, 30)[-1].errors == 0


def test_counting_believes_copies_and_the_perceptron_does_not():
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], 1000)
    X = (rng.uniform(size=(1000, 7)) < np.where(y > 0, 0.75, 0.25)[:, None]).astype(int)
    rows = duplicated_features(X, y, 2, [0, 3, 30])
    assert [row.copies for row in rows] == [0, 3, 30]
    assert rows[0].counting < rows[1].counting < rows[2].counting
    assert rows[2].counting == pytest.approx(np.mean((2 * X[:, 2] - 1) != y), abs=0.01)  # only the copies count
    assert rows[2].perceptron < rows[2].counting - 0.05
