"""The mistake bounds of the family, each with its formula and source.

For a unit vector u and γ > 0 write s_t = u·δ_t, d_t = max(0, γ − s_t), D = √Σ d_t² over the rounds played, and
q = 1/γ. Every bound below is a convex function of q, so that the best γ is found by a one-dimensional search.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.data.dataset import Problem
from perceptive.rules import RULES


@dataclass(frozen=True)
class _Shortfall:
    """Σ_i w_i max(0, 1 − q·s_i)^power for the margins s_i under u, in O(log n) for each q."""

    margins: NDArray[np.float64]  # sorted
    sums: tuple[NDArray[np.float64], ...]  # prefix sums of w, w·s, w·s²

    @classmethod
    def of(cls, margins: NDArray[np.float64], weights: NDArray[np.float64] | None) -> _Shortfall:
        order = np.argsort(margins, kind="stable")
        s = margins[order]
        w = np.ones_like(s) if weights is None else weights[order]
        return cls(s, tuple(np.concatenate([[0.0], np.cumsum(term)]) for term in (w, w * s, w * s * s)))

    def first(self, q: float) -> float:
        """Σ w·max(0, 1 − q·s)."""
        n = int(np.searchsorted(self.margins, 1.0 / q, side="left")) if q > 0 else len(self.margins)
        return max(0.0, float(self.sums[0][n] - q * self.sums[1][n]))

    def second(self, q: float) -> float:
        """Σ w·max(0, 1 − q·s)²."""
        n = int(np.searchsorted(self.margins, 1.0 / q, side="left")) if q > 0 else len(self.margins)
        w, ws, wss = (float(total[n]) for total in self.sums)
        return max(0.0, w - 2 * q * ws + q * q * wss)


def _minimise(f: Callable[[float], float], margins: NDArray[np.float64]) -> float:
    """The q in [0, 1/(smallest positive margin)] with the smallest f, which is convex."""
    positive = margins[np.searchsorted(margins, 0.0, side="right") :]
    if len(positive) == 0:
        return 0.0
    end = 1.0 / float(positive[0])
    low, high = 0.0, end
    ratio = (math.sqrt(5) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    fa, fb = f(a), f(b)
    for _ in range(150):
        if fa <= fb:
            high, b, fb = b, a, fa
            a = high - ratio * (high - low)
            fa = f(a)
        else:
            low, a, fa = a, b, fb
            b = low + ratio * (high - low)
            fb = f(b)
    return min((0.0, end, (low + high) / 2), key=f)


@dataclass(frozen=True)
class Game:
    """What the theorems need to know of a run and its data, under one witness u."""

    problem: Problem
    epochs: float  # how often each example was played
    radius: float
    margins: NDArray[np.float64]  # u·δ per example
    lengths2: NDArray[np.float64]  # ‖δ‖² per example
    weights: NDArray[np.float64] | None = None  # sample weights: margins and lengths are of weight·δ
    copies: float = 1  # Δ-trick: how many id features each example has had
    start_length: float = 0.0  # ‖v₀‖/η
    start_along: float = 0.0  # v₀·u/η

    @property
    def zero_rows(self) -> float:
        return self.epochs * float(np.count_nonzero(self.lengths2 == 0))


PERCEPTRON = "k ≤ ((R + D)/γ)² — Block 1962, Novikoff 1962; D > 0: Freund & Schapire 1999"
PERCEPTRON_MARGIN = "k ≤ ((√(R² + 2β/η) + D)/γ)² — the perceptron with margin β, by the same proof"
PERCEPTRON_START = "kγ ≤ √k·D − v₀·u/η + √(‖v₀‖²/η² + kR²) — the perceptron from v₀, by the same proof"
DELTA = "k ≤ R²(1 + D²/Δ²)/γ², R² counting Δ² and D each example once — the Δ-trick, Freund & Schapire 1999"
PA = "k ≤ (R/γ)²(1 + 2√Σ(d_t/‖δ_t‖)²)² — Crammer et al. 2006, Theorems 2 and 3"
PA1 = "k ≤ max(R², 1/C)(1/γ² + 2C·Σd_t/γ) — Crammer et al. 2006, Theorem 4"
PA2 = "k ≤ (R² + 1/2C)(1/γ² + 2C·D²/γ²) — Crammer et al. 2006, Theorem 5"
TRIVIAL = "k ≤ T — every round a mistake; v = 0 is no witness for less"
ROMMA = "k ≤ (R/γ)² — Li & Long 2002"


class Bound(NamedTuple):
    """A theorem and what it says about a game."""

    theorem: str
    bound: float
    q: float  # 1/γ
    deviation: float  # D


Theorem = Callable[[Game], Bound]


def _unscale(deviation: float, q: float) -> float:
    """D from D/γ."""
    return deviation / q if q else math.inf


def _perceptron(game: Game) -> Bound:
    """The theorem of Block and Novikoff, with Freund & Schapire's D."""
    p = game.problem
    growth = math.sqrt(game.radius**2 + 2 * p.margin / p.learning_rate)
    short = _Shortfall.of(game.margins, None)

    def deviation(q: float) -> float:  # D/γ
        return math.sqrt(game.epochs * short.second(q))

    q = _minimise(lambda q: growth * q + deviation(q), short.margins)
    bound = (growth * q + deviation(q)) ** 2
    if game.start_length:
        bound = _largest_k(q, deviation(q), growth, game.start_length, game.start_along)
        return Bound(PERCEPTRON_START, bound, q, _unscale(deviation(q), q))
    return Bound(PERCEPTRON_MARGIN if p.margin else PERCEPTRON, bound, q, _unscale(deviation(q), q))


