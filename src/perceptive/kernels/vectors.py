"""Kernels of vectors: linear, polynomial, Gaussian, Laplacian; dense rows by BLAS, sparse ones by SciPy."""

from __future__ import annotations

import math
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptive import _core
from perceptive.content import shown
from perceptive.kernels.algebra import integer_power
from perceptive.kernels.examples import Dense, Sparse, check_real, copied, in_double, sparse_dots
from perceptive.kernels.feature_maps import check_order, gaussian_features, polynomial_features
from perceptive.kernels.kernel import Kernel, Values, number
from perceptive.processors import processors
from perceptive.sparse import inspected

IN_CACHE = 2**18  # numbers that are worked on at a time, or of sparse rows are written out
MANY = 2**23  # numbers that are shared among threads
FAR = 256.0  # γ‖x‖² beyond which ‖x‖² + ‖x'‖² − 2x·x' needs float64: most of its digits cancel
FURTHER = 2.0**20  # beyond this float64 does not hold it either: γ‖x − x'‖² comes from the differences
TOO_LARGE = "{} too large for {}; rescale X"


class VectorKernel(Kernel):
    """A kernel of rows of numbers."""

    vectors = True
    view: Hashable = "vectors"

    def prepare(self, X: Any, dtype: Any = np.float64) -> Dense | Sparse:
        return vectors(X, dtype)


def vectors(X: Any, dtype: Any = np.float64) -> Dense | Sparse:
    """Rows of finite numbers, copied only where they must be."""
    check_real(X)
    if hasattr(X, "tocsr"):
        given = inspected(X).tocsr()
        with np.errstate(over="ignore"):
            X = given.astype(dtype, copy=False)
        if not X.has_sorted_indices:  # so that x·x' and x'·x are summed in one order
            X = X.sorted_indices()
        if not np.isfinite(X.data).all():
            if np.isfinite(given.data).all():
                raise ValueError(TOO_LARGE.format("X contains numbers that are", np.dtype(dtype)))
            raise ValueError("X contains NaN or infinity; drop or impute such examples first")
        return Sparse(X)
    if isinstance(X, list) and X and hasattr(X[0], "tocsr"):
        import scipy.sparse as sp

        return vectors(sp.vstack([inspected(x) for x in X], format="csr"), dtype)
    try:
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(X, dtype=dtype)
    except (TypeError, ValueError) as error:
        objects = isinstance(X, list | tuple) and any(isinstance(x, dict) for x in X)
        cure = "of objects it takes a named part, as in gaussian(...)@column or k.on('column'); " if objects else ""
        raise ValueError(
            f"this kernel is of vectors; {cure}X must hold numbers, all rows of one length ({error})"
        ) from None
    if array.ndim == 1 and np.ndim(X) == 1 and len(array):
        array = array.reshape(-1, 1)  # one number per example
    if array.ndim != 2:
        raise ValueError(f"X must have two dimensions, not {array.ndim}; one example is X.reshape(1, -1)")
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        exact = np.asarray(X, np.float64).reshape(array.shape)[row, column]
        if np.isfinite(exact):
            raise ValueError(TOO_LARGE.format(f"X[{row}, {column}] is {exact:g}, which is", array.dtype))
        raise ValueError(f"X[{row}, {column}] is {array[row, column]}; drop or impute NaN and infinity first")
    return Dense(array)


def dots(A: Dense | Sparse, B: Dense | Sparse) -> Values:
    """x·x' of all pairs."""
    left, right = A.rows, B.rows
    check_widths(left, right)
    if isinstance(A, Sparse) and isinstance(B, Sparse):
        return sparse_dots(left, right)
    product = left @ right.T
    return np.ascontiguousarray(product.toarray() if hasattr(product, "tocsr") else product)


