"""Passes over examples that come from files, block by block."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.learners.calibration import fit_temperature
from perceptive.learners.linear import LinearLearner, in_order_of_labels
from perceptive.parameters import TrainingParameters
from perceptive.training.passes import History, hash_seed
from perceptive.training.source import Batch, Source


class _ThirdClass(Exception):
    """Two classes were not all."""


@dataclass
class Run:
    """A training run, and where it stands: between two blocks it can be saved, and taken up again later.

    Attributes
    ----------
    learner : LinearLearner
    training : TrainingParameters
    history : History
        Of the passes that are complete.
    epoch, block : int
        The present pass, and how many of its blocks have been played.
    before : (int, int, float)
        Mistakes, updates and loss before this pass.
    best : LinearLearner or None
        As it was after the pass with the best held-out accuracy.
    may_widen : bool
        Whether the two classes were but the first to be met: at a third one training starts over with all of them
        competing.
    done : bool
    """

    learner: LinearLearner
    training: TrainingParameters
    history: History = field(default_factory=History)
    epoch: int = 0
    block: int = 0
    before: tuple[int, int, float] = (0, 0, 0.0)
    best: LinearLearner | None = None
    best_epoch: int = 0
    may_widen: bool = False
    done: bool = False

    @classmethod
    def start(cls, source: Source, training: TrainingParameters, classes: list[Any] | None, **parameters: Any) -> Run:
        """A new run.

        Where the classes are not given and the first block of the files has two, they are one binary problem, until a
        third class is met. Standard input cannot be read twice: there all classes compete from the start.
        """
        guessed = None
        if classes is None and source.repeatable:
            first = next((batch for batch in source.first() if batch is not None), None)
            if first is not None and len(first.labels.values) == 2:
                guessed = in_order_of_labels(first.labels.values)
        parameters["n_features"] = source.stream.reading.width
        learner = LinearLearner(classes=classes or guessed, **parameters)
        learner.reading, learner.idf = source.stream.reading, source.stream.idf
        return cls(learner, training, may_widen=guessed is not None)

    def play(self, source: Source, after_block: Callable[[Run], None] = lambda run: None) -> None:
        """Play up to the end, or until an exception breaks in; ``after_block`` is called between two blocks.

        Within each block the examples are shuffled, from the second pass on the blocks as well. Training ends early on
        a pass without updates, or when the held-out accuracy has not risen for ``patience`` passes; then the learner
        goes back to the best pass.
        """
        if self.training.epochs > 1 and self.learner.parameters.delta:
            raise ValueError("delta needs the examples in memory for more than one pass; take one pass, or delta=0")
        while not self.done:
            try:
                self._play_pass(source, after_block)
            except _ThirdClass:
                self._widen()

    def _play_pass(self, source: Source, after_block: Callable[[Run], None]) -> None:
        skip = self.block
        if self.epoch == 0:
            for number, batch in enumerate(source.first()):
                if number >= skip:
                    self._play(batch)
                    after_block(self)
        else:
            if not source.ready:  # taken up again
                for _ in source.first():
                    pass
            for batch in source.again(self._order(source.n_blocks)[skip:]):
                self._play(batch)
                after_block(self)
        self._end_pass(source)

    def _play(self, batch: Batch | None) -> None:
        learner = self.learner
        self.block += 1
        if batch is None:
            return
        if self.may_widen and not all(label in learner.index for label in batch.labels.values):
            raise _ThirdClass
        order = np.arange(batch.rows.n)
        if self.training.shuffle:
            _core.shuffle(order, hash_seed(hash_seed(learner.parameters.random_state, self.epoch), batch.number))
        learner.prepare(batch.rows, batch.labels, batch.weights).play_as_they_come(order)
        batch.release()

    def _widen(self) -> None:
        """Start over, with classes that may appear at any time."""
        old = self.learner
        self.learner = LinearLearner(**{f.name: getattr(old.parameters, f.name) for f in fields(old.parameters)})
        self.learner.reading, self.learner.idf = old.reading, old.idf
        self.history, self.best = History(), None
        self.epoch = self.block = self.best_epoch = 0
        self.before, self.may_widen = (0, 0, 0.0), False

    def _order(self, n_blocks: int) -> NDArray[np.int64]:
        order = np.arange(n_blocks)
        if self.training.shuffle:
            _core.shuffle(order, hash_seed(self.learner.parameters.random_state, self.epoch))
        return order

    def _end_pass(self, source: Source) -> None:
        learner, history = self.learner, self.history
        if source.examples == 0 or not learner.problems:
            raise ValueError(no_examples(source))
        now = learner.mistakes, learner.updates, learner.loss
        history.mistakes.append(now[0] - self.before[0])
        history.updates.append(now[1] - self.before[1])
        history.loss.append(now[2] - self.before[2])
        history.converged = history.settled and history.mistakes[-1] == 0
        if self.epoch == 0 and self.before == (0, 0, 0.0) and learner.first_pass is None:
            learner.first_pass = learner.rounds, learner.mistakes
        self.done = history.settled or self.epoch + 1 >= self.training.epochs
        if source.holdout:
            self._look_at_held_out(source)
        self.before = now
        self.epoch, self.block = self.epoch + 1, 0
        if self.done and self.best is not None and self.best_epoch < history.epochs - 1:
            self.learner = self.best

    def _look_at_held_out(self, source: Source) -> None:
        history = self.history
        score = accuracy(self.learner, source)
        if score is None:
            return
        best = max(history.held_out, default=-1.0)
        history.held_out.append(score)
        if score > best or (history.settled and score == best):
            self.best, self.best_epoch = (None if self.done else deepcopy(self.learner)), self.epoch
        elif self.epoch - self.best_epoch >= self.training.patience:
            self.done = True


def no_examples(source: Source) -> str:
    """Why there is nothing to learn from."""
    reading, columns = source.stream.reading, source.stream.log.columns
    if reading.label not in columns and columns:
        there = ", ".join(map(repr, columns))
        return f"there is no column {reading.label!r} for the label but {there}; say which with label= (--label)"
    return "there are no labelled examples; check the files and the format"


def accuracy(learner: LinearLearner, source: Source) -> float | None:
    """Share of the held-out examples that get the right label; None where there are none."""
    right = total = 0
    assert learner.n_features is not None
    for batch in source.kept(learner.n_features):
        truth = np.array([learner.index.get(label, -1) for label in batch.labels.values], np.int64)
        decided = learner.decide(learner.scores_of(batch.rows))
        right += int(np.count_nonzero(decided == truth[batch.labels.which]))
        total += batch.rows.n
    return right / total if total else None


def calibrate(learner: LinearLearner, source: Source) -> None:
    """Fit the probabilities on what was held out."""
    scores, truth = [], []
    assert learner.n_features is not None
    for batch in source.kept(learner.n_features):
        index = np.array([learner.index.get(label, -1) for label in batch.labels.values], np.int64)
        which = index[batch.labels.which]
        scores.append(learner.scores_of(batch.rows)[which >= 0])
        truth.append(which[which >= 0])
    if sum(map(len, truth)):
        learner.temperature = fit_temperature(np.concatenate(scores), np.concatenate(truth))
