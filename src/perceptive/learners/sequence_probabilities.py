"""What max-marginals say of how sure the labels of a tagger are: margins, and (calibrated on sentences that were not
learned from) probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive.data.labelled_rows import own_and_rival
from perceptive.learners.calibration import fit_temperature, probabilities

if TYPE_CHECKING:
    from perceptive.learners.sequence import SequenceLearner

Path = NDArray[np.int64]
Scores = NDArray[np.float64]  # tokens × labels
IMPOSSIBLE = -1e6  # what stands for −∞ where probabilities are made


def merged(path: Path, scores: Scores, names: Sequence[Any], classes: Sequence[Any]) -> tuple[Path, Scores]:
    """Labels within as the user's: of those that have one name the best counts."""
    place = {label: i for i, label in enumerate(classes)}
    to = np.array([place[name] for name in names])
    joined = np.full((len(path), len(place)), -np.inf)
    for y, there in enumerate(to.tolist()):
        joined[:, there] = np.maximum(joined[:, there], scores[:, y])
    return to[path], joined


def lost_by_others(path: Path, scores: Scores) -> NDArray[np.float64]:
    """For each token: the score lost by the best path that has another label there.

    Examples
    --------
    >>> lost_by_others(np.array([0, 1]), np.array([[3.0, 2.5], [-np.inf, 3.0]]))
    array([0.5, inf])
    """
    best, others = own_and_rival(scores.copy(), path)
    with np.errstate(invalid="ignore"):
        lost: NDArray[np.float64] = np.maximum(0.0, best - others)
    return lost


def below_best(scores: Scores) -> Scores:
    """How far the labels of each token are below its best, in finite numbers."""
    below: Scores = np.maximum(scores - scores.max(axis=1, keepdims=True), IMPOSSIBLE)
    return below


def temperature_of(found: Sequence[Scores], truth: Sequence[int]) -> float:
    """The temperature that calibrates max-marginals; ``truth`` numbers the right label of each token, −1 for none."""
    scores, right = np.concatenate([below_best(one) for one in found]), np.asarray(truth)
    possible = right >= 0
    possible[possible] &= scores[possible, right[possible]] > IMPOSSIBLE
    possible &= np.count_nonzero(scores > IMPOSSIBLE, axis=1) > 1  # what has no other label tells nothing
    if not possible.any():
        return 1.0
    finite = np.maximum(scores[possible], -1e3 * max(1.0, float(np.median(np.abs(scores[scores > IMPOSSIBLE])))))
    return float(fit_temperature(finite, right[possible]))


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
