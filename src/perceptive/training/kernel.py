"""Passes of a kernel learner over examples that are in memory."""

from __future__ import annotations

from collections.abc import Callable

from perceptive.learners.kernel import KernelLesson
from perceptive.training.passes import History, orders, play_passes


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
    """Play the lesson up to ``epochs`` times; when it ends early, see `play_passes`.

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
    order_of = orders(len(lesson), shuffle, learner.parameters.random_state)
    played = 0

    def reported(n: int) -> None:
        nonlocal played
        played += n
        if report is not None:
            report(played, learner.mistakes)

    def play(epoch: int) -> None:
        lesson.play(order_of(epoch), reported)

    return play_passes(learner, play, epochs, held_out=held_out, patience=patience, history=history)