def distances(A: Dense | Sparse, B: Dense | Sparse, metric: Literal["sqeuclidean", "cityblock"]) -> NDArray[np.float64]:
    """Distances of all pairs, the same to the bit either way round.

    They come from the differences: no digits cancel, however far from the origin the rows are.

    Parameters
    ----------
    A, B : rows
        The columns of sparse ones are written out some at a time.
    metric : one of "sqeuclidean", "cityblock"

    Examples
    --------
    >>> distances(Dense(np.array([[1e12, 1.0]])), Dense(np.array([[1e12 + 1, 3.0]])), "sqeuclidean")
    array([[5.]])
    """
    from scipy.spatial.distance import cdist

    check_widths(A.rows, B.rows)
    if isinstance(A, Dense) and isinstance(B, Dense):
        return np.asarray(cdist(A.array, B.array, metric))
    used = [np.arange(A.rows.shape[1]) if isinstance(Z, Dense) else Z.matrix.indices for Z in (A, B)]
    columns, found = np.union1d(*used), np.zeros((len(A), len(B)))
    width = max(1, IN_CACHE // max(1, len(A), len(B)))
    for j in range(0, len(columns), width):
        some = columns[j : j + width]
        found += cdist(_written_out(A, some), _written_out(B, some), metric)
    return found


def _written_out(Z: Dense | Sparse, columns: NDArray[np.int64]) -> NDArray[Any]:
    return Z.array[:, columns] if isinstance(Z, Dense) else Z.matrix[:, columns].toarray()


def check_widths(left: Any, right: Any) -> None:
    """Raise ValueError where rows have different numbers of columns."""
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"the examples have {left.shape[1]} and {right.shape[1]} features; give the same")


