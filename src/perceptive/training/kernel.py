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
    *,
    held_out: Callable[[], float] | None = None,
    patience: int = 1,
) -> History:
    """Play the lesson up to ``epochs`` times; a pass without an update ends the training.

    It also ends when the held-out accuracy has not risen for ``patience`` passes; then the learner goes back to the
    best pass.

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
    held_out : callable or None
        The accuracy on examples that are held out, asked for after each pass.
    patience : int
    """
    learner = lesson.learner
    order = np.arange(len(lesson))
    history = History() if history is None else history
    played = 0
    best_score, best_epoch, best_state = -1.0, 0, None

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
        if held_out is not None:
            score = held_out()
            history.held_out.append(score)
            if score > best_score:
                best_score, best_epoch, best_state = score, epoch, learner.snapshot()
            elif epoch - best_epoch >= patience:
                break
        if history.converged:
            break
    if best_state is not None and best_epoch < history.epochs - 1:
        learner.restore(best_state)
    return history
