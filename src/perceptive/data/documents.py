"""Turn texts with spans into sentences of tokens with labels, and back."""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby, pairwise
from typing import Any, NamedTuple

from perceptive.errors import Parameter, ParameterError, literal
from perceptive.evaluation.conlleval import Evaluation, count_spans, evaluate
from perceptive.features import schemes
from perceptive.features.sentence_ends import split_sentences
from perceptive.features.tokens import TOKENISER, Token, tokenise
from perceptive.streams.documents import KEYS, Document, Span
from perceptive.streams.sentence import Place, Sentence

FIRST = 3  # places that are listed
WRITE_SPANS = f'write spans as "label": [[start, end, label], …], or as one of {", ".join(KEYS)} has them'
NO_SPANS = f'no text has a span, so all tokens are "O"; {WRITE_SPANS}'


@dataclass
class Slips:
    """Spans that do not match tokens: how many, and where the first ones are."""

    padded: int = 0
    misaligned: int = 0
    without_tokens: int = 0
    overlapping: int = 0
    in_pieces: int = 0
    empty: int = 0
    refused: int = 0  # texts
    texts: int = 0  # that were accepted, and whose spans are told
    spans: int = 0
    places: list[str] = field(default_factory=list)

    def note(self, kind: str, document: Document, span: Span, repair: str, wrong: str) -> None:
        """Count a span of a kind, and keep its place; raise if such spans are refused."""
        place = f"{document.path}:{document.line_of(span.start)}"
        said, about = document.text[span.start : span.end], f"({span.start}–{span.end}, {span.label})"
        if repair == "error":
            refused = literal(f"{place}: the span {said[:30]!r} {about} {wrong}, or choose ")
            raise ParameterError(refused + "{}", Parameter("repair", "warn"))
        setattr(self, kind, getattr(self, kind) + 1)
        if len(self.places) < FIRST:
            self.places.append(f"{place} {' '.join(said.split())[:30]!r} {about}")

    def tell(self, repair: str) -> None:
        """Warn about them, if there are any."""
        done = "left out" if repair == "off" else "widened to whole tokens"
        counted = (
            (self.padded, "spans that begin or end with a blank", "trimmed"),
            (self.misaligned, "spans that do not begin and end at token boundaries", done),
            (self.without_tokens, "spans in which there is no token", "left out"),
            (self.overlapping, "spans that overlap an earlier or longer one", "left out"),
            (self.in_pieces, "spans in several pieces", "left out"),
            (self.empty, "spans without any character", "left out"),
            (self.refused, 'texts whose "answer" is "reject" or "ignore"', "passed over"),
        )
        parts = [f"{what}: {n:,}, {then}" for n, what, then in counted if n]
        if parts:
            first = f". The first: {', '.join(self.places)}" if self.places else ""
            warnings.warn(f"{'; '.join(parts)}{first}", stacklevel=3)
        if self.texts and not self.spans:
            warnings.warn(NO_SPANS, stacklevel=3)


def accepted(documents: Iterable[Document], repair: str, slips: Slips) -> list[Document]:
    """Return the documents with valid spans; refuse or leave out spans in several pieces, or without text.

    Blanks at the ends of a span are refused, or trimmed.
    """
    found = []
    for document in documents:
        if document.refused:
            slips.refused += 1
            continue
        for span in document.in_pieces:
            slips.note("in_pieces", document, span, repair, "is in several pieces; leave it out")
        for span in [span for span in document.spans or () if span.start == span.end]:
            slips.note("empty", document, span, repair, "is empty; correct its end, or leave it out")
        if document.spans is not None:
            there = [span for span in document.spans if span.start < span.end]
            document.spans = [_trimmed(document, span, repair, slips) for span in there]
        slips.texts, slips.spans = slips.texts + document.answered, slips.spans + len(document.spans or ())
        found.append(document)
    return found


