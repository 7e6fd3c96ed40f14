"""`DeferredAverage`: shares of an average that wait for their rows, to be added up once (core/linear.hpp)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.learners.weights import DenseWeights, SparseWeights
from perceptive.parameters import LinearParameters, RankingParameters

MOST_PENDING = 2**23  # numbers that may wait for `settle`: 64 MB


class DeferredAverage:
    """The part of a weight vector that knows which rows it plays, and what the average owes to them.

    Every step is a multiple of a row, so its share of the average is one number, which waits for the row. Shards
    defer theirs to the end of the run, too; there each adds up its own, and these sums are added up in pairs.
    """

    core: _core.LinearModel
    parameters: LinearParameters | RankingParameters
    weights: DenseWeights | SparseWeights
    journal: Any
    n_classes: int

    settled = True  # whether the average is up to date
    deferred: NDArray[np.float64] | None = None  # shares that the shards of the present block defer
    _waiting: _core.Rows | None = None  # rows whose share of the average may wait
    _of_rows: tuple[int, NDArray[Any] | None, NDArray[Any] | None] = (0, None, None)  # what `begin` made
    _sums: Callable[[], Any] | None = None  # what shards have deferred, added up

    def begin(self, rows: _core.Rows, defer: bool = False) -> None:
        """Make ready for rows that are numbered anew.

        With ``defer`` the average waits until it is asked for: that pays where rows are played several times, or in
        another order than they lie in.
        """
        self.settle()
        pending = self._room(rows.n) if defer else None
        self._waiting = None if pending is None else rows
        ids = np.zeros((rows.n, self.n_classes)) if self.parameters.delta else None
        self._begin_rows(rows.n, ids, pending)

    def begin_elsewhere(self, n: int) -> None:
        """Make ready for n rows that others have and play; the average waits until it is asked for."""
        self.settle()
        self._waiting = None
        self._begin_rows(n, None, self._room(n))

    def _room(self, n: int) -> NDArray[np.float64] | None:
        """For what waits for n rows. Steps must be multiples of rows, as those of AROW are not."""
        can_wait = "sum" in self.weights.names and self.parameters.rule != "arow" and n * self.n_classes <= MOST_PENDING
        return np.zeros((n, self.n_classes)) if can_wait else None

    @property
    def pending(self) -> NDArray[np.float64] | None:
        """What waits, for each row and class."""
        return self._of_rows[2]

    def divide(self, defer: bool, sums: Callable[[], Any] | None = None) -> None:
        """Make ready for shards of the rows, played by replicas.

        With ``defer`` their averages wait with that of the vector, if it does; ``sums`` gives in the end what they have
        deferred, added up as the shards do.
        """
        pending = self.pending
        if not (defer and pending is not None and pending.shape[1] == self.n_classes):
            self.deferred = None
            return
        self._sums = sums
        if self.deferred is None or self.deferred.shape != pending.shape:
            self.deferred = np.zeros_like(pending)
        self.deferred[:] = 0.0  # a block may have been broken off

    def pending_sum(self, rows: _core.Rows, first: int = 0, step: int = 1) -> Any:
        """What is pending of the rows first, first + step, …, added up."""
        return self.weights.pending_sum(self.core, rows, first, step)

    def _begin_rows(self, n: int, ids: NDArray[Any] | None, pending: NDArray[Any] | None) -> None:
        self._of_rows, self._sums = (n, ids, pending), None
        self.core.begin_rows(ids, pending)
        if self.journal is not None:
            self.journal.begin_rows(n)

    def share(self, pending: NDArray[np.float64]) -> None:
        """Let shares of the average wait in an array that others use, too."""
        self._begin_rows(len(pending), None, pending)

    def take_deferred(self) -> None:
        """What the shards of a block have deferred waits with the rest."""
        if self.deferred is not None:
            self.core.add_deferred(self.deferred.reshape(-1))
            self.settled = False

    def forget_rows(self) -> None:
        """The average is up to date, and knows nothing of rows any more."""
        self.settle()
        self.core.begin_rows(None, None)
        self._waiting, self._of_rows = None, (0, None, None)
        self._sums = self.deferred = None

    def settle(self) -> None:
        """Bring the average up to date where it was deferred."""
        if not self.settled and self._sums is not None:
            self.weights.add_to_sum(self._sums())
            self.core.clear_pending()
        elif not self.settled and self._waiting is not None:
            self.core.settle(self._waiting)
        self.settled = True
