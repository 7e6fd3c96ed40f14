"""Kernels of a different view of each example: of the result of a function, or of a part."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from perceptive.content import shown
from perceptive.kernels.algebra import OfOne, factor
from perceptive.kernels.examples import as_list, columns_of
from perceptive.kernels.kernel import Kernel


class _Elsewhere(OfOne):
    """A kernel of what becomes of each example."""

    pairwise = False

    def feature_map(self, X: Any) -> Any:
        return self.k.feature_map(self.moved(X))


class After(_Elsewhere):
    """k(φ(x), φ(x'))."""

    vectors = False

    def __init__(self, k: Kernel, phi: Callable[[Any], Any]) -> None:
        self.k, self.phi = k, phi
        check_callable("after", phi)

    @property
    def view(self) -> Hashable:
        return ("after", self.phi, self.k.view)

    def moved(self, X: Any) -> Any:
        return [self.phi(x) for x in as_list(X)]

    def __repr__(self) -> str:
        return f"{factor(self.k)}.after({shown(self.phi)})"


class On(_Elsewhere):
    """k of a part of each example."""

    def __init__(self, k: Kernel, columns: Any) -> None:
        if hasattr(columns, "tolist") and (np.ndim(columns) == 0 or np.asarray(columns).dtype.kind in "OSU"):
            columns = columns.tolist()  # one number of NumPy's, or names
        self.k, self.columns = k, columns

    @property
    def vectors(self) -> bool:  # type: ignore[override]
        several = isinstance(self.columns, slice) or (
            isinstance(self.columns, list | tuple | np.ndarray) and not any(isinstance(c, str) for c in self.columns)
        )
        return self.k.vectors and several

    @property
    def view(self) -> Hashable:
        plain = isinstance(self.columns, str | int | slice | list | tuple)
        columns = self.columns if plain else np.asarray(self.columns).tolist()  # NumPy's own repr leaves out the middle
        return ("on", repr(columns), self.k.view)

    def moved(self, X: Any) -> Any:
        return columns_of(X, self.columns)

    def __repr__(self) -> str:
        return f"{factor(self.k)}.on({self.columns!r})"


def check_callable(what: str, f: Any) -> None:
    """Raise TypeError if it is not a function."""
    if not callable(f):
        raise TypeError(f"{what}({shown(f)}): give a function of one example")
