"""Passes of a dual over prepared examples, in blocks: the result is that of playing them one after the other.

The scores of a block under the supports so far come from matrix products; when an example of the block is learned from,
the scores of the others are mended by its row of kernel values. Between passes the scores of all examples are kept, so
that a later pass adds only what has changed since.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.learners.dual import BEYOND, Dual, Updates, Weights

BLOCK = 512
LEAST = 16  # of a small budget
BUSY = 32  # at a mistake in so many, kernel values of the whole block are made at once


class Changed:
    """Supports whose coefficients changed since some moment, in one piece, and by how much."""

    def __init__(self, n_outputs: int) -> None:
        self.supports: Any = None
        self._place: dict[int, int] = {}
        self._change = np.zeros((16, n_outputs))

    def add(self, slots: NDArray[np.int64], change: Weights, supports: Any) -> None:
        """Add to the changes of some supports."""
        known = len(self)
        places = np.array([self._place.setdefault(slot, len(self._place)) for slot in slots.tolist()], dtype=np.int64)
        while len(self) > len(self._change):
            self._change = np.concatenate([self._change, np.zeros_like(self._change)])
        new = np.array(list(self._place)[known:], dtype=np.int64)
        if len(new) and self.supports is None:
            self.supports = supports.take(new)
        elif len(new):
            self.supports.extend(supports.take(new))
        np.add.at(self._change, places, change)

    def __len__(self) -> int:
        return len(self._place)

    @property
    def change(self) -> Weights:
        """Per support and output."""
        return self._change[: len(self)]


class Passes:
    """Examples that a dual plays once or several times.

    Parameters
    ----------
    dual : Dual
    X : prepared examples
    targets : array of int32
        ±1, or the class.
    weights : array or None
    first_id : int
        Number of the first example; an example that errs again in a later pass is the same support.
    several : bool
        Whether there may be more than one pass.
    """

    def __init__(
        self, dual: Dual, X: Any, targets: NDArray[np.int32], weights: Weights | None, first_id: int, several: bool
    ) -> None:
        self.dual, self.X, self.targets, self.weights, self.first_id = dual, X, targets, weights, first_id
        lengths = dual.norms(X)
        self.q = lengths + dual.parameters.delta**2
        # A matrix that was given may be anything; an example with K(x, x) ≤ 0 is then never learned from.
        good = np.isfinite(self.q) & ((self.q >= 0) | dual.kernel.one_way)
        if not good.all():
            i = int(np.argmin(good))
            raise ValueError(f"K(x, x) of example {i} is {self.q[i]:g}; a kernel gives finite numbers ≥ 0 there")
        with np.errstate(over="ignore"):
            lost = (lengths > 0) & (lengths.astype(dual.dtype) == 0)
        if lost.any():
            i = int(np.argmax(lost))
            raise ValueError(
                f"K(x, x) of example {i} is {lengths[i]:g}, which is 0 in {dual.dtype}; take dtype='float64', or "
                f"({dual.kernel!r}).normalized()"
            )
        self.several = several and dual.forgetting is None
        self.scores: Weights | None = None
        self._played: list[tuple[NDArray[np.int64], NDArray[np.int64], Weights]] = []  # rows, then slots and steps
        self._busy = dual.kernel.vectors
        self._columns: dict[int, NDArray[Any]] = {}
        self._most = int(dual.parameters.cache_size * 1e6) // max(1, len(X) * dual.dtype.itemsize)  # columns kept
        # A matrix product makes kernel values of vectors faster than a cache would find them.
        self.cached = self.several and self._most > 0 and not dual.kernel.vectors
        self.block = len(X) if self.cached else BLOCK
        if dual.forgetting is not None and not dual.kernel.vectors:
            # Each mistake is compared with the rest of its block, each example with the supports: no more of the first.
            self.block = min(BLOCK, max(LEAST, dual.forgetting.budget))

    def play(self, order: NDArray[np.int64], report: Callable[[int], None] | None = None) -> None:
        """One pass in this order."""
        changed = None
        if self._played:
            self._catch_up()
            changed = Changed(self.dual.n_outputs)
        elif self.several:
            self.scores = np.zeros((len(self.X), self.dual.n_outputs))
        for begin in range(0, len(order), self.block):
            chunk = order[begin : begin + self.block]
            self._play_block(chunk, changed)
            if report is not None:
                report(len(chunk))

    def _play_block(self, chunk: NDArray[np.int64], changed: Changed | None) -> None:
        dual, n = self.dual, len(chunk)
        contiguous = n > 1 and chunk[-1] - chunk[0] == n - 1 and bool((np.diff(chunk) == 1).all())
        X = self.X.take(slice(int(chunk[0]), int(chunk[-1]) + 1) if contiguous else chunk)
        if changed is None:
            none = dual.supports is None
            scores = np.zeros((n, dual.n_outputs)) if none else dual.weighted(X, dual.supports, dual.alpha)
        else:
            assert self.scores is not None
            scores = self.scores[chunk]
            if len(changed):
                scores = scores + dual.weighted(X, changed.supports, changed.change)
        own = self._own(chunk)
        if own is not None:
            scores += own
        targets, q = self.targets[chunk], self.q[chunk]
        weights = None if self.weights is None else self.weights[chunk]
        numbers = self.first_id + chunk
        if dual.forgetting is not None:
            self._play_within_budget(X, scores, targets, q, weights, numbers)
            return
        if self._busy and not self.cached:
            updates = dual.play(scores, dual.values(X, X), targets, q, weights, self.several)
        else:
            updates = self._play_by_rows(X, scores, targets, q, weights, chunk)
        if not np.isfinite(scores).all():
            raise ValueError(BEYOND)
        slots = dual.learn(X, numbers, updates, q, weights)
        self._busy = dual.kernel.vectors and len(slots) * BUSY >= n
        if changed is not None:
            changed.add(slots, updates.step, dual.supports)
        if self.several:
            assert self.scores is not None
            self.scores[chunk] = scores if own is None else scores - own
            self._played.append((chunk, slots, updates.step))

    def _play_by_rows(
        self, X: Any, scores: Weights, targets: Any, q: Weights, weights: Weights | None, chunk: NDArray[np.int64]
    ) -> Updates:
        """Where mistakes are few or kernel values dear, only rows of examples that are learned from are made."""
        dual, n, begin = self.dual, len(chunk), 0
        found = [Updates.none(dual.n_outputs, len(dual.runs))]
        while (i := dual.scan(scores, targets, q, weights, begin)) < n:
            begin = i + 1
            found.append(dual.found(i))
            first = 0 if self.several else begin
            if first < n:
                row = self._row(int(chunk[i]), X.take(slice(i, i + 1)), X, chunk, first)
                scores[first:] += row[:, None] * dual.step
        return Updates(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def _play_within_budget(
        self, X: Any, scores: Weights, targets: Any, q: Weights, weights: Weights | None, numbers: NDArray[np.int64]
    ) -> None:
        begin = 0
        while (i := self.dual.scan(scores, targets, q, weights, begin)) < len(numbers):
            begin = i + 1
            weight = 1.0 if weights is None else float(weights[i])
            scores[begin:] += self.dual.learn_within_budget(X, i, int(numbers[i]), float(q[i]), weight)
            if not np.isfinite(scores).all():
                raise ValueError(BEYOND)

    def _own(self, chunk: NDArray[np.int64]) -> Weights | None:
        """Δ-trick: what the id features of the examples add to their own scores."""
        delta2 = self.dual.parameters.delta**2
        if not delta2:
            return None
        own = np.zeros((len(chunk), self.dual.n_outputs))
        for j, i in enumerate(chunk):
            slot = self.dual.slot_of.get(self.first_id + int(i))
            if slot is not None:
                own[j] = delta2 * self.dual.alpha[slot]
        return own

    def _row(self, i: int, x: Any, X: Any, chunk: NDArray[np.int64], first: int) -> Weights:
        """K(x_i, ·) + b² for the block from ``first`` on."""
        if not self.cached:
            return self.dual.row(x, X.take(slice(first, None)))
        column = self._columns.get(i)
        if column is None:
            column = self.dual.row(x, self.X).astype(self.dual.dtype)
            if len(self._columns) < self._most:
                self._columns[i] = column
        return np.asarray(column[chunk[first:]], dtype=np.float64)

    def _catch_up(self) -> None:
        """Add to each block's scores what was learned after it was played; the last block comes first."""
        assert self.scores is not None
        later = Changed(self.dual.n_outputs)
        for chunk, slots, step in reversed(self._played):
            if len(later):
                self.scores[chunk] += self.dual.weighted(self.X.take(chunk), later.supports, later.change)
            later.add(slots, step, self.dual.supports)
        self._played = []
