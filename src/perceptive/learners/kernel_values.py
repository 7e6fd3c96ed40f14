"""What a dual computes with: kernel values K + b² and sums of them; updates, counts, and the weight of each voter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.errors import overflowed
from perceptive.hypotheses import choose_voter

if TYPE_CHECKING:
    from perceptive.kernels import Kernel

ROWS, COLUMNS = 512, 1024  # a tile of kernel values that stays in the cache while it is worked on
Floats = NDArray[np.float64]
COUNTS = ("mistakes", "criterion", "made", "radius2")  # what a dual counts per problem


class KernelValues:
    """K(x, x') + b²."""

    def __init__(self, kernel: Kernel, dtype: Any, bias: float) -> None:
        self.kernel, self.dtype, self.bias2 = kernel, np.dtype(dtype), bias**2

    def __call__(self, A: Any, B: Any) -> NDArray[Any]:
        """K + b² of all pairs."""
        with np.errstate(over="ignore", invalid="ignore"):  # scores that are not finite are refused later
            K = self.kernel.compare(A, B).astype(self.dtype, copy=False)
        if self.bias2:
            K += self.dtype.type(self.bias2)
        return K

    def row(self, x: Any, others: Any) -> Floats:
        """K + b² of one example with others."""
        values = self(others, x)[:, 0] if self.kernel.one_way else self(x, others)[0]
        return values.astype(np.float64)

    def norms(self, A: Any) -> Floats:
        """K(x, x) + b²."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.kernel.norms(A), dtype=np.float64) + self.bias2

    def weighted(self, A: Any, supports: Any, coefficients: Floats) -> Floats:
        """Σ_i coefficients[i]·(K(x_i, a) + b²) for each a and output, tile by tile."""
        out = np.zeros((len(A), coefficients.shape[1]))
        coefficients = np.ascontiguousarray(coefficients)
        for i in range(0, len(A), ROWS):
            rows = A.take(slice(i, i + ROWS))
            for j in range(0, len(coefficients), COLUMNS):
                columns = supports.take(slice(j, j + COLUMNS))
                K = np.ascontiguousarray(self(rows, columns).T) if self.kernel.one_way else self(columns, rows)
                _core.dual_scores(K, coefficients[j : j + COLUMNS], out[i : i + ROWS])
        if not np.isfinite(out).all():
            raise overflowed("scores")
        return out

    def with_supports(self, A: Any, supports: Any) -> NDArray[Any]:
        """K + b² of A × supports, made tile by tile."""
        parts = range(0, len(supports), COLUMNS)
        return np.ascontiguousarray(np.hstack([self(A, supports.take(slice(j, j + COLUMNS))) for j in parts]))


def check_norms(norms: Floats, kernel: Kernel, what: str = "example") -> None:
    """Raise where the K(x, x) of examples cannot be used."""
    # A matrix that was given may be anything; an example with K(x, x) ≤ 0 is then never learned from.
    good = np.isfinite(norms) & ((norms >= 0) | kernel.one_way)
    if not good.all():
        i = int(np.argmin(good))
        raise ValueError(f"K(x, x) of {what} {i} is {norms[i]:g}; a kernel gives finite numbers ≥ 0 there")


def tiles(n: int, width: int) -> Iterator[slice]:
    """Parts of n rows of kernel values with so many others each, which take a few megabytes."""
    rows = max(1, ROWS * COLUMNS // max(1, width))
    yield from (slice(i, i + rows) for i in range(0, n, rows))


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
