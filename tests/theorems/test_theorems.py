"""The theorems of the notes, watched at every step, and the certificates, recomputed by hand."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from examples import examples
from perceptive import LinearClassifier
from perceptive.games import PerceptronGame, Replay, hard_game, noisy_game, separable_game
from perceptive.learners.linear import ALL

quick = examples(40)
SEEDS = st.integers(0, 10**6)
ROUNDING = 1 + 1e-9


def fit(X, y, sample_weight=None, coef_init=None, **parameters):
    clf = LinearClassifier(**{"bias": 0.0, "shuffle": False, "dtype": "float64", "certify": True, **parameters})
    return clf.fit(X, y, sample_weight, coef_init)


def every_v(clf):
    """v₀, v₁, … of a binary (k × features) or joint (k × classes × features) run without bias."""
    problem = clf.learner_.vectors[ALL]
    vectors = [problem.voter(k)[0] for k in range(problem.run.updates + 1)]
    return np.array([v[:, 0] if problem.binary else v[:, : problem.n_classes].T for v in vectors])


# ---------------------------------------------------------------- Lemmas 1 and 2, Theorem 1


@quick
@given(SEEDS, st.integers(1, 8), st.floats(0.02, 0.9), st.floats(1.0, 10.0))
def test_lemmas_and_theorem_at_every_round(seed, d, margin, radius):
    X, y, u = separable_game(60, d, margin, radius, seed)
    game = PerceptronGame(u, margin, radius)
    for one in game.play(Replay(X, y), len(y)):
        assert one.along * ROUNDING >= one.k * margin  # Lemma 1
        assert one.length**2 <= one.k * radius**2 * ROUNDING  # Lemma 2
        assert one.k <= (radius / margin) ** 2  # Theorem 1
    assert len(game.rounds) == len(y)


@pytest.mark.core
@quick
@given(SEEDS, st.integers(1, 6), st.floats(0.05, 0.9), st.integers(1, 20), st.booleans())
def test_lemmas_and_theorem_for_the_core(seed, d, margin, epochs, shuffle):
    X, y, u = separable_game(40, d, margin, 1.0, seed)
    clf = fit(X, y, epochs=epochs, shuffle=shuffle, keep="all")
    V = every_v(clf)
    k = np.arange(len(V))
    assert (V @ u * ROUNDING >= k * margin).all()
    assert ((V**2).sum(axis=1) <= k * ROUNDING).all()
    assert k[-1] == clf.updates_.sum() <= (1 / margin) ** 2
    if not shuffle and epochs == 1:
        assert PerceptronGame(u, margin, 1.0).play(Replay(X, y), len(y))[-1].k == k[-1]


def joint_game(seed, n, d, n_classes, noise=0.0):
    """Rows labelled by a random unit matrix U, the first few and a share of the others with a lie."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(n_classes, d))
    U /= np.linalg.norm(U)
    X = rng.normal(size=(n, d))
    y = np.argmax(X @ U.T, axis=1)
    lies = rng.uniform(size=n) < noise
    y[lies] = rng.integers(n_classes, size=lies.sum())
    y[:n_classes] = np.arange(n_classes)  # every class is there
    return X, y, U


def joint_margins(X, y, U):
    """U·δ against the closest competitor."""
    scores = X @ U.T
    mine = scores[np.arange(len(y)), y].copy()
    scores[np.arange(len(y)), y] = -np.inf
    return mine - scores.max(axis=1)


@pytest.mark.core
@quick
@given(SEEDS, st.integers(2, 5), st.integers(3, 5), st.integers(1, 6))
def test_lemmas_and_theorem_for_joint_multiclass(seed, d, n_classes, epochs):
    X, y, U = joint_game(seed, 60, d, n_classes)
    right = joint_margins(X, y, U) > 0.02
    X, y = X[right], y[right]
    assume(len(set(y)) == n_classes)
    margin, radius2 = joint_margins(X, y, U).min(), 2 * (X**2).sum(axis=1).max()
    clf = fit(X, y, epochs=epochs, keep="all")
    V = every_v(clf)
    k = np.arange(len(V))
    assert ((V * U).sum(axis=(1, 2)) * ROUNDING >= k * margin).all()
    assert ((V**2).sum(axis=(1, 2)) <= k * radius2 * ROUNDING).all()
    assert k[-1] <= radius2 / margin**2
    assert clf.certificate_.radius**2 <= radius2 * ROUNDING


