"""How likely the labels of a tagger are: max-marginals, calibrated on sentences that were not learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.learners.calibration import probabilities
from perceptive.learners.margins import below_best, temperature_of
from perceptive.learners.sequence import SequenceLearner


def calibrate(learner: SequenceLearner, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> None:
    """Find the temperature of a tagger's scores."""
    index = {label: i for i, label in enumerate(learner.classes)}
    truth = [index.get(label, -1) for labels in y for label in learner.labelling.named(list(labels))]
    learner.temperature = temperature_of([scores for _, scores in learner.max_marginals(X)], truth)


def label_probabilities(
    learner: SequenceLearner, X: Sequence[Any], hypothesis: str | None = None
) -> list[NDArray[np.float64]]:
    """For each sentence tokens × classes: how likely each label is; the learner has been calibrated."""
    assert learner.temperature is not None
    found = learner.max_marginals(X, hypothesis)
    return [probabilities(below_best(scores), learner.temperature) for _, scores in found]


def probability_of(learner: SequenceLearner, labels: Sequence[Any], found: NDArray[np.float64]) -> list[float]:
    """How likely the labels of a sentence are, token by token."""
    index = {label: i for i, label in enumerate(learner.classes)}
    names = learner.labelling.named(list(labels))
    return [float(found[t, index[name]]) for t, name in enumerate(names)]
