"""Texts with spans as sentences of tokens with labels, and back."""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from perceptive.errors import Parameter, ParameterError, literal
from perceptive.features import schemes
from perceptive.features.sentence_ends import split_sentences
from perceptive.features.tokens import Token
from perceptive.streams.documents import Document, Span
from perceptive.streams.sentence import Place, Sentence

FIRST = 3  # places that are listed


@dataclass
class Slips:
    """Spans that tokens cannot tell as they are: how many, and where the first are."""

    misaligned: int = 0
    overlapping: int = 0
    places: list[str] = field(default_factory=list)

    def note(self, document: Document, span: Span) -> None:
        """Keep a place."""
        if len(self.places) < FIRST:
            said = " ".join(document.text[span.start : span.end].split())
            self.places.append(f"{document.place} {said[:30]!r} ({span.start}–{span.end}, {span.label})")

    def tell(self, repair: str) -> None:
        """Warn of them, if there are any."""
        done = "left out" if repair == "off" else "widened to whole tokens"
        counted = (
            (self.misaligned, "spans that do not begin and end where tokens do", done),
            (self.overlapping, "spans that overlap one that begins before them, or is longer", "left out"),
        )
        parts = [f"{what}: {n:,}, {then}" for n, what, then in counted if n]
        if parts:
            warnings.warn(f"{'; '.join(parts)}. The first: {', '.join(self.places)}", stacklevel=3)


def tokens_of(document: Document) -> list[list[Token]]:
    """The tokens of each sentence of a document: its own, or those of the tokeniser."""
    mine = document.tokens
    tokens = None if mine is None else [Token(document.text[start:end], start) for start, end in mine]
    return split_sentences(document.text, tokens)


def sentences_of(document: Document, repair: str = "warn", slips: Slips | None = None) -> list[Sentence]:
    """The sentences of a document, with labels of BIO that tell its spans; no sentence ends within one.

    Parameters
    ----------
    document : Document
    repair : {"warn", "error", "off"}
        What is done with spans that tokens cannot tell: they are widened to whole tokens, refused, or left out. One
        that overlaps another is refused, or left out.
    slips : Slips, optional
        Is told of them.

    Examples
    --------
    >>> [sentence] = sentences_of(Document("Ada left.", [Span(0, 3, "PER")]))
    >>> sentence.rows, sentence.labels
    ([('Ada',), ('left',), ('.',)], ['B-PER', 'O', 'O'])
    """
    found = tokens_of(document)
    tokens = [token for some in found for token in some]
    segments = _aligned(document, tokens, repair, Slips() if slips is None else slips)
    labels = schemes.write(segments, len(tokens))
    within = {t for begin, end, _ in segments for t in range(begin + 1, end)}
    sentences: list[Sentence] = []
    begin = end = 0
    for some in found:
        end += len(some)
        if end not in within:
            sentences.append(_sentence(document, tokens[begin:end], labels[begin:end]))
            begin = end
    return sentences


def bare_sentences(document: Document) -> list[Sentence]:
    """The sentences of a document, whatever spans it has."""
    return [_sentence(document, tokens, None) for tokens in tokens_of(document)]


def _sentence(document: Document, tokens: Sequence[Token], labels: list[str] | None) -> Sentence:
    whole = document.format == "brat"  # a file is one text, of many lines
    line = document.line + (document.text.count("\n", 0, tokens[0].start) if whole else 0)
    place = Place(document.path, [line] * len(tokens))
    separator = " " if document.format == "raw" else "\t"
    return Sentence([(token,) for token in tokens], place, separator, labels=labels, document=document)


def _aligned(document: Document, tokens: Sequence[Token], repair: str, slips: Slips) -> list[schemes.Span]:
    """The spans of a document in numbers of tokens; none overlaps another."""
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]
    found: list[schemes.Span] = []
    for span in sorted(document.spans or (), key=lambda span: (span.start, -span.end)):
        begin, end = bisect_right(ends, span.start), bisect_left(starts, span.end)
        if begin >= end or (starts[begin], ends[end - 1]) != span[:2]:
            if repair == "error":
                _refuse(document, span, "does not begin and end where tokens do; mend it")
            slips.misaligned += 1
            slips.note(document, span)
            if begin >= end or repair == "off":
                continue
        if found and begin < found[-1][1]:
            if repair == "error":
                _refuse(document, span, "overlaps another; leave one of them out")
            slips.overlapping += 1
            slips.note(document, span)
            continue
        found.append((begin, end, span.label))
    return found


def _refuse(document: Document, span: Span, wrong: str) -> None:
    said = f"{document.text[span.start : span.end][:30]!r} ({span.start}–{span.end}, {span.label})"
    raise ParameterError(
        literal(f"{document.place}: the span {said} {wrong}, or choose ") + "{}", Parameter("repair", "warn")
    )


def spans_of(tokens: Sequence[Any], labels: Sequence[str], scheme: str) -> list[Span]:
    """The spans that the labels of tokens tell, by places in the text, which the tokens know.

    Examples
    --------
    >>> from perceptive.features.tokens import tokenise
    >>> spans_of(tokenise("Ada left."), ["B-PER", "O", "O"], "bio")
    [Span(start=0, end=3, label='PER')]
    """
    found = schemes.spans(labels, scheme)
    return [Span(tokens[begin].start, tokens[end - 1].end, kind) for begin, end, kind in found]


def with_spans(document: Document, spans: list[Span]) -> Document:
    """A document with other spans."""
    return replace(document, spans=spans)
