"""Write sentences and their labels in other formats and schemes, and repair labels that break their scheme."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from perceptive.features import schemes
from perceptive.features.label_repair import Reading, changes, meant, replaced
from perceptive.streams import conllu
from perceptive.streams.columns import Columns, label_at
from perceptive.streams.documents import Document, Span
from perceptive.streams.sentence import Row, Sentence

ENTITY = "misc.NER"  # the column of CoNLL-U for labels that mark segments, where none is named


@dataclass
class Repair:
    """What was done with labels.

    Attributes
    ----------
    scheme : str or None
        The scheme that they follow after the repair; None if they mark no segments.
    labels : list of label sequences
    changed : list of (int, int, str, str)
        Number of the sentence and of the token, the old label, and the new one.
    """

    scheme: str | None
    labels: list[list[str]]
    changed: list[tuple[int, int, str, str]] = field(default_factory=list)


def repair(y: Sequence[Sequence[str]]) -> Repair:
    """Read labels as conlleval does: labels that break the scheme of the others are changed to follow it.

    Examples
    --------
    >>> repair([["B-LOC", "I-LOC"], ["O", "I-PER"]]).changed
    [(1, 1, 'I-PER', 'B-PER')]
    """
    nothing = all(label == "O" for labels in y for label in labels)  # any scheme says so
    scheme = "bio" if nothing else schemes.recognise(y)
    reading = meant(y) if scheme is None else Reading(scheme, {})
    done = Repair(None if reading is None else reading.scheme, [list(labels) for labels in y])
    for i, labels in enumerate(y if reading else ()):
        assert reading is not None
        right = replaced(labels, reading.slips)
        if schemes.violation(reading.scheme, right) is not None:
            right = schemes.convert(right, reading.scheme, reading.scheme)
        if right is not labels:
            done.labels[i] = list(right)
            done.changed += changes(i, labels, right)
    return done


def column_lines(sentence: Sentence, labels: Sequence[str], columns: Columns) -> Iterator[str]:
    """Return a sentence in columns with new labels; from another format its tokens, followed by the label."""
    if sentence.universal or not sentence.in_columns or columns.chosen:
        tokens = columns.tokens(sentence) if sentence.in_columns else sentence.cells
        rows: list[Row] = [(*x, label) for x, label in zip(tokens, labels, strict=True)]
        spaces = sentence.separator == " " and not sentence.document
        others: list[tuple[int, str]] = [] if sentence.universal else sentence.others
    else:
        at = label_at(sentence, int(columns.of(sentence).label))
        rows = [(*row[:at], label, *row[at + 1 :]) for row, label in zip(sentence.rows, labels, strict=True)]
        spaces, others = sentence.separator == " ", sentence.others
    separator = " " if spaces and not any(" " in label for label in labels) else "\t"
    return with_others(others, [separator.join(row) for row in rows])


def universal_lines(sentence: Sentence, labels: Sequence[str], columns: Columns, to: str) -> Iterator[str]:
    """Return a sentence as CoNLL-U, with the labels in the column ``to``."""
    if sentence.universal:
        rows = sentence.rows
    else:
        forms = [row[0] for row in (columns.tokens(sentence) if sentence.in_columns else sentence.cells)]
        rows = [(str(i), form, *"________") for i, form in enumerate(forms, 1)]
        for t, glued in enumerate(_glued(sentence)):
            rows[t] = conllu.changed(rows[t], "misc.SpaceAfter", "No") if glued else rows[t]
    rows = [conllu.changed(row, to, label) for row, label in zip(rows, labels, strict=True)]
    return with_others(sentence.others if sentence.universal else [], ["\t".join(row) for row in rows])


def _glued(sentence: Sentence) -> Iterator[bool]:
    """Whether each token but the last is followed by the next without a space, where that is known."""
    if sentence.universal:
        yield from (conllu.cell(row, "misc.SpaceAfter") == "No" for row in sentence.rows[:-1])
    elif sentence.document is not None:
        tokens: list[Any] = [token for (token,) in sentence.rows]
        yield from (one.end == other.start for one, other in itertools.pairwise(tokens))
    else:
        yield from (False for _ in sentence.rows[:-1])


def with_others(others: Sequence[tuple[int, str]], rows: Sequence[str]) -> Iterator[str]:
    """Return the lines of tokens, with other lines between them, each before the token of its number."""
    waiting = list(reversed(others))
    for t in range(len(rows) + 1):
        while waiting and waiting[-1][0] <= t:
            yield waiting.pop()[1]
        if t < len(rows):
            yield rows[t]


def as_document(sentence: Sentence, labels: Sequence[str], scheme: str, columns: Columns) -> Document:
    """Turn a sentence of a file in columns into a text, with a span for each segment.

    Two tokens are separated by a space, unless CoNLL-U says SpaceAfter=No.

    Examples
    --------
    >>> from perceptive.streams.sentence import Place
    >>> sentence = Sentence([("New", "B-LOC"), ("York", "I-LOC"), ("!", "O")], Place("a.conll", range(1, 4)))
    >>> as_document(sentence, ["B-LOC", "I-LOC", "O"], "bio", Columns()).spans
    [Span(start=0, end=8, label='LOC')]
    """
    words = [row[0] for row in columns.tokens(sentence)]
    text, places = "", []
    for word, glued in zip(words, [*_glued(sentence), True], strict=True):
        places.append((len(text), len(text) + len(word)))
        text += word if glued else word + " "
    spans = [Span(places[begin][0], places[end - 1][1], kind) for begin, end, kind in schemes.spans(labels, scheme)]
    return Document(text, spans, sentence.place.path, sentence.place.lines[0], tokens=places)


def joined(documents: Sequence[Document]) -> Document:
    """Join texts, adding a line break to each that has none."""
    text, spans = [], []
    offset = 0
    for document in documents:
        spans += [Span(start + offset, end + offset, label) for start, end, label in document.spans or ()]
        text.append(document.text if document.text.endswith("\n") else document.text + "\n")
        offset += len(text[-1])
    first = documents[0] if documents else Document("")
    return Document("".join(text), spans, first.path, first.line, "brat")
