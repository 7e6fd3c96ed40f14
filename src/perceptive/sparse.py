"""Sparse matrices, looked at by the core before SciPy does anything with them.

SciPy trusts the arrays of a matrix: where they are damaged or forged, it reads and writes out of bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptive import _core

DAMAGED = "the sparse matrix is damaged, rebuild it"
WHOLE = (np.dtype(np.int32), np.dtype(np.int64))


def inspected(X: Any) -> Any:
    """A sparse matrix whose parts fit together; raises ValueError where they do not.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> X = sp.csr_array([[0.0, 2.0], [1.0, 0.0]])
    >>> inspected(X) is X
    True
    >>> X.indptr[1] = 50_000_000
    >>> inspected(X)
    Traceback (most recent call last):
    ValueError: indptr is wrong at row 0; the sparse matrix is damaged, rebuild it
    """
    kind = getattr(X, "format", None)
    if kind in ("csr", "csc") and X.ndim == 2:
        _inspect(X.indptr, X.indices, len(X.data), X.shape if kind == "csr" else X.shape[::-1])
    elif kind == "coo" and X.ndim == 2:
        for places, size in zip((X.row, X.col), X.shape, strict=True):
            if len(places) != len(X.data) or (len(places) and not 0 <= places.min() <= places.max() < size):
                raise ValueError(f"its indices lie outside of its shape; {DAMAGED}")
    return X


def csr_from(data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
    """A CSR matrix of arrays from a file; raises ValueError where they do not fit together."""
    import scipy.sparse as sp

    if len(shape) != 2 or not all(type(n) is int and 0 <= n < 2**31 for n in shape):
        raise ValueError("the shape of a sparse matrix must be two whole numbers")
    if any(array.ndim != 1 for array in (data, indices, indptr)):
        raise ValueError(f"its arrays have more than one dimension; {DAMAGED}")
    _inspect(indptr, indices, len(data), shape)
    return sp.csr_array((data, indices, indptr), shape=tuple(shape))


def _inspect(indptr: Any, indices: Any, n_data: int, shape: Any) -> None:
    if indptr.dtype not in WHOLE or indices.dtype not in WHOLE:
        raise ValueError(f"indptr and indices must be whole numbers of 32 or 64 bits; {DAMAGED}")
    if len(indptr) != shape[0] + 1:
        raise ValueError(f"indptr has the wrong length; {DAMAGED}")
    stored = int(indptr[-1])
    if not 0 <= stored <= min(len(indices), n_data):  # SciPy allows room behind the last row
        raise ValueError(f"indptr goes beyond the entries; {DAMAGED}")
    if indptr.dtype != indices.dtype:
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    starts, columns = (np.require(part, requirements=["C", "A"]) for part in (indptr, indices[:stored]))
    _core.csr_rows(
        starts, columns, np.zeros(stored, np.float32), int(shape[1]), False
    )  # values are looked at elsewhere
