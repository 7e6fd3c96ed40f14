"""Probabilities from scores, in the order of the scores.

One number a > 0 is learned on held-out data: the one that makes the labels most likely under softmax(a·scores) (for two
classes the logistic function of a·score). A single positive factor changes neither the order of the scores nor the
winner. The number of held-out examples limits how confident the model can be. The scores of a tagger's labels are
max-marginals, whose differences are the margins of its tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive.data.labelled_rows import own_and_rival

if TYPE_CHECKING:
    from perceptive.learners.sequence import SequenceLearner

SCORES, EXAMPLES = 2**17, 2**12  # where there are more of both, some do
AT_ONCE = 2**8  # examples: with many classes the arrays that a step takes stay small
Path = NDArray[np.int64]
Scores = NDArray[np.float64]  # tokens × labels
IMPOSSIBLE = -1e6  # what stands for −∞ where probabilities are made


def thinning(n: int, n_classes: int) -> int:
    """Return k, if every k-th of n held-out examples is used: one temperature needs no more of them.

    Examples
    --------
    >>> thinning(100_000, 2), thinning(1_000_000, 2), thinning(10_000, 1000)
    (1, 15, 2)
    """
    return max(1, min(n * n_classes // SCORES, n // EXAMPLES))


def fit_temperature(scores: NDArray[np.float64], truth: NDArray[np.int64]) -> float:
    """Find the a > 0 that makes the true classes most likely; the log-likelihood is concave in a.

    If n examples are all right, the next one is right with probability (n + 1)/(n + 2), by the rule of succession. So
    each example counts as (n + 1)/(n + 2) of its class, and as 1/(n + 2) of the best other class, as Platt smooths his
    targets. The likelihood then has a maximum even if the classes are separable.
    """
    step = thinning(len(scores), 2 if scores.ndim == 1 else scores.shape[1])
    scores, truth = scores[::step], truth[::step]
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros_like(scores), scores])
    n = len(truth)
    some = [slice(i, i + AT_ONCE) for i in range(0, n, AT_ONCE)]
    own, rival = map(np.concatenate, zip(*(own_and_rival(scores[i].copy(), truth[i]) for i in some), strict=True))
    spread = max(float(np.abs(scores[i] - own[i, None]).max()) for i in some)
    if spread == 0.0:
        return 1.0
    wanted = ((n + 1) * own + rival) / (n + 2)

    def slope(a: float) -> float:
        expected = np.concatenate([(_softmax(a * scores[i]) * scores[i]).sum(axis=1) for i in some])
        return float((wanted - expected).sum())

    low, high = 0.0, 1.0 / spread
    while slope(high) > 0 and high * spread < 1e9:  # scores of no size at all
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return max(high, 1e-12 / spread)


def probabilities(scores: NDArray[np.float64], temperature: float | None) -> NDArray[np.float64]:
    """Return rows × classes, each row summing to 1; ``temperature=None`` if the scores are shares of votes."""
    if scores.ndim == 1:
        if temperature is None:
            positive = (1.0 + scores) / 2.0
            return np.column_stack([1.0 - positive, positive])
        scores = np.column_stack([np.zeros_like(scores), scores])
    if temperature is not None:
        return _softmax(temperature * scores)
    shares: NDArray[np.float64] = np.maximum(scores - np.minimum(scores.min(axis=1, keepdims=True), 0.0), 0.0)
    abstained = np.maximum(0.0, 1.0 - shares.sum(axis=1, keepdims=True))
    shares += abstained / shares.shape[1]
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    e: NDArray[np.float64] = np.exp(scores - scores.max(axis=1, keepdims=True))
    e /= e.sum(axis=1, keepdims=True)
    return e


# ---------------------------------------------------------------- labels of tokens


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
