"""All ways to make new kernels from given ones that keep them positive semidefinite.

If k, k₁, k₂ are valid kernels, so are these (Bishop 2006, 6.13 to 6.22; `Techniques for Constructing Kernels` in the
notes)::

    c * k                 c ≥ 0               k1 + k2              k1 * k2          k ** p, p = 1, 2, …
    k.polynomial(a)       Σ a_j k^j, a_j ≥ 0  k.exp()              k.scaled_by(f)   f(x)·k·f(x')
    k.after(phi)          k(φ(x), φ(x'))      k.on(columns)        on a part of each example
    k.normalized()        k/√(k(x,x)k(x',x')) k.centered(X)        in feature space, about the mean of X

This module has those that use only values; `rescaling` has scaled_by, normalized and centered, `views` after and on.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.content import shown
from perceptive.kernels.examples import Objects, Parts
from perceptive.kernels.feature_maps import check_size
from perceptive.kernels.kernel import Kernel, Values, number


class OfOne(Kernel):
    """A kernel made from another one: a function of its values, of examples that are moved before, or of both."""

    k: Kernel

    @property
    def vectors(self) -> bool:  # type: ignore[override]
        return self.k.vectors

    @property
    def view(self) -> Hashable:
        return self.k.view

    def prepare(self, X: Any, dtype: Any = np.float64) -> Any:
        return self.k.prepare(self.moved(X), dtype)

    def compare(self, A: Any, B: Any) -> Values:
        return self._apply(self.k.compare(A, B))

    def norms(self, A: Any) -> NDArray[np.float64]:
        return self._apply(self.k.norms(A))

    def _apply(self, K: Values) -> Values:
        return K


class Constant(Kernel):
    """c for any two examples; c ≥ 0."""

    vectors = True
    view = "anything"

    def __init__(self, c: float = 1.0) -> None:
        self.c = c
        _check_not_negative(c, "a constant kernel")

    def prepare(self, X: Any, dtype: Any = np.float64) -> Any:
        return Objects([None] * _number_of(X))

    def compare(self, A: Any, B: Any) -> Values:
        return np.full((len(A), len(B)), float(self.c))

    def norms(self, A: Any) -> NDArray[np.float64]:
        return np.full(len(A), float(self.c))

    def feature_map(self, X: Any) -> Any:
        return np.full((_number_of(X), 1), float(self.c) ** 0.5)

    def __repr__(self) -> str:
        return f"Constant({self.c!r})"


class Scaled(OfOne):
    """c·k, c ≥ 0."""

    def __init__(self, c: float, k: Kernel) -> None:
        self.c, self.k = c, k
        _check_not_negative(c, "the factor of a kernel")

    def _apply(self, K: Values) -> Values:
        K *= K.dtype.type(self.c)
        return K

    def feature_map(self, X: Any) -> Any:
        return float(self.c) ** 0.5 * self.k.feature_map(X)

    def __repr__(self) -> str:
        return f"{self.c!r} * {factor(self.k)}"


class Power(OfOne):
    """k to the power of a positive integer; other powers are not positive semidefinite."""

    def __init__(self, k: Kernel, p: int) -> None:
        self.k, self.p = k, p
        if not isinstance(p, Integral) or isinstance(p, bool) or p < 1:
            raise ValueError(
                f"k ** {shown(p)}: the power must be 1, 2, 3, …; others do not keep a kernel positive semidefinite"
            )

    def _apply(self, K: Values) -> Values:
        return integer_power(K, int(self.p))

    def feature_map(self, X: Any) -> Any:
        phi = one = self.k.feature_map(X)
        features = 1
        for _ in range(int(self.p) if one.shape[1] > 1 else 1):
            features *= one.shape[1]
            check_size(one.shape[0], features)  # before the first of these products is made
        for _ in range(int(self.p) - 1):
            phi = _products(phi, one)
        return phi

    def __repr__(self) -> str:
        return f"{factor(self.k)} ** {self.p}"


class PolynomialOf(OfOne):
    """Σ a_j k^j with a_j ≥ 0."""

    def __init__(self, k: Kernel, coefficients: Sequence[float]) -> None:
        self.k, self.coefficients = k, coefficients
        if np.ndim(coefficients) != 1:
            raise TypeError(f"polynomial({shown(coefficients)}): give a list of coefficients, [a₀, a₁, …]")
        for j, a in enumerate(coefficients):
            _check_not_negative(a, f"coefficient {j} of a polynomial of a kernel")
        if len(coefficients) == 0:
            raise ValueError("a polynomial needs at least one coefficient; give [a₀, a₁, …]")

    def _apply(self, K: Values) -> Values:
        total = np.full_like(K, self.coefficients[-1])
        for a in reversed(self.coefficients[:-1]):  # Horner
            total *= K
            total += K.dtype.type(a)
        return total

    def __repr__(self) -> str:
        return f"{factor(self.k)}.polynomial({list(self.coefficients)!r})"


class Exponential(OfOne):
    """e^k."""

    def __init__(self, k: Kernel) -> None:
        self.k = k

    def _apply(self, K: Values) -> Values:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(K, out=K))

    def __repr__(self) -> str:
        return f"{factor(self.k)}.exp()"


class Pair(Kernel):
    """A function of the values of two kernels."""

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1, self.k2 = k1, k2
        for k in (k1, k2):
            if not isinstance(k, Kernel):
                raise TypeError(f"{k!r} is not a kernel; wrap a function of two examples in Custom")

    @property
    def vectors(self) -> bool:  # type: ignore[override]
        return self.k1.vectors and self.k2.vectors

    @property
    def shared(self) -> bool:
        """Whether both use the same view of an example."""
        return self.k1.view == self.k2.view

    @property
    def view(self) -> Hashable:
        one, two = self.k1.view, self.k2.view
        return one if one == two else (one, two)

    def prepare(self, X: Any, dtype: Any = np.float64) -> Any:
        if self.shared:
            return self.k1.prepare(X, dtype)
        return Parts([self.k1.prepare(X, dtype), self.k2.prepare(X, dtype)])

    def compare(self, A: Any, B: Any) -> Values:
        (a1, a2), (b1, b2) = self._seen(A), self._seen(B)
        return self._join(self.k1.compare(a1, b1), self.k2.compare(a2, b2))

    def norms(self, A: Any) -> NDArray[np.float64]:
        one, two = self._seen(A)
        return self._join(self.k1.norms(one), self.k2.norms(two))

    def _seen(self, A: Any) -> tuple[Any, Any]:
        """Prepared examples as each of the two sees them."""
        return (A, A) if self.shared else A.parts

    def _join(self, one: Values, two: Values) -> Values:
        raise NotImplementedError


class Sum(Pair):
    """k₁ + k₂."""

    def _join(self, one: Values, two: Values) -> Values:
        return np.add(one, two, out=one)

    def feature_map(self, X: Any) -> Any:
        both = [self.k1.feature_map(X), self.k2.feature_map(X)]
        if any(hasattr(phi, "tocsr") for phi in both):
            import scipy.sparse as sp

            return sp.hstack([sp.csr_array(phi) for phi in both], format="csr")
        return np.hstack(both)

    def __repr__(self) -> str:
        return f"{self.k1!r} + {self.k2!r}"


class Product(Pair):
    """k₁·k₂."""

    def _join(self, one: Values, two: Values) -> Values:
        return np.multiply(one, two, out=one)

    def feature_map(self, X: Any) -> Any:
        return _products(self.k1.feature_map(X), self.k2.feature_map(X))

    def __repr__(self) -> str:
        return f"{factor(self.k1)} * {factor(self.k2)}"


def integer_power(K: Values, p: int) -> Values:
    """K^p in place, by squaring."""
    if p == 1:
        return K
    rest = None
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # the values are checked where they are used
        while p > 1:
            if p % 2:
                rest = K.copy() if rest is None else np.multiply(rest, K, out=rest)
            K *= K
            p //= 2
        if rest is not None:
            K *= rest
    return K


def _products(one: Any, two: Any) -> Any:
    """All products of a feature of one with a feature of two, row by row."""
    check_size(one.shape[0], one.shape[1] * two.shape[1])
    one, two = (phi.toarray() if hasattr(phi, "tocsr") else np.asarray(phi) for phi in (one, two))
    return (one[:, :, None] * two[:, None, :]).reshape(len(one), -1)


def _number_of(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _check_not_negative(c: Any, what: str) -> None:
    if not 0 <= number(c) < np.inf:
        raise ValueError(f"{what} is {shown(c)}; it must be a number ≥ 0, or the result is not positive semidefinite")


def factor(k: Kernel) -> str:
    """A kernel as it stands before a sign that binds closely."""
    text = repr(k)
    return f"({text})" if isinstance(k, Sum | Product | Scaled | Power) else text
