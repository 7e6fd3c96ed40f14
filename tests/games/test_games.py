"""The games: what A promises, what B does, and proofs of separability that can be checked."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive.games import PerceptronGame, Replay, cycle, hard_game, noisy_game, separable_game, separate

SEEDS = st.integers(0, 10**6)
quick = examples(60)


# ---------------------------------------------------------------- the perceptron game


@quick
@given(SEEDS, st.integers(1, 50), st.integers(1, 10), st.floats(1e-3, 1.0), st.floats(1.01, 1e3))
def test_a_keeps_its_promises(seed, n, d, margin, ratio):
    radius = margin * ratio
    X, y, u = separable_game(n, d, margin, radius, seed)
    assert X.shape == (n, d)
    assert set(y) <= {-1, 1}
    assert np.linalg.norm(u) == pytest.approx(1)
    assert (y * (X @ u) >= margin).all()
    assert (np.linalg.norm(X, axis=1) <= radius).all()


def test_games_are_seeded():
    for one, two in zip(separable_game(9, 3, 0.1, 1.0, 7), separable_game(9, 3, 0.1, 1.0, 7), strict=True):
        assert (one == two).all()
    assert (separable_game(9, 3, 0.1, 1.0, 7)[0] != separable_game(9, 3, 0.1, 1.0, 8)[0]).any()


def test_noise_is_a_share_of_lies():
    X, y, _ = separable_game(2000, 3, 0.1, 1.0, 1)
    for noise in (0.0, 0.3, 1.0):
        same, told, _ = noisy_game(2000, 3, 0.1, 1.0, noise, 1)
        assert (same == X).all()
        assert np.mean(told != y) == pytest.approx(noise, abs=0.03)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_hard_game(n):
    X, y, u = hard_game(n)
    assert np.array_equal(X @ X.T, np.eye(n))
    np.testing.assert_allclose(y * (X @ u), 1 / np.sqrt(n))
    rounds = PerceptronGame(u, 1 / np.sqrt(n), 1).play(Replay(X, y), n)
    assert [r.k for r in rounds] == list(range(1, n + 1))  # a mistake in every round
    assert [r.length for r in rounds] == pytest.approx(np.sqrt(np.arange(1, n + 1)))


def test_play_is_the_perceptron():
    game = PerceptronGame([0.6, 0.8], 0.2, 2)
    rounds = game.play(Replay([[1, 0], [1, 0], [-1, 1]], [1, 1, 1]), 9)
    assert [(r.k, r.v, r.mistake) for r in rounds] == [(1, [1, 0], True), (1, [1, 0], False), (2, [0, 1], True)]
    assert game.play(Replay([], []), 9) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda: separable_game(0, 3, 0.1, 1.0),
        lambda: separable_game(5, 0, 0.1, 1.0),
        lambda: separable_game(5, 3, 0.0, 1.0),
        lambda: separable_game(5, 3, 1.0, 1.0),
        lambda: separable_game(5, 3, 1.0, float("inf")),
        lambda: separable_game(5, 3, float("nan"), 1.0),
        lambda: noisy_game(5, 3, 0.1, 1.0, 1.5),
        lambda: hard_game(0),
        lambda: PerceptronGame([1.0], 0.1, 2).play(Replay([[1.0]], [1, 1]), 9),
    ],
)
def test_games_that_cannot_be(call):
    with pytest.raises(ValueError, match=r".+"):
        call()


# ---------------------------------------------------------------- separability

WHOLE = st.integers(1, 4).flatmap(
    lambda d: st.lists(
        st.tuples(st.lists(st.integers(-4, 4), min_size=d, max_size=d), st.sampled_from([-1, 1])),
        min_size=1,
        max_size=8,
    )
)


@examples(90)
@given(WHOLE)
def test_two_proofs_agree(examples):
    """The linear program and the perceptron, which know nothing of each other."""
    X, y = [x for x, _ in examples], [label for _, label in examples]
    proof = separate(X, y)
    assert proof.exact
    products = [[label * value for value in x] for x, label in examples]
    if proof.separable:
        assert all(sum(w * z for w, z in zip(proof.witness, row, strict=True)) > 0 for row in products)
    else:
        assert min(proof.witness) >= 0
        assert sum(proof.witness) == 1
        for column in zip(*products, strict=True):
            assert sum(share * z for share, z in zip(proof.witness, column, strict=True)) == 0
    end = cycle(X, y)
    assert end.converged == proof.separable
    if end.converged:
        assert all(sum(w * z for w, z in zip(end.weights, row, strict=True)) > 0 for row in products)
    else:  # once round the circle, and it is there again
        again = cycle(X, y, start=end.weights)
        assert (again.weights, again.epochs) == (end.weights, end.period)


@quick
@given(SEEDS, st.integers(1, 5), st.floats(0.01, 0.5))
def test_games_are_separable_until_a_lies(seed, d, margin):
    X, y, _ = separable_game(30, d, margin, 1.0, seed)
    proof = separate(X, y)
    assert proof.separable
    assert not proof.exact  # floats are checked as floats
    assert (y * (X @ proof.witness) > 0).all()
    lie = separate(np.vstack([X, X[:1]]), np.append(y, -y[0]))
    assert not lie.separable
    z = np.vstack([X, X[:1]]) * np.append(y, -y[0])[:, None]
    np.testing.assert_allclose(lie.witness @ z, 0, atol=1e-6)


def test_zero_row_is_its_own_proof():
    proof = separate([[1, 2], [0, 0]], [1, -1])
    assert proof.witness.tolist() == [0, 1]
    assert not proof.separable


def test_narrow_gap_is_found_exactly():
    X, y = [[10**6, 1], [-(10**6), 1]], [1, 1]
    proof = separate(X, y)
    assert proof.separable
    assert isinstance(proof.witness[0], Fraction)
    assert cycle(X, y, max_epochs=10).converged


def test_cycle_counts_passes_and_updates():
    end = cycle([[1], [-1]], [1, -1])
    assert (end.converged, end.weights, end.epochs, end.updates, end.period) == (True, (1,), 2, 1, 0)
    end = cycle([[1], [1]], [1, -1])
    assert (end.converged, end.weights, end.epochs, end.updates, end.period) == (False, (0,), 1, 2, 1)


def test_cycle_ties():
    """With ties="positive" a score of 0 is right for +1 and wrong for −1."""
    assert cycle([[1]], [1], ties="positive").updates == 0
    assert cycle([[1]], [-1], ties="positive").updates == 1
    assert cycle([[1]], [1]).updates == 1


def test_cycle_gives_up_loudly():
    with pytest.raises(ArithmeticError, match="3 epochs"):
        cycle([[1, 1, 1], [1, 3, 2], [1, 2, 4], [1, 3, 4], [1, 2, 3]], [-1, 1, 1, 1, -1], max_epochs=3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: separate([[1.0]], [0]), "y must hold"),
        (lambda: separate([[1.0]], [1, 1]), "shape"),
        (lambda: separate([1.0], [1]), "shape"),
        (lambda: separate(np.empty((0, 2)), []), "shape"),
        (lambda: separate([[float("nan")]], [1]), "NaN"),
        (lambda: cycle([[0.5]], [1]), "whole"),
        (lambda: cycle([[1]], [1], start=[0.5]), "whole"),
        (lambda: cycle([[1]], [1], start=[float("inf")]), "whole"),
        (lambda: cycle([[1]], [1], start=[1, 2]), "start"),
        (lambda: cycle([[1]], [1], ties="even"), "ties"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_scipy_is_imported_when_needed():
    code = "import sys, perceptive.games; sys.exit('scipy.optimize' in sys.modules or 'sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
