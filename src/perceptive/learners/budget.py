"""A budget of supports, and what makes room when it is full: memory and time per example stay bounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.kernels.examples import in_double

if TYPE_CHECKING:
    from perceptive.learners.dual import Dual
    from perceptive.learners.dual_journal import Floats

Learn = Callable[[], None]
RIDGE = 1e-8  # of the largest K(x, x): keeps the supports' Gram matrix invertible


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
