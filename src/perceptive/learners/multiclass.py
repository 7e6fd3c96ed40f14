"""From scores to classes: two classes, joint argmax, one against the rest, one against one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.data.labelled_rows import own_and_rival
from perceptive.data.sample_weights import as_floats
from perceptive.errors import Parameter, ParameterError

MOST_PROBLEMS = 50_000  # a model file has room for somewhat more
Scores = NDArray[np.float64]
Decisions = NDArray[np.int64]


def check_problems(multiclass: str, n_classes: int) -> None:
    """Raise ParameterError where so many classes are more problems than a model can be saved with."""
    problems = {"joint": 1, "ovr": n_classes}.get(multiclass, n_classes * (n_classes - 1) // 2)
    if problems > MOST_PROBLEMS:
        raise ParameterError(
            f"{{}} makes {problems:,} problems of {n_classes:,} classes, more than {MOST_PROBLEMS:,}; choose {{}}",
            Parameter("multiclass", multiclass), Parameter("multiclass", "joint"),
        )  # fmt: skip


def combine_ovr(parts: Mapping[tuple[int, ...], Scores], n: int, n_classes: int) -> Scores:
    """One against the rest: the score of each class is that of its problem; a reference class has 0."""
    scores = np.zeros((n, n_classes))
    for (k,), score in parts.items():
        scores[:, k] = score
    return scores


def combine_ovo(parts: Mapping[tuple[int, ...], Scores], n: int, n_classes: int) -> Scores:
    """One against one: a vote per pair; how sure the pairs are breaks ties, with less than half a vote in all."""
    votes, scores = np.zeros((n, n_classes)), np.zeros((n, n_classes))
    for (i, j), score in parts.items():
        votes[:, j] += score > 0
        votes[:, i] += score < 0
        scores[:, j] += score
        scores[:, i] -= score
    votes += scores / (3 * (np.abs(scores) + 1))
    return votes


def name_of_output(classes: Sequence[Any], pair: tuple[int, ...], k: int | None) -> Any:
    """What a score speaks for: class k of a joint problem, the class of a binary one, or one class against another."""
    if len(pair) == 2:
        return f"{classes[pair[1]]} against {classes[pair[0]]}"
    return classes[k if k is not None else pair[0] if pair else 1]


def decide_binary(scores: Scores, ties: str) -> Decisions:
    """The second class where the score is positive, or also where it is 0 (``ties="positive"``)."""
    positive = scores >= 0 if ties == "positive" else scores > 0
    return positive.astype(np.int64)


def decide_argmax(scores: Scores, reference: int | None = None) -> Decisions:
    """The class with the highest score, the first of those that are equal.

    A reference class has no score of its own and wins where no other is positive.
    """
    if reference is None:
        best: Decisions = np.argmax(scores, axis=1)
        return best
    others = np.delete(scores, reference, axis=1)
    winner: Decisions = np.delete(np.arange(scores.shape[1]), reference)[np.argmax(others, axis=1)]
    winner[others.max(axis=1) <= 0] = reference
    return winner


def criterion(scores: Scores, truth: Decisions) -> float:
    """The perceptron criterion: how far the wrong answers are from being right, summed."""
    if scores.ndim == 1:
        return float(np.maximum(0, -np.where(truth == 1, scores, -scores)).sum())
    own, rival = own_and_rival(scores, truth)
    return float(np.maximum(0, rival - own).sum())


def check_cost(cost: Any, n_classes: int) -> Scores:
    """A matrix of the cost of answering ŷ (column) for y (row), as one row after the other."""
    matrix = as_floats(cost, "cost")
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(f"cost has shape {matrix.shape}; give a {n_classes} × {n_classes} matrix")
    off_diagonal = matrix[~np.eye(n_classes, dtype=bool)]
    if not np.isfinite(matrix).all() or np.diag(matrix).any() or (off_diagonal <= 0).any():
        raise ValueError("cost must be finite, 0 on the diagonal and > 0 elsewhere")
    return matrix.ravel()
