"""The vectors v₀, v₁, … of one problem in the dual, as the list of the updates that lead from one to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.hypotheses import choose_voter
from perceptive.state import State, array_of

Floats = NDArray[np.float64]
LISTS = {"slot": np.int64, "gain": np.int64, "loss": np.int64, "step": np.float64, "at": np.int64}
ARRAYS = {**LISTS, "length2": np.float64}


class Updates(NamedTuple):
    """What was learned: rows, rounds, steps per output, margins and τ per problem."""

    row: NDArray[np.int64]
    at: NDArray[np.int64]
    step: Floats
    margin: Floats
    tau: Floats

    @classmethod
    def none(cls, n_outputs: int, n_problems: int) -> Updates:
        """No updates."""
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, np.zeros((0, n_outputs)), np.zeros((0, n_problems)), np.zeros((0, n_problems)))

    def of(self, which: NDArray[np.int64]) -> Updates:
        """Some of them."""
        return Updates(self.row[which], self.at[which], self.step[which], self.margin[which], self.tau[which])


class Counts(NamedTuple):
    """Rounds of a dual, and of each problem the mistakes and their criterion."""

    rounds: int
    mistakes: NDArray[np.int64]
    criterion: Floats


@dataclass
class DualJournal:
    """Update u adds ``step[u]``·K(support ``slot[u]``, ·) to the output ``gain[u]`` and takes it from ``loss[u]``.

    ``at[u]`` is the round it happened in, counted from 1; ``length2[u]`` is ‖v_u‖², one more than there are updates.
    """

    slot: list[int] = field(default_factory=list)
    gain: list[int] = field(default_factory=list)
    loss: list[int] = field(default_factory=list)  # −1: none
    step: list[float] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    length2: list[float] = field(default_factory=lambda: [0.0])
    updates: int = 0  # counted also where they are not written down
    radius2: float = 0.0  # the largest ‖δ‖² of an update

    # ------------------------------------------------------------ writing

    def count(self, updates: int, radius2: float) -> None:
        """Count updates, of which the longest δ has this ‖δ‖²."""
        self.updates += updates
        self.radius2 = max(self.radius2, radius2)

    def write(self, slots: NDArray[np.int64], updates: Updates, size: Floats, problem: int, joint: bool) -> None:
        """Write updates down; ``size`` is the ‖δ‖² of each."""
        tau, m, rows = updates.tau[:, problem], updates.margin[:, problem], np.arange(len(slots))
        gain = np.argmax(updates.step, axis=1) if joint else np.full(len(slots), problem)
        self.slot += slots.tolist()
        self.gain += gain.tolist()
        self.loss += (np.argmin(updates.step, axis=1) if joint else np.full(len(slots), -1)).tolist()
        self.step += updates.step[rows, gain].tolist()
        self.at += updates.at.tolist()
        grown = np.cumsum(np.concatenate([self.length2[-1:], 2.0 * tau * m + tau * tau * size]))
        self.length2 += grown[1:].tolist()

    def write_together(self, slots: NDArray[np.int64], step: Floats, at: int, length2: float) -> None:
        """Write down one update of several supports, of one output: what lies between its steps survives no round."""
        n = len(slots)
        self.slot += slots.tolist()
        self.gain += [0] * n
        self.loss += [-1] * n
        self.step += step.tolist()
        self.at += [at] * n
        self.length2 += [length2] * n

    def meet_output(self, place: int) -> None:
        """Renumber the outputs, since a new one came in this place."""
        self.gain = [c + (c >= place) for c in self.gain]
        self.loss = [c + (c >= place) for c in self.loss]

    # ------------------------------------------------------------ reading

    def survivals(self, rounds: int) -> NDArray[np.int64]:
        """m_k: for how many examples v_k made the prediction, the one it erred on included."""
        ends = np.array([*self.at, rounds], dtype=np.int64)
        return ends - np.array([0, *self.at], dtype=np.int64)

    def votes(self, K: NDArray[Any], start: Floats, rounds: int, joint: bool) -> NDArray[np.int64]:
        """Votes of every v_k, by survival: K is rows × supports, ``start`` the scores under v₀ (and used up)."""
        slot, loss = np.array(self.slot, np.int32), np.array(self.loss, np.int32)
        gain = np.array(self.gain, np.int32) if joint else np.zeros(len(slot), np.int32)
        votes = np.empty(start.shape, np.int64)
        step = np.array(self.step, np.float64)
        _core.dual_votes(K, slot, gain, loss, step, self.survivals(rounds), joint, start, votes)
        return votes

    def votes_in_lists(self, K: NDArray[Any], starts: NDArray[np.int64], rounds: int) -> NDArray[np.int64]:
        """Votes of every v_k for the best of each list, by survival: K is candidates × supports."""
        votes = np.zeros(len(K), np.int64)
        slot, step = np.array(self.slot, np.int32), np.array(self.step, np.float64)
        _core.dual_list_votes(K, starts, slot, step, self.survivals(rounds), votes)
        return votes

    def voter_weights(self, hypothesis: str, rounds: int, open: bool, normalized: bool, seed: int) -> Floats:
        """How much each v_k counts in the sum that predicts; an open average credits the last one with a round more."""
        survival = self.survivals(rounds)
        if hypothesis == "averaged":
            survival[-1] += open or rounds == 0
            weights: Floats = survival / survival.sum()
        else:
            weights = np.zeros(len(survival))
            weights[choose_voter(hypothesis, survival, seed)] = 1.0
        if normalized:
            lengths = np.sqrt(np.maximum(self.length2, 0.0))
            weights = np.divide(weights, lengths, out=np.zeros_like(weights), where=lengths > 0)
        return weights

    def add_coefficients(self, into: Floats, initial: Floats | None, weights: Floats) -> None:
        """Σ_k weights[k]·v_k, as coefficients of the supports."""
        if initial is not None:
            into[: len(initial)] += weights.sum() * initial
        if self.slot:
            share = np.cumsum(weights[::-1])[::-1][1:] * np.array(self.step)  # update u is part of v_{u+1}, v_{u+2}, …
            slot, loss = np.array(self.slot), np.array(self.loss)
            np.add.at(into, (slot, np.array(self.gain)), share)
            lost = loss >= 0
            np.subtract.at(into, (slot[lost], loss[lost]), share[lost])

    # ------------------------------------------------------------ files

    def state(self) -> State:
        """The whole state, as plain values and arrays."""
        arrays = {name: np.array(getattr(self, name), dtype) for name, dtype in ARRAYS.items()}
        return State({"updates": self.updates, "radius2": self.radius2}, arrays)

    @classmethod
    def from_state(cls, state: State, supports: int, outputs: int, rounds: int) -> Self:
        """What `state` gave, of a dual with so many supports, outputs and rounds."""
        n = len(array_of(state.arrays, "slot", np.int64, (None,)))
        parts = {name: array_of(state.arrays, name, dtype, (n,)) for name, dtype in LISTS.items()}
        parts["length2"] = array_of(state.arrays, "length2", np.float64, (n + 1,))
        for name, low, high in (("slot", 0, supports), ("gain", 0, outputs), ("loss", -1, outputs)):
            if n and not low <= parts[name].min() <= parts[name].max() < high:
                raise ValueError(f"the journal has a {name} that does not exist")
        at = parts["at"]
        if n and not (at[0] >= 1 and at[-1] <= rounds and (np.diff(at) >= 0).all()):
            raise ValueError("the rounds of the journal are out of order")
        lists: dict[str, Any] = {name: part.tolist() for name, part in parts.items()}
        return cls(**lists, updates=state.meta["updates"], radius2=float(state.meta["radius2"]))