@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_orthonormal_examples_attain_the_bound(n):
    X, y, u = hard_game(n)
    game = PerceptronGame(u, 1 / math.sqrt(n), 1.0).play(Replay(X, y), n)
    assert game[-1].k == n
    assert (1 / min(y * (X @ u))) ** 2 == pytest.approx(n)  # (R/γ)²
    assert game[-1].along == pytest.approx(n * min(y * (X @ u)))  # Lemma 1, with equality
    assert game[-1].length == math.sqrt(n)  # Lemma 2, with equality


# ---------------------------------------------------------------- noise: D


@quick
@given(SEEDS, st.integers(1, 5), st.floats(0.0, 0.5), st.integers(1, 6), st.floats(0.05, 5.0))
def test_deviation_bound_on_noisy_games(seed, d, noise, epochs, gamma):
    X, y, u = noisy_game(40, d, 0.1, 1.0, noise, seed)
    k = fit(X, y, epochs=epochs, certify=False).updates_.sum()
    for w in (u, -u, np.eye(d)[0]):  # any u, any γ
        D = math.sqrt(epochs * (np.maximum(0, gamma - y * (X @ w)) ** 2).sum())
        assert k <= ((1 + D) / gamma) ** 2 * ROUNDING


def test_counting_deviation_once_per_example_fails_over_epochs():
    """One example with both labels: two mistakes in every pass, for ever. D once would allow two in all."""
    X, y, epochs = np.ones((2, 1)), np.array([1, -1]), 10
    clf = fit(X, y, epochs=epochs)
    k = clf.updates_.sum()
    assert k == 2 * epochs
    gammas = np.geomspace(1e-3, 1e6, 200)
    once = np.array([(np.maximum(0, g - y) ** 2).sum() for g in gammas])
    assert (((1 + np.sqrt(once)) / gammas) ** 2).min() == pytest.approx(2, rel=1e-3)  # far below k
    assert (((1 + np.sqrt(epochs * once)) / gammas) ** 2 >= k).all()
    assert k <= clf.certificate_.bound <= k * (1 + 1e-6)  # ours counts right, and is tight


@quick
@given(SEEDS, st.integers(2, 4), st.integers(3, 4), st.integers(1, 5), st.floats(0.05, 5.0))
def test_deviation_bound_on_noisy_joint_games(seed, d, n_classes, epochs, gamma):
    X, y, U = joint_game(seed, 40, d, n_classes, noise=0.3)
    clf = fit(X, y, epochs=epochs)
    D = math.sqrt(epochs * (np.maximum(0, gamma - joint_margins(X, y, U)) ** 2).sum())
    R = math.sqrt(2 * (X**2).sum(axis=1).max())
    assert clf.updates_.sum() <= ((R + D) / gamma) ** 2 * ROUNDING


@pytest.mark.core
@quick
@given(SEEDS, st.floats(0.3, 3.0), st.floats(0.05, 3.0), st.sampled_from(["perceptron", "pa", "romma"]))
def test_delta_trick_makes_noise_separable(seed, delta, gamma, rule):
    X, y, u = noisy_game(25, 3, 0.1, 1.0, 0.2, seed)
    assume(len(set(y)) == 2)
    clf = fit(X, y, epochs=3000, delta=delta, rule=rule)
    count = clf.updates_.sum() if rule == "perceptron" else clf.mistakes_.sum()
    D2 = (np.maximum(0, gamma - y * (X @ u)) ** 2).sum()  # once per example, however many passes
    assert count <= (1 + delta**2) * (1 + D2 / delta**2) / gamma**2 * ROUNDING
    assert clf.certificate_.holds
    if rule == "perceptron":
        assert clf.converged_
    # It is the perceptron on [X | ΔI], whose id features are dropped.
    if rule == "perceptron":
        wide = fit(np.hstack([X, delta * np.eye(25)]), y, epochs=3000, hypothesis="last")
        assert wide.mistakes_.tolist() == clf.mistakes_.tolist()
        np.testing.assert_allclose(clf.learner_.vectors[ALL].vector("last")[0][:, 0], wide.coef_[0, :3])


def as_row(x):
    return [(j, float(value)) for j, value in enumerate(x)]
