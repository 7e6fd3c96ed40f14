"""Epochs of a dual over prepared examples, in blocks: the result is that of playing them one after the other.

The scores of a block under the supports so far come from matrix products; when an example of the block is learned from,
the scores of the others are corrected by its row of kernel values. Between epochs the scores of all examples are kept,
so that a later epoch adds only what has changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.errors import Parameter, ParameterError, literal, overflowed
from perceptive.learners.dual import Dual
from perceptive.learners.kernel_values import Counts, Floats, Updates, check_norms
from perceptive.state import Arrays, State, array_of

Order = NDArray[np.int64]
BLOCK = 512
CACHED_BLOCK = 64  # where kernel values are dear
LEAST = 16  # of a small budget
BUSY = 32  # at a mistake in so many, kernel values of the whole block are made at once


class CoefficientChanges:
    """The supports whose coefficients changed since some moment, and by how much, in contiguous arrays."""

    def __init__(self, n_outputs: int) -> None:
        self.supports: Any = None
        self._place: dict[int, int] = {}
        self._change = np.zeros((16, n_outputs))

    def add(self, slots: Order, change: Floats, supports: Any) -> None:
        """Add to the changes of some supports."""
        known = len(self)
        places = np.array([self._place.setdefault(slot, len(self._place)) for slot in slots.tolist()], dtype=np.int64)
        while len(self) > len(self._change):
            self._change = np.concatenate([self._change, np.zeros_like(self._change)])
        new = self.slots[known:]
        if len(new) and self.supports is None:
            self.supports = supports.take(new)
        elif len(new):
            self.supports.extend(supports.take(new))
        np.add.at(self._change, places, change)

    def __len__(self) -> int:
        return len(self._place)

    @property
    def slots(self) -> Order:
        """The numbers of these supports."""
        return np.array(list(self._place), dtype=np.int64)

    @property
    def change(self) -> Floats:
        """The changes, per support and output."""
        return self._change[: len(self)]


class DualEpochs:
    """Prepared examples that a dual plays once or several times; the lock is that of its learner."""

    def __init__(self, dual: Dual, lock: _core.Lock, X: Any, weights: Floats | None, several: bool) -> None:
        self.dual, self.lock, self.X, self.weights = dual, lock, X, weights
        self.first_id = 0  # of the first example: one that errs again in a later epoch is the same support
        self.q = _squared_lengths(dual, X)
        self.several = several and dual.forgetting is None
        self._columns: dict[int, NDArray[Any]] = {}
        room = int(min(dual.parameters.cache_size * 1e6, 1e18))  # bytes
        self._most = room // max(1, len(X) * dual.K.dtype.itemsize)  # columns kept
        # A matrix product makes kernel values of vectors faster than a cache would find them.
        self.cached = self.several and self._most > 0 and not dual.kernel.vectors
        self.block = CACHED_BLOCK if self.cached else BLOCK
        if dual.forgetting is not None and not dual.kernel.vectors:
            # Each mistake is compared with the rest of its block, each example with the supports: no more of the first.
            self.block = min(BLOCK, max(LEAST, dual.forgetting.budget))
        self.reset()

    def reset(self) -> None:
        """Forget the kept scores; the next epoch computes them again."""
        n = len(self.X)
        self._busy = self.dual.kernel.vectors
        self._scores: Floats | None = None  # of all examples; where they are cached, with what id features add
        self._known = np.zeros(n, bool)  # the examples whose scores are kept
        self._done = np.zeros(n, bool)  # those that were played in this epoch
        self._played: list[tuple[Order, Order, Floats]] = []  # rows, then slots and steps
        self._changes: CoefficientChanges | None = None  # since a later epoch began
        self._own: Floats | None = None  # what id features add to the scores, where they are cached

    # ------------------------------------------------------------ epochs and blocks

    def begin(self, order: Order) -> None:
        """Begin an epoch in this order: bring the kept scores up to date."""
        if not self.several:
            return
        self._done[:] = False
        if self.cached:
            self._begin_cached(order)
            return
        if self._scores is None:
            self._scores = np.zeros((len(self.X), self.dual.n_outputs))
        if self._played:
            self._catch_up()
            self._changes = CoefficientChanges(self.dual.n_outputs)
        if self._changes is not None:
            new = order[~self._known[order]]
            if len(new):
                self._scores[new], self._known[new] = self._scored(self.X.take(new)), True

    def blocks(self, order: Order) -> Iterator[Order]:
        """Yield the order in parts, each to be played in one go."""
        yield from (order[begin : begin + self.block] for begin in range(0, len(order), self.block))

    def play(self, block: Order, targets: NDArray[np.int32]) -> None:
        """Play one block; targets are ±1, or classes.

        The slow part comes first and changes only what is kept here, which is computed again if it is interrupted; then
        the block is learned in one step.
        """
        try:
            self._play(block, targets)
        except BaseException:
            self.reset()
            raise

    def _play(self, block: Order, targets: NDArray[np.int32]) -> None:
        if self.several and (self._scores is None or self._done[block].any()):
            self.begin(block)
        self._done[block] = True
        contiguous = len(block) > 1 and block[-1] - block[0] == len(block) - 1 and bool((np.diff(block) == 1).all())
        X = self.X.take(slice(int(block[0]), int(block[-1]) + 1) if contiguous else block)
        q, weights = self.q[block], None if self.weights is None else self.weights[block]
        numbers = self.first_id + block
        if self.cached:
            assert self._scores is not None
            scores = self._scores[block]
            updates, counts = self._scanned(scores, targets, q, weights, self._by_columns(block, scores))
            if len(updates.row) and not np.isfinite(self._scores).all():
                raise overflowed("scores")
            with self.lock.changing():
                self.dual.learn(X, numbers, updates, q, weights, counts)
            return
        scores = self._block_scores(block, X)
        own = self._of_id_features(block)
        if own is not None:
            scores += own
        if self.dual.forgetting is not None:
            self._play_within_budget(X, scores, targets, q, weights, numbers)
            return
        if self._busy:
            own_values = self.dual.K(X, X)
            updates, counts = self.dual.play(scores, own_values, targets, q, weights, self.several, self.dual.counts())
        else:
            updates, counts = self._scanned(scores, targets, q, weights, self._by_rows(X, scores))
        if not np.isfinite(scores).all():
            raise overflowed("scores")
        with self.lock.changing():
            slots = self.dual.learn(X, numbers, updates, q, weights, counts)
        self._busy = self.dual.kernel.vectors and len(slots) * BUSY >= len(block)
        if self.several:
            assert self._scores is not None
            if self._changes is not None:
                self._changes.add(slots, updates.step, self.dual.supports)
            self._scores[block] = scores if own is None else scores - own
            self._known[block] = True
            self._played.append((block.copy(), slots, updates.step))  # the caller may shuffle it in place

    def _scored(self, X: Any) -> Floats:
        """Return the scores of examples under all supports."""
        dual = self.dual
        if dual.supports is None:
            return np.zeros((len(X), dual.n_outputs))
        return dual.K.weighted(X, dual.supports, dual.alpha)

    def _block_scores(self, block: Order, X: Any) -> Floats:
        if self._changes is None:
            return self._scored(X)
        assert self._scores is not None
        scores = self._scores[block]
        if len(self._changes):
            scores = scores + self.dual.K.weighted(X, self._changes.supports, self._changes.change)
        return scores

    def _by_rows(self, X: Any, scores: Floats) -> Callable[[int], None]:
        """Correct a block with few mistakes: compute kernel rows only for examples that are learned from."""

        def correct(i: int) -> None:
            first = 0 if self.several else i + 1
            if first < len(scores):
                row = self.dual.K.row(X.take(slice(i, i + 1)), X.take(slice(first, None)))
                scores[first:] += row[:, None] * self.dual.step

        return correct

    def _scanned(
        self, scores: Floats, targets: Any, q: Floats, weights: Floats | None, correct: Callable[[int], None]
    ) -> tuple[Updates, Counts]:
        """Play a block example by example; ``correct`` is told which one is learned from, to correct the scores."""
        dual, begin, counts = self.dual, 0, self.dual.counts()
        found = [Updates.none(dual.n_outputs, len(dual.journals))]
        while True:
            i, counts = dual.scan(scores, targets, q, weights, begin, counts)
            if i >= len(q):
                return Updates(*(np.concatenate(parts) for parts in zip(*found, strict=True))), counts
            begin = i + 1
            found.append(dual.found(i, counts))
            correct(i)

    def _play_within_budget(
        self, X: Any, scores: Floats, targets: Any, q: Floats, weights: Floats | None, numbers: Order
    ) -> None:
        dual, i, n = self.dual, -1, len(numbers)
        while i < n:
            begin = i + 1
            i, counts = dual.scan(scores, targets, q, weights, begin, dual.counts())
            if i >= n:
                with self.lock.changing():
                    dual.count(counts)
                break
            change, learn = dual.within_budget(X, i, int(numbers[i]))
            with self.lock.changing():
                dual.note_one(float(q[i]), 1.0 if weights is None else float(weights[i]), counts)
                learn()
            scores[i + 1 :] += change
            if not np.isfinite(scores).all():
                raise overflowed("scores")

    def _of_id_features(self, block: Order) -> Floats | None:
        """Return what the id features of the Δ-trick add to the examples' own scores."""
        delta2 = self.dual.parameters.delta**2
        if not delta2:
            return None
        own = np.zeros((len(block), self.dual.n_outputs))
        for j, i in enumerate(block.tolist()):
            slot = self.dual.slot_of.get(self.first_id + i)
            if slot is not None:
                own[j] = delta2 * self.dual.alpha[slot]
        return own

    def _catch_up(self) -> None:
        """Add to each block's scores what was learned after it was played; the last block comes first."""
        assert self._scores is not None
        later = CoefficientChanges(self.dual.n_outputs)
        behind = self._known.copy()

        def add(rows: Order) -> None:
            assert self._scores is not None
            if len(later) and len(rows):
                self._scores[rows] += self.dual.K.weighted(self.X.take(rows), later.supports, later.change)

        for block, slots, step in reversed(self._played):
            add(block)
            behind[block] = False
            later.add(slots, step, self.dual.supports)
        add(np.flatnonzero(behind))  # those that the last epoch left out
        self._played = []

    # ------------------------------------------------------------ cached kernel values

    def _begin_cached(self, order: Order) -> None:
        """Compute the scores of all examples, with what their id features add during the epoch."""
        if self._scores is None:
            rest = np.setdiff1d(np.arange(len(self.X)), order)
            self._scores = np.zeros((len(self.X), self.dual.n_outputs))
            for rows in (order, rest):
                if len(rows) and self.dual.supports is not None:
                    self._scores[rows] = self._scored(self.X.take(rows))
        elif self._own is not None:
            self._scores -= self._own
        self._own = self._of_id_features(np.arange(len(self.X)))
        if self._own is not None:
            self._scores += self._own

    def _by_columns(self, block: Order, scores: Floats) -> Callable[[int], None]:
        """Correct all scores, and those of a block, by a column of kernel values, kept for later epochs."""
        assert self._scores is not None
        all_scores = self._scores

        def correct(i: int) -> None:
            all_scores[:] += self._column(int(block[i]))[:, None] * self.dual.step
            scores[i + 1 :] = all_scores[block[i + 1 :]]

        return correct

    def _column(self, i: int) -> Floats:
        """Return K(x_i, ·) + b² for all examples."""
        column = self._columns.get(i)
        if column is None:
            column = self.dual.K.row(self.X.take(slice(i, i + 1)), self.X).astype(self.dual.K.dtype)
            if len(self._columns) < self._most:
                self._columns[i] = column
        return np.asarray(column, dtype=np.float64)

    # ------------------------------------------------------------ between two blocks

    def snapshot(self) -> State:
        """Return the state between two blocks, as plain values and arrays."""
        arrays: Arrays = {"known": self._known, "done": self._done}
        if self._scores is not None:
            arrays["scores"] = self._scores
        if self._own is not None:
            arrays["own"] = self._own
        if self._changes is not None:
            arrays |= {"changed": self._changes.slots, "change": self._changes.change}
        outputs = self.dual.n_outputs
        rows, slots, steps = zip(*self._played, strict=True) if self._played else ((), (), ())
        arrays["played.size"] = np.array([(len(a), len(b)) for a, b in zip(rows, slots, strict=True)], np.int64)
        arrays["played.size"] = arrays["played.size"].reshape(-1, 2)
        arrays["played.row"] = np.concatenate([np.zeros(0, np.int64), *rows])
        arrays["played.slot"] = np.concatenate([np.zeros(0, np.int64), *slots])
        arrays["played.step"] = np.concatenate([np.zeros((0, outputs)), *steps])
        return State({"busy": self._busy}, {name: array.copy() for name, array in arrays.items()})

    def restore(self, state: State) -> None:
        """Continue from a snapshot; raise ValueError if it belongs to other examples."""
        meta, arrays = state
        n, outputs = len(self.X), self.dual.n_outputs

        def numbers(name: str, high: int) -> Order:
            found = array_of(arrays, name, np.int64, (None,))
            if len(found) and not 0 <= found.min() <= found.max() < high:
                raise ValueError(f"{name} has a number below 0 or above {high - 1}")
            return found

        self._busy = meta["busy"]
        self._known, self._done = (np.array(array_of(arrays, name, bool, (n,))) for name in ("known", "done"))
        both = {k: np.array(array_of(arrays, k, float, (n, outputs))) for k in ("scores", "own") if k in arrays}
        self._scores, self._own = both.get("scores"), both.get("own")
        self._changes = None
        if "changed" in arrays:
            if self._scores is None:
                raise ValueError("the scores that changed are missing")
            self._changes = CoefficientChanges(outputs)
            slots = numbers("changed", len(self.dual))
            self._changes.add(slots, array_of(arrays, "change", float, (len(slots), outputs)), self.dual.supports)
        size = array_of(arrays, "played.size", np.int64, (None, 2))
        rows, slots = numbers("played.row", n), numbers("played.slot", len(self.dual))
        steps = array_of(arrays, "played.step", float, (len(slots), outputs))
        if (size < 0).any() or size.sum(axis=0).tolist() != [len(rows), len(slots)]:
            raise ValueError("played.size does not fit")
        at_row, at_slot = np.cumsum(size, axis=0).T
        parts = (np.split(rows, at_row), np.split(slots, at_slot), np.split(steps, at_slot))
        self._played = list(zip(*parts, strict=True))[: len(size)]


def _squared_lengths(dual: Dual, X: Any) -> Floats:
    """Return K(x, x) of each example with bias and id feature; raise if it cannot be used."""
    lengths = dual.K.norms(X)
    q = lengths + dual.parameters.delta**2
    check_norms(q, dual.kernel)
    with np.errstate(over="ignore"):
        lost = (lengths > 0) & (lengths.astype(dual.K.dtype) == 0)
    if lost.any():
        i = int(np.argmax(lost))
        said = f"K(x, x) of example {i} is {lengths[i]:g}, which is 0 in {dual.K.dtype}; normalize the kernel, or use "
        raise ParameterError(literal(said) + "{}", Parameter("dtype", "float64"))
    return q
