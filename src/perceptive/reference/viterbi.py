"""Paths through the trellis of a sentence: the best one, the k best, the best through each label.

score(y) = Σ_t unary[t][y_t] + Σ_{t≥1} edge[t][y_{t−1}][y_t] + Σ_{t≥2} triple[y_{t−2}][y_{t−1}][y_t]

What is not allowed scores −∞. Of equal paths the lowest wins, labels compared from the end backwards (colexicographic).
`all_paths` lists all of them: it is the specification of the other functions.
"""

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

Path = tuple[int, ...]
Scored = tuple[float, Path]
Said = int | Collection[int] | None  # of a token's label: which it is, that it is one of some, or nothing


@dataclass
class Trellis:
    """The potentials of a sentence: n × L, n × L × L (the first matrix unused), L × L × L or None."""

    unary: Sequence[Sequence[float]]
    edge: Sequence[Sequence[Sequence[float]]]
    triple: Sequence[Sequence[Sequence[float]]] | None = None

    def score(self, path: Path) -> float:
        """Return the sum of the potentials along a path."""
        total = 0.0
        for t, y in enumerate(path):
            total += self.unary[t][y]
            if t >= 1:
                total += self.edge[t][path[t - 1]][y]
            if t >= 2 and self.triple is not None:
                total += self.triple[path[t - 2]][path[t - 1]][y]
        return total


def all_paths(x: Trellis) -> list[Scored]:
    """Return every allowed path, the best first, equal ones in colexicographic order."""
    n, labels = len(x.unary), range(len(x.unary[0]) if x.unary else 0)
    return best_first([(x.score(path), path) for path in itertools.product(labels, repeat=n)])


def best_first(paths: list[Scored], k: int | None = None) -> list[Scored]:
    """Return the allowed paths, or the k best of them, equal ones in colexicographic order."""
    possible = [one for one in paths if one[0] > -math.inf]
    return sorted(possible, key=lambda one: (-one[0], one[1][::-1]))[:k]


def viterbi(x: Trellis) -> Path:
    """Return the best path of the first order: best[t][y] is the best score of a path that ends in y at t."""
    if not x.unary:
        return ()
    assert x.triple is None
    labels = range(len(x.unary[0]))
    best = [list(x.unary[0])]
    for t in range(1, len(x.unary)):
        best.append([max(best[t - 1][p] + x.edge[t][p][y] for p in labels) + x.unary[t][y] for y in labels])
    y = max(labels, key=lambda c: best[-1][c])  # max gives the lowest of equals
    path = [y]
    for t in range(len(x.unary) - 1, 0, -1):
        y = max(labels, key=lambda p: best[t - 1][p] + x.edge[t][p][y])
        path.append(y)
    return tuple(reversed(path))


def going_on(best: Sequence[float], edge: Sequence[Sequence[float]]) -> list[int]:
    """Return the labels through which a best path may continue: no other is better, whatever label comes next.

    ``best`` are the scores of the best paths that end in each label, ``edge`` the scores of the pairs to come. Labels
    are compared if the same labels may follow them.
    """
    group = [tuple(score > -math.inf for score in row) for row in edge]
    least = dict.fromkeys(group, -math.inf)
    for y, score in enumerate(best):
        allowed = min((pair for pair in edge[y] if pair > -math.inf), default=-math.inf)
        least[group[y]] = max(least[group[y]], score + allowed)
    return [y for y, score in enumerate(best) if score > -math.inf and score + max(edge[y]) >= least[group[y]]]


def viterbi_of_many(x: Trellis) -> Path:
    """Do the same as `viterbi` for many labels: at each token, keep only the labels of `going_on`."""
    if not x.unary:
        return ()
    labels = range(len(x.unary[0]))
    best, states = list(x.unary[0]), []
    for t in range(1, len(x.unary)):
        states.append([(p, best[p]) for p in going_on(best, x.edge[t])])
        best = [max(score + x.edge[t][p][y] for p, score in states[-1]) + x.unary[t][y] for y in labels]
    y = max(labels, key=lambda c: best[c])
    path = [y]
    for t in range(len(x.unary) - 1, 0, -1):
        ways = {p: score + x.edge[t][p][y] for p, score in states[t - 1]}
        y = max(ways, key=lambda p: ways[p])
        path.append(y)
    return tuple(reversed(path))


