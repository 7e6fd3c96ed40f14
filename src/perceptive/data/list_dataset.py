"""`ListDataset`: checked lists of candidates with their grades; and `RankedRows`, whose candidates are rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.cached import cached
from perceptive.data.dataset import ODD, Dataset, Margins, Order, Problem, mix
from perceptive.data.rows import as_witness

if TYPE_CHECKING:
    from perceptive.learners.ranking import RankingLearner

CHUNK = 2_000_000  # entries and pairs that one call into the core plays
Floats = NDArray[np.float64]


class ListDataset(Dataset):
    """Lists of candidates of any kind: list t is the candidates from ``starts[t]`` up to ``starts[t + 1]``."""

    def __init__(self, learner: Any, starts: NDArray[np.int64], grades: Floats, weights: Floats | None) -> None:
        self.learner, self.starts, self.grades, self.weights = learner, starts, grades, weights
        self.gains = gains(grades, starts, learner.parameters.cost)
        # that auto is not settled means that no candidate is better than another: nothing is learned
        self.pairs = "best" if learner.parameters.pairs == "auto" else learner.parameters.pairs

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def candidate_hashes(self) -> NDArray[np.uint64]:
        """64 bits of each candidate."""
        raise NotImplementedError

    @cached
    def present(self) -> NDArray[np.bool_]:
        """Lists with a weight in which some candidate is better than another."""
        differ = has_preference(self.grades, self.starts)
        return differ if self.weights is None else differ & (self.weights > 0)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        hashes = mix(self.candidate_hashes * ODD + (self.grades + 0.0).view(np.uint64))
        lists: NDArray[np.uint64] = np.add.reduceat(hashes, self.starts[:-1])
        if self.weights is not None:
            lists = mix(lists) * (self.weights.view(np.uint64) | np.uint64(1))
        return mix(lists)

    def list_margins(
        self, scores: dict[str, Floats], shortest: Floats, longest: Floats, equal: NDArray[np.int64], rule: str
    ) -> Margins:
        """Margins from the scores of all candidates under unit witnesses, and the lengths of the pairs of each list.

        Parameters
        ----------
        scores : dict
            For each witness u·x of every candidate.
        shortest, longest : arrays
            Of each list the smallest ‖x_i − x_j‖² above 0, and the largest.
        equal : array
            How many pairs of each list are equal.
        """
        p, present = self.learner.parameters, self.present
        weights = None if self.weights is None else self.weights[present]
        scale = 1.0 if weights is None else weights**2
        lengths2 = (shortest + p.delta**2)[present] * scale
        radius2 = float(((longest + p.delta**2)[present] * scale).max(initial=0.0))
        margins = {}
        for name, of_candidates in scores.items():
            out = np.empty(len(self))
            _core.list_margins(of_candidates, self.starts, self.grades, self.pairs, out)
            margins[name] = out[present] if weights is None else out[present] * weights
        # Two candidates that are the same are a mistake that teaches nothing: a round of its own for PA's theorem.
        counted = rule in ("pa", "mira") and not p.delta
        return Margins(margins, lengths2, radius2, weights, (equal[present] > 0) & (lengths2 > 0) if counted else None)


class RankedRows(ListDataset):
    """Lists whose candidates are rows, ready to be played by a `RankingLearner`."""

    learner: RankingLearner
    resumable = False  # a run over files is resumed between two blocks

    def __init__(
        self,
        learner: RankingLearner,
        rows: _core.Rows,
        starts: NDArray[np.int64],
        grades: Floats,
        weights: Floats | None,
    ) -> None:
        super().__init__(learner, starts, grades, weights)
        self.rows = rows

    @property
    def candidate_hashes(self) -> NDArray[np.uint64]:
        return np.asarray(self.rows.hashes)

    def chunks(self, order: Order) -> Iterator[Order]:
        sizes = np.diff(self.starts)[order]
        work = sizes * max(1.0, self.rows.stored / self.rows.n)
        if self.pairs == "all" and self.gains is not None:  # every pair is looked at
            work += sizes * sizes
        block = (np.cumsum(work) - work) // CHUNK
        yield from np.split(order, np.flatnonzero(np.diff(block)) + 1) if len(order) else []

    def play(self, order: Order) -> None:
        learner = self.learner
        with learner.lock.learning(), learner.lock.changing():
            learner.vector.learn_lists(self.rows, order, self.starts, self.grades, self.gains, self.weights, self.pairs)

    def check(self) -> None:
        self.learner.check_growth()

    def margins(self, problems: Sequence[Problem]) -> Iterator[Margins]:
        [problem] = problems
        p, n = self.learner.parameters, len(self)
        shortest, longest, equal = np.empty(n), np.empty(n), np.empty(n, np.int64)
        _core.list_lengths(self.rows, self.starts, self.grades, self.pairs, p.normalize, shortest, longest, equal)
        scores = {}
        for name, witness in problem.witnesses.items():
            if math.isfinite(witness.length) and witness.length > 0.0:
                w, b = witness.vector
                w = as_witness(w, self.rows)
                scores[name] = self.learner.vector.linear(self.rows, w, b)[:, 0] / witness.length
        yield self.list_margins(scores, shortest, longest, equal, p.rule)


def has_preference(grades: Floats, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Lists in which some candidate is better than another."""
    differ: NDArray[np.bool_] = np.maximum.reduceat(grades, starts[:-1]) > np.minimum.reduceat(grades, starts[:-1])
    return differ


