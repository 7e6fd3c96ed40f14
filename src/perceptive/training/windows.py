"""Windows: as many examples as memory holds at a time, drawn from all over the input.

Where all examples fit in memory, they are one window, and an epoch plays them as one that were given as arrays. Else
half of the memory holds the window that is played, and the other half the next one. The blocks of a cache are cut into
strata of as many consecutive blocks as there are windows; every window takes one block of each stratum, by a draw that
is new in every epoch. So each window is a sample of the whole input, whatever its order, and an epoch reads every block
once. Where the labels come in runs, blocks are smaller, so that each window has all labels also if there are many.
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
PARTS = 32  # of the memory: as many bytes of a file are parsed at a time
STORED = 128  # parts of the memory: as many bytes of examples are a block of the cache, so that a window has many
STORED_IN_RUNS = 8 * STORED  # where the labels come in runs
MOST_IN_RUNS = 1 << 16  # of those blocks, about: their places take 400 bytes each
LEAST_STORED = 1 << 14  # bytes of such a block: its place is remembered
TURNS = 32  # rounds at least that a window has of files which must be read from their start, in turns
FEWEST = 1 << 10  # bytes of a block
MOST = 1 << 33  # bytes of a window: its entries are numbered by 32 bits
IN_ORDER = (
    "the input is more than memory holds, and what comes last counts most; if it is sorted, shuffle it, give a file "
    "instead of a pipe, or train for several epochs"
)


class Unit(NamedTuple):
    """Examples that are played together: a window, or a block."""

    ready: Any  # as `Blocks.ready` gives them; None where there is nothing to be learned
    buffer: NDArray[np.uint8] | None = None  # of the cache, that they lie in
    last: bool = False  # whether they are all that there is


def block_sizes(memory: int, read: int) -> tuple[int, int, int]:
    """Bytes that are parsed at a time, of files of so many in all, and bytes of examples that the cache has as a block.

    The last number is for blocks whose labels come in runs. A window should have its share of each class, and so many
    small blocks; what surely fits is one window.
    """
    stored = max(memory // STORED if read > memory // 4 else memory, LEAST_STORED)
    in_runs = max(memory // STORED_IN_RUNS if read > memory // 4 else memory, read // MOST_IN_RUNS, LEAST_STORED)
    return min(blocks.BLOCK, max(memory // PARTS, FEWEST)), stored, min(in_runs, stored)


def with_first(first: Unit, others: Generator[Unit]) -> Generator[Unit]:
    """Units of which the first has been looked at."""
    yield first
    yield from others


def fits(sizes: Sequence[int], memory: int) -> bool:
    """Whether blocks of these sizes are one window."""
    return sum(sizes) <= min(memory, MOST)


def windows(sizes: Sequence[int], memory: int, seed: int) -> list[list[int]]:
    """The blocks of each window of an epoch, from the bytes of each block, and of a window, about.

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
    """The longest run of one label in examples as they come."""

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
        """Warn where the order decides what is learned, as windows have so many examples; else note that it may.

        So it does where one run fills half a window, or a run of each label a whole one. Long runs that come again and
        again, as where files of unequal labels take turns, decide little.
        """
        mean = self._counts.total() / max(1, self._runs)
        long = 2 * self.length >= window or (mean >= 2 and mean * len(self._counts) >= window)
        if len(self._counts) > 1 and long and 4 * self.length >= self._counts[self.label]:
            said = f"{self.length:,} examples in a row have the label {self.label!r}, and memory holds about {window:,}"
            cure = "shuffle the lines, train for several epochs, or allow more memory"
            warnings.warn(OrderMatters(f"{said}: the last ones count most; {cure}"), stacklevel=2)
        else:
            log.remark("order", IN_ORDER)
