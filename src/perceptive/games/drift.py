"""A moving target, and regret: how much more hinge loss B has than the best vector or path in hindsight.

The length of a path is Σ_t ‖u_t − u_{t−1}‖₁, so the best path is a linear program, and its loss is exact.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from perceptive.games.examples import Floats, Labels, check_bounds, signed


def drifting_game(
    n_rounds: int, margin: float, radius: float, step: float, random_state: int = 0
) -> tuple[Floats, Labels, Floats]:
    """Make examples in the plane that a unit vector u_t separates, which turns by ``step`` radians in every round.

    Parameters
    ----------
    n_rounds : int
    margin, radius : float
        γ and R of each round, for its own u_t.
    step : float
        0: the target does not move.
    random_state : int

    Returns
    -------
    X : array of shape (n_rounds, 2)
    y : array of +1 and −1
    U : array of shape (n_rounds, 2)
        The path of the target.

    Examples
    --------
    >>> X, y, U = drifting_game(100, margin=0.1, radius=1, step=0.02)
    >>> bool((y * (X * U).sum(axis=1) >= 0.1 - 1e-9).all())
    True
    """
    if n_rounds < 1:
        raise ValueError(f"n_rounds={n_rounds}: give at least one")
    check_bounds(margin, radius)
    rng = np.random.default_rng(random_state)
    angle = rng.uniform(0, 2 * math.pi) + step * np.arange(n_rounds)
    U = np.column_stack([np.cos(angle), np.sin(angle)])
    across = np.column_stack([-np.sin(angle), np.cos(angle)])
    y = rng.choice(np.array([-1, 1]), size=n_rounds)
    along = rng.uniform(margin, radius, size=n_rounds)
    room = np.sqrt(radius**2 - along**2) * rng.uniform(-1, 1, size=n_rounds)
    return (y * along)[:, None] * U + room[:, None] * across, y, U


class Regret(NamedTuple):
    """Hinge losses over a stream.

    Attributes
    ----------
    mistakes : int
        Mistakes of the perceptron.
    loss : float
        Σ max(0, 1 − y_t·(v_t·x_t)), v_t before round t.
    best_fixed : float
        The smallest loss of one vector u.
    best_path : float
        The smallest loss of a path u_1, …, u_T within the allowed length.
    """

    mistakes: int
    loss: float
    best_fixed: float
    best_path: float

    @property
    def against_fixed(self) -> float:
        """The loss beyond that of the best vector."""
        return self.loss - self.best_fixed

    @property
    def against_path(self) -> float:
        """The loss beyond that of the best path."""
        return self.loss - self.best_path


def regret(X: ArrayLike, y: ArrayLike, length: float) -> Regret:
    """Let the perceptron play a stream, and compare it with the best vector and the best path in hindsight.

    Parameters
    ----------
    X : array of shape (n_rounds, n_features)
    y : array of +1 and −1
    length : float
        Maximum length Σ_t ‖u_t − u_{t−1}‖₁ of the path.

    Returns
    -------
    Regret

    Examples
    --------
    >>> X, y, _ = drifting_game(60, margin=0.3, radius=1, step=0.1)
    >>> found = regret(X, y, length=100)
    >>> round(found.loss, 1), round(found.best_fixed, 1), round(found.best_path, 1)
    (34.6, 57.9, 0.0)
    """
    Z = signed(X, y)
    if not 0 <= length < math.inf:
        raise ValueError(f"length={length}: give a number ≥ 0")
    v, loss, mistakes = np.zeros(Z.shape[1]), 0.0, 0
    for z in Z:
        score = float(v @ z)
        loss += max(0.0, 1.0 - score)
        if score <= 0:
            v = v + z
            mistakes += 1
    return Regret(mistakes, loss, best_path_loss(Z, 0.0), best_path_loss(Z, length))


def best_path_loss(Z: Floats, length: float) -> float:
    """min Σ_t max(0, 1 − u_t·z_t) over paths with Σ ‖u_t − u_{t−1}‖₁ ≤ length.

    A linear program in the path u_1, …, u_T, its steps r_t ≥ |u_t − u_{t−1}| and the losses.
    """
    from scipy.optimize import linprog

    n, d = Z.shape
    m = n if length > 0 else 1  # vectors
    steps = (m - 1) * d
    scores = np.zeros((n, m * d))
    for t, z in enumerate(Z):
        at = t * d if m > 1 else 0
        scores[t, at : at + d] = z
    difference = np.eye(steps, m * d, k=d) - np.eye(steps, m * d)
    A = np.block(
        [
            [-scores, np.zeros((n, steps)), -np.eye(n)],
            [difference, -np.eye(steps), np.zeros((steps, n))],
            [-difference, -np.eye(steps), np.zeros((steps, n))],
            [np.zeros((1, m * d)), np.ones((1, steps)), np.zeros((1, n))],
        ]
    )
    limits = np.concatenate([-np.ones(n), np.zeros(2 * steps), [length]])
    cost = np.concatenate([np.zeros(m * d + steps), np.ones(n)])
    bounds = [(None, None)] * (m * d) + [(0, None)] * (steps + n)
    solved: Any = linprog(cost, A_ub=A, b_ub=limits, bounds=bounds)
    return float(solved.fun)
