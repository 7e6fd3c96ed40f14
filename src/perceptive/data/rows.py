"""From what people have (arrays, sparse matrices, dicts) to checked rows for the core, copying only where it must."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.features.hashing import HashKernel
from perceptive.features.vocabulary import Vocabulary, encode
from perceptive.sparse import inspected

MAX_FEATURES = 2**31 - 1
BY_COLUMN = "X holds dicts, but this model was trained on columns; give an array or sparse matrix"
BY_NAME = "this model was trained on dicts of named features; give a list of dicts"
SCORES = 2**20  # that are made at a time: one for each row and class


def is_dicts(X: Any) -> bool:
    """Whether X is a list of dicts (or a single one is asked about)."""
    return isinstance(X, Sequence) and len(X) > 0 and isinstance(X[0], Mapping)


def single_row(x: Any) -> Any:
    """A single example as a batch of one."""
    if isinstance(x, Mapping | str):
        return [x]
    if hasattr(x, "tocsr"):
        return inspected(x).reshape(1, -1) if x.ndim == 1 else only_row(x)
    if is_dicts(x):
        return only_row(x)
    return np.asarray(x)[None, :] if np.ndim(x) == 1 else only_row(x)


def only_row(X: Any) -> Any:
    """Rows, of which there must be one: a row each of a matrix or a frame, or the dicts of a list."""
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) and shape[0] != 1:
        raise ValueError(f"this takes one example, but there are {shape[0]} rows; give one of them")
    return X


def squared_lengths(rows: _core.Rows, normalize: bool) -> NDArray[np.float64]:
    """‖x‖² of each row; of rows that are scaled to unit length 1, or 0 where a row is empty."""
    lengths2 = np.empty(rows.n)
    _core.squared_norms(rows, lengths2)
    return np.where(lengths2 > 0, 1.0, 0.0) if normalize else lengths2


def in_parts(n: int, n_classes: int) -> Iterator[slice]:
    """So many rows some at a time, since with many classes the scores of all take more memory than the rows.

    Examples
    --------
    >>> list(in_parts(10, 2)), list(in_parts(1000, 2**11))
    ([slice(0, 10, None)], [slice(0, 512, None), slice(512, 1000, None)])
    """
    size = max(1, SCORES // max(1, n_classes))
    yield from (slice(begin, min(begin + size, n)) for begin in range(0, max(1, n), size))


def as_rows(
    X: Any, names: Vocabulary | HashKernel | None, *, grow: bool = False, fingerprint: bool = False
) -> _core.Rows:
    """Check X and hand it to the core: an array of two dimensions, a sparse matrix, dicts, or rows that were checked.

    Float32 and float64 arrays and CSR matrices are not copied. Unsorted CSR rows are sorted, and duplicates summed, in
    a copy. ``names`` numbers the features of dicts, which may bring new ones (``grow``); rows are hashed on the way for
    a ``fingerprint``.
    """
    if isinstance(X, _core.Rows):
        return X
    if is_dicts(X) or (names is not None and isinstance(X, list) and not X):
        if names is None:
            raise ValueError(BY_COLUMN)
        if isinstance(names, HashKernel):
            arrays, width = names.encode(X), names.width
        else:
            arrays = encode(X, names, grow)
            width = len(names)
        rows = _core.csr_rows(*arrays, width, fingerprint)
        assert rows is not None  # encode sorts
        return rows
    if isinstance(names, Vocabulary):
        raise ValueError(BY_NAME)
    if hasattr(X, "tocsr"):
        return _sparse_rows(X, fingerprint)
    return _core.dense_rows(_dense(X), fingerprint)


def hashed_rows(dicts: Sequence[Mapping[Any, Any]], hasher: HashKernel) -> Any:
    """Dicts of features as the rows of a sparse matrix."""
    import scipy.sparse as sp

    indptr, indices, data = hasher.encode(dicts)
    return sp.csr_array((data, indices, indptr), shape=(len(dicts), hasher.width))


def _dense(X: Any) -> NDArray[Any]:
    try:
        array = np.asarray(X)
        if array.dtype.kind == "c":
            raise ValueError("Complex data not supported; X holds complex numbers")
        if array.dtype not in (np.float32, np.float64):
            small = array.dtype.kind in "bui" and array.dtype.itemsize <= 2
            array = array.astype(np.float32 if small else np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers, all rows of one length: {error}") from None
    if array.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, not {array.ndim}; Reshape your data: one example is X.reshape(1, -1)"
        )
    return np.require(array, requirements=["C", "A"])


def _sparse_rows(X: Any, fingerprint: bool) -> _core.Rows:
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, not {X.ndim}")
    X = X if X.format == "csr" else inspected(X).tocsr()  # the core looks at a CSR matrix below
    if X.shape[1] > MAX_FEATURES:
        raise ValueError(f"X has {X.shape[1]} features, more than {MAX_FEATURES}; hash them into fewer")
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported; X holds complex numbers")
    data = X.data if X.dtype in (np.float32, np.float64) else X.data.astype(np.float64)
    indptr, indices = X.indptr, X.indices
    if indptr.dtype != indices.dtype:
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    if len(indptr) != X.shape[0] + 1:
        raise ValueError("indptr has the wrong length; the sparse matrix is damaged, rebuild it")
    stored = int(indptr[-1]) if len(indptr) else 0
    if 0 <= stored < len(data):  # SciPy allows room behind the last row
        data, indices = data[:stored], indices[:stored]
    indptr, indices, data = (np.require(part, requirements=["C", "A"]) for part in (indptr, indices, data))
    rows = _core.csr_rows(indptr, indices, data, X.shape[1], fingerprint)
    if rows is None:
        X = type(X)((data.copy(), indices.copy(), indptr.copy()), shape=X.shape)
        X.sum_duplicates()
        rows = _core.csr_rows(X.indptr, X.indices, X.data, X.shape[1], fingerprint)
        assert rows is not None
    return rows
