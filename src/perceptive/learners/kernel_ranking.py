"""The notes' L for ranking in the dual: it remembers the candidates it was wrong about, and a kernel compares."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.kernels import Kernel, as_kernel
from perceptive.kernels.examples import Dense, check_alike, in_double
from perceptive.kernels.vectors import vectors
from perceptive.learners.dual import BEYOND, COLUMNS, ROWS, Dual, Weights
from perceptive.learners.fingerprint import hash_examples
from perceptive.learners.kernel import check_gram
from perceptive.learners.list_game import ListLearner, ListLesson
from perceptive.learners.lists import candidates, check_grades, objects, starts_of
from perceptive.parameters import KernelRankingParameters
from perceptive.streams.reading import Reading

NO_LENGTH = 1e-12  # of the terms it is the sum of: a ‖δ‖² below is their rounding


class KernelRankingLearner(ListLearner):
    """An on-line learner that picks the best of a list of anything that a kernel compares.

    v = Σ α_s φ(x_s) over the candidates s that were learned from; in a pair the better one's α rises by as much as the
    worse one's falls. A list with one candidate, or whose candidates are all equally good, is no round.

    Parameters
    ----------
    **parameters
        See `perceptive.parameters.KernelRankingParameters`.

    Examples
    --------
    Candidates are words here.

    >>> from perceptive.kernels import Spectrum
    >>> from perceptive.learners import KernelRankingLearner
    >>> L = KernelRankingLearner(kernel=Spectrum(2))
    >>> L.learn(["sing", "sand", "sink"], best=1), L.learn(["ring", "band", "rink"], best=1)
    (True, False)
    >>> L.find_best(["king", "hand"])
    1
    """

    def __init__(self, **parameters: Any) -> None:
        super().__init__()
        self.parameters = KernelRankingParameters(**parameters)
        self.asked_kernel = as_kernel(self.parameters.kernel)
        self.kernel: Kernel = self.asked_kernel
        self.dual: Dual | None = None
        self.n_features: int | None = None
        self.reading: Reading | None = None  # how files become rows, where it learned from files
        self.seen = 0  # candidates so far, which numbers them

    @property
    def takes_objects(self) -> bool:
        """Whether candidates are any objects, and not rows of numbers."""
        return not (self.kernel.vectors or self.kernel.pairwise)

    def candidates(self, xs: Any) -> Any:
        """One list: rows where the kernel is of vectors, else objects."""
        if self.takes_objects:
            return objects(xs)
        rows = candidates(xs)
        prepared = vectors(rows) if isinstance(rows, list) else None
        return prepared.array if isinstance(prepared, Dense) else rows  # as `fit` sees them, fingerprint included

    # ------------------------------------------------------------ learning

    def prepare(self, X: Any, grades: Any, sizes: Any, weights: Any = None, *, several: bool = False) -> KernelLists:
        """Check lists and make them ready to be played, once or several times.

        Parameters
        ----------
        X : what the kernel takes
            The candidates of all lists, one list after the other.
        grades : array
            How good each candidate is: the more, the better.
        sizes : array of int
            How many candidates each list has.
        weights : array or None
            Of the lists.
        several : bool
            Whether there may be more than one pass.
        """
        kernel = self.asked_kernel.resolved(X) if self.dual is None else self.kernel
        if kernel.pairwise:
            check_gram(X, self.dual is None)
        dtype = np.dtype(self.parameters.dtype)
        lesson = self._lesson(kernel, kernel.prepare(X, dtype), X, grades, sizes, weights)
        lesson.before = self.dual, self.kernel, self.n_features, self.seen
        if self.dual is None:
            self.kernel = kernel
            self.dual = Dual(kernel, "binary", 1, self.parameters)
        elif self.dual.supports is not None:
            check_alike(self.dual.supports, lesson.X)
        self._check_features(X, meet=True)
        lesson.begin(self.dual, self.seen, several)
        self.seen += len(lesson.X)
        return lesson

    def lesson(self, X: Any, grades: Any, sizes: Any, weights: Any = None) -> KernelLists:
        """Lists that are to be looked at and not learned from, in float64."""
        return self._lesson(self.kernel, self.kernel.prepare(X, np.float64), X, grades, sizes, weights)

    def _lesson(self, kernel: Kernel, prepared: Any, X: Any, grades: Any, sizes: Any, weights: Any) -> KernelLists:
        n = len(prepared)
        if n == 0:
            raise ValueError("X has 0 rows; a minimum of 1 is required")
        starts = starts_of(sizes, n)
        self._check_features(X)
        checked = self.check_weights(weights, len(starts) - 1)
        norms = kernel.norms(prepared)
        good = np.isfinite(norms) & ((norms >= 0) | kernel.one_way)
        if not good.all():
            i = int(np.argmin(good))
            raise ValueError(f"K(x, x) of candidate {i} is {norms[i]:g}; a kernel gives finite numbers ≥ 0 there")
        return KernelLists(self, prepared, starts, check_grades(grades, n), checked, hash_examples(X))

    def _check_features(self, X: Any, meet: bool = False) -> None:
        shape = getattr(X, "shape", None)
        if not self.kernel.vectors or shape is None or len(shape) != 2:
            return
        if self.n_features is not None and shape[1] != self.n_features:
            raise ValueError(f"X has {shape[1]} features, but this model expects {self.n_features} features as input")
        if meet:
            self.n_features = int(shape[1])

    # ------------------------------------------------------------ predicting

    def scores(self, X: Any, sizes: Any = None, hypothesis: str | None = None) -> Weights:
        """Σ α_s K(x_s, x); under ``voted`` the share of the votes in the list (``sizes``: one list)."""
        if self.dual is None:
            raise ValueError("this learner has learned nothing yet; let it learn first")
        self._check_features(X)
        dual = self.dual.predictor()
        prepared = self.kernel.prepare(X, dual.dtype)
        starts = starts_of([len(prepared)] if sizes is None else sizes, len(prepared))
        hypothesis = hypothesis or self.parameters.hypothesis
        dual.check_hypothesis(hypothesis)
        if hypothesis == "voted":
            return _votes(dual, prepared, starts) / max(1, dual.rounds)
        return dual.scores(prepared, hypothesis)[:, 0]

    # ------------------------------------------------------------ the run so far

    @property
    def mistakes(self) -> int:
        """Lists whose best did not win."""
        return 0 if self.dual is None else int(self.dual.mistakes[0])

    @property
    def updates(self) -> int:
        """Updates so far."""
        return 0 if self.dual is None else self.dual.updates

    @property
    def rounds(self) -> int:
        """Lists played so far."""
        return 0 if self.dual is None else self.dual.rounds

    @property
    def loss(self) -> float:
        """The perceptron criterion of the mistakes as they happened: Σ best rival − best."""
        return 0.0 if self.dual is None else float(self.dual.criterion[0])

    def snapshot(self) -> dict[str, Any]:
        """Everything that learning changes, copied."""
        names = ("dual", "fingerprint", "played", "ids")
        return {name: copy.deepcopy(getattr(self, name)) for name in names}

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to a snapshot."""
        for name, value in state.items():
            setattr(self, name, value)


