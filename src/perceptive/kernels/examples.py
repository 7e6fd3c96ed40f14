"""Examples as kernels see them: checked once, then taken, joined and replaced without looking at them again.

A kernel's `prepare` makes one of these from what people have. They serve as the examples of a call and, growing, as the
supports of a model. Each kind has ``len``; ``take(index)``, some of them, where a slice need not copy;
``extend(other)``, which adds others of the same kind at the end; and ``put(i, other)``, which lets the single example
of ``other`` stand in place i.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.content import FLAT, SIZE, digest, shown
from perceptive.errors import ExampleError
from perceptive.frames import column_of_texts
from perceptive.sparse import inspected

FEW = 128  # rows that are in the cache while they are looked at twice
Index = slice | NDArray[np.int64] | list[int]


class Dense:
    """Rows of an array, with room to grow; squared lengths are kept once they have been asked for."""

    def __init__(self, array: NDArray[Any], norms2: NDArray[Any] | None = None) -> None:
        self._rows = array
        self._n = len(array)
        self._norms2 = norms2

    def __len__(self) -> int:
        return self._n

    @property
    def array(self) -> NDArray[Any]:
        return self._rows[: self._n]

    rows = array

    @property
    def norms2(self) -> NDArray[Any]:
        """‖x‖² of each row."""
        norms2, n = self._norms2, self._n  # several threads may ask at once
        known = 0 if norms2 is None else len(norms2)
        if known < n:
            parts = [] if norms2 is None else [norms2]
            for i in range(known, n, FEW):
                rows = self._rows[i : min(i + FEW, n)].astype(np.float64)
                parts.append(np.einsum("ij,ij->i", rows, rows))
            self._norms2 = norms2 = np.concatenate(parts)
        return np.zeros(0) if norms2 is None else norms2

    def take(self, index: Index) -> Dense:
        return Dense(self.array[index], None if self._norms2 is None else self.norms2[index])

    def extend(self, other: Dense) -> None:
        n = self._n + len(other)
        if n > len(self._rows) or not self._rows.flags.owndata:
            grown = np.empty((max(n, 2 * self._n, 16), self._rows.shape[1]), self._rows.dtype)  # room doubles
            grown[: self._n] = self.array
            self._rows = grown
        self._rows[self._n : n] = other.array
        self._n = n

    def put(self, i: int, other: Dense) -> None:
        if not self._rows.flags.owndata or not self._rows.flags.writeable:
            self._rows = self.array.copy()
        self._rows[i] = other.array[0]
        if self._norms2 is not None and i < len(self._norms2):
            self._norms2[i] = other.norms2[0]


class Sparse:
    """Rows of a CSR matrix."""

    def __init__(self, matrix: Any) -> None:
        self._parts = [matrix]

    def __len__(self) -> int:
        return sum(part.shape[0] for part in self._parts)

    @property
    def matrix(self) -> Any:
        """The rows, as one matrix."""
        parts = self._parts  # several threads may ask at once
        if len(parts) > 1:
            import scipy.sparse as sp

            self._parts = parts = [sp.vstack(parts, format="csr")]
        return parts[0]

    rows = matrix

    @property
    def norms2(self) -> NDArray[np.float64]:
        """‖x‖² of each row."""
        squares = self.matrix.multiply(self.matrix)
        return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()

    def take(self, index: Index) -> Sparse:
        return Sparse(self.matrix[index])

    def extend(self, other: Sparse) -> None:
        self._parts.append(other.matrix)

    def put(self, i: int, other: Sparse) -> None:
        rows = self.matrix
        self._parts = [rows[:i], other.matrix, rows[i + 1 :]]


def sparse_dots(left: Any, right: Any) -> NDArray[Any]:
    """x·x' of all pairs of rows of two CSR matrices.

    Of the fewer rows a transpose is made, or where they are very few an array; columns that no row has are left out
    where they are most.
    """
    few, many = (left, right) if left.shape[0] <= right.shape[0] else (right, left)
    swapped = many is right
    if 4 * (few.nnz + many.nnz) < few.shape[1]:
        both = (few, many)
        columns, place = np.unique(np.concatenate([m.indices[: m.nnz] for m in both]), return_inverse=True)
        few, many = (
            type(m)((m.data[: m.nnz], mine, m.indptr), shape=(m.shape[0], len(columns)))
            for m, mine in zip(both, np.split(place, [few.nnz]), strict=True)
        )
    array = few.shape[0] * few.shape[1] <= 4 * many.nnz
    product = many @ few.toarray().T if array else (many @ few.T).toarray()
    return np.ascontiguousarray(product.T if swapped else product)


class Objects:
    """Any objects, in a list."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = list(items)

    def __len__(self) -> int:
        return len(self.items)

    def take(self, index: Index) -> Objects:
        return type(self)(self.items[index] if isinstance(index, slice) else [self.items[i] for i in index])

    def extend(self, other: Objects) -> None:
        self.items.extend(other.items)

    def put(self, i: int, other: Objects) -> None:
        self.items[i] = other.items[0]


