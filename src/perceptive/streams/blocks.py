"""Bytes of files in large blocks that end where lines end: plain, gzip or zstd, by path, by glob, or standard input."""

from __future__ import annotations

import glob
import gzip
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

BLOCK = 1 << 20
MAX_LINE = 64 << 20  # bytes: memory stays bounded also where there are no lines
STDIN = "-"
Cut = Callable[[bytearray, int], int]  # where the last whole record among the first so many bytes ends
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def last_line(buffer: bytearray, filled: int) -> int:
    """Where the last whole line ends."""
    return buffer.rfind(b"\n", 0, filled) + 1


def expand(paths: Paths) -> list[str]:
    """List the files that paths and globs name, those of each glob sorted.

    Examples
    --------
    >>> expand(["train.svm", "-"])
    ['train.svm', '-']
    >>> expand("missing-*.svm")
    Traceback (most recent call last):
    FileNotFoundError: no file matches 'missing-*.svm'; check the pattern
    """
    files: list[str] = []
    for path in [paths] if isinstance(paths, str | os.PathLike) else paths:
        path = os.fspath(path)
        if glob.has_magic(path) and not os.path.exists(path):
            matches = sorted(glob.glob(path, recursive=True))
            if not matches:
                raise FileNotFoundError(f"no file matches {path!r}; check the pattern")
            files += matches
        else:
            files.append(path)
    if not files:
        raise ValueError("no paths given; name at least one file")
    return files


@dataclass(frozen=True)
class Block:
    """Whole lines of a file. The memory goes to a later block when it is released."""

    text: memoryview
    offset: int  # in the unpacked file
    free: list[bytearray]

    def release(self) -> None:
        """Say that the text has been read."""
        buffer = self.text.obj
        self.text.release()
        self.free.append(buffer)  # type: ignore[arg-type]


def blocks(path: str, size: int | None = None, cut: Cut = last_line, live: bool = False) -> Iterator[Block]:
    """Read a file, unpacked, in blocks of about `size` bytes (1 MiB) that end at the end of a line or of the file.

    Where blocks end depends on the bytes alone, unless they are to be `live`: then a block ends where there is nothing
    more to read at the moment.
    """
    size = size or BLOCK
    free: list[bytearray] = []
    tail, offset = b"", 0
    with _plain(path) as file:
        while True:
            buffer = free.pop() if free else bytearray(size)
            filled = len(tail)
            if filled > len(buffer):
                buffer = bytearray(2 * filled)
            buffer[:filled] = tail
            while True:
                if filled == len(buffer):
                    if filled >= MAX_LINE:
                        where = f"{shown(path)}: the line from byte {offset} on"
                        raise ValueError(f"{where} is longer than {MAX_LINE >> 20} MiB; break it up")
                    buffer += bytes(filled)
                room = memoryview(buffer)[filled:]
                got = _read_some(file, room) if live else file.readinto(room)
                room.release()
                filled += got
                if got and filled < len(buffer) and not live:
                    continue
                end = cut(buffer, filled) if got else filled
                if end or not got:
                    break
            if end:
                tail = bytes(memoryview(buffer)[end:filled])
                yield Block(memoryview(buffer)[:end], offset, free)
                offset += end
            if not got:
                return


def _read_some(file: Any, room: memoryview) -> int:
    """What there is, at least a byte unless the file has ended."""
    some = file.read1(len(room))
    room[: len(some)] = some
    return len(some)


def shown(path: str) -> str:
    """Name a file in messages."""
    return "<stdin>" if path == STDIN else os.fsencode(path).decode(errors="replace")


@contextmanager
def _plain(path: str) -> Iterator[Any]:
    """Open a file and unpack it, whatever its name says: compression is known by the first bytes."""
    with _stdin() if path == STDIN else Path(path).open("rb") as raw:
        start = raw.peek(4)[:4]
        if start[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=raw) as file, _sound(path, EOFError, gzip.BadGzipFile, zlib.error):
                yield file
        elif start == b"\x28\xb5\x2f\xfd":
            with _zstd(path, raw) as (file, error), _sound(path, EOFError, error):
                yield file
        else:
            yield raw


def peek(path: str, size: int = 1 << 16) -> bytes:
    """The first bytes of a file, unpacked; those of standard input stay there to be read."""
    if path != STDIN:
        with _plain(path) as file:
            return bytes(file.read(size))
    stdin: Any = sys.stdin.buffer
    start = bytes(stdin.peek(size))
    if start[:2] == b"\x1f\x8b":
        return zlib.decompressobj(31).decompress(start, size)
    if start[:4] == b"\x28\xb5\x2f\xfd":
        raise ValueError("the format cannot be told from packed standard input; say which with format= (--format)")
    return start


def _stdin() -> Any:
    return nullcontext(sys.stdin.buffer)  # stays open


@contextmanager
def _sound(path: str, *errors: type[Exception]) -> Iterator[None]:
    try:
        yield
    except errors as error:
        raise ValueError(f"{shown(path)}: the compressed file is damaged or cut off ({error}); fetch it anew") from None


@contextmanager
def _zstd(path: str, raw: Any) -> Iterator[tuple[Any, type[Exception]]]:
    for name in ("compression.zstd", "backports.zstd"):  # the standard library, from Python 3.14 on, and for older ones
        try:
            zstd: Any = import_module(name)
        except ImportError:
            continue
        with zstd.ZstdFile(raw) as file:
            yield file, zstd.ZstdError
        return
    raise ImportError(f"{shown(path)}: zstd files need Python 3.14 or the package backports.zstd; install it")
