"""The files that a command writes: checks that they can be written, and that no two are the same file."""

from __future__ import annotations

import glob
import io
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from perceptive.errors import UsageError, naming_full
from perceptive.file_lock import NO_FILE
from perceptive.whole_file import WholeFile

BUFFER = 1 << 16


def check_paths(
    writes: Iterable[str | None], reads: Iterable[str | None], may_replace: str | None = None, devices: bool = False
) -> None:
    """Raise where a file could not be written later, or would replace another file of the command.

    None stands for a file that is not given; what is read may be a glob, or "-". ``may_replace`` is read before
    anything is written, so that the first of ``writes`` may replace it. ``devices`` can be written to where it is true.
    """
    named = ["/dev/stdin" if path == "-" else path for path in reads if path is not None]
    inputs = [*named, *(one for path in named for one in glob.iglob(path, recursive=True))]
    before: list[str] = []
    for path in filter(None, writes):
        _check_target(path, devices)
        first = not before
        for one in [*inputs, *([] if may_replace is None or first else [may_replace])]:
            if os.path.isfile(one) and same_file(one, path):
                raise UsageError(f"{path}: is one of the files to read, and would be lost; give another name")
        if any(same_file(one, path) for one in before):
            raise UsageError(f"{path}: is to be written twice, and one of the two would be lost; give another name")
        before.append(path)


def expand_there(paths: Sequence[str]) -> list[str]:
    """List the files that paths and globs name; raise where one does not exist, before its name says a format."""
    from perceptive.streams.blocks import STDIN, expand
    from perceptive.streams.remote import is_url

    files = expand(paths)
    for path in files:
        if path != STDIN and not is_url(path):
            os.stat(path)
    return files


def same_file(one: str, other: str) -> bool:
    """Whether two paths are the same file; those that are not there, or no longer, are compared by name."""
    with suppress(OSError):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


def _check_target(path: str, devices: bool) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise ValueError(f"{path}: the folder does not exist; make it first")
    try:
        mode, written = os.stat(path).st_mode, path  # once: another run may remove the file at any time
    except OSError:
        mode, written = stat.S_IFREG, folder
    if stat.S_ISDIR(mode):
        raise ValueError(f"{path}: is a folder; give a file")
    if not stat.S_ISREG(mode) and not devices:
        raise ValueError(f"{path}: {NO_FILE}")
    if not os.access(written, os.W_OK) and os.path.exists(written):
        raise ValueError(f"{path}: cannot be written; check the permissions")


@contextmanager
def output(path: str | None, inputs: Sequence[str], stdout: IO[bytes]) -> Iterator[IO[bytes]]:
    """Standard output, or a file that gets its name when it is complete, and is none of the inputs."""
    if path is None:
        yield stdout
        return
    check_paths([path], inputs, devices=True)
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device
        with naming_full(path), open(path, "wb") as file:
            yield file
        return
    with WholeFile(path) as whole:
        buffered = io.BufferedWriter(whole, BUFFER)
        yield buffered
        buffered.flush()
