"""The supports of a dual: the examples that it has learned from, each content once.

Within a budget of supports, memory and time per example stay bounded: `ForgetOne` and `Projectron` make room when it is
full.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.kernels import Kernel
from perceptive.kernels.examples import contents, in_double, own
from perceptive.kernels.storage import check_fit, examples_from_arrays, examples_to_arrays
from perceptive.state import Arrays, State, array_of

if TYPE_CHECKING:
    from perceptive.learners.dual import Dual
    from perceptive.learners.kernel_values import Floats

Learn = Callable[[], None]
RIDGE = 1e-8  # of the largest K(x, x): keeps the supports' Gram matrix invertible


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


# ---------------------------------------------------------------- within a budget


class ForgetOne:
    """The oldest support (Dekel, Shalev-Shwartz & Singer 2008, without shrinking), or a random one
    (Cavallanti, Cesa-Bianchi & Gentile 2007), gives its place to the new one."""

    def __init__(self, budget: int, seed: int, oldest: bool) -> None:
        self.budget, self.oldest = budget, oldest
        self.rng = np.random.default_rng(seed)
        self.next = 0  # places are filled in order, so the oldest is always the next one round

    def added(self) -> None:
        """Note a support that was added within the budget; does nothing here."""

    def make_room(self, dual: Dual, block: Any, i: int, number: int, step: Floats) -> tuple[Floats, Learn]:
        """Learn example i of a block although the budget is full (`Dual.within_budget`): remove one support."""
        x, others = block.take(slice(i, i + 1)), block.take(slice(i + 1, None))
        slot = self.next if self.oldest else int(self.rng.integers(self.budget, dtype=np.int64))
        lost = dual.K.row(dual.supports.take([slot]), others)[:, None] * dual.alpha[slot]

        def learn() -> None:
            self.next = (slot + 1) % self.budget
            dual.replace(slot, x, number, step)

        return np.asarray(dual.K.row(x, others)[:, None] * step - lost), learn

    def state(self) -> dict[str, Any]:
        """Which support is forgotten next, and the state of the random numbers."""
        whole = self.rng.bit_generator.state
        numbers = (*whole["state"].values(), whole["has_uint32"], whole["uinteger"])
        return {"next": self.next, "random": [str(number) for number in numbers]}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from this state."""
        if state["next"] >= self.budget:
            raise ValueError(f"next is {state['next']}, beyond the budget of {self.budget}")
        self.next = state["next"]
        names = ("state", "inc", "has_uint32", "uinteger")
        found = {name: int(number) for name, number in zip(names, state["random"], strict=True)}
        inner = {name: found.pop(name) for name in ("state", "inc")}
        self.rng.bit_generator.state = {**self.rng.bit_generator.state, "state": inner, **found}


class Projectron:
    """The new example is projected on the span of the supports, which stay (Orabona, Keshet & Caputo 2008).

    φ(x) ≈ Σ_s d_s φ(x_s) with d = G⁻¹k, G the supports' Gram matrix and k their values with x.
    """

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self._double: Dual | None = None  # in float64: what is rounded away here, the inverse would blow up
        self._inverse: NDArray[Any] = np.zeros((0, 0))
        self._block: Any = None  # examples whose values with the supports are in the table
        self._table: NDArray[Any] = np.zeros((0, 0))

    def added(self) -> None:
        """The inverse is made when it is first needed."""
        self._double = self._block = None

    def __getstate__(self) -> dict[str, Any]:
        return {"budget": self.budget}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def state(self) -> None:
        """Empty: the supports contain everything."""

    def restore(self, state: dict[str, Any]) -> None:
        """Does nothing: there is no state."""

    def make_room(self, dual: Dual, block: Any, i: int, number: int, step: Floats) -> tuple[Floats, Learn]:
        """Spread the step over the supports."""
        if self._double is None:
            double = dual.in_double()
            G = double.K(double.supports, double.supports)
            self._inverse = np.linalg.inv(G + RIDGE * float(G.diagonal().max()) * np.eye(len(G)))
            self._double = double  # last: it says that the inverse is there
        d = self._inverse @ self._double.K.row(in_double(block.take(slice(i, i + 1))), self._double.supports)
        spread = np.outer(d, step)
        if self._block is not block:  # the supports stay, so that a block is compared with them once
            table = dual.K(block, dual.supports).T if dual.kernel.one_way else dual.K(dual.supports, block)
            self._table = np.ascontiguousarray(table)
            self._block = block  # last, too
        change = np.zeros((len(block), len(step)))
        _core.dual_scores(self._table, spread, change)

        def learn() -> None:
            dual.alpha[:] += spread
            dual.sums[:] += dual.rounds * spread

        return change[i + 1 :], learn


Forgetting = ForgetOne | Projectron


def forgetting(name: str, budget: int, seed: int) -> Forgetting:
    """Return the method of forgetting with this name."""
    return Projectron(budget) if name == "projectron" else ForgetOne(budget, seed, name == "oldest")
