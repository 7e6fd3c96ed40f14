"""Distances of rows from their differences: no digits cancel, however far from the origin the rows are."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from perceptive.kernels.examples import Dense, Sparse

AT_A_TIME = 2**18  # numbers of sparse rows that are written out


def distances(A: Dense | Sparse, B: Dense | Sparse, metric: Literal["sqeuclidean", "cityblock"]) -> NDArray[np.float64]:
    """Distances of all pairs, the same to the bit either way round.

    Parameters
    ----------
    A, B : rows
        The columns of sparse ones are written out some at a time.
    metric : one of "sqeuclidean", "cityblock"

    Examples
    --------
    >>> distances(Dense(np.array([[1e12, 1.0]])), Dense(np.array([[1e12 + 1, 3.0]])), "sqeuclidean")
    array([[5.]])
    """
    from scipy.spatial.distance import cdist

    check_widths(A.rows, B.rows)
    if isinstance(A, Dense) and isinstance(B, Dense):
        return np.asarray(cdist(A.array, B.array, metric))
    used = [np.arange(A.rows.shape[1]) if isinstance(Z, Dense) else Z.matrix.indices for Z in (A, B)]
    columns, found = np.union1d(*used), np.zeros((len(A), len(B)))
    width = max(1, AT_A_TIME // max(1, len(A), len(B)))
    for j in range(0, len(columns), width):
        some = columns[j : j + width]
        found += cdist(_written_out(A, some), _written_out(B, some), metric)
    return found


def _written_out(Z: Dense | Sparse, columns: NDArray[np.int64]) -> NDArray[Any]:
    return Z.array[:, columns] if isinstance(Z, Dense) else Z.matrix[:, columns].toarray()


def check_widths(left: Any, right: Any) -> None:
    """Raise ValueError where rows have different numbers of columns."""
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"the examples have {left.shape[1]} and {right.shape[1]} features; give the same")
