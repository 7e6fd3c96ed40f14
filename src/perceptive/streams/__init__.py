r"""Examples from files, in batches: memory holds a few blocks, however large the files are.

>>> import gzip, pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp(), "train.svm.gz")
>>> _ = path.write_bytes(gzip.compress(b"+1 1:0.5 3:2\n-1 2:1  # a comment\n+1 3:1\n"))
>>> for X, y in open(path, batch=2):
...     print(X.toarray().tolist(), y.tolist())
[[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]] [1, -1]
[[0.0, 0.0, 1.0]] [1]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from perceptive.streams import svmlight
from perceptive.streams.blocks import Paths, expand

if TYPE_CHECKING:
    import scipy.sparse as sp

__all__ = ["Stream", "load", "open"]

FORMATS = ("svmlight", "libsvm")  # two names of one format


@dataclass(frozen=True)
class Stream:
    """Files as an iterable of ``(X, y)``; every iteration reads them anew (standard input only once)."""

    files: tuple[str, ...]
    batch: int
    zero_based: bool
    n_features: int | None
    dtype: np.dtype[Any]

    def __iter__(self) -> Iterator[tuple[sp.csr_array, NDArray[Any]]]:
        width = self.n_features or 0
        for rows in svmlight.batches(self._parse(), self.batch, self.dtype):
            width = max(width, rows.width())
            yield rows.X(width), rows.y()

    def _parse(self) -> Iterator[svmlight.Rows]:
        return svmlight.parse(self.files, zero_based=self.zero_based, n_features=self.n_features, dtype=self.dtype)


def open(
    path_or_paths: Paths,
    *,
    format: str | None = None,
    batch: int = 4096,
    zero_based: bool = False,
    n_features: int | None = None,
    dtype: DTypeLike = np.float64,
) -> Stream:
    r"""Read files as a stream of batches.

    Parameters
    ----------
    path_or_paths : path, glob, "-" or a sequence of these
        Files to read one after the other, "-" being standard input. gzip and zstd are known by the first bytes; zstd
        needs Python 3.14 or the package backports.zstd.
    format : {"svmlight", "libsvm"}, optional
        Two names of one format, the only one so far.
    batch : int
        Examples in a batch; the last one may hold fewer.
    zero_based : bool
        Whether the first feature is 0; it is 1 in most files.
    n_features : int, optional
        Columns of every X, and larger indices are refused. By default X is as wide as the largest index so far asks
        for, so that later batches may be wider.
    dtype : {float64, float32}
        Of the values.

    Returns
    -------
    Stream
        An iterable of ``(X, y)``: a csr_array with int32 indices, and the labels, int64 where all of a batch are whole
        numbers, else float64. ``qid:`` is checked and left out; `load` gives it.

    Raises
    ------
    ValueError
        While iterating, for a broken line, with the file, the line, the column and the cure.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "train.svm")
    >>> _ = path.write_text("+1 1:0.5 3:2\n-1 2:1\n")
    >>> [(X.shape, y.tolist()) for X, y in open(path, n_features=5)]
    [((2, 5), [1, -1])]
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}; choose one of {', '.join(FORMATS)}")
    if batch < 1:
        raise ValueError(f"batch is {batch}; it must be at least 1")
    if n_features is not None and not 0 <= n_features < 2**31:
        raise ValueError(f"n_features is {n_features}; it must be from 0 to 2³¹ − 1")
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype is {dtype}; choose float32 or float64")
    return Stream(tuple(expand(path_or_paths)), batch, zero_based, n_features, dtype)


@overload
def load(
    path_or_paths: Paths, *, query_id: Literal[False] = False, **options: Any
) -> tuple[sp.csr_array, NDArray[Any]]: ...


@overload
def load(
    path_or_paths: Paths, *, query_id: Literal[True], **options: Any
) -> tuple[sp.csr_array, NDArray[Any], NDArray[np.int64]]: ...


def load(path_or_paths: Paths, *, query_id: bool = False, **options: Any) -> tuple[Any, ...]:
    r"""Read files into one ``(X, y)``, or ``(X, y, qid)``.

    Parameters
    ----------
    path_or_paths : path, glob, "-" or a sequence of these
        As for `open`.
    query_id : bool
        Whether to give the query of each example too, -1 where a line names none.
    **options
        ``format``, ``zero_based``, ``n_features`` and ``dtype`` of `open`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "rank.svm")
    >>> _ = path.write_text("0.5 qid:1 1:0.5 3:2\n2 qid:1 2:1\n")
    >>> X, y, qid = load(path, query_id=True)
    >>> X.shape, y.tolist(), qid.tolist()
    ((2, 3), [0.5, 2.0], [1, 1])
    """
    stream = open(path_or_paths, **options)
    rows = svmlight.join(list(stream._parse()), stream.dtype)
    X, y = rows.X(max(stream.n_features or 0, rows.width())), rows.y()
    return (X, y, rows.qid) if query_id else (X, y)
