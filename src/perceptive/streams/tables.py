"""Tables, which begin with a header: comma-separated values, whose records may span lines, and Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from perceptive import _core
from perceptive.streams import arrow
from perceptive.streams.blocks import Block, blocks, check_json_lines, repeatable, shown
from perceptive.streams.file_format import FileFormat, Header

SMALL = 1 << 14  # bytes of a block where features are multiplied: a few may become thousands


class Cutter:
    """Where the last whole record ends. Finds out what delimits the fields, unless it is told."""

    def __init__(self, delimiter: str | None = None) -> None:
        self.delimiter = delimiter

    def __call__(self, buffer: bytearray, filled: int) -> int:
        with memoryview(buffer) as whole, whole[:filled] as text:
            if self.delimiter is None:
                self.delimiter = _core.csv_delimiter(text, False)
            return 0 if self.delimiter is None else _core.csv_whole(text, self.delimiter)


def open(path: str, format: FileFormat, size: int | None, live: bool) -> tuple[Iterator[Block], Header | None, int]:
    """Blocks of a file below its header, if the format has one; the header; how many lines it takes."""
    if format.name == "arrow":
        return arrow.open(path, format)
    if format.name == "json":
        check_json_lines(path)
    if format.interactions:
        size = min(size or SMALL, SMALL)
    if format.name != "csv":
        return blocks(path, size, live=live), None, 0
    cutter = Cutter(format.delimiter)
    source = blocks(path, size, cutter, live)
    first = next(source, None)
    if first is None:
        return iter(()), Header((), ","), 0
    delimiter = cutter.delimiter or _core.csv_delimiter(first.text, True) or ","
    try:
        columns, end = _core.csv_header(first.text, delimiter)
    except ValueError as error:
        raise ValueError(f"{shown(path)}:{error}") from None
    format.check_columns(columns, f"{shown(path)}:1")
    lines = bytes(first.text[:end]).count(b"\n")
    rest = first.text[end:]
    first.text.release()
    return chain([Block(rest, first.offset + end, first.buffers)], source), Header(columns, delimiter), lines


def feature_columns(files: Iterable[str], format: FileFormat, met: Sequence[str]) -> tuple[str, ...]:
    """The columns of tables that have features; () of other files. Of what comes but once, those that were met."""
    if format.name not in ("csv", "arrow"):
        return ()
    columns = dict.fromkeys(met)
    for path in filter(repeatable, files):
        source, header, _ = open(path, format, 1 << 16, False)
        for block in islice(source, 1):
            block.release()
        columns |= dict.fromkeys([] if header is None else header.columns)
    kinds = zip(columns, format.kinds(list(columns)), strict=True)
    return tuple(name for name, kind in kinds if kind not in ("label", "ignored"))
