"""Gram matrices: computed in blocks, checked for positive semidefiniteness, turned into a feature map."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptive.content import shown
from perceptive.kernels.custom import Custom
from perceptive.kernels.examples import check_real, listed
from perceptive.kernels.grammar import as_kernel
from perceptive.kernels.kernel import Kernel, Values

TILE = 1024  # rows and columns that are made at a time, so that they stay in the cache while they are worked on
WHOLE = 8192  # rows up to which a Gram matrix of vectors is made at once
TOLERANCE = 1e-8  # eigenvalues above −this × the largest count as rounding


def blocked(kernel: Kernel, A: Any, B: Any, dtype: Any) -> Values:
    """K of all pairs, tile by tile."""
    check_memory(len(A), len(B), dtype)
    if len(A) <= TILE and len(B) <= TILE:
        return _tile(kernel, A, B, dtype)
    K = np.empty((len(A), len(B)), dtype)
    for i in range(0, len(A), TILE):
        rows = A.take(slice(i, i + TILE))
        for j in range(0, len(B), TILE):
            K[i : i + TILE, j : j + TILE] = _tile(kernel, rows, B.take(slice(j, j + TILE)), dtype, i, j)
    return K


def _tile(kernel: Kernel, A: Any, B: Any, dtype: Any, row: int = 0, column: int = 0) -> Values:
    """Finite values of one tile, whose first pair is (row, column)."""
    with np.errstate(over="ignore", invalid="ignore"):
        K = kernel.compare(A, B).astype(dtype, copy=False)
        # The length is one fast look, which only very large numbers deceive.
        good = kernel.bounded or np.isfinite(np.vdot(K, K)) or np.isfinite(K).all()
    if not good:
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(
            f"K[{row + i}, {column + j}] is {K[i, j]}: {shown(kernel)} of these examples overflows "
            f"{np.dtype(dtype)}; rescale them, or use normalized()"
        )
    return K


def symmetric(kernel: Kernel, A: Any, dtype: Any) -> Values:
    """The Gram matrix: by halves, the other mirrored; the diagonal of vectors from their norms."""
    check_memory(len(A), len(A), dtype)
    if kernel.vectors and len(A) <= WHOLE:  # one large matrix product is faster than many, and its halves are alike
        K = _tile(kernel, A, A, dtype)
        np.fill_diagonal(K, kernel.norms(A))
        return K
    K = np.empty((len(A), len(A)), dtype)
    for i in range(0, len(A), TILE):
        rows = A.take(slice(i, i + TILE))
        for j in range(0, i + 1, TILE):
            tile = _tile(kernel, rows, rows if i == j else A.take(slice(j, j + TILE)), dtype, i, j)
            K[i : i + TILE, j : j + TILE] = tile
            if i != j:
                K[j : j + TILE, i : i + TILE] = tile.T
    if kernel.vectors:  # a distance to oneself is 0, whatever a matrix product makes of it
        np.fill_diagonal(K, kernel.norms(A))
    return K


def row_means(kernel: Kernel, A: Any, B: Any) -> NDArray[np.float64]:
    """Mean over B of K(a, b), for each a."""
    means = np.zeros(len(A))
    for i in range(0, len(A), TILE):
        rows = A.take(slice(i, i + TILE))
        for j in range(0, len(B), TILE):
            means[i : i + TILE] += kernel.compare(rows, B.take(slice(j, j + TILE))).sum(axis=1, dtype=np.float64)
    return means / max(1, len(B))


def check_memory(rows: int, columns: int, dtype: Any) -> None:
    """Raise MemoryError where a Gram matrix would not fit."""
    wanted = rows * columns * np.dtype(dtype).itemsize
    there = _memory()
    if wanted > there:
        raise MemoryError(
            f"a Gram matrix of {rows:,} × {columns:,} takes {wanted / 1e9:.1f} GB, and {there / 1e9:.1f} GB are free; "
            "use KernelClassifier, which works in blocks (with a budget=, or a smaller cache_size=), or approximate "
            "the kernel with scikit-learn's Nystroem"
        )


def _memory() -> float:
    """Bytes that are free, as far as the system tells."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return float(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return float("inf")


