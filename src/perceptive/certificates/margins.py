"""What the examples of a run are to a theorem, part by part, in memory that does not grow with their number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from perceptive.certificates.bins import Bins, Floats, join
from perceptive.data.dataset import Margins

EXACT = 2**18  # so many margins are kept one by one; a margin is that of one example, problem and witness
AT_ONCE = 2**14  # margins that are laid in bins together: the arrays that takes stay in the processor's cache
Weigh = Callable[[Margins], Floats]


class Collected:
    """The margins of one problem."""

    def __init__(self, weigh: Weigh | None = None) -> None:
        self.weigh = weigh  # what the theorem weighs each example by; None where by 1
        self.zero_rows = 0  # examples with δ = 0
        self.radius2: float | None = None  # the largest ‖δ‖² that the examples allow, where it is known
        self.weighted, self.certified = False, True  # weights that are not 1; theorems that speak of such examples
        self._parts: list[Margins] = []  # those that wait to be put into bins
        self._bins: dict[str, Bins] = {}
        self._infinite: set[str] = set()

    def add(self, part: Margins) -> int:
        """Take another part; returns how many more margins now wait to be put into bins."""
        part = _with_twins(part)
        self.zero_rows += int(np.count_nonzero(part.lengths2 == 0))
        if len(part.lengths2):
            self.radius2 = max(self.radius2 or 0.0, part.radius2)
        self.weighted |= part.weights is not None and bool((part.weights != 1).any())
        self.certified &= part.certified
        self._infinite |= {name for name, margins in part.margins.items() if not np.isfinite(margins).all()}
        if part.margins:  # without witnesses there is nothing to lay in bins
            self._parts.append(part)
        return sum(map(len, part.margins.values()))

    def fold(self) -> None:
        """Lay the margins that wait in bins, some at a time."""
        for name, margins, weights in self._waiting():
            parts = [self._bins[name]] if name in self._bins else []
            for begin in range(0, max(1, len(margins)), AT_ONCE):
                some = slice(begin, begin + AT_ONCE)
                parts = [join([*parts, Bins.of(margins[some], None if weights is None else weights[some])])]
            [self._bins[name]] = parts
        self._parts.clear()

    def bins(self) -> Iterator[tuple[str, Bins]]:
        """The margins under each witness that has finite ones; in bins where there are many, else one by one."""
        if not self._bins:
            yield from ((name, Bins.of(margins, weights)) for name, margins, weights in self._waiting())
        yield from ((name, bins) for name, bins in self._bins.items() if name not in self._infinite)

    def _waiting(self) -> Iterator[tuple[str, Floats, Floats | None]]:
        """Of each witness that has finite margins so far those that wait, and what the theorem weighs them by."""
        parts, weigh = self._parts, self.weigh
        names = [name for name in parts[0].margins if name not in self._infinite] if parts else []
        weights = np.concatenate([weigh(part) for part in parts]) if weigh is not None and names else None
        yield from ((name, np.concatenate([part.margins[name] for part in parts]), weights) for name in names)


class Collection:
    """The margins of all problems of a run: one by one up to EXACT in all, beyond that in bins."""

    def __init__(self, weigh: Sequence[Weigh | None]) -> None:
        self.problems = [Collected(one) for one in weigh]
        self._waiting, self._folded = 0, False

    def add(self, parts: Iterable[Margins]) -> None:
        """Take what a dataset has for each problem."""
        for problem, part in zip(self.problems, parts, strict=True):
            self._waiting += problem.add(part)
            if self._waiting > EXACT:
                self._fold()

    def finish(self) -> list[Collected]:
        """The margins of each problem, all in bins or none."""
        if self._folded:
            self._fold()
        return self.problems

    def _fold(self) -> None:
        for problem in self.problems:
            problem.fold()
        self._waiting, self._folded = 0, True


def _with_twins(part: Margins) -> Margins:
    """Examples that can err with δ = 0, too, count as a round of their own."""
    if part.twins is None:
        return part

    def add(values: Floats) -> Floats:
        return np.append(values, values[part.twins])

    lengths2 = np.append(part.lengths2, np.zeros(np.count_nonzero(part.twins)))
    margins = {name: add(values) for name, values in part.margins.items()}
    return Margins(margins, lengths2, part.radius2, part.weights, certified=part.certified)
