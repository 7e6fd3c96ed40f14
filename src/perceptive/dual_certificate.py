"""Certificates of kernel runs: the same theorems, with lengths and margins by the kernel and R² = max K(x, x)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.certificate import (
    Certificate,
    add_up,
    first_pass_error,
    passes_over,
    smallest_bound,
    without_theorem,
)
from perceptive.evidence import margins_of
from perceptive.kernels.examples import in_double
from perceptive.learners.dual import Dual, Weights
from perceptive.learners.fingerprint import combine, hash_examples
from perceptive.learners.kernel import KernelLearner, check_weights
from perceptive.learners.kernel_ranking import NO_LENGTH, KernelLists, KernelRankingLearner, tiles
from perceptive.learners.lesson import Labels
from perceptive.parameters import LinearParameters, RankingParameters
from perceptive.theorems import Game, theorem_for


def certify_kernel(learner: KernelLearner, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
    """Make the certificate of a kernel run.

    Parameters
    ----------
    learner : KernelLearner
        That has learned.
    X, y : the data it learned from
        Other data make the certificate hypothetical: what the theorem would allow a run on them.
    sample_weight : array or None
        As in training.

    Examples
    --------
    >>> from perceptive.dual_certificate import certify_kernel
    >>> from perceptive.learners import KernelLearner
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> L = KernelLearner(classes=[0, 1], kernel="quadratic")
    >>> for _ in range(10):
    ...     L.learn_many(X, y)
    >>> certificate = certify_kernel(L, X, y)
    >>> certificate.holds, certificate.separable
    (True, True)
    """
    examples = learner.examples(X)
    assert learner.dual is not None
    labels, which = Labels.of(y)
    unknown = [label for label in labels if label not in learner.index]
    if unknown:
        raise ValueError(f"label {unknown[0]!r} is none of the classes {learner.classes!r}")
    classes = np.array([learner.index[label] for label in labels], dtype=np.int64)[which]
    weights = check_weights(sample_weight, len(which))
    n = len(which) if weights is None else int(np.count_nonzero(weights))
    fingerprint = combine(hash_examples(X), which, labels, weights)
    epochs, same = passes_over(learner.played, learner.fingerprint, n, fingerprint)
    if learner.kernel.one_way and not same:
        raise ValueError("a Gram matrix of other examples has no K(x, x) of these; give that of the training examples")
    copies = max(1, -(-learner.seen // max(1, len(which))))
    dual = learner.dual.in_double()  # margins decide here, and rounding must not
    made = [
        _certify_run(dual, c, in_double(examples), classes, weights, epochs, copies, not same)
        for c in range(len(dual.runs))
    ]
    if len(made) > 1:
        return add_up(made)
    return replace(made[0], first_pass_error=first_pass_error(learner, epochs))


def _certify_run(
    dual: Dual,
    c: int,
    X: Any,
    classes: NDArray[np.int64],
    weights: Weights | None,
    epochs: int,
    copies: int,
    hypothetical: bool,
) -> Certificate:
    p, run = dual.parameters, dual.runs[c]
    joint = dual.task == "joint"
    positive = classes == (1 if dual.task == "binary" else c)
    targets = classes.astype(np.int32) if joint else np.where(positive, 1, -1).astype(np.int32)
    present = np.ones(len(targets), dtype=bool) if weights is None else weights > 0
    lengths2 = (dual.norms(X) + p.delta**2) * (2.0 if joint else 1.0)
    if weights is not None:
        lengths2 = lengths2 * weights**2
    radius = math.sqrt(float(lengths2[present].max(initial=0.0)) if hypothetical else run.radius2)
    mistakes = int(dual.mistakes[c])
    nothing = without_theorem(p.rule, mistakes, run.updates, dual.rounds, radius, hypothetical)
    like = LinearParameters(rule=p.rule, learning_rate=p.learning_rate, margin=p.margin, C=p.C, delta=p.delta, bias=0.0)
    weighted = weights is not None and bool((weights[present] != 1).any())
    theorem = theorem_for(like, weighted=weighted, started=dual.initial is not None)
    if theorem is None or dual.forgetting is not None:
        return nothing
    mine = slice(c, c + 1) if dual.task == "ovr" else slice(None)
    games = {}
    for name in ("last", "averaged", "best"):
        if dual.supports is None:
            break
        u = dual.coefficients(name)[:, mine]
        on_supports = dual.weighted(dual.supports, dual.supports, u)
        length = math.sqrt(max(0.0, float((u * on_supports).sum())))
        if length == 0.0:
            continue
        margins = margins_of(dual.weighted(X, dual.supports, u) / length, targets, not joint)
        if weights is not None:
            margins = margins * weights
        start = np.zeros((0, u.shape[1])) if dual.initial is None else dual.initial[:, mine]
        games[name] = Game(
            parameters=like,
            epochs=epochs,
            radius=radius,
            margins=margins[present],
            lengths2=lengths2[present],
            weights=None if weights is None else weights[present],
            copies=copies,
            start_length=math.sqrt(max(0.0, run.length2[0])) / p.learning_rate,
            start_along=float((start * on_supports[: len(start)]).sum()) / length / p.learning_rate,
        )
    return smallest_bound(nothing, theorem, games)


# ---------------------------------------------------------------- lists


def certify_kernel_lists(learner: KernelRankingLearner, lesson: KernelLists) -> Certificate:
    """Make the certificate of a kernel ranker's run: R_δ and margins by the kernel.

    Parameters
    ----------
    learner : KernelRankingLearner
        That has learned.
    lesson : KernelLists
        From `KernelRankingLearner.lesson`. Other lists than those learned from make the certificate hypothetical.

    Examples
    --------
    >>> from perceptive.dual_certificate import certify_kernel_lists
    >>> from perceptive.learners import KernelRankingLearner
    >>> L = KernelRankingLearner(kernel="spectrum(1)")
    >>> L.learn_many(["a", "b"], [1, 0], [2])
    >>> certificate = certify_kernel_lists(L, L.lesson(["a", "b"], [1, 0], [2]))
    >>> certificate.updates, round(certificate.bound, 6)
    (1, 1.0)
    """
    if learner.dual is None:
        raise ValueError("this learner has learned nothing yet; let it learn first")
    p, run = learner.parameters, learner.dual.runs[0]
    dual = learner.dual.in_double()  # margins decide here, and rounding must not
    n_played = lesson.n_played
    epochs, same = passes_over(learner.played, learner.fingerprint, n_played, lesson.fingerprint())
    present = lesson.present
    weights = None if lesson.weights is None else lesson.weights[present]
    scale = 1.0 if weights is None else weights**2
    shortest, longest, equal = _list_lengths(dual, lesson)
    lengths2 = (shortest + p.delta**2)[present] * scale
    radius2 = float(((longest + p.delta**2)[present] * scale).max(initial=0.0)) if not same else run.radius2
    nothing = without_theorem(p.rule, learner.mistakes, run.updates, learner.rounds, math.sqrt(radius2), not same)
    nothing = replace(nothing, first_pass_error=first_pass_error(learner, epochs))
    shared = ("rule", "learning_rate", "margin", "C", "pairs", "cost", "delta")
    like = RankingParameters(**{name: getattr(p, name) for name in shared})
    theorem = theorem_for(like, weighted=weights is not None and bool((weights != 1).any()), started=False)
    if theorem is None:
        return nothing
    # Two candidates that are the same are a mistake that teaches nothing: a round of its own for PA's theorem.
    twins = (equal[present] > 0) & (lengths2 > 0) if p.rule in ("pa", "mira") and not p.delta else np.zeros(0, bool)
    games = {}
    for name in ("last", "averaged", "best"):
        if dual.supports is None:
            break
        u = dual.coefficients(name)
        length = math.sqrt(max(0.0, float((u * dual.weighted(dual.supports, dual.supports, u)).sum())))
        if length == 0.0:
            continue
        scores = np.ascontiguousarray(dual.weighted(lesson.X, dual.supports, u)[:, 0] / length)
        margins = np.empty(len(lesson))
        _core.list_margins(scores, lesson.starts, lesson.grades, p.pairs, margins)
        margins = margins[present] if weights is None else margins[present] * weights
        games[name] = Game(
            parameters=like,
            epochs=epochs,
            radius=nothing.radius,
            margins=np.append(margins, margins[: len(twins)][twins]),
            lengths2=np.append(lengths2, np.zeros(np.count_nonzero(twins))),
            weights=weights,
            copies=max(1, -(-learner.ids // max(1, n_played))),
        )
    return smallest_bound(nothing, theorem, games)


def _list_lengths(dual: Dual, lesson: KernelLists) -> tuple[Weights, Weights, NDArray[np.int64]]:
    """Of each list's pairs the shortest ‖φ(x_i) − φ(x_j)‖² above 0, the longest, and how many are 0."""
    n = len(lesson)
    shortest, longest, equal = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    for t in np.flatnonzero(lesson.present):
        begin, end = int(lesson.starts[t]), int(lesson.starts[t + 1])
        one, grades = lesson.X.take(slice(begin, end)), lesson.grades[begin:end]
        norms = dual.norms(one)
        least = grades.max() if lesson.learner.parameters.pairs == "best" else np.nextafter(grades.min(), np.inf)
        better = np.flatnonzero(grades >= least)
        smallest = np.inf
        for part in tiles(len(better), len(grades)):
            rows = better[part]
            K, both = dual.values(one.take(rows), one), norms[rows, None] + norms
            wanted = grades[rows, None] > grades
            length2 = (both - 2.0 * K)[wanted]
            some = length2 > NO_LENGTH * (both + 2.0 * np.abs(K))[wanted]
            equal[t] += int(np.count_nonzero(~some))
            smallest = min(smallest, float(length2[some].min(initial=np.inf)))
            longest[t] = max(longest[t], float(length2[some].max(initial=0.0)))
        shortest[t] = smallest if smallest < np.inf else 0.0
    return shortest, longest, equal
