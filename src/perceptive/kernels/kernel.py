"""`Kernel`: the base class of all kernels."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptive.content import digest, shown
from perceptive.kernels.examples import listed
from perceptive.sparse import inspected

Values = NDArray[Any]


class Kernel:
    """A positive semidefinite function of two examples.

    A kernel is a value: its parameters define it, `repr` shows them, and equal parameters make equal kernels.
    `get_params` and `set_params` are those of scikit-learn, so that a search can vary ``kernel__gamma``.

    Subclasses prepare examples (`prepare`), compare many with many (`compare`), and each with itself (`norms`).
    """

    vectors = False  # whether examples are rows of numbers
    bounded = False  # whether no value of K is above 1, whatever the examples

    # ------------------------------------------------------------ what a kernel is

    def prepare(self, X: Any, dtype: Any = np.float64) -> Any:
        """Check examples, and convert them to the form for `compare`."""
        raise NotImplementedError

    def compare(self, A: Any, B: Any) -> Values:
        """Return K between all prepared examples of A and all of B."""
        raise NotImplementedError

    def norms(self, A: Any) -> NDArray[np.float64]:
        """Return K(x, x) of prepared examples."""
        raise NotImplementedError

    @property
    def one_way(self) -> bool:
        """Whether `compare` takes new examples only on the left, and training examples only on the right."""
        return any(kernel.one_way for _, kernel in self.kernels())

    @property
    def pairwise(self) -> bool:
        """Whether X is a Gram matrix: its columns are examples too."""
        return any(kernel.pairwise for _, kernel in self.kernels())

    def moved(self, X: Any) -> Any:
        """Return what becomes of examples before the kernels within see them."""
        return X

    @property
    def view(self) -> Hashable:
        """Identifies the result of `prepare`: kernels with the same view can share it."""
        return id(self)

    def resolved(self, X: Any) -> Kernel:
        """Return this kernel, with parameters that depend on the data (``gamma="scale"``) as numbers."""
        found: dict[str, Any] = {name: k.resolved(self.moved(X)) for name, k in self.kernels()}
        return self.changed(found) if any(k is not getattr(self, name) for name, k in found.items()) else self

    # ------------------------------------------------------------ using it

    def __call__(self, X: Any, Y: Any = None, dtype: Any = None) -> Any:
        """Return K of all examples of X with all of Y (default: X); a number if both are single vectors or strings."""
        if Y is not None and _is_single(X) and _is_single(Y):
            return self.value(X, Y)
        if Y is None or Y is X:
            return self.gram(X, dtype=dtype)
        X, Y = listed(X), listed(Y)
        dtype = _dtype_of(X, Y) if dtype is None else _checked_dtype(dtype)
        A, B = self.prepare(X, dtype), self.prepare(Y, dtype)
        from perceptive.kernels.gram import blocked

        return blocked(self, A, B, dtype)

    def value(self, x: Any, z: Any) -> float:
        """Return K of two examples."""
        return float(self.compare(self.prepare(_single(x)), self.prepare(_single(z)))[0, 0])

    def diag(self, X: Any) -> NDArray[np.float64]:
        """Return K(x, x) of each example."""
        return self.norms(self.prepare(listed(X), _dtype_of(X)))

    def gram(self, X: Any, dtype: Any = None) -> Values:
        """Return the Gram matrix of X: half is computed, in blocks, the other half mirrored."""
        from perceptive.kernels.gram import symmetric

        dtype = _dtype_of(X) if dtype is None else _checked_dtype(dtype)
        return symmetric(self, self.prepare(listed(X), dtype), dtype)

    def feature_map(self, X: Any) -> Any:
        """Return φ(X), a row per example, if it is finite."""
        raise TypeError(f"{self!r} has no finite feature map here; gram_embedding(k.gram(X)) makes one for given X")

    # ------------------------------------------------------------ the algebra

    def __add__(self, other: Any) -> Kernel:
        return _made("Sum", self, _lifted(other)) if isinstance(other, Kernel | Real) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        return _made("Sum", _lifted(other), self) if isinstance(other, Real) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Real):
            return _made("Scaled", other, self)
        return _made("Product", self, other) if isinstance(other, Kernel) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, p: Any) -> Kernel:
        return _made("Power", self, p)

    def polynomial(self, coefficients: Sequence[float]) -> Kernel:
        """Return a₀ + a₁k + a₂k² + …, all a_j ≥ 0."""
        return _made("PolynomialOf", self, coefficients)

    def exp(self) -> Kernel:
        """Return e^k."""
        return _made("Exponential", self)

    def scaled_by(self, f: Callable[[Any], float]) -> Kernel:
        """Return f(x)·k(x, x')·f(x') for any real f of one example."""
        return _made("ScaledBy", self, f)

    def after(self, phi: Callable[[Any], Any]) -> Kernel:
        """Return k(φ(x), φ(x')) for any φ of one example."""
        return _made("After", self, phi)

    def on(self, columns: Any) -> Kernel:
        """Return k of a part of each example: columns of an array, or an item of a tuple or dict."""
        return _made("On", self, columns)

    def normalized(self) -> Kernel:
        """Return the cosine: k(x, x')/√(k(x, x)·k(x', x')), and 0 if k(x, x) = 0."""
        return _made("Normalized", self)

    def centered(self, X_ref: Any) -> Kernel:
        """Return k of φ(x) − mean φ(X_ref)."""
        return _made("Centered", self, X_ref)

    # ------------------------------------------------------------ parameters

    @classmethod
    @cache
    def _parameter_names(cls) -> tuple[str, ...]:
        return tuple(inspect.signature(cls).parameters)

    def kernels(self) -> Iterator[tuple[str, Kernel]]:
        """Return the kernels among its parameters, by name."""
        for name in self._parameter_names():
            value = getattr(self, name)
            if isinstance(value, Kernel):
                yield name, value

    def changed(self, changes: dict[str, Any]) -> Self:
        """Return a kernel of this kind with some parameters changed."""
        return type(self)(**{**self.get_params(deep=False), **changes})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with ``deep`` also those of inner kernels."""
        found = {name: getattr(self, name) for name in self._parameter_names()}
        if deep:
            for name, kernel in self.kernels():
                found |= {f"{name}__{inner}": value for inner, value in kernel.get_params().items()}
        return found

    def _split(self, parameters: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Parameters of this kernel, and those of the kernels within."""
        names = self._parameter_names()
        inner: dict[str, dict[str, Any]] = {}
        changes: dict[str, Any] = {}
        for key, value in parameters.items():
            name, _, rest = key.partition("__")
            if name not in names:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(names) or 'none'}"
                )
            if rest:
                inner.setdefault(name, {})[rest] = value
            else:
                changes[name] = value
        for name in inner:
            if not isinstance(changes.get(name, getattr(self, name)), Kernel):
                raise ValueError(f"{name} of {type(self).__name__} is not a kernel and has no parameters")
        return changes, inner

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; ``k1__gamma`` is gamma of k1. If one is not possible, nothing changes."""
        self._with(parameters)  # raises where one cannot be
        changes, inner = self._split(parameters)
        for name, values in inner.items():
            changes.get(name, getattr(self, name)).set_params(**values)
        type(self).__init__(self, **{**self.get_params(deep=False), **changes})
        return self

    def _with(self, parameters: dict[str, Any]) -> Self:
        """Another kernel, with these parameters changed."""
        changes, inner = self._split(parameters)
        for name, values in inner.items():
            changes[name] = changes.get(name, getattr(self, name))._with(values)
        return self.changed(changes)

    def __copy__(self) -> Self:
        """A kernel with these parameters, whatever becomes of those of this one and of the kernels within."""
        return self.changed({name: copy.copy(kernel) for name, kernel in self.kernels()})

    def __sklearn_clone__(self) -> Self:
        parameters = self.get_params(deep=False)
        kernels = {name: kernel.__sklearn_clone__() for name, kernel in self.kernels()}
        others = {name: copy.deepcopy(value) for name, value in parameters.items() if name not in kernels}
        return self.changed(others | kernels)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return all(_same(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash(type(self).__name__)

    def __repr__(self) -> str:
        defaults = {name: p.default for name, p in inspect.signature(type(self)).parameters.items()}
        given = {name: value for name, value in self.get_params(deep=False).items() if not _same(value, defaults[name])}
        return f"{type(self).__name__}({', '.join(f'{name}={shown(value)}' for name, value in given.items())})"


def _made(construction: str, *parts: Any) -> Kernel:
    """One of the constructions, which are kernels themselves and so come later."""
    from perceptive.kernels import algebra, rescaling, views

    home = next(module for module in (algebra, rescaling, views) if hasattr(module, construction))
    kernel: Kernel = getattr(home, construction)(*parts)
    return kernel


def _lifted(k: Any) -> Kernel:
    return k if isinstance(k, Kernel) else _made("Constant", k)


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if hasattr(a, "tocsr") and hasattr(b, "tocsr"):
        import scipy.sparse as sp

        if a.shape != b.shape:
            return False
        apart: Any = sp.csr_array(inspected(a)) != sp.csr_array(inspected(b))
        return bool(apart.nnz == 0)
    if _is_number(a) and _is_number(b):
        return bool(a == b)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) or (_are_numbers(a) and _are_numbers(b)):
        try:
            return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))
        except ValueError:  # rows of several lengths
            return False
    if isinstance(a, tuple | list) and type(a) is type(b):  # of arrays, or of deep trees, which == cannot compare
        known = digest(a)
        if known is not None:
            return known == digest(b)
    return bool(type(a) is type(b) and a == b)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _are_numbers(values: Any) -> bool:
    return isinstance(values, list | tuple) and all(map(_is_number, values))


def number(value: Any) -> float:
    """Return a parameter as a float; NaN, which is in no range, if it is not a number or too large."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _dtype_of(*arrays: Any) -> Any:
    single = all(getattr(X, "dtype", None) == np.float32 for X in arrays)
    return np.float32 if single else np.float64


def _checked_dtype(dtype: Any) -> Any:
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found not in (np.float32, np.float64):
        raise ValueError(f"dtype={shown(dtype)}: kernel values are float32 or float64")
    return found


def _is_single(x: Any) -> bool:
    return isinstance(x, str) or (isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "fiub")


def _single(x: Any) -> Any:
    return x if hasattr(x, "tocsr") else [x]
