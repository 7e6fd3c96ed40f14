"""What the first lines of files give away: a header among texts, numbers that are read as words."""

from __future__ import annotations

import csv
import io
import os
import re
from contextlib import suppress

from perceptive import _core
from perceptive.streams.blocks import peek, shown
from perceptive.streams.file_format import FileFormat

ROWS = 100  # of a table, that are looked at
COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+")
FEWEST, WORDS = 10, 3  # values of a column that may be texts, and words of each, about
HEADERS = (
    {"label", "class", "category", "target", "sentiment", "y"},
    {"text", "sentence", "review", "message", "document"},
)


def oddity(path: str, format: FileFormat) -> str | None:
    """What to say of a file that is likely to be misread; None of others, of pipes and of what is elsewhere."""
    if format.name not in ("text", "csv") or not os.path.isfile(path):
        return None
    start = peek(path).decode(errors="replace")
    said = _header(start) if format.name == "text" else _columns(start, format)
    return None if said is None else f"{shown(path)}: {said}"


def _header(start: str) -> str | None:
    words = [word.strip().lower() for word in start.split("\n", 1)[0].split("\t")]
    if len(words) != 2 or any(word not in known for word, known in zip(words, HEADERS, strict=True)):
        return None
    return "the first line looks like a header, and is learned from; take it out, or have the file read as a table"


def _columns(start: str, format: FileFormat) -> str | None:
    """Of columns whose numbers all have a comma for a point, or between thousands; and of those that are texts."""
    delimiter = format.delimiter or _core.csv_delimiter(start.encode(), True) or ","
    rows: list[list[str]] = []
    with suppress(csv.Error):  # the parser says what is wrong
        for row in csv.reader(io.StringIO(start), delimiter=delimiter):
            rows += [row] if len(rows) <= ROWS else []
    for name, *values in zip(*rows[:-1], strict=False):  # the last one may be cut off
        there = [value.strip() for value in values if value.strip()]
        if not there or format.kinds([name]) != ["any"]:
            continue
        if all(map(THOUSANDS.fullmatch, there)):
            said = f"the numbers of column {name!r} have a comma, such as {there[0]}, and are read as words"
            return f"{said}; write thousands without it, and a point for a comma"
        if all(map(COMMA.fullmatch, there)):
            said = f"the numbers of column {name!r} have a comma for a point, such as {there[0]}, and are read as words"
            return f"{said}; write them with a point"
        words = sum(len(value.split()) for value in there)
        if len(there) >= FEWEST and words >= WORDS * len(there) and 10 * len({*there}) >= 9 * len(there):
            said = f"column {name!r} has a different text in nearly every row, which is read as one word"
            return f"{said}; read it as text with --text-column {name} (Python: text_column), or have it ignored"
    return None
