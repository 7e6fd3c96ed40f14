"""Margins and mistake bounds: how many mistakes the theorem allows a run, and which vector shows it.

For any unit vector u and any γ > 0, with d_t = max(0, γ − u·δ_t) over the rounds played and D = √Σ d_t²,

    the perceptron makes   k ≤ ((R + D)/γ)²   updates                 (Freund & Schapire 1999; D = 0: Novikoff 1962)

where R is the largest ‖δ‖ over the updates made. An example that is played E times counts E times in D. The bound holds
for every u; we try the normalised last, averaged and best vectors of the run and any given vector, search γ, and report
the smallest bound. The best γ may be larger than R, which no vector can have as its margin. Then we report the margin
of a vector that separates the examples (D = 0), if its bound is about as small; else no margin, because every round may
be a mistake. Other rules have their own bounds: see `theorems`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import ArrayLike

from perceptive.certificates.bins import Bins
from perceptive.certificates.margins import Collected, Collection
from perceptive.certificates.theorems import TRIVIAL, WitnessedRun, theorem_for
from perceptive.data.dataset import Dataset, Problem
from perceptive.errors import plural
from perceptive.learners.learner import Learner

ROUNDING = 1e-6  # counts are exact, margins are not
LITTLE = 0.9  # a bound of so many rounds says little
CLEARLY = 2.0  # how many times as much is allowed by a bound that is clearly worse


@dataclass(frozen=True)
class Certificate:
    """How many mistakes a run made, how many the theorem allows, and why.

    Attributes
    ----------
    mistakes, updates, rounds : int
        Counts of the run; margin rules also update on right answers.
    bound : float
        How many the theorem allows; inf if no theorem is known.
    bounds : one of "updates", "mistakes"
        Which of the two counts the theorem bounds.
    theorem : str
        Its formula and source.
    radius : float
        R, the largest ‖δ‖ over the updates.
    margin : float
        γ, the margin of the witness; inf if the bound allows a mistake in nearly every round, and no vector has such a
        margin.
    deviation : float
        D: by how much the rounds fall short of that margin, in total.
    witness : str
        Which vector u is: "last", "averaged", "best", or "given".
    separable : bool
        True: one of the vectors tried separates the data (a proof). False: none of them does.
    hypothetical : bool
        True if the data are not those of the run: then the bound is about a run on these data.
    first_epoch_error : float
        k/m of the first epoch: it estimates the error of the ``random`` hypothesis on new examples (nan if unknown).
    weighted_updates, weighted_mistakes : float or None
        For a run mixed from shards: Σμk, which the theorem bounds.
    weighted_rounds : float or None
        For such a run: Σμ over its rounds, each counted with the largest μ.
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
    first_epoch_error: float = math.nan
    weighted_updates: float | None = None
    weighted_mistakes: float | None = None
    weighted_rounds: float | None = None
    problems: tuple[Certificate, ...] = field(default=(), repr=False)

    @property
    def holds(self) -> bool:
        """Whether the run stayed within the bound. It always does, unless it is hypothetical."""
        count: float = self.updates if self.bounds == "updates" else self.mistakes
        return (count if self._weighted is None else self._weighted) <= self.bound * (1 + ROUNDING) + ROUNDING

    @property
    def _weighted(self) -> float | None:
        """Σμk."""
        return self.weighted_updates if self.bounds == "updates" else self.weighted_mistakes

    @property
    def vacuous(self) -> bool:
        """Whether the bound allows a mistake in every round: no vector tried has a large enough margin."""
        rounds = self.rounds if self.weighted_rounds is None else self.weighted_rounds
        return self.bound >= rounds * (1 - ROUNDING)

    def __str__(self) -> str:
        count = self.updates if self.bounds == "updates" else self.mistakes
        about = "On data other than the run's: " if self.hypothetical else ""
        said = f"{about}{count:,} {plural(count, self.bounds[:-1])}"
        rounds = f"{self.rounds:,} {plural(self.rounds, 'round')}"
        if self._weighted is not None and self.theorem:
            said += f" of all shards, which weigh Σμk = {self._weighted:,.6g}"
        if not self.theorem:
            return f"{said} in {rounds}; no bound is known for such a run."
        if self.problems:
            return f"{said} over {len(self.problems)} binary problems, and the theorems allow {_count(self.bound)}."
        separates = f'the vector "{self.witness}" separates the examples with margin γ = {self.margin:.3g}'
        if self.separable and (self.vacuous or (math.isinf(self.margin) and "Δ" not in self.theorem)):
            clean = f" ({separates}, and R = {self.radius:.4g})" if self.deviation == 0.0 else ""
            played = f"{rounds} {'was' if self.rounds == 1 else 'were'} played"
            return f"{said}; the theorem allows {_count(self.bound)}{clean}; only {played}."
        if self.vacuous:
            return f"{said} in {rounds}; no vector tried gives a bound below the number of rounds."
        if self.separable and self.deviation == 0.0:
            why = separates
        elif math.isinf(self.margin):
            why = "only the id features distinguish the examples (γ and D grow without end, and D/γ tends to a limit)"
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
    learner: Any, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, witness: Any = None, **how: Any
) -> Certificate:
    """Make the certificate of a run.

    Parameters
    ----------
    learner : any learner of `perceptive.learners`, or an estimator
        It must be trained.
    X, y : the data it learned from
        In the form for its `dataset`. Different data make the certificate hypothetical: it bounds a run on them.
    sample_weight : array or None
        As in training.
    witness : array of shape (n_features,) or (n_classes, n_features), bias last if it has one more column; or None
        Another vector u to try (linear classifiers of one problem, and rankers).
    **how
        Other arguments of the learner's `dataset`, or of the estimator, such as ``sizes`` or ``qid`` of lists.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from perceptive import certify
    >>> from perceptive.learners import LinearLearner, RankingLearner
    >>> X, y = [[2.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [1, 1, 0]
    >>> L = LinearLearner(classes=[0, 1], bias=0.0)
    >>> L.learn_many(X, y)
    >>> certificate = certify(L, X, y)
    >>> certificate.updates, certificate.holds, certificate.separable
    (2, True, True)
    >>> ranker = RankingLearner()
    >>> ranker.learn_many([[[1.0, 0.0], [0.0, 1.0]]], [0])
    >>> round(certify(ranker, [[[1.0, 0.0], [0.0, 1.0]]], [0]).bound, 6)
    1.0
    """
    if hasattr(learner, "certificate"):  # an estimator, which knows how it reads its examples
        how |= {} if witness is None else {"witness": witness}
        made: Certificate = learner.certificate(X, y, sample_weight=sample_weight, **how)
        return made
    with learner.lock.learning():  # no other thread teaches it meanwhile
        problems = learner.problems(witness)
        dataset = learner.dataset(X, y, sample_weight, grow=False, **how)
        return _certify(learner, problems, [dataset])


