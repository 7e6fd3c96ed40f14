"""What a tagger reads of a sentence, by name, and the path that it takes.

Features are what a learner of the same templates learns from the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perceptive.features import schemes
from perceptive.learners.sequence import SequenceLearner

OUTSIDE = "O"
SEGMENT = "segment "  # how the names of a segment's features begin
Named = list[tuple[str, float]]


def token_features(learner: SequenceLearner, x: list[Any]) -> list[Named]:
    """The features of each token of a sentence, with their values.

    The probe is told that every token has a label of its own: it predicts the first label everywhere, and adds the
    features of each token to the weights of its label.
    """
    own = [str(t) for t in range(len(x))]
    probe = SequenceLearner(["", *own], template=_template(learner), hypothesis="last", constraints=None)
    probe.learn(x, own)
    return [*_by_label(probe, own).values()]


def segment_features(learner: SequenceLearner, x: list[Any], labels: Sequence[Any]) -> list[Named]:
    """For each token the features of the segment that begins there, with their values; labels are BIO tags."""
    own, begins = [], []
    for t, label in enumerate(labels):
        prefix, _ = schemes.split(label)
        if prefix == "B":
            begins.append(t)
        own.append(OUTSIDE if prefix == OUTSIDE else f"{prefix}-{begins[-1]}")
    found: list[Named] = [[] for _ in x]
    if not begins:
        return found
    # It learns what is outside first, and predicts that everywhere.
    every = [OUTSIDE, *(f"{prefix}-{t}" for t in begins for prefix in "BI")]
    probe = SequenceLearner(every, template=_template(learner), hypothesis="last", segments=True)
    probe.learn(x, own)
    for label, features in _by_label(probe, [f"B-{t}" for t in begins]).items():
        found[int(label[2:])] = [(name, value) for name, value in features if name.startswith(SEGMENT)]
    return found


def best_path(learner: SequenceLearner, x: list[Any], hypothesis: str | None = None) -> list[int]:
    """The best path of a sentence, by the numbers of the labels within."""
    with learner.lock.shared():
        core, numbers, vector = learner._able(), list(range(len(learner.labels))), learner.vector(hypothesis)
        beam = learner.parameters.beam
        [found] = learner._ask(lambda X, forced: core.predict(X, numbers, vector, forced, beam), [x])
        return list(found)


def _template(learner: SequenceLearner) -> Any:
    return learner.features or learner.templates


def _by_label(probe: SequenceLearner, labels: Sequence[str]) -> dict[str, Named]:
    found: dict[str, Named] = {label: [] for label in labels}
    for name, label, weight in probe.heaviest(-1):
        if label in found:
            found[label].append((name, weight))
    return found
