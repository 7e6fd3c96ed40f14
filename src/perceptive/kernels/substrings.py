"""Substrings of sequences, counted once: comparing the same sequences again uses the same counts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


class Substrings:
    """The substrings of length n of some sequences, numbered.

    Those of length k + 1 get their numbers from those of length k and the symbol that follows: ``levels`` has for each
    k the pairs that occur, sorted, as one number each.

    Parameters
    ----------
    items : list of str or of tuples of symbols
    n : int
        Length of the substrings.

    Examples
    --------
    >>> found = Substrings(["aab", "ab"], 2)
    >>> (found.counts @ found.count(["aaab"]).T).toarray().tolist()
    [[3.0], [1.0]]
    """

    def __init__(self, items: Sequence[Any], n: int) -> None:
        lengths = _lengths(items)
        self.n = min(n, int(lengths.max(initial=0)) + 1)  # longer substrings occur no more than these: nowhere
        self._strings = all(isinstance(item, str) for item in items)
        self._alphabet: dict[Hashable, int] = {}
        if not self._strings:
            for item in items:
                for symbol in item:
                    self._alphabet.setdefault(symbol, len(self._alphabet))
        number = symbols = self._coded(items)
        self._points = np.zeros(0, np.int64)
        if self._strings:
            self._points, number = np.unique(symbols, return_inverse=True)
            symbols = number
        self._base = int(symbols.max(initial=0)) + 1
        self._levels: list[Numbers] = []
        for k in range(1, self.n):
            pairs = number[: max(0, len(symbols) - k)] * self._base + symbols[k:]
            level, number = np.unique(pairs, return_inverse=True)
            self._levels.append(level)
        self.width = int(number.max(initial=0)) + 1
        self.counts = self._counted(number, lengths)

    def count(self, items: Sequence[Any]) -> Any:
        """How often each of these substrings occurs in other sequences; others that do are left out."""
        symbols = self._coded(items)
        if self._strings:
            symbols = _places(symbols, self._points)
        number = symbols
        for k, level in enumerate(self._levels, start=1):
            before, after = number[: max(0, len(symbols) - k)], symbols[k:]
            number = _places(np.where((before < 0) | (after < 0), -1, before * self._base + after), level)
        return self._counted(number, _lengths(items))

    def _coded(self, items: Sequence[Any]) -> Numbers:
        """Symbols as numbers: code points, or places in the alphabet (−1: not in it)."""
        if self._strings and all(isinstance(item, str) for item in items):
            return code_points(items).astype(np.int64)
        if self._strings:  # symbols of one character are characters
            coded = (ord(s) if isinstance(s, str) and len(s) == 1 else -1 for item in items for s in item)
        else:
            coded = (self._alphabet.get(s, -1) for item in items for s in item)
        return np.fromiter(coded, np.int64)

    def _counted(self, number: Numbers, lengths: Numbers) -> Any:
        """Sequences × substrings, from the number of the substring that begins at each symbol."""
        import scipy.sparse as sp

        many = np.maximum(lengths - self.n + 1, 0)  # substrings of each
        starts, before = np.cumsum(lengths) - lengths, np.cumsum(many) - many
        which = np.repeat(np.arange(len(lengths)), many)
        columns = number[np.arange(len(which)) + np.repeat(starts - before, many)]
        known = columns >= 0
        if not known.all():
            which, columns = which[known], columns[known]
        counts = sp.csr_array((np.ones(len(columns)), (which, columns)), shape=(len(lengths), self.width))
        counts.sum_duplicates()
        return counts


def code_points(items: Sequence[str]) -> NDArray[np.int32]:
    """The characters of all strings, as numbers."""
    return np.frombuffer("".join(items).encode("utf-32-le", "surrogatepass"), dtype="<i4")


def _lengths(items: Sequence[Any]) -> Numbers:
    return np.fromiter(map(len, items), np.int64, len(items))


def _places(values: Numbers, among: Numbers) -> Numbers:
    """Where values stand in a sorted array; −1 where they do not."""
    if len(among) == 0:
        return np.full(len(values), -1, np.int64)
    place = np.minimum(np.searchsorted(among, values), len(among) - 1)
    return np.where(among[place] == values, place, -1)


class Counted:
    """Sequences, and the counts of their substrings once these have been asked for."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self._substrings: dict[int, Substrings] = {}

    def substrings(self, n: int) -> Substrings:
        """Return the substrings of length n."""
        if n not in self._substrings:
            self._substrings[n] = Substrings(self.items, n)
        return self._substrings[n]

    def knows(self, n: int) -> bool:
        """Return whether the substrings of length n have been counted."""
        return n in self._substrings
