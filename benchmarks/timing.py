"""CPU time of several jobs, taken in turns so that a noisy moment meets them all."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

BUDGET = 20.0  # seconds after which a job is not repeated


@dataclass
class Runs:
    """The repetitions of one job: CPU seconds, and what was seen of each result."""

    seconds: list[float] = field(default_factory=list)
    seen: list[Any] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median time."""
        return median(self.seconds)


def interleave(
    jobs: Mapping[str, Callable[[int], Any]], repetitions: int, look: Callable[[Any], Any] = lambda result: None
) -> dict[str, Runs]:
    """Run every job with the numbers 0, 1, … (seeds), all jobs with one number before any with the next.

    ``look`` sees each result outside the clock; results themselves are not kept.
    """
    runs = {name: Runs() for name in jobs}
    for repetition in range(repetitions):
        for name, job in jobs.items():
            if sum(runs[name].seconds) > BUDGET:
                continue
            gc.collect()
            start = time.process_time()
            result = job(repetition)
            runs[name].seconds.append(time.process_time() - start)
            runs[name].seen.append(look(result))
    return runs


def ratio(a: Runs, b: Runs) -> float:
    """Median of a's time over b's, repetition by repetition."""
    return median(x / y for x, y in zip(a.seconds, b.seconds, strict=False))