class Parts:
    """The same examples as several kernels see them."""

    def __init__(self, parts: Sequence[Any], derived: bool = False) -> None:
        self.parts = tuple(parts)
        self.derived = derived  # the last part comes from the others, and tells no two examples apart

    def __len__(self) -> int:
        return len(self.parts[0])

    def take(self, index: Index) -> Parts:
        return Parts([part.take(index) for part in self.parts], self.derived)

    def extend(self, other: Parts) -> None:
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            mine.extend(theirs)

    def put(self, i: int, other: Parts) -> None:
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            mine.put(i, theirs)


def in_double(examples: Any) -> Any:
    """The same examples, with numbers in float64."""
    if isinstance(examples, Dense):
        return Dense(examples.array.astype(np.float64))
    if isinstance(examples, Sparse):
        return Sparse(examples.matrix.astype(np.float64))
    if isinstance(examples, Parts):
        return Parts([in_double(part) for part in examples.parts], examples.derived)
    if getattr(examples, "single", False):
        examples = examples.take(slice(None))
        examples.single = False
    return examples


def own(examples: Any) -> Any:
    """The same examples, with objects of their own; the rows of arrays are copied by `take`."""
    if isinstance(examples, Parts):
        return Parts([own(part) for part in examples.parts], examples.derived)
    return Objects([own_item(item) for item in examples.items]) if type(examples) is Objects else examples


def own_item(item: Any) -> Any:
    """A copy of a list, an array or any nesting of such; other objects, and what is nested very deeply, as it is."""
    if type(item) in FLAT or digest(item) is None:
        return item
    try:
        return copy.deepcopy(item)
    except RecursionError:
        return item


def copied(X: Any) -> Any:
    """Examples as people give them, in arrays or lists that are ours alone."""
    if isinstance(X, list):
        return [own_item(x) for x in X]
    return X.copy() if hasattr(X, "copy") and hasattr(X, "shape") else X


def contents(examples: Any) -> list[bytes | None]:
    """A digest of each example, equal where examples are; objects of unknown content equal only themselves.

    The latter is true while the examples are held, and not of copies of them.
    """
    if isinstance(examples, Dense):
        rows = examples.array + 0.0  # −0 is 0
        return [hashlib.blake2b(row.tobytes(), digest_size=SIZE).digest() for row in rows]
    if isinstance(examples, Sparse):
        rows = examples.matrix
        return [_content(rows.indices[a:b], rows.data[a:b]) for a, b in pairwise(rows.indptr.tolist())]
    if isinstance(examples, Parts):
        parts = [contents(part) for part in (examples.parts[:-1] if examples.derived else examples.parts)]
        return [None if None in each else digest(each) for each in zip(*parts, strict=True)]
    if hasattr(examples, "contents"):
        return list(examples.contents())
    return [digest(item) or b"object" + id(item).to_bytes(8, "little", signed=True) for item in examples.items]


def _content(indices: NDArray[Any], values: NDArray[Any]) -> bytes:
    """Of a sparse row, however its entries are ordered and whether or not zeros are written down."""
    if len(values) and (not values.all() or (np.diff(indices) < 0).any()):
        kept = np.flatnonzero(values)
        kept = kept[np.argsort(indices[kept], kind="stable")]
        indices, values = indices[kept], values[kept]
    found = hashlib.blake2b(indices.astype(np.int64).tobytes(), digest_size=SIZE)
    found.update(values.tobytes())
    return found.digest()