def k_best(x: Trellis, k: int) -> list[Scored]:
    """Return the k best paths: for each token and label it is enough to keep the k best paths that end there."""
    if not x.unary:
        return [(0.0, ())]
    labels = range(len(x.unary[0]))
    ways: dict[Path, list[Scored]] = {(y,): [(x.unary[0][y], (y,))] for y in labels}
    last = 1 if x.triple is None else 2  # what of a path the future looks at
    for _ in range(1, len(x.unary)):
        longer: dict[Path, list[Scored]] = {}
        for some in ways.values():
            for _, path in some:
                for y in labels:
                    more = (*path, y)
                    longer.setdefault(more[-last:], []).append((_prefix_score(x, more), more))
        ways = {end: best_first(some, k) for end, some in longer.items()}
    return best_first([one for some in ways.values() for one in some], k)


def _prefix_score(x: Trellis, path: Path) -> float:
    return Trellis(x.unary[: len(path)], x.edge, x.triple).score(path)


def max_marginals(x: Trellis, paths: list[Scored] | None = None) -> list[list[float]]:
    """Return for each token and label the score of the best path through it, −∞ if there is none."""
    best = [[-math.inf] * len(row) for row in x.unary]
    for score, path in all_paths(x) if paths is None else paths:
        for t, y in enumerate(path):
            best[t][y] = max(best[t][y], score)
    return best


def beamed(x: Trellis, beam: int) -> Trellis:
    """Return the trellis of the states that a beam keeps, the best at each token; all of it if these lead nowhere.

    A state is a label, with triples two (from the second token); of equal ones the lowest are kept.
    """
    labels = range(len(x.unary[0]))
    size = 1 if x.triple is None or len(x.unary) == 1 else 2
    ways: dict[Path, float] = {(y,): x.unary[0][y] for y in labels}  # state: the best score of a path that ends in it
    ways = ways if size == 2 else _largest(ways, beam)
    kept = [set(ways)]
    for t in range(1, len(x.unary)):
        longer: dict[Path, float] = {}
        for state, score in ways.items():
            for y in labels:
                step = x.edge[t][state[-1]][y] + x.unary[t][y]
                if x.triple is not None and t > 1:
                    step += x.triple[state[0]][state[1]][y]
                end = (*state, y)[-size:]
                longer[end] = max(longer.get(end, -math.inf), score + step)
        ways = _largest(longer, beam)
        kept.append(set(ways))
    unary, edge = [list(row) for row in x.unary], [[list(row) for row in matrix] for matrix in x.edge]
    for t, p, y in itertools.product(range(len(unary)), labels, labels):
        if size == 1 and (y,) not in kept[t]:
            unary[t][y] = -math.inf
        if size == 2 and t and (p, y) not in kept[t]:
            edge[t][p][y] = -math.inf
    narrow = Trellis(unary, edge, x.triple)
    return narrow if all_paths(narrow) else x


def _largest(ways: dict[Path, float], beam: int) -> dict[Path, float]:
    return dict(sorted(ways.items(), key=lambda one: (-one[1], one[0]))[:beam])


def fits(y: int, said: Said) -> bool:
    """Return whether a label agrees with what is known about it."""
    if said is None:
        return True
    return y == said if isinstance(said, int) else y in said


def forced(x: Trellis, labels: Sequence[Said]) -> Trellis:
    """Return the trellis without labels that contradict what is known about their tokens."""
    unary = [
        [score if fits(y, said) else -math.inf for y, score in enumerate(row)]
        for row, said in zip(x.unary, labels, strict=True)
    ]
    return Trellis(unary, x.edge, x.triple)
