r"""Texts with spans, one JSON record per line: the formats of doccano, Prodigy and spaCy.

===========  ==================================================================================================
format       a line
===========  ==================================================================================================
``doccano``  ``{"text": "Ada left.", "label": [[0, 3, "PER"]]}``; also ``labels``, ``entities``, ``ents`` of objects
``prodigy``  ``{"text": "Ada left.", "spans": [{"start": 0, "end": 3, "label": "PER"}], "tokens": […]}``
``spacy``    ``["Ada left.", {"entities": [[0, 3, "PER"]]}]``
===========  ==================================================================================================

Offsets count code points, as in Python. ``[]`` means that there are no spans; a record without spans, or with null, is
a text that is not annotated yet.

>>> parse('{"text": "Ada left.", "label": [[0, 3, "PER"]]}', "notes.jsonl", 1).spans
[Span(start=0, end=3, label='PER')]
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from perceptive.streams.blocks import ARRAY, shown
from perceptive.streams.text_lines import UTF8, first_record, records, text_lines

JSON_FORMATS = ("doccano", "prodigy", "spacy")
KEYS = {"label": "doccano", "labels": "doccano", "entities": "doccano", "spans": "prodigy", "ents": "doccano"}
REFUSED, ACCEPTED = ("reject", "ignore"), "accept"  # answers of Prodigy, which may leave out spans that are none
ENDS = (("start", "end"), ("start_offset", "end_offset"))
ARRAY_BEGINS = re.compile(r'\[\s*($|\{|\[\s*")')
SHORT = 40  # characters of a value that a message shows


class Span(NamedTuple):
    """A part of a text, and its label."""

    start: int
    end: int
    label: str


@dataclass(slots=True)
class Document:
    """A text, its spans, and its position.

    Attributes
    ----------
    text : str
    spans : list of Span or None
        None if they are unknown.
    path, line : str, int
        The file, and the line where it begins.
    format : str
        The format in which it is written.
    key : str or None
        The key of the spans in the record.
    tokens : list of (int, int) or None
        Start and end of each, if the file has them.
    record : dict
        The other contents of the file.
    offset : int
        Where the text begins, counted from the start of the file.
    in_pieces : list of Span
        Annotations of brat with several pieces, from the start of the first to the end of the last; not among the
        spans.
    """

    text: str
    spans: list[Span] | None = None
    path: str = ""
    line: int = 1
    format: str = "doccano"
    key: str | None = None
    tokens: list[tuple[int, int]] | None = None
    record: dict[str, Any] = field(default_factory=dict)
    offset: int = 0
    in_pieces: list[Span] = field(default_factory=list)

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.path}:{self.line}"

    def line_of(self, start: int) -> int:
        """Return the line of a position in the text: only brat files are one text of many lines."""
        return self.line + (self.text.count("\n", 0, start) if self.format == "brat" else 0)

    @property
    def answered(self) -> bool:
        """Whether its spans are known, even if there are none."""
        return self.spans is not None

    @property
    def refused(self) -> bool:
        """Whether an annotator has not accepted its spans."""
        return self.record.get("answer") in REFUSED


def is_json(path: str) -> bool:
    """Return whether a file begins with a JSON record of a text."""
    first, record = first_record(path)
    if record is None:
        return first[:1] == b"{" and b'"text"' in first  # the reader says what is wrong
    return isinstance(record, dict) or _is_spacy(record) or _is_array(record)


def _is_spacy(record: Any) -> bool:
    return isinstance(record, list) and len(record) == 2 and isinstance(record[0], str) and isinstance(record[1], dict)


def _is_array(record: Any) -> bool:
    return isinstance(record, list) and bool(record) and all(isinstance(one, dict) or _is_spacy(one) for one in record)


def read_json(path: str, encoding: str, live: bool, format: str | None) -> Iterator[list[Document]]:
    """Yield the documents of a file, block by block.

    A document without spans has the given ``format``, or that of the documents before it.
    """

    def read(line: str, path: str, number: int) -> Document:
        nonlocal format
        document = parse(line, path, number, format)
        format = format or (document.format if document.key is not None else None)
        return document

    return records(path, encoding, live, read)


def read_raw(path: str, encoding: str = UTF8, live: bool = False) -> Iterator[list[Document]]:
    """Yield the lines of a text, block by block, each as a document with its offset; empty lines are skipped."""
    offset = 0
    for first, lines in text_lines(path, encoding, live):
        found: list[Document] = []
        for number, line in enumerate(lines, first):
            if line.strip():
                found.append(Document(line, None, shown(path), number, "raw", offset=offset))
            offset += len(line) + 1
        yield found


def parse(line: str, path: str, number: int, format: str | None = None) -> Document:
    """Return the document of a line; raise ValueError with its place if there is none.

    ``format`` is the format of a record without spans.
    """
    place = f"{path}:{number}"
    try:
        record = json.loads(line)
    except ValueError as error:
        if ARRAY_BEGINS.match(line.strip()):
            raise ValueError(f"{place}: {ARRAY}") from None
        what = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise ValueError(f"{place}: not JSON ({what}); write a record a line") from None
    except RecursionError:
        raise ValueError(f"{place}: nested too deeply; write a record with text and spans") from None
    if _is_spacy(record):
        document = Document(record[0], None, path, number, "spacy", "entities", record=record[1])
        listed = record[1].get("entities")
    elif _is_array(record):
        raise ValueError(f"{place}: {ARRAY}")
    else:
        if not isinstance(record, dict) or not isinstance(record.get("text"), str):
            raise ValueError(f"{place}: there is no text{_lacking(record)}")
        key = _key_of(record, place)
        format = KEYS[key] if key else "prodigy" if format == "prodigy" else "doccano"
        document = Document(record["text"], None, path, number, format, key, record=record)
        listed = record[key] if key else [] if record.get("answer") == ACCEPTED else None
        if record.get("tokens") is not None:
            document.tokens = _tokens(document, record["tokens"])
    try:
        document.text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{place}: character {error.start} is half of a surrogate pair; write both halves") from None
    if listed is not None:
        if not isinstance(listed, list):
            raise ValueError(f"{place}: {_short(listed)} is no list of spans; write [[start, end, label], …]")
        document.spans = [_span(document, one) for one in listed]
    return document


def _key_of(record: dict[str, Any], place: str) -> str | None:
    """Return the key of a record's spans: the one that has some, else one with an empty list; None if there is none."""
    told = [key for key in KEYS if key in record]
    some = [key for key in told if record[key] not in (None, [])]
    if len(some) > 1:
        raise ValueError(f"{place}: both {some[0]} and {some[1]} have spans; keep one of them")
    return max(told, key=lambda key: (key in some, record[key] is not None), default=None)


