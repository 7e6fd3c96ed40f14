"""The constant feature: as large as rows are long, where its value is to come from the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.rows import squared_lengths
from perceptive.parameters import LinearParameters


def add_lengths(before: tuple[float, int], lengths2: NDArray[np.float64]) -> tuple[float, int]:
    """Σ‖x‖² and the number of rows, with those before: one after the other, so that all machines have the same bits."""
    return float(np.cumsum(np.concatenate([[before[0]], lengths2]))[-1]), before[1] + len(lengths2)


def typical_length(total: float, n: int) -> float:
    """The root mean square of n lengths, whose squares have this sum; 1 where all are 0.

    Examples
    --------
    >>> typical_length(25.0 + 1.0, 2)
    3.605551275463989
    """
    return float(np.sqrt(total / n)) if total else 1.0


def frozen(
    p: LinearParameters, rows: _core.Rows, weights: NDArray[np.float64] | None, first: bool = False
) -> LinearParameters:
    """Parameters with the value that ``bias="auto"`` becomes before any of these rows is played.

    Rows without a weight do not count. With ``first`` the first row alone does: examples that come one by one must
    make the same learner as many at once.
    """
    if p.bias != "auto":
        return p
    lengths2 = squared_lengths(rows, p.normalize)[:1] if first else lengths_counted(rows, weights, p.normalize)
    return replace(p, bias=typical_length(*add_lengths((0.0, 0), lengths2)))


def lengths_counted(rows: _core.Rows, weights: NDArray[np.float64] | None, normalize: bool) -> NDArray[np.float64]:
    """‖x‖² of the rows that have a weight."""
    lengths2 = squared_lengths(rows, normalize)
    return lengths2 if weights is None else lengths2[weights > 0]
