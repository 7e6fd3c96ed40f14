"""Bytes of files in large blocks that end where lines end: plain, gzip or zstd, by path, by glob, or standard input."""

from __future__ import annotations

import glob
import gzip
import hashlib
import io
import os
import stat
import sys
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from operator import itemgetter
from typing import Any

from perceptive.streams.remote import glob_urls, is_url, open_url, url_signature

BLOCK = 1 << 20
MAX_LINE = 64 << 20  # bytes: memory stays bounded also where there are no lines
STDIN = "-"
PARTS, PART = 32, 1 << 15  # how much of a large file its signature sees
ARRAY = "is one JSON array; write a record a line, as jq -c '.[]' does"
MARK = b"\xef\xbb\xbf"  # the byte order mark, in UTF-8
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"  # packed files begin so
ARCHIVES = {
    b"PK\x03\x04": "a zip archive, as Excel's files are",
    b"\xfd7zX": "packed by xz",
    **{b"BZh%d" % level: "packed by bzip2" for level in range(1, 10)},
}
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
            matches = glob_urls(path) if is_url(path) else sorted(glob.glob(path, recursive=True))
            if not matches:
                raise FileNotFoundError(f"no file matches {path!r}; check the pattern")
            files += matches
        else:
            files.append(path)
    if not files:
        raise ValueError("no paths given; name at least one file")
    return files


