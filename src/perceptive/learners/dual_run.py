"""The run v₀, v₁, … of one problem, as the list of its updates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core

Weights = NDArray[np.float64]


@dataclass
class DualRun:
    """Update u adds ``step[u]``·K(support ``slot[u]``, ·) to the output ``gain[u]`` and takes it from ``loss[u]``.

    ``at[u]`` is the round it happened in, counted from 1; ``length2[u]`` is ‖v_u‖², one more than there are updates.
    """

    slot: list[int] = field(default_factory=list)
    gain: list[int] = field(default_factory=list)
    loss: list[int] = field(default_factory=list)  # −1: none
    step: list[float] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    length2: list[float] = field(default_factory=lambda: [0.0])
    updates: int = 0  # counted also where the run is not written down
    radius2: float = 0.0  # the largest ‖δ‖² of an update

    def survivals(self, rounds: int) -> NDArray[np.int64]:
        """m_k: for how many examples v_k made the prediction, the one it erred on included."""
        ends = np.array([*self.at, rounds], dtype=np.int64)
        return ends - np.array([0, *self.at], dtype=np.int64)

    def votes(self, K: NDArray[Any], start: Weights, rounds: int, joint: bool) -> NDArray[np.int64]:
        """Votes of every v_k, by survival: K is rows × supports, ``start`` the scores under v₀ (and used up)."""
        slot, loss = np.array(self.slot, np.int32), np.array(self.loss, np.int32)
        gain = np.array(self.gain, np.int32) if joint else np.zeros(len(slot), np.int32)
        votes = np.empty(start.shape, np.int64)
        step = np.array(self.step, np.float64)
        _core.dual_votes(K, slot, gain, loss, step, self.survivals(rounds), joint, start, votes)
        return votes

    def voter_weights(self, hypothesis: str, rounds: int, normalized: bool, seed: int) -> Weights:
        """How much each v_k counts in the sum that predicts."""
        survival = self.survivals(rounds)
        if hypothesis == "averaged":
            weights = survival / max(1, rounds) if rounds else np.eye(1, len(survival), len(survival) - 1)[0]
        else:
            weights = np.zeros(len(survival))
            weights[self._one(hypothesis, survival, seed)] = 1.0
        if normalized:
            lengths = np.sqrt(np.maximum(self.length2, 0.0))
            weights = np.divide(weights, lengths, out=np.zeros_like(weights), where=lengths > 0)
        return weights

    def _one(self, hypothesis: str, survival: NDArray[np.int64], seed: int) -> int:
        total = int(survival.sum())
        if hypothesis == "last" or total == 0:
            return len(survival) - 1
        if hypothesis == "best":
            return int(np.argmax(survival))
        drawn = np.random.default_rng(seed).integers(total)
        return int(np.searchsorted(np.cumsum(survival), drawn, side="right"))

    def add_coefficients(self, into: Weights, initial: Weights | None, weights: Weights) -> None:
        """Σ_k weights[k]·v_k, as coefficients of the supports."""
        if initial is not None:
            into[: len(initial)] += weights.sum() * initial
        if self.slot:
            share = np.cumsum(weights[::-1])[::-1][1:] * np.array(self.step)  # update u is part of v_{u+1}, v_{u+2}, …
            slot, loss = np.array(self.slot), np.array(self.loss)
            np.add.at(into, (slot, np.array(self.gain)), share)
            lost = loss >= 0
            np.subtract.at(into, (slot[lost], loss[lost]), share[lost])