def _trimmed(document: Document, span: Span, repair: str, slips: Slips) -> Span:
    """The span without blanks at its ends, unless it has nothing else, or the file's own tokens begin and end so."""
    said = document.text[span.start : span.end]
    start = span.start + len(said) - len(said.lstrip())
    end = start + len(said.strip())
    if start == end or (start, end) == span[:2]:
        return span
    starts, ends = zip(*document.tokens, strict=True) if document.tokens else ((), ())
    if span.start in starts and span.end in ends:
        return span
    slips.note("padded", document, span, repair, "begins or ends with a blank; trim it")
    return span._replace(start=start, end=end)


def tokens_of(document: Document, tokeniser: str = TOKENISER) -> list[list[Token]]:
    """Return the tokens of each sentence of a document: its own, or those of the tokeniser."""
    text, mine = document.text, document.tokens
    tokens = tokenise(text, tokeniser) if mine is None else [Token(text[start:end], start) for start, end in mine]
    return split_sentences(text, tokens)


def sentences_of(
    document: Document, repair: str = "warn", slips: Slips | None = None, tokeniser: str = TOKENISER
) -> list[Sentence]:
    """Return the sentences of a document, with BIO labels for its spans; no sentence ends within a span.

    The labels are None if the spans are unknown.

    Parameters
    ----------
    document : Document
    repair : one of "warn", "error", "off"
        What to do with spans that do not match tokens: widen them to whole tokens, refuse them, or leave them out. A
        span that overlaps another is refused, or left out.
    slips : Slips, optional
        Collects such spans.
    tokeniser : str
        See `perceptive.features.tokens.tokenise`.

    Examples
    --------
    >>> [sentence] = sentences_of(Document("Ada left.", [Span(0, 3, "PER")]))
    >>> sentence.rows, sentence.labels
    ([('Ada',), ('left',), ('.',)], ['B-PER', 'O', 'O'])
    """
    found = tokens_of(document, tokeniser)
    tokens = [token for some in found for token in some]
    segments = _aligned(document, tokens, repair, Slips() if slips is None else slips)
    labels: list[Any] = [*schemes.write(segments, len(tokens))] if document.answered else [None] * len(tokens)
    within = {t for begin, end, _ in segments for t in range(begin + 1, end)}
    sentences: list[Sentence] = []
    cuts: list[int] = []
    begin = end = 0
    for some in found:
        end += len(some)
        if end in within:
            cuts.append(end - begin)
            continue
        sentences.append(_sentence(document, tokens[begin:end], labels[begin:end], cuts))
        begin, cuts = end, []
    return sentences


def bare_sentences(document: Document, tokeniser: str = TOKENISER) -> list[Sentence]:
    """Return the sentences of a document, whatever spans it has."""
    return [_sentence(document, tokens, None) for tokens in tokens_of(document, tokeniser)]


def _sentence(
    document: Document, tokens: Sequence[Token], labels: list[str | None] | None, cuts: Sequence[int] = ()
) -> Sentence:
    place = Place(document.path, [document.line_of(tokens[0].start)] * len(tokens), cuts)
    separator = " " if document.format == "raw" else "\t"
    return Sentence([(token,) for token in tokens], place, separator, labels=labels, document=document)


def _aligned(document: Document, tokens: Sequence[Token], repair: str, slips: Slips) -> list[schemes.Span]:
    """The spans of a document in numbers of tokens; none overlaps another."""
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]
    found: list[schemes.Span] = []
    for span in sorted(document.spans or (), key=lambda span: (span.start, -span.end)):
        begin, end = bisect_right(ends, span.start), bisect_left(starts, span.end)
        if begin >= end or (starts[begin], ends[end - 1]) != span[:2]:
            kind, wrong = "misaligned", "does not begin and end at token boundaries; correct it"
            if begin >= end:
                kind, wrong = "without_tokens", "has no token in it; leave it out"
            slips.note(kind, document, span, repair, wrong)
            if begin >= end or repair == "off":
                continue
        if found and begin < found[-1][1]:
            slips.note("overlapping", document, span, repair, "overlaps another; leave one of them out")
            continue
        found.append((begin, end, span.label))
    return found


