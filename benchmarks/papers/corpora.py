"""The corpora of the tagging papers, and a learner that is scored after every epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perceptive.datasets import fetch
from perceptive.learners import SequenceLearner
from perceptive.parameters import TrainingParameters
from perceptive.streams import conll
from perceptive.training.loop import InMemory, Run, train

Corpus = tuple[list[Any], list[list[str]]]


def corpus(name: str, n: int | None = None, label: int = -1) -> Corpus:
    """A file of sentences, or its first n; the columns before that of the label belong to the token."""
    X, y = conll.read(fetch(name), label)
    return [[token[:label] if label >= 0 else token for token in sentence] for sentence in X[:n]], y[:n]


def noun_phrases(data: Corpus) -> Corpus:
    """Only noun phrases are labelled, the rest is outside."""
    return data[0], [[label if label.endswith("-NP") else "O" for label in labels] for labels in data[1]]


def scored(
    data: Corpus, score: Callable[[SequenceLearner], float], *, epochs: int, shards: int = 1, **parameters: Any
) -> list[float]:
    """The score after each epoch; the last stands for those after convergence."""
    learner = SequenceLearner(**parameters)
    dataset = learner.dataset(*data, epochs=epochs)
    scores: list[float] = []
    run = Run.of(learner, TrainingParameters(epochs=epochs, shards=shards))
    train(run, InMemory(dataset, True), after_epoch=lambda _: scores.append(score(learner)))
    return scores + scores[-1:] * (epochs - len(scores))
