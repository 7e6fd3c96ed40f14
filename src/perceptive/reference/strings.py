"""String kernels, written like their definitions: every subsequence is a feature."""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations

Symbols = Sequence[Hashable]


def spectrum(x: Symbols, y: Symbols, n: int, *, distinct: bool = False) -> int:
    """Return Σ_u |x|_u |y|_u over the substrings u of length n; ``distinct`` counts each common substring once.

    Examples
    --------
    >>> spectrum("aab", "aaab", 2), spectrum("aab", "aaab", 2, distinct=True)
    (3, 2)
    """
    counts = [Counter(tuple(z[i : i + n]) for i in range(len(z) - n + 1)) for z in (x, y)]
    common = counts[0].keys() & counts[1].keys()
    return len(common) if distinct else sum(counts[0][u] * counts[1][u] for u in common)


def subsequence_features(x: Symbols, n: int, decay: float) -> dict[tuple[Hashable, ...], float]:
    """Return φ_u(x): the sum of decay^(length spanned) over all places where u occurs in x, gaps allowed."""
    features: dict[tuple[Hashable, ...], float] = {}
    for places in combinations(range(len(x)), n):
        u = tuple(x[i] for i in places)
        features[u] = features.get(u, 0.0) + decay ** (places[-1] - places[0] + 1)
    return features


def subsequence(x: Symbols, y: Symbols, n: int, decay: float) -> float:
    """Lodhi, Saunders, Shawe-Taylor, Cristianini & Watkins 2002, Definition 1: by enumeration.

    Examples
    --------
    >>> subsequence("aab", "aaab", 2, 1.0)
    9.0
    >>> subsequence("cat", "car", 2, 0.5) == 0.5**4
    True
    """
    a, b = subsequence_features(x, n, decay), subsequence_features(y, n, decay)
    return sum(value * b[u] for u, value in a.items() if u in b)


def subsequence_by_recursion(x: Symbols, y: Symbols, n: int, decay: float) -> float:
    """Return the same by their Definition 2, O(n|x||y|): K'_i over prefixes, each i from the one before."""
    before = [[1.0] * (len(y) + 1) for _ in range(len(x) + 1)]  # K'_0
    for _ in range(1, n):
        now = [[0.0] * (len(y) + 1) for _ in range(len(x) + 1)]
        for s in range(1, len(x) + 1):
            run = 0.0  # K''_i
            for t in range(1, len(y) + 1):
                run *= decay
                if x[s - 1] == y[t - 1]:
                    run += decay * decay * before[s - 1][t - 1]
                now[s][t] = decay * now[s - 1][t] + run
        before = now
    return sum(
        decay * decay * before[s][t] for s in range(len(x)) for t in range(len(y)) if x[s] == y[t]
    )  # fmt: skip


def all_subsequences(x: Symbols, y: Symbols) -> int:
    """Return Σ_u (places of u in x)·(places of u in y) over all subsequences u, the empty one included.

    Examples
    --------
    >>> all_subsequences("ab", "ab")  # "", "a", "b", "ab"
    4
    """
    counts = [
        Counter(tuple(z[i] for i in p) for k in range(len(z) + 1) for p in combinations(range(len(z)), k))
        for z in (x, y)
    ]
    return sum(count * counts[1][u] for u, count in counts[0].items())
