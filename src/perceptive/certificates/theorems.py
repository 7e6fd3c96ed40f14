"""The mistake bounds of the family, each with its formula and source.

For a unit vector u and γ > 0 write s_t = u·δ_t, d_t = max(0, γ − s_t), D = √Σ d_t² over the rounds played, and
q = 1/γ. Every bound below falls with q, then rises, so that the best γ is found by a one-dimensional search. Where
margins lie in bins (`bins`), it is at most RATIO² times what it would be with each margin by itself, but for two:
ROMMA's, which loses nothing, and that from a start v₀, where RATIO multiplies the right-hand side of its inequality.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from perceptive.certificates.bins import Bins, Floats
from perceptive.certificates.margins import Weigh
from perceptive.data.dataset import Margins, Problem
from perceptive.rules import RULES


@dataclass(frozen=True)
class WitnessedRun:
    """What the theorems need to know of a run and its data, under one witness u."""

    problem: Problem
    epochs: float  # how often each example was played
    radius: float
    margins: Bins  # u·δ of the examples; with sample weights, of weight·δ
    zero_rows: float = 0  # examples with δ = 0
    copies: float = 1  # Δ-trick: how many id features each example has had
    start_length: float = 0.0  # ‖v₀‖/η
    start_along: float = 0.0  # v₀·u/η


PERCEPTRON = "k ≤ ((R + D)/γ)² — Block 1962, Novikoff 1962; D > 0: Freund & Schapire 1999"
PERCEPTRON_MARGIN = "k ≤ ((√(R² + 2β/η) + D)/γ)² — the perceptron with margin β, by the same proof"
PERCEPTRON_START = "kγ ≤ √k·D − v₀·u/η + √(‖v₀‖²/η² + kR²) — the perceptron from v₀, by the same proof"
DELTA = "k ≤ R²(1 + D²/Δ²)/γ², R² counting Δ² and D each example once — the Δ-trick, Freund & Schapire 1999"
PA = "k ≤ (R/γ)²(1 + 2√Σ(d_t/‖δ_t‖)²)² — Crammer et al. 2006, Theorems 2 and 3"
PA1 = "k ≤ max(R², 1/C)(1/γ² + 2C·Σd_t/γ) — Crammer et al. 2006, Theorem 4"
PA2 = "k ≤ (R² + 1/2C)(1/γ² + 2C·D²/γ²) — Crammer et al. 2006, Theorem 5"
MIXED = "parameter mixing, with Σμk and D² = Σμd²: McDonald, Hall & Mann 2010"
MIXED_PA = "parameter mixing, with Σμ for every Σ: ‖v − u‖² is convex in v, as in McDonald, Hall & Mann 2010"
BATCHES = "batches of b: Zhao & Huang 2013"
TRIVIAL = "k ≤ T — every round a mistake; v = 0 is no witness for less"
ROMMA = "k ≤ (R/γ)² — Li & Long 2002"


class Bound(NamedTuple):
    """A theorem and what it says about a run."""

    theorem: str
    bound: float
    q: float  # 1/γ
    deviation: float  # D


class Theorem(NamedTuple):
    """A bound, and what it weighs each example by in its sum; None where by 1."""

    bound: Callable[[WitnessedRun], Bound]
    weigh: Weigh | None = None


def _unscale(deviation2: float, q: float) -> float:
    """D from (D/γ)²."""
    return math.sqrt(deviation2) / q if q else math.inf


def _worded(theorem: str, p: Problem) -> str:
    """A theorem as it is for shards that were mixed, and for batches."""
    formula, _, source = theorem.partition(" — ")
    if p.batch > 1:
        formula, source = formula.replace("R²", "b·R²").replace("(R ", "(√b·R "), f"{BATCHES}; {source}"
    if p.weighted_updates is not None:
        formula = formula.replace("kγ", "Σμk·γ").replace("√k", "√Σμk").replace("+ k", "+ Σμk·")
        formula = formula.replace("k ≤", "Σμk ≤").replace("Σ(d", "Σμ(d").replace("Σd", "Σμd")
        source = f"{MIXED if p.rule == 'perceptron' else MIXED_PA}; {source}"
    return f"{formula} — {source}"


def _perceptron(run: WitnessedRun) -> Bound:
    """The theorem of Block and Novikoff, with Freund & Schapire's D.

    Shards that are mixed: u·v is linear in v and ‖v‖² is convex, so the same proof bounds Σμk, with D² = Σμd². A batch
    of b: its updates are made together, and ‖Σδ‖² ≤ b·Σ‖δ‖².
    """
    p = run.problem
    growth = math.sqrt(p.batch * run.radius**2 + 2 * p.margin / p.learning_rate)
    short = run.margins.shortfall()

    def deviation2(q: Any) -> Any:  # (D/γ)²
        return run.epochs * short.second(q)

    def root(q: Any) -> Any:
        return growth * q + np.sqrt(deviation2(q))

    def from_start(q: Any) -> Any:
        return _largest_k(q, np.sqrt(deviation2(q)), growth, run.start_length, run.start_along)

    if run.start_length:
        q = run.margins.minimise(from_start)
        return Bound(_worded(PERCEPTRON_START, p), float(from_start(q)), q, _unscale(deviation2(q), q))
    q = run.margins.minimise(root)
    formula = PERCEPTRON_MARGIN if p.margin else PERCEPTRON
    return Bound(_worded(formula, p), float(root(q)) ** 2, q, _unscale(deviation2(q), q))


def _largest_k(q: Any, deviation: Any, radius: float, length: float, along: float) -> Any:
    """The largest k with k ≤ √k·D/γ − (v₀·u)/γ + √(‖v₀‖² + kR²)/γ, for each q.

    The right-hand side is concave in k, so that Newton's steps fall to it from any k that is too large.
    """
    slope, along = deviation + q * radius, min(along, length)  # v₀·u ≤ ‖v₀‖, also where u is v₀ and both are rounded
    k = ((slope + np.sqrt(slope**2 + 4 * q * (length - along))) / 2) ** 2  # as √(‖v₀‖² + kR²) ≤ ‖v₀‖ + √k·R
    for _ in range(100):
        k = np.maximum(k, 1e-300)
        far = np.sqrt(length**2 + k * radius**2)
        over = k - np.sqrt(k) * deviation - q * (far - along)
        step = over / (1 - deviation / (2 * np.sqrt(k)) - q * radius**2 / (2 * far))
        if not np.any(step > 1e-15 * k):
            break
        k = k - np.maximum(step, 0.0)
    return k


def _delta(run: WitnessedRun) -> Bound:
    # The id feature of an example of weight w is wΔ; the radius counts it already.
    each = run.copies / run.problem.delta**2
    short = run.margins.shortfall(weighed=True)
    q = run.margins.minimise(lambda q: q * q + each * short.second(q))
    second = float(short.second(q))
    bound = run.radius**2 * (q * q + each * second)
    return Bound(DELTA, bound + run.zero_rows * run.epochs, q, _unscale(run.copies * second, q))


def _pa(run: WitnessedRun) -> Bound:
    """The theorems of Crammer et al. 2006.

    They follow from ‖v_t − u‖² − ‖v_{t+1} − u‖² ≥ τ_t(2l_t − τ_t‖δ_t‖² − 2l*_t) (Lemma 1), summed over the rounds.
    Shards that are mixed: ‖Σ μ_i v_i − u‖² ≤ Σ μ_i ‖v_i − u‖², so the sum has the weights μ, and so has what follows.
    """
    short = run.margins.shortfall(weighed=True)

    def root(q: Any) -> Any:
        return q + 2 * np.sqrt(run.epochs * short.second(q))

    q = run.margins.minimise(root)
    bound = (run.radius * float(root(q))) ** 2
    deviation2 = run.epochs * float(run.margins.shortfall().second(q))
    return Bound(_worded(PA, run.problem), bound + run.zero_rows * run.epochs, q, _unscale(deviation2, q))


def _pa1(run: WitnessedRun) -> Bound:
    return _bounded_steps(PA1, run, run.margins.shortfall().first, max(run.radius**2, 1 / run.problem.C))


def _pa2(run: WitnessedRun) -> Bound:
    return _bounded_steps(PA2, run, run.margins.shortfall().second, run.radius**2 + 1 / (2 * run.problem.C))


def _bounded_steps(name: str, run: WitnessedRun, shortfall: Callable[[Any], Any], factor: float) -> Bound:
    """The bound of the rules whose steps C bounds: factor·(q² + 2C Σ shortfall)."""

    def sum_of(q: Any) -> Any:
        return q * q + 2 * run.problem.C * run.epochs * shortfall(q)

    q = run.margins.minimise(sum_of)
    deviation2 = run.epochs * run.margins.shortfall().second(q)
    return Bound(_worded(name, run.problem), factor * float(sum_of(q)), q, _unscale(deviation2, q))


def _romma(run: WitnessedRun) -> Bound:
    smallest = float(run.margins.lows.min(initial=math.inf))
    if smallest <= 0:
        return Bound(ROMMA, math.inf, 0.0, math.inf)
    return Bound(ROMMA, (run.radius / smallest) ** 2, 1 / smallest, 0.0)


def _by_sample_weight(part: Margins) -> Floats:
    """1/w²: the id feature is wΔ."""
    return np.ones(len(part.lengths2)) if part.weights is None else part.weights**-2.0


def _by_length(part: Margins) -> Floats:
    """1/‖δ‖²; 0 for δ = 0, which is a mistake of its own."""
    return np.divide(1.0, part.lengths2, out=np.zeros_like(part.lengths2), where=part.lengths2 > 0)


THEOREMS = {
    "perceptron": Theorem(_perceptron),
    "pa": Theorem(_pa, _by_length),
    "pa1": Theorem(_pa1),
    "pa2": Theorem(_pa2),
    "romma": Theorem(_romma),
}
WITH_DELTA = Theorem(_delta, _by_sample_weight)


def theorem_for(p: Problem, weighted: bool = False) -> Theorem | None:
    """The theorem for a run, or None where none is known; what it weighs by does not depend on ``weighted``."""
    name, started = RULES[p.rule].theorem, p.start_length is not None
    if not name or not p.certified or (p.delta and p.delta**2 == 0.0):
        return None
    if started and name != "perceptron":
        return None
    if p.weighted_updates is not None and name != "perceptron" and p.weighted_mistakes is None:
        return None
    if name == "pa" and not p.delta and p.mean_of_pairs:
        return None  # a mean of differences may be as short as it likes
    if weighted and (name != "perceptron" or p.margin):  # the perceptron sees a weighted example as a longer one
        return None
    if p.delta:
        return WITH_DELTA if name in ("perceptron", "pa", "romma") and not p.margin and not started else None
    return THEOREMS[name]
