"""`KernelLists`: lists of candidates of any kind that a kernel compares, ready to be learned from in the dual."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.dataset import Margins, Order, Problem
from perceptive.data.lists import ListDataset
from perceptive.errors import overflowed
from perceptive.kernels.examples import in_double
from perceptive.learners.dual import Dual
from perceptive.learners.kernel_dataset import DualDataset
from perceptive.learners.kernel_values import ROWS, Counts, Floats, tiles
from perceptive.state import Arrays, State, array_of
from perceptive.streams.lists import rows_of_lists

if TYPE_CHECKING:
    from perceptive.learners.kernel_ranking import KernelRankingLearner

NO_LENGTH = 1e-12  # of the terms it is the sum of: a ‖δ‖² below is their rounding


class KernelLists(ListDataset, DualDataset):
    """Lists of prepared candidates.

    Blocks of lists are scored with the supports so far by one comparison of many with many; when a list is learned
    from, what that changes is added to the lists to come. Where kernel values are dear and there is room, they are kept
    between epochs, and so are the scores of all candidates.

    ``candidate_hashes`` are 64 bits of each candidate, ``epochs`` are as in `Learner.dataset`, and ``before`` are
    kernel, dual and number of features of the learner before it made this dataset.
    """

    def __init__(
        self,
        learner: KernelRankingLearner,
        X: Any,
        starts: NDArray[np.int64],
        grades: Floats,
        weights: Floats | None,
        candidate_hashes: NDArray[np.uint64],
        dual: Dual | None = None,
        epochs: int | None = None,
        before: tuple[Any, ...] = (),
    ) -> None:
        super().__init__(learner, starts, grades, weights)
        self.learner: KernelRankingLearner = learner
        self.X, self._hashes, self._dual, self._before = X, candidate_hashes, dual, before
        self._ids = np.zeros(len(self))  # weights of the id features
        self._columns: dict[int, NDArray[Any]] | None = None  # kernel values that are kept
        self._made_with: dict[int, tuple[int, ...]] = {}  # which were made in one product: others round otherwise
        self._scores: Floats | None = None  # of all candidates, where these are kept
        p = learner.parameters
        self._player = _core.ListPlayer(p.rule, p.learning_rate, p.margin, p.C, self.pairs)
        fits = len(X) ** 2 * np.dtype(p.dtype).itemsize <= p.cache_size * 1e6
        if dual is not None and fits and epochs is not None and epochs > 1 and not dual.kernel.vectors:
            self._columns = {}

    @property
    def candidate_hashes(self) -> NDArray[np.uint64]:
        return self._hashes

    # ------------------------------------------------------------ playing

    def chunks(self, order: Order) -> Iterator[Order]:
        sizes = np.diff(self.starts)[order]
        block = (np.cumsum(sizes) - sizes) // ROWS
        yield from np.split(order, np.flatnonzero(np.diff(block)) + 1) if len(order) else []

    def epoch(self, order: Order | None = None, **how: Any) -> Iterator[int]:
        """Play the lists once; where an error breaks in, the learner is what it was before they were prepared."""
        learner = self.learner
        state = learner.snapshot() if len(self) > 1 else None  # a single list is learned from wholly, or not at all
        seen = learner.seen
        try:
            yield from super().epoch(order, **how)
        except TimeoutError:
            raise
        except Exception:
            with learner.lock.learning(), learner.lock.changing():
                if state is not None:
                    learner.restore(state)
                learner.seen, self._first_id = seen, None
                if self._before[1] is None and not learner.rounds:
                    learner.kernel, learner.dual, learner.n_features = self._before
            raise

    def play(self, order: Order) -> None:
        with self.learner.lock.learning():
            try:
                self._play(order)
            except BaseException:
                self._scores = None  # they may be ahead of what was learned
                raise

    def _play(self, order: Order) -> None:
        lock, dual = self.learner.lock, self._playing()
        with lock.changing():
            first_id = self.first_id
        delta = dual.parameters.delta
        if self._columns is not None and self._scores is None:
            self._scores = self._scored(self.X)
        rows, starts = rows_of_lists(self.starts, order)
        X = self.X.take(rows)
        scores = self._scored(X) if self._scores is None else self._scores[rows]
        gains = None if self.gains is None else self.gains[rows]
        weights = None if self.weights is None else self.weights[order]
        grades, shares = self.grades[rows], np.zeros(len(rows))
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
                if self._scores is not None:
                    self._add_columns(rows[taken], step)
                    scores[later] = self._scores[rows[later]]
                elif later.start < len(rows):
                    scores[later] += self._compared(one, X.take(later)) @ step
                if not np.isfinite(scores).all():
                    raise overflowed("scores")
            counts = dual.counts()
            counts = Counts(counts.rounds + rounds, counts.mistakes + mistakes, counts.criterion + criterion)
            begin = t + 1
            with lock.changing():
                dual.count(counts)
                if q == 0.0:
                    continue
                self._ids[order[t]] += tau * delta
                slots = dual.add(one, first_id + rows[taken], np.arange(len(taken)), step[:, None], dual.rounds)
                dual.count_updates(0, 1, weight * weight * q)
                dual.journals[0].write_together(slots, step, dual.rounds, m, tau, q)

    def _scored(self, X: Any) -> Floats:
        """Scores of candidates under all supports."""
        dual = self._playing()
        if dual.supports is None:
            return np.zeros(len(X))
        return np.ascontiguousarray(dual.K.weighted(X, dual.supports, dual.alpha)[:, 0])

    def _length2(self, one: Any, shares: Floats) -> float:
        """‖Σ share·φ(x)‖², in double; 0 where it is but rounding."""
        exact = in_double(one)
        q = size = 0.0
        for part in tiles(len(exact), len(exact)):
            terms = shares[part, None] * shares * self._playing().kernel.compare(exact.take(part), exact)
            q += float(terms.sum())
            size += float(np.abs(terms).sum())
        if not np.isfinite(q):
            raise ValueError("the kernel gives NaN or inf; repair it, or rescale X")
        return q if q > NO_LENGTH * size else 0.0

    def _compared(self, one: Any, others: Any) -> Floats:
        """K of others × one."""
        dual = self._playing()
        values = dual.K(others, one) if dual.kernel.one_way else dual.K(one, others).T
        return np.asarray(values, dtype=np.float64)

    def _add_columns(self, rows: NDArray[np.int64], step: Floats) -> None:
        """Bring all scores up to date by kernel values that are kept."""
        assert self._columns is not None
        assert self._scores is not None
        missing = [i for i in rows.tolist() if i not in self._columns]
        new = tuple(i for i in missing if i not in self._made_with)
        self._made_with |= dict.fromkeys(new, new)
        for group in dict.fromkeys(self._made_with[i] for i in missing):
            values = self._compared(self.X.take(np.array(group)), self.X).astype(self._playing().K.dtype)
            self._columns |= {i: np.ascontiguousarray(values[:, j]) for j, i in enumerate(group)}
        for i, change in zip(rows.tolist(), step.tolist(), strict=True):
            self._scores += change * self._columns[i].astype(np.float64)

    def snapshot(self) -> State:
        """Where playing stands between two chunks: the id features, and the scores that are kept."""
        arrays: Arrays = {"ids": self._ids.copy()}
        if self._scores is not None:
            groups = list(dict.fromkeys(self._made_with.values()))
            arrays["scores"] = self._scores.copy()
            arrays["columns"] = np.array([i for group in groups for i in group], np.int64)
            arrays["columns.made"] = np.array([len(group) for group in groups], np.int64)
        return State({"first_id": self._first_id}, arrays)

    def restore(self, state: State) -> None:
        self._playing()
        self._first_id = state.meta["first_id"]
        self._ids = np.array(array_of(state.arrays, "ids", float, (len(self),)))
        self._scores, self._made_with = None, {}
        if self._columns is not None and "scores" in state.arrays:
            self._scores = np.array(array_of(state.arrays, "scores", float, (len(self.X),)))
            columns, made = (array_of(state.arrays, name, np.int64, (None,)) for name in ("columns", "columns.made"))
            sound = not len(columns) or 0 <= columns.min() <= columns.max() < len(self.X)
            if not sound or (made < 1).any() or made.sum() != len(columns):
                raise ValueError("columns and columns.made do not fit together")
            for group in np.split(columns, np.cumsum(made))[:-1]:
                self._made_with |= dict.fromkeys(group.tolist(), tuple(group.tolist()))

    # ------------------------------------------------------------ theorems

    def margins(self, problems: Sequence[Problem]) -> Iterator[Margins]:
        [problem] = problems
        dual, X = self.learner.learned().in_double(), in_double(self.X)
        scores = {}
        for name, witness in problem.witnesses.items():
            of_all = dual.K.weighted(X, dual.supports, witness.vector)[:, 0] / witness.length
            scores[name] = np.ascontiguousarray(of_all)
        yield self.list_margins(scores, *self._lengths(dual, X))

    def _lengths(self, dual: Dual, X: Any) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Of each list's pairs the shortest ‖φ(x_i) − φ(x_j)‖² above 0, the longest, and how many are 0."""
        n = len(self)
        shortest, longest, equal = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
        for t in np.flatnonzero(self.present):
            begin, end = int(self.starts[t]), int(self.starts[t + 1])
            one, grades = X.take(slice(begin, end)), self.grades[begin:end]
            norms = dual.K.norms(one)
            least = grades.max() if self.pairs == "best" else np.nextafter(grades.min(), np.inf)
            better = np.flatnonzero(grades >= least)
            smallest = np.inf
            for part in tiles(len(better), len(grades)):
                rows = better[part]
                K, both = dual.K(one.take(rows), one), norms[rows, None] + norms
                wanted = grades[rows, None] > grades
                length2 = (both - 2.0 * K)[wanted]
                some = length2 > NO_LENGTH * (both + 2.0 * np.abs(K))[wanted]
                equal[t] += int(np.count_nonzero(~some))
                smallest = min(smallest, float(length2[some].min(initial=np.inf)))
                longest[t] = max(longest[t], float(length2[some].max(initial=0.0)))
            shortest[t] = smallest if smallest < np.inf else 0.0
        return shortest, longest, equal


def list_votes(dual: Dual, X: Any, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Votes of every v_k for the best of each list."""
    votes = np.zeros(len(X), np.int64)
    if dual.supports is None:
        return votes
    cuts = (np.flatnonzero(np.diff(starts[:-1] // ROWS)) + 1).tolist()
    for first, last in zip([0, *cuts], [*cuts, len(starts) - 1], strict=True):
        begin, end = int(starts[first]), int(starts[last])
        K = dual.K.with_supports(X.take(slice(begin, end)), dual.supports)
        dual.journals[0].list_votes(K, dual.rounds, starts[first : last + 1] - begin, votes[begin:end])
    return votes
