"""Warnings about columns, and values of tokens: numbers much larger than the others, and texts treated as words.

`FirstExamples` is what is looked at where examples come bit by bit, to warn once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from perceptive.data.rows import is_dicts
from perceptive.data.token_values import BOTH, kind_of
from perceptive.errors import ScaleWarning, warn_caller
from perceptive.features.vocabulary import Vocabulary, encode
from perceptive.streams.file_format import INDEX
from perceptive.streams.first_lines import ROWS, by_column, index_column, text_among, told_of_index, told_of_text
from perceptive.streams.scaling import FAR_APART, FAR_APART_WHEN_FULL, told_of_sizes

SCALER = "scale X first, by sklearn.preprocessing.StandardScaler (files: scale='standard')"
SENTENCES = 200  # that are looked at, from all over
DIVIDE = "divide it by such a number"
FRAME = f"{DIVIDE}, or give a data frame to fit, which scales the numbers beside words"
VECTORIZER = f"{DIVIDE}, or scale X first, by sklearn's DictVectorizer(sparse=False) and StandardScaler"
ENOUGH = 100  # examples
LOOKS = (10, 30, ENOUGH)  # how many there are when they are looked at
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
            elif isinstance(x, int | float | np.number | np.bool_) and x == x:
                numbers[name] = float(x)
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


def warn_of_columns(X: Any, names: Sequence[str] | None, scaled: bool) -> bool:
    """Warn about unscaled columns that differ much in size, and about columns of text; return whether sizes differ.

    Parameters
    ----------
    X : array, CSR matrix, or list of dicts
    names : sequence of str or None
        Names of the columns of a matrix.
    scaled : bool
        Whether the numbers of dicts are scaled.
    """
    warned = not (scaled and is_dicts(X)) and warn_of_sizes(X, names)
    if not is_dicts(X):
        if _is_matrix(X) and names is not None and (index := _index_among(X, names)) is not None:
            warn_caller(f"{told_of_index(index)}; drop it, or rename it if it is a feature")
        return warned
    text = text_among(by_column(X))
    if text is not None:
        opened = f"fit_stream(streams.open(path, text_column={text!r}))"
        warn_caller(f"{told_of_text(text)}; read it as text, by {opened} or HashedText in a ColumnTransformer")
    return warned


def warn_of_sizes(X: Any, names: Sequence[str] | None) -> bool:
    """Warn about columns that differ much in size; return whether they do."""
    if is_dicts(X):
        odd = odd_sizes_of_dicts(X)
        said = None if odd is None else f"{odd[0]}; {FRAME if odd[1] else VECTORIZER}"
    else:
        sizes = odd_sizes(X, names) if _is_matrix(X) else None
        said = None if sizes is None else f"{sizes}; {SCALER}"
    if said is not None:
        warn_caller(ScaleWarning(said))
    return said is not None


def warn_of_values(X: Sequence[Sequence[Any]]) -> None:
    """Warn about named values of tokens that differ much in size; a word beside them is of size 1."""
    found: list[dict[Any, Any]] = []
    for x in X[:: len(X) // SENTENCES + 1]:
        for token in x:
            if isinstance(token, Mapping):
                found.append(dict(token))
            elif kind_of(token) == BOTH:
                found.append({"word": token[0], **_values_of(token[-1])})
    odd = odd_sizes_of_dicts(found) if found else None
    if odd is not None:
        warn_caller(ScaleWarning(f"{odd[0]}; {DIVIDE}"))


def _values_of(beside: Any) -> Mapping[Any, Any]:
    """Values by name, or a vector as one of its size."""
    if isinstance(beside, Mapping):
        return beside
    return {"vector": float(np.sqrt(np.mean(np.square(beside))))} if len(beside) else {}


def _is_matrix(X: Any) -> bool:
    return getattr(X, "ndim", 0) == 2 and getattr(X, "dtype", None) in (np.float32, np.float64)


def _index_among(X: Any, names: Sequence[str]) -> str | None:
    """The column of a matrix that only numbers the rows; None where there is none."""
    found = {name: X[:ROWS, i] for i, name in enumerate(map(str, names)) if name in INDEX and not hasattr(X, "tocsr")}
    return index_column({name: [f"{x:g}" if x % 1 else str(int(x)) for x in some] for name, some in found.items()})


class FirstExamples:
    """The first examples of a learner. Copies are kept until the last look, or a warning.

    Examples
    --------
    >>> import warnings
    >>> first = FirstExamples(None)
    >>> with warnings.catch_warnings(record=True) as said:
    ...     done = [first.look([{"hue": i / 10, "proline": 1000 + i}]) for i in range(10)]
    >>> done[-2:], str(said[0].message)[:50]
    ([False, True], "column 'proline' is 1,785 times as large as column")
    """

    def __init__(self, learner: Any) -> None:
        self.learner, self.n = learner, 0
        self.parts: list[Any] = []

    def look(self, X: Any, names: Sequence[str] | None = None) -> bool:
        """Add examples, dicts or rows of numbers; return whether all has been said."""
        before = self.n
        try:
            self.parts.append(_copied(X, ENOUGH - before))
            self.n += self.parts[-1].shape[0] if hasattr(self.parts[-1], "shape") else len(self.parts[-1])
            if not any(before < n <= self.n for n in LOOKS):
                return False
            return warn_of_sizes(_joined(self.parts), names) or self.n >= ENOUGH
        except (TypeError, ValueError):  # no numbers, or of several lengths: others judge that
            return True


def _copied(X: Any, n: int) -> Any:
    """The first n examples, which the caller may change later."""
    if is_dicts(X):
        return [dict(row) for row in X[:n]]
    if isinstance(X, list | tuple) and X and hasattr(X[0], "tocsr"):
        X = sp.vstack(X[:n])
    if hasattr(X, "tocsr"):
        return X.tocsr()[:n].astype(np.float64)
    X = np.asarray(X)[:n]
    if X.dtype.kind not in "biuf":
        raise TypeError("no numbers")
    return np.array(X, np.float64, ndmin=2)


def _joined(parts: list[Any]) -> Any:
    if isinstance(parts[0], list):
        return [row for part in parts for row in part]
    return sp.vstack(parts, format="csr") if hasattr(parts[0], "tocsr") else np.vstack(parts)