class Linear(VectorKernel):
    """xᵀAx', A symmetric and positive semidefinite; without A, x·x'.

    Parameters
    ----------
    A : array of shape (n_features, n_features) or None

    Examples
    --------
    >>> from perceptive.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def __init__(self, A: ArrayLike | None = None) -> None:
        self.A = copied(A)
        self._root = None if A is None else _root(A)
        self.view = "vectors" if A is None else ("vectors", np.asarray(self.A).tobytes())

    def prepare(self, X: Any, dtype: Any = np.float64) -> Dense | Sparse:
        prepared = vectors(X, dtype)
        if self._root is None:
            return prepared
        rows = prepared.rows
        if rows.shape[1] != len(self._root):
            raise ValueError(f"X has {rows.shape[1]} features, but A is {len(self._root)} × {len(self._root)}")
        return Dense(np.ascontiguousarray(rows @ self._root, dtype=dtype))

    def compare(self, A: Dense | Sparse, B: Dense | Sparse) -> Values:
        return dots(A, B)

    def norms(self, A: Dense | Sparse) -> NDArray[np.float64]:
        return np.array(A.norms2)

    def feature_map(self, X: Any) -> Any:
        return self.prepare(X).rows


def _root(given: Any) -> NDArray[np.float64]:
    """L with A = LLᵀ."""
    if hasattr(given, "tocsr"):
        raise TypeError("Linear: A is sparse; give an array, A.toarray()")
    check_real(given, "A")
    try:
        A = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"Linear({shown(given)}): A must be a square matrix of numbers") from None
    if A.ndim != 2 or A.shape[0] != A.shape[1] or len(A) == 0:
        raise ValueError(f"A has shape {A.shape}; give a square matrix, a row and a column for each feature")
    if not np.isfinite(A).all():
        i, j = np.argwhere(~np.isfinite(A))[0]
        raise ValueError(f"A[{i}, {j}] is {A[i, j]}; give a matrix of finite numbers")
    scale = float(np.abs(A).max(initial=0.0))
    if not np.allclose(A, A.T, rtol=0, atol=1e-10 * scale):
        i, j = np.unravel_index(int(np.argmax(np.abs(A - A.T))), A.shape)
        raise ValueError(f"A is not symmetric: A[{i}, {j}] = {A[i, j]:g}, A[{j}, {i}] = {A[j, i]:g}; give (A + Aᵀ)/2")
    values, columns = np.linalg.eigh((A + A.T) / 2)
    if values[0] < -1e-10 * max(scale, 1e-300) * len(A):
        witness = np.array2string(columns[:, 0], precision=3, threshold=6)
        raise ValueError(
            f"A is not positive semidefinite: its smallest eigenvalue is {values[0]:g}, and zᵀAz < 0 for z = {witness}"
        )
    return np.asarray(columns * np.sqrt(np.maximum(values, 0.0)))


class Polynomial(VectorKernel):
    """(x·x' + c)^degree, c ≥ 0.

    Examples
    --------
    >>> from perceptive.kernels import Polynomial
    >>> Polynomial(degree=2, c=1.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    def __init__(self, degree: int = 3, c: float = 1.0) -> None:
        self.degree, self.c = degree, c
        if not isinstance(degree, Integral) or isinstance(degree, bool) or degree < 1:
            raise ValueError(f"degree={shown(degree)}: the degree of a polynomial kernel must be 1, 2, 3, …")
        _check_c(c)

    def compare(self, A: Dense | Sparse, B: Dense | Sparse) -> Values:
        return self._power(dots(A, B))

    def norms(self, A: Dense | Sparse) -> NDArray[np.float64]:
        return self._power(np.array(A.norms2))

    def _power(self, K: Values) -> Values:
        if self.c:
            K += K.dtype.type(self.c)
        with np.errstate(over="ignore"):
            return integer_power(K, int(self.degree))

    def feature_map(self, X: Any, *, spelling: str = "merged") -> NDArray[np.float64]:
        """φ with φ(x)·φ(x') = (x·x' + c)^degree.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        spelling : one of "merged", "ordered"
            "merged" has one feature per monomial, 1, √2x₁, …, x₁², √2x₁x₂, …; "ordered" one per ordered tuple, x₁x₁,
            x₁x₂, x₂x₁, …, √2x₁, …, 1: n² + n + 1 for degree 2.
        """
        return polynomial_features(_dense(X), int(self.degree), float(self.c), spelling)


class Quadratic(Polynomial):
    """(x·x' + c)²."""

    degree = 2

    def __init__(self, c: float = 1.0) -> None:
        self.c = c
        _check_c(c)


class Gaussian(VectorKernel):
    """exp(−γ‖x − x'‖²); ``sigma=s`` means γ = 1/(2s²).

    Parameters
    ----------
    gamma : float, "scale" or None
        γ; "scale" is 1/(n_features·variance of X), computed when a classifier is fitted. The default, if neither gamma
        nor sigma is given, is "scale".
    sigma : float or None
        Give only one of the two.

    Examples
    --------
    >>> from perceptive.kernels import Gaussian
    >>> Gaussian(sigma=1.0)([[0.0]], [[2.0]]).round(6)
    array([[0.135335]])
    """

    bounded = True

    def __init__(self, gamma: float | str | None = None, sigma: float | None = None) -> None:
        self.gamma, self.sigma = gamma, sigma
        if gamma is not None and sigma is not None:
            raise ValueError("give gamma or sigma, not both: γ = 1/(2σ²)")
        if sigma is not None:
            _check_positive(sigma, "sigma")
            if not 1e-150 <= sigma <= 1e150:
                raise ValueError(f"sigma={shown(sigma)}: γ = 1/(2σ²) overflows; give 1e-150 to 1e150")
        elif gamma is not None and gamma != "scale":
            _check_positive(gamma, "gamma")

    def rate(self) -> float:
        """γ as a number."""
        if self.sigma is not None:
            return 1.0 / (2.0 * float(self.sigma) ** 2)
        if self.gamma is None or isinstance(self.gamma, str):
            raise ValueError(f"gamma='scale' comes from the data of a fit; give {type(self).__name__} a number here")
        return float(self.gamma)

    def resolved(self, X: Any) -> Kernel:
        if self.sigma is None and (self.gamma is None or isinstance(self.gamma, str)):
            return type(self)(gamma=scale_of(X))
        return self

    def compare(self, A: Dense | Sparse, B: Dense | Sparse) -> Values:
        rate = self.rate()
        single = A.rows.dtype == np.float32
        sizes = [rate * Z.norms2 for Z in (A, B)]
        longest = max(size.max(initial=0.0) for size in sizes)
        if not longest < math.inf:
            raise ValueError(f"γ‖x‖² of an example overflows for {self!r}; rescale X, or choose a smaller γ")
        if single and longest > FAR:
            one = in_double(A)
            return self.compare(one, one if A is B else in_double(B)).astype(np.float32)
        if longest > FURTHER:
            return np.asarray(np.exp(-rate * distances(A, B, "sqeuclidean")))
        K = dots(A, B)
        a, b = (size.astype(K.dtype) for size in sizes)
        rows = max(1, IN_CACHE // max(1, K.shape[1]))

        def exponentials(i: int) -> None:
            part = K[i : i + rows]
            _core.gaussian_exponents(part, 2 * rate, a[i : i + rows], b)  # −γ(‖x‖² + ‖x'‖² − 2x·x')
            np.exp(part, out=part)

        parts = range(0, len(K), rows)
        if K.size < MANY:
            for i in parts:
                exponentials(i)
        else:
            with ThreadPoolExecutor(processors()) as pool:
                list(pool.map(exponentials, parts))
        return K

    def norms(self, A: Dense | Sparse) -> NDArray[np.float64]:
        return np.ones(len(A))

    def feature_map(self, X: Any, *, order: int | None = None) -> NDArray[np.float64]:
        """The Taylor φ up to a total degree of ``order``: e^{−γ‖x‖²} √((2γ)^|m|/m!) x^m for every monomial m."""
        if order is None:
            raise TypeError("the φ of a Gaussian is infinite; give order=… to truncate it, and see truncation_error")
        return gaussian_features(_dense(X), self.rate(), order)

    def truncation_error(self, X: Any, order: int) -> float:
        """Return how far φ(x)·φ(x') may be from K for any two points no longer than those of X.

        The omitted part is at most e^{−z} Σ_{j>order} z^j/j! with z = 2γ‖x‖‖x'‖.
        """
        from scipy.special import gammainc

        check_order(order)
        z = 2 * self.rate() * float((_dense(X) ** 2).sum(axis=1).max(initial=0.0))
        return float(gammainc(order + 1, z))


class Laplacian(Gaussian):
    """exp(−γ‖x − x'‖₁)."""

    def __init__(self, gamma: float | str | None = None) -> None:
        super().__init__(gamma)

    def compare(self, A: Dense | Sparse, B: Dense | Sparse) -> Values:
        K = distances(A, B, "cityblock")
        K *= -self.rate()
        return np.exp(K, out=K).astype(A.rows.dtype, copy=False)

    def feature_map(self, X: Any, *, order: int | None = None) -> NDArray[np.float64]:
        raise TypeError("the φ of a Laplacian kernel has no finite form here; see gram_embedding")


def scale_of(X: Any) -> float:
    """Return 1/(n_features·variance), as scikit-learn does."""
    prepared = vectors(X)
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(prepared, Sparse):
            rows = prepared.matrix
            if not rows.has_canonical_format:  # entries of one cell count as their sum
                rows = rows.copy()
                rows.sum_duplicates()
            size, mean = math.prod(rows.shape), float(rows.mean())
            variance = float(((rows.data - mean) ** 2).sum() + (size - rows.nnz) * mean**2) / size
        else:
            rows = prepared.array
            variance = float(rows.var())
    if not math.isfinite(variance):
        raise ValueError("X is too large for gamma='scale', as its variance overflows; rescale X")
    return 1.0 / (rows.shape[1] * variance) if variance > 0 else 1.0


def _dense(X: Any) -> NDArray[np.float64]:
    prepared = vectors(X)
    rows = prepared.matrix.toarray() if isinstance(prepared, Sparse) else prepared.array
    return np.asarray(rows, dtype=np.float64)


def _check_c(c: Any) -> None:
    if not 0 <= number(c) < math.inf:
        raise ValueError(f"c={shown(c)}: c must be a number ≥ 0, or the kernel is not positive semidefinite")


def _check_positive(value: Any, name: str) -> None:
    if not 0 < number(value) < math.inf:
        raise ValueError(f"{name}={shown(value)}: {name} must be a number > 0")
