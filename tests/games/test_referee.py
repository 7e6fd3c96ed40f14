"""The games with a referee: the chain and the bounds on thousands of random games, adversaries, and illegal moves.

PERCEPTIVE_GAMES=100000 is the long run (`make games`).
"""

import itertools
import math
import os

import numpy as np
import pytest

from perceptive.games import (
    Greedy,
    IllegalMove,
    LabelFlipping,
    Orthogonal,
    PerceptronGame,
    Planar,
    RandomNumbers,
    RandomPlayer,
    RankingGame,
    Replay,
    SequenceGame,
    hard_game,
)
from perceptive.learners import LinearLearner, RankingLearner
from perceptive.reference import perceptron

GAMES = int(os.environ.get("PERCEPTIVE_GAMES", 2000))


def random_game(random, deviation=0.0):
    """A target, a margin and a radius."""
    d = 1 + random.below(6)
    radius = random.uniform(0.5, 4.0)
    margin = radius * random.uniform(0.1, 0.9)
    return PerceptronGame(random.direction(d), margin, radius, deviation=deviation * radius)


def adversary(random, seed):
    kind = random.below(5)
    return [RandomPlayer(seed), Greedy(seed), Planar(), Orthogonal(), LabelFlipping(0.3, seed)][kind]


def check(game):
    assert all(one.holds for one in game.rounds)
    assert game.k <= game.bound * (1 + 1e-9)
    assert game.k == sum(one.mistake for one in game.rounds)


def test_the_chain_and_the_bound_hold_on_random_games():
    most = 0.0
    for seed in range(GAMES):
        random = RandomNumbers(seed)
        game = random_game(random, deviation=random.below(2) * random.uniform(0.0, 2.0))
        game.play(adversary(random, seed), 12)
        check(game)
        most = max(most, game.k / game.bound)
    assert most > 0.9  # the bound is met, so a loose one would not pass


def ranking_lists(random, game, length):
    """A list that the referee lets pass, or None."""
    xs = [[game.longest * random.uniform() * value for value in random.direction(len(game.u))] for _ in range(length)]
    target = [sum(a * b for a, b in zip(game.u, x, strict=True)) for x in xs]
    best = target.index(max(target))
    keep = [j for j in range(length) if j == best or target[best] - target[j] >= game.margin]
    return None if len(keep) < 2 else ([xs[j] for j in keep], keep.index(best))


