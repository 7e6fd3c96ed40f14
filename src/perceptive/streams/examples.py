"""Examples as a parser makes them: labels, importance, query, and the arrays of a CSR matrix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import scipy.sparse as sp

UNLABELLED = -1
MOST_LABELS = 1 << 10  # of which it is kept how they are written
PART = 1 << 12  # rows that are copied at a time: the places of their entries take more memory than these


@dataclass(frozen=True)
class Examples:
    """Some examples."""

    labels: list[Any]  # different ones, numbers or words
    which: NDArray[np.int32]  # of them each example has; -1 where it has none
    weight: NDArray[np.float64] | None  # importance, where the format has it
    qid: NDArray[np.int64] | None  # query of each example, -1 where it has none, where the format has it
    indptr: NDArray[Any]  # of the rows
    indices: NDArray[np.int32]  # which rise strictly in each
    data: NDArray[Any]
    # Of a block as it was parsed: for each of its lines that holds no example, how many examples stand before it; what
    # is odd about its lines, how many of them it is true of, and where the first of them is, as the core says where a
    # line is broken; labels that are numbers and may be meant as words, such as 7, and how they are written.
    gaps: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    odd: Sequence[tuple[str, int, tuple[int, int, int, str]]] = ()
    codes: Mapping[Any, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.which)

    def spellings(self) -> list[tuple[float, int, str]]:
        """Of each label that is a number: how many examples have it, and how it is written. Of many labels nothing."""
        if len(self.labels) > MOST_LABELS:
            return []
        counts = np.bincount(self.which[self.which >= 0], minlength=len(self.labels)).tolist()
        numbers = ((y, n) for y, n in zip(self.labels, counts, strict=True) if not isinstance(y, str))
        return [(y, n, self.codes.get(y, str(y))) for y, n in numbers]

    def cut(self, begin: int, end: int) -> Examples:
        """Some of the examples, not copied but for their bounds; the last have the gaps behind them, too."""
        indptr = self.indptr[begin : end + 1]
        first, last = np.searchsorted(self.gaps, [begin, end + (end == len(self))])
        rows, gaps = self._beside(slice(begin, end)), self.gaps[first:last] - begin
        entries = slice(indptr[0], indptr[-1])
        return Examples(*rows, indptr - indptr[0], self.indices[entries], self.data[entries], gaps)

    def _beside(self, rows: slice | NDArray[np.int64]) -> tuple[list[Any], NDArray[np.int32], Any, Any]:
        """Labels, which of them, weight and query of some examples."""
        weight, qid = (None if array is None else array[rows] for array in (self.weight, self.qid))
        return self.labels, self.which[rows], weight, qid

    def take(self, rows: NDArray[np.int64]) -> Examples:
        """Some of the examples, copied."""
        lengths = np.diff(self.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, self.indptr.dtype)
        np.cumsum(lengths, out=indptr[1:])
        shift = self.indptr[:-1][rows] - indptr[:-1]
        indices, data = (np.empty(indptr[-1], array.dtype) for array in (self.indices, self.data))
        for i in range(0, len(rows), PART):
            begin, end = indptr[i], indptr[min(i + PART, len(rows))]
            entries = np.arange(begin, end) + np.repeat(shift[i : i + PART], lengths[i : i + PART])
            indices[begin:end], data[begin:end] = self.indices[entries], self.data[entries]
        return Examples(*self._beside(rows), indptr, indices, data)

    def narrow(self, n_features: int) -> Examples:
        """Without the entries of columns from ``n_features`` on."""
        known = self.indices < n_features
        if known.all():
            return self
        before = np.concatenate([[0], np.cumsum(known)]).astype(self.indptr.dtype)
        return replace(self, indptr=before[self.indptr], indices=self.indices[known], data=self.data[known])

    def width(self) -> int:
        """Columns that they need; rows are sorted, so their last entries tell."""
        last = self.indptr[1:][self.indptr[1:] > self.indptr[:-1]] - 1
        return int(self.indices[last].max(initial=-1)) + 1

    def X(self, n_features: int) -> sp.csr_array:
        import scipy.sparse as sp

        X = sp.csr_array((self.data, self.indices, self.indptr), shape=(len(self), n_features))
        X.has_canonical_format = True  # parsers sort, or refuse what is not sorted
        return X

    def y(self) -> NDArray[Any]:
        """Labels as an array: of integers, floats or strings where all are such; None stands for no label."""
        used, which = np.unique(self.which, return_inverse=True)
        return exact_array([None if i == UNLABELLED else self.labels[i] for i in used.tolist()])[which]


def exact_array(labels: Sequence[Any]) -> NDArray[Any]:
    """Labels as an array of integers, floats or strings where it tells all of them apart, else of objects.

    Examples
    --------
    >>> exact_array([1, 2.5]), exact_array([2**53 + 1, 2.5])
    (array([1. , 2.5]), array([9007199254740993, 2.5], dtype=object))
    """
    kinds = {type(label) for label in labels}
    if not labels:
        return np.empty(0, np.int64)
    if kinds == {str} or kinds == {bool} or kinds <= {int, float}:
        array = np.array(labels)
        rounded = kinds == {int} and array.dtype.kind == "f"  # of −1 and 2⁶³ NumPy makes floats
        if kinds == {str} or (array.tolist() == labels and not rounded):
            return array
    return np.array(labels, dtype=object)


def size_of(examples: Examples) -> int:
    arrays = (examples.which, examples.weight, examples.qid, examples.indptr, examples.indices, examples.data)
    return sum(array.nbytes for array in arrays if array is not None)


def join(parts: Sequence[Examples], dtype: np.dtype[Any]) -> Examples:
    """Put examples one after the other."""
    if len(parts) == 1:
        return parts[0]
    stored = sum(len(part.data) for part in parts)
    lengths = [np.diff(part.indptr) for part in parts]
    indptr = np.zeros(sum(map(len, parts)) + 1, np.int32 if stored < 2**31 else np.int64)
    np.cumsum(np.concatenate([np.empty(0, np.int32), *lengths]), out=indptr[1:])
    index: dict[Any, int] = {}
    which = [np.empty(0, np.int32)]
    for part in parts:
        place = [index.setdefault(label, len(index)) for label in part.labels]
        which.append(np.array([*place, UNLABELLED], np.int32)[part.which])
    return Examples(
        list(index),
        np.concatenate(which),
        _join([(part.weight, len(part)) for part in parts], 1.0),
        _join([(part.qid, len(part)) for part in parts], -1),
        indptr,
        np.concatenate([np.empty(0, np.int32), *(part.indices for part in parts)]),
        np.concatenate([np.empty(0, dtype), *(part.data for part in parts)]),
    )


def _join(parts: list[tuple[NDArray[Any] | None, int]], fill: float) -> NDArray[Any] | None:
    if all(part is None for part, _ in parts):
        return None
    return np.concatenate([np.full(n, fill) if part is None else part for part, n in parts])


def batches(parsed: Iterable[Examples], size: int, dtype: np.dtype[Any]) -> Iterator[Examples]:
    """Cut examples into batches of `size`; the last one holds what is left."""
    parts: list[Examples] = []
    missing = size
    for examples in parsed:
        begin = 0
        while len(examples) - begin >= missing:
            yield join([*parts, examples.cut(begin, begin + missing)], dtype)
            begin += missing
            parts, missing = [], size
        if begin < len(examples):
            parts.append(examples.cut(begin, len(examples)))
            missing -= len(examples) - begin
    if parts:
        yield join(parts, dtype)
