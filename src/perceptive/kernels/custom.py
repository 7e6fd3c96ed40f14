"""The user's own kernels: any function of two examples, and a precomputed Gram matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.content import shown
from perceptive.kernels.examples import Dense, Objects, Parts, as_list, check_real, numbers
from perceptive.kernels.kernel import Kernel, Values
from perceptive.named_functions import name_of

SYMMETRY = 1e-6  # of the values' size


def check_symmetric(K: NDArray[Any]) -> None:
    """Raise ValueError where a Gram matrix is not symmetric, up to what rounding leaves of its largest value."""
    kind = K.dtype if K.dtype.kind == "f" else np.dtype(np.float64)
    rounding = max(SYMMETRY, float(np.finfo(kind).eps) ** 0.5) * max(abs(float(K.max())), abs(float(K.min())))
    for i, row in enumerate(K):
        apart = np.abs(row[i + 1 :].astype(np.float64) - K[i + 1 :, i]) > rounding
        if apart.any():
            j = i + 1 + int(np.argmax(apart))
            raise ValueError(
                f"the Gram matrix is not symmetric: {K[i, j]:g} at [{i}, {j}], but {K[j, i]:g} at [{j}, {i}]; repair "
                "the kernel that made it, or give (K + K.T) / 2"
            )


def _some_pairs(n: int, m: int) -> set[tuple[int, int]]:
    """Up to three pairs a row, one in eight of many: spread evenly over rows and columns by the golden ratio."""
    total = min(3 * n, 3 + n * m // 8) if m else 0
    places = ((k + 0.5) * (5**0.5 - 1) / 2 % 1 * n * m for k in range(total))
    return {divmod(int(place), m) for place in places}


class Custom(Kernel):
    """f(x, x') for any two objects. Symmetry is checked for all pairs of one set and some pairs of two; NaN always.

    Parameters
    ----------
    f : callable of two examples
    name : str or None
        The name by which a saved model asks for f again; None: the function's own name.

    Examples
    --------
    >>> from perceptive.kernels import Custom
    >>> Custom(lambda a, b: len(set(a) & set(b))).value("abc", "bcd")
    2.0
    """

    view = "objects"

    def __init__(self, f: Callable[[Any, Any], float], name: str | None = None) -> None:
        self.f, self.name = f, name
        self.checks = True  # symmetry
        if not callable(f):
            raise TypeError(f"Custom({f!r}): give a function of two examples")

    @property
    def label(self) -> str:
        """The name of the function in a saved model."""
        return str(self.name or name_of(self.f))

    def prepare(self, X: Any, dtype: Any = np.float64) -> Objects:
        return Objects(as_list(X))

    def compare(self, A: Objects, B: Objects) -> Values:
        K = np.empty((len(A), len(B)))
        if A is B:
            return self._compare_all(A, K)
        for i, a in enumerate(A.items):
            for j, b in enumerate(B.items):
                K[i, j] = self._value(a, b)
        for i, j in _some_pairs(len(A), len(B)):  # the other way round
            a, b = A.items[i], B.items[j]
            if a is not b:
                self._check_symmetric(a, b, K[i, j], self._value(b, a))
        return K

    def _compare_all(self, A: Objects, K: Values) -> Values:
        """All pairs of one set, in both orders, each held against the other."""
        for i, a in enumerate(A.items):
            for j, b in enumerate(A.items):
                K[i, j] = self._value(a, b)
            for j in np.flatnonzero(K[i, :i] != K[:i, i]).tolist():
                self._check_symmetric(a, A.items[j], K[i, j], K[j, i])
            if self.checks:  # what is left is rounding
                K[:i, i] = K[i, :i]
        return K

    def norms(self, A: Objects) -> NDArray[np.float64]:
        return np.array([self._value(a, a) for a in A.items], dtype=np.float64)

    def _value(self, a: Any, b: Any) -> float:
        """f of one pair; raises ValueError where that is not a finite number."""
        found = self.f(a, b)
        try:
            value = float(found)
        except (TypeError, ValueError, OverflowError):
            pair = f"{shown(a)}, {shown(b)}"
            raise ValueError(
                f"the kernel {self.label} gives {shown(found)} for the pair {pair}; it must give a number"
            ) from None
        if not np.isfinite(value):
            raise ValueError(
                f"the kernel {self.label} gives {value} for the pair {shown(a)}, {shown(b)}; repair it there"
            )
        return value

    def _check_symmetric(self, a: Any, b: Any, value: float, back: float) -> None:
        if self.checks and abs(back - value) > SYMMETRY * max(abs(value), abs(back)):
            raise ValueError(
                f"the kernel {self.label} is not symmetric: {value:g} for the pair {shown(a)}, {shown(b)}, but "
                f"{back:g} the other way round"
            )

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self.f == other.f and self.label == other.label)  # a loaded one has its function's name

    __hash__ = Kernel.__hash__

    def __repr__(self) -> str:
        return f"Custom({self.label})"


class Precomputed(Kernel):
    """Rows of a Gram matrix: ``fit`` takes K of the training examples, ``predict`` K of new examples with these.

    It cannot be normalized or centered here, because K(x, x) of new examples is unknown: do so before.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import KernelCenterer
    >>> from perceptive import KernelClassifier
    >>> model = make_pipeline(KernelCenterer(), KernelClassifier(kernel="precomputed"))
    >>> model.fit([[4, 2, 0], [2, 3, 1], [0, 1, 5]], [0, 0, 1]).predict([[3, 3, 1]])
    array([0])
    """

    one_way = True
    pairwise = True
    view = "precomputed"

    def prepare(self, X: Any, dtype: Any = np.float64) -> Parts:
        check_real(X)
        rows = np.ascontiguousarray(X, dtype=dtype)
        if rows.ndim != 2:
            raise ValueError(f"a precomputed Gram matrix has two dimensions, not {rows.ndim}")
        if not np.isfinite(rows).all():
            i, j = np.argwhere(~np.isfinite(rows))[0]
            raise ValueError(f"the Gram matrix has {rows[i, j]} at [{i}, {j}]; repair the kernel that made it")
        return Parts([Dense(rows), numbers(np.arange(len(rows)))])

    def compare(self, A: Parts, B: Parts) -> Values:
        index = B.parts[1].array[:, 0].astype(np.int64)
        rows = A.parts[0].array
        if len(index) and index.max() >= rows.shape[1]:
            raise ValueError(f"the Gram matrix has {rows.shape[1]} columns; give one for each training example")
        return np.ascontiguousarray(rows[:, index])

    def norms(self, A: Parts) -> NDArray[np.float64]:
        index, rows = A.parts[1].array[:, 0].astype(np.int64), A.parts[0].array
        if len(index) and index.max() >= rows.shape[1]:
            raise ValueError(
                f"the Gram matrix has {rows.shape[1]} columns, and so no K(x, x) of example {int(index.max())}; give "
                "the square matrix of the training examples"
            )
        return np.asarray(rows[np.arange(len(index)), index], dtype=np.float64)
