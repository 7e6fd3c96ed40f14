"""The supports of a dual: the examples that it has learned from, each content once."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.kernels import Kernel
from perceptive.kernels.examples import contents, in_double, own
from perceptive.kernels.storage import check_fit, examples_from_arrays, examples_to_arrays
from perceptive.state import Arrays, State, array_of


class Supports:
    """Examples that were learned from.

    Equal ones are one support ``by_content``; not with the Δ-trick, where each example has its own id feature.
    """

    def __init__(self, by_content: bool) -> None:
        self.by_content = by_content
        self.examples: Any = None  # prepared
        self.ids: list[int] = []  # number of each support in the order of arrival
        self.slot_of: dict[int, int] = {}  # from numbers of examples to supports; several may share one
        self._contents: list[bytes | None] = []  # per support; shorter where they have not been asked for
        self._slot_of_content: dict[bytes, int] = {}

    def __getstate__(self) -> dict[str, Any]:
        # Objects of a copy are others; contents are made again when they are asked for.
        return {**self.__dict__, "_contents": [], "_slot_of_content": {}}

    def __len__(self) -> int:
        return len(self.ids)

    def in_double(self) -> Supports:
        """The same supports, with numbers in float64."""
        twin = copy.copy(self)
        twin.examples = None if self.examples is None else in_double(self.examples)
        return twin

    def slots(self, X: Any, numbers: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The supports that these rows of X are; new ones are added."""
        strange = [i for i in rows.tolist() if int(numbers[i]) not in self.slot_of]
        if strange:
            examples = X.take(np.array(strange))
            new: list[int] = []
            for k, (i, content) in enumerate(zip(strange, self._contents_of(examples), strict=True)):
                slot = self._find(content)
                if slot is None:
                    slot = len(self.ids) + len(new)
                    new.append(k)
                    if content is not None:
                        self._slot_of_content[content] = slot
                    self._contents.append(content)
                self.slot_of[int(numbers[i])] = slot
            if new:
                added = examples if len(new) == len(strange) else examples.take(np.array(new))
                self._add(added, [int(numbers[strange[k]]) for k in new])
        return np.array([self.slot_of[int(numbers[i])] for i in rows.tolist()], dtype=np.int64)

    def _add(self, examples: Any, numbers: list[int]) -> None:
        examples = own(examples)
        if self.examples is None:
            self.examples = examples.take(np.arange(len(numbers)))
        else:
            self.examples.extend(examples)
        self.ids += numbers

    def find(self, x: Any, number: int) -> int | None:
        """The support that an example is, if it is one."""
        slot = self.slot_of.get(number)
        return self._find(self._contents_of(x)[0]) if slot is None else slot

    def _find(self, content: bytes | None) -> int | None:
        return None if content is None else self._slot_of_content.get(content)

    def _contents_of(self, examples: Any) -> list[bytes | None]:
        """What tells examples apart: their contents, or nothing but their numbers where each has its id feature."""
        if not self.by_content:
            return [None] * len(examples)
        if len(self._contents) < len(self.ids):  # of a model that was loaded or copied
            found = contents(self.examples)
            self._slot_of_content = {content: i for i, content in enumerate(found) if content is not None}
            self._contents = found  # last: it says that they are there
        return contents(examples)

    def replace(self, slot: int, x: Any, number: int) -> None:
        """Let an example take the place of a support that is forgotten."""
        content = self._contents_of(x)[0]
        del self.slot_of[self.ids[slot]]
        forgotten = self._contents[slot]
        if forgotten is not None and self._find(forgotten) == slot:
            del self._slot_of_content[forgotten]
        if content is not None:
            self._slot_of_content[content] = slot
        self.examples.put(slot, own(x.take(np.zeros(1, np.int64))))
        self.ids[slot], self._contents[slot] = number, content
        self.slot_of[number] = slot

    # ------------------------------------------------------------ files

    def state(self) -> State:
        """All that they are, as plain values and arrays."""
        arrays: Arrays = {"ids": np.array(self.ids, np.int64)}
        about = None if self.examples is None else examples_to_arrays(self.examples, "supports", arrays)
        return State({"supports": about}, arrays)

    @classmethod
    def from_state(cls, state: State, kernel: Kernel, by_content: bool) -> Supports:
        """What `state` gave; raises ValueError where the kernel does not take them."""
        found = cls(by_content)
        ids = array_of(state.arrays, "ids", np.int64, (None,))
        if (ids < 0).any():
            raise ValueError("ids must not be below 0")
        found.ids = ids.tolist()
        found.slot_of = {number: slot for slot, number in enumerate(found.ids)}
        if len(found.slot_of) != len(ids):
            raise ValueError("ids names a support twice")
        about = state.meta["supports"]
        if about is not None:
            found.examples = examples_from_arrays(about, "supports", state.arrays)
            check_fit(kernel, found.examples)
        if len(ids) != (0 if found.examples is None else len(found.examples)):
            raise ValueError("ids and supports differ in number")
        return found
