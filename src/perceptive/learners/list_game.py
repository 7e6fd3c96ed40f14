"""What learners of lists share, whatever a candidate is: being told the best, finding it, and what a pass plays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.learners.linear import as_floats
from perceptive.learners.lists import grades_of
from perceptive.rules import RULES

_ODD = np.uint64(0x9E3779B97F4A7C15)


class ListLearner:
    """``learn`` and ``find_best`` of the notes, from what a learner of lists knows: `prepare` and `scores`."""

    parameters: Any

    def __init__(self) -> None:
        self.fingerprint = 0  # sum of the hashes of all lists played
        self.played = 0  # how many those were; a pass broken off counts as whole
        self.ids = 0  # id features that the Δ-trick has handed out
        self.first_pass: tuple[int, int] | None = None  # its rounds and mistakes, where there were more

    def candidates(self, xs: Any) -> Any:
        """One list of candidates, checked for what it is made of."""
        raise NotImplementedError

    def prepare(self, X: Any, grades: Any, sizes: Any, weights: Any = None) -> Any:
        """Check lists and make them ready to be played."""
        raise NotImplementedError

    def scores(self, X: Any, sizes: Any = None, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Scores of candidates."""
        raise NotImplementedError

    @property
    def mistakes(self) -> int:
        """Lists whose best did not win."""
        raise NotImplementedError

    def finish(self) -> None:
        """Learning is over for now."""

    # ------------------------------------------------------------ learning

    def check_weights(self, given: Any, n: int) -> NDArray[np.float64] | None:
        """Weights of n lists; None where all are 1."""
        if given is None:
            return None
        weights = as_floats(given, "sample_weight")
        if weights.shape != (n,):
            raise ValueError(f"sample_weight has shape {weights.shape}; give one weight for each of the {n} lists")
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError("sample_weight must be finite and not negative")
        rule = self.parameters.rule
        if not RULES[rule].takes_weights and not np.isin(weights, (0, 1)).all():
            raise ValueError(f"weights other than 0 and 1 do not go with rule={rule!r}; choose another rule")
        return None if (weights == 1).all() else weights

    def learn(self, xs: Any, best: Any, weight: float = 1.0) -> bool:
        """Be told which candidate is best: its index from 0 on, or a set of those equally good.

        Returns whether it was a mistake: whether none of them won.
        """
        xs = self.candidates(xs)
        n = xs.shape[0] if hasattr(xs, "shape") else len(xs)
        return self.learn_graded(xs, grades_of(best, n), weight)

    def learn_graded(self, xs: Any, grades: Any, weight: float = 1.0) -> bool:
        """Be told how good each candidate is. Returns whether it was a mistake."""
        xs = self.candidates(xs)
        before = self.mistakes
        n = xs.shape[0] if hasattr(xs, "shape") else len(xs)
        self.learn_many(xs, grades, [n], None if weight == 1.0 else [weight])
        return self.mistakes > before

    def learn_many(self, X: Any, grades: Any, sizes: Any, weights: Any = None) -> None:
        """Learn from many lists, in the order given; the arguments are those of `prepare`."""
        self.prepare(X, grades, sizes, weights).play_as_they_come()

    # ------------------------------------------------------------ predicting

    def find_best(self, xs: Any, hypothesis: str | None = None) -> int:
        """The notes' ``findBest``, counted from 0; ties go to the lowest index."""
        return int(np.argmax(self.scores(self.candidates(xs), None, hypothesis)))

    def rank(self, xs: Any, hypothesis: str | None = None) -> list[tuple[int, float]]:
        """The candidates from best to worst, each with its score; ties in the order given."""
        scores = self.scores(self.candidates(xs), None, hypothesis)
        return [(int(j), float(scores[j])) for j in np.argsort(-scores, kind="stable")]


class ListLesson:
    """Checked lists: which of them a pass plays, and their fingerprint."""

    def __init__(
        self,
        learner: Any,
        starts: NDArray[np.int64],
        grades: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
    ) -> None:
        self.learner, self.starts, self.grades, self.weights = learner, starts, grades, weights
        self.gains = gains(grades, starts, learner.parameters.cost)
        self._recorded = False

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """64 bits of each candidate."""
        raise NotImplementedError

    def chunks(self, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """The order in parts, between which Ctrl-C is answered and progress shown."""
        raise NotImplementedError

    def play(self, order: NDArray[np.int64]) -> None:
        """Play the lists in this order, all in one go."""
        raise NotImplementedError

    def play_as_they_come(self, order: NDArray[np.int64] | None = None) -> None:
        """Play the lists once, as they lie or in another order."""
        try:
            for chunk in self.chunks(np.arange(len(self)) if order is None else order):
                self.play(chunk)
        except KeyboardInterrupt:
            self.record()
            raise
        self.record()
        if len(self) > 1:
            self.learner.finish()

    def record(self) -> None:
        """Note that every list has been played (or was to be) once more."""
        learner = self.learner
        learner.fingerprint = (learner.fingerprint + self.fingerprint()) % 2**64
        learner.played += self.n_played
        if not self._recorded:  # later passes meet the same id features again
            learner.ids += self.n_played
        self._recorded = True

    @property
    def present(self) -> NDArray[np.bool_]:
        """Lists that a pass plays: those with a weight in which somebody is better."""
        differ = telling(self.grades, self.starts)
        return differ if self.weights is None else differ & (self.weights > 0)

    @property
    def n_played(self) -> int:
        """How many those are."""
        return int(np.count_nonzero(self.present))

    def fingerprint(self) -> int:
        """An order-free hash of the lists."""
        hashes = _mix(self.hashes * _ODD + (self.grades + 0.0).view(np.uint64))
        lists = np.add.reduceat(hashes, self.starts[:-1])
        if self.weights is not None:
            lists = _mix(lists) * (self.weights.view(np.uint64) | np.uint64(1))
        return int(_mix(lists)[self.present].sum(dtype=np.uint64))


def telling(grades: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Lists in which somebody is better than another."""
    differ: NDArray[np.bool_] = np.maximum.reduceat(grades, starts[:-1]) > np.minimum.reduceat(grades, starts[:-1])
    return differ


def _mix(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed: NDArray[np.uint64] = (hashes ^ (hashes >> np.uint64(29))) * _ODD
    return mixed


def gains(grades: NDArray[np.float64], starts: NDArray[np.int64], cost: str | None) -> NDArray[np.float64] | None:
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
    shared: NDArray[np.float64] = np.empty_like(discounts)
    shared[order] = np.repeat(mean, np.diff([*begin, len(grades)]))
    return shared
