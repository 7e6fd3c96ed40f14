"""Bytes of files in large blocks that end where lines end: plain, gzip or zstd, by path, by glob, or standard input."""

from __future__ import annotations

import glob
import gzip
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

BLOCK = 1 << 20
STDIN = "-"
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


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


def blocks(path: str, size: int | None = None) -> Iterator[bytes]:
    """Read a file, unpacked, in blocks of about `size` bytes (1 MiB) that end at the end of a line or of the file."""
    size = size or BLOCK
    with _plain(path) as file:
        parts: list[bytes] = []
        while chunk := file.read(size):
            cut = chunk.rfind(b"\n") + 1
            if cut:
                yield b"".join([*parts, chunk[:cut]])
                parts = []
            if cut < len(chunk):
                parts.append(chunk[cut:])
        if parts:
            yield b"".join(parts)


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
