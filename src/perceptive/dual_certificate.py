"""Certificates of kernel runs: the same theorems, with lengths and margins by the kernel and R² = max K(x, x)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.certificate import Certificate, add_up, margins_of, smallest_bound, without_theorem
from perceptive.kernels.examples import in_double
from perceptive.learners.dual import Dual, Weights
from perceptive.learners.fingerprint import combine, hash_examples
from perceptive.learners.kernel import KernelLearner, check_weights
from perceptive.learners.lesson import Labels
from perceptive.parameters import LinearParameters
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
    epochs = max(1, -(-learner.played // max(1, n)))
    fingerprint = combine(hash_examples(X), which, labels, weights)
    same = learner.played == epochs * n and learner.fingerprint == epochs * fingerprint % 2**64
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
    first_rounds, first_mistakes = learner.first_pass or (learner.rounds if epochs == 1 else 0, learner.mistakes)
    return replace(made[0], first_pass_error=first_mistakes / first_rounds if first_rounds else math.nan)


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
