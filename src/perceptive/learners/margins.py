"""What max-marginals say of how sure labels are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Path = NDArray[np.int64]
Scores = NDArray[np.float64]  # tokens × labels


def merged(path: Path, scores: Scores, names: Sequence[Any], classes: Sequence[Any]) -> tuple[Path, Scores]:
    """Labels within as the user's: of those that have one name the best counts."""
    place = {label: i for i, label in enumerate(classes)}
    to = np.array([place[name] for name in names])
    joined = np.full((len(path), len(place)), -np.inf)
    for y, there in enumerate(to.tolist()):
        joined[:, there] = np.maximum(joined[:, there], scores[:, y])
    return to[path], joined


def lost_by_others(path: Path, scores: Scores) -> NDArray[np.float64]:
    """For each token: the score lost by the best path that has another label there.

    Examples
    --------
    >>> lost_by_others(np.array([0, 1]), np.array([[3.0, 2.5], [-np.inf, 3.0]]))
    array([0.5, inf])
    """
    rows = np.arange(len(path))
    best = scores[rows, path]
    others = scores.copy()
    others[rows, path] = -np.inf
    with np.errstate(invalid="ignore"):
        lost: NDArray[np.float64] = np.maximum(0.0, best - others.max(axis=1, initial=-np.inf))
    return lost
