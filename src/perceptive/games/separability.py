"""Is there a separating vector? Either answer comes with a proof that can be checked.

Gordan's theorem: for vectors z_i = y_i·x_i exactly one of these exists,

    w with w·z_i > 0 for all i,      or      λ ≥ 0, Σ λ_i = 1, with Σ λ_i z_i = 0.

A linear program finds one or the other. The result is checked, in rational arithmetic if the data are whole numbers.
For these, the perceptron itself gives a second proof: it converges, or returns to an earlier vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptive.games.examples import signed

ROUNDING = 1e-7  # of the linear program, where the data are not whole numbers
DENOMINATORS = (10**3, 10**6, 10**9, 10**12)


@dataclass(frozen=True)
class Separation:
    """An answer and its proof.

    Attributes
    ----------
    separable : bool
    witness : array
        w if separable, else λ; fractions if exact, else floats.
    exact : bool
        Whether the witness was checked in rational arithmetic.
    """

    separable: bool
    witness: NDArray[Any]
    exact: bool


def separate(X: ArrayLike, y: ArrayLike) -> Separation:
    """Decide whether some w has y_i·(w·x_i) > 0 for all i.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        For a bias, add a column of ones.
    y : array of +1 and −1

    Returns
    -------
    Separation

    Examples
    --------
    >>> X = [[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> separate(X, [-1, -1, -1, 1]).separable
    True
    >>> xor = separate(X, [-1, 1, 1, -1])
    >>> xor.separable, [str(share) for share in xor.witness]
    (False, ['1/4', '1/4', '1/4', '1/4'])
    """
    Z = signed(X, y)
    whole = bool((np.round(Z) == Z).all())
    for separable, found in ((True, _separating(Z)), (False, _balancing(Z))):
        for witness in _candidates(found, whole):
            if _proves(Z, witness, separable, whole):
                return Separation(separable, witness, whole)
    raise ArithmeticError("the margin is too small for the linear program to tell; rescale the features")


def _separating(Z: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The w of smallest Σ|w_j| with w·z_i ≥ 1 for all i, as the difference of two vectors ≥ 0."""
    from scipy.optimize import linprog

    n, d = Z.shape
    solved = linprog(np.ones(2 * d), A_ub=np.hstack([-Z, Z]), b_ub=-np.ones(n))
    return None if solved.x is None else solved.x[:d] - solved.x[d:]


def _balancing(Z: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """λ ≥ 0 with Σ λ_i = 1 and Σ λ_i z_i = 0."""
    from scipy.optimize import linprog

    n, d = Z.shape
    sums = np.vstack([Z.T, np.ones(n)])
    solved = linprog(np.zeros(n), A_eq=sums, b_eq=np.append(np.zeros(d), 1.0))
    return None if solved.x is None else np.maximum(0.0, solved.x)


def _candidates(found: NDArray[np.float64] | None, whole: bool) -> list[NDArray[Any]]:
    if found is None:
        return []
    if not whole:
        return [found]
    return [np.array([Fraction(x).limit_denominator(limit) for x in found], dtype=object) for limit in DENOMINATORS]


def _proves(Z: NDArray[np.float64], witness: NDArray[Any], separable: bool, whole: bool) -> bool:
    if whole:
        Z = np.array([[int(z) for z in row] for row in Z], dtype=object)
    if separable:
        return bool(((Z @ witness) > 0).all())
    balance, total = witness @ Z, witness.sum()
    if whole:
        return not balance.any() and total == 1 and bool((witness >= 0).all())
    return bool(np.abs(balance).max() <= ROUNDING * max(1.0, np.abs(Z).max()) and abs(total - 1) <= ROUNDING)


@dataclass(frozen=True)
class Cycle:
    """How the perceptron ends on whole numbers.

    Attributes
    ----------
    converged : bool
        True: an epoch had no update. False: an epoch began like an earlier one, so it never converges.
    weights : tuple of int
        The last vector; if it cycles, the vector that came back.
    epochs, updates : int
        Counts until then, including the epoch without an update.
    period : int
        Epochs from one visit of ``weights`` to the next; 0 if converged.
    """

    converged: bool
    weights: tuple[int, ...]
    epochs: int
    updates: int
    period: int = 0


def cycle(
    X: ArrayLike, y: ArrayLike, start: ArrayLike | None = None, *, ties: str = "mistake", max_epochs: int = 1_000_000
) -> Cycle:
    """Run the perceptron on whole numbers, in the given order, until it converges or cycles.

    One of the two must happen: its weights stay bounded, separable or not (Block & Levin 1970).

    Parameters
    ----------
    X : array of whole numbers of shape (n_samples, n_features)
    y : array of +1 and −1
    start : array of whole numbers or None
        v₀; None for zero.
    ties : one of "mistake", "positive"
        Whether a score of 0 is a mistake, or predicts +1.
    max_epochs : int
        When to give up, with an ArithmeticError.

    Returns
    -------
    Cycle

    Examples
    --------
    >>> X = [[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> cycle(X, [-1, -1, -1, 1])
    Cycle(converged=True, weights=(-4, 3, 2), epochs=9, updates=18, period=0)
    >>> cycle(X, [-1, 1, 1, -1]).converged
    False
    """
    signed(X, y)  # checks
    if ties not in ("mistake", "positive"):
        raise ValueError(f"ties={ties!r}: ties must be 'mistake' or 'positive'")
    rows, labels = [_whole(row) for row in np.asarray(X)], _whole(y)
    v = [0] * len(rows[0]) if start is None else _whole(start)
    if len(v) != len(rows[0]):
        raise ValueError(f"start has {len(v)} numbers; X has {len(rows[0])} features")
    seen: dict[tuple[int, ...], int] = {}
    updates = 0
    for epoch in range(max_epochs):
        if tuple(v) in seen:
            return Cycle(False, tuple(v), epoch, updates, epoch - seen[tuple(v)])
        seen[tuple(v)] = epoch
        before = updates
        for x, label in zip(rows, labels, strict=True):
            score = sum(a * b for a, b in zip(v, x, strict=True))
            if (label * score <= 0) if ties == "mistake" else ((score >= 0) != (label > 0)):
                v = [a + label * b for a, b in zip(v, x, strict=True)]
                updates += 1
        if updates == before:
            return Cycle(True, tuple(v), epoch + 1, updates)
    raise ArithmeticError(f"no convergence and no cycle within {max_epochs} epochs; allow more")


def _whole(values: Any) -> list[int]:
    array = np.asarray(values)
    if not (np.isfinite(array) & (np.round(array) == array)).all():
        raise ValueError("the exact perceptron needs whole numbers")
    return [int(value) for value in array]
