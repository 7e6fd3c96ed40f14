"""The prediction game (`002_…`): A picks a concept from a finite class C; B predicts its labels point by point.

M_B(C) is the largest number of mistakes that A can force B to make, and M(C) the smallest of these over all B.
Littlestone (1988): M(C) is the depth of the largest mistake tree, and VCdim(C) ≤ M(C) ≤ log₂|C|.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, Protocol, TypeVar

State = TypeVar("State")
Concepts = int  # a set of concepts: bit i stands for concept i


class Learner(Protocol[State]):
    """Player B: its knowledge is a hashable state."""

    def start(self, game: PredictionGame, concepts: Concepts) -> State:
        """Return its knowledge before the first round: the target is one of these."""

    def predict(self, game: PredictionGame, state: State, point: int) -> bool:
        """Return the label of a point, given by its number."""

    def learn(self, game: PredictionGame, state: State, point: int, label: bool) -> State:
        """Return its knowledge after seeing the answer."""


class PredictionGame:
    """A finite class of concepts over finitely many points.

    Parameters
    ----------
    concepts : sequence of callables
        Each returns True or False for a point. Concepts that label all points in the same way are one concept.
    points : sequence

    Attributes
    ----------
    labels : list of tuple of bool
        A row for each concept, a column for each point.

    Examples
    --------
    Thresholds on seven points: one point can be shattered, but three mistakes can be forced.

    >>> game = PredictionGame(thresholds(7), range(7))
    >>> len(game.labels), game.vc_dimension(), game.littlestone_dimension()
    (8, 1, 3)
    >>> game.mistake_bound(Halving()), game.mistake_bound(FirstConsistent())
    (3.0, 7.0)
    """

    def __init__(self, concepts: Sequence[Callable[[Any], Any]], points: Sequence[Any]) -> None:
        self.points = list(points)
        rows = [tuple(bool(concept(x)) for x in self.points) for concept in concepts]
        self.labels = list(dict.fromkeys(rows))
        if not self.labels or not self.points:
            raise ValueError(f"{len(rows)} concepts over {len(self.points)} points; give one of each at least")
        if len(self.labels) > 4096:
            raise ValueError(f"{len(self.labels)} concepts are too many to look through; give 4096 at most")
        self.all: Concepts = (1 << len(self.labels)) - 1
        columns = zip(*self.labels, strict=True)
        self._positive = [sum(1 << i for i, label in enumerate(column) if label) for column in columns]
        self._depth: dict[Concepts, int] = {}
        self._worst: dict[Learner[Any], dict[tuple[Concepts, Any], float]] = {}

    def consistent(self, concepts: Concepts, point: int, label: bool) -> Concepts:
        """Return the concepts among these that give a point this label."""
        return concepts & (self._positive[point] if label else ~self._positive[point])

    @property
    def halving_bound(self) -> float:
        """log₂|C|: the halving algorithm never makes more mistakes."""
        return math.log2(len(self.labels))

    def littlestone_dimension(self, concepts: Concepts | None = None) -> int:
        """M(C): the depth of the largest tree whose every node is a point that splits the remaining concepts."""
        concepts = self.all if concepts is None else concepts
        if concepts & (concepts - 1) == 0:
            return 0 if concepts else -1
        if concepts not in self._depth:
            depth = 0
            for positive in self._positive:
                one, other = concepts & positive, concepts & ~positive
                if one and other:
                    depth = max(depth, 1 + min(self.littlestone_dimension(one), self.littlestone_dimension(other)))
            self._depth[concepts] = depth
        return self._depth[concepts]

    def vc_dimension(self, concepts: Concepts | None = None) -> int:
        """The largest number of points that the concepts label in every way."""
        concepts = self.all if concepts is None else concepts
        if not concepts:
            return -1
        size = 0
        while any(self._shatters(concepts, chosen) for chosen in combinations(range(len(self.points)), size + 1)):
            size += 1
        return size

    def _shatters(self, concepts: Concepts, points: Sequence[int]) -> bool:
        """Whether they label these points in every way."""
        parts = [concepts]
        for point in points:
            positive = self._positive[point]
            parts = [part for each in parts for part in (each & positive, each & ~positive)]
            if not all(parts):
                return False
        return True

    def mistake_bound(self, learner: Learner[Any], concepts: Concepts | None = None) -> float:
        """Return M_B(C): the most mistakes of B, over all concepts and all sequences of points; ∞ if unbounded."""
        concepts = self.all if concepts is None else concepts
        known = self._worst.setdefault(learner, {})
        on_the_way: dict[tuple[Concepts, Any], int] = {}  # positions, and the mistakes until then

        def forced(concepts: Concepts, state: Any, made: int) -> float:
            """Count further mistakes, depth first: a position is what A may still mean, and what B knows."""
            here = concepts, state
            if here in known:
                return known[here]
            if here in on_the_way:
                return math.inf if made > on_the_way[here] else 0.0
            on_the_way[here] = made
            worst = 0.0
            for point in range(len(self.points)):
                said = learner.predict(self, state, point)
                for label in (False, True):
                    left = self.consistent(concepts, point, label)
                    if left:
                        wrong = said != label
                        after = learner.learn(self, state, point, label)
                        worst = max(worst, wrong + forced(left, after, made + wrong))
            del on_the_way[here]
            known[here] = worst
            return worst

        return forced(concepts, learner.start(self, concepts), 0)

    def play(self, learner: Learner[Any], concept: int, points: Sequence[int]) -> Iterator[bool]:
        """Let B predict a concept on these points, by their numbers; return whether it errs in each round."""
        state = learner.start(self, self.all)
        for point in points:
            label = self.labels[concept][point]
            yield learner.predict(self, state, point) != label
            state = learner.learn(self, state, point, label)


class _VersionSpace:
    """What such learners know: the concepts that agree with all labels seen so far."""

    def start(self, game: PredictionGame, concepts: Concepts) -> Concepts:
        """Return all concepts."""
        return concepts

    def learn(self, game: PredictionGame, state: Concepts, point: int, label: bool) -> Concepts:
        """Return the concepts that agree with this label, too."""
        return game.consistent(state, point, label)


class Halving(_VersionSpace):
    """Predicts with the majority of the remaining concepts: each mistake at least halves them. Ties mean False."""

    def predict(self, game: PredictionGame, state: Concepts, point: int) -> bool:
        """Return the label that more concepts give."""
        positive = game.consistent(state, point, True).bit_count()
        return positive > state.bit_count() - positive


class Optimal(_VersionSpace):
    """Littlestone's standard optimal algorithm: predicts the label that would leave more mistakes to come."""

    def predict(self, game: PredictionGame, state: Concepts, point: int) -> bool:
        """Return the label with the deeper tree."""
        depth = [game.littlestone_dimension(game.consistent(state, point, label)) for label in (False, True)]
        return depth[1] > depth[0]


class FirstConsistent(_VersionSpace):
    """Predicts with the first concept of the list that agrees with what it was told."""

    def predict(self, game: PredictionGame, state: Concepts, point: int) -> bool:
        """Return the label that this concept gives."""
        first = (state & -state).bit_length() - 1
        return game.labels[first][point]


def thresholds(n: int) -> list[Callable[[int], bool]]:
    """x ≥ t for t = 0 … n: the n + 1 thresholds on n points in a row.

    Examples
    --------
    >>> [[concept(x) for x in range(2)] for concept in thresholds(2)]
    [[True, True], [False, True], [False, False]]
    """
    return [lambda x, t=t: x >= t for t in range(n + 1)]  # type: ignore[misc]


def monotone_conjunctions(n: int) -> list[Callable[[Sequence[int]], bool]]:
    """The 2ⁿ conjunctions of some of n variables; that of none is true.

    Examples
    --------
    >>> both = monotone_conjunctions(2)[3]
    >>> both((1, 0)), both((1, 1))
    (False, True)
    """
    chosen = [[j for j in range(n) if bits >> j & 1] for bits in range(1 << n)]
    return [lambda x, js=js: all(x[j] for j in js) for js in chosen]  # type: ignore[misc]
