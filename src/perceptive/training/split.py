"""`Split`: which examples of the files are held out, and how many there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from perceptive.streams.cache import Cache
from perceptive.training.blocks import Blocks, Read
from perceptive.training.holdout import Choices, HoldOut


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
        held = self.kind.choose(self.holdout, block)
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