def check_alike(known: Any, new: Any) -> None:
    """Raise ValueError where new examples cannot be added to known ones: dense rows to sparse ones, say."""
    if isinstance(known, Parts) and isinstance(new, Parts):
        for one, other in zip(known.parts, new.parts, strict=True):
            check_alike(one, other)
    elif isinstance(known, Dense) and isinstance(new, Sparse):
        raise ValueError("X is sparse, but this model has learned from dense rows; give it X.toarray()")
    elif isinstance(known, Sparse) and isinstance(new, Dense):
        raise ValueError("X is dense, but this model has learned from sparse rows; give it scipy.sparse.csr_array(X)")
    elif isinstance(known, Dense | Sparse) and isinstance(new, Dense | Sparse):
        mine, theirs = known.rows.shape[1], new.rows.shape[1]
        if mine != theirs:
            raise ValueError(f"X has {theirs} features, but this model expects {mine} features as input")


def size_of(examples: Any) -> int:
    """How many numbers prepared examples hold."""
    if isinstance(examples, Dense):
        return examples.array.size
    if isinstance(examples, Sparse):
        return int(examples.matrix.nnz)
    return sum(size_of(part) for part in examples.parts) if isinstance(examples, Parts) else len(examples)


def numbers(values: Any) -> Dense:
    """One number per example."""
    return Dense(np.asarray(values, dtype=np.float64).reshape(-1, 1))


def as_list(X: Any) -> list[Any]:
    """Examples one by one: rows of arrays and frames, items of anything else."""
    if hasattr(X, "iloc"):
        X = X.to_numpy()
    if isinstance(X, str | bytes) or not (hasattr(X, "__len__") or hasattr(X, "__iter__")):
        raise TypeError(f"examples must come in a list or an array, not as one {type(X).__name__}: {shown(X)}")
    if hasattr(X, "tocsr"):
        X = inspected(X).tocsr()
        return [X[[i]] for i in range(X.shape[0])]
    return list(X)


def listed(X: Any) -> Any:
    """What can be gone through only once, and the texts of a frame, as a list; anything else as it is."""
    return list(X) if hasattr(X, "__next__") else column_of_texts(X)


def check_real(X: Any, name: str = "X") -> None:
    """Raise ValueError for complex numbers, masked arrays and dates, which NumPy makes other numbers of."""
    if isinstance(X, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array; drop what is masked, or fill it, {name}.filled(…)")
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind == "c":
        raise ValueError(f"Complex data not supported; give real numbers, {name}.real, say")
    if kind in ("m", "M"):
        raise ValueError(f"{name} holds dates or times; give numbers, the days since some day, say")


def columns_of(X: Any, columns: Any) -> Any:
    """Parts of examples: columns of an array, a matrix or a frame; items of tuples, lists and dicts."""
    if hasattr(X, "loc") and hasattr(X, "columns"):  # a frame
        try:
            if isinstance(columns, str):
                return X[columns].to_numpy()
            names = isinstance(columns, list | tuple) and all(isinstance(c, str) for c in columns)
            return (X[list(columns)] if names else X.iloc[:, columns]).to_numpy()
        except (KeyError, IndexError, TypeError, ValueError):
            raise ValueError(
                f".on({shown(columns)}): the data frame has no such column; it has {shown(list(X.columns))}, which go "
                f"by name or by number, 0 to {len(X.columns) - 1}"
            ) from None
    if hasattr(X, "tocsr") or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object):
        rows = inspected(X).tocsr() if hasattr(X, "tocsr") else X
        try:
            return rows[:, [columns] if isinstance(columns, int) else columns]
        except (IndexError, TypeError, ValueError) as error:
            raise ValueError(
                f"X has {rows.shape[1]} columns, and .on({shown(columns)}) is not one of them ({error})"
            ) from None
    picked = []
    for i, x in enumerate(as_list(X)):
        try:
            picked.append([x[c] for c in columns] if isinstance(columns, list | tuple) else x[columns])
        except (KeyError, IndexError, TypeError):
            raise ExampleError(
                f"it has no part {columns!r}: it is of type {type(x).__name__!r}; give tuples, dicts or rows with such "
                "parts",
                i,
                kind="example",
            ) from None
    return picked
