"""The notes' L for ranking: ``learn(xs, best)`` and ``find_best(xs)``, every hypothesis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.features.hashing import HashKernel
from perceptive.features.vocabulary import Vocabulary
from perceptive.learners.list_game import ListLearner, ListLesson
from perceptive.learners.lists import candidates, check_grades, starts_of
from perceptive.learners.problem import BEYOND, Problem
from perceptive.learners.rows import as_rows, is_dicts
from perceptive.parameters import RankingParameters
from perceptive.streams.reading import Reading

NEARLY = 1e4  # a margin for rounding, and for v = scale·z
CHUNK = 2_000_000  # entries that one call into the core plays


class RankingLearner(ListLearner):
    """An on-line learner that picks the best of a list, is told which one is, and learns from its mistakes.

    A mistake is a list whose best does not win strictly; then v ← v + x_ℓ − x_ℓ̂ (or as the rule says). A list with one
    candidate, or whose candidates are all equally good, is no round.

    Parameters
    ----------
    **parameters
        See `perceptive.parameters.RankingParameters`.

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

    def __init__(self, **parameters: Any) -> None:
        super().__init__()
        self.parameters = RankingParameters(**parameters)
        self.vocabulary: Vocabulary | None = None
        self.kernel = HashKernel(self.parameters.bits) if self.parameters.bits is not None else None
        self.reading: Reading | None = None  # how files become rows, where it learned from files
        self.idf: NDArray[np.float32] | None = None  # of the features of texts, where that is part of the reading
        self.n_features: int | None = self.parameters.n_features if self.kernel is None else self.kernel.width
        self.problem: Problem | None = None

    # ------------------------------------------------------------ learning

    @property
    def grows(self) -> bool:
        """Whether features may appear at any time: those with names, and numbered ones of files."""
        return self.vocabulary is not None or (self.reading is not None and self.reading.width is None)

    def prepare(self, X: Any, grades: Any, sizes: Any, weights: Any = None) -> RankingLesson:
        """Check lists and make them ready to be played; nothing is changed before all is checked.

        Parameters
        ----------
        X : array, sparse matrix, list of dicts, or checked rows
            The candidates of all lists, one list after the other.
        grades : array
            How good each candidate is: the more, the better.
        sizes : array of int
            How many candidates each list has.
        weights : array or None
            Of the lists.
        """
        first = self.vocabulary is None and self.kernel is None and self.problem is None and is_dicts(X)
        vocabulary = Vocabulary() if first else self.vocabulary
        known = 0 if vocabulary is None else len(vocabulary)
        try:
            rows = as_rows(X, self.kernel or vocabulary, grow=True, fingerprint=True)
            lesson = self._lesson(rows, grades, sizes, weights, vocabulary is not None or self.grows)
        except BaseException:
            if vocabulary is not None:
                vocabulary.forget(known)
            raise
        self.vocabulary = vocabulary
        self._meet_features(rows.d)
        if self.problem is None:
            assert self.n_features is not None
            self.problem = Problem(self.n_features, None, self.parameters)
        self.problem.begin(rows)
        return lesson

    def lesson(self, X: Any, grades: Any, sizes: Any, weights: Any = None) -> RankingLesson:
        """Lists that are to be looked at and not learned from."""
        rows = as_rows(X, self.kernel or self.vocabulary, fingerprint=True)
        return self._lesson(rows, grades, sizes, weights, self.grows)

    def _lesson(self, rows: _core.Rows, grades: Any, sizes: Any, weights: Any, grows: bool) -> RankingLesson:
        if rows.n == 0 or (rows.d == 0 and not grows):
            raise ValueError(f"X has {rows.n} rows and {rows.d} feature(s); a minimum of 1 is required")
        starts = starts_of(sizes, rows.n)
        grades = check_grades(grades, rows.n)
        self._check_features(rows.d, grows)
        return RankingLesson(self, rows, starts, grades, self.check_weights(weights, len(starts) - 1))

    def _check_features(self, n_features: int, grows: bool) -> None:
        known = self.n_features
        if known is None or n_features == known:
            return
        if not grows or (n_features > known and self.parameters.n_features is not None):
            raise ValueError(f"X has {n_features} features, but this model expects {known} features as input")

    def _meet_features(self, n_features: int) -> None:
        if self.n_features is None or n_features > self.n_features:
            self.n_features = n_features
            if self.problem is not None:
                self.problem.grow_features(n_features)

    # ------------------------------------------------------------ predicting

    def rows(self, X: Any) -> _core.Rows:
        """Check rows that are to be scored; unknown names are left out."""
        rows = as_rows(X, self.kernel or self.vocabulary)
        self._check_features(rows.d, self.grows)
        return rows

    def candidates(self, xs: Any) -> Any:
        """One list as rows."""
        return candidates(xs)

    def scores(self, X: Any, sizes: Any = None, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Scores of candidates: v·x; under ``voted`` their share of the votes in their list (``sizes``: one list)."""
        rows = self.rows(X)
        return self.scores_of(rows, starts_of([rows.n] if sizes is None else sizes, rows.n), hypothesis)

    def scores_of(
        self, rows: _core.Rows, starts: NDArray[np.int64], hypothesis: str | None = None
    ) -> NDArray[np.float64]:
        """Scores of rows that have been checked."""
        if self.problem is None:
            raise ValueError("this learner has learned nothing yet; let it learn first")
        hypothesis = hypothesis or self.parameters.hypothesis
        self.problem.check_hypothesis(hypothesis)
        if hypothesis == "voted":
            return self.problem.votes_in_lists(rows, np.repeat(np.arange(len(starts) - 1), np.diff(starts)))
        scores = self.problem.scores(rows, hypothesis)[:, 0]
        if not np.isfinite(scores).all():
            raise ValueError(BEYOND)
        return scores

    # ------------------------------------------------------------ the run so far

    def _number(self, name: str) -> Any:
        return getattr(self.problem.run, name) if self.problem is not None else 0

    @property
    def mistakes(self) -> int:
        """Lists whose best did not win."""
        return int(self._number("mistakes"))

    @property
    def updates(self) -> int:
        """Updates so far."""
        return int(self._number("updates"))

    @property
    def rounds(self) -> int:
        """Lists played so far."""
        return int(self._number("rounds"))

    @property
    def touched(self) -> int:
        """Weights written so far."""
        return int(self._number("touched"))

    @property
    def loss(self) -> float:
        """The perceptron criterion of the mistakes as they happened: Σ best rival − best."""
        return float(self._number("criterion"))

    def check_growth(self) -> None:
        """`check_finite`, but only where the weights are so long that it may be: it looks at all of them."""
        if self.problem is None:
            return
        run, most = self.problem.run, float(np.finfo(self.problem.dtype).max)
        with np.errstate(over="ignore"):
            length = np.sqrt(run.norm2) * max(1.0, run.clock)  # no weight is larger, and no sum of an average
        if not (length * NEARLY < most and np.isfinite(run.criterion)):
            self.check_finite()

    def check_finite(self) -> None:
        """Raise ValueError where the weights have grown beyond all numbers."""
        if self.problem is not None:
            wanted = self.parameters.hypothesis
            for hypothesis in {"last", "last" if wanted == "voted" else wanted}:
                self.problem.vector(hypothesis)

    def finish(self) -> None:
        """Learning is over for now; predictions may write vectors out."""
        if self.problem is not None:
            self.problem.finish()
            self.check_growth()

    def snapshot(self) -> dict[str, Any]:
        """Everything that learning changes, copied."""
        assert self.problem is not None
        names = ("fingerprint", "played", "ids")
        return {"problem": self.problem.snapshot(), **{name: getattr(self, name) for name in names}}

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to a snapshot."""
        assert self.problem is not None
        self.problem.restore(state["problem"])
        self.fingerprint, self.played, self.ids = state["fingerprint"], state["played"], state["ids"]


class RankingLesson(ListLesson):
    """Checked lists, ready to be played."""

    def __init__(
        self,
        learner: RankingLearner,
        rows: _core.Rows,
        starts: NDArray[np.int64],
        grades: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
    ) -> None:
        super().__init__(learner, starts, grades, weights)
        self.learner: RankingLearner = learner
        self.rows = rows

    @property
    def problem(self) -> Problem:
        """The problem that it is played by."""
        assert self.learner.problem is not None
        return self.learner.problem

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """64 bits of each candidate."""
        return np.asarray(self.rows.hashes)

    def chunks(self, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """The order in parts of some 20 ms each, between which Ctrl-C is answered and progress shown."""
        size = max(1, int(CHUNK / max(1.0, self.rows.stored / len(self))))
        for begin in range(0, len(order), size):
            yield order[begin : begin + size]

    def play_as_they_come(self, order: NDArray[np.int64] | None = None) -> None:
        """Play the lists once; raises ValueError where the weights have grown beyond all numbers."""
        super().play_as_they_come(order)
        self.learner.check_growth()

    def play(self, order: NDArray[np.int64]) -> None:
        """Play the lists in this order, all in one go."""
        pairs = self.learner.parameters.pairs
        self.problem.learn_lists(self.rows, order, self.starts, self.grades, self.gains, self.weights, pairs)
