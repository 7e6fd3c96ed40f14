"""The svmlight (libsvm) format, ``label [qid:n] index:value … [# comment]`` a line, parsed in the core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.streams.blocks import blocks, shown

if TYPE_CHECKING:
    import scipy.sparse as sp

WHOLE = 2.0**53  # up to here floats hold every whole number


@dataclass(frozen=True)
class Rows:
    """Examples as the arrays of a CSR matrix."""

    label: NDArray[np.float64]
    qid: NDArray[np.int64]
    indptr: NDArray[Any]
    indices: NDArray[np.int32]
    data: NDArray[Any]

    def __len__(self) -> int:
        return len(self.label)

    def cut(self, begin: int, end: int) -> Rows:
        """Some of the rows, not copied but for their bounds."""
        indptr = self.indptr[begin : end + 1]
        entries = slice(indptr[0], indptr[-1])
        label, qid = self.label[begin:end], self.qid[begin:end]
        return Rows(label, qid, indptr - indptr[0], self.indices[entries], self.data[entries])

    def width(self) -> int:
        """Columns that they need."""
        return int(self.indices.max(initial=-1)) + 1

    def X(self, n_features: int) -> sp.csr_array:
        """Make the matrix."""
        import scipy.sparse as sp

        X = sp.csr_array((self.data, self.indices, self.indptr), shape=(len(self), n_features))
        X.has_canonical_format = True  # the parser refuses lines whose indices do not rise
        return X

    def y(self) -> NDArray[Any]:
        """Labels, as integers where all are whole."""
        whole = bool(np.all((self.label == np.floor(self.label)) & (np.abs(self.label) <= WHOLE)))
        return self.label.astype(np.int64) if whole else self.label


def parse(
    files: Iterable[str], *, zero_based: bool, n_features: int | None, dtype: np.dtype[Any], block: int | None = None
) -> Iterator[Rows]:
    """Parse files, one Rows for each block."""
    for path in files:
        line = 1
        for text in blocks(path, block):
            *arrays, lines = _core.parse_svmlight(text, shown(path), line, zero_based, n_features, dtype == np.float32)
            line += lines
            yield Rows(*arrays)


def join(parts: Sequence[Rows], dtype: np.dtype[Any]) -> Rows:
    """Put rows one after the other."""
    if len(parts) == 1:
        return parts[0]
    stored = sum(len(part.data) for part in parts)
    lengths = [np.diff(part.indptr) for part in parts]
    indptr = np.zeros(sum(map(len, parts)) + 1, np.int32 if stored < 2**31 else np.int64)
    np.cumsum(np.concatenate([np.empty(0, np.int32), *lengths]), out=indptr[1:])
    return Rows(
        np.concatenate([np.empty(0), *(part.label for part in parts)]),
        np.concatenate([np.empty(0, np.int64), *(part.qid for part in parts)]),
        indptr,
        np.concatenate([np.empty(0, np.int32), *(part.indices for part in parts)]),
        np.concatenate([np.empty(0, dtype), *(part.data for part in parts)]),
    )


def batches(parsed: Iterable[Rows], size: int, dtype: np.dtype[Any]) -> Iterator[Rows]:
    """Cut rows into batches of `size`; the last one holds what is left."""
    parts: list[Rows] = []
    missing = size
    for rows in parsed:
        begin = 0
        while len(rows) - begin >= missing:
            yield join([*parts, rows.cut(begin, begin + missing)], dtype)
            begin += missing
            parts, missing = [], size
        if begin < len(rows):
            parts.append(rows.cut(begin, len(rows)))
            missing -= len(rows) - begin
    if parts:
        yield join(parts, dtype)
