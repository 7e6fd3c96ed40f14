"""Data of the perceptron game: examples with margin γ and radius R, on which B errs at most (R/γ)² times."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
SAFE = 1e-9  # how far the examples keep from γ and R, relatively, so that rounding cannot take them across


def signed(X: ArrayLike, y: ArrayLike) -> Floats:
    """Return the rows y_i·x_i; raise if they are not examples with labels ±1."""
    try:
        examples, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers, all rows of one length: {error}") from None
    if examples.ndim != 2 or 0 in examples.shape or labels.shape != examples.shape[:1]:
        raise ValueError(f"X has shape {examples.shape}, y {labels.shape}; give n × d numbers and n labels")
    if not np.isfinite(examples).all():
        raise ValueError("X contains NaN or inf; drop such examples")
    if not np.isin(labels, (-1, 1)).all():
        raise ValueError("y must hold +1 and −1 only")
    rows: Floats = examples * labels[:, None]
    return rows


def check_bounds(margin: float, radius: float) -> None:
    if not (0 < margin < radius and math.isfinite(radius)):
        raise ValueError(f"margin={margin} and radius={radius}: give 0 < margin < radius < ∞")


def separable_game(
    n_rounds: int, n_features: int, margin: float, radius: float, random_state: int = 0
) -> tuple[Floats, Labels, Floats]:
    """Make examples that a unit vector u separates: y·(u·x) ≥ margin and ‖x‖ ≤ radius for each.

    Parameters
    ----------
    n_rounds, n_features : int
    margin, radius : float
        γ and R, 0 < γ < R.
    random_state : int

    Returns
    -------
    X : array of shape (n_rounds, n_features)
    y : array of +1 and −1
    u : array of shape (n_features,), of length 1

    Examples
    --------
    >>> X, y, u = separable_game(100, 5, margin=0.1, radius=1.0)
    >>> bool(min(y * (X @ u)) >= 0.1), bool(max((X**2).sum(axis=1)) <= 1.0)
    (True, True)
    """
    if n_rounds < 1 or n_features < 1:
        raise ValueError(f"{n_rounds} rounds of {n_features} features; give at least one of each")
    check_bounds(margin, radius)
    rng = np.random.default_rng(random_state)
    u = rng.normal(size=n_features)
    u /= np.linalg.norm(u)
    y = rng.choice(np.array([-1, 1]), size=n_rounds)
    # Close to the margin and far out: what B finds hard.
    along = rng.uniform(margin * (1 + SAFE), min(2 * margin, radius * (1 - SAFE)), size=n_rounds)
    across = rng.normal(size=(n_rounds, n_features))
    across -= np.outer(across @ u, u)
    lengths = np.linalg.norm(across, axis=1)
    room = np.sqrt(np.maximum(0.0, (radius * (1 - SAFE)) ** 2 - along**2)) * rng.uniform(0.5, 1.0, size=n_rounds)
    if n_features > 1:  # else nothing lies across u
        across *= (room / np.maximum(lengths, np.finfo(float).tiny))[:, None]
    else:
        across[:] = 0.0
    return np.outer(y * along, u) + across, y, u


def noisy_game(
    n_rounds: int, n_features: int, margin: float, radius: float, noise: float, random_state: int = 0
) -> tuple[Floats, Labels, Floats]:
    """Make a separable game in which A lies about each label with probability ``noise``.

    Parameters
    ----------
    n_rounds, n_features, margin, radius, random_state
        As in `separable_game`.
    noise : float
        In [0, 1].

    Returns
    -------
    X, y, u : as in `separable_game`; u separates all except the lies

    Examples
    --------
    >>> X, y, u = noisy_game(1000, 5, margin=0.1, radius=1.0, noise=0.2)
    >>> float(np.mean(y * (X @ u) < 0))
    0.213
    """
    if not 0 <= noise <= 1:
        raise ValueError(f"noise={noise}: give a probability")
    X, y, u = separable_game(n_rounds, n_features, margin, radius, random_state)
    lies = np.random.default_rng([random_state, 1]).uniform(size=n_rounds) < noise
    return X, np.where(lies, -y, y), u


def hard_game(n: int) -> tuple[Floats, Labels, Floats]:
    """Make A's best play: n orthonormal examples. No answer helps with the next one, so B errs (R/γ)² = n times.

    Parameters
    ----------
    n : int

    Returns
    -------
    X, y, u : as in `separable_game`; R = 1 and γ = 1/√n

    Examples
    --------
    >>> X, y, u = hard_game(4)
    >>> (X @ X.T == np.eye(4)).all(), float(min(y * (X @ u)))
    (np.True_, 0.5)
    """
    if n < 1:
        raise ValueError(f"n={n}: give at least one round")
    y = np.where(np.arange(n) % 2, -1, 1)
    return np.eye(n), y, y / math.sqrt(n)
