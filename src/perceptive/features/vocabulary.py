"""Named features: which index a name has, and dicts of features as sparse rows."""

import contextlib
import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive._core import StringTable

__all__ = ["Vocabulary", "encode"]

MAX_NAMES = 2**31 - 1  # indices are int32
LARGEST = np.finfo(np.float64).max.item()


class _Indices(dict[str, int]):
    """The names met so far. A missing one is looked for among the stored ones, and remembered if found."""

    def __init__(self, stored: StringTable) -> None:
        self.stored = stored
        self.any_stored = len(stored) > 0

    def __missing__(self, name: str) -> int:
        if not self.any_stored:
            return -1
        index = self.stored.find(name)
        if index >= 0:
            self[name] = index
        return index


class Vocabulary:
    """Feature names, numbered in the order of their arrival.

    A vocabulary that comes from a model file stays there: names are looked up in the file's own hash table,
    so that 300,000 of them are ready in a millisecond. Later additions are kept in a dict on top.

    Parameters
    ----------
    names : iterable of str
        The first names.

    Examples
    --------
    >>> from perceptive.features.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary(["red", "green"])
    >>> vocabulary.add("blue"), vocabulary.add("red"), vocabulary.index("pink")
    (2, 0, -1)
    >>> Vocabulary.from_arrays(**vocabulary.to_arrays()).names()
    ['red', 'green', 'blue']
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._store(np.empty(0, np.uint8), np.zeros(1, np.int64), np.full(1, -1, np.int32))
        for name in names:
            self.add(name)

    def _store(self, blob: NDArray[np.uint8], offsets: NDArray[np.int64], table: NDArray[np.int32]) -> None:
        self._arrays: dict[str, NDArray[Any]] = {"blob": blob, "offsets": offsets, "table": table}
        self._stored = StringTable(blob, offsets, table)
        self._n_stored = len(self._stored)
        self._indices = _Indices(self._stored)
        self._added: list[str] = []

    def __len__(self) -> int:
        return self._n_stored + len(self._added)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._indices[name] >= 0

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self)} names>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary.from_arrays, tuple(self.to_arrays().values())

    def names_met(self) -> tuple[dict[str, int], list[str], int]:
        """What the core needs to number names itself: those met so far, the added ones, and how many came before."""
        return self._indices, self._added, self._n_stored

    def index(self, name: str) -> int:
        """The index of a name, or -1."""
        return self._indices[name]

    def add(self, name: str) -> int:
        """The index of a name, which becomes a new one if it is unknown."""
        index = self._indices[name]
        if index < 0:
            index = len(self)
            if index >= MAX_NAMES:
                raise ValueError(f"the vocabulary is full ({MAX_NAMES} names); hash the features instead")
            check_utf8(name)
            self._indices[name] = index
            self._added.append(name)  # last: Ctrl-C comes after a call
        return index

    def name(self, index: int) -> str:
        """The name with this index."""
        if not 0 <= index < len(self):
            raise IndexError(f"index {index} is outside a vocabulary of {len(self)} names")
        return self._stored.name(index) if index < self._n_stored else self._added[index - self._n_stored]

    def names(self) -> list[str]:
        """All names, in order."""
        return self._stored.names() + self._added

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The three arrays of `core/text/vocabulary.hpp`, for a model file.

        ``blob`` (uint8) holds the names in UTF-8 one after the other, ``offsets`` (int64) where each begins
        and the last one ends, ``table`` (int32) is a hash table of indices: a power of two of slots, at least
        two a name, -1 for a free one, linear probing from the name's FNV-1a hash, mixed as MurmurHash3 ends.
        """
        if not self._added:
            return dict(self._arrays)
        added = [name.encode() for name in self._added]
        blob = np.concatenate([self._arrays["blob"], np.frombuffer(b"".join(added), np.uint8)])
        lengths = np.fromiter(map(len, added), np.int64, len(added))
        offsets = np.concatenate([self._arrays["offsets"], len(self._arrays["blob"]) + np.cumsum(lengths)])
        table = np.empty(1 << (2 * len(self) - 1).bit_length(), np.int32)
        StringTable.build(blob, offsets, table)
        return {"blob": blob, "offsets": offsets, "table": table}

    @classmethod
    def from_arrays(cls, blob: NDArray[Any], offsets: NDArray[Any], table: NDArray[Any]) -> "Vocabulary":
        """The vocabulary that `to_arrays` took apart; keeps views of the arrays.

        Any arrays are safe to give: those that make no vocabulary raise ValueError, here or, for a name that
        is not UTF-8, when the name is asked for. Only whether each name stands at its place in the table is
        not checked; a name that does not is unknown.
        """
        _check("blob", blob, np.uint8)
        _check("offsets", offsets, np.int64)
        _check("table", table, np.int32)
        vocabulary = cls.__new__(cls)
        vocabulary._store(blob, offsets, table)
        return vocabulary

    def forget(self, size: int) -> None:
        """Take back the additions after the first `size` names."""
        keep = size - self._n_stored
        for name in self._added[keep:]:
            self._indices.pop(name, None)  # Ctrl-C may have come between the two
        del self._added[keep:]


