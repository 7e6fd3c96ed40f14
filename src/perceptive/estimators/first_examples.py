"""`FirstExamples`: what is looked at where examples come bit by bit, to warn once about their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptive.data.rows import is_dicts
from perceptive.estimators.column_warnings import warn_of_sizes

ENOUGH = 100  # examples
LOOKS = (10, 30, ENOUGH)  # how many there are when they are looked at


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
