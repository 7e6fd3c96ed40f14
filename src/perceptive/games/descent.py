"""The perceptron as stochastic gradient descent, compared with batch descent (`004_…`); and copied features (`002_…`).

The perceptron criterion is E(v) = Σ max(0, −y·(v·x)): linear in v on the mistakes, and 0 elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from perceptive.games.examples import Floats, signed


class Epoch(NamedTuple):
    """After an epoch: the vector, the criterion, the number of errors (a score of 0 is one), and the updates made."""

    v: Floats
    criterion: float
    errors: int
    updates: int


def _epoch(Z: Floats, v: Floats, updates: int) -> Epoch:
    scores = Z @ v
    return Epoch(v.copy(), float(np.maximum(0.0, -scores).sum()), int((scores <= 0).sum()), updates)


def stochastic_descent(X: ArrayLike, y: ArrayLike, epochs: int) -> list[Epoch]:
    """The perceptron: v ← v − ∇E of one example at a time, for each that it gets wrong.

    Examples
    --------
    >>> X, y = [[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]], [-1, -1, -1, 1]   # AND
    >>> [epoch.errors for epoch in stochastic_descent(X, y, 9)][-1]
    0
    """
    Z = signed(X, y)
    v, found = np.zeros(Z.shape[1]), []
    for _ in range(epochs):
        updates = 0
        for z in Z:
            if v @ z <= 0:
                v = v + z
                updates += 1
        found.append(_epoch(Z, v, updates))
    return found


def batch_descent(X: ArrayLike, y: ArrayLike, epochs: int, learning_rate: float = 1.0) -> list[Epoch]:
    """v ← v − η·∇E of all examples at once: one update in an epoch.

    Examples
    --------
    >>> X, y = [[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]], [-1, -1, -1, 1]
    >>> batch_descent(X, y, 1)[0].v.tolist()
    [-2.0, 0.0, 0.0]
    """
    if not learning_rate > 0:
        raise ValueError(f"learning_rate={learning_rate}: give a number > 0")
    Z = signed(X, y)
    v, found = np.zeros(Z.shape[1]), []
    for _ in range(epochs):
        wrong = Z @ v <= 0
        v = v + learning_rate * Z[wrong].sum(axis=0)
        found.append(_epoch(Z, v, int(wrong.any())))
    return found


class Duplicated(NamedTuple):
    """Errors on the training data with this many copies of a feature."""

    copies: int
    counting: float
    perceptron: float


def duplicated_features(
    X: ArrayLike, y: ArrayLike, column: int, copies: ArrayLike, epochs: int = 20
) -> list[Duplicated]:
    """Copy a feature repeatedly, and compare a learner that counts (naive Bayes) with one that learns from mistakes.

    Counting gives each copy the weight of the first, as if the copies agreed independently. The perceptron updates only
    on errors, and stops when everything is right.

    Parameters
    ----------
    X : array of 0 and 1 of shape (n_samples, n_features)
    y : array of +1 and −1
    column : int
        The feature to copy.
    copies : sequence of int
        How many copies to add.
    epochs : int
        Epochs of the perceptron.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice([-1, 1], 400)
    >>> X = (rng.uniform(size=(400, 5)) < np.where(y > 0, 0.8, 0.2)[:, None]).astype(int)
    >>> few, many = duplicated_features(X, y, 0, [0, 20])
    >>> many.counting > few.counting + 0.05 and many.perceptron < many.counting
    True
    """
    examples, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
    signed(examples, labels)
    if not np.isin(examples, (0, 1)).all():
        raise ValueError("X must hold 0 and 1 only")
    if not -examples.shape[1] <= column < examples.shape[1]:
        raise ValueError(f"column={column}: X has {examples.shape[1]} columns")
    found = []
    for n in np.atleast_1d(np.asarray(copies, dtype=np.int64)).tolist():
        if n < 0:
            raise ValueError(f"copies={n}: give numbers ≥ 0")
        wide = np.hstack([examples, np.repeat(examples[:, [column]], n, axis=1), np.ones((len(examples), 1))])
        best = min(epoch.errors for epoch in stochastic_descent(wide, labels, epochs))
        counted = float(np.mean(_naive_bayes(wide[:, :-1], labels) * labels <= 0))
        found.append(Duplicated(n, counted, best / len(labels)))
    return found


def _naive_bayes(X: Floats, y: Floats) -> Floats:
    """log P(+ | x)/P(− | x) under independent features, counts smoothed by one."""
    scores = np.full(len(X), np.log((y > 0).sum() + 1.0) - np.log((y < 0).sum() + 1.0))
    p, q = ((X[mine].sum(axis=0) + 1.0) / (mine.sum() + 2.0) for mine in (y > 0, y < 0))
    scores += X @ np.log(p / q) + (1 - X) @ np.log((1 - p) / (1 - q))
    return scores
