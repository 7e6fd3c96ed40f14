"""Windows: as many examples as memory holds at a time, drawn from all over the input.

If all examples fit in memory, they are one window, and an epoch plays them like arrays. If not, half of the memory
holds the window that is played, and the other half the next one. The blocks of a cache are divided into strata: runs of
as many consecutive blocks as there are windows. Every window takes one block of each stratum, drawn anew in every
epoch. So each window is a sample of the whole input, whatever its order, and an epoch reads every block once. Where
labels come in runs, blocks are smaller, so that each window has all labels also if there are many.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.labels import Labels
from perceptive.errors import OrderMatters
from perceptive.streams import blocks
from perceptive.streams.parsing import Log
from perceptive.training.loop import hash_seed

MEMORY = 32 << 20  # bytes
PARTS = 32  # memory/PARTS bytes of a file are parsed at a time
STORED = 128  # a block of the cache has memory/STORED bytes of examples, so that a window has many blocks
STORED_IN_RUNS = 8 * STORED  # the same, where labels come in runs
MOST_IN_RUNS = 1 << 16  # of those blocks, about: the places of each take 400 bytes
LEAST_STORED = 1 << 14  # bytes of such a block at least: the place of each is kept in memory
TURNS = 32  # files that must be read from their start take turns, at least so often in a window
FEWEST = 1 << 10  # bytes that are parsed at a time, at least
MOST = 1 << 33  # bytes of a window at most: its entries have 32-bit numbers
IN_ORDER = (
    "the input is more than memory holds, and what comes last counts most; if it is sorted, shuffle it, give a file "
    "instead of a pipe, or train for several epochs"
)


class Unit(NamedTuple):
    """Examples that are played together: a window, or a block."""

    ready: Any  # what `Blocks.ready` returned; None if there is nothing to learn
    buffer: NDArray[np.uint8] | None = None  # of the cache, if their arrays lie in it
    last: bool = False  # whether these are all examples


def block_sizes(memory: int, read: int) -> tuple[int, int, int]:
    """Return how many bytes are parsed at a time, and how many bytes of examples are a block of the cache.

    The last number is for blocks whose labels come in runs; ``read`` are the bytes of all files. A window should have
    its share of each class, so it has many small blocks; files that surely fit in memory need only one.
    """
    stored = max(memory // STORED if read > memory // 4 else memory, LEAST_STORED)
    in_runs = max(memory // STORED_IN_RUNS if read > memory // 4 else memory, read // MOST_IN_RUNS, LEAST_STORED)
    return min(blocks.BLOCK, max(memory // PARTS, FEWEST)), stored, min(in_runs, stored)


def with_first(first: Unit, others: Generator[Unit]) -> Generator[Unit]:
    """Yield the first unit, which was taken from the others, and then these."""
    yield first
    yield from others


def fits(sizes: Sequence[int], memory: int) -> bool:
    """Return whether blocks of these sizes fit in one window."""
    return sum(sizes) <= min(memory, MOST)


def windows(sizes: Sequence[int], memory: int, seed: int) -> list[list[int]]:
    """Return the blocks of each window of an epoch; ``sizes`` are those of the blocks, a window has about ``memory``.

    Examples
    --------
    >>> windows([10] * 6, 20, seed=0)
    [[0, 4], [2, 5], [1, 3]]
    """
    count = min(max(1, -(-sum(sizes) // max(1, min(memory, MOST)))), max(1, len(sizes)))
    found: list[list[int]] = [[] for _ in range(count)]
    for stratum, begin in enumerate(range(0, len(sizes), count)):
        places = _core.random_order(count, hash_seed(seed, stratum))
        for block, place in zip(range(begin, len(sizes)), places.tolist(), strict=False):
            found[place].append(block)
    return [window for window in found if window]


def come_in_runs(which: NDArray[Any]) -> bool:
    """Whether labels change less than half as often as in random order, as those of sorted examples do.

    Examples
    --------
    >>> come_in_runs(np.array([0, 0, 0, 1, 1, 1])), come_in_runs(np.array([0, 1, 1, 0, 1, 0]))
    (True, False)
    """
    shares = np.bincount(which) / len(which)
    return bool(2 * np.count_nonzero(np.diff(which)) <= (len(which) - 1) * (1.0 - shares @ shares))


class LongestRun:
    """The longest run of examples with the same label."""

    def __init__(self) -> None:
        self.length = 0
        self.label: Any = None
        self._counts: Counter[Any] = Counter()  # of all examples, by label
        self._runs = 0
        self._last: Any = None
        self._current = 0

    def note(self, labels: Labels) -> None:
        which: NDArray[np.int64] = labels.which
        if len(which) == 0:
            return
        bounds = np.concatenate([[0], np.flatnonzero(np.diff(which)) + 1, [len(which)]])
        lengths = np.diff(bounds)
        found = [labels.values[i] for i in which[bounds[[0, -2]]]]
        if self._counts and found[0] == self._last:
            lengths[0] += self._current
            self._runs -= 1
        self._runs += len(lengths)
        longest = int(lengths.argmax())
        if lengths[longest] > self.length:
            self.length, self.label = int(lengths[longest]), labels.values[which[bounds[longest]]]
        self._last, self._current = found[1], int(lengths[-1])
        self._counts.update(dict(zip(labels.values, np.bincount(which).tolist(), strict=False)))

    def warn(self, window: int, log: Log) -> None:
        """Warn if the order of the examples decides what is learned, else note that it may.

        ``window`` is the number of examples in a window. The order decides where one run fills half a window, or a run
        of each label a whole one. Long runs that come again and again, such as files with different labels that take
        turns, do little harm.
        """
        mean = self._counts.total() / max(1, self._runs)
        long = 2 * self.length >= window or (mean >= 2 and mean * len(self._counts) >= window)
        if len(self._counts) > 1 and long and 4 * self.length >= self._counts[self.label]:
            said = f"{self.length:,} examples in a row have the label {self.label!r}, and memory holds about {window:,}"
            cure = "shuffle the lines, train for several epochs, or allow more memory"
            warnings.warn(OrderMatters(f"{said}: the last ones count most; {cure}"), stacklevel=2)
        else:
            log.remark("order", IN_ORDER)
