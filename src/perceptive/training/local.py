"""Passes over examples or lists that are in memory, on one thread."""

from __future__ import annotations

from collections.abc import Callable

from perceptive.learners.lesson import Lesson
from perceptive.learners.list_game import ListLesson
from perceptive.parameters import TrainingParameters
from perceptive.training.passes import History, orders, play_passes


def train(
    lesson: Lesson | ListLesson,
    parameters: TrainingParameters,
    held_out: Callable[[], float] | None = None,
    report: Callable[[int, int], None] | None = None,
    history: History | None = None,
) -> History:
    """Play the lesson up to ``epochs`` times; when it ends early, see `play_passes`.

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
    order_of = orders(n, parameters.shuffle, learner.parameters.random_state)

    def play(epoch: int) -> None:
        played = epoch * n
        try:
            for chunk in lesson.chunks(order_of(epoch)):
                lesson.play(chunk)
                played += len(chunk)
                if report:
                    report(played, learner.mistakes)
        finally:
            lesson.record()

    history = play_passes(
        learner, play, parameters.epochs, held_out=held_out, patience=parameters.patience, history=history
    )
    learner.finish()
    return history
