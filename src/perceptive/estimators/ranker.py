"""`LinearRanker`: the ranking learner as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from perceptive.certificate import Certificate, certify_lists
from perceptive.estimators.progress import progress_bar
from perceptive.estimators.run import RunMixin
from perceptive.learners.linear import as_floats
from perceptive.learners.lists import Lists, candidates, lists_by_query, lists_of, starts_of
from perceptive.learners.ranking import RankingLearner
from perceptive.learners.rows import is_dicts
from perceptive.metrics import top1
from perceptive.parameters import RankingParameters, TrainingParameters
from perceptive.training import History, train

LEARNER = [f.name for f in fields(RankingParameters)]
TRAINING = [f.name for f in fields(TrainingParameters)]


class LinearRanker(RunMixin, BaseEstimator):
    """Mistake-driven linear ranker: picks the best of a list, or orders it; averaged, voted, last or best.

    Parameters
    ----------
    rule : {"perceptron", "pa", "pa1", "pa2", "mira"}
        When and how far to move on a list.
    learning_rate : float
        η of the perceptron.
    margin : float
        β: the perceptron also updates where the best leads by β or less.
    C : float
        Aggressiveness of pa1 and pa2.
    pairs : {"best", "worst", "all"}
        Learn from the best candidate against the best of the rest; from the pair that is most in the wrong order; or
        from the mean of all pairs that are.
    cost : {None, "grade", "position"}
        How much a pair counts: all alike, by the difference of the grades, or of the discounts 1/log₂(place + 1) of the
        places that the grades have in the right order. A margin for rules with a hinge, a factor for the perceptron.
    hypothesis : {"averaged", "last", "best", "voted", "random"}
        What of v₀, v₁, … predicts. ``voted``: every v_k votes for the candidate that it finds best.
    keep : {None, "all"}
        "all" keeps the journal of updates, so that every hypothesis is at hand after one run.
    max_voters : int or None
        How many of the longest survivors the journal keeps.
    average : {"examples", "mistakes"}
        Mean over the lists, or of v₀ … v_K.
    normalize : bool
        Scale candidates to unit length.
    delta : float
        Δ-trick: an id feature for each list.
    dtype : {"float32", "float64"}
        Of the weights.
    n_features : int or None
        Number of features, if known before the data.
    bits : int or None
        Hash the names of dicts into 2^bits columns, instead of giving each name a column of its own.
    random_state : int
        Seed of the shuffling and of the random hypothesis.
    epochs : int
        Passes at most; a pass without an update ends the training.
    shuffle : bool
        Play each pass in a new random order of the lists.
    validation_fraction : float
        Part of the lists held out for early stopping; 0 for none.
    patience : int
        Passes without a better held-out score before stopping.
    progress : bool
        Show a progress bar where training takes longer than a second.
    certify : bool
        Make ``certificate_`` at the end of `fit`.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Under ``hypothesis`` (not for voted, which has no single vector).
    n_iter_ : int
        Passes played.
    mistakes_, updates_, loss_ : arrays
        Per pass of `fit` or call of `partial_fit`.
    rounds_ : int
        Lists played, over all passes; lists in which nobody is better than another are no rounds.
    converged_ : bool
        Whether a pass went by without an update.
    held_out_ : array
        Share of the held-out lists whose best is on top, per pass.
    certificate_ : Certificate
        With ``certify=True``.
    learner_ : RankingLearner
        The learner itself.

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

    def __init__(
        self,
        *,
        rule: str = "perceptron",
        learning_rate: float = 1.0,
        margin: float = 0.0,
        C: float = 1.0,
        pairs: str = "best",
        cost: str | None = None,
        hypothesis: str = "averaged",
        keep: str | None = None,
        max_voters: int | None = None,
        average: str = "examples",
        normalize: bool = False,
        delta: float = 0.0,
        dtype: str = "float32",
        n_features: int | None = None,
        bits: int | None = None,
        random_state: int = 0,
        epochs: int = 10,
        shuffle: bool = True,
        validation_fraction: float = 0.0,
        patience: int = 3,
        progress: bool = False,
        certify: bool = False,
    ) -> None:
        self.rule = rule
        self.learning_rate = learning_rate
        self.margin = margin
        self.C = C
        self.pairs = pairs
        self.cost = cost
        self.hypothesis = hypothesis
        self.keep = keep
        self.max_voters = max_voters
        self.average = average
        self.normalize = normalize
        self.delta = delta
        self.dtype = dtype
        self.n_features = n_features
        self.bits = bits
        self.random_state = random_state
        self.epochs = epochs
        self.shuffle = shuffle
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.progress = progress
        self.certify = certify

    learner_: RankingLearner
    _history: History

    # ------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> LinearRanker:
        """Learn from scratch.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features) or list of dicts, with qid; or a list of lists
            The candidates. A list of lists has for each list an array, a sparse matrix, or a list of rows or dicts.
        y : array
            With qid, the grade of each row: the more, the better. For a list of lists, for each list the index of the
            best candidate, a set of indices of those equally good, or a sequence of grades.
        qid : array or None
            The query of each row; rows with the same query are one list, wherever they stand.
        sample_weight : array or None
            Weights of the lists, in the order in which they first appear.
        """
        parameters, training = self._check_parameters()
        lists = self._lists(X, y, qid)
        n = len(lists.sizes)
        learner = RankingLearner(**parameters)
        weights = learner._check_weights(sample_weight, n)
        taught, held = self._split(lists, n, training)
        lesson = learner.prepare(*_pick(lists, taught), None if weights is None else weights[taught])
        if not lesson.present.any():
            raise ValueError("no list has a candidate that is better than another: there is nothing to learn")

        def top_of_held_out() -> float:
            kept = learner.lesson(*_pick(lists, held))
            return top1(kept.grades, learner.scores_of(kept.rows, kept.starts), kept.starts)

        self.learner_ = learner
        self.__dict__.pop("certificate_", None)
        history = History()
        try:
            with progress_bar(self.progress, self.epochs * len(lesson)) as report:
                train(lesson, training, top_of_held_out if len(held) else None, report, history)
        finally:
            self._history = history
        if self.certify:
            self.certificate_ = certify_lists(learner, [lesson])
        return self

    def partial_fit(
        self, X: Any, y: Any, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> LinearRanker:
        """Go on learning: one pass over these lists, in the order given; the arguments are those of `fit`."""
        parameters, _ = self._check_parameters()
        first = not hasattr(self, "learner_")
        learner = RankingLearner(**parameters) if first else self.learner_
        if RankingParameters(**parameters) != learner.parameters:
            raise ValueError("parameters have changed since learning began; fit anew, or set them back")
        lists = self._lists(X, y, qid)
        lesson = learner.prepare(lists.X, lists.grades, lists.sizes, sample_weight)
        self.__dict__.pop("certificate_", None)
        before = learner.mistakes, learner.updates, learner.loss
        history = History() if first else self._history
        try:
            lesson.play_as_they_come()
        finally:
            self.learner_, self._history = learner, history
            history.mistakes.append(learner.mistakes - before[0])
            history.updates.append(learner.updates - before[1])
            history.loss.append(learner.loss - before[2])
            history.converged = False
        return self

    def learn_one(self, xs: Any, best: Any, w: float = 1.0) -> LinearRanker:
        """Learn from one list: the index of its best candidate, or a set of those equally good."""
        if not hasattr(self, "learner_"):
            learner = RankingLearner(**self._check_parameters()[0])
            learner.learn(xs, best, w)
            self.learner_, self._history = learner, History()
        else:
            self.learner_.learn(xs, best, w)
        return self

    def _check_parameters(self) -> tuple[dict[str, Any], TrainingParameters]:
        learner = {name: getattr(self, name) for name in LEARNER}
        RankingParameters(**learner)
        return learner, TrainingParameters(**{name: getattr(self, name) for name in TRAINING})

    def _lists(self, X: Any, y: Any, qid: ArrayLike | None) -> Lists:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        if qid is None:
            return lists_of(_list_of_lists(X), y)
        return lists_by_query(_rows(X), y, qid)[0]

    def _split(self, lists: Lists, n: int, training: TrainingParameters) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Lists to learn from, and those held out."""
        fraction = training.validation_fraction
        if not fraction:
            return np.arange(n), np.empty(0, np.int64)
        count = min(n - 1, max(1, round(fraction * n)))
        if count < 1:
            raise ValueError(f"{n} lists are too few to hold out a part of {fraction}; give more")
        order = np.random.default_rng(self.random_state).permutation(n)
        return np.sort(order[count:]), np.sort(order[:count])

    # ------------------------------------------------------------ predicting

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learner_")

    def decision_function(self, X: Any, qid: ArrayLike | None = None, hypothesis: str | None = None) -> Any:
        """Scores: an array for rows (one per row), a list of arrays for a list of lists; shares of votes if voted.

        Rows without qid are one list, which matters for ``voted`` alone.
        """
        check_is_fitted(self)
        if qid is None and _is_list_of_lists(X):
            lists = lists_of(X, None)
            scores = self.learner_.scores(lists.X, lists.sizes, hypothesis)
            return np.split(scores, np.cumsum(lists.sizes)[:-1])
        X = _rows(X)
        if qid is None:
            return self.learner_.scores(candidates(X), None, hypothesis)
        lists, order = lists_by_query(X, None, qid)
        scores = self.learner_.scores(lists.X, lists.sizes, hypothesis)
        if order is None:
            return scores
        back = np.empty_like(scores)
        back[order] = scores
        return back

    def predict(self, X: Any, qid: ArrayLike | None = None, hypothesis: str | None = None) -> NDArray[np.int64]:
        """For each list the index of its best candidate: within the list, or with qid the row.

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
        """The index of the best candidate of one list; ties go to the lowest."""
        check_is_fitted(self)
        return self.learner_.find_best(xs, hypothesis)

    def rank(self, xs: Any, hypothesis: str | None = None) -> list[tuple[int, float]]:
        """One list from best to worst: pairs of index and score."""
        check_is_fitted(self)
        return self.learner_.rank(xs, hypothesis)

    predict_one = find_best  # as River calls it

    def score(self, X: Any, y: Any, qid: ArrayLike | None = None) -> float:
        """Share of the lists with one of the best on top; lists in which nobody is better are left out."""
        check_is_fitted(self)
        lists = self._lists(X, y, qid)
        starts = starts_of(lists.sizes, int(np.sum(lists.sizes)))
        assert lists.grades is not None
        return top1(lists.grades, self.learner_.scores(lists.X, lists.sizes), starts)

    @property
    def coef_(self) -> NDArray[Any]:
        """The weights."""
        check_is_fitted(self)
        hypothesis = self.learner_.parameters.hypothesis
        if hypothesis == "voted":
            raise AttributeError("a voted model has no single weight vector; use learner_, or another hypothesis")
        assert self.learner_.problem is not None
        weights: NDArray[Any] = self.learner_.problem.vector(hypothesis)[0][:, 0]
        return weights

    # ------------------------------------------------------------ the run

    def certificate(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        witness: ArrayLike | None = None,
    ) -> Certificate:
        """What the theorem allows this run: see `Certificate`. Data other than trained on makes it hypothetical."""
        check_is_fitted(self)
        lists = self._lists(X, y, qid)
        weights = None if sample_weight is None else as_floats(sample_weight, "sample_weight")
        lesson = self.learner_.lesson(lists.X, lists.grades, lists.sizes, weights)
        return certify_lists(self.learner_, [lesson], witness=witness)


def _is_list_of_lists(X: Any) -> bool:
    """Whether X has lists of candidates, and not candidates."""
    if hasattr(X, "shape") or is_dicts(X) or not len(X):
        return False
    first = X[0]
    if hasattr(first, "shape"):
        return len(first.shape) == 2
    return is_dicts(first) or (isinstance(first, list | tuple) and len(first) > 0 and np.ndim(first[0]) >= 1)


def _list_of_lists(X: Any) -> Any:
    if hasattr(X, "shape") and len(X.shape) == 3:
        return list(X)
    if hasattr(X, "shape") or is_dicts(X):
        raise ValueError("qid is missing: rows need the query of each; or give a list of lists of candidates")
    return X


def _rows(X: Any) -> Any:
    """Rows that can be taken by number: an array, a CSR matrix, or a list of dicts."""
    if is_dicts(X):
        return X
    if hasattr(X, "tocsr"):
        return X.tocsr()
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must have two dimensions, not {array.ndim}; give a row for each candidate")
    return array


def _pick(lists: Lists, which: NDArray[np.int64]) -> tuple[Any, Any, NDArray[np.int64]]:
    """Some of the lists."""
    if len(which) == len(lists.sizes):
        return lists.X, lists.grades, lists.sizes
    starts = np.concatenate([[0], np.cumsum(lists.sizes)])
    rows = np.concatenate([np.arange(starts[t], starts[t + 1]) for t in which])
    X = [lists.X[i] for i in rows] if isinstance(lists.X, list) else lists.X[rows]
    assert lists.grades is not None
    return X, lists.grades[rows], lists.sizes[which]
