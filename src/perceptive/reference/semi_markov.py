"""Semi-Markov paths: labels whose segments have scores of their own (Sarawagi & Cohen 2004).

Labels are B-X, I-X and O; a path must follow the BIO scheme, and no segment is longer than ``longest``. The score of a
path is that of the chain plus segment(b, e, X) for each segment [b, e) of type X.
"""

from collections.abc import Callable, Sequence

from perceptive.reference.viterbi import Path, Scored, Trellis, all_paths, best_first, max_marginals

Segment = tuple[int, int, str]  # begin, end, type
SegmentScore = Callable[[int, int, str], float]


def segments_of(path: Path, labels: Sequence[str]) -> list[Segment] | None:
    """Return the segments of a path; None if it breaks the scheme."""
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


def all_segmentations(x: Trellis, labels: Sequence[str], longest: int, segment: SegmentScore) -> list[Scored]:
    """Return every allowed path with its score, the best first, equal ones in colexicographic order."""
    found = []
    for score, path in all_paths(x):
        segments = segments_of(path, labels)
        if segments is None or any(end - begin > longest for begin, end, _ in segments):
            continue
        found.append((score + sum(segment(*one) for one in segments), path))
    return best_first(found)


def semi_markov_k_best(x: Trellis, labels: Sequence[str], longest: int, segment: SegmentScore, k: int) -> list[Scored]:
    """Return the k best paths: ways[t][y] are the k best paths whose last segment ends at t with label y."""
    n = len(x.unary)
    index = {label: y for y, label in enumerate(labels)}
    ways: list[dict[int, list[Scored]]] = [{} for _ in range(n)]
    if not n:
        return [(0.0, ())]

    def ways_before(t: int, y: int) -> list[Scored]:
        if t == 0:
            return [(0.0, ())]
        return [(score + x.edge[t][p][y], path) for p, some in ways[t - 1].items() for score, path in some]

    for end in range(1, n + 1):
        for y, label in enumerate(labels):
            prefix, _, kind = label.partition("-")
            if prefix == "I":
                continue
            inside = index.get(f"I-{kind}", -1)
            for begin in range(end - 1, max(-1, end - 1 - (longest if prefix == "B" else 1)), -1):
                if end - begin > 1 and inside < 0:
                    break
                own = x.unary[begin][y]
                for t in range(begin + 1, end):
                    own += x.edge[t][y if t == begin + 1 else inside][inside] + x.unary[t][inside]
                if prefix == "B":
                    own += segment(begin, end, kind)
                last = y if end - begin == 1 else inside
                mine = [
                    (score + own, (*path, y, *[inside] * (end - begin - 1))) for score, path in ways_before(begin, y)
                ]
                ways[end - 1][last] = best_first([*ways[end - 1].get(last, []), *mine], k)
    return best_first([one for some in ways[n - 1].values() for one in some], k)


def semi_markov_viterbi(x: Trellis, labels: Sequence[str], longest: int, segment: SegmentScore) -> Path:
    """Return the best path."""
    return semi_markov_k_best(x, labels, longest, segment, 1)[0][1]


def semi_markov_max_marginals(
    x: Trellis, labels: Sequence[str], longest: int, segment: SegmentScore
) -> list[list[float]]:
    """Return for each token and label the score of the best path through it, −∞ if there is none."""
    return max_marginals(x, all_segmentations(x, labels, longest, segment))
