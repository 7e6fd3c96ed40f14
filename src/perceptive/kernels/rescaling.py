"""Kernels of a rescaled or shifted φ: f(x)·φ(x), φ(x)/‖φ(x)‖, φ(x) minus a mean."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.content import shown
from perceptive.errors import ExampleError
from perceptive.kernels.algebra import OfOne, factor
from perceptive.kernels.examples import Parts, as_list, copied, in_double, numbers
from perceptive.kernels.kernel import Kernel, Values
from perceptive.kernels.views import check_callable

IN_CACHE = 2**16  # numbers that are worked on at a time
TOLERANCE = 1e-8  # K(x, x) above −this × what it is a difference of counts as rounding


class ScaledBy(OfOne):
    """f(x)·k(x, x')·f(x')."""

    def __init__(self, k: Kernel, f: Callable[[Any], float]) -> None:
        self.k, self.f = k, f
        check_callable("scaled_by", f)

    @property
    def view(self) -> Hashable:
        return ("scaled by", self.f, self.k.view)

    def prepare(self, X: Any, dtype: Any = np.float64) -> Parts:
        return Parts([self.k.prepare(X, dtype), numbers(self._factors(X))])

    def _factors(self, X: Any) -> list[float]:
        factors = []
        for i, x in enumerate(as_list(X)):
            found = self.f(x)
            try:
                factors.append(float(found))
            except (TypeError, ValueError, OverflowError):
                factors.append(np.nan)
            if not np.isfinite(factors[-1]):
                said = f"f gives {shown(found)}; scaled_by needs finite numbers"
                raise ExampleError(said, i, kind="example")
        return factors

    def compare(self, A: Parts, B: Parts) -> Values:
        K = self.k.compare(A.parts[0], B.parts[0])
        return _scale(K, A.parts[1].array, B.parts[1].array)

    def norms(self, A: Parts) -> NDArray[np.float64]:
        return np.asarray(self.k.norms(A.parts[0]) * A.parts[1].array[:, 0] * A.parts[1].array[:, 0])

    def feature_map(self, X: Any) -> Any:
        factors, phi = np.array(self._factors(X))[:, None], self.k.feature_map(X)
        return phi.multiply(factors).tocsr() if hasattr(phi, "tocsr") else factors * phi

    def __repr__(self) -> str:
        return f"{factor(self.k)}.scaled_by({shown(self.f)})"


class _Derived(OfOne):
    """A kernel that needs a number of each example which only the kernel itself can tell, and no Gram matrix."""

    view = Kernel.view  # of its own: the numbers are
    _no_matrix: str  # why, and the cure

    def _check(self) -> None:
        if self.k.one_way:
            raise ValueError(f"{self!r}: a Gram matrix {self._no_matrix}")

    def _numbers(self, prepared: Any) -> NDArray[np.float64]:
        raise NotImplementedError

    def prepare(self, X: Any, dtype: Any = np.float64) -> Parts:
        self._check()  # parameters within may have changed
        prepared = self.k.prepare(X, dtype)
        return Parts([prepared, numbers(self._numbers(prepared))], derived=True)


class Normalized(_Derived):
    """k(x, x')/√(k(x, x)·k(x', x'))."""

    _no_matrix = (
        "of new examples with those of training has no K(x, x) of the new ones; "
        "divide the matrix by the lengths yourself, K / np.sqrt(np.outer(k.diag(X_new), k.diag(X_train)))"
    )

    def __init__(self, k: Kernel) -> None:
        self.k = k
        self._check()

    def _numbers(self, prepared: Any) -> NDArray[np.float64]:
        """1/√k(x, x)."""
        lengths = np.sqrt(np.maximum(self.k.norms(prepared), 0.0))
        return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    def compare(self, A: Parts, B: Parts) -> Values:
        one, two = A.parts[0], B.parts[0]
        if not (_is_mild(A.parts[1].array) and _is_mild(B.parts[1].array)):  # lengths that float32 may not hold
            one = in_double(one)
            two = one if A is B else in_double(two)
        return _scale(self.k.compare(one, two), A.parts[1].array, B.parts[1].array)

    def norms(self, A: Parts) -> NDArray[np.float64]:
        return np.asarray(A.parts[1].array[:, 0] > 0, dtype=np.float64)

    def __repr__(self) -> str:
        return f"{factor(self.k)}.normalized()"


class Centered(_Derived):
    """⟨φ(x) − φ̄, φ(x') − φ̄⟩, φ̄ the mean over X_ref."""

    _no_matrix = (
        "knows only the training examples; centre the matrix itself, with "
        "scikit-learn's KernelCenterer before this estimator"
    )

    def __init__(self, k: Kernel, X_ref: Any) -> None:
        self.k, self.X_ref = k, copied(X_ref)
        self._reference: tuple[Kernel, Any, float] | None = None  # prepared for this kernel, and the grand mean
        self._check()

    def _numbers(self, A: Any) -> NDArray[np.float64]:
        """Mean of k(x, r) over the reference, less half its grand mean."""
        from perceptive.kernels.gram import row_means

        if self._reference is None or self._reference[0] != self.k:  # its parameters may have changed
            prepared = self.k.prepare(self.X_ref, np.float64)
            grand = float(row_means(self.k, prepared, prepared).mean())
            self._reference = copy.copy(self.k), prepared, grand
        _, prepared, grand = self._reference
        return row_means(self.k, in_double(A), prepared) - grand / 2

    def compare(self, A: Parts, B: Parts) -> Values:
        one = in_double(A.parts[0])  # what is left may be small beside what is taken away
        K = self.k.compare(one, one if A is B else in_double(B.parts[0])).astype(np.float64, copy=False)
        for part, left, right in _in_cache(K, A.parts[1].array, B.parts[1].array):
            part -= left + right
        return K

    def norms(self, A: Parts) -> NDArray[np.float64]:
        lengths, means = self.k.norms(in_double(A.parts[0])), 2 * A.parts[1].array[:, 0]
        norms = np.asarray(lengths - means)
        rounding = (norms < 0) & (norms >= -TOLERANCE * np.maximum(np.abs(lengths), np.abs(means)))
        norms[rounding] = 0.0
        return norms

    def __repr__(self) -> str:
        return f"{factor(self.k)}.centered({shown(self.X_ref)})"


def _is_mild(inverse_lengths: Values) -> bool:
    """Whether K(x, x) is far from what float32 cannot hold."""
    some = inverse_lengths[inverse_lengths > 0]
    return bool(some.min(initial=1.0) > 1e-12 and some.max(initial=1.0) < 1e12)


def _in_cache(K: Values, left: Values, right: Values) -> Iterator[tuple[Values, Values, Values]]:
    """Some rows of K at a time, with their numbers in a column and those of the columns in a row.

    What is made of the latter two is commutative, and so a symmetric K stays symmetric to the bit.
    """
    rows = max(1, IN_CACHE // max(1, K.shape[1]))
    for i in range(0, len(K), rows):
        yield K[i : i + rows], left[i : i + rows], right.T


def _scale(K: Values, left: Values, right: Values) -> Values:
    """K_ij·(l_i·r_j), in place."""
    largest = float(np.abs(left).max(initial=0.0) * np.abs(right).max(initial=0.0))
    smallest = float(np.abs(left).min(initial=1.0, where=left != 0) * np.abs(right).min(initial=1.0, where=right != 0))
    if largest < np.finfo(K.dtype).max and smallest > np.finfo(K.dtype).tiny:
        for part, mine, theirs in _in_cache(K, left.astype(K.dtype), right.astype(K.dtype)):
            part *= mine * theirs
        return K
    (left, up), (right, more) = np.frexp(left), np.frexp(right)  # the products alone may overflow
    for (part, mine, theirs), (_, e, f) in zip(_in_cache(K, left, right), _in_cache(K, up, more), strict=True):
        part *= mine * theirs
        np.ldexp(part, e + f, out=part)
    return K