def parts_of(x: Sequence[Any], place: Place) -> list[Sequence[Any]]:
    """Return a sentence as its text is cut if the spans are unknown."""
    return [x[begin:end] for begin, end in pairwise((0, *place.cuts, len(x)))]


def joined_labels(parts: Sequence[Sequence[Any]], scheme: str | None) -> list[Any]:
    """Join the labels of the parts of a sentence; no segment continues from one part to the next.

    Examples
    --------
    >>> joined_labels([["O", "I-X"], ["I-X"]], "iob1")
    ['O', 'I-X', 'B-X']
    """
    if scheme is None or len(parts) == 1:
        return [label for part in parts for label in part]
    begins = [0, *accumulate(map(len, parts))]
    segments = [
        (first + begin, first + end, kind)
        for first, part in zip(begins, parts, strict=False)
        for begin, end, kind in schemes.spans(part, scheme)
    ]
    return [*schemes.write(segments, begins[-1], scheme)]


def spans_of(tokens: Sequence[Any], labels: Sequence[str], scheme: str) -> list[Span]:
    """Return the spans of token labels, as positions in the text, which the tokens have.

    Examples
    --------
    >>> from perceptive.features.tokens import tokenise
    >>> spans_of(tokenise("Ada left."), ["B-PER", "O", "O"], "bio")
    [Span(start=0, end=3, label='PER')]
    """
    found = schemes.spans(labels, scheme)
    return [Span(tokens[begin].start, tokens[end - 1].end, kind) for begin, end, kind in found]


class TextSpan(NamedTuple):
    """A part of a text, and its label: ``text[start:end]`` is its text."""

    label: str
    start: int
    end: int
    text: str


def predict_spans(learner: Any, text: str, hypothesis: str | None = None) -> list[TextSpan]:
    """Cut a text into sentences and tokens, and return what a tagger finds; offsets count code points."""
    if not isinstance(text, str):
        raise TypeError(f"text is of type {type(text).__name__!r}; give one string")
    scheme = learner.given or learner.scheme
    if scheme is None:
        raise ValueError("the labels of this tagger do not mark segments; ask predict for labels of tokens")
    sentences = split_sentences(text, tokenise(text, learner.tokeniser))
    labels = learner.predict_many([list(map(str, sentence)) for sentence in sentences], hypothesis)
    found = [span for some in map(spans_of, sentences, labels, [scheme] * len(labels)) for span in some]
    return [TextSpan(label, start, end, text[start:end]) for start, end, label in found]


def count_texts(
    result: Evaluation, y: Sequence[Any], predicted: Sequence[Any], texts: Sequence[Sentence | None], scheme: str
) -> int:
    """Count the spans of texts as they are in the files, instead of the segments of tokens.

    Parameters
    ----------
    result : Evaluation
        Counts of the token labels; its segments are counted again.
    y, predicted : label sequences
        The labels of y in BIO, as `sentences_of` returns them; the predictions in ``scheme``.
    texts : sequence of (Sentence or None)
        What they were read from; None for sentences in columns, whose segments are counted as they are.

    Returns
    -------
    How many spans no labels of these tokens can express.
    """
    columns = [i for i, one in enumerate(texts) if one is None]
    counted = evaluate([y[i] for i in columns], [predicted[i] for i in columns])
    result.there, result.found, result.right = counted.there, counted.found, counted.right
    told = [(one, y[i], predicted[i]) for i, one in enumerate(texts) if one is not None]
    unreachable = 0
    for _, some in groupby(told, lambda one: id(one[0].document)):
        true, found = list[Span](), list[Span]()
        for sentence, labels, guess in some:
            tokens, document = [token for (token,) in sentence.rows], sentence.document
            true += spans_of(tokens, labels, "bio")
            found += spans_of(tokens, guess, scheme)
        spans = (document.spans if document else None) or ()
        unreachable += (Counter(spans) - Counter(true)).total()
        count_spans(result, spans, found)
    return unreachable
