"""`LinearRanker` and `KernelRanker`: the ranking learners as scikit-learn estimators."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from perceptive.certificates import Certificate, certify
from perceptive.data.lists import (
    Lists,
    candidates,
    has_preference,
    is_frames,
    lists_by_query,
    lists_of,
    objects,
    starts_of,
)
from perceptive.data.raw import names_of
from perceptive.data.rows import is_dicts
from perceptive.data.sample_weights import check_weights
from perceptive.errors import ParameterError
from perceptive.estimators.data import check_rows, forget_columns, hold_out, note_columns, take
from perceptive.estimators.kernel import KernelMixin
from perceptive.estimators.run import LearnerType, PruneMixin, RunMixin, nothing_half_learned, one_at_a_time
from perceptive.estimators.signature import with_parameters
from perceptive.evaluation.metrics import top1
from perceptive.frames import is_frame, joined
from perceptive.kernels import as_kernel
from perceptive.kernels.examples import check_real
from perceptive.learners.kernel_ranking import KernelRankingLearner
from perceptive.learners.ranking import RankingLearner
from perceptive.named_functions import Functions
from perceptive.parameter_groups import CertifyGroup, DualRankingGroup, RankingGroup, TrainingGroup
from perceptive.parameters import KernelRankingParameters, RankingParameters
from perceptive.state import State
from perceptive.training.blocks import NO_PREFERENCE
from perceptive.training.loop import History


class RankerMixin(RunMixin[LearnerType]):
    """`fit`, `predict` and the other methods of a ranker."""

    certify: bool
    random_state: int

    # ------------------------------------------------------------ learning

    @nothing_half_learned
    def fit(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from scratch.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features) or list of dicts, with qid; or a list of lists
            The candidates. A list of lists has, for each list, an array, a sparse matrix, a data frame, or a list of
            rows or dicts.
        y : array
            With qid, the grade of each row: higher is better. For a list of lists, for each list the index of the best
            candidate, a set of indices of equally good ones, or a sequence of grades.
        qid : array or None
            The query of each row. Rows with the same query are one list, even if they are not adjacent.
        sample_weight : array or None
            Weights of the lists, in the order in which the lists first appear.
        """
        parameters, training = self._check_parameters()
        if self._one_set and training.validation_fraction:
            raise ParameterError(
                "{} does not go with a precomputed Gram matrix; give the kernel itself", "validation_fraction"
            )
        lists = self._lists(X, y, qid, reset=True)
        n = len(lists.sizes)
        learner = self._learner(**parameters)
        lists = lists._replace(X=self._read_as_before(learner, lists.X, joined(X) if is_frames(X) else X))
        weights = check_weights(sample_weight, n, learner.parameters.rule, "list")
        held = hold_out(n, training.validation_fraction, self.random_state, what="lists")
        taught = np.flatnonzero(~held)
        X, grades, sizes = _pick(lists, taught)
        weights = take(weights, taught)
        dataset = learner.dataset(X, grades, weights, sizes=sizes, epochs=training.epochs)
        self._warn_of_columns(learner, X)
        if not dataset.present.any():
            raise ValueError("there is nothing to learn: no list has a better candidate, or all of these have weight 0")
        X_held, grades_held, sizes_held = _pick(lists, np.flatnonzero(held))
        starts = starts_of(sizes_held, len(grades_held))
        if held.any() and not has_preference(grades_held, starts).any():
            raise ValueError(NO_PREFERENCE)

        def top_of_held_out() -> float:
            return top1(grades_held, learner.scores(X_held, sizes_held), starts)

        self._train(learner, training, dataset, top_of_held_out if held.any() else None)
        if self.certify:
            self.certificate_ = certify(learner, X, grades, weights, sizes=sizes)
        return self

    @nothing_half_learned
    def partial_fit(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Continue learning: play one epoch over these lists, in the given order; the arguments are those of `fit`."""
        parameters, _ = self._check_parameters()
        first = not hasattr(self, "learner_")
        learner = self._learner(**parameters) if first else self.learner_
        if self._learner(**{**parameters, **_settled(parameters, learner)}).parameters != learner.parameters:
            raise ValueError("parameters have changed since learning began; fit again, or set them back")
        lists = self._lists(X, y, qid, reset=first)
        if first:
            given = joined(X) if is_frames(X) else X
            lists = lists._replace(X=self._read_as_before(learner, lists.X, given, whole=False))
        with learner.lock.learning():
            dataset = learner.dataset(lists.X, lists.grades, sample_weight, sizes=lists.sizes)
            self._warn_of_first(learner, lists.X, first)
            self._learn_all(learner, dataset)
        return self

    @one_at_a_time
    def learn(self, xs: Any, best: Any, weight: float = 1.0) -> bool:
        """Learn from one list (``addExample`` in the notes); return whether it was a mistake.

        Parameters
        ----------
        xs : a list of candidates
        best : int, set of int, or sequence of numbers
            The index of the best candidate, the indices of all equally good ones, or the grade of each.
        weight : float
            Weight of the list.
        """
        first, learner = not hasattr(self, "learner_"), self._going_on()
        given, xs = xs, self._one_list(xs)
        mistake = learner.learn(xs, best, weight)
        if first:
            note_columns(self, given, learner.space)
        if first or "_first" in self.__dict__:
            self._look_at(learner, xs, first)
        self._take(learner, History() if first else None)
        return bool(mistake)

    def learn_one(self, xs: Any, best: Any, w: float = 1.0) -> Self:
        """Learn from one list, as `learn` does; this is River's name for it."""
        self.learn(xs, best, w)
        return self

    @property
    def _any_kind(self) -> bool:
        """Whether candidates are objects of any kind, and not rows of numbers."""
        return False

    @property
    def _one_set(self) -> bool:
        """Whether rows are of a Gram matrix, with a column for each candidate that was learned from."""
        return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        tags.input_tags.sparse = not (self._any_kind or self._one_set)
        tags.input_tags.pairwise = self._one_set
        return tags

    def _lists(self, X: Any, y: Any, qid: ArrayLike | None, reset: bool = False, *, columns: bool = True) -> Lists:
        """Lists with their grades; with ``columns`` those of a Gram matrix must be of the rows as they come."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        check_real(X, "X")
        check_real(y, "y")
        if qid is not None:
            lists, order = lists_by_query(self._rows(X, reset), y, qid)
            if order is not None and columns and self._one_set:
                raise ValueError("rows of a precomputed Gram matrix must be grouped by query; sort them by qid")
            return lists
        if not self._any_kind and (is_dicts(X) or (hasattr(X, "shape") and len(X.shape) != 3)):
            raise ValueError("qid is missing: rows need the query of each; or give a list of lists of candidates")
        lists = lists_of(X, y, self._any_kind)
        return lists._replace(X=self._rows(lists.X, reset))

    def _rows(self, X: Any, reset: bool = False) -> Any:
        """Candidates that can be taken by number: an array, a CSR matrix, or a list."""
        if self._any_kind:
            if reset:
                forget_columns(self)
            return objects(X)
        return check_rows(self, X, reset)

    # ------------------------------------------------------------ predicting

    def decision_function(self, X: Any, qid: ArrayLike | None = None, hypothesis: str | None = None) -> Any:
        """Return scores: an array for rows, a list of arrays for a list of lists; shares of votes if voted.

        Rows of numbers without qid are one list; this matters only for ``voted``.
        """
        learner = self._learned
        if not hasattr(X, "shape") and len(X) == 0:
            raise ValueError("there are no lists; give at least one")
        if qid is None and (self._any_kind or _is_list_of_lists(X)):
            lists = lists_of(X, None, self._any_kind)
            scores = learner.scores(self._rows(lists.X), lists.sizes, hypothesis)
            return np.split(scores, np.cumsum(lists.sizes)[:-1])
        X = self._rows(X)
        if qid is None:
            return learner.scores(candidates(X), None, hypothesis)
        lists, order = lists_by_query(X, None, qid)
        scores = learner.scores(lists.X, lists.sizes, hypothesis)
        if order is None:
            return scores
        back = np.empty_like(scores)
        back[order] = scores
        return back

    def predict(self, X: Any, qid: ArrayLike | None = None, hypothesis: str | None = None) -> NDArray[np.int64]:
        """Return the index of the best candidate of each list: within the list, or with qid the row.

        Queries are in the order in which they first appear; rows without qid are one list.
        """
        if qid is None:
            scores = self.decision_function(X, None, hypothesis)
            parts = scores if isinstance(scores, list) else [scores]
            return np.array([int(np.argmax(part)) for part in parts], np.int64)
        scores = self.decision_function(X, qid, hypothesis)
        rows = np.arange(len(scores))
        lists, order = lists_by_query(rows, None, qid)
        starts = starts_of(lists.sizes, len(rows))
        arranged = scores if order is None else scores[order]
        best = [begin + int(np.argmax(arranged[begin:end])) for begin, end in pairwise(starts.tolist())]
        return np.asarray(best if order is None else order[best], np.int64)

    def find_best(self, xs: Any, hypothesis: str | None = None) -> int:
        """Return the index of the best candidate of one list; the lowest index wins ties."""
        return int(self._learned.find_best(self._one_list(xs), hypothesis))

    def rank(self, xs: Any, hypothesis: str | None = None) -> list[tuple[int, float]]:
        """Return one list from best to worst: pairs of index and score."""
        return list(self._learned.rank(self._one_list(xs), hypothesis))

    def _one_list(self, xs: Any) -> Any:
        """One list of candidates as the learner takes it: columns of frames and dicts are matched by name."""
        if is_frame(xs):
            names_of(xs)  # raises if two columns have the same name
        return self._rows(xs) if hasattr(self, "feature_names_in_") and (is_frame(xs) or is_dicts(xs)) else xs

    def predict_one(self, xs: Any, hypothesis: str | None = None) -> int | None:
        """Return what `find_best` does, as River calls it; None before anything was learned."""
        return self.find_best(xs, hypothesis) if hasattr(self, "learner_") else None

    def score(self, X: Any, y: Any, qid: ArrayLike | None = None) -> float:
        """Return the share of lists with a best candidate on top; skip lists of equally good candidates."""
        learner, lists = self._learned, self._lists(X, y, qid, columns=False)
        starts = starts_of(lists.sizes, int(np.sum(lists.sizes)))
        assert lists.grades is not None
        return top1(lists.grades, learner.scores(lists.X, lists.sizes), starts)

    def certificate(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        witness: ArrayLike | None = None,
    ) -> Certificate:
        """Compare this run with the theorem: see `Certificate`. It is hypothetical for data not trained on."""
        learner, (X, grades, sizes) = self._learned, self._lists(X, y, qid)
        return certify(learner, X, grades, sample_weight, witness=witness, sizes=sizes)


def _is_list_of_lists(X: Any) -> bool:
    """Whether X has lists of candidates, and not candidates."""
    if hasattr(X, "shape"):
        return len(X.shape) == 3
    if is_dicts(X) or not len(X):
        return False
    first = X[0]
    if hasattr(first, "shape"):
        return len(first.shape) == 2
    return is_dicts(first) or (isinstance(first, list | tuple) and (not first or np.ndim(first[0]) >= 1))


def _pick(lists: Lists, which: NDArray[np.int64]) -> tuple[Any, Any, NDArray[np.int64]]:
    """Return the candidates, grades and sizes of these lists."""
    if len(which) == len(lists.sizes):
        return lists.X, lists.grades, lists.sizes
    starts = np.concatenate([[0], np.cumsum(lists.sizes)])
    rows = np.concatenate([np.empty(0, np.int64), *(np.arange(starts[t], starts[t + 1]) for t in which)])
    assert lists.grades is not None
    return take(lists.X, rows), lists.grades[rows], lists.sizes[which]


def _settled(parameters: dict[str, Any], learner: Any) -> dict[str, Any]:
    """What the first lists have made of ``pairs="auto"``."""
    if parameters["pairs"] != "auto":
        return {}
    known = learner.parameters
    return {"pairs": known.pairs, "cost": known.cost if parameters["cost"] is None else parameters["cost"]}


@with_parameters
class LinearRanker(
    RankingGroup, TrainingGroup, CertifyGroup, PruneMixin[RankingLearner], RankerMixin[RankingLearner], BaseEstimator
):
    """Mistake-driven linear ranker: picks the best of a list, or orders it; averaged, voted, last or best.

    {parameters}

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Of ``hypothesis``. Voted has no single vector, so it has none.
    {run}

    Examples
    --------
    Lists of candidates with the index of the best:

    >>> from perceptive import LinearRanker
    >>> lists = [[[3, 1], [1, 2], [2, 2]], [[0, 4], [5, 5]], [[1, 0]]]
    >>> ranker = LinearRanker().fit(lists, [0, 1, 0])
    >>> ranker.predict([[[0, 1], [4, 1], [1, 9]]]).tolist(), ranker.rank([[0, 1], [4, 1]])[0][0]
    ([1], 1)

    Rows with a query and a grade each:

    >>> X, y, qid = [[3, 1], [1, 2], [2, 2], [0, 4], [5, 5]], [2, 0, 1, 0, 1], [7, 7, 7, 9, 9]
    >>> LinearRanker(pairs="all").fit(X, y, qid=qid).score(X, y, qid=qid)
    1.0
    """

    _learner = RankingLearner
    _parameters = RankingParameters

    @property
    def coef_(self) -> NDArray[Any]:
        """The weights."""
        weights: NDArray[Any] = self._of_vector(lambda learner, hypothesis: learner.vector.vector(hypothesis))[0][:, 0]
        return weights


@with_parameters
class KernelRanker(
    DualRankingGroup,
    TrainingGroup,
    CertifyGroup,
    KernelMixin[KernelRankingLearner],
    RankerMixin[KernelRankingLearner],
    BaseEstimator,
):
    """Mistake-driven kernel ranker: picks the best of a list of vectors, strings, trees, or whatever a kernel compares.

    The score of x is Σ α_ij (K(x_iℓ, x) − K(x_ij, x)) over the pairs that were learned from.

    {parameters}

    Attributes
    ----------
    support_ : array of int
        The candidates that were learned from (numbered in the order seen), in the order of their first mistake.
    alpha_ : array
        Their signed coefficients in the last vector.
    kernel_ : Kernel
        The kernel that was used, with "scale" replaced by a number.
    {run}

    Examples
    --------
    Choose, among several parses, the one that attaches the phrase to the verb:

    >>> from perceptive import KernelRanker
    >>> from perceptive.kernels import SubsetTree
    >>> def parses(verb, noun):
    ...     high = f"(S (VP (V {verb}) (NP {noun}) (PP with it)))"
    ...     return [f"(S (VP (V {verb}) (NP (NP {noun}) (PP with it))))", high]
    >>> ranker = KernelRanker(kernel=SubsetTree(0.5)).fit([parses("eat", "soup"), parses("see", "stars")], [1, 1])
    >>> ranker.predict([parses("cut", "bread")]).tolist()
    [1]
    """

    _learner = KernelRankingLearner
    _parameters = KernelRankingParameters

    @property
    def _any_kind(self) -> bool:
        kernel = as_kernel(self.kernel)
        return not (kernel.vectors or kernel.pairwise)

    @property
    def _one_set(self) -> bool:
        return as_kernel(self.kernel).pairwise

    @classmethod
    def from_state(cls, state: State, functions: Functions | None = None) -> Self:
        """Make an estimator from what `state` returned; raise ValueError if the parts do not fit together."""
        model = super().from_state(state, functions)
        learner = model.learner_
        learner.parameters = replace(learner.parameters, kernel=model.kernel)  # as it was asked for
        return model
