"""Examples as dicts, in five classes."""

import numpy as np


def dicts_of(seed: int, n: int, names: int) -> tuple[list[dict[str, float]], list[str]]:
    """Examples whose label is told by one of their names."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        label = int(rng.integers(5))
        told = {f"of {label}": 1.0}
        X.append(told | {f"n{rng.integers(names)}": float(rng.integers(1, 4)) for _ in range(4)})
        y.append(f"class {label}")
    return X, y
