"""Tables, which begin with a header: comma-separated values, whose records may span lines, and Arrow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

from perceptive import _core
from perceptive.errors import ParameterError, literal
from perceptive.streams import arrow
from perceptive.streams.blocks import (
    Block,
    blocks,
    check_json_lines,
    first_block,
    last_line,
    peek,
    repeatable,
    shown,
)
from perceptive.streams.file_format import FEATURES, FileFormat, Header
from perceptive.streams.guessing import MAGIC, is_object
from perceptive.streams.meaning import check_columns
from perceptive.streams.text_lines import check_start

FIRST = 100  # JSON lines that are looked at
SMALL = 1 << 14  # bytes of a block where features are multiplied: a few may become thousands


class Cutter:
    """Where the last whole record ends. Finds out what delimits the fields, unless it is told."""

    def __init__(self, delimiter: str | None = None, quotes: bool = True) -> None:
        self.delimiter, self.quotes = delimiter, quotes

    def __call__(self, buffer: bytearray, filled: int) -> int:
        with memoryview(buffer) as whole, whole[:filled] as text:
            if self.delimiter is None:
                self.delimiter = _core.csv_delimiter(text, False, self.quotes)
            return 0 if self.delimiter is None else _core.csv_whole(text, self.delimiter, self.quotes)


def open(
    path: str, format: FileFormat, size: int | None, live: bool, ahead: bool = False
) -> tuple[Iterator[Block], Header | None, int]:
    """Blocks of a file below its header, if the format has one; the header; how many lines it takes.

    With ``ahead`` the first block alone, of what comes but once and stays there to be read.
    """
    if format.name == "arrow":
        return arrow.open(path, format)
    start = peek(path)
    check_start(path, start)
    _check_format(path, start, format)
    if format.name == "json":
        check_json_lines(path)
    if format.lists and format.name == "json":
        from perceptive.streams.json_lists import candidate_blocks  # which reads by `parsing`, and that by this

        return candidate_blocks(path, ahead), None, 0
    if format.interactions:
        size = min(size or SMALL, SMALL)
    if format.name != "csv":
        return first_block(path, last_line, live) if ahead else blocks(path, size, live=live), None, 0
    quotes = format.quote is not None
    cutter = Cutter(format.delimiter, quotes)
    source = first_block(path, cutter, live) if ahead else blocks(path, size, cutter, live)
    first = next(source, None)
    if first is None:
        return iter(()), Header((), ","), 0
    delimiter = cutter.delimiter or _core.csv_delimiter(first.text, True, quotes) or ","
    try:
        columns, end = _core.csv_header(first.text, delimiter, quotes)
    except ValueError as error:
        raise ValueError(f"{shown(path)}:{error}") from None
    check_columns(format, columns, f"{shown(path)}:1")
    lines = bytes(first.text[:end]).count(b"\n")
    rest = first.text[end:]
    first.text.release()
    return chain([Block(rest, first.offset + end, first.buffers)], source), Header(columns, delimiter), lines


def _check_format(path: str, start: bytes, format: FileFormat) -> None:
    """Raise where a file is a table of another format, whose texts are in a column."""
    tabular = "a Parquet or Arrow file" if start.startswith(MAGIC) else ""
    if format.name == "text" and format.labelled and is_object(start.split(b"\n", 1)[0]):
        tabular = "a file of JSON lines"
    if tabular and format.name == "text":
        said = literal(f"{shown(path)}: is {tabular}, and not labelled text")
        raise ParameterError(said + "; read it as a table, and name the column of the texts by {}", "text_column")
    if tabular:
        raise ParameterError(literal(f"{shown(path)}: is {tabular}, and not {format.name}") + "; give {}", "format")


def names_in(path: str, format: FileFormat) -> list[str] | None:
    """The columns of a table, or the keys of the first JSON lines; None where that is not known before it is read."""
    if format.name == "arrow":
        unknown_too = replace(format, known=None)
        return list(arrow.open(path, unknown_too, check=False)[1].columns) if repeatable(path) else None
    start = peek(path)
    if format.name == "json":
        whole, weight = start.split(b"\n")[:-1] or [start], format.weight or "weight"
        return list(dict.fromkeys(key for row in first_objects(whole, format.lists) for key in row if key != weight))
    if format.name != "csv" or not start.strip():
        return None
    quotes = format.quote is not None
    delimiter = format.delimiter or _core.csv_delimiter(start, True, quotes) or ","
    with suppress(ValueError):  # the parser says what is wrong
        return list(_core.csv_header(start, delimiter, quotes)[0])
    return None


def first_objects(lines: Sequence[str | bytes], lists: bool) -> list[dict[str, Any]]:
    """The objects of the first JSON lines, or the candidates of the first lists."""
    found: list[Any] = []
    for line in lines[:FIRST]:
        with suppress(ValueError, RecursionError):  # the parser says what is wrong, and the last one may be cut off
            one = json.loads(line)
            one = one.get("candidates") if lists and isinstance(one, dict) else [one]
            found += one if isinstance(one, list) else []
    return [one for one in found if isinstance(one, dict)]


def texts_and_others(files: Iterable[str], format: FileFormat) -> tuple[bool, bool]:
    """Whether tables and JSON lines have texts, and whether they have other features; yes where that is not known."""
    text = "text" if format.name == "json" and format.text_column is None else format.text_column
    found = [names_in(path, format) for path in files]
    names = list(dict.fromkeys(name for some in found for name in some or ()))
    others = {name for name, kind in zip(names, format.kinds(names), strict=True) if kind in FEATURES} - {text}
    return bool(text) and (text in names or None in found), bool(others) or None in found


def feature_columns(files: Iterable[str], format: FileFormat, met: Sequence[str]) -> tuple[str, ...]:
    """The columns of tables that have features, and keys of JSON lines; () of other files."""
    columns = dict.fromkeys(met)
    for path in filter(repeatable, files):
        columns |= dict.fromkeys(names_in(path, format) or ())
    kinds = zip(columns, format.kinds(list(columns)), strict=True)
    return tuple(name for name, kind in kinds if kind not in ("label", "weight", "ignored"))
