"""`HoldOut`: which examples are held out, for early stopping and calibration; `Split`: the same for files.

One definition for arrays and files, Python and the command line. The first example of each class in each file is always
learned from. After it, one of every 1/f consecutive examples of the class is held out, chosen by a hash of the seed,
the label and the number of the group. Lists and sentences have one class; an array is one file. The choice depends only
on the order of the file, never on the order in which examples are played.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive.data.fingerprint import hash_label
from perceptive.data.labels import Labels
from perceptive.errors import Parameter, ParameterError
from perceptive.streams.cache import Cache
from perceptive.streams.label_reading import label_of_word
from perceptive.whole_file import UnnamedFile

if TYPE_CHECKING:
    from perceptive.training.blocks import Blocks, Read


class HoldOut:
    """Chooses the held-out examples, block by block.

    Parameters
    ----------
    fraction : float
        Part of the examples to hold out; 0 for none.
    seed : int

    Examples
    --------
    >>> HoldOut(0.25, seed=0).choose(Labels.of(["a"] * 5 + ["b"] * 5)).astype(int).tolist()
    [0, 1, 0, 0, 0, 0, 0, 1, 0, 0]
    """

    def __init__(self, fraction: float, seed: int) -> None:
        self.fraction, self.seed = fraction, seed
        self.examples = self.held = 0
        self._counts: dict[Any, int] = {}
        self._ratio = _ratio_of(fraction) if fraction else (0, 1)

    def __bool__(self) -> bool:
        return self.fraction > 0

    def next_file(self) -> None:
        """Begin the next file."""
        self._counts = {}

    def choose(self, labels: Labels) -> NDArray[np.bool_]:
        """Return which of the next examples of the file are held out."""
        chosen = np.zeros(len(labels.which), bool)
        self.examples += len(chosen)
        if not self.fraction or not len(chosen):
            return chosen
        by_label = np.argsort(labels.which, kind="stable")
        ends = np.cumsum(np.bincount(labels.which, minlength=len(labels.values)))
        for label, rows in zip(labels.values, np.split(by_label, ends[:-1]), strict=True):
            if len(rows):
                before = self._counts.get(label, 0)
                chosen[rows] = self._chosen(hash_label(_canonical(label)), before, before + len(rows))
                self._counts[label] = before + len(rows)
        self.held += int(np.count_nonzero(chosen))
        return chosen

    def _chosen(self, label: int, begin: int, end: int) -> NDArray[np.bool_]:
        """Of the examples of a class with these numbers, in the order of the file."""
        p, q = self._ratio
        place = np.arange(begin, end, dtype=np.int64) - 1  # among those that may be held out
        run = place * p // q
        first = -(-run * q // p)
        length = -(-(run + 1) * q // p) - first
        wanted = first + (_hash(self.seed, label, run) % length.astype(np.uint64)).astype(np.int64)
        chosen: NDArray[np.bool_] = (place >= 0) & (place == wanted)
        return chosen

    def check(self, what: str = "examples") -> None:
        """Raise if no example is held out."""
        if self.fraction and self.held == 0:
            first = "class" if what == "examples" else "file"
            raise ParameterError(
                f"{{}} holds out none of {self.examples} {what}: the first of each {first} is always learned from; "
                f"give more {what}, or hold out more",
                Parameter("validation_fraction", self.fraction),
            )


class Choices:
    """What was held out of each block: bits in a file that has no name, so that memory holds a few bytes per block."""

    def __init__(self) -> None:
        self._file = UnnamedFile()
        self._blocks: list[tuple[int, int]] = []  # offset, examples
        self._end = 0

    def append(self, held: NDArray[np.bool_]) -> None:
        """Add the choice for the next block."""
        bits = np.packbits(held).tobytes()
        self._file.write(bits)
        self._blocks.append((self._end, len(held)))
        self._end += len(bits)

    def read(self, number: int) -> NDArray[np.bool_]:
        """Return which examples of a block are held out."""
        offset, n = self._blocks[number]
        bits = np.frombuffer(os.pread(self._file.fileno(), -(-n // 8), offset), np.uint8)
        return np.unpackbits(bits, count=n).astype(bool)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


class Split:
    """One reading of all blocks, in the order of the files where a part is held out.

    The hold-out has chosen nothing yet; ``dtype`` is that of the values.
    """

    def __init__(self, kind: Blocks, holdout: HoldOut, dtype: np.dtype[Any]) -> None:
        self.kind, self.holdout, self.dtype = kind, holdout, dtype
        self.examples = self.unanswered = 0  # examples or lists with an answer (those held out, too), and those without
        self.rows = 0  # as many as there are examples, or all candidates of the lists
        self._file = 0
        self._choices = Choices() if holdout else None
        self._held_out = Cache(None, {}) if holdout else None

    def note(self, read: Read) -> Any:
        """Count a block and decide what is held out of it; returns what is to be learned from, None at the end."""
        self.unanswered += read.unanswered
        block = read.block
        if block is None:
            return None
        self.examples += len(block)
        self.rows += self.kind.count_rows(block)
        if self._choices is None or self._held_out is None:
            return block
        if read.file != self._file:
            self.holdout.next_file()
            self._file = read.file
        held = self.holdout.choose(self.kind.labels_of(block))
        self._choices.append(held)
        if held.any():
            self._held_out.append(self.kind.for_cache(block.take(np.flatnonzero(held))))
        return block.take(np.flatnonzero(~held))

    def taught(self, block: Any, numbers: Sequence[int]) -> Any:
        """What is to be learned from, of blocks that were noted and are one now."""
        if self._choices is None:
            return block
        return block.take(np.flatnonzero(~np.concatenate([self._choices.read(number) for number in numbers])))

    def held_out(self) -> Iterator[Any]:
        """What is held out, in the order of the files."""
        if self._held_out is not None:
            for number in range(len(self._held_out.blocks)):
                yield self.kind.from_cache(self._held_out.read([number], self.dtype)[0])

    def close(self) -> None:
        for file in (self._choices, self._held_out):
            if file is not None:
                file.close()


def _canonical(label: Any) -> Any:
    """A label as CSV files give it, which have no types: "1" and 1.0 as 1, True as "True".

    Examples
    --------
    >>> [_canonical(label) for label in (1.0, "1", " b", True)]
    [1, 1, 'b', 'True']
    """
    if isinstance(label, bool):
        return str(label)
    if isinstance(label, str):
        label = label_of_word(label.strip(), words=False)
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _hash(seed: int, label: int, run: NDArray[np.int64]) -> NDArray[np.uint64]:
    """64 bits of each run (splitmix64)."""
    mixed = run.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += np.uint64((label ^ (seed * 0xD1342543DE82EF95)) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _ratio_of(fraction: float) -> tuple[int, int]:
    """A fraction as two whole numbers: exact, so that runs have no gaps."""
    from fractions import Fraction  # imports decimal, and few runs hold out examples

    return Fraction(max(fraction, 1e-6)).limit_denominator(10**6).as_integer_ratio()
