"""What examples and lists are to a theorem: margins under each witness, and lengths."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptive import _core
from perceptive.learners.lesson import Lesson, Pair
from perceptive.learners.linear import as_floats
from perceptive.learners.problem import Problem, Vector
from perceptive.learners.ranking import RankingLesson
from perceptive.parameters import LinearParameters, RankingParameters


class Evidence(NamedTuple):
    """What the examples of a problem are to the theorem."""

    margins: dict[str, NDArray[np.float64]]  # under each witness, scaled to unit length
    lengths2: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    radius2: float  # the largest ‖weight·δ‖² that the data allow

    @classmethod
    def of(cls, problem: Problem, lesson: Lesson, pair: Pair, witnesses: dict[str, Vector]) -> Evidence:
        """Of examples."""
        targets, weights = lesson.targets(pair), lesson.weights
        present = targets != 0 if problem.binary else targets >= 0
        if weights is not None:
            present &= weights > 0
            weights = weights[present]
        lengths2 = (_lengths2(lesson.rows, problem.parameters) * (1.0 if problem.binary else 2.0))[present]
        margins = {}
        for name, (w, b) in witnesses.items():
            length = length_of(w, b)
            if not math.isfinite(length) or length == 0.0:
                continue
            scores = problem.linear(lesson.rows, w.astype(np.float64, copy=False), b) / length
            margins[name] = margins_of(scores, targets, problem.binary)[present]
            if weights is not None:
                margins[name] = margins[name] * weights
        lengths2 = lengths2 if weights is None else lengths2 * weights**2
        return cls(margins, lengths2, weights, float(lengths2.max(initial=0.0)))

    @classmethod
    def of_lists(cls, problem: Problem, lesson: RankingLesson, witnesses: dict[str, Vector]) -> Evidence:
        """Of lists."""
        p, starts, grades = lesson.learner.parameters, lesson.starts, lesson.grades
        present = lesson.present
        weights = None if lesson.weights is None else lesson.weights[present]
        n = len(lesson)
        shortest, longest, equal = np.empty(n), np.empty(n), np.empty(n, np.int64)
        _core.list_lengths(lesson.rows, starts, grades, p.pairs, p.normalize, shortest, longest, equal)
        scale = 1.0 if weights is None else weights**2
        lengths2 = (shortest + p.delta**2)[present] * scale
        radius2 = ((longest + p.delta**2)[present] * scale).max(initial=0.0)
        # Two candidates that are the same are a mistake that teaches nothing: a round of its own for PA's theorem.
        twins = (equal[present] > 0) & (lengths2 > 0) if p.rule in ("pa", "mira") and not p.delta else np.zeros(0, bool)
        margins = {}
        for name, (w, b) in witnesses.items():
            length = length_of(w, b)
            if not math.isfinite(length) or length == 0.0:
                continue
            scores = problem.linear(lesson.rows, w.astype(np.float64, copy=False), b)[:, 0] / length
            out = np.empty(len(lesson))
            _core.list_margins(scores, starts, grades, p.pairs, out)
            margins[name] = out[present] if weights is None else out[present] * weights
            margins[name] = np.append(margins[name], margins[name][: len(twins)][twins])
        return cls(margins, np.append(lengths2, np.zeros(np.count_nonzero(twins))), weights, float(radius2))

    @classmethod
    def join(cls, parts: list[Evidence]) -> Evidence:
        """Of all of them."""
        if len(parts) == 1:
            return parts[0]
        names = parts[0].margins if parts else {}
        weights = [np.ones(len(part.lengths2)) if part.weights is None else part.weights for part in parts]
        return cls(
            {name: np.concatenate([part.margins[name] for part in parts]) for name in names},
            np.concatenate([np.empty(0), *(part.lengths2 for part in parts)]),
            np.concatenate(weights) if any(part.weights is not None for part in parts) else None,
            max((part.radius2 for part in parts), default=0.0),
        )


def witnesses_of(problem: Problem, given: ArrayLike | None) -> dict[str, Vector]:
    """The vectors that a certificate may call upon, by name."""
    found = {"last": problem.vector("last")}
    if "sum" in problem.arrays:
        found["averaged"] = problem.vector("averaged")
    if problem.journal is not None:
        found["best"] = problem.vector("best")
    if given is not None:
        found["given"] = _given(problem, np.atleast_2d(as_floats(given, "witness")))
    return found


def _given(problem: Problem, u: NDArray[np.float64]) -> Vector:
    n, d = problem.n_classes, problem.n_features
    if u.shape not in ((n, d), (n, d + 1)) or not np.isfinite(u).all():
        raise ValueError(f"witness has shape {u.shape}; give {n} × {d} finite numbers, or {n} × {d + 1}, bias last")
    w = np.zeros((d, problem.stride))
    w[:, :n] = u[:, :d].T
    return w, u[:, d] if u.shape[1] > d else np.zeros(n)


def length_of(w: NDArray[Any], b: NDArray[np.float64]) -> float:
    """‖(w, b)‖."""
    w = w.astype(np.float64, copy=False)
    return math.sqrt(float(np.vdot(w, w)) + float(np.vdot(b, b)))


def margins_of(scores: NDArray[np.float64], targets: NDArray[np.int32], binary: bool) -> NDArray[np.float64]:
    """u·δ against the closest competitor."""
    if binary:
        return scores[:, 0] * targets
    rows = np.arange(len(targets))
    mine = scores[rows, targets]
    scores[rows, targets] = -np.inf
    margins: NDArray[np.float64] = mine - scores.max(axis=1)
    return margins


def _lengths2(rows: _core.Rows, p: LinearParameters | RankingParameters) -> NDArray[np.float64]:
    """‖x‖² of each row as the learner sees it, bias and id feature included."""
    lengths2 = np.empty(rows.n)
    _core.squared_norms(rows, lengths2)
    if p.normalize:
        lengths2 = np.where(lengths2 > 0, 1.0, 0.0)
    return lengths2 + p.bias**2 + p.delta**2
