"""Margins and mistake bounds: what the theorem allows a run, and by which witness.

For any unit vector u and any γ > 0, with d_t = max(0, γ − u·δ_t) over the rounds played and D = √Σ d_t²,

    the perceptron makes   k ≤ ((R + D)/γ)²   updates                 (Freund & Schapire 1999; D = 0: Novikoff 1962)

where R is the largest ‖δ‖ over the updates made. An example that is played E times counts E times in D. The bound
holds for every u; we try the normalised last, averaged and best vectors of the run and any that is given, search γ, and
report the smallest. Put q = 1/γ: every bound here is a convex function of q, so the search is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptive import _core
from perceptive.learners.linear import ALL, Lesson, LinearLearner, Pair
from perceptive.learners.problem import Problem
from perceptive.parameters import LinearParameters
from perceptive.rules import RULES

ROUNDING = 1e-6  # counts are exact, margins are not


@dataclass(frozen=True)
class Certificate:
    """How many mistakes a run made, how many the theorem allows, and why.

    Attributes
    ----------
    mistakes, updates, rounds : int
        Of the run; margin rules update on right answers too.
    bound : float
        What the theorem allows; inf where none is known.
    bounds : {"updates", "mistakes"}
        Which of the two counts the theorem is about.
    theorem : str
        Its formula and source.
    radius : float
        R, the largest ‖δ‖ over the updates.
    margin : float
        γ, the margin that the witness is credited with.
    deviation : float
        D: how much the rounds fall short of that margin, in all.
    witness : str
        Which vector u was: "last", "averaged", "best", or "given".
    separable : bool
        True: u separates the data (a proof). False: no vector that was tried does.
    hypothetical : bool
        True where the data are not those of the run: then the bound is about a run on these data.
    first_pass_error : float
        k/m of the first pass: the estimate of the ``random`` hypothesis' error on new examples (nan if unknown).
    problems : tuple of Certificate
        One for each binary problem of ovr and ovo; the fields above are then sums (radius: largest, margin: smallest).

    Examples
    --------
    >>> from perceptive import LinearClassifier
    >>> clf = LinearClassifier(bias=0.0, shuffle=False, certify=True).fit([[1, 0], [0, 1], [-1, -2]], [1, 1, 0])
    >>> print(clf.certificate_)
    2 updates, and the theorem allows 2: the vector "last" separates the examples with margin γ = 0.707, and no update was longer than R = 1, so k ≤ ((R + D)/γ)² with D = 0 (Block 1962, Novikoff 1962; D > 0: Freund & Schapire 1999).
    """

    mistakes: int
    updates: int
    rounds: int
    bound: float
    bounds: str
    theorem: str
    radius: float
    margin: float
    deviation: float
    witness: str
    separable: bool
    hypothetical: bool = False
    first_pass_error: float = math.nan
    problems: tuple[Certificate, ...] = field(default=(), repr=False)

    @property
    def holds(self) -> bool:
        """Whether the run kept to the bound. It always does; a hypothetical one may not."""
        count = self.updates if self.bounds == "updates" else self.mistakes
        return count <= self.bound * (1 + ROUNDING) + ROUNDING

    def __str__(self) -> str:
        count = self.updates if self.bounds == "updates" else self.mistakes
        said = f"{count:,} {self.bounds[:-1] if count == 1 else self.bounds}"
        if not self.theorem:
            return f"{said} in {self.rounds:,} rounds; no bound is known for this rule."
        if self.problems:
            return f"{said} over {len(self.problems)} binary problems, and the theorems allow {_count(self.bound)}."
        if math.isinf(self.bound):
            return (
                f"{said} in {self.rounds:,} rounds; no vector that was tried has a margin, so the theorem says nothing."
            )
        about = "On data other than the run's: " if self.hypothetical else ""
        if self.separable:
            why = f'the vector "{self.witness}" separates the examples with margin γ = {self.margin:.3g}'
        else:
            why = (
                f'the vector "{self.witness}", credited with margin γ = {self.margin:.3g}, '
                f"falls short of it by D = {self.deviation:.3g} in all"
            )
        end = f" with D = {self.deviation:.3g}" if "D" in self.theorem and self.separable else ""
        formula, _, source = self.theorem.partition(" — ")
        return (
            f"{about}{said}, and the theorem allows {_count(self.bound)}: {why}, and no update was longer than "
            f"R = {self.radius:.4g}, so {formula}{end} ({source})."
        )


def _count(bound: float) -> str:
    if math.isinf(bound):
        return "any number"
    return f"{math.floor(bound * (1 + ROUNDING) + ROUNDING):,}"


# ---------------------------------------------------------------- the theorems


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
    return min((end, (low + high) / 2), key=f)


@dataclass(frozen=True)
class _Game:
    """What the theorems need to know of a run and its data, under one witness u."""

    parameters: LinearParameters
    epochs: float  # how often each example was played
    radius: float
    margins: NDArray[np.float64]  # u·δ per example
    lengths2: NDArray[np.float64]  # ‖δ‖² per example
    start_length: float = 0.0  # ‖v₀‖/η
    start_along: float = 0.0  # v₀·u/η

    @property
    def zero_rows(self) -> float:
        return self.epochs * float(np.count_nonzero(self.lengths2 == 0))


PERCEPTRON = "k ≤ ((R + D)/γ)² — Block 1962, Novikoff 1962; D > 0: Freund & Schapire 1999"
PERCEPTRON_MARGIN = "k ≤ ((√(R² + 2β/η) + D)/γ)² — the perceptron with margin β, by the same proof"
PERCEPTRON_START = "kγ ≤ √k·D − v₀·u/η + √(‖v₀‖²/η² + kR²) — the perceptron from v₀, by the same proof"
DELTA = "k ≤ (R² + Δ²)(1 + D²/Δ²)/γ², D once per example — the Δ-trick, Freund & Schapire 1999"
PA = "k ≤ (R/γ)²(1 + 2√Σ(d_t/‖δ_t‖)²)² — Crammer et al. 2006, Theorems 2 and 3"
PA1 = "k ≤ max(R², 1/C)(1/γ² + 2C·Σd_t/γ) — Crammer et al. 2006, Theorem 4"
PA2 = "k ≤ (R² + 1/2C)(1/γ² + 2C·D²/γ²) — Crammer et al. 2006, Theorem 5"
ROMMA = "k ≤ (R/γ)² — Li & Long 2002"

# Each takes a game to (theorem, bound, q = 1/γ, D).
Bound = tuple[str, float, float, float]


def _perceptron(game: _Game) -> Bound:
    p = game.parameters
    growth = math.sqrt(game.radius**2 + 2 * p.margin / p.learning_rate)
    short = _Shortfall.of(game.margins, None)

    def deviation(q: float) -> float:  # D/γ
        return math.sqrt(game.epochs * short.second(q))

    q = _minimise(lambda q: growth * q + deviation(q), short.margins)
    bound = (growth * q + deviation(q)) ** 2
    if game.start_length:
        bound = _largest_k(q, deviation(q), growth, game.start_length, game.start_along)
        return PERCEPTRON_START, bound, q, deviation(q) / q if q else math.inf
    return PERCEPTRON_MARGIN if p.margin else PERCEPTRON, bound, q, deviation(q) / q if q else math.inf


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


def _delta(game: _Game) -> Bound:
    d2 = game.parameters.delta**2
    short = _Shortfall.of(game.margins, None)
    q = _minimise(lambda q: q * q + short.second(q) / d2, short.margins)
    # radius already counts the id feature
    bound = game.radius**2 * (q * q + short.second(q) / d2)
    return DELTA, bound + game.zero_rows, q, math.sqrt(short.second(q)) / q if q else math.inf


def _pa(game: _Game) -> Bound:
    inverse = np.divide(1.0, game.lengths2, out=np.zeros_like(game.lengths2), where=game.lengths2 > 0)
    short = _Shortfall.of(game.margins, inverse)
    q = _minimise(lambda q: q + 2 * math.sqrt(game.epochs * short.second(q)), short.margins)
    bound = (game.radius * (q + 2 * math.sqrt(game.epochs * short.second(q)))) ** 2
    deviation = math.sqrt(game.epochs * _Shortfall.of(game.margins, None).second(q))
    return PA, bound + game.zero_rows, q, deviation / q if q else math.inf


def _pa1(game: _Game) -> Bound:
    C = game.parameters.C
    short = _Shortfall.of(game.margins, None)
    q = _minimise(lambda q: q * q + 2 * C * game.epochs * short.first(q), short.margins)
    bound = max(game.radius**2, 1 / C) * (q * q + 2 * C * game.epochs * short.first(q))
    return PA1, bound, q, math.sqrt(game.epochs * short.second(q)) / q if q else math.inf


def _pa2(game: _Game) -> Bound:
    C = game.parameters.C
    short = _Shortfall.of(game.margins, None)
    q = _minimise(lambda q: q * q + 2 * C * game.epochs * short.second(q), short.margins)
    bound = (game.radius**2 + 1 / (2 * C)) * (q * q + 2 * C * game.epochs * short.second(q))
    return PA2, bound, q, math.sqrt(game.epochs * short.second(q)) / q if q else math.inf


def _romma(game: _Game) -> Bound:
    smallest = float(game.margins.min())
    if smallest <= 0:
        return ROMMA, math.inf, 0.0, math.inf
    return ROMMA, (game.radius / smallest) ** 2, 1 / smallest, 0.0


THEOREMS: dict[str, Callable[[_Game], Bound]] = {
    "perceptron": _perceptron,
    "pa": _pa,
    "pa1": _pa1,
    "pa2": _pa2,
    "romma": _romma,
}


def _theorem(p: LinearParameters, weighted: bool, started: bool) -> Callable[[_Game], Bound] | None:
    """The theorem for a run, or None where none is known."""
    name = RULES[p.rule].theorem
    if not name or p.cost is not None:
        return None
    if started and name != "perceptron":
        return None
    if weighted and (name != "perceptron" or p.margin):  # the perceptron sees a weighted example as a longer one
        return None
    if p.delta:
        return _delta if name in ("perceptron", "pa", "romma") and not p.margin and not started else None
    return THEOREMS[name]


# ---------------------------------------------------------------- certifying


def certify(
    learner: LinearLearner,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    *,
    witness: ArrayLike | None = None,
) -> Certificate:
    """Make the certificate of a run.

    Parameters
    ----------
    learner : LinearLearner
        That has learned.
    X, y : the data it learned from
        Other data make the certificate hypothetical: what the theorem would allow a run on them.
    sample_weight : array or None
        As in training.
    witness : array of shape (n_features,) or (n_classes, n_features), bias last if it has one more column; or None
        A vector u to try beside those of the run (binary and joint only).

    Returns
    -------
    Certificate
    """
    from perceptive.learners.rows import as_rows

    if not learner.problems:
        raise ValueError("this learner has learned nothing yet; let it learn first")
    rows = as_rows(X, learner.vocabulary, fingerprint=True)
    lesson = learner.lesson(rows, y, sample_weight)
    weighted = lesson.weights is not None
    played = rows.n if lesson.weights is None else int(np.count_nonzero(lesson.weights))
    epochs = max(1, -(-learner.played // max(1, played)))
    same = learner.played == epochs * played and learner.fingerprint == epochs * lesson.fingerprint() % 2**64
    made = [
        _certify_problem(learner, pair, problem, lesson, epochs, weighted, witness, not same)
        for pair, problem in learner.problems.items()
    ]
    if len(made) == 1:
        return made[0]
    return Certificate(
        mistakes=sum(c.mistakes for c in made),
        updates=sum(c.updates for c in made),
        rounds=sum(c.rounds for c in made),
        bound=sum(c.bound for c in made),
        bounds=made[0].bounds,
        theorem=made[0].theorem,
        radius=max(c.radius for c in made),
        margin=min(c.margin for c in made),
        deviation=math.sqrt(sum(c.deviation**2 for c in made)),
        witness="each problem has its own",
        separable=all(c.separable for c in made),
        hypothetical=not same,
        problems=tuple(made),
    )


def _certify_problem(
    learner: LinearLearner,
    pair: Pair,
    problem: Problem,
    lesson: Lesson,
    epochs: int,
    weighted: bool,
    given: ArrayLike | None,
    hypothetical: bool,
) -> Certificate:
    p, run = problem.parameters, problem.run
    bounds = "updates" if p.rule == "perceptron" else "mistakes"
    facts = {
        "mistakes": run.mistakes, "updates": run.updates, "rounds": run.rounds, "bounds": bounds,
        "hypothetical": hypothetical, "radius": math.sqrt(run.radius2),
    }  # fmt: skip
    theorem = _theorem(p, weighted, problem.initial is not None)
    none = Certificate(**facts, bound=math.inf, theorem="", margin=0.0, deviation=math.inf, witness="", separable=False)
    if theorem is None:
        return none
    targets = lesson.targets[pair]
    absent = targets < 0 if learner.joint else targets == 0
    if lesson.weights is not None:
        absent |= lesson.weights == 0
    lengths2 = _lengths2(lesson.rows, p) * (1.0 if problem.binary else 2.0)
    if lesson.weights is not None:
        lengths2 = lengths2 * lesson.weights**2
    radius = math.sqrt(float(lengths2[~absent].max(initial=0.0))) if hypothetical else math.sqrt(run.radius2)

    best: Certificate | None = None
    for name, (w, b) in _witnesses(problem, given).items():
        length = math.sqrt(float(np.vdot(w, w)) + float(np.vdot(b, b)))
        if not math.isfinite(length) or length == 0.0:
            continue
        scores = problem._linear(lesson.rows, w, b) / length
        margins = _margins(scores, targets, problem.binary)
        if lesson.weights is not None:
            margins = margins * lesson.weights
        game = _Game(p, epochs, radius, margins[~absent], lengths2[~absent])
        if problem.initial is not None:
            w0, b0 = problem.initial
            eta = p.learning_rate
            game = _Game(
                p, epochs, radius, margins[~absent], lengths2[~absent],
                math.sqrt(float(np.vdot(w0, w0)) + float(np.vdot(b0, b0))) / eta,
                (float(np.vdot(w0, w)) + float(np.vdot(b0, b0 * 0 + b))) / length / eta,
            )  # fmt: skip
        formula, bound, q, deviation = theorem(game)
        separable = bool(len(game.margins) and game.margins.min() > 0 and deviation <= 1e-9 / max(q, 1e-300))
        if best is None or bound < best.bound:
            best = Certificate(
                **{**facts, "radius": radius}, bound=bound, theorem=formula, margin=1 / q if q else math.inf,
                deviation=0.0 if separable else deviation, witness=name, separable=separable,
                first_pass_error=math.nan,
            )  # fmt: skip
    if best is None:  # v = 0 throughout: nothing was learned
        return Certificate(
            **facts, bound=0.0 if run.updates == 0 else math.inf, theorem="", margin=0.0, deviation=math.inf,
            witness="", separable=False,
        )  # fmt: skip
    return best


def _witnesses(problem: Problem, given: ArrayLike | None) -> dict[str, tuple[NDArray[Any], NDArray[np.float64]]]:
    found = {"last": problem.vector("last")}
    if "sum" in problem.arrays:
        found["averaged"] = problem.vector("averaged")
    if problem.journal is not None:
        found["best"] = problem.vector("best")
    if given is not None:
        found["given"] = _given(problem, np.atleast_2d(np.asarray(given, dtype=np.float64)))
    return found


def _given(problem: Problem, u: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    n, d = problem.n_classes, problem.n_features
    if u.shape not in ((n, d), (n, d + 1)) or not np.isfinite(u).all():
        raise ValueError(
            f"witness has shape {u.shape}; give {n} × {d} finite numbers, or {n} × {d + 1} with the bias last"
        )
    w = np.zeros((d, problem.stride))
    w[:, :n] = u[:, :d].T
    return w, u[:, d] if u.shape[1] > d else np.zeros(n)


def _margins(scores: NDArray[np.float64], targets: NDArray[np.int32], binary: bool) -> NDArray[np.float64]:
    """u·δ against the closest competitor."""
    if binary:
        return scores[:, 0] * targets
    rows = np.arange(len(targets))
    mine = scores[rows, targets]
    rivals = scores.copy()
    rivals[rows, targets] = -np.inf
    margins: NDArray[np.float64] = mine - rivals.max(axis=1)
    return margins


def _lengths2(rows: _core.Rows, p: LinearParameters) -> NDArray[np.float64]:
    """‖x‖² of each row as the learner sees it, bias and id feature included."""
    lengths2 = np.empty(rows.n)
    _core.squared_norms(rows, lengths2)
    if p.normalize:
        lengths2 = np.where(lengths2 > 0, 1.0, 0.0)
    return lengths2 + p.bias**2 + p.delta**2
