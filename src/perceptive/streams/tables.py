"""Tables, which begin with a header: comma-separated values, whose records may span lines, and Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from perceptive import _core
from perceptive.streams import arrow
from perceptive.streams.blocks import Block, blocks, first_block, last_line, shown
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


def open(
    path: str, format: FileFormat, size: int | None, live: bool, ahead: bool = False
) -> tuple[Iterator[Block], Header | None, int]:
    """Blocks of a file below its header, if the format has one; the header; how many lines it takes.

    With ``ahead`` the first block alone, of what comes but once and stays there to be read.
    """
    if format.name == "arrow":
        return arrow.open(path, format)
    if format.interactions:
        size = min(size or SMALL, SMALL)
    if format.name != "csv":
        return first_block(path, last_line) if ahead else blocks(path, size, live=live), None, 0
    cutter = Cutter(format.delimiter)
    source = first_block(path, cutter) if ahead else blocks(path, size, cutter, live)
    first = next(source, None)
    if first is None:
        return iter(()), Header((), ","), 0
    delimiter = cutter.delimiter or _core.csv_delimiter(first.text, True) or ","
    try:
        columns, end = _core.csv_header(first.text, delimiter)
    except ValueError as error:
        raise ValueError(f"{shown(path)}:{error}") from None
    try:
        format.check_columns(columns)
    except ValueError as error:
        raise ValueError(f"{shown(path)}:1: {error}") from None
    lines = bytes(first.text[:end]).count(b"\n")
    rest = first.text[end:]
    first.text.release()
    return chain([Block(rest, first.offset + end, first.buffers)], source), Header(columns, delimiter), lines
