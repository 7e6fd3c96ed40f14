"""Dot products in a fixed order, so that rounding is the same on every machine and in both languages."""

import math
from collections.abc import Sequence

Row = Sequence[tuple[int, float]]
LANES = 8


def sum_lanes(s: Sequence[float]) -> float:
    """Return the sum of the lanes, added in pairs."""
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))


def check_round(x: Row, n_features: int, weight: float) -> None:
    """Raise ValueError for what cannot be learned from."""
    for j, value in x:
        if not 0 <= j < n_features:
            raise ValueError(f"feature index {j} is outside 0 … {n_features - 1}")
        if not math.isfinite(value):
            raise ValueError(f"feature {j} is {value}")
    if not (math.isfinite(weight) and weight >= 0):
        raise ValueError(f"weight is {weight}; it must be finite and not negative")


def dot(v: Sequence[float], x: Row) -> float:
    """Return v·x: entry p of the row is added to lane p mod 8, the lanes are summed at the end."""
    lanes = [0.0] * LANES
    for p, (j, value) in enumerate(x):
        lanes[p % LANES] += v[j] * value
    return sum_lanes(lanes)


def squared_norm(x: Row) -> float:
    """Return ‖x‖², in the same lanes."""
    lanes = [0.0] * LANES
    for p, (_, value) in enumerate(x):
        lanes[p % LANES] += value * value
    return sum_lanes(lanes)


def scale_of(x: Row, normalize: bool) -> float:
    """Return 1/‖x‖ if rows are normalised, else 1."""
    length = squared_norm(x)
    return 1.0 / math.sqrt(length) if normalize and length > 0 else 1.0


def weighted_squared_norm(sigma: Sequence[float], x: Row) -> float:
    """Return Σ_j σ_j x_j², in the same lanes: the variance of the score under a diagonal Σ."""
    lanes = [0.0] * LANES
    for p, (j, value) in enumerate(x):
        lanes[p % LANES] += sigma[j] * (value * value)
    return sum_lanes(lanes)