def graded_as(grades: Floats, starts: NDArray[np.int64]) -> tuple[bool, set[float]]:
    """Of lists with a preference: whether each has one best candidate and equal others; and their grades."""
    differ = has_preference(grades, starts)
    sizes, first = np.diff(starts), starts[:-1]
    top, low = np.maximum.reduceat(grades, first), np.minimum.reduceat(grades, first)
    at_top = np.add.reduceat(grades == np.repeat(top, sizes), first, dtype=np.int64)
    at_low = np.add.reduceat(grades == np.repeat(low, sizes), first, dtype=np.int64)
    one_best = bool(((at_top == 1) & (at_low == sizes - 1))[differ].all())
    return one_best, {*np.unique(grades[np.repeat(differ, sizes)]).tolist()}


def settled_pairs(parts: Iterable[tuple[bool, set[float]]]) -> tuple[str, str | None] | None:
    """What ``pairs="auto"`` is for lists, and the cost; None where no candidate is better than another.

    Parts of them are told by `graded_as`.

    Examples
    --------
    >>> settled_pairs([graded_as(np.array([0.0, 1.0, 0.0, 2.0, 0.0]), np.array([0, 3, 5]))])
    ('best', None)
    >>> [settled_pairs([graded_as(np.array(one), np.array([0, 3]))]) for one in ([0.0, 1.0, 1.0], [0.0, 1.0, 2.0])]
    [('all', None), ('all', 'grade')]
    """
    parts = list(parts)
    grades = set[float]().union(*(some for _, some in parts))
    if not grades:
        return None
    if all(one_best for one_best, _ in parts):
        return "best", None
    return "all", "grade" if len(grades) > 2 else None


def gains(grades: Floats, starts: NDArray[np.int64], cost: str | None) -> Floats | None:
    """The c of the costs c_i − c_j: the grades, or the discounts 1/log₂(place + 1), which equal grades share."""
    if cost is None or cost == "grade":
        return None if cost is None else grades.copy()
    sizes = np.diff(starts)
    which = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((-grades, which))
    discounts = 1.0 / np.log2(np.arange(len(grades)) - np.repeat(starts[:-1], sizes) + 2.0)
    first = np.ones(len(grades), bool)
    first[1:] = (np.diff(which[order]) != 0) | (np.diff(grades[order]) != 0)
    begin = np.flatnonzero(first)
    mean = np.add.reduceat(discounts, begin) / np.diff([*begin, len(grades)])
    shared: Floats = np.empty_like(discounts)
    shared[order] = np.repeat(mean, np.diff([*begin, len(grades)]))
    return shared
