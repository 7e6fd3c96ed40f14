"""What all learners of lists share: learning the best candidate, and finding it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.data.lists import (
    ListDataset,
    Lists,
    check_grades,
    graded_as,
    grades_of,
    lists_of,
    settled_pairs,
    starts_of,
)
from perceptive.learners.learner import Recorded


class ListLearner(Recorded):
    """``learn`` and ``find_best`` of the notes, for learners of lists with `dataset` and `scores`."""

    parameters: Any

    @abstractmethod
    def candidates(self, xs: Any) -> Any:
        """Return one list of candidates, with checked types."""

    @property
    @abstractmethod
    def takes_objects(self) -> bool:
        """Whether candidates are arbitrary objects, not rows of numbers."""

    @abstractmethod
    def dataset(
        self, X: Any, y: Any, weights: Any = None, *, sizes: Any = None, epochs: int | None = None, grow: bool = True
    ) -> ListDataset:
        """Check lists and prepare them for learning; see `Learner.dataset`.

        Parameters
        ----------
        X : candidates
            The candidates of all lists, list after list; without ``sizes`` a list of lists.
        y : array or sequence
            How good each candidate is; higher is better. Without ``sizes``, for each list the index of the best
            candidate, a set of indices of equally good ones, or a sequence of grades.
        weights : array or None
            Weights of the lists.
        sizes : array of int or None
            How many candidates each list has.
        epochs, grow
            As in `Learner.dataset`.
        """

    @abstractmethod
    def scores(self, X: Any, sizes: Any = None, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Return scores of candidates; for ``voted`` the share of the votes in the list (``sizes=None``: one list)."""

    def _lists(self, X: Any, y: Any, sizes: Any) -> Lists:
        """Candidates, grades and sizes, whichever way they are given."""
        return lists_of(X, y, self.takes_objects) if sizes is None else Lists(X, y, sizes)

    @contextmanager
    def settling(self, grades: Any, sizes: Any, grow: bool) -> Iterator[None]:
        """Let the first lists decide what ``pairs="auto"`` means; if something raises, nothing changes."""
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
        """Learn which candidate is best: its index from 0 on, or a set of equally good ones.

        Returns whether it was a mistake, so whether none of them won.
        """
        xs = self.candidates(xs)
        return self.learn_graded(xs, grades_of(best, _count(xs)), weight)

    def learn_graded(self, xs: Any, grades: Any, weight: float = 1.0) -> bool:
        """Learn how good each candidate is. Return whether it was a mistake."""
        xs = self.candidates(xs)
        weights = None if weight == 1.0 else [weight]
        return self._is_mistake(xs, grades, weights, sizes=[_count(xs)])

    # ------------------------------------------------------------ predicting

    def find_best(self, xs: Any, hypothesis: str | None = None) -> int:
        """Return the index of the best candidate (``findBest`` in the notes), from 0; the lowest index wins ties."""
        return int(np.argmax(self.score(xs, hypothesis)))

    predict = find_best  # type: ignore[assignment]

    def score(self, xs: Any, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Return the score of each candidate of one list."""
        return self.scores(self.candidates(xs), None, hypothesis)

    def predict_many(self, X: Any, hypothesis: str | None = None) -> list[int]:
        """Return the index of the best candidate of each list."""
        lists = lists_of(X, None, self.takes_objects)
        scores = self.scores(lists.X, lists.sizes, hypothesis)
        return [int(np.argmax(part)) for part in np.split(scores, np.cumsum(lists.sizes)[:-1])]

    def rank(self, xs: Any, hypothesis: str | None = None) -> list[tuple[int, float]]:
        """Return the candidates from best to worst, each with its score; ties keep the given order."""
        scores = self.score(xs, hypothesis)
        return [(int(j), float(scores[j])) for j in np.argsort(-scores, kind="stable")]


def _count(xs: Any) -> int:
    return int(xs.shape[0]) if hasattr(xs, "shape") else len(xs)