def _largest_k(q: float, deviation: float, radius: float, length: float, along: float) -> float:
    """The largest k with k ≤ √k·D/γ − (v₀·u)/γ + √(‖v₀‖² + kR²)/γ."""

    def slack(k: float) -> float:
        return math.sqrt(k) * deviation + q * (math.sqrt(length**2 + k * radius**2) - along) - k

    low, high = 0.0, 1.0
    while slack(high) > 0:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if slack(middle) > 0 else (low, middle)
    return high


def _delta(game: Game) -> Bound:
    # The id feature of an example of weight w is wΔ; the radius counts it already.
    each = game.copies / game.problem.delta**2
    short = _Shortfall.of(game.margins, None if game.weights is None else game.weights**-2.0)
    q = _minimise(lambda q: q * q + each * short.second(q), short.margins)
    bound = game.radius**2 * (q * q + each * short.second(q))
    return Bound(DELTA, bound + game.zero_rows, q, _unscale(math.sqrt(game.copies * short.second(q)), q))


def _pa(game: Game) -> Bound:
    inverse = np.divide(1.0, game.lengths2, out=np.zeros_like(game.lengths2), where=game.lengths2 > 0)
    short = _Shortfall.of(game.margins, inverse)
    q = _minimise(lambda q: q + 2 * math.sqrt(game.epochs * short.second(q)), short.margins)
    bound = (game.radius * (q + 2 * math.sqrt(game.epochs * short.second(q)))) ** 2
    deviation = math.sqrt(game.epochs * _Shortfall.of(game.margins, None).second(q))
    return Bound(PA, bound + game.zero_rows, q, _unscale(deviation, q))


def _pa1(game: Game) -> Bound:
    C = game.problem.C
    short = _Shortfall.of(game.margins, None)
    q = _minimise(lambda q: q * q + 2 * C * game.epochs * short.first(q), short.margins)
    bound = max(game.radius**2, 1 / C) * (q * q + 2 * C * game.epochs * short.first(q))
    return Bound(PA1, bound, q, _unscale(math.sqrt(game.epochs * short.second(q)), q))


def _pa2(game: Game) -> Bound:
    C = game.problem.C
    short = _Shortfall.of(game.margins, None)
    q = _minimise(lambda q: q * q + 2 * C * game.epochs * short.second(q), short.margins)
    bound = (game.radius**2 + 1 / (2 * C)) * (q * q + 2 * C * game.epochs * short.second(q))
    return Bound(PA2, bound, q, _unscale(math.sqrt(game.epochs * short.second(q)), q))


def _romma(game: Game) -> Bound:
    smallest = float(game.margins.min())
    if smallest <= 0:
        return Bound(ROMMA, math.inf, 0.0, math.inf)
    return Bound(ROMMA, (game.radius / smallest) ** 2, 1 / smallest, 0.0)


THEOREMS: dict[str, Theorem] = {
    "perceptron": _perceptron,
    "pa": _pa,
    "pa1": _pa1,
    "pa2": _pa2,
    "romma": _romma,
}


def theorem_for(p: Problem, weighted: bool) -> Theorem | None:
    """The theorem for a run, or None where none is known."""
    name, started = RULES[p.rule].theorem, p.start_length is not None
    if not name or not p.certified or (p.delta and p.delta**2 == 0.0):
        return None
    if started and name != "perceptron":
        return None
    if name == "pa" and not p.delta and p.mean_of_pairs:
        return None  # a mean of differences may be as short as it likes
    if weighted and (name != "perceptron" or p.margin):  # the perceptron sees a weighted example as a longer one
        return None
    if p.delta:
        return _delta if name in ("perceptron", "pa", "romma") and not p.margin and not started else None
    return THEOREMS[name]
