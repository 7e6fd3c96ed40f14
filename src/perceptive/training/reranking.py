"""Taggers for the cross-fitting of rerankers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perceptive.learners.reranking import FitTagger, new_like
from perceptive.learners.sequence import SequenceLearner
from perceptive.parameters import TrainingParameters
from perceptive.training.loop import InMemory, Run, train


def train_like(base: SequenceLearner, epochs: int, report: Callable[[int, float], None] | None = None) -> FitTagger:
    """What trains taggers of the parameters of another.

    Parameters
    ----------
    base : SequenceLearner
    epochs : int
        At most.
    report : callable or None
        Called with the number of taggers trained so far, and with the part of the next one's epochs that is done.
    """
    done, training = 0, TrainingParameters(epochs=epochs)

    def fit(X: list[Any], y: list[Any]) -> SequenceLearner:
        nonlocal done
        learner, played = new_like(base), 0

        def tell(more: int) -> None:
            nonlocal played
            played += more
            if report is not None:
                report(done, played / (epochs * len(X)))

        train(Run.of(learner, training), InMemory(learner.dataset(X, y, epochs=epochs), training.shuffle), report=tell)
        done += 1
        return learner

    return fit
