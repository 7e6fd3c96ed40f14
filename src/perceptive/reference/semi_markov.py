"""Semi-Markov paths: labels whose segments have scores of their own (Sarawagi & Cohen 2004).

Labels are B-X, I-X and O; a path must keep to the BIO scheme, and no segment is longer than ``longest``. To the score
of the chain comes, for each segment [b, e) of type X, segment(b, e, X).
"""

import math
from collections.abc import Callable, Sequence

from perceptive.reference.viterbi import Path, Trellis, all_paths

Segment = tuple[int, int, str]  # begin, end, type


def segments_of(path: Path, labels: Sequence[str]) -> list[Segment] | None:
    """The segments of a path; None if it breaks the scheme."""
    found: list[Segment] = []
    for t, y in enumerate(path):
        prefix, _, kind = labels[y].partition("-")
        if prefix == "B":
            found.append((t, t + 1, kind))
        elif prefix == "I":
            if not found or found[-1][1] != t or found[-1][2] != kind:
                return None
            found[-1] = found[-1][0], t + 1, kind
    return found


def all_segmentations(
    x: Trellis, labels: Sequence[str], longest: int, segment: Callable[[int, int, str], float]
) -> list[tuple[float, Path]]:
    """Every path that may be with its score, the best first, equal ones in colexicographic order."""
    found = []
    for score, path in all_paths(x):
        segments = segments_of(path, labels)
        if segments is None or any(end - begin > longest for begin, end, _ in segments):
            continue
        found.append((score + sum(segment(*one) for one in segments), path))
    return sorted(found, key=lambda one: (-one[0], one[1][::-1]))


def semi_markov_viterbi(
    x: Trellis, labels: Sequence[str], longest: int, segment: Callable[[int, int, str], float]
) -> Path:
    """The best of them: best[t][y] is the best score of a path whose last segment ends at t with label y."""
    n = len(x.unary)
    index = {label: y for y, label in enumerate(labels)}
    best: list[dict[int, tuple[float, Path]]] = [{} for _ in range(n)]

    def key(way: tuple[float, Path]) -> tuple[float, list[int]]:
        return way[0], [-y for y in reversed(way[1])]

    def ways_before(t: int, y: int) -> tuple[float, Path]:
        if t == 0:
            return 0.0, ()
        return max(((score + x.edge[t][p][y], path) for p, (score, path) in best[t - 1].items()), key=key)

    for end in range(1, n + 1):
        for y, label in enumerate(labels):
            prefix, _, kind = label.partition("-")
            if prefix == "I":
                continue
            for begin in range(end - 1, max(-1, end - 1 - (longest if prefix == "B" else 1)), -1):
                if begin > 0 and not best[begin - 1]:
                    continue
                score, path = ways_before(begin, y)
                score += x.unary[begin][y]
                inside = index.get(f"I-{kind}", -1)
                if end - begin > 1 and inside < 0:
                    break
                for t in range(begin + 1, end):
                    score += x.edge[t][y if t == begin + 1 else inside][inside] + x.unary[t][inside]
                if prefix == "B":
                    score += segment(begin, end, kind)
                if score == -math.inf:
                    continue
                last = y if end - begin == 1 else inside
                way = score, (*path, y, *[inside] * (end - begin - 1))
                if last not in best[end - 1] or key(way) > key(best[end - 1][last]):
                    best[end - 1][last] = way
    return max(best[n - 1].values(), key=key)[1] if n else ()
