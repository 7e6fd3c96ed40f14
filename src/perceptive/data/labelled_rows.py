"""`LabelledRows`: checked rows with their labels, and what each is to the problems of a classifier."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.dataset import Dataset, Margins, Order, Problem
from perceptive.data.fingerprint import example_hashes
from perceptive.data.labels import Labels
from perceptive.data.rows import in_parts, squared_lengths

if TYPE_CHECKING:
    from perceptive.learners.linear import LinearLearner
    from perceptive.learners.weight_vector import WeightVector

Pair = tuple[int, ...]  # the classes that a problem is about
ALL: Pair = ()  # the one problem of a binary or joint learner
CHUNK = 2_000_000  # entries × weights that one call into the core plays


class LabelledRows(Dataset):
    """Rows with labels, ready to be played by all problems of a `LinearLearner`."""

    resumable = False  # a run over files is resumed between two blocks

    def __init__(
        self, learner: LinearLearner, rows: _core.Rows, labels: Labels, weights: NDArray[np.float64] | None
    ) -> None:
        self.learner: LinearLearner = learner
        self.rows, self.labels, self.weights = rows, labels, weights
        self._targets: dict[Pair, NDArray[np.int32]] = {}
        self._classes: list[Any] = []  # when the targets were made

    def __len__(self) -> int:
        return int(self.rows.n)

    def targets(self, pair: Pair) -> NDArray[np.int32]:
        """What the rows are to a problem: ±1 or 0 (not in it), or the class; classes yet to join are −1."""
        learner = self.learner
        if learner.classes is not self._classes:
            self._targets, self._classes = {}, learner.classes
        if pair not in self._targets:
            index = np.array([learner.index.get(label, -1) for label in self.labels.values], dtype=np.int64)
            self._targets[pair] = _targets(learner.joint, pair, index)[self.labels.which]
        return self._targets[pair]

    def _targets_among(self, order: Order) -> Callable[[Pair], NDArray[np.int32]]:
        """The same of some rows only, while classes join: all rows would be looked at again for every class."""
        learner, (used, which) = self.learner, np.unique(self.labels.which[order], return_inverse=True)
        y = np.array([learner.index.get(self.labels.values[i], -1) for i in used], dtype=np.int64)[which]

        def targets(pair: Pair) -> NDArray[np.int32]:
            found = np.zeros(len(self), np.int32)
            found[order] = _targets(learner.joint, pair, y)
            return found

        return targets

    def chunks(self, order: Order) -> Iterator[Order]:
        width = sum(vector.stride for vector in self.learner.vectors.values())
        size = max(1, int(CHUNK / max(1, width) / max(1.0, self.rows.stored / self.rows.n)))
        for begin in range(0, len(order), size):
            yield order[begin : begin + size]

    def play(self, order: Order) -> None:
        """Play the rows in this order; a class that was not announced joins when its first example is played."""
        learner = self.learner
        with learner.lock.learning(), learner.lock.changing():
            self._play(learner, order)

    def check(self) -> None:
        self.learner.check_growth()

    def _play(self, learner: LinearLearner, order: Order) -> None:
        new = {i for i, label in enumerate(self.labels.values) if label not in learner.index}
        if not new:
            self._play_known(order, self.targets)
            return
        found, first = np.unique(self.labels.which[order], return_index=True)
        arrivals = sorted((at, i) for at, i in zip(first.tolist(), found.tolist(), strict=True) if i in new)
        cuts = [at for at, _ in arrivals]
        known = order[: cuts[0]] if cuts else order
        self._play_known(known, self._targets_among(known))
        in_all = len(learner.index) + len(new)
        for (at, i), end in zip(arrivals, [*cuts, len(order)][1:], strict=True):
            self._welcome(self.labels.values[i], in_all)
            self._play_known(order[at:end], self._targets_among(order[at:end]))

    def _play_known(self, order: Order, targets: Callable[[Pair], NDArray[np.int32]]) -> None:
        if len(order) == 0:
            return

        def play(problem: tuple[Pair, WeightVector]) -> None:
            pair, vector = problem
            vector.learn(self.rows, order, targets(pair), self.weights, self.learner.cost)

        problems, threads = self.learner.vectors.items(), min(self.learner.threads, len(self.learner.vectors))
        if threads > 1:  # each problem has weights of its own
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(play, problems))
        else:
            for problem in problems:
                play(problem)

    def _welcome(self, label: Any, in_all: int) -> None:
        """Let a class join, of so many that there will be."""
        learner = self.learner
        before = set(map(id, learner.vectors.values()))
        learner.meet_class(label)
        for vector in learner.vectors.values():
            vector.expect(in_all)
            if id(vector) not in before:
                vector.begin(self.rows)

    def meet(self) -> None:
        """Let all classes join that were not announced; their weights start at zero."""
        learner = self.learner
        with learner.lock.learning(), learner.lock.changing():
            new = [label for label in self.labels.values if label not in learner.index]
            in_all = len(learner.index) + len(new)
            for label in new:
                self._welcome(label, in_all)
            for pair in learner.vectors:
                self.targets(pair)

    def replica(self, learner: Any) -> LabelledRows:
        twin = copy.copy(self)
        twin.learner, twin._targets = learner, dict(self._targets)
        return twin

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """64 bits of each row with its label, as the learner knows it (1.0 is 1), and weight."""
        index, classes = self.learner.index, self.learner.classes
        labels = [classes[index[label]] if label in index else label for label in self.labels.values]
        return example_hashes(self.rows.hashes, self.labels.which, labels, self.weights)

    def margins(self, problems: Sequence[Problem]) -> Iterator[Margins]:
        """u·δ of each row, and ‖δ‖²; those of ovo have the rows of two classes only."""
        p = self.learner.parameters
        lengths2 = squared_lengths(self.rows, p.normalize) + self.learner.bias**2 + p.delta**2  # with the id feature
        return (self._margins_of(problem, lengths2) for problem in problems)

    def _margins_of(self, problem: Problem, lengths2: NDArray[np.float64]) -> Margins:
        vector = self.learner.vectors[problem.key]
        targets, weights = self.targets(problem.key), self.weights
        present = targets != 0 if vector.binary else targets >= 0
        if weights is not None:
            present &= weights > 0
            weights = weights[present]
        lengths2 = (lengths2 * (1.0 if vector.binary else 2.0))[present]
        margins = {}
        for name, witness in problem.witnesses.items():
            parts = []
            for some in in_parts(len(self), vector.n_classes):
                scores = vector.linear(self.rows[some], *witness.vector) / witness.length
                parts.append(margins_of(scores, targets[some], vector.binary))
            margins[name] = np.concatenate(parts)[present]
            if weights is not None:
                margins[name] = margins[name] * weights
        lengths2 = lengths2 if weights is None else lengths2 * weights**2
        return Margins(margins, lengths2, float(lengths2.max(initial=0.0)), weights)


def margins_of(scores: NDArray[np.float64], targets: NDArray[np.integer[Any]], binary: bool) -> NDArray[np.float64]:
    """u·δ against the closest competitor."""
    if binary:
        return scores[:, 0] * targets
    own, rival = own_and_rival(scores, targets)
    return own - rival


def own_and_rival(
    scores: NDArray[np.float64], truth: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The score of the right class of each row, and the best of the others; the scores are used up."""
    rows = np.arange(len(truth))
    own = scores[rows, truth]
    scores[rows, truth] = -np.inf
    return own, scores.max(axis=1, initial=-np.inf)


def _targets(joint: bool, pair: Pair, y: NDArray[np.int64]) -> NDArray[np.int32]:
    if joint:
        return y.astype(np.int32)
    if pair == ALL:
        pair = (1,)
    targets = np.where(y == pair[-1], 1, -1).astype(np.int32)
    if len(pair) == 2:
        targets[(y != pair[0]) & (y != pair[1])] = 0
    return targets
