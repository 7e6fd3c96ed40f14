"""Files behind URLs (``s3://…``, ``gs://…``, ``memory://…``), by fsspec and whatever package knows the protocol."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def is_url(path: str) -> bool:
    """Whether a path names its protocol.

    Examples
    --------
    >>> is_url("s3://bucket/train.svm.gz"), is_url("data/train.svm.gz")
    (True, False)
    """
    return "://" in path


def _system(path: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    try:
        import fsspec
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f"{path}: URLs need the package fsspec; install perceptive[dask]") from None
    try:
        system, within = fsspec.core.url_to_fs(path)
    except (ImportError, ValueError) as error:  # the package of the protocol is not there, or there is none
        raise ValueError(f"{path}: cannot be opened ({error}); install the package for this protocol") from None
    return system, within


def glob_urls(path: str) -> list[str]:
    """The URLs that a pattern matches, sorted."""
    system, within = _system(path)
    return sorted(system.unstrip_protocol(match) for match in system.glob(within))


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Where a file is not there, say so of its URL: fsspec names it only as its file system does."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None


def open_url(path: str) -> io.BufferedReader:
    """A file, to be read from its start."""
    system, within = _system(path)
    with _naming(path):
        return io.BufferedReader(system.open(within, "rb"))


def url_signature(path: str) -> list[Any]:
    """What tells a file from others: its name, size, and what the file system knows it by."""
    system, within = _system(path)
    with _naming(path):
        return [path, system.size(within), str(system.checksum(within))]
