"""Lists of candidates that the tests of rankers share."""

import numpy as np


def lists_by_weights(n, noisy=False):
    """n lists of vectors, and the index of the best under some weights; of noisy ones each ninth is arbitrary."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=6)
    X = [rng.normal(size=(size, 6)) for size in rng.integers(1, 9, size=n)]
    return X, [0 if noisy and i % 9 == 0 else int(np.argmax(xs @ w)) for i, xs in enumerate(X)]
