"""How large the columns of a matrix are: a perceptron's steps are as large as its features."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from perceptive.features.vocabulary import Vocabulary, encode
from perceptive.streams.scaling import FAR_APART, FAR_APART_WHEN_FULL, told_of_sizes

LOOKED_AT = 2**15  # entries
TINY = 1e-20  # a number whose square is 0 in single precision, nearly: that of its inverse is infinite
PARTS = 16  # of sparse matrices, that these come from
FEWEST = 64  # rows of others, however long


def odd_sizes(X: Any, names: Sequence[str] | None = None, words: Collection[str] = ()) -> str | None:
    """What to say of columns that differ much in the root mean square of what is not 0, or are tiny or huge; else None.

    Much is 10³, and 10² where both columns of an array are seldom 0 and the smaller one is not constant. X is an array
    or a CSR matrix; of more than 2¹⁵ entries some from all over are looked at, about so many. ``words`` are
    columns whose ones stand for different words, so that they are not constant.

    Examples
    --------
    >>> print(odd_sizes(np.array([[0.1, 2000.0], [0.2, 3000.0]]), ["hue", "proline"]))
    column 'proline' is 16,125 times as large as column 'hue' and drowns it
    >>> print(odd_sizes(np.array([[1e-25, 2e-25]])))
    the largest number is 2e-25, and products of such numbers are beyond single precision
    """
    sparse = hasattr(X, "tocsr")
    values = _parts(X.data[: X.indptr[-1]]) if sparse else X[:: min(X.size // LOOKED_AT, X.shape[0] // FEWEST) + 1]
    largest, smallest = _extremes(values)
    if 0 < largest < TINY or 1 / TINY < largest < np.inf:
        return f"the largest number is {largest:.0e}, and products of such numbers are beyond single precision"
    least = FAR_APART if sparse else FAR_APART_WHEN_FULL
    if largest <= least * smallest:  # many matrices are done here, for a tenth of the work
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        columns = np.arange(X.shape[1])
        if sparse:
            columns, which = np.unique(_parts(X.indices[: X.indptr[-1]]), return_inverse=True)
            squares = np.bincount(which, np.square(values, dtype=np.float64), len(columns))
            counts = np.bincount(which, values != 0, len(columns))
        else:
            squares = np.square(values, dtype=np.float64).sum(axis=0)
            counts = np.count_nonzero(values, axis=0)
        sizes = np.sqrt(squares / np.maximum(counts, 1))
        full = np.zeros(len(columns), bool) if sparse else 2 * counts > len(values)
        varied = full if sparse else full & (values != values[0]).any(axis=0)
        if words and names is not None:
            varied = varied | (full & np.isin(np.array(names)[columns], list(words)))

    def shown(column: int) -> str:
        return str(columns[column]) if names is None else repr(names[columns[column]])

    return told_of_sizes(sizes, full, varied, shown)


def odd_sizes_of_dicts(rows: Sequence[Mapping[Any, Any]]) -> tuple[str, bool] | None:
    """What to say of the values of some dicts from all over, and whether there are words; None where nothing is odd.

    A word is a feature of size 1.

    Examples
    --------
    >>> odd_sizes_of_dicts([{"year": 1990, "colour": "red"}, {"year": 2010, "colour": "blue", "ripe": True}])
    ("column 'year' is 2,000 times as large as column 'colour' and drowns it", True)
    """
    some = rows[:: len(rows) * max(len(rows[0]), 1) // LOOKED_AT + 1]
    words: dict[str, Any] = {}
    varied: set[str] = set()
    found = []
    for row in some:
        numbers: dict[str, float] = {}
        for key, x in row.items():
            name = str(key)
            if type(x) is str:
                numbers[name] = 1.0
                varied |= {name} if words.setdefault(name, x) != x else set()
            elif type(x) in (int, float, np.float64, bool) and x == x:
                numbers[name] = x
        found.append(numbers)
    vocabulary = Vocabulary()
    indptr, indices, data = encode(found, vocabulary, grow=True)
    X: Any = sp.csr_array((data, indices, indptr), shape=(len(found), len(vocabulary)))
    X = X.toarray() if 2 * X.nnz > X.shape[0] * X.shape[1] else X
    said = odd_sizes(X, vocabulary.names(), varied)
    return None if said is None else (said, bool(words))


def _parts(entries: NDArray[Any]) -> NDArray[Any]:
    """All entries, or of many some that lie side by side, from all over: to slice the rows would take far longer."""
    length, rest = LOOKED_AT // PARTS, len(entries) - LOOKED_AT // PARTS
    if len(entries) <= LOOKED_AT:
        return entries
    return np.concatenate([entries[i : i + length] for i in range(0, rest + 1, rest // (PARTS - 1))])


def _extremes(X: Any) -> tuple[float, float]:
    """The largest |x|, and the smallest that is not 0; floats without a sign are in the order of their bits."""
    whole: Any = np.uint32 if X.dtype == np.float32 else np.uint64
    bits = X.view(whole) & whole(np.iinfo(whole).max >> 1)
    ends = np.array([bits.max(initial=0), (bits - whole(1)).min(initial=np.iinfo(whole).max)], whole)  # 0 wraps around
    largest, smallest = (ends + np.array([0, 1], whole)).view(X.dtype).tolist()
    return largest, smallest
