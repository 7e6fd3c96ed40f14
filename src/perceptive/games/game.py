"""What the games share: the referee's rules, the state after a round, and the chain kγ ≤ v·u ≤ ‖v‖ ≤ √k·R.

Player A shows examples, player B answers and learns, and the referee checks A's margin and radius. Vectors are plain
lists, and sums go from left to right, so the page of `perceptive play` plays the same game, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

SLACK = 1e-9  # relative: so much may rounding take from a margin, and add to a radius
Vector = Sequence[float]


class IllegalMove(ValueError):
    """A move that the referee refuses, and why."""


def dot(a: Vector, b: Vector) -> float:
    """a·b, from left to right."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


@dataclass(frozen=True)
class GameRound:
    """A round, and the state after it.

    Attributes
    ----------
    x, y : object
        What A showed, and the right answer.
    prediction : object
        What B answered.
    mistake : bool
    v : list or dict
        v_k after the round.
    k : int
        B's mistakes so far.
    along, length : float
        v_k·u and ‖v_k‖.
    least, most : float
        Their limits by Lemma 1 and Lemma 2: kγ (minus A's lies) and √k·R.
    """

    x: Any
    y: Any
    prediction: Any
    mistake: bool
    v: Any
    k: int
    along: float
    length: float
    least: float
    most: float

    @property
    def chain(self) -> tuple[float, float, float, float]:
        """kγ ≤ v_k·u ≤ ‖v_k‖ ≤ √k·R."""
        return self.least, self.along, self.length, self.most

    @property
    def holds(self) -> bool:
        """Whether the chain holds, up to rounding. If it does not, that is a bug."""
        slack = SLACK * max(1.0, *map(abs, self.chain))
        return all(a <= b + slack for a, b in zip(self.chain, self.chain[1:], strict=False))


class Player(Protocol):
    """Player A."""

    def move(self, game: Any) -> Any:
        """Return what to show next, as arguments of the game's ``round``; None to give up."""


class Game:
    """The referee: keeps the rounds, and the bound on B's mistakes.

    Attributes
    ----------
    margin, radius : float
        γ and R.
    rounds : list of GameRound
    k : int
        B's mistakes so far.
    """

    def __init__(self, margin: float, radius: float) -> None:
        if not (0 < margin <= radius and math.isfinite(radius)):
            raise ValueError(f"margin={margin} and radius={radius}: give 0 < margin ≤ radius < ∞")
        self.margin, self.radius = float(margin), float(radius)
        self.rounds: list[GameRound] = []
        self.k = 0

    def __repr__(self) -> str:
        said = f"γ = {self.margin:.6g}, R = {self.radius:.6g}, rounds {len(self.rounds)}"
        return f"<{type(self).__name__}: {said}, mistakes {self.k} of {self.bound:.6g} at most>"

    @property
    def bound(self) -> float:
        """(R/γ)²: B never makes more mistakes."""
        return (self.radius / self.margin) ** 2

    def round(self, x: Any, y: Any) -> GameRound:
        """A shows x, B answers, A reveals y. Raises `IllegalMove` if the rules forbid it."""
        raise NotImplementedError

    def play(self, player: Player, rounds: int) -> list[GameRound]:
        """Let A play up to this many rounds, or until it gives up; return the rounds played."""
        before = len(self.rounds)
        for _ in range(rounds):
            move = player.move(self)
            if move is None:
                break
            self.round(*move)
        return self.rounds[before:]

    def _note(
        self, x: Any, y: Any, said: Any, mistake: bool, v: Any, along: float, length: float, short: float = 0.0
    ) -> GameRound:
        """Keep a round, after which v·u and ‖v‖ are so much; A has fallen ``short`` of γ in all."""
        chain = along, length, self.k * self.margin - short, math.sqrt(self.k) * self.radius
        self.rounds.append(GameRound(x, y, said, mistake, v, self.k, *chain))
        return self.rounds[-1]

    def _far_enough(self, margin: float, what: str) -> None:
        """Raise where a margin is below γ."""
        if margin < self.margin * (1 - SLACK):
            raise IllegalMove(f"{what} is {margin:.6g}, less than the margin γ = {self.margin:.6g}")

    def _within(self, length: float, what: str, radius: float) -> None:
        """Raise where a length is beyond R."""
        if not length <= radius * (1 + SLACK):
            raise IllegalMove(f"{what} is {length:.6g}, more than the radius R = {radius:.6g}")


def unit_vector(u: Any) -> list[float]:
    """Return a target u as a list, scaled to length 1."""
    target = [float(value) for value in u]
    length = math.sqrt(dot(target, target))
    if not target or not abs(length - 1) <= 1e-6:
        raise ValueError(f"u has the length {length:.6g}; give a unit vector")
    return target


def numbers(x: Any, d: int, name: str = "x") -> list[float]:
    """Return a vector of d finite numbers."""
    try:
        values = [float(value) for value in x]
    except (TypeError, ValueError):
        raise IllegalMove(f"{name} = {x!r} is no vector; give {d} numbers") from None
    if len(values) != d or not all(map(math.isfinite, values)):
        raise IllegalMove(f"{name} = {x!r} must have {d} finite numbers, as u has")
    return values
