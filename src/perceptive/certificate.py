"""Margins and mistake bounds: what the theorem allows a run, and by which witness.

For any unit vector u and any γ > 0, with d_t = max(0, γ − u·δ_t) over the rounds played and D = √Σ d_t²,

    the perceptron makes   k ≤ ((R + D)/γ)²   updates                 (Freund & Schapire 1999; D = 0: Novikoff 1962)

where R is the largest ‖δ‖ over the updates made. An example that is played E times counts E times in D. The bound
holds for every u; we try the normalised last, averaged and best vectors of the run and any that is given, search γ, and
report the smallest. Other rules have bounds of their own: see `theorems`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from perceptive.evidence import Evidence, length_of, witnesses_of
from perceptive.learners.lesson import Lesson, Pair
from perceptive.learners.linear import LinearLearner
from perceptive.learners.problem import Problem, Vector
from perceptive.learners.ranking import RankingLearner, RankingLesson
from perceptive.learners.rows import as_rows
from perceptive.learners.sequence import SequenceLearner
from perceptive.parameters import LinearParameters
from perceptive.theorems import TRIVIAL, Game, perceptron_bound, theorem_for

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
        True: a vector that was tried separates the data (a proof). False: none does.
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
    >>> print(clf.certificate_)  # doctest: +NORMALIZE_WHITESPACE
    2 updates, and the theorem allows 2: the vector "last" separates the examples with margin γ = 0.707,
    and no update was longer than R = 1, so k ≤ ((R + D)/γ)² with D = 0
    (Block 1962, Novikoff 1962; D > 0: Freund & Schapire 1999).
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

    @property
    def vacuous(self) -> bool:
        """Whether the bound allows a mistake in every round: no vector that was tried has margin enough."""
        return self.bound >= self.rounds * (1 - ROUNDING)

    def __str__(self) -> str:
        count = self.updates if self.bounds == "updates" else self.mistakes
        about = "On data other than the run's: " if self.hypothetical else ""
        said = f"{about}{count:,} {self.bounds[:-1] if count == 1 else self.bounds}"
        if not self.theorem:
            return f"{said} in {self.rounds:,} rounds; no bound is known for such a run."
        if self.problems:
            return f"{said} over {len(self.problems)} binary problems, and the theorems allow {_count(self.bound)}."
        if self.vacuous:
            return f"{said} in {self.rounds:,} rounds; no vector that was tried has margin enough to allow fewer."
        if self.separable and self.deviation == 0.0:
            why = f'the vector "{self.witness}" separates the examples with margin γ = {self.margin:.3g}'
        elif math.isinf(self.margin):
            why = "the id features alone tell the examples apart (γ and D grow without end, and D/γ tends to a limit)"
        else:
            why = (
                f'the vector "{self.witness}", credited with margin γ = {self.margin:.3g}, '
                f"falls short of it by D = {self.deviation:.3g} in all"
            )
        end = f" with D = {self.deviation:.3g}" if "D" in self.theorem and self.deviation == 0.0 else ""
        formula, _, source = self.theorem.partition(" — ")
        return (
            f"{said}, and the theorem allows {_count(self.bound)}: {why}, and no update was longer than "
            f"R = {self.radius:.4g}, so {formula}{end} ({source})."
        )


def _count(bound: float) -> str:
    return "any number" if math.isinf(bound) else f"{math.floor(bound * (1 + ROUNDING) + ROUNDING):,}"


def certify(
    learner: LinearLearner | SequenceLearner,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    *,
    witness: ArrayLike | None = None,
) -> Certificate:
    """Make the certificate of a run.

    Parameters
    ----------
    learner : LinearLearner or SequenceLearner
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

    Examples
    --------
    >>> from perceptive import certify
    >>> from perceptive.learners import LinearLearner
    >>> X, y = [[2.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [1, 1, 0]
    >>> L = LinearLearner(classes=[0, 1], bias=0.0)
    >>> L.learn_many(X, y)
    >>> certificate = certify(L, X, y)
    >>> certificate.updates, certificate.holds, certificate.separable
    (2, True, True)
    """
    if isinstance(learner, SequenceLearner):
        if sample_weight is not None or witness is not None:
            raise ValueError("sample_weight and witness do not go with sequences")
        return _certify_sequences(learner, X, y)
    if not learner.problems:
        raise ValueError("this learner has learned nothing yet; let it learn first")
    if witness is not None and not (learner.binary or learner.joint):
        raise ValueError("witness is for two classes or multiclass='joint'; each problem of ovr and ovo has its own")
    rows = as_rows(X, learner.kernel or learner.vocabulary, fingerprint=True)
    return certify_lessons(learner, [learner.lesson(rows, y, sample_weight)], witness=witness)


def certify_lessons(
    learner: LinearLearner, lessons: Iterable[Lesson], *, witness: ArrayLike | None = None
) -> Certificate:
    """Make the certificate of a run on data that come in parts; no part is kept longer than it is looked at.

    Parameters
    ----------
    learner : LinearLearner
    lessons : iterable of Lesson
        From `LinearLearner.lesson`.
    witness : array or None
        As for `certify`.
    """
    witnesses = {pair: witnesses_of(problem, witness) for pair, problem in learner.problems.items()}
    evidence: dict[Pair, list[Evidence]] = {pair: [] for pair in learner.problems}
    n_played = fingerprint = 0
    for lesson in lessons:
        for pair, problem in learner.problems.items():
            evidence[pair].append(Evidence.of(problem, lesson, pair, witnesses[pair]))
        n_played += lesson.n_played
        fingerprint += lesson.fingerprint()
    epochs, same = passes_over(learner.played, learner.fingerprint, n_played, fingerprint)
    copies = max(1, -(-learner.ids // max(1, n_played)))
    made = [
        _certify_problem(problem, witnesses[pair], Evidence.join(evidence[pair]), epochs, copies, not same)
        for pair, problem in learner.problems.items()
    ]
    if len(made) > 1:
        return add_up(made)
    return replace(made[0], first_pass_error=first_pass_error(learner, epochs))


def passes_over(played: int, fingerprint: int, n: int, of_these: int) -> tuple[int, bool]:
    """How many passes over n examples a run made, and whether it was these that it played, so many times each."""
    epochs = max(1, -(-played // max(1, n)))
    return epochs, played == epochs * n and fingerprint == epochs * of_these % 2**64


def first_pass_error(learner: Any, epochs: int) -> float:
    """k/m of the first pass, where it is known."""
    rounds, mistakes = learner.first_pass or (learner.rounds if epochs == 1 else 0, learner.mistakes)
    return mistakes / rounds if rounds else math.nan


def add_up(made: list[Certificate]) -> Certificate:
    """One certificate for several binary problems."""
    return replace(
        made[0],
        mistakes=sum(c.mistakes for c in made),
        updates=sum(c.updates for c in made),
        rounds=sum(c.rounds for c in made),
        bound=sum(c.bound for c in made),
        radius=max(c.radius for c in made),
        margin=min(c.margin for c in made),
        deviation=math.sqrt(sum(c.deviation**2 for c in made)),
        witness="each problem has its own",
        separable=all(c.separable for c in made),
        theorem=next((c.theorem for c in made if c.theorem != TRIVIAL), TRIVIAL),
        problems=tuple(made),
    )


def certify_lists(
    learner: RankingLearner, lessons: Iterable[RankingLesson], *, witness: ArrayLike | None = None
) -> Certificate:
    """Make the certificate of a ranker's run on lists that come in parts: δ = x_ℓ − x_ℓ̂, u·δ against the closest pair.

    Parameters
    ----------
    learner : RankingLearner
    lessons : iterable of RankingLesson
        From `RankingLearner.lesson`.
    witness : array of shape (n_features,) or None
        A vector u to try beside those of the run.

    Examples
    --------
    >>> from perceptive.learners import RankingLearner
    >>> L = RankingLearner()
    >>> L.learn_many([[1.0, 0.0], [0.0, 1.0]], [1, 0], [2])
    >>> certificate = certify_lists(L, [L.lesson([[1.0, 0.0], [0.0, 1.0]], [1, 0], [2])])
    >>> certificate.updates, round(certificate.bound, 6)
    (1, 1.0)
    """
    if learner.problem is None:
        raise ValueError("this learner has learned nothing yet; let it learn first")
    problem = learner.problem
    witnesses = witnesses_of(problem, witness)
    evidence, n_played, fingerprint = [], 0, 0
    for lesson in lessons:
        evidence.append(Evidence.of_lists(problem, lesson, witnesses))
        n_played += lesson.n_played
        fingerprint += lesson.fingerprint()
    epochs, same = passes_over(learner.played, learner.fingerprint, n_played, fingerprint)
    copies = max(1, -(-learner.ids // max(1, n_played)))
    made = _certify_problem(problem, witnesses, Evidence.join(evidence), epochs, copies, not same)
    return replace(made, first_pass_error=first_pass_error(learner, epochs))


def _certify_sequences(learner: SequenceLearner, X: Any, y: Any) -> Certificate:
    """The bound of the structured perceptron (Collins 2002): the same, δ being Φ(x, y*) − Φ(x, ŷ)."""
    p, core = learner.parameters, learner.core
    lesson = learner.lesson(X, y)
    epochs, same = passes_over(learner.rounds, core.fingerprint, len(lesson), lesson.fingerprint)
    nothing = without_theorem(p.rule, learner.mistakes, learner.updates, learner.rounds, learner.radius, not same)
    nothing = replace(nothing, first_pass_error=first_pass_error(learner, epochs))
    if p.rule != "perceptron" or p.hamming or p.beam or lesson.partial:
        return nothing  # no theorem is known to us
    games = {}
    for name in ("last", "averaged", *(["best"] if p.keeps_log else [])):
        vector = learner.vector(name)
        length = math.sqrt(core.squared_norm(vector))
        if length == 0.0:
            continue
        leads = core.leads(lesson, vector) / length
        games[name] = Game(
            parameters=LinearParameters(learning_rate=p.learning_rate, margin=p.margin),
            epochs=epochs,
            radius=learner.radius,
            margins=leads[np.isfinite(leads)],
            lengths2=np.zeros(0),
        )
    return smallest_bound(nothing, perceptron_bound, games)


def without_theorem(
    rule: str, mistakes: int, updates: int, rounds: int, radius: float, hypothetical: bool
) -> Certificate:
    """What is known of a run before a theorem speaks."""
    return Certificate(
        mistakes=mistakes,
        updates=updates,
        rounds=rounds,
        bound=math.inf,
        bounds="updates" if rule == "perceptron" else "mistakes",
        theorem="",
        radius=radius,
        margin=0.0,
        deviation=math.inf,
        witness="",
        separable=False,
        hypothetical=hypothetical,
    )


def smallest_bound(
    nothing: Certificate, theorem: Callable[[Game], tuple[str, float, float, float]], games: Mapping[str, Game]
) -> Certificate:
    """The theorem's smallest bound over the witnesses, each with its game."""
    candidates = []
    for witness, game in games.items():
        formula, bound, q, deviation = theorem(game)
        candidates.append(
            replace(
                nothing,
                bound=bound,
                theorem=formula,
                margin=1 / q if q else math.inf,
                deviation=0.0 if deviation * q <= ROUNDING else deviation,
                witness=witness,
                separable=len(game.margins) > 0 and float(game.margins.min()) > 0,
            )
        )
    if not candidates:
        return replace(nothing, bound=float(nothing.rounds), theorem=TRIVIAL)
    best = min(candidates, key=lambda c: c.bound)
    return replace(best, separable=any(c.separable for c in candidates))


def _certify_problem(
    problem: Problem,
    witnesses: dict[str, Vector],
    evidence: Evidence,
    epochs: int,
    copies: int,
    hypothetical: bool,
) -> Certificate:
    """The smallest bound over all witnesses."""
    p, run, weights = problem.parameters, problem.run, evidence.weights
    radius = math.sqrt(evidence.radius2 if hypothetical else run.radius2)
    nothing = without_theorem(p.rule, run.mistakes, run.updates, run.rounds, radius, hypothetical)
    weighted = weights is not None and bool((weights != 1).any())
    theorem = theorem_for(p, weighted=weighted, started=problem.initial is not None)
    if theorem is None:
        return nothing
    start, start_bias = problem.initial or (np.zeros(1), np.zeros(1))
    games = {}
    for name, margins in evidence.margins.items():
        if not np.isfinite(margins).all():
            continue
        w, b = witnesses[name]
        along = 0.0
        if problem.initial:
            w = w.astype(np.float64, copy=False)
            along = (float(np.vdot(start, w)) + float(np.vdot(start_bias, b))) / length_of(w, b)
        games[name] = Game(
            parameters=p,
            epochs=epochs,
            radius=radius,
            margins=margins,
            lengths2=evidence.lengths2,
            weights=weights,
            copies=copies,
            start_length=length_of(start, start_bias) / p.learning_rate,
            start_along=along / p.learning_rate,
        )
    return smallest_bound(nothing, theorem, games)