def test_ranking_games():
    mistakes = 0
    for seed in range(GAMES // 4):
        random = RandomNumbers(seed)
        game = RankingGame(random.direction(1 + random.below(4)), random.uniform(0.05, 0.4), 1.0)
        for _ in range(12):
            move = ranking_lists(random, game, 2 + random.below(4))
            if move is not None:
                game.round(*move)
        check(game)
        mistakes += game.k
    assert mistakes > GAMES / 4


WORDS, LABELS = ["tell", "Ziv", "William", "is"], "OBI"


def sequence_game(random):
    """A target over words and pairs of labels, the words' own labels far ahead."""
    own = {word: LABELS[random.below(3)] for word in WORDS}
    u = {(word, label): 1.0 for word, label in own.items()}
    u |= {("@", a, b): random.uniform(-0.1, 0.1) for a, b in itertools.product(LABELS, LABELS)}
    length = math.sqrt(sum(value * value for value in u.values()))
    game = SequenceGame({name: value / length for name, value in u.items()}, LABELS, 0.05, 6.0)
    return game, own


def test_sequence_games():
    mistakes = 0
    for seed in range(GAMES // 40):
        random = RandomNumbers(seed)
        game, own = sequence_game(random)
        for _ in range(5):
            words = [WORDS[random.below(4)] for _ in range(1 + random.below(3))]
            game.round(words, [own[word] for word in words])
        check(game)
        mistakes += game.k
    assert mistakes > GAMES // 40


@pytest.mark.parametrize("n", [1, 2, 4, 9, 25, 100])
def test_the_orthogonal_player_attains_the_bound_exactly(n):
    game = PerceptronGame([1 / math.sqrt(n)] * n, 1 / math.sqrt(n), 1)
    game.play(Orthogonal(), 10 * n)
    assert game.k == n == round(game.bound)
    assert game.rounds[-1].length == pytest.approx(math.sqrt(n))
    X, y, u = hard_game(n)  # the same play, as data
    assert PerceptronGame(u, 1 / math.sqrt(n), 1).play(Replay(X, y), n)[-1].k == n


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n", [4, 16])
def test_the_orthogonal_player_finds_axes_for_any_target(n, seed):
    game = PerceptronGame(RandomNumbers(seed).direction(n), 2 / math.sqrt(n), 2)
    game.play(Orthogonal(), 10 * n)
    assert game.k == n
    check(game)


def test_the_orthogonal_player_wants_dimensions():
    game = PerceptronGame([0.6, 0.8], 0.1, 1)
    game.play(Orthogonal(), 99)
    assert game.k == 1  # u must lie in the span of the axes
    wide = PerceptronGame([1.0] + [0.0] * 30, 0.2, 1)
    wide.play(Orthogonal(), 99)
    assert wide.k == 25


@pytest.mark.parametrize("ratio", [1.5, 2, 3, 5, 10, 20.5])
@pytest.mark.parametrize("d", [2, 3])
def test_the_planar_player_attains_half_of_the_bound(ratio, d):
    game = PerceptronGame([0.0] * (d - 1) + [1.0], 1 / ratio, 1)
    game.play(Planar(), 10**4)
    assert game.k == math.floor((ratio**2 - 1) / 2 + 1e-9) + 1
    assert abs(game.k - game.bound / 2) <= 1
    check(game)


def test_the_greedy_player_comes_close():
    game = PerceptronGame([0.0, 0.0, 1.0], 0.1, 1)
    game.play(Greedy(1), 10**4)
    assert game.bound * 0.9 < game.k <= game.bound
    assert game.rounds[-1].mistake
    check(game)


def test_lies_are_counted_and_bounded():
    game = PerceptronGame([1, 0], 0.2, 1, deviation=3)
    game.play(LabelFlipping(0.5, 2), 400)
    lies = [one for one in game.rounds if one.y * one.x[0] < 0]
    assert len(lies) > 5
    D = math.sqrt(sum(max(0.0, 0.2 - one.y * one.x[0]) ** 2 for one in game.rounds))
    assert D <= 3 * (1 + 1e-9)
    assert game.k <= ((1 + D) / 0.2) ** 2
    check(game)


@pytest.mark.core
@pytest.mark.parametrize("seed", range(40))
def test_b_is_the_librarys_perceptron(seed):
    random = RandomNumbers(seed)
    game = random_game(random)
    game.play(RandomPlayer(seed), 30)
    v, k = perceptron([(one.x, one.y) for one in game.rounds], [0.0] * len(game.u))
    assert (v, k) == (game.v, game.k)
    learner = LinearLearner(classes=[-1, 1], bias=0.0, dtype="float64")
    mistakes = [learner.learn(one.x, one.y) for one in game.rounds]
    assert mistakes == [one.mistake for one in game.rounds]
    lists = RankingGame(random.direction(2), 0.1, 1)
    ranker = RankingLearner(dtype="float64")
    for _ in range(20):
        move = ranking_lists(random, lists, 4)
        if move is not None:
            assert ranker.learn(*move) == lists.round(*move).mistake
    assert ranker.vector.vector("last")[0][:, 0] == pytest.approx(lists.v)


def test_illegal_moves_say_why():
    game = PerceptronGame([0, 1], 0.5, 2)
    for x, y, reason in [
        ([0, 0.4], 1, r"y·\(u·x\) is 0.4, less than the margin γ = 0.5"),
        ([0, 1], -1, "less than the margin"),
        ([2, 1], 1, "‖x‖ is 2.23607, more than the radius R = 2"),
        ([1], 1, "2 finite numbers"),
        ([0, math.nan], 1, "finite"),
        ("ab", 1, "no vector"),
        ([0, 1], 0, r"the answers are \+1 and −1"),
    ]:
        with pytest.raises(IllegalMove, match=reason):
            game.round(x, y)
    assert game.rounds == []
    liar = PerceptronGame([0, 1], 0.5, 2, deviation=1)
    liar.round([0, 0.4], -1)
    with pytest.raises(IllegalMove, match=r"0\.435\d* is left"):
        liar.round([0, 0.4], -1)
    ranking = RankingGame([0, 1], 0.5, 2)
    for xs, best, reason in [
        ([[0, 1], [0, 0.9]], 0, r"u·x\[0\] − u·x\[1\] is 0.1, less"),
        ([[0, 1]], 0, "a list of one"),
        ([[0, 1], [0, 0]], 2, "places 0 … 1"),
        ([[0, 3], [0, 0]], 0, "more than the radius"),
    ]:
        with pytest.raises(IllegalMove, match=reason):
            ranking.round(xs, best)
    sequence = SequenceGame({("Ziv", "B"): 1.0}, "OB", 0.5, 2)
    for words, labels, reason in [
        (["Ziv"], ["O"], "the lead over B under u is -1"),
        (["Ziv"], ["X"], "give each word one of"),
        ([], [], "give each word"),
        (["Ziv"] * 13, ["B"] * 13, r"2\^13 labellings"),
        (["Ziv", "Ziv", "Ziv", "Ziv"], ["B"] * 4, "more than the radius"),
    ]:
        with pytest.raises(IllegalMove, match=reason):
            sequence.round(words, labels)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PerceptronGame([0, 1], 2, 1), "0 < margin ≤ radius"),
        (lambda: PerceptronGame([0, 1], 0, 1), "0 < margin"),
        (lambda: PerceptronGame([1, 1], 0.1, 1), "length 1.41421; give a unit vector"),
        (lambda: PerceptronGame([], 0.1, 1), "unit vector"),
        (lambda: PerceptronGame([1], 0.1, 1, deviation=-1), "deviation=-1"),
        (lambda: LabelFlipping(2), "probability"),
        (lambda: SequenceGame({("a", "B"): 1.0}, "B", 0.1, 1), "two at least"),
        (lambda: SequenceGame({("a", "X"): 1.0}, "OB", 0.1, 1), "name weights"),
        (lambda: SequenceGame({("a", "B"): 2.0}, "OB", 0.1, 1), "unit vector"),
    ],
)
def test_games_that_cannot_be(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_random_numbers_are_even():
    random = RandomNumbers(1)
    values = np.array([random.uniform() for _ in range(20000)])
    assert abs(values.mean() - 0.5) < 0.01
    assert abs(np.var(values) - 1 / 12) < 0.005
    assert {random.below(3) for _ in range(100)} == {0, 1, 2}
    assert math.isclose(math.hypot(*random.direction(5)), 1)
