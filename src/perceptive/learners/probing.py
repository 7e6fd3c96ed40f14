"""The features that a tagger reads in a sentence, by name.

Features are what a learner of the same templates learns from the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perceptive.data.sentences import featured
from perceptive.features import schemes
from perceptive.learners.sequence import SequenceLearner

OUTSIDE = "O"
SEGMENT = "segment "  # how the names of a segment's features begin
WINDOW = 64  # tokens, or segments, that a probe learns at a time
Named = list[tuple[str, float]]


def token_features(learner: SequenceLearner, x: list[Any]) -> list[Named]:
    """The features of each token of a sentence, with their values.

    A new learner, the probe, learns the sentence with a different label for every token: it predicts the first label
    everywhere, and so adds the features of each token to the weights of its label. It gets a few tokens at a time,
    with their context: all at once would take quadratic time.
    """
    x, reach = _read(learner, x)
    found: list[Named] = []
    for begin in range(0, len(x), WINDOW):
        mine = range(begin, min(len(x), begin + WINDOW))
        shown = range(max(0, begin - reach), min(len(x), mine.stop + reach))
        probe = SequenceLearner(["", *map(str, mine)], template=learner.templates, hypothesis="last", constraints=None)
        probe.learn(x[shown.start : shown.stop], [str(t) if t in mine else "" for t in shown])
        found += _by_label(probe, [str(t) for t in mine]).values()
    return found


def segment_features(learner: SequenceLearner, x: list[Any], labels: Sequence[Any]) -> list[Named]:
    """For each token the features of the segment that begins there, with their values; labels are BIO tags."""
    x, reach = _read(learner, x)
    found: list[Named] = [[] for _ in x]
    segments = schemes.spans(labels)
    for some in (segments[i : i + WINDOW] for i in range(0, len(segments), WINDOW)):
        shown = range(max(0, some[0][0] - reach), min(len(x), some[-1][1] + reach))
        own = schemes.write(
            [(begin - shown.start, end - shown.start, str(begin)) for begin, end, _ in some], len(shown)
        )
        # The first label is the one outside of segments, which it predicts everywhere.
        every = [OUTSIDE, *(f"{prefix}-{begin}" for begin, *_ in some for prefix in "BI")]
        probe = SequenceLearner(every, template=learner.templates, hypothesis="last", segments=True)
        probe.learn(x[shown.start : shown.stop], own)
        for label, features in _by_label(probe, [f"B-{begin}" for begin, *_ in some]).items():
            found[int(label[2:])] = [(name, value) for name, value in features if name.startswith(SEGMENT)]
    return found


def _read(learner: SequenceLearner, x: list[Any]) -> tuple[list[Any], int]:
    """Return a sentence as templates read it, and how many tokens before and after a token they read."""
    if learner.features is not None:
        return featured([x], learner.features)[0], 0
    assert learner.templates is not None
    parts = [offset for _, parts in (*learner.templates.state, *learner.templates.edge) for _, offset in parts]
    values = [offset for one in learner.templates.values for offset in (one.first, one.last)]
    return x, max(map(abs, [*parts, *values]), default=0)


def _by_label(probe: SequenceLearner, labels: Sequence[str]) -> dict[str, Named]:
    found: dict[str, Named] = {label: [] for label in labels}
    for name, label, weight in probe.heaviest(-1):
        if label in found:
            found[label].append((name, weight))
    return found