def _lacking(record: Any) -> str:
    """Return a message about what a record has instead of a text, with the cure."""
    if not isinstance(record, dict):
        return "; write an object with text and label, or [text, {…}]"
    if "text" in record:
        return f": {_short(record['text'])} is no string; write one"
    words = next((key for key, one in record.items() if one and _is_words(one)), None)
    cure = f"write text, and its spans as one of {', '.join(KEYS)}"
    if words is not None:
        cure = f"if {_short(words)} has the tokens, call it tokens, and their labels tags"
    return f", but {', '.join(map(_short, record)) or 'nothing'}; {cure}"


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _span(document: Document, one: Any) -> Span:
    if isinstance(one, Mapping):
        start, end = next(((one[a], one[b]) for a, b in ENDS if a in one and b in one), (None, None))
        label = one.get("label")
    elif isinstance(one, list) and len(one) == 3:
        start, end, label = one
    else:
        raise ValueError(f"{document.place}: {_short(one)} is no span; write [start, end, label]")
    return checked(document.place, document.text, start, end, label)


def checked(place: str, text: str, start: Any, end: Any, label: Any) -> Span:
    """Return a span that lies within its text and has a label; raise ValueError with the place for any other."""
    said, n = f"{place}: the span {_short([start, end, label])}", len(text)
    if type(start) is not int or type(end) is not int:
        raise ValueError(f"{said} has no whole numbers as its ends; write [start, end, label]")
    if 0 <= end < start <= n:
        cure = "write its start, and its end after the last character, or leave it out"
        raise ValueError(f"{said} ends before it begins; {cure}")
    if not 0 <= start <= end <= n:
        raise ValueError(
            f"{said} does not lie within the text, which has {n:,} characters; count code points from 0, neither bytes "
            "nor UTF-16, and the end after the last character"
        )
    if not isinstance(label, str) or not label or any(c.isspace() and c != " " for c in label):
        raise ValueError(f"{said} has no label in one line; name it")
    return Span(start, end, label)


def _tokens(document: Document, listed: Any) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for one in listed if isinstance(listed, list) else [listed]:
        start, end = (one.get("start"), one.get("end")) if isinstance(one, dict) else (None, None)
        before = found[-1][1] if found else 0
        if type(start) is not int or type(end) is not int or not before <= start < end <= len(document.text):
            raise ValueError(
                f"{document.place}: {_short(one)} is not a token after the previous ones; write start and end, "
                "or leave out the tokens"
            )
        found.append((start, end))
    return [(start, end) for start, end in found if not document.text[start:end].isspace()]  # spaCy has such, too


def _short(value: Any) -> str:
    said = json.dumps(value, ensure_ascii=False, default=str)
    return said if len(said) <= SHORT else said[:SHORT] + "…"


def as_line(document: Document, format: str, key: str | None = None) -> str:
    """Return a document as a line of a format, with the other contents of its record if that has the same form.

    If the spans are unknown, they have no key.

    ``key`` is the key of the spans, if it is not the usual one; they are then written in the form of the record.

    Examples
    --------
    >>> as_line(Document("Ada left.", [Span(0, 3, "PER")]), "spacy")
    '["Ada left.", {"entities": [[0, 3, "PER"]]}]'
    """
    same = document.record if (document.format == "spacy") == (format == "spacy") else {}
    kept = {key: value for key, value in same.items() if key not in ("text", *KEYS)}
    listed: list[Any] = [span._asdict() if format == "prodigy" else list(span) for span in document.spans or ()]
    if format == "doccano" and key is not None:
        listed = _as_read(listed, document.record.get(key))
    name = {"spacy": "entities", "prodigy": "spans"}.get(format, key or "label")
    told = {name: listed} if document.answered else {}
    if format == "spacy":
        return json.dumps([document.text, {**kept, **told}], ensure_ascii=False)
    if format == "prodigy" and document.tokens is not None and "tokens" not in kept:
        places = enumerate(document.tokens)
        kept["tokens"] = [{"text": document.text[a:b], "start": a, "end": b, "id": i} for i, (a, b) in places]
    return json.dumps({**kept, "text": document.text, **told}, ensure_ascii=False)


def _as_read(spans: list[list[Any]], before: Any) -> list[Any]:
    """Return spans as objects if those of the record were objects."""
    if not (isinstance(before, list) and before and isinstance(before[0], Mapping)):
        return spans
    names = next(names for names in ENDS if names[0] in before[0])
    return [dict(zip((*names, "label"), span, strict=True)) for span in spans]
