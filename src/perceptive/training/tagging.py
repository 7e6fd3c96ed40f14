"""Passes over sentences that are in memory, on one thread."""

from __future__ import annotations

from collections.abc import Callable

from perceptive import _core
from perceptive.learners.sequence import SequenceLearner
from perceptive.parameters import TrainingParameters
from perceptive.training.passes import History, orders, play_passes

CHUNK = 20_000  # tokens between two looks at Ctrl-C


def train_tagger(
    learner: SequenceLearner,
    lesson: _core.Sentences,
    parameters: TrainingParameters,
    held_out: Callable[[], float] | None = None,
    report: Callable[[int, int], None] | None = None,
    history: History | None = None,
    after_pass: Callable[[History], None] | None = None,
) -> History:
    """Play a lesson up to ``epochs`` times; when it ends early, see `play_passes`.

    Parameters
    ----------
    learner : SequenceLearner
    lesson : Sentences
        From `SequenceLearner.prepare`.
    parameters : TrainingParameters
    held_out : callable or None
        The score on the held-out part, asked for after each pass.
    report : callable or None
        Called with (sentences played, mistakes so far).
    history : History or None
        Is filled as training goes on, so that it is there also if training is broken off.
    after_pass : callable or None
        Called with the history after each pass.
    """
    n = len(lesson)
    order_of = orders(n, parameters.shuffle, learner.parameters.random_state)
    step = max(1, n * CHUNK // max(1, lesson.tokens))

    def play(epoch: int) -> None:
        order = order_of(epoch)
        for begin in range(0, n, step):
            chunk = order[begin : begin + step]
            learner.play(lesson, chunk)
            if report:
                report(epoch * n + begin + len(chunk), learner.mistakes)

    return play_passes(
        learner,
        play,
        parameters.epochs,
        held_out=held_out,
        patience=parameters.patience,
        history=history,
        after_pass=after_pass,
    )
