"""How the numbers of named columns are scaled: a perceptron's steps are as large as its features.

A number x becomes (x − shift)·factor before names are hashed. What is missing stays so: it has no feature, and counts
as 0, which in a column that was centred is the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from perceptive import _core

SCALES = ("auto", "standard", "max", None)


@dataclass(frozen=True)
class Scaling:
    """Shift and factor of each column that was measured; other columns stay as they are."""

    names: tuple[str, ...] = ()
    shift: tuple[float, ...] = ()
    factor: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.names) == len(self.shift) == len(self.factor) == len(set(self.names)):
            raise ValueError("scaling needs a shift and a factor for each column, each of them once")

    @property
    def factors(self) -> list[tuple[str, float, float]]:
        """As the core takes them."""
        return list(zip(self.names, self.shift, self.factor, strict=True))

    @classmethod
    def from_meta(cls, meta: dict[str, Any] | None) -> Scaling | None:
        return None if meta is None else cls(*(tuple(meta[name]) for name in ("names", "shift", "factor")))


def scaling_of(measures: _core.Measures, how: str, absent_is_zero: bool) -> Scaling:
    """What the columns that were measured ask for.

    "standard" gives dense columns mean 0 and variance 1, and divides the numbers of sparse ones by the root mean square
    of those that are not 0. A column is dense where at least half of the rows have a number in it that is not 0 (all of
    them, where what is absent counts as 0); one that says no more than that there is a number is not. "max" divides by
    the largest absolute value.

    Parameters
    ----------
    absent_is_zero : bool
        Whether a row without a number has a 0 there: so it is in svmlight and VW files.
    """
    n, nonzero, mean, spread, squares, low, high = measures.table().reshape(-1, 7).T
    largest = np.maximum(np.abs(low), np.abs(high))
    shift, size = np.zeros(len(n)), largest.copy()
    if how == "standard":
        constant, everywhere = low == high, n == measures.rows
        dense = (2 * nonzero >= measures.rows) & (everywhere | ~(constant | absent_is_zero))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            rms, deviation = np.sqrt(squares / np.maximum(nonzero, 1)), np.sqrt(spread / n)
        shift = np.where(dense, np.where(constant, low, mean), 0.0)
        size = np.where(dense, np.where(constant, 1.0, deviation), rms)
    with np.errstate(over="ignore", divide="ignore"):
        sound = np.isfinite(shift) & np.isfinite(size) & np.isfinite(1.0 / size)
        shift, size = np.where(sound, shift, 0.0), np.where(sound, size, largest)
        factor = 1.0 / size
    factor = np.where(np.isfinite(factor), factor, 1.0)
    return Scaling(tuple(measures.names), tuple(shift.tolist()), tuple(factor.tolist()))