class KernelLists(ListLesson):
    """Lists of prepared candidates, ready to be played.

    Blocks of lists are scored with the supports so far by one comparison of many with many; when a list is learned
    from, what that changes is added to the lists to come. Where kernel values are dear and there is room, they are kept
    between passes, and so are the scores of all candidates.
    """

    def __init__(
        self,
        learner: KernelRankingLearner,
        X: Any,
        starts: NDArray[np.int64],
        grades: NDArray[np.float64],
        weights: Weights | None,
        hashes: NDArray[np.uint64],
    ) -> None:
        super().__init__(learner, starts, grades, weights)
        self.X = X
        self._hashes = hashes
        self.before: tuple[Any, ...] = ()  # what the learner was before these lists were prepared

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """64 bits of each candidate."""
        return self._hashes

    def begin(self, dual: Dual, first: int, several: bool) -> None:
        """Make ready to be played; ``first`` is the number of the first candidate."""
        p = dual.parameters
        self.dual, self._first, self._one_way = dual, first, dual.kernel.one_way
        self._player = _core.ListPlayer(p.rule, p.learning_rate, p.margin, p.C, self.learner.parameters.pairs)
        self._ids = np.zeros(len(self))  # weights of the id features
        fits = len(self.X) ** 2 * dual.dtype.itemsize <= p.cache_size * 1e6
        self._columns: dict[int, NDArray[Any]] | None = {} if several and fits and not dual.kernel.vectors else None
        self._scores = self._scored(self.X) if self._columns is not None else np.zeros(0)

    def _scored(self, X: Any) -> Weights:
        dual = self.dual
        if dual.supports is None:
            return np.zeros(len(X))
        return np.ascontiguousarray(dual.weighted(X, dual.supports, dual.alpha)[:, 0])

    def chunks(self, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """The order in blocks of some hundred candidates."""
        sizes = np.diff(self.starts)[order]
        block = (np.cumsum(sizes) - sizes) // ROWS
        yield from np.split(order, np.flatnonzero(np.diff(block)) + 1) if len(order) else []

    def play_as_they_come(self, order: NDArray[np.int64] | None = None) -> None:
        """Play the lists once; where that raises, the learner is what it was before they were prepared."""
        learner = self.learner
        state = learner.snapshot() if len(self) > 1 else None  # a single list is learned from wholly, or not at all
        try:
            super().play_as_they_come(order)
        except Exception:
            if state is not None:
                learner.restore(state)
            dual, learner.kernel, learner.n_features, learner.seen = self.before
            learner.dual = None if dual is None else learner.dual
            raise

    def play(self, order: NDArray[np.int64]) -> None:
        """Play the lists in this order, as one block."""
        if self.dual is not self.learner.dual:  # the learner went back to a snapshot
            raise ValueError("these lists were prepared for another state of the learner; prepare them again")
        sizes = np.diff(self.starts)[order]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        rows = np.arange(starts[-1]) + np.repeat(self.starts[order] - starts[:-1], sizes)
        X = self.X.take(rows)
        scores = self._scores[rows] if self._columns is not None else self._scored(X)
        gains = None if self.gains is None else self.gains[rows]
        weights = None if self.weights is None else self.weights[order]
        grades, shares = self.grades[rows], np.zeros(len(rows))
        dual, delta = self.dual, self.dual.parameters.delta
        begin = 0
        while begin < len(order):
            extra = delta * self._ids[order]
            t, rounds, mistakes, criterion, m, cost = self._player.scan(
                scores, starts, grades, gains, weights, extra, begin, shares
            )
            # All that may raise comes before anything is noted: a list is learned from wholly, or not at all.
            q = 0.0
            if t < len(order):
                taken = starts[t] + np.flatnonzero(shares[starts[t] : starts[t + 1]])
                one = X.take(taken)
                q = self._length2(one, shares[taken]) + delta**2
            if q > 0.0:
                weight = 1.0 if weights is None else float(weights[t])
                tau = self._player.step(m, q, cost, weight)
                step = tau * shares[taken]
                later = slice(int(starts[t + 1]), None)
                if self._columns is not None:
                    self._add_columns(rows[taken], step)
                    scores[later] = self._scores[rows[later]]
                elif later.start < len(rows):
                    scores[later] += self._compared(one, X.take(later)) @ step
                if not np.isfinite(scores).all():
                    raise ValueError(BEYOND)
            dual.count(rounds)
            dual.mistakes[0] += mistakes
            dual.criterion[0] += criterion
            begin = t + 1
            if q == 0.0:
                continue
            self._ids[order[t]] += tau * delta
            self._learn(one, self._first + rows[taken], step)
            run = dual.runs[0]
            run.updates += 1
            run.radius2 = max(run.radius2, weight * weight * q)
            run.length2 += [run.length2[-1] + 2.0 * tau * m + tau * tau * q] * len(taken)

    def _length2(self, one: Any, shares: Weights) -> float:
        """‖Σ share·φ(x)‖², in double; 0 where it is but rounding."""
        exact = in_double(one)
        q = size = 0.0
        for part in tiles(len(exact), len(exact)):
            terms = shares[part, None] * shares * self.dual.kernel.compare(exact.take(part), exact)
            q += float(terms.sum())
            size += float(np.abs(terms).sum())
        if not np.isfinite(q):
            raise ValueError("the kernel gives numbers that are not finite; mend it, or rescale X")
        return q if q > NO_LENGTH * size else 0.0

    def _compared(self, one: Any, others: Any) -> Weights:
        """K of others × one."""
        dual = self.dual
        values = dual.values(others, one) if self._one_way else dual.values(one, others).T
        return np.asarray(values, dtype=np.float64)

    def _add_columns(self, rows: NDArray[np.int64], step: Weights) -> None:
        """Bring all scores up to date by kernel values that are kept."""
        assert self._columns is not None
        new = [i for i in rows.tolist() if i not in self._columns]
        if new:
            values = self._compared(self.X.take(np.array(new)), self.X).astype(self.dual.dtype)
            self._columns |= {i: np.ascontiguousarray(values[:, j]) for j, i in enumerate(new)}
        for i, change in zip(rows.tolist(), step.tolist(), strict=True):
            self._scores += change * self._columns[i].astype(np.float64)

    def _learn(self, one: Any, numbers: NDArray[np.int64], step: Weights) -> None:
        """Write an update down: a step for each candidate that has a part in it, all in one round."""
        dual, run = self.dual, self.dual.runs[0]
        dual._forget_predictions()
        slots = dual.slots(one, numbers, np.arange(len(numbers)))
        np.add.at(dual.alpha[:, 0], slots, step)
        np.add.at(dual.sums[:, 0], slots, dual.rounds * step)
        run.slot += slots.tolist()
        run.gain += [0] * len(slots)
        run.loss += [-1] * len(slots)
        run.step += step.tolist()
        run.at += [dual.rounds] * len(slots)  # so what lies between two steps of an update survives for no list


def tiles(n: int, width: int) -> Iterator[slice]:
    """Parts of n rows of kernel values with so many others each, which take a few megabytes."""
    rows = max(1, ROWS * COLUMNS // max(1, width))
    yield from (slice(i, i + rows) for i in range(0, n, rows))


def _votes(dual: Dual, X: Any, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Votes of every v_k for the best of each list."""
    votes = np.zeros(len(X), np.int64)
    if dual.supports is None:
        return votes
    run = dual.runs[0]
    slot, step = np.array(run.slot, np.int32), np.array(run.step, np.float64)
    survival = run.survivals(dual.rounds)
    block = starts[:-1] // ROWS
    for first, last in zip(*_borders(block), strict=True):
        begin, end = int(starts[first]), int(starts[last])
        rows = X.take(slice(begin, end))
        columns = range(0, len(dual), COLUMNS)
        K = np.hstack([dual.values(rows, dual.supports.take(slice(j, j + COLUMNS))) for j in columns])
        _core.dual_list_votes(
            np.ascontiguousarray(K), starts[first : last + 1] - begin, slot, step, survival, votes[begin:end]
        )
    return votes


def _borders(block: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Where runs of one number begin and end."""
    cuts = (np.flatnonzero(np.diff(block)) + 1).tolist()
    return [0, *cuts], [*cuts, len(block)]
