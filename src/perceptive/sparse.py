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
    """A sparse matrix whose parts fit together; raises ValueError where they do not. Anything else as it is.

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
    if not hasattr(X, "tocsr"):
        return X
    kind = getattr(X, "format", None)
    if not isinstance(kind, str) or kind not in FORMATS:
        raise ValueError(f"X is sparse in a format that is not known here, {kind!r}; give scipy.sparse.csr_array(X)")
    if not FORMATS[kind](X):
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
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any() or not _within(columns, shape[1]):
        _core.csr_rows(starts, columns, np.zeros(stored, np.float32), int(shape[1]), False)  # which says where


def _compressed(X: Any) -> bool:
    shape = X.shape if X.ndim == 2 else (1, X.shape[0])
    if X.data.ndim != 1 or X.indices.ndim != 1 or X.indptr.ndim != 1:
        return False
    _inspect(X.indptr, X.indices, len(X.data), shape if X.format == "csr" else shape[::-1])
    return True


def _blocks(X: Any) -> bool:
    if X.data.ndim != 3 or X.indices.ndim != 1 or X.indptr.ndim != 1 or not all(X.data.shape[1:]):
        return False
    (rows, rest), (columns, more) = map(divmod, X.shape, X.data.shape[1:])
    _inspect(X.indptr, X.indices, len(X.data), (rows, columns))
    return not rest and not more


def _coordinates(X: Any) -> bool:
    places = X.coords if hasattr(X, "coords") else (X.row, X.col)  # the latter before SciPy 1.13
    return X.data.ndim == 1 and all(
        where.shape == X.data.shape and where.dtype in WHOLE and _within(where, size)
        for where, size in zip(places, X.shape, strict=True)
    )


def _diagonals(X: Any) -> bool:
    offsets = X.offsets
    if X.data.ndim != 2 or offsets.shape != X.data.shape[:1] or offsets.dtype not in WHOLE:
        return False
    return len(np.unique(offsets)) == len(offsets) and _within(offsets.astype(np.int64) + X.shape[0], sum(X.shape) + 1)


def _lists(X: Any) -> bool:
    return X.rows.shape == X.data.shape == X.shape[:1] and all(
        type(columns) is type(values) is list
        and len(columns) == len(values)
        and (not columns or 0 <= min(columns) <= max(columns) < X.shape[1])
        for columns, values in zip(X.rows, X.data, strict=True)
    )


def _keys(X: Any) -> bool:
    places = (key if isinstance(key, tuple) else (key,) for key in X.keys())  # noqa: SIM118 - no mapping, for all that
    return all(
        len(place) == X.ndim and all(0 <= i < size for i, size in zip(place, X.shape, strict=True)) for place in places
    )


def _within(places: Any, size: int) -> bool:
    return not len(places) or bool(places.view(f"u{places.itemsize}").max() < size)  # what is below 0 is huge then


FORMATS = {
    "csr": _compressed,
    "csc": _compressed,
    "bsr": _blocks,
    "coo": _coordinates,
    "dia": _diagonals,
    "lil": _lists,
    "dok": _keys,
}  # SciPy's; each says whether its places lie within the matrix
