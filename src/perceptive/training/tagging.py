"""Passes over sentences that are in memory, on one thread."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from perceptive import _core
from perceptive.learners.sequence import SequenceLearner
from perceptive.parameters import TrainingParameters
from perceptive.training.passes import History, hash_seed

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
    """Play a lesson up to ``epochs`` times.

    Training ends early on a pass without updates, or when the held-out score has not risen for ``patience`` passes.

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
    order = np.arange(n)
    step = max(1, n * CHUNK // max(1, lesson.tokens))
    history = History() if history is None else history
    best, best_epoch, best_state = -1.0, 0, None
    for epoch in range(parameters.epochs):
        if parameters.shuffle:
            _core.shuffle(order, hash_seed(learner.parameters.random_state, epoch))
        before = learner.mistakes, learner.updates, learner.loss
        try:
            for begin in range(0, n, step):
                chunk = order[begin : begin + step]
                learner.play(lesson, chunk)
                if report:
                    report(epoch * n + begin + len(chunk), learner.mistakes)
        finally:
            history.mistakes.append(learner.mistakes - before[0])
            history.updates.append(learner.updates - before[1])
            history.loss.append(learner.loss - before[2])
        if epoch == 0:
            learner.first_pass = learner.rounds, learner.mistakes
        history.converged = history.updates[-1] == 0
        if held_out is not None:
            history.held_out.append(held_out())
        if after_pass is not None:
            after_pass(history)
        if held_out is not None:
            score = history.held_out[-1]
            if score > best:
                best, best_epoch, best_state = score, epoch, (learner.snapshot(), learner.core.fingerprint)
            elif epoch - best_epoch >= parameters.patience:
                break
        if history.converged:
            break
    if best_state is not None and best_epoch < history.epochs - 1:
        learner.restore(*best_state)
    return history
