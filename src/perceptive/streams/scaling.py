"""How the numbers of named columns are scaled: a perceptron's steps are as large as its features.

A number x becomes (x − shift)·factor before names are hashed. What is missing stays so: it has no feature, and counts
as 0, which in a column that was centred is the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core

SCALES = ("auto", "standard", "max", None)
FAR_APART = 1e3
FAR_APART_WHEN_FULL = 1e2  # of columns that are seldom 0, as those of tables are
OUTLYING = 1e4  # how often the squares of all other values of a column are in that of one
OUTLYING_SIZE = 10  # times as large as the value at the other end
ENOUGH = 20  # values of a column, to say that one of them is odd


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
        """The shift and the factor of each column, in the form that the core takes."""
        return list(zip(self.names, self.shift, self.factor, strict=True))

    @classmethod
    def from_meta(cls, meta: dict[str, Any] | None) -> Scaling | None:
        return None if meta is None else cls(*(tuple(meta[name]) for name in ("names", "shift", "factor")))


def scaling_of(measures: _core.Measures, how: str, absent_is_zero: bool) -> Scaling:
    """What the columns that were measured ask for.

    "standard" gives dense columns mean 0 and variance 1, and divides the numbers of sparse ones by the root mean square
    of those that are not 0. A column is dense where at least half of the rows have a number in it that is not 0 (all of
    them, where what is absent counts as 0, as in svmlight and VW files); one that says no more than that there is a
    number is not. "max" divides by the largest absolute value.
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


def outlier_of(measures: _core.Measures) -> str | None:
    """What to say of a column of which one value is so large that scaling makes all others alike; None of others."""
    n, nonzero, mean, spread, squares, low, high = measures.table().reshape(-1, 7).T
    dense = 2 * nonzero >= measures.rows
    centre, count = np.where(dense, mean, 0.0), np.where(dense, n, nonzero)
    odd = np.where(high - centre > centre - low, high, low)
    with np.errstate(over="ignore", invalid="ignore"):
        of_one = (odd - centre) ** 2 * np.where(dense, n / np.maximum(n - 1, 1), 1.0)
        alone = of_one >= (1 - 1 / OUTLYING) * np.where(dense, spread, squares)
    alone &= (count >= ENOUGH) & (np.abs(odd) > OUTLYING_SIZE * np.minimum(np.abs(low), np.abs(high)))
    if not alone.any():
        return None
    column = int(alone.argmax())
    said = f"column {measures.names[column]!r} has one value, {odd[column]:g}, so large that scaling makes all its"
    return f"{said} others alike; correct it, or leave its line out"


def sizes_of(measures: _core.Measures) -> str | None:
    """What to say of columns that were measured and differ much; None of others."""
    _, nonzero, _, _, squares, low, high = measures.table().reshape(-1, 7).T
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.sqrt(squares / np.maximum(nonzero, 1))
    full = 2 * nonzero > measures.rows

    def shown(column: int) -> str:
        name = measures.names[column]
        return name if name.isdecimal() else repr(name)

    return told_of_sizes(sizes, full, full & (low != high), shown)


def told_of_sizes(
    sizes: NDArray[np.float64], full: NDArray[np.bool_], varied: NDArray[np.bool_], name: Callable[[int], str]
) -> str | None:
    """What to say of columns that differ much in the root mean square of what is not 0; None of others.

    Much is 10³, and 10² where both columns are seldom 0 (``full``) and the smaller one is not constant (``varied``).
    Sizes that are neither positive nor finite do not count.

    Examples
    --------
    >>> told_of_sizes(np.array([0.15, 2500.0]), np.ones(2, bool), np.ones(2, bool), ["'hue'", "'proline'"].__getitem__)
    "column 'proline' is 16,667 times as large as column 'hue' and drowns it"
    """
    used = np.isfinite(sizes) & (sizes > 0)
    for larger, smaller, times in ((used, used, FAR_APART), (used & full, used & varied, FAR_APART_WHEN_FULL)):
        if larger.any() and smaller.any():
            large, small = int(np.where(larger, sizes, 0.0).argmax()), int(np.where(smaller, sizes, np.inf).argmin())
            if sizes[large] > times * sizes[small]:
                ratio = f"{sizes[large] / sizes[small]:,.0f}"
                return f"column {name(large)} is {ratio} times as large as column {name(small)} and drowns it"
    return None
