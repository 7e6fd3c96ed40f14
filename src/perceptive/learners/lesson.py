"""Examples ready to be played: checked rows, their labels, and what they are to each problem of a learner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.learners.fingerprint import fingerprint

if TYPE_CHECKING:
    from perceptive.learners.linear import LinearLearner

Pair = tuple[int, ...]  # which classes a problem is about
ALL: Pair = ()  # the one problem of a binary or joint learner
CHUNK = 2_000_000  # entries × weights that one call into the core plays
_FIRST = np.zeros(1, dtype=np.int64)
_NOBODY = object()


class Labels(NamedTuple):
    """The different labels of some examples, as plain values, and which of them each example has."""

    values: list[Any]
    which: NDArray[np.int64]

    @classmethod
    def of(cls, y: Any) -> Labels:
        """Look through y, unless that has been done."""
        if isinstance(y, Labels):
            return y
        if isinstance(y, list) and len(y) == 1:  # one example of a stream: no detour by NumPy
            return cls([plain_label(y[0])], _FIRST)
        array = np.asarray(y)
        if array.ndim != 1:
            raise ValueError(f"y must have one dimension, not {array.ndim}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError("y contains NaN or inf; drop such examples")
        mixed = isinstance(y, list) and (len(set(map(type, y))) > 1 or (type(y[0]) is int and array.dtype.kind != "i"))
        if mixed or array.dtype.kind in "OV":
            index: dict[Any, int] = {}
            which = [index.setdefault(plain_label(label), len(index)) for label in y]
            return cls(list(index), np.array(which, dtype=np.int64))
        unique, inverse = np.unique(array, return_inverse=True)
        return cls(unique.tolist(), inverse.astype(np.int64, copy=False))


class Lesson:
    """Checked rows with their labels, ready to be played by all problems of a learner."""

    def __init__(
        self,
        learner: LinearLearner,
        rows: _core.Rows,
        labels: list[Any],
        which: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
    ) -> None:
        self.learner, self.rows, self.weights = learner, rows, weights
        self._labels, self._which = labels, which
        self._targets: dict[Pair, NDArray[np.int32]] = {}
        self._recorded = False

    def __len__(self) -> int:
        return int(self.rows.n)

    @property
    def y(self) -> NDArray[np.int64]:
        """Index of the class of each row."""
        return self.learner.encode(self._labels)[self._which]

    def targets(self, pair: Pair) -> NDArray[np.int32]:
        """What the rows are to a problem: ±1 or 0 (not in it), or the class."""
        if pair not in self._targets:
            self._targets[pair] = _targets(self.learner, pair, self.y)
        return self._targets[pair]

    def chunks(self, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """The order in parts of some 20 ms each, between which Ctrl-C is answered and progress shown."""
        width = sum(problem.stride for problem in self.learner.problems.values())
        size = max(1, int(CHUNK / max(1, width) / max(1.0, self.rows.stored / self.rows.n)))
        for begin in range(0, len(order), size):
            yield order[begin : begin + size]

    def play(self, order: NDArray[np.int64]) -> None:
        """Play the rows in this order, all in one go."""
        for pair, problem in self.learner.problems.items():
            problem.learn(self.rows, order, self.targets(pair), self.weights, self.learner.cost)

    def play_as_they_come(self, order: NDArray[np.int64] | None = None) -> None:
        """Play the rows once, as they lie or in another order; a class that nobody announced joins when it comes."""
        learner = self.learner
        which = self._which if order is None else self._which[order]
        arrivals: list[tuple[int, Any]] = [(0, _NOBODY)]
        for i, label in enumerate(self._labels):
            if label not in learner.index:
                arrivals.append((int(np.argmax(which == i)), label))
        arrivals.sort(key=lambda arrival: arrival[0])
        try:
            for (begin, label), (end, _) in zip(arrivals, [*arrivals[1:], (self.rows.n, _NOBODY)], strict=True):
                if label is not _NOBODY:
                    self._welcome(label)
                if begin < end:
                    self._play_known(np.arange(begin, end) if order is None else order[begin:end])
        finally:
            self.record()
        if self.rows.n > 1:
            learner.finish()

    def _welcome(self, label: Any) -> None:
        learner = self.learner
        before = set(learner.problems)
        learner.meet_class(label)
        for pair in set(learner.problems) - before:
            learner.problems[pair].begin(self.rows)

    def _play_known(self, order: NDArray[np.int64]) -> None:
        """Play rows whose classes are known while later ones may not be."""
        index = np.array([self.learner.index.get(label, -1) for label in self._labels], dtype=np.int64)
        y = index[self._which]
        targets = {pair: _targets(self.learner, pair, y) for pair in self.learner.problems}
        for chunk in self.chunks(order):
            for pair, problem in self.learner.problems.items():
                problem.learn(self.rows, chunk, targets[pair], self.weights, self.learner.cost)

    def record(self) -> None:
        """Note that every row has been played (or was to be) once more."""
        learner = self.learner
        learner.fingerprint = (learner.fingerprint + self.fingerprint()) % 2**64
        learner.played += self.n_played
        if not self._recorded:  # later passes meet the same id features again
            learner.ids += self.n_played
        self._recorded = True

    @property
    def n_played(self) -> int:
        """Rows that a pass plays: those with a weight."""
        return self.rows.n if self.weights is None else int(np.count_nonzero(self.weights))

    def fingerprint(self) -> int:
        """An order-free hash of the examples."""
        if not hasattr(self, "_fingerprint"):
            index, classes = self.learner.index, self.learner.classes
            labels = [classes[index[label]] if label in index else label for label in self._labels]  # 1.0 is 1
            self._fingerprint = fingerprint(self.rows, self._which, labels, self.weights)
        return self._fingerprint


def is_missing(label: Any) -> bool:
    """Whether a label stands for none: None, NaN, or pandas' NA and NaT."""
    return (
        label is None or type(label).__name__ in ("NAType", "NaTType") or (isinstance(label, float) and label != label)
    )


def plain_label(label: Any) -> Any:
    """A label as a plain, hashable Python value."""
    if isinstance(label, np.generic):
        label = label.item()
    if (isinstance(label, float) and not np.isfinite(label)) or (label is not None and is_missing(label)):
        raise ValueError("y contains NaN, inf or missing labels; drop such examples")
    try:
        hash(label)
    except TypeError:
        raise ValueError(f"label {label!r} cannot be a class; give numbers, strings or booleans") from None
    return label


def _targets(learner: LinearLearner, pair: Pair, y: NDArray[np.int64]) -> NDArray[np.int32]:
    if learner.joint:
        return y.astype(np.int32)
    if pair == ALL:
        pair = (1,)
    targets = np.where(y == pair[-1], 1, -1).astype(np.int32)
    if len(pair) == 2:
        targets[(y != pair[0]) & (y != pair[1])] = 0
    return targets