def certify_datasets(learner: Learner, datasets: Iterable[Dataset], *, witness: Any = None) -> Certificate:
    """Make the certificate of a run on data that come in parts; each part is dropped after use.

    Parameters
    ----------
    learner : Learner
    datasets : iterable of Dataset
        Made by the learner's `dataset`, with ``grow=False``.
    witness : array or None
        As for `certify`.
    """
    with learner.lock.learning():
        return _certify(learner, learner.problems(witness), datasets)


def _certify(learner: Learner, problems: Any, datasets: Iterable[Dataset]) -> Certificate:
    theorems = [theorem_for(problem) for problem in problems]
    collection = Collection([None if theorem is None else theorem.weigh for theorem in theorems])
    n_played = fingerprint = 0
    for dataset in datasets:
        collection.add(dataset.margins(problems))
        n_played += dataset.n_played
        fingerprint += dataset.fingerprint()
    epochs = max(1, -(-learner.played // max(1, n_played)))
    same = learner.played == epochs * n_played and learner.fingerprint == epochs * fingerprint % 2**64
    copies = max(1, -(-learner.ids // max(1, n_played)))
    made = [
        _certify_problem(problem, found, epochs, copies, hypothetical=not same)
        for problem, found in zip(problems, collection.finish(), strict=True)
    ]
    if len(made) > 1:
        return _add_up(made)
    rounds, mistakes = learner.first_epoch or (learner.rounds if epochs == 1 else 0, learner.mistakes)
    return replace(made[0], first_epoch_error=mistakes / rounds if rounds else math.nan)


def _certify_problem(p: Problem, found: Collected, epochs: int, copies: int, hypothetical: bool) -> Certificate:
    """The smallest bound over all witnesses; if that says little, and one separates the examples, its own margin."""
    radius = math.sqrt(found.radius2 if hypothetical and found.radius2 is not None else p.radius2)
    nothing = Certificate(
        mistakes=p.mistakes,
        updates=p.updates,
        rounds=p.rounds,
        bound=math.inf,
        bounds="updates" if p.rule == "perceptron" else "mistakes",
        theorem="",
        radius=radius,
        margin=0.0,
        deviation=math.inf,
        witness="",
        separable=False,
        hypothetical=hypothetical,
        weighted_updates=p.weighted_updates,
        weighted_mistakes=p.weighted_mistakes,
        weighted_rounds=None if p.weighted_updates is None else p.rounds * p.heaviest,
    )
    theorem = theorem_for(p, found.weighted)
    if theorem is None or not found.certified:
        return nothing

    def bounded(name: str, margins: Bins) -> Certificate:
        """What the theorem says under one witness."""
        run = WitnessedRun(
            problem=p,
            epochs=epochs * p.heaviest,  # no example weighs more in D² = Σμd²
            radius=radius,
            margins=margins,
            zero_rows=found.zero_rows,
            copies=copies,
            start_length=(p.start_length or 0.0) / p.learning_rate,
            start_along=p.witnesses[name].along / p.learning_rate,
        )
        formula, bound, q, deviation = theorem.bound(run)
        margin, deviation = 1 / q if q else math.inf, 0.0 if deviation * q <= ROUNDING else deviation
        return replace(nothing, bound=bound, theorem=formula, margin=margin, deviation=deviation, witness=name)

    candidates: list[Certificate] = []
    separating: list[Certificate] = []
    for name, margins in found.bins():
        separable = len(margins) > 0 and float(margins.lows[0]) > 0
        for bins in (margins, replace(margins, whole=True))[: 1 + separable]:
            (separating if bins.whole else candidates).append(replace(bounded(name, bins), separable=separable))
    if not candidates:
        return replace(nothing, bound=float(nothing.weighted_rounds or nothing.rounds), theorem=TRIVIAL)
    best = min(candidates, key=lambda c: c.bound)
    clean = min(separating, key=lambda c: c.bound, default=None)
    if best.margin > radius * (1 + ROUNDING) and not p.delta:  # which is the margin of no vector
        if clean is not None and clean.bound <= CLEARLY * best.bound:
            return clean
        if best.vacuous or (clean is not None and best.bound >= LITTLE * (best.weighted_rounds or best.rounds)):
            best = replace(best, margin=math.inf, deviation=math.inf)
    return replace(best, separable=clean is not None)


def _add_up(made: list[Certificate]) -> Certificate:
    """One certificate for several binary problems."""
    sums: dict[str, Any] = {}
    for name in ("mistakes", "updates", "rounds", "bound", "weighted_updates", "weighted_mistakes", "weighted_rounds"):
        known = [value for c in made if (value := getattr(c, name)) is not None]
        sums[name] = sum(known) if known else None
    return replace(
        made[0],
        **sums,
        radius=max(c.radius for c in made),
        margin=min(c.margin for c in made),
        deviation=math.sqrt(sum(c.deviation**2 for c in made)),
        witness="each problem has its own",
        separable=all(c.separable for c in made),
        theorem=next((c.theorem for c in made if c.theorem != TRIVIAL), TRIVIAL),
        problems=tuple(made),
    )
