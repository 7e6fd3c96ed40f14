"""Passes over examples that are in memory, on one thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from perceptive import _core
from perceptive.learners.lesson import Lesson
from perceptive.learners.list_game import ListLesson
from perceptive.parameters import TrainingParameters


@dataclass
class History:
    """What happened, pass by pass."""

    mistakes: list[int] = field(default_factory=list)
    updates: list[int] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)  # the perceptron criterion of the mistakes as they happened
    held_out: list[float] = field(default_factory=list)  # accuracy on the validation part
    converged: bool = False  # a pass went by without an update

    @property
    def epochs(self) -> int:
        """Passes begun."""
        return len(self.mistakes)


def hash_seed(random_state: int, epoch: int) -> int:
    """A seed for each pass."""
    return (int(random_state) * 0x9E3779B97F4A7C15 + epoch * 0xD1342543DE82EF95 + 1) % 2**64


def train(
    lesson: Lesson | ListLesson,
    parameters: TrainingParameters,
    held_out: Callable[[], float] | None = None,
    report: Callable[[int, int], None] | None = None,
    history: History | None = None,
) -> History:
    """Play the lesson up to ``epochs`` times.

    Training ends early on a pass without updates, or when the held-out accuracy has not risen for ``patience`` passes;
    then the learner goes back to the best pass. Where an exception (Ctrl-C, say) breaks training off, the learner keeps
    what it has learned so far.

    Parameters
    ----------
    lesson : Lesson or ListLesson
        From `prepare` of a `LinearLearner`, a `RankingLearner` or a `KernelRankingLearner`.
    parameters : TrainingParameters
    held_out : callable or None
        The accuracy on the held-out part, asked for after each pass.
    report : callable or None
        Called with (examples played, mistakes so far) some fifty times a second.
    history : History or None
        Is filled as training goes on, so that it is there also if training is broken off.
    """
    learner, n = lesson.learner, len(lesson)
    order = np.arange(n)
    history = History() if history is None else history
    best_score, best_epoch, best_state = -1.0, 0, None
    for epoch in range(parameters.epochs):
        if parameters.shuffle:
            _core.shuffle(order, hash_seed(learner.parameters.random_state, epoch))
        before = learner.mistakes, learner.updates, learner.loss
        try:
            played = epoch * n
            for chunk in lesson.chunks(order):
                lesson.play(chunk)
                played += len(chunk)
                if report:
                    report(played, learner.mistakes)
        finally:
            lesson.record()
            history.mistakes.append(learner.mistakes - before[0])
            history.updates.append(learner.updates - before[1])
            history.loss.append(learner.loss - before[2])
        if epoch == 0:
            learner.first_pass = learner.rounds, learner.mistakes
        history.converged = history.updates[-1] == 0
        if held_out is not None:
            score = held_out()
            history.held_out.append(score)
            if score > best_score or (history.converged and score == best_score):
                best_score, best_epoch, best_state = score, epoch, learner.snapshot()
            elif epoch - best_epoch >= parameters.patience:
                break
        if history.converged:
            break
    if best_state is not None and best_epoch < history.epochs - 1:
        learner.restore(best_state)
    learner.finish()
    return history
