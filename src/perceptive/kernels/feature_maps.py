"""Feature maps that can be written out: polynomials, and the Gaussian's Taylor series."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations_with_replacement, product
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
LARGEST = 10**9  # numbers in a feature matrix


def count_features(n: int, degree: int, spelling: str = "merged", constant: bool = True) -> int:
    """How many features (x·x' + c)^degree has, for c > 0 or (``constant=False``) c = 0.

    Examples
    --------
    >>> count_features(1000, 2, constant=False)
    500500
    """
    degrees = range(degree + 1) if constant else [degree]
    if spelling == "ordered":
        return sum(n**k for k in degrees)
    return sum(math.comb(n + k - 1, k) for k in degrees)


def polynomial_features(X: Matrix, degree: int, c: float, spelling: str = "merged") -> Matrix:
    """φ of (x·x' + c)^degree: √(C(degree, k) c^(degree−k) · orderings) times each monomial of degree k."""
    if spelling not in ("merged", "ordered"):
        raise ValueError(f"spelling={spelling!r}: give 'merged' or 'ordered'")
    n = X.shape[1]
    check_size(len(X), count_features(n, degree, spelling, constant=c > 0))
    degrees = range(degree + 1) if spelling == "merged" else range(degree, -1, -1)
    columns = []
    for k in degrees:
        factor = math.comb(degree, k) * c ** (degree - k)
        if factor == 0:
            continue
        tuples = combinations_with_replacement(range(n), k) if spelling == "merged" else product(range(n), repeat=k)
        for places in tuples:
            orderings = math.factorial(k) // _factorials(places) if spelling == "merged" else 1
            columns.append(math.sqrt(factor * orderings) * _monomial(X, places))
    return np.column_stack(columns)


def gaussian_features(X: Matrix, gamma: float, order: int) -> Matrix:
    """e^{−γ‖x‖²} √((2γ)^|m|/m!) x^m for every monomial m of total degree up to ``order``."""
    check_order(order)
    check_size(len(X), count_features(X.shape[1], order))
    damping = np.exp(-gamma * (X**2).sum(axis=1))
    columns = []
    for k in range(order + 1):
        for places in combinations_with_replacement(range(X.shape[1]), k):
            factor = math.sqrt((2 * gamma) ** k / _factorials(places))
            columns.append(damping * factor * _monomial(X, places))
    return np.column_stack(columns)


def check_order(order: object) -> None:
    """Raise where a Taylor series cannot end there."""
    if not isinstance(order, Integral) or isinstance(order, bool) or order < 0:
        raise ValueError(f"order={order!r}: the order of a Taylor series must be 0, 1, 2, …")


def _monomial(X: Matrix, places: tuple[int, ...]) -> Matrix:
    column = np.ones(len(X))
    for place in places:
        column = column * X[:, place]
    return column


def _factorials(places: tuple[int, ...]) -> int:
    return math.prod(math.factorial(times) for times in Counter(places).values())


def check_size(rows: int, columns: int) -> None:
    """Raise ValueError where a feature matrix would be too large."""
    if rows * columns > LARGEST:
        raise ValueError(
            f"φ has {columns:,} features; that is what the kernel is for: use it, or scikit-learn's Nystroem"
        )
