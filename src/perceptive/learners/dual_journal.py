"""What a dual learns: updates, counts, and the weight of each vector v₀, v₁, … in a prediction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.hypotheses import choose_voter

Floats = NDArray[np.float64]
COUNTS = ("mistakes", "criterion", "made", "radius2")  # what a dual counts per problem


class Updates(NamedTuple):
    """What was learned: rows, rounds, steps per output, margins and τ per problem."""

    row: NDArray[np.int64]
    at: NDArray[np.int64]
    step: Floats
    margin: Floats
    tau: Floats

    @classmethod
    def none(cls, n_outputs: int, n_problems: int) -> Updates:
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, np.zeros((0, n_outputs)), np.zeros((0, n_problems)), np.zeros((0, n_problems)))

    def of(self, which: NDArray[np.int64]) -> Updates:
        return Updates(self.row[which], self.at[which], self.step[which], self.margin[which], self.tau[which])


class Counts(NamedTuple):
    """The rounds of a dual, and the mistakes and the criterion of each problem."""

    rounds: int
    mistakes: NDArray[np.int64]
    criterion: Floats


def voter_weights(
    survival: NDArray[np.int64], hypothesis: str, open: bool, lengths2: Floats | None, seed: int
) -> Floats:
    """Return the weight of each v_k in the sum that predicts, divided by its length if ``lengths2`` are given.

    An open average credits the last one with one more round.
    """
    if hypothesis == "averaged":
        survival[-1] += open or survival.sum() == 0
        weights: Floats = survival / survival.sum()
    else:
        weights = np.zeros(len(survival))
        weights[choose_voter(hypothesis, survival, seed)] = 1.0
    if lengths2 is not None:
        lengths = np.sqrt(np.maximum(lengths2, 0.0))
        weights = np.divide(weights, lengths, out=np.zeros_like(weights), where=lengths > 0)
    return weights
