"""What learners of lists share, whatever a candidate is: learning the best, and finding it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.data.list_dataset import ListDataset, graded_as, settled_pairs
from perceptive.data.lists import Lists, check_grades, grades_of, lists_of, starts_of
from perceptive.learners.guarded import Recorded
from perceptive.learners.learner import is_mistake, learn_all


class ListLearner(Recorded, ABC):
    """``learn`` and ``find_best`` of the notes, from what a learner of lists knows: `dataset` and `scores`."""

    parameters: Any

    @abstractmethod
    def candidates(self, xs: Any) -> Any:
        """One list of candidates, checked for what it is made of."""

    @property
    @abstractmethod
    def takes_objects(self) -> bool:
        """Whether candidates are objects of any kind, and not rows of numbers."""

    @abstractmethod
    def dataset(
        self, X: Any, y: Any, weights: Any = None, *, sizes: Any = None, epochs: int | None = None, grow: bool = True
    ) -> ListDataset:
        """Check lists and make them ready to be learned from; see `Learner.dataset`.

        Parameters
        ----------
        X : candidates
            Those of all lists, one list after the other; without ``sizes`` a list of lists.
        y : array or sequence
            How good each candidate is, the more, the better; without ``sizes`` for each list the index of the best, a
            set of indices of those equally good, or a sequence of grades.
        weights : array or None
            Of the lists.
        sizes : array of int or None
            How many candidates each list has.
        epochs, grow
            As in `Learner.dataset`.
        """

    @abstractmethod
    def scores(self, X: Any, sizes: Any = None, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Scores of candidates; under ``voted`` the share of the votes in the list (``sizes=None``: one list)."""

    def _lists(self, X: Any, y: Any, sizes: Any) -> Lists:
        """Candidates, grades and sizes, whichever way they are given."""
        return lists_of(X, y, self.takes_objects) if sizes is None else Lists(X, y, sizes)

    @contextmanager
    def settling(self, grades: Any, sizes: Any, grow: bool) -> Iterator[None]:
        """Let the first lists to learn from say what ``pairs="auto"`` is; not where something is raised."""
        before = self.parameters
        if before.pairs == "auto" and grow:
            checked = check_grades(grades, len(grades))
            self.settle([graded_as(checked, starts_of(sizes, len(checked)))])
        try:
            yield
        except BaseException:
            self._have(before)
            raise

    def settle(self, parts: Iterable[tuple[bool, set[float]]]) -> None:
        """Have the pairs and the cost that fit lists; as before where these tell nothing (see `settled_pairs`)."""
        p, found = self.parameters, settled_pairs(parts)
        if found is not None:
            self._have(replace(p, pairs=found[0], cost=found[1] if p.cost is None and not p.delta else p.cost))

    def _have(self, parameters: Any) -> None:
        """Have other parameters, and so the vector, or the dual, of lists before that told nothing."""
        self.parameters = parameters
        for one in (*getattr(self, "vectors", {}).values(), getattr(self, "dual", None)):
            if one is not None:
                one.parameters = parameters

    # ------------------------------------------------------------ learning

    def learn(self, xs: Any, best: Any, weight: float = 1.0) -> bool:
        """Learn which candidate is best: its index from 0 on, or a set of those equally good.

        Returns whether it was a mistake: whether none of them won.
        """
        xs = self.candidates(xs)
        return self.learn_graded(xs, grades_of(best, _count(xs)), weight)

    def learn_graded(self, xs: Any, grades: Any, weight: float = 1.0) -> bool:
        """Learn how good each candidate is. Returns whether it was a mistake."""
        xs = self.candidates(xs)
        weights = None if weight == 1.0 else [weight]
        return is_mistake(self, lambda: self.learn_many(xs, grades, weights, sizes=[_count(xs)]))

    def learn_many(self, X: Any, y: Any, weights: Any = None, *, sizes: Any = None) -> None:
        """Learn from many lists, in the order given; the arguments are those of `dataset`."""
        with self.lock.learning():
            learn_all(self.dataset(X, y, weights, sizes=sizes))

    # ------------------------------------------------------------ predicting

    def find_best(self, xs: Any, hypothesis: str | None = None) -> int:
        """The notes' ``findBest``, counted from 0; ties go to the lowest index."""
        return int(np.argmax(self.score(xs, hypothesis)))

    predict = find_best

    def score(self, xs: Any, hypothesis: str | None = None) -> NDArray[np.float64]:
        """The score of each candidate of one list."""
        return self.scores(self.candidates(xs), None, hypothesis)

    def predict_many(self, X: Any, hypothesis: str | None = None) -> list[int]:
        """The index of the best candidate of each of many lists."""
        lists = lists_of(X, None, self.takes_objects)
        scores = self.scores(lists.X, lists.sizes, hypothesis)
        return [int(np.argmax(part)) for part in np.split(scores, np.cumsum(lists.sizes)[:-1])]

    def rank(self, xs: Any, hypothesis: str | None = None) -> list[tuple[int, float]]:
        """The candidates from best to worst, each with its score; ties in the order given."""
        scores = self.score(xs, hypothesis)
        return [(int(j), float(scores[j])) for j in np.argsort(-scores, kind="stable")]


def _count(xs: Any) -> int:
    return int(xs.shape[0]) if hasattr(xs, "shape") else len(xs)
