"""Kernels that people bring: any function of two examples, and a Gram matrix made beforehand."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.kernels.examples import Dense, Objects, Parts, as_list, numbers
from perceptive.kernels.kernel import Kernel, Values

SYMMETRY = 1e-6  # of the values' size


class Custom(Kernel):
    """f(x, x') for any two objects. Symmetry is checked where both orders are at hand, and NaN always.

    Parameters
    ----------
    f : callable of two examples
    name : str or None
        Under which a saved model asks for f again; the function's own name where None.

    Examples
    --------
    >>> from perceptive.kernels import Custom
    >>> Custom(lambda a, b: len(set(a) & set(b))).value("abc", "bcd")
    2.0
    """

    def __init__(self, f: Callable[[Any, Any], float], name: str | None = None) -> None:
        self.f, self.name = f, name
        if not callable(f):
            raise TypeError(f"Custom({f!r}): give a function of two examples")

    @property
    def label(self) -> str:
        """The name that a saved model knows the function by."""
        return str(self.name or getattr(self.f, "__name__", type(self.f).__name__))

    @property
    def view(self) -> Hashable:
        return "objects"

    def prepare(self, X: Any, dtype: Any = np.float64) -> Objects:
        return Objects(as_list(X))

    def compare(self, A: Objects, B: Objects) -> Values:
        K = np.empty((len(A), len(B)))
        places: dict[int, int] = {id(b): j for j, b in enumerate(B.items)}
        for i, a in enumerate(A.items):
            for j, b in enumerate(B.items):
                K[i, j] = self._value(a, b)
            self_place = places.get(id(a))
            if self_place is not None and len(B) > 1:  # one pair a row, the other way round
                other = (self_place + 1) % len(B)
                self._check_symmetric(a, B.items[other], K[i, other])
        return K

    def norms(self, A: Objects) -> NDArray[np.float64]:
        return np.array([self._value(a, a) for a in A.items], dtype=np.float64)

    def _value(self, a: Any, b: Any) -> float:
        value = float(self.f(a, b))
        if not np.isfinite(value):
            raise ValueError(
                f"the kernel {self.label} gives {value} for the pair {_shown(a)}, {_shown(b)}; mend it there"
            )
        return value

    def _check_symmetric(self, a: Any, b: Any, value: float) -> None:
        back = self._value(b, a)
        if abs(back - value) > SYMMETRY * max(abs(value), abs(back)):
            raise ValueError(
                f"the kernel {self.label} is not symmetric: {value:g} for the pair {_shown(a)}, {_shown(b)}, but "
                f"{back:g} the other way round"
            )

    def __repr__(self) -> str:
        return f"Custom({self.label})"


class Precomputed(Kernel):
    """Rows of a Gram matrix: ``fit`` gets K of the training examples, ``predict`` K of new ones with these."""

    one_way = True

    @property
    def view(self) -> Hashable:
        return "precomputed"

    def prepare(self, X: Any, dtype: Any = np.float64) -> Parts:
        rows = np.ascontiguousarray(X, dtype=dtype)
        if rows.ndim != 2:
            raise ValueError(f"a precomputed Gram matrix has two dimensions, not {rows.ndim}")
        if not np.isfinite(rows).all():
            i, j = np.argwhere(~np.isfinite(rows))[0]
            raise ValueError(f"the Gram matrix has {rows[i, j]} at [{i}, {j}]; mend the kernel that made it")
        return Parts([Dense(rows), numbers(np.arange(len(rows)))])

    def compare(self, A: Parts, B: Parts) -> Values:
        index = B.parts[1].array[:, 0].astype(np.int64)
        rows = A.parts[0].array
        if len(index) and index.max() >= rows.shape[1]:
            raise ValueError(f"the Gram matrix has {rows.shape[1]} columns; give one for each training example")
        return np.ascontiguousarray(rows[:, index])

    def norms(self, A: Parts) -> NDArray[np.float64]:
        index = A.parts[1].array[:, 0].astype(np.int64)
        return np.asarray(A.parts[0].array[np.arange(len(index)), index], dtype=np.float64)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
