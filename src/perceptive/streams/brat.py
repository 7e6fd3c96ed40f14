r"""brat standoff: a text in ``notes.txt``, and its spans in ``notes.ann`` next to it.

A line ``T1<tab>PER 0 3<tab>Ada`` is a span; relations, events, attributes and notes are not about tokens and are
skipped. brat cuts a span at line breaks: pieces with only white space between them are one span. Other spans in pieces
cannot be expressed by tokens, and are kept separately.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from perceptive.streams.blocks import shown
from perceptive.streams.documents import SHORT, Document, Span, checked
from perceptive.streams.text_lines import UTF8, text_lines, whole_text

TEXT, SPANS = ".txt", ".ann"
ENTITY = re.compile(r"T[^\t ]*\t([^\t ]+) ([0-9]{1,15} [0-9]{1,15}(?:;[0-9]{1,15} [0-9]{1,15})*)(?:\t(.*))?")
OTHERS = "REAMN#*"  # what other lines begin with


def is_brat(path: str) -> bool:
    """Return whether a file is one of the two."""
    root, end = os.path.splitext(path)
    return end == SPANS or (end == TEXT and os.path.isfile(root + SPANS))


def lacks_spans(path: str) -> bool:
    """Return whether a text is among files of brat, without its own spans."""
    folder, end = os.path.dirname(path) or ".", os.path.splitext(path)[1]
    return end == TEXT and os.path.isfile(path) and any(name.endswith(SPANS) for name in os.listdir(folder))


def read_brat(path: str, encoding: str = UTF8) -> Iterator[list[Document]]:
    """Return the document of either file; without spans if there is only the text."""
    text_path, spans_path = paths_of(path)
    if not os.path.isfile(text_path):
        raise ValueError(f"{shown(path)}: there is no {shown(text_path)} with its text; put it there")
    document = Document(whole_text(text_path, encoding), None, shown(text_path), format="brat")
    if os.path.isfile(spans_path):
        document.spans = []
        for span, whole in _spans(spans_path, document.text, encoding):
            (document.spans if whole else document.in_pieces).append(span)
    yield [document]


def paths_of(path: str) -> tuple[str, str]:
    """Return the file of the text, and that of the spans.

    Examples
    --------
    >>> paths_of("notes.ann")
    ('notes.txt', 'notes.ann')
    """
    root, end = os.path.splitext(path)
    return (root + TEXT, root + SPANS) if end in (TEXT, SPANS) else (path, path + SPANS)


def _spans(path: str, text: str, encoding: str) -> Iterator[tuple[Span, bool]]:
    """Each span, and whether it is in one piece."""
    for first, lines in text_lines(path, encoding):
        for number, line in enumerate(lines, first):
            line, place = line.rstrip("\r"), f"{shown(path)}:{number}"
            if not line.strip() or line[0] in OTHERS:
                continue
            match = ENTITY.fullmatch(line)
            if not match:
                cure = "write T1, a tab, label start end, a tab, the text"
                raise ValueError(f"{place}: {line[:SHORT]!r} is no span; {cure}")
            ends = [int(end) for end in match[2].replace(";", " ").split()]
            span = checked(place, text, min(ends), max(ends), match[1])
            there = " ".join(text[begin:end] for begin, end in zip(ends[::2], ends[1::2], strict=True))
            if match[3] is not None and there.split() != match[3].split():
                raise ValueError(
                    f"{place}: the span is {match[3][:SHORT]!r}, but the text has {there[:SHORT]!r} there; count "
                    "code points from 0, and a line break as it is in the file"
                )
            between = (text[end:begin] for end, begin in zip(ends[1::2], ends[2::2], strict=False))
            yield span, not any(map(str.strip, between)) and ends == sorted(ends)


def as_lines(document: Document) -> str:
    """Return the spans of a document as the lines of the file next to its text.

    Examples
    --------
    >>> as_lines(Document("Ada left.", [Span(0, 3, "PER")]))
    'T1\\tPER 0 3\\tAda\\n'
    """
    lines = []
    for i, (start, end, label) in enumerate(document.spans or (), 1):
        if " " in label:
            raise ValueError(f"{document.place}: brat allows no labels with spaces, such as {label!r}; rename it")
        lines.append(f"T{i}\t{label} {start} {end}\t{' '.join(document.text[start:end].splitlines())}\n")
    return "".join(lines)
