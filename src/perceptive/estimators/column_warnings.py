"""Warnings about columns: numbers much larger than the others, and texts treated as words.

`FirstExamples` is what is looked at where examples come bit by bit, to warn once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptive.data.column_sizes import odd_sizes, odd_sizes_of_dicts
from perceptive.data.rows import is_dicts
from perceptive.errors import ScaleWarning, warn_caller
from perceptive.streams.file_format import INDEX
from perceptive.streams.first_lines import ROWS, by_column, index_column, text_among, told_of_index, told_of_text

SCALER = "scale X first, by sklearn.preprocessing.StandardScaler (files: scale='standard')"
DIVIDE = "divide it by such a number"
FRAME = f"{DIVIDE}, or give a data frame to fit, which scales the numbers beside words"
VECTORIZER = f"{DIVIDE}, or scale X first, by sklearn's DictVectorizer(sparse=False) and StandardScaler"
ENOUGH = 100  # examples
LOOKS = (10, 30, ENOUGH)  # how many there are when they are looked at


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
