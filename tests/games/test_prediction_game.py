"""Mistake bounds of finite classes, against brute force on every concept class over four points."""

import itertools
import math

import numpy as np
import pytest

from perceptive.games import (
    FirstConsistent,
    Halving,
    Optimal,
    PredictionGame,
    monotone_conjunctions,
    thresholds,
)

POINTS = 4
CONCEPTS = list(itertools.product([False, True], repeat=POINTS))


@pytest.fixture(scope="module")
def everything():
    """All 16 concepts over four points; their subsets are all concept classes."""
    return PredictionGame([lambda x, row=row: row[x] for row in CONCEPTS], range(POINTS))


@pytest.fixture(scope="module")
def minimax():
    """M(C) of every class: A picks a point, B a label, A a truth that some concept has. By the definition."""
    positive = [sum(1 << i for i, row in enumerate(CONCEPTS) if row[x]) for x in range(POINTS)]
    value = np.zeros(1 << 16, np.int8)
    for V in range(1, 1 << 16):
        best = 0
        for p in positive:
            one, other = V & p, V & ~p
            if one and other:
                said_yes, said_no = max(value[one], 1 + value[other]), max(1 + value[one], value[other])
                best = max(best, min(said_yes, said_no))
        value[V] = best
    return value


def test_littlestone_dimension_is_the_minimax_of_every_class(everything, minimax):
    found = np.array([everything.littlestone_dimension(V) for V in range(1, 1 << 16)])
    assert (found == minimax[1:]).all()


def test_vc_dimension_of_every_class(everything):
    classes = np.arange(1 << 16)
    dimension = np.where(classes > 0, 0, -1)
    for size in range(1, POINTS + 1):
        for chosen in itertools.combinations(range(POINTS), size):
            patterns = {}
            for i, row in enumerate(CONCEPTS):
                pattern = tuple(row[x] for x in chosen)
                patterns[pattern] = patterns.get(pattern, 0) | 1 << i
            shattered = np.all([classes & mask for mask in patterns.values()], axis=0)
            dimension[shattered] = size
    assert [everything.vc_dimension(V) for V in range(1 << 16)] == dimension.tolist()


def test_halving_on_every_class(everything, minimax):
    """M_B of halving by playing every order of the points against every concept of every class at once."""
    masks = np.array([[row[x] for row in CONCEPTS] for x in range(POINTS)])
    bits = 1 << np.arange(16)
    positive = masks @ bits
    count = np.array([bin(V).count("1") for V in range(1 << 16)])
    V0 = np.arange(1 << 16)
    worst = np.zeros(1 << 16, int)
    for order in itertools.permutations(range(POINTS)):
        for i in range(16):
            V, mistakes = V0.copy(), np.zeros(1 << 16, int)
            for x in order:
                yes = count[V & positive[x]]
                mistakes += (yes > count[V] - yes) != masks[x, i]
                V &= positive[x] if masks[x, i] else ~positive[x]
            worst = np.where(V0 >> i & 1, np.maximum(worst, mistakes), worst)
    assert (worst[1:] <= np.log2(count[1:]) + 1e-12).all()
    assert (worst >= minimax).all()
    halving, optimal = Halving(), Optimal()
    for V in range(1, 1 << 16):
        assert everything.mistake_bound(halving, V) == worst[V]
    for V in range(1, 1 << 16, 101):
        assert everything.mistake_bound(optimal, V) == minimax[V]
    for V in range(1, 1 << 16, 555):  # a game of its own
        rows = [row for i, row in enumerate(CONCEPTS) if V >> i & 1]
        game = PredictionGame([lambda x, row=row: row[x] for row in rows], range(POINTS))
        assert game.mistake_bound(Halving()) == worst[V]
        assert game.littlestone_dimension() == minimax[V] <= game.mistake_bound(FirstConsistent())
        assert game.vc_dimension() <= minimax[V] <= game.halving_bound


def test_thresholds_on_seven_points():
    game = PredictionGame(thresholds(7), range(7))
    assert (game.vc_dimension(), game.littlestone_dimension()) == (1, 3)
    assert game.mistake_bound(Halving()) == 3 == game.halving_bound


@pytest.mark.parametrize("n", [1, 2, 3])
def test_monotone_conjunctions(n):
    game = PredictionGame(monotone_conjunctions(n), list(itertools.product([0, 1], repeat=n)))
    assert len(game.labels) == 2**n
    assert game.vc_dimension() == game.littlestone_dimension() == n
    assert game.mistake_bound(Halving()) == n


def test_a_learner_that_never_learns_has_no_bound():
    class Stubborn(Halving):
        def predict(self, game, state, point):
            return True

    class Forgetful(Stubborn):
        def learn(self, game, state, point, label):
            return state

    game = PredictionGame(thresholds(3), range(3))
    assert game.mistake_bound(Stubborn()) == math.inf
    assert game.mistake_bound(Forgetful()) == math.inf


class Perceptron:
    """The perceptron over points that are vectors: its state is its weights."""

    def start(self, game, concepts):
        return (0,) * len(game.points[0])

    def predict(self, game, state, point):
        return sum(a * b for a, b in zip(state, game.points[point], strict=True)) > 0

    def learn(self, game, state, point, label):
        if self.predict(game, state, point) == label:
            return state
        return tuple(a + (1 if label else -1) * b for a, b in zip(state, game.points[point], strict=True))


def test_the_perceptron_on_thresholds_of_four_points():
    points = [(x, 1) for x in range(4)]
    game = PredictionGame([lambda x, t=t: x[0] >= t for t in range(5)], points)
    worst = game.mistake_bound(Perceptron())
    assert game.littlestone_dimension() < worst < math.inf
    longest = 0
    for concept in range(5):
        longest = max(longest, sum(game.play(Perceptron(), concept, [0, 1, 2, 3] * 20)))
    assert longest <= worst


def test_play_tells_each_mistake():
    game = PredictionGame(thresholds(7), range(7))
    assert list(game.play(Halving(), 7, [3, 5, 6, 0])) == [False, False, False, False]
    assert sum(game.play(Halving(), 0, [3, 1, 0])) == 3


def test_bad_classes():
    with pytest.raises(ValueError, match="0 concepts over 3 points"):
        PredictionGame([], range(3))
    with pytest.raises(ValueError, match="over 0 points"):
        PredictionGame(thresholds(1), [])
