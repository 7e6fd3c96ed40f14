"""Players A of the perceptron game, from kind to cruel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from perceptive.games.game import dot
from perceptive.games.perceptron_game import PerceptronGame
from perceptive.games.random_numbers import RandomNumbers

Move = tuple[list[float], int]
TINY = 1e-12  # relative; how far a score that ought to be 0 is put on the wrong side


def combine(*terms: tuple[float, list[float]]) -> list[float]:
    """Σ a·x, from left to right."""
    total = [0.0] * len(terms[0][1])
    for a, x in terms:
        total = [s + a * value for s, value in zip(total, x, strict=True)]
    return total


def across(game: PerceptronGame, x: list[float]) -> list[float]:
    """Return the part of x perpendicular to u (of length 1); zeros if there is none."""
    rest = combine((1.0, x), (-dot(x, game.u), game.u))
    length = math.sqrt(dot(rest, rest))
    return [value / length for value in rest] if length > TINY else [0.0] * len(x)


def reach(game: PerceptronGame) -> float:
    """Return √(R² − γ²): how far from u an example on the margin may lie."""
    return math.sqrt(max(0.0, game.radius * game.radius - game.margin * game.margin))


class RandomPlayer:
    """Shows any admissible example.

    Examples
    --------
    >>> game = PerceptronGame([0.6, 0.8], margin=0.1, radius=1)
    >>> len(game.play(RandomPlayer(seed=1), 50)), game.k <= game.bound
    (50, True)
    """

    def __init__(self, seed: int = 0) -> None:
        self.random = RandomNumbers(seed)

    def move(self, game: PerceptronGame) -> Move:
        """Return an example: its part along u, then the part perpendicular to it."""
        y = self.random.sign()
        along = self.random.uniform(game.margin, game.radius)
        room = math.sqrt(max(0.0, game.radius * game.radius - along * along)) * self.random.uniform()
        side = across(game, self.random.direction(len(game.u)))
        return combine((y * along, game.u), (room, side)), y


class Replay:
    """Shows given examples, in their order.

    Examples
    --------
    >>> game = PerceptronGame([1, 0], margin=1, radius=3)
    >>> [one.mistake for one in game.play(Replay([[1, 2], [-2, 0]], [1, -1]), 9)]
    [True, False]
    """

    def __init__(self, X: Any, y: Any) -> None:
        self.moves: Iterator[tuple[Any, Any]] = iter(zip(X, y, strict=True))

    def move(self, game: PerceptronGame) -> tuple[Any, int] | None:
        """Return the next one."""
        x, y = next(self.moves, (None, 0))
        return None if x is None else (x, int(y))


class Orthogonal:
    """Shows perpendicular examples, each with margin γ and length R: none teaches B anything about the next.

    Attains (R/γ)² if that is a whole number and there are as many dimensions.

    Examples
    --------
    >>> n = 9
    >>> game = PerceptronGame([1 / n**0.5] * n, margin=1 / n**0.5, radius=1)
    >>> len(game.play(Orthogonal(), 99)), game.k
    (9, 9)
    """

    def move(self, game: PerceptronGame) -> Move | None:
        """Return R·e_i, the i-th axis of a basis in which u has the components γ/R, …, γ/R and a rest."""
        i, d, share = len(game.rounds), len(game.u), game.margin / game.radius
        n = min(d, math.floor((1 + 1e-9) / (share * share)))
        if i >= n:
            return None
        rest = math.sqrt(max(0.0, 1.0 - n * share * share))
        if n == d and rest > 1e-6:  # u must lie in the span of the axes: the last one takes what is left
            n, rest = n - 1, math.sqrt(max(0.0, 1.0 - (n - 1) * share * share))
            if i >= n:
                return None
        frame = [share if j < n else (rest if j == n else 0.0) for j in range(d)]
        axis = [game.radius if j == i else 0.0 for j in range(d)]
        gap = combine((1.0, frame), (-1.0, game.u))
        gap2 = dot(gap, gap)
        if gap2 > 1e-24:  # reflect the frame onto u
            axis = combine((1.0, axis), (-2.0 * dot(gap, axis) / gap2, gap))
        y = 1 if i % 2 == 0 else -1
        return combine((float(y), _wrong(game, axis))), y


class Planar:
    """In a plane: alternates between both sides of u, half a reach on either side. Attains half of (R/γ)².

    Examples
    --------
    >>> game = PerceptronGame([0, 1], margin=0.1, radius=1)
    >>> _ = game.play(Planar(), 99)
    >>> game.k, game.bound / 2
    (50, 50.0)
    """

    def move(self, game: PerceptronGame) -> Move | None:
        """Return γu ± √(R² − γ²) across, whichever B gets wrong; the first goes half as far."""
        if len(game.u) < 2:
            return None if game.rounds else ([game.margin * game.u[0]], 1)
        axis = min(range(len(game.u)), key=lambda j: abs(game.u[j]))
        side = across(game, [1.0 if j == axis else 0.0 for j in range(len(game.u))])
        s = reach(game)
        if not game.rounds:
            return combine((game.margin, game.u), (s / 2, side)), 1
        sign = -1.0 if dot(game.v, side) > 0 else 1.0
        x = combine((game.margin, game.u), (sign * s, side))
        return (x, 1) if dot(game.v, x) <= 0 else None


class Greedy:
    """Shows the longest example that B gets wrong by as little as possible: v·x = 0, or just below.

    Examples
    --------
    >>> game = PerceptronGame([0, 0, 1], margin=0.2, radius=1)
    >>> _ = game.play(Greedy(seed=3), 99)
    >>> game.k, game.bound
    (24, 25.0)
    """

    def __init__(self, seed: int = 0) -> None:
        self.random = RandomNumbers(seed)

    def move(self, game: PerceptronGame) -> Move | None:
        """Return γu, as far against v as makes v·x = 0, and the rest of R perpendicular to both."""
        side = across(game, game.v)
        y, s = self.random.sign(), reach(game)
        most = dot(game.v, side)
        t = 0.0 if not game.k else (dot(game.v, game.u) * game.margin / most if most > TINY else math.inf)
        if t > s:
            return None  # every admissible example is on B's right side
        free = across(game, self.random.direction(len(game.u)))
        free = combine((1.0, free), (-dot(free, side), side))
        length = math.sqrt(dot(free, free))
        room = math.sqrt(s * s - t * t)
        terms = [(game.margin, game.u), (-t, side)]
        if length > 1e-6:
            terms.append((room / length, free))
        return combine((float(y), _wrong(game, combine(*terms)))), y


class LabelFlipping:
    """Lies about the label from time to time, within the game's deviation D: the Δ-trick handles this.

    Examples
    --------
    >>> game = PerceptronGame([1, 0], margin=0.1, radius=1, deviation=2)
    >>> _ = game.play(LabelFlipping(0.2, seed=1), 100)
    >>> game.k <= game.bound, sum(one.y * one.x[0] < 0 for one in game.rounds)
    (True, 10)
    """

    def __init__(self, share: float, seed: int = 0) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f"share={share}: give a probability")
        self.honest, self.share, self.random = RandomPlayer(seed), share, RandomNumbers(seed + 1)

    def move(self, game: PerceptronGame) -> Move:
        """Return an admissible example, with the wrong label if the referee allows it."""
        x, y = self.honest.move(game)
        if self.random.uniform() < self.share:
            with suppress(ValueError):
                game.check(x, -y)
                return x, -y
        return x, y


def _wrong(game: PerceptronGame, x: list[float]) -> list[float]:
    """x, moved by so much as rounding may have put v·x above 0."""
    score, v2 = dot(game.v, x), dot(game.v, game.v)
    if score <= 0 or v2 == 0:
        return x
    return combine((1.0, x), (-(score + TINY * math.sqrt(v2) * game.radius) / v2, game.v))
