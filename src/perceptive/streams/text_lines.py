"""Lines of text files, decoded: UTF-8, another encoding in which a line ends with the byte 10, or UTF-16."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from perceptive.errors import DataError, Parameter, literal
from perceptive.streams.blocks import MARK, blocks, peek, shown

UTF8 = "utf-8"
_ASCII = b"\n\t #-0A_a|"
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
T = TypeVar("T")


def check_start(path: str, start: bytes) -> None:
    """Raise where a file begins as UTF-16 does, or its lines end with a carriage return alone."""
    if start.startswith(_MARKS):
        raise ValueError(f"{shown(path)}: is UTF-16; convert it, as iconv -f UTF-16 -t UTF-8 does")
    check_line_ends(path, start)


def check_line_ends(path: str, start: bytes) -> None:
    """Raise where the lines at the start of a file end with a carriage return alone."""
    if b"\n" not in start and b"\r" in start.rstrip(b"\r"):
        raise ValueError(f"{shown(path)}: lines end with a carriage return; convert it, as tr '\\r' '\\n' does")


def check_encoding(name: str) -> str:
    """The name of an encoding; raises where there is none of that name, or one in which lines cannot be found.

    Examples
    --------
    >>> check_encoding("latin-1")
    'latin-1'
    >>> check_encoding("utf-32")
    Traceback (most recent call last):
    ValueError: 'utf-32' has no ASCII in it, as utf-8, latin-1 and cp1252 have, and is not utf-16; convert the file
    """
    try:
        codecs.lookup(name)
    except (LookupError, ValueError):
        raise ValueError(f"the encoding {name!r} is unknown; choose another, as utf-8, latin-1 or cp1252") from None
    try:
        if _is_wide(name) or _ASCII.decode(name, "replace") == _ASCII.decode():
            return name
    except (LookupError, ValueError):
        pass
    raise ValueError(
        f"{name!r} has no ASCII in it, as utf-8, latin-1 and cp1252 have, and is not utf-16; convert the file"
    )


def _is_wide(name: str) -> bool:
    """Whether it is UTF-16, whose lines are found only when a file is decoded as a whole."""
    return codecs.lookup(name).name == "utf-16"


def text_lines(path: str, encoding: str = UTF8, live: bool = False) -> Iterator[tuple[int, list[str]]]:
    """The lines of a file, block by block, each block with the number of its first line.

    Lines end with a line feed, which they come without; a carriage return before it stays. A byte order mark at the
    start of the file is left out. With ``live`` lines are given as soon as they are there.
    """
    number = 1
    check_encoding(encoding)

    def texts() -> Iterator[str]:
        for block in blocks(path, live=live):
            raw = bytes(block.text)
            block.release()
            yield _decoded(raw, path, number, encoding)

    for text in [whole_text(path, encoding)] if _is_wide(encoding) else texts():
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        yield number, lines
        number += len(lines)


def first_record(path: str) -> tuple[bytes, Any]:
    """The first line of a file, and what it says as JSON; None where it is too long to be seen, or broken."""
    first = peek(path).removeprefix(MARK).lstrip().split(b"\n", 1)[0]
    try:
        return first, json.loads(first)
    except (ValueError, RecursionError):
        return first, None


def records(path: str, encoding: str, live: bool, read: Callable[[str, str, int], T | None]) -> Iterator[list[T]]:
    """What `read` makes of the lines of a file that are not empty, block by block; before it raises, what it made."""
    for first, lines in text_lines(path, encoding, live):
        found: list[T] = []
        for number, line in enumerate(lines, first):
            try:
                record = read(line, shown(path), number) if line.strip() else None
            except ValueError:
                yield found
                raise
            found += [] if record is None else [record]
        yield found


def whole_text(path: str, encoding: str = UTF8) -> str:
    """A file as one text, its line ends as they are; without a byte order mark."""
    check_encoding(encoding)
    return _decoded(b"".join(bytes(block.text) for block in blocks(path)), path, 1, encoding)


def _decoded(raw: bytes, path: str, line: int, encoding: str) -> str:
    """Bytes that begin on a line of a file as text."""
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        at = line + raw[: error.start].count(b"\n")
        called = encoding.upper().replace("_", "-")
        said = f"{shown(path)}:{at}: not {called} ({error.reason}); convert the file, or say which encoding it has by "
        wide = ["utf-16"] if raw.startswith(_MARKS) else []
        raise DataError(literal(said) + "{}", Parameter("file.encoding", *wide)) from None
