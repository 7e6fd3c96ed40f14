"""The learner L of the notes for ranking: ``learn(xs, best)`` and ``find_best(xs)``; and what rankers share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptive import _core
from perceptive.data.dataset import Problem
from perceptive.data.feature_space import FeatureSpace
from perceptive.data.labelled_rows import ALL, Pair
from perceptive.data.lists import (
    ListDataset,
    Lists,
    RankedRows,
    candidates,
    check_grades,
    graded_as,
    grades_of,
    is_graded,
    lists_of,
    settled_pairs,
    starts_of,
)
from perceptive.data.meeting import meeting
from perceptive.data.sample_weights import check_weights
from perceptive.learners.learner import NOTHING_LEARNED, Recorded, at_one_moment
from perceptive.learners.vector_learner import (
    VectorLearner,
    problem_of,
    score_rows,
    state_of_vector,
    vector_from_state,
    votes_in_lists,
)
from perceptive.learners.weight_vector import WeightVector
from perceptive.parameters import RankingParameters
from perceptive.state import State, plain_values


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

    def explained(self, n: int, label: Any, decisions: Any) -> list[tuple[int, Any]]:
        """Return the score that explains each of n candidates; it is for no label."""
        if label is not None:
            raise ValueError(f"label is {label!r}, but candidates have a score and no label; leave it out")
        return [(1, None)] * n

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
            self._set_parameters(before)
            raise

    def settle(self, parts: Iterable[tuple[bool, set[float]]]) -> None:
        """Set the pairs and the cost that fit the lists, if these decide them (see `settled_pairs`)."""
        p, found = self.parameters, settled_pairs(parts)
        if found is not None:
            cost = found[1] if p.cost is None and not p.delta else p.cost
            self._set_parameters(replace(p, pairs=found[0], cost=cost))

    def _set_parameters(self, parameters: Any) -> None:
        """Use these parameters from now on; so must the vector or the dual of earlier lists."""
        self.parameters = parameters
        for one in (*getattr(self, "vectors", {}).values(), getattr(self, "dual", None)):
            if one is not None:
                one.parameters = parameters

    # ------------------------------------------------------------ learning

    def learn(self, xs: Any, best: Any, weight: float = 1.0) -> bool:
        """Learn which candidate is best: its index from 0 on, a set of equally good ones, or the grade of each.

        Returns whether it was a mistake, so whether none of them won.
        """
        xs = self.candidates(xs)
        return self.learn_graded(xs, best if is_graded(best) else grades_of(best, _count(xs)), weight)

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


class RankingLearner(ListLearner, VectorLearner):
    """An online learner that picks the best of a list, sees which one is best, and learns from its mistakes.

    A mistake is a list whose best candidate does not win strictly; then v ← v + x_ℓ − x_ℓ̂ (or as the rule says). A
    list with one candidate, or with equally good candidates, is not a round.

    Parameters
    ----------
    **parameters
        See `perceptive.parameters.RankingParameters`. The default hypothesis is ``"last"``.

    Examples
    --------
    >>> from perceptive.learners import RankingLearner
    >>> L = RankingLearner()
    >>> L.learn([[0, 1], [1, 0], [1, 1]], best=1), L.learn([[1, 0], [0, 1]], best=0)
    (True, False)
    >>> L.find_best([[0, 2], [2, 0], [1, 3]])
    1
    >>> L.rank([{"old": 1}])
    Traceback (most recent call last):
    ValueError: X holds dicts, but this model was trained on columns; give an array or sparse matrix
    """

    takes_objects = False

    def __init__(self, **parameters: Any) -> None:
        self.parameters = RankingParameters.of_learner(parameters)
        self.space = FeatureSpace.declared(self.parameters.bits, self.parameters.n_features)
        self.vectors: dict[Pair, WeightVector] = {}

    @property
    def vector(self) -> WeightVector:
        """The weights."""
        if not self.vectors:
            raise ValueError(NOTHING_LEARNED)
        return self.vectors[ALL]

    # ------------------------------------------------------------ learning

    def dataset(
        self, X: Any, y: Any, weights: Any = None, *, sizes: Any = None, epochs: int | None = None, grow: bool = True
    ) -> RankedRows:
        """Check lists and prepare them for learning; see `ListLearner.dataset`."""
        X, y, sizes = self._lists(X, y, sizes)
        with self.lock.learning(), self.settling(y, sizes, grow):
            if not grow:
                with self.lock.exclusive():
                    rows = self.space.whole_rows(X)
                return self._checked(rows, y, sizes, weights)
            alone, first = self.space.vocabulary is not None, not self.vectors
            with self.lock.exclusive() if alone else nullcontext(), meeting(self.space, X, first) as (rows, keep):
                dataset = self._checked(rows, y, sizes, weights)
                with self.lock.changing():
                    self._open_vector(max(self.space.n_features or 0, rows.d)).begin(rows)
                    keep()
            return dataset

    def _open_vector(self, n_features: int) -> WeightVector:
        """The weights, with room for so many features."""
        if not self.vectors:
            self.vectors = {ALL: WeightVector(n_features, None, self.parameters)}
        elif n_features > self.vector.n_features:
            self.vector.grow_features(n_features)
        return self.vector

    def _checked(self, rows: _core.Rows, grades: Any, sizes: Any, weights: Any) -> RankedRows:
        starts = starts_of(sizes, rows.n)
        weights = check_weights(weights, len(starts) - 1, self.parameters.rule, "list")
        return RankedRows(self, rows, starts, check_grades(grades, rows.n), weights)

    # ------------------------------------------------------------ predicting

    def candidates(self, xs: Any) -> Any:
        """Return one list as rows."""
        return candidates(self.space.unframed(xs))

    @at_one_moment
    def scores(self, X: Any, sizes: Any = None, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Return scores of candidates: v·x; for ``voted`` the vote shares in the list (``sizes=None``: one list)."""
        rows = self.space.rows(X, first=not self.vectors)
        starts = starts_of([rows.n] if sizes is None else sizes, rows.n)
        vector = self.vectors.get(ALL) or WeightVector(rows.d, None, self.parameters)  # before the first list: v₀ = 0
        hypothesis = hypothesis or self.parameters.hypothesis
        vector.check_hypothesis(hypothesis)
        if hypothesis == "voted":
            return votes_in_lists(vector, rows, np.repeat(np.arange(len(starts) - 1), np.diff(starts)))
        return score_rows(vector, rows, hypothesis, self.threads)[:, 0]

    # ------------------------------------------------------------ the run so far

    def outputs(self) -> Iterator[tuple[Any, WeightVector, int]]:
        """Return its only score, and where the weights are."""
        yield "score", self.vector, 0

    @at_one_moment
    def problems(self, witness: ArrayLike | None = None) -> list[Problem]:
        """Return the sequence v₀, v₁, … of the theorems."""
        return [problem_of(self.vector, witness, self.space, mean_of_pairs=self.parameters.pairs == "all")]

    # ------------------------------------------------------------ state

    def state(self) -> State:
        """Return the whole state, as plain values and arrays."""
        with self.lock.exclusive():
            self.check_finite()
            space, parameters = self.space.state(), plain_values(asdict(self.parameters))
            vector = state_of_vector(self.vector) if self.vectors else State({}, {})
            meta = {**space.meta, "parameters": parameters, "problem": vector.meta or None, **self.recorded()}
            return State(meta, {**vector.arrays, **space.arrays})

    @classmethod
    def from_state(cls, state: State, functions: Any = None) -> Self:
        """Make a learner from what `state` returned; raise ValueError if the parts do not fit together."""
        meta, arrays = state
        learner = cls(**meta["parameters"])
        learner.space.restore(state)
        if meta["problem"] is not None:
            vector = State(meta["problem"], arrays)
            learner.vectors = {ALL: vector_from_state(vector, meta["n_features"], None, learner.parameters)}
            learner._open = learner.vector.run.open
        learner.restore_recorded(meta)
        return learner