def gram_embedding(K: ArrayLike) -> NDArray[np.float64]:
    """Return φ with φφᵀ = K, from the eigenvectors: every positive semidefinite matrix is a matrix of dot products.

    Examples
    --------
    >>> from perceptive.kernels import gram_embedding
    >>> phi = gram_embedding([[2.0, 1.0], [1.0, 2.0]])
    >>> (phi @ phi.T).round(6).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    report = _report(_square(K))
    if not report.psd:
        raise ValueError(f"K is not a Gram matrix: {report}")
    values, columns = np.linalg.eigh(_square(K))
    return np.asarray(columns * np.sqrt(np.maximum(values, 0.0)))


def is_psd(K: ArrayLike) -> bool:
    """Return whether K is symmetric and has no eigenvalue below 0, up to rounding.

    Examples
    --------
    A positive diagonal is not enough:

    >>> from perceptive.kernels import is_psd
    >>> is_psd([[1, 2], [2, 1]]), is_psd([[2, 1], [1, 2]])
    (False, True)
    """
    return _report(_square(K)).psd


@dataclass(frozen=True)
class MercerReport:
    """What a Gram matrix shows about its kernel.

    Attributes
    ----------
    symmetric : bool
    pair : (int, int) or None
        The i, j with the largest difference of K[i, j] and K[j, i], if it is not symmetric.
    smallest, largest : float
        Eigenvalues (of the symmetric part).
    rank : int
        Number of eigenvalues that are not 0.
    psd : bool
        Whether K is symmetric and positive semidefinite on these examples.
    witness : array or None
        A z with zᵀKz < 0, if there is one.
    """

    symmetric: bool
    pair: tuple[int, int] | None
    smallest: float
    largest: float
    rank: int
    psd: bool
    witness: NDArray[np.float64] | None

    def __str__(self) -> str:
        if not self.symmetric and self.pair is not None:
            return f"it is not symmetric: K[{self.pair[0]}, {self.pair[1]}] differs from its mirror image"
        if not self.psd and self.witness is not None:
            return (
                f"it is not positive semidefinite: its smallest eigenvalue is {self.smallest:g}, and zᵀKz < 0 for "
                f"z = {np.array2string(self.witness, precision=3, threshold=6)}"
            )
        spread = f"{self.smallest:g} … {self.largest:g}"
        return f"symmetric and positive semidefinite, of rank {self.rank}, eigenvalues {spread}"


def mercer_report(k: Kernel | str | Callable[[Any, Any], float], X: Any) -> MercerReport:
    """Compare all pairs of X, in both orders, and check whether k (or a function, or a text) can be a kernel.

    Examples
    --------
    >>> from perceptive.kernels import Custom, mercer_report
    >>> print(mercer_report(Custom(lambda a, b: -a * b), [1.0, 2.0]))
    it is not positive semidefinite: its smallest eigenvalue is -5, and zᵀKz < 0 for z = [0.447 0.894]
    """
    k = _unchecked(as_kernel(k))
    A = k.prepare(listed(X), np.float64)
    return _report(_square(blocked(k, A, A, np.float64)))


def _unchecked(k: Kernel) -> Kernel:
    """The same kernel, whose functions may be asymmetric: it is the report that says so."""
    same = k.changed({name: _unchecked(inner) for name, inner in k.kernels()})
    if isinstance(same, Custom):
        same.checks = False
    return same


def _square(K: ArrayLike) -> NDArray[np.float64]:
    check_real(K, "K")
    matrix = np.asarray(K, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise ValueError(f"K has shape {matrix.shape}; give a square matrix")
    return matrix


def _report(K: NDArray[np.float64]) -> MercerReport:
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"K[{i}, {j}] is {K[i, j]}; a kernel gives finite numbers")
    scale = float(np.abs(K).max())
    apart = np.abs(K - K.T)
    symmetric_ = bool(apart.max() <= TOLERANCE * scale)
    worst = np.unravel_index(int(np.argmax(apart)), K.shape)
    values, columns = np.linalg.eigh((K + K.T) / 2)
    floor = TOLERANCE * max(scale * len(K), 1e-300)
    good = bool(values[0] >= -floor)
    witness = columns[:, 0] * (1 if columns[np.argmax(np.abs(columns[:, 0])), 0] > 0 else -1)
    return MercerReport(
        symmetric=symmetric_,
        pair=None if symmetric_ else (int(worst[0]), int(worst[1])),
        smallest=float(values[0]),
        largest=float(values[-1]),
        rank=int(np.count_nonzero(np.abs(values) > floor)),
        psd=symmetric_ and good,
        witness=None if good else witness,
    )
