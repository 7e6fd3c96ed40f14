"""Passes of a kernel learner over examples that are in memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from perceptive import _core
from perceptive.learners.kernel import KernelLesson
from perceptive.training.local import History, hash_seed


def train_kernel(
    lesson: KernelLesson,
    epochs: int,
    shuffle: bool = True,
    report: Callable[[int, int], None] | None = None,
    history: History | None = None,
) -> History:
    """Play the lesson up to ``epochs`` times; a pass without an update ends the training.

    Parameters
    ----------
    lesson : KernelLesson
        From `KernelLearner.prepare` with ``several=True`` where there may be more than one pass.
    epochs : int
    shuffle : bool
        Play each pass in a new random order.
    report : callable or None
        Called with (examples played, mistakes so far) after each block.
    history : History or None
        Is filled as training goes on, so that it is there also if training is broken off.
    """
    learner = lesson.learner
    order = np.arange(len(lesson))
    history = History() if history is None else history
    played = 0

    def reported(n: int) -> None:
        nonlocal played
        played += n
        if report is not None:
            report(played, learner.mistakes)

    for epoch in range(epochs):
        if shuffle:
            _core.shuffle(order, hash_seed(learner.parameters.random_state, epoch))
        before = learner.mistakes, learner.updates, learner.loss
        try:
            lesson.play(order, reported)
        finally:
            history.mistakes.append(learner.mistakes - before[0])
            history.updates.append(learner.updates - before[1])
            history.loss.append(learner.loss - before[2])
        if epoch == 0:
            learner.first_pass = learner.rounds, learner.mistakes
        history.converged = history.updates[-1] == 0
        if history.converged:
            break
    return history
