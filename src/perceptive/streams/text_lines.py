"""Lines of text files, decoded: UTF-8, or another encoding in which a line ends with the byte 10."""

from __future__ import annotations

from collections.abc import Iterator

from perceptive.streams.blocks import blocks, shown

UTF8 = "utf-8"
_ASCII = b"\n\t #-0A_a|"


def check_encoding(name: str) -> str:
    """The name of an encoding; raises where there is none, or one in which lines cannot be found.

    Examples
    --------
    >>> check_encoding("latin-1")
    'latin-1'
    >>> check_encoding("utf-16")
    Traceback (most recent call last):
    ValueError: 'utf-16' is not an encoding that has ASCII in it, such as utf-8, latin-1 or cp1252; convert the file
    """
    try:
        if _ASCII.decode(name, "replace") == _ASCII.decode():
            return name
    except (LookupError, ValueError):
        pass
    raise ValueError(
        f"{name!r} is not an encoding that has ASCII in it, such as utf-8, latin-1 or cp1252; convert the file"
    )


def text_lines(path: str, encoding: str = UTF8, live: bool = False) -> Iterator[tuple[int, list[str]]]:
    """The lines of a file, block by block, each block with the number of its first line.

    Lines end with a line feed, which they come without; a carriage return before it stays. A byte order mark at the
    start of the file is left out. With ``live`` lines are given as soon as they are there.
    """
    number = 1
    check_encoding(encoding)
    for block in blocks(path, live=live):
        raw = bytes(block.text)
        block.release()
        lines = _decoded(raw, path, number, encoding).split("\n")
        if not lines[-1]:
            lines.pop()
        yield number, lines
        number += len(lines)


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
        raise ValueError(
            f"{shown(path)}:{at}: not {called} ({error.reason}); convert the file, or say which encoding it has"
        ) from None
