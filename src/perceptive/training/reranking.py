"""Taggers for the cross-fitting of rerankers."""

from __future__ import annotations

from typing import Any

from perceptive.learners.reranking import FitTagger, new_like
from perceptive.learners.sequence import SequenceLearner
from perceptive.parameters import TrainingParameters
from perceptive.training.loop import InMemory, Run, train


def train_like(base: SequenceLearner, epochs: int | None = None) -> FitTagger:
    """What trains taggers of the parameters of another.

    They make so many epochs at most; None: as many as the other has made.
    """
    training = TrainingParameters(epochs=epochs or epochs_made(base))

    def fit(X: list[Any], y: list[Any], weights: Any) -> SequenceLearner:
        learner = new_like(base)
        dataset = learner.dataset(X, y, weights, epochs=training.epochs)
        train(Run.of(learner, training), InMemory(dataset, training.shuffle))
        return learner

    return fit


def epochs_made(tagger: SequenceLearner) -> int:
    """How many epochs a tagger has made, of the sentences that it learned from first; 1 if they came one by one."""
    rounds, _ = tagger.first_epoch or (tagger.rounds, 0)
    return max(1, round(tagger.rounds / max(1, rounds)))
