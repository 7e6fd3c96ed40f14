"""`Bins`: the margins s = u·δ of any number of examples under one witness u, in bounded memory.

At a given γ every theorem asks for a sum Σ ω·max(0, 1 − s/γ)^p with p = 1 or 2, which Σω, Σωs and Σωs² over the
margins below γ tell. So margins may lie in bins that keep these sums: where whole bins lie below γ, nothing is lost.
The edges of bins are 2^e·(1 + m/64), each at most RATIO = 1 + 1/64 times the one before; all s ≤ 0 lie below every γ
and are one bin. Each bin keeps its smallest margin, so that the smallest of all is known exactly.

**What is lost.** Let q = 1/γ be the best of all. There is an edge γ' ≤ γ ≤ RATIO·γ', or else γ' is the smallest
positive margin; q' = 1/γ' lies between q and RATIO·q. There 1 − q's ≤ 1 − qs for s ≥ 0, and 1 − q's ≤ RATIO·(1 − qs)
for s < 0, so that neither q nor √Σω·max(0, 1 − qs)² nor Σω·max(0, 1 − qs) grows by more than RATIO. Where γ is more
than 65 times the largest margin, q' = 0 loses no more than that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RATIO = 1 + 1 / 64
_SHIFT = np.int64(52 - 6)  # the exponent and six bits of the fraction number the bins
_SMALLEST = float(np.finfo(np.float64).smallest_normal)  # what is closer to 0 counts as 0: no γ is below
_BEYOND = 64 * 6 + 3  # edges until one is 65 times as large, at least: there 1/(1 − s/γ) ≤ RATIO


@dataclass(frozen=True)
class Bins:
    """Margins, each in a bin of its own or those that are nearly equal together.

    Examples
    --------
    >>> s = np.array([-1.0, 0.5, 1.0, 1.001])
    >>> bins = Bins.of(s).coarse()
    >>> bins.lows.tolist(), bins.sums[0].tolist()
    ([-1.0, 0.5, 1.0], [1.0, 1.0, 2.0])
    >>> float(bins.shortfall().second(1.0)), float((np.maximum(0, 1 - s) ** 2).sum())
    (4.25, 4.25)
    """

    lows: Floats  # the smallest margin of each bin, in rising order
    sums: Floats  # 3 or 6 × bins: their number, Σs and Σs²; Σω, Σωs and Σωs² where a theorem weighs the examples
    exact: bool = True  # whether each margin has a bin of its own
    whole: bool = False  # whether γ is to be the smallest margin, so that no example falls short: all are positive then

    @classmethod
    def of(cls, margins: Floats, weights: Floats | None = None) -> Bins:
        """A bin for each margin; ``weights`` are the ω."""
        order = np.argsort(margins, kind="stable")
        s = margins[order]
        one = np.ones_like(s)
        omegas = [one] if weights is None else [one, weights[order]]
        return cls(s, np.array([term for w in omegas for term in (w, w * s, w * s * s)]))

    def __len__(self) -> int:
        return len(self.lows)

    def coarse(self) -> Bins:
        """Add up what falls into the same bin, by its smallest margin; what is added may be bins already."""
        if len(self) == 0:
            return Bins(self.lows, self.sums, exact=False)
        order = np.argsort(self.lows, kind="stable")
        lows = self.lows[order]
        first = np.flatnonzero(np.diff(_number(lows), prepend=-1))
        return Bins(lows[first], np.add.reduceat(self.sums[:, order], first, axis=1), exact=False)

    def shortfall(self, weighed: bool = False) -> Shortfall:
        """Σ ω·max(0, 1 − q·s)^p, with ω = 1, or as the theorem weighs the examples."""
        sums = self.sums[3:] if weighed else self.sums[:3]
        return Shortfall(self.lows, tuple(np.concatenate([[0.0], np.cumsum(term)]) for term in sums))

    def minimise(self, f: Callable[[Any], Any]) -> float:
        """The q from 0 to 1/(smallest positive margin) with the smallest f.

        It is looked for among all q where the bins are exact, for which f must have no minimum but one; else among
        those at which `Shortfall` is exact, too.
        """
        first = int(np.searchsorted(self.lows, _SMALLEST))
        if first == len(self):
            return 0.0
        smallest = float(self.lows[first])
        if self.whole:
            return 1.0 / smallest
        if self.exact:
            return _golden_section(f, 1.0 / smallest)
        begin, end = _number(self.lows[[first, -1]]).tolist()
        last = int(_number(np.array([np.finfo(np.float64).max]))[0])
        edges = (np.arange(begin + 1, min(end + _BEYOND, last) + 1) << _SHIFT).view(np.float64)
        gamma = np.append(smallest, edges)
        q = 1.0 / gamma
        q = np.append(0.0, np.where(1.0 / q > gamma, np.nextafter(q, np.inf), q))  # so that no bin lies across 1/q
        values = f(q)
        return float(q[np.argmin(np.where(np.isnan(values), np.inf, values))])


def join(parts: Sequence[Bins]) -> Bins:
    """The bins of all parts as one. It matters neither how parts are grouped nor in which order they come."""
    lows = np.concatenate([part.lows for part in parts])
    return Bins(lows, np.concatenate([part.sums for part in parts], axis=1)).coarse()


def _number(margins: Floats) -> NDArray[np.int64]:
    """The number of the bin of each margin, which rises with it; 0 for those that are not positive."""
    return np.where(margins < _SMALLEST, 0, np.abs(margins).view(np.int64) >> _SHIFT)


@dataclass(frozen=True)
class Shortfall:
    """Σ ω·max(0, 1 − q·s)^p over margins, in O(log n) for each q, or each of many."""

    lows: Floats
    sums: tuple[Floats, ...]  # over the bins before: Σω, Σωs, Σωs²

    def _below(self, q: Any) -> Any:
        with np.errstate(divide="ignore"):
            return np.searchsorted(self.lows, np.float64(1.0) / q, side="left")

    def first(self, q: Any) -> Any:
        """Σ ω·max(0, 1 − q·s)."""
        n = self._below(q)
        return np.maximum(0.0, self.sums[0][n] - q * self.sums[1][n])

    def second(self, q: Any) -> Any:
        """Σ ω·max(0, 1 − q·s)²."""
        n = self._below(q)
        w, ws, wss = (total[n] for total in self.sums)
        return np.maximum(0.0, w - 2 * q * ws + q * q * wss)


def _golden_section(f: Callable[[Any], Any], end: float) -> float:
    """The q in [0, end] with the smallest f."""
    low, high = 0.0, end
    ratio = (math.sqrt(5) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    fa, fb = f(a), f(b)
    for _ in range(150):
        if fa <= fb:
            high, b, fb = b, a, fa
            a = high - ratio * (high - low)
            fa = f(a)
        else:
            low, a, fa = a, b, fb
            b = low + ratio * (high - low)
            fb = f(b)
    return min((0.0, end, (low + high) / 2), key=f)
