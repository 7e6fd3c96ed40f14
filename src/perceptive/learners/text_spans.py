"""The spans that a tagger finds in a raw text."""

from __future__ import annotations

from typing import Any, NamedTuple

from perceptive.data.documents import spans_of
from perceptive.features.sentence_ends import split_sentences


class TextSpan(NamedTuple):
    """A part of a text, and what it is: ``text[start:end]`` is its text."""

    label: str
    start: int
    end: int
    text: str


def predict_spans(learner: Any, text: str, hypothesis: str | None = None) -> list[TextSpan]:
    """What a tagger finds in a text, which is cut into sentences and tokens; offsets count code points."""
    if not isinstance(text, str):
        raise TypeError(f"text is of type {type(text).__name__!r}; give one string")
    scheme = learner.given or learner.scheme
    if scheme is None:
        raise ValueError("the labels of this tagger do not mark segments; ask predict for labels of tokens")
    sentences = split_sentences(text)
    labels = learner.predict_many([list(map(str, sentence)) for sentence in sentences], hypothesis)
    found = [span for some in map(spans_of, sentences, labels, [scheme] * len(labels)) for span in some]
    return [TextSpan(label, start, end, text[start:end]) for start, end, label in found]
