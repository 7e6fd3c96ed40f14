"""Scores of rows under the hypotheses of a `WeightVector`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.errors import overflowed
from perceptive.learners.weight_vector import WeightVector

Scores = NDArray[np.float64]


def score_rows(v: WeightVector, rows: _core.Rows, hypothesis: str, threads: int = 1) -> Scores:
    """Scores under a hypothesis, rows × classes; votes are given as shares (two classes: of −1 … 1)."""
    v.check_hypothesis(hypothesis)
    if hypothesis == "voted":
        return _vote(v, rows)
    if not v.finished and hypothesis in ("last", "averaged"):
        scores = _score_as_it_learns(v, rows, hypothesis)
    else:
        scores = v.linear(rows, *v.compact(hypothesis), threads)
    if not np.isfinite(scores).all():
        raise overflowed("scores")
    return scores


def votes_in_lists(v: WeightVector, rows: _core.Rows, which: NDArray[np.int64]) -> Scores:
    """Shares of the votes for the best of each list; ``which`` says of which list each row is."""
    votes = np.empty(rows.n, np.int64)
    survival = v.survivals()
    _core.rank_votes(rows, v.journal, survival, np.zeros(rows.n), which, v.parameters.normalize, votes)
    return votes / max(1, int(survival.sum()))


def _score_as_it_learns(v: WeightVector, rows: _core.Rows, hypothesis: str) -> Scores:
    """Without writing out a vector: between two examples of a stream that would cost O(dimension)."""
    v.settle()
    run, bias = v.run, v.bias
    z = v.own_dots(rows, "z") + bias * v.biases["z_bias"]
    if hypothesis == "last":
        return run.scale * z
    clock, total = v.average_clock()
    sums = v.own_dots(rows, "sum") + bias * v.biases["sum_bias"]
    with np.errstate(invalid="ignore"):  # of weights that have overflowed
        average: Scores = (clock * z - sums) / total
    return average


def _vote(v: WeightVector, rows: _core.Rows) -> Scores:
    if v.initial is None:
        start = np.zeros((rows.n, v.n_classes))
    else:
        w, bias = v.initial
        start = v.linear(rows, w.astype(v.dtype, copy=False), bias)
    votes = np.empty((rows.n, v.n_classes), np.int64)
    survival = v.survivals()
    _core.votes(rows, v.journal, survival, start, v.bias, v.parameters.normalize, votes)
    return votes / max(1, int(survival.sum()))