class Buffers:
    """Memory for blocks, used again when a block has been read; larger memory, for long lines, is let go."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._free: list[bytearray] = []

    def take(self, least: int) -> bytearray:
        """Of the usual size, or as often doubled as it takes."""
        size = self.size
        while size < least:
            size *= 2
        return self._free.pop() if size == self.size and self._free else bytearray(size)

    def give(self, buffer: object) -> None:
        """Back, for a later block."""
        if isinstance(buffer, bytearray) and len(buffer) == self.size:
            self._free.append(buffer)


Piece = tuple[int, int, int]  # some lines of a block: where they are in it, the number of their file, where in that


@dataclass(frozen=True)
class Block:
    """Whole lines of a file, or pieces of several. The memory goes to a later block when it is released."""

    text: memoryview
    offset: int  # in the unpacked file
    buffers: Buffers | None = None
    pieces: tuple[Piece, ...] = ()

    def release(self) -> None:
        """Say that the text has been read."""
        buffer = self.text.obj
        self.text.release()
        if self.buffers is not None:
            self.buffers.give(buffer)


def blocks(path: str, size: int | None = None, cut: Cut = last_line, live: bool = False) -> Iterator[Block]:
    """Read a file, unpacked, in blocks of about `size` bytes (1 MiB) that end at the end of a line or of the file.

    Where blocks end depends on the bytes alone, unless they are to be `live`: then a block ends where there is nothing
    more to read at the moment. A byte order mark at the start is left out.
    """
    buffers = Buffers(size or BLOCK)
    tail, offset = b"", 0
    with _plain(path) as file:
        while True:
            buffer = buffers.take(len(tail) + 1)
            filled = len(tail)
            buffer[:filled] = tail
            while True:
                if filled == len(buffer):
                    check_length(path, offset, filled)
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
                begin = len(MARK) if offset == 0 and buffer.startswith(MARK) else 0
                yield Block(memoryview(buffer)[begin:end], offset + begin, buffers)
                offset += end
            if not got:
                return


def first_block(path: str, cut: Cut, live: bool = False) -> Iterator[Block]:
    """The first block of standard input or of a pipe, which stays there to be read.

    One that is live has what is there as soon as it has a line.
    """
    start = bytearray(peek(path, BLOCK) if live else _unpacked(path, _once(path).peek(BLOCK), BLOCK)[:BLOCK])
    end = cut(start, len(start)) if live or len(start) >= BLOCK else 0
    end, begin = end or len(start), len(MARK) if start.startswith(MARK) else 0
    if end > begin:
        yield Block(memoryview(start)[begin:end], begin)


def check_length(path: str, offset: int, length: int) -> None:
    """Raise where a line that has no end after so many bytes is too long."""
    if length >= MAX_LINE:
        where = f"{shown(path)}: the line from byte {offset} on"
        raise ValueError(f"{where} is longer than {MAX_LINE >> 20} MiB; break it up")


def _read_some(file: Any, room: memoryview) -> int:
    """What there is, at least a byte unless the file has ended."""
    some = file.read1(len(room))
    room[: len(some)] = some
    return len(some)


def shown(path: str) -> str:
    """Name a file in messages."""
    return "<stdin>" if path == STDIN else os.fsencode(path).decode(errors="replace")


def located(path: str, line: int, offset: int, complaints: list[tuple[int, int, int, str]]) -> list[str]:
    """What the core says of a block that begins after so many lines and bytes of a file."""
    return [
        f"{shown(path)}:{line + at + 1}:{column}: {message} (byte {offset + byte})"
        for at, byte, column, message in complaints
    ]


def located_in_pieces(
    paths: Sequence[str], pieces: Sequence[Piece], complaints: list[tuple[int, int, int, str]]
) -> list[str]:
    """What the core says of a block of pieces; the lines before each place are counted now, as few blocks need it."""
    said = []
    for _, byte, column, message in complaints:
        at, file, offset = pieces[bisect_right(pieces, byte, key=itemgetter(0)) - 1]
        path, offset = paths[file], offset + byte - at
        said += located(path, count_lines(path, offset), 0, [(0, offset, column, message)])
    return said


def count_lines(path: str, end: int) -> int:
    """How many lines of a plain file end before a place."""
    lines, at = 0, 0
    with open(path, "rb", buffering=0) as file:
        while at < end and (text := os.pread(file.fileno(), min(BLOCK, end - at), at)):
            lines, at = lines + text.count(b"\n"), at + len(text)
    return lines


def repeatable(path: str) -> bool:
    """Whether a file can be read more than once: standard input and pipes cannot."""
    return path != STDIN and not (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path))


def comes_live(files: Iterable[str]) -> bool:
    """Whether standard input is among files, and is a pipe or a terminal: who writes there may wait for an answer."""
    try:
        return STDIN in files and not stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode)
    except (AttributeError, OSError, ValueError):  # it is closed, or is no file
        return False


def is_packed(path: str) -> bool:
    """Whether a file is compressed, whatever its name says."""
    with open(path, "rb", buffering=0) as file:
        start = file.read(4)
    return start[:2] == GZIP or start == ZSTD


def file_signature(path: str) -> Any:
    """What tells a file from others at a glance; what can be read only once equals nothing.

    That is its name, size and time, its content (of more than 1 MiB in places, the start and the end among them), and
    what the system alone can set: its number, and a time that changes with every write, and also with a new mode.
    """
    if not repeatable(path):
        return os.urandom(8).hex()
    if is_url(path):
        return url_signature(path)
    found = os.stat(path)
    glance = _digest(path, found.st_size)
    return [os.path.abspath(path), found.st_size, found.st_mtime_ns, glance, found.st_ino, found.st_ctime_ns]


def content_signature(path: str) -> Any:
    """The size and a hash of all bytes, whatever its name, and even if it was copied or touched since.

    What is behind a URL is not read for it: its signature is that of its server.
    """
    if is_url(path):
        return url_signature(path)
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16))
        return [file.tell(), digest.hexdigest()]


def _digest(path: str, size: int) -> str:
    """A hash of a small file, or of parts of a large one."""
    places = [(0, size)]
    if size > PARTS * PART:
        places = [(i * (size - PART) // (PARTS - 1), PART) for i in range(PARTS)]
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb", buffering=0) as file:
        for place, length in places:
            digest.update(os.pread(file.fileno(), length, place))
    return digest.hexdigest()


def open_file(path: str) -> Any:
    """A file, here or behind a URL, as its bytes are."""
    return open_url(path) if is_url(path) else open(path, "rb")


@contextmanager
def _plain(path: str) -> Iterator[Any]:
    """Open a file and unpack it, whatever its name says: compression is known by the first bytes."""
    with open_file(path) if repeatable(path) else nullcontext(_once(path)) as raw:
        start = raw.peek(4)[:4]
        if start in ARCHIVES:
            raise ValueError(f"{shown(path)}: is {ARCHIVES[start]}; unpack it, or save it as text")
        if start[:2] == GZIP:
            with gzip.GzipFile(fileobj=raw) as file, _sound(path, EOFError, gzip.BadGzipFile, zlib.error):
                yield file
        elif start == ZSTD:
            zstd = _zstd(path)
            with zstd.ZstdFile(raw) as file, _sound(path, EOFError, zstd.ZstdError):
                yield file
        else:
            yield raw


def peek(path: str, size: int = 1 << 16, enough: Callable[[bytes], bool] = lambda start: b"\n" in start) -> bytes:
    """The first bytes of a file, unpacked; those of standard input and of pipes stay there to be read.

    Of these only as much is waited for as is ``enough``, by default a line.
    """
    if repeatable(path):
        with _plain(path) as file:
            return bytes(file.read(size))
    return _unpacked(path, _once(path).peek_some(size, enough), size)


def _unpacked(path: str, start: bytes, size: int) -> bytes:
    """The beginning of a file, unpacked."""
    if start[:2] == GZIP:
        with _sound(path, zlib.error):
            return zlib.decompressobj(31).decompress(start, size)
    if start[:4] == ZSTD:
        zstd = _zstd(path)
        with _sound(path, zstd.ZstdError):
            return bytes(zstd.ZstdDecompressor().decompress(start, size))
    return start


def check_json_lines(path: str) -> None:
    """Raise where a file that should have an object a line is one array of them."""
    if peek(path).removeprefix(MARK).lstrip()[:1] == b"[":
        raise ValueError(f"{shown(path)}: {ARRAY}")


class _Once(io.BufferedIOBase):
    """A stream that can be read only once, whose start can be seen before."""

    def __init__(self, raw: Any) -> None:
        self._raw, self._seen = raw, b""

    def readable(self) -> bool:
        return True

    def _look(self, enough: Callable[[bytes], bool]) -> bytes:
        while not enough(self._seen):
            more = self._raw.read1(1 << 16)
            if not more:
                break
            self._seen += more
        return self._seen

    def peek(self, size: int = 0) -> bytes:
        return self._look(lambda seen: len(seen) >= size)

    def peek_some(self, size: int, enough: Callable[[bytes], bool]) -> bytes:
        return self._look(lambda seen: len(seen) >= size or enough(seen))

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            self._seen, seen = b"", self._seen
            return seen + bytes(self._raw.read())
        seen, self._seen = self._seen[:size], self._seen[size:]
        return seen + (bytes(self._raw.read(size - len(seen))) if len(seen) < size else b"")

    def read1(self, size: int = -1) -> bytes:
        if not self._seen:
            return bytes(self._raw.read1(size))
        seen, self._seen = (self._seen, b"") if size < 0 else (self._seen[:size], self._seen[size:])
        return seen

    def readinto(self, room: Any) -> int:
        some = self.read(len(room))
        room[: len(some)] = some
        return len(some)


_opened: dict[str, _Once] = {}


def _once(path: str) -> _Once:
    """The one reader of standard input or of a pipe, as long as the path stands for the same one."""
    known = _opened.get(path)
    if known is None or _is_another(path, known):
        if path == STDIN and sys.stdin is None:
            raise ValueError("standard input is closed; name a file")
        _opened[path] = _Once(sys.stdin.buffer if path == STDIN else open(path, "rb"))  # noqa: SIM115
    return _opened[path]


def _is_another(path: str, known: _Once) -> bool:
    if path == STDIN:
        return sys.stdin is not None and known._raw is not sys.stdin.buffer
    try:
        return not os.path.samestat(os.stat(path), os.fstat(known._raw.fileno()))
    except FileNotFoundError:  # one may remove a pipe that is being read
        return False


@contextmanager
def _sound(path: str, *errors: type[Exception]) -> Iterator[None]:
    try:
        yield
    except errors as error:
        raise ValueError(f"{shown(path)}: the compressed file is damaged or cut off ({error}); get it again") from None


def _zstd(path: str) -> Any:
    for name in ("compression.zstd", "backports.zstd"):  # the standard library, from Python 3.14 on, and for older ones
        try:
            return import_module(name)
        except ImportError:
            continue
    raise ImportError(f"{shown(path)}: zstd files need Python 3.14 or the package backports.zstd; install it")
