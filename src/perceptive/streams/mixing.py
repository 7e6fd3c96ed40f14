"""Blocks from all over the input, so that the order of files, and of lines in a file, does not decide what is learned.

Plain files whose records are lines are laid end to end and cut into `PIECES` parts, and each of these into as many
pieces as there are blocks: a block has one piece of every part, and goes through the parts in steps of about 0.618 of
their length. So files are mixed in proportion to their size, and every block of a sorted file has the labels of the
whole. Where pieces begin and end depends on the bytes alone. Files that must be read from their start (packed files,
pipes, tables, whose quotes may hold line breaks) give whole blocks, in turn and in proportion to their size. At most
64 files are open.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from math import gcd
from typing import Any, NamedTuple, TypeVar

from perceptive import _core
from perceptive.streams import blocks, tables
from perceptive.streams.blocks import Block, Buffers, Piece, check_length, is_packed, repeatable
from perceptive.streams.file_format import FileFormat, Header

PIECES = 16  # of a block
OPEN = 32  # files at most: of the plain ones, and of the others
LEAST = 1 << 12  # bytes of a block where files take turns
RATIO = 4  # how much longer a packed file becomes, about
SLACK = 2048  # bytes that are read beyond the end of a piece at first, where its last line ends
LINES = ("svmlight", "vw", "text", "json")  # formats whose records are lines

T = TypeVar("T")


class Source(NamedTuple):
    """What gives blocks from its start on."""

    size: float  # in proportion to which it is read
    open: Callable[[], Iterator[Any]]


def can_be_cut(path: str, format: str) -> bool:
    """Whether a file can be read from a line in its midst on."""
    return format in LINES and repeatable(path) and os.path.isfile(path) and not is_packed(path)


def estimated_size(path: str) -> int | None:
    """Bytes of a file, unpacked, about; None where nobody knows."""
    if not (repeatable(path) and os.path.isfile(path)):
        return None
    return os.path.getsize(path) * (RATIO if is_packed(path) else 1)


def take_turns(sources: Sequence[Source], length: Callable[[Any], int]) -> Iterator[Any]:
    """What all sources give, each in proportion to its size; `OPEN` are open at a time, in a fixed random order.

    Examples
    --------
    >>> sources = [Source(size, lambda text=text: iter(text)) for size, text in ((2, "ab"), (4, "wxyz"))]
    >>> "".join(take_turns(sources, len))
    'awxbyz'
    """
    waiting = deque(_core.random_order(len(sources), 1).tolist())
    active: dict[int, tuple[float, Iterator[Any]]] = {}  # how much of each has been given
    now = 0.0
    while waiting or active:
        while waiting and len(active) < OPEN:
            number = waiting.popleft()
            active[number] = now, sources[number].open()
        number = min(active, key=lambda one: (active[one][0], one))
        now, given = active[number]
        item = next(given, None)
        if item is None:
            del active[number]
            continue
        active[number] = now + length(item) / max(1.0, sources[number].size), given
        yield item


Span = tuple[int, int, int]  # a file, and where a stretch of it begins and stops: its lines begin there


class _Files:
    """Plain files, laid end to end; `OPEN` of them are open at a time."""

    def __init__(self, paths: Sequence[str], numbers: Sequence[int]) -> None:
        self.paths, self.numbers = paths, numbers
        self.starts = [0, *accumulate(map(os.path.getsize, paths))]
        self._open: dict[int, int] = {}  # the one that was used last is last

    def close(self) -> None:
        while self._open:
            os.close(self._open.popitem()[1])

    def _descriptor(self, file: int) -> int:
        found = self._open.pop(file, None)
        if found is None:
            if len(self._open) == OPEN:
                os.close(self._open.pop(next(iter(self._open))))
            found = os.open(self.paths[file], os.O_RDONLY | os.O_CLOEXEC)
        self._open[file] = found
        return found

    def read(self, spans: Sequence[Span], buffers: Buffers) -> Iterator[Block]:
        """The lines that begin in each span, as one block, or more where lines are long."""
        buffer, filled, pieces, at = buffers.take(1), 0, list[Piece](), 0
        while at < len(spans):
            some = spans[at : at + OPEN]
            descriptors = {file: self._descriptor(file) for file in {file for file, _, _ in some}}
            opened = [(descriptors[file], begin, stop) for file, begin, stop in some]
            taken, filled, found = _core.read_lines(buffer, filled, opened, SLACK)
            pieces += [(begin, self.numbers[some[which][0]], offset) for which, begin, offset in found]
            at += taken
            if filled > blocks.MAX_LINE:
                yield Block(memoryview(buffer)[:filled], 0, buffers, tuple(pieces))
                buffer, filled, pieces = buffers.take(1), 0, []
            elif taken < len(some):  # a line is long
                file, begin, stop = some[taken]
                check_length(self.paths[file], stop, len(buffer) - filled - (stop - begin))
                buffer += bytes(len(buffer) // 4 + SLACK)
        if filled:
            yield Block(memoryview(buffer)[:filled], 0, buffers, tuple(pieces))


def mixed(
    files: Sequence[str],
    format: FileFormat,
    size: int | None,
    begin: Callable[[int, str, Header | None, int], T],
) -> Iterator[tuple[T, Block]]:
    """Blocks of all files, mixed, of about so many bytes.

    ``begin`` is called for each file that is read from its start, with its number, its name, its header and the lines
    of that, and once for all others; what it gives goes with their blocks.
    """
    size = min(size or blocks.BLOCK, tables.SMALL if format.interactions else blocks.BLOCK)
    cut = [number for number, path in enumerate(files) if can_be_cut(path, format.name)]
    whole = [number for number in range(len(files)) if number not in set(cut)]
    sizes = {number: estimated_size(files[number]) for number in range(len(files))}
    known = [one for one in sizes.values() if one is not None]
    unknown = sum(known) / max(1, len(known))  # where nobody knows, as much as of the others
    mean = sum(sizes[number] or unknown for number in whole) / max(1, len(whole))

    def from_start(number: int) -> Iterator[tuple[T, Block]]:
        path, of_mean = files[number], (sizes[number] or unknown) / max(1.0, mean)
        block = max(min(LEAST, size), int(size * of_mean) // min(OPEN, len(whole)))  # a round takes one of each file
        source, header, lines = tables.open(path, format, min(block, size), live=False)
        opened = begin(number, path, header, lines)
        return ((opened, block) for block in source)

    def from_all_over() -> Iterator[tuple[T, Block]]:
        opened = begin(cut[0], files[cut[0]], None, 0)
        return ((opened, block) for block in mixed_lines([files[number] for number in cut], size, cut))

    sources = [Source(sizes[number] or unknown, partial(from_start, number)) for number in whole]
    if cut:
        sources.append(Source(sum(sizes[number] or 0 for number in cut), from_all_over))
    return take_turns(sources, lambda one: len(one[1].text))


def mixed_lines(paths: Sequence[str], size: int, numbers: Sequence[int] | None = None) -> Iterator[Block]:
    """Blocks of about ``size`` bytes of plain files, each with lines from all over them.

    Pieces name the numbers of the files, where these are given.
    """
    files = _Files(paths, numbers or range(len(paths)))
    count = max(1, -(-files.starts[-1] // size))
    step = next(n for n in range(int(0.618 * count) + 1, 2 * count + 2) if gcd(n, count) == 1)
    buffers = Buffers(size + PIECES * SLACK)
    try:
        for number in range(count):
            yield from files.read(_core.mixed_spans(files.starts, number, count, PIECES, step), buffers)
    finally:
        files.close()