def _check(what: str, array: NDArray[Any], dtype: type[np.generic]) -> None:
    sound = isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == 1
    if not sound or not (array.flags.c_contiguous and array.flags.aligned):
        raise ValueError(f"vocabulary: {what} must be a contiguous vector of {dtype.__name__}; save the model again")


def check_utf8(name: str) -> None:
    """Raise ValueError for a name that cannot be stored or hashed: one with a lone surrogate."""
    if not name.isascii():
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"the name {name!r} has no UTF-8 form ({error.reason}); repair the text") from None


def encode(
    dicts: Iterable[Mapping[Any, Any]], vocabulary: Vocabulary, grow: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Dicts of features as the rows of a sparse matrix.

    A number is the value of the feature it is named by (True is 1); a string v of the feature f is the
    feature ``f=v`` with value 1. Zeros are left out, and do not enter the vocabulary. Where two entries come
    to the same feature they are added up.

    Parameters
    ----------
    dicts : iterable of mappings
        Feature name to number or string. A name that is not a str is taken as ``str(name)``.
    vocabulary : Vocabulary
        Says which feature has which index.
    grow : bool
        Whether unknown features enter the vocabulary, or are left out.

    Returns
    -------
    indptr, indices, data : ndarray
        The matrix in CSR form (int32, int32, float64), indices ascending within each row.

    Raises
    ------
    ValueError
        For a value that is neither a finite number nor a string. The vocabulary is then as it was before.

    Examples
    --------
    >>> from perceptive.features.vocabulary import Vocabulary, encode
    >>> vocabulary = Vocabulary()
    >>> indptr, indices, data = encode([{"colour": "red", "size": 2.5}, {"size": 1}], vocabulary, grow=True)
    >>> vocabulary.names(), indptr.tolist(), indices.tolist(), data.tolist()
    (['colour=red', 'size'], [0, 2, 3], [0, 1, 1], [1.0, 2.5, 1.0])
    """
    size = len(vocabulary)
    try:
        return _encode(dicts, vocabulary, grow)
    except BaseException:
        vocabulary.forget(size)
        raise


def _encode(
    dicts: Iterable[Mapping[Any, Any]], vocabulary: Vocabulary, grow: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    # One dict of 15 features takes 4 to 6 µs. What is plain is told apart here, the rest goes to `_feature`.
    find = vocabulary._indices
    largest = LARGEST
    indptr = [0]
    indices: list[int] = []
    data: list[float] = []
    for features in dicts:
        if type(features) is not dict:
            _check_mapping(len(indptr) - 1, features)
        row: dict[int, float] = {}
        for name, value in features.items():
            if type(name) is not str:
                name = str(name)
            kind = type(value)
            if (kind is float or kind is int) and -largest <= value <= largest:
                pass
            elif kind is str:
                name, value = f"{name}={value}", 1.0
            else:
                name, value = _feature(len(indptr) - 1, name, value)
            if not value:
                continue
            index = find[name]
            if index < 0:
                if not grow:
                    continue
                try:
                    index = vocabulary.add(name)
                except ValueError as error:
                    raise ValueError(f"row {len(indptr) - 1}: feature {name!r}: {error}") from None
            if index in row:
                name, value = _feature(len(indptr) - 1, name, row.pop(index) + value)
                if not value:
                    continue
            row[index] = value
        ascending = sorted(row)
        indices += ascending
        data += map(row.__getitem__, ascending)
        indptr.append(len(indices))
    return np.array(indptr, np.int32), np.array(indices, np.int32), np.array(data, np.float64)


def named_features(row: int, features: Mapping[Any, Any]) -> list[tuple[str, float]]:
    """The features of one dict as `encode` understands them: names and finite numbers, without the zeros."""
    _check_mapping(row, features)
    pairs = [_feature(row, str(name), value) for name, value in features.items()]
    pairs = [(name, value) for name, value in pairs if value]
    for name, _ in pairs:
        try:
            check_utf8(name)
        except ValueError as error:
            raise ValueError(f"row {row}: feature {name!r}: {error}") from None
    return pairs


def _check_mapping(row: int, features: object) -> None:
    if not isinstance(features, Mapping):
        raise ValueError(f"row {row} is a {type(features).__name__}; give a dict of features")


def _feature(row: int, name: str, value: object) -> tuple[str, float]:
    """The feature and value of a dict's entry, for all that is not plainly a str or a finite number."""
    if isinstance(value, str):
        return f"{name}={value!s}", 1.0
    if isinstance(value, Real | np.bool_):
        with contextlib.suppress(OverflowError):  # an int beyond the largest float
            if math.isfinite(number := float(value)):
                return name, number
        raise ValueError(f"row {row}: feature {name!r} is not a finite number; leave it out, or repair it")
    raise ValueError(
        f"row {row}: feature {name!r} is a {type(value).__name__}; give a number or a string, or leave it out"
    )
