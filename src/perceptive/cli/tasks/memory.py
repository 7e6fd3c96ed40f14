"""Training from examples that are read into memory: kernels, whose supports any of them may become, and sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.cli.tasks.rows import size_of
from perceptive.data.dataset import Dataset
from perceptive.data.labels import Labels
from perceptive.streams.parsing import Log
from perceptive.training.holdout import HoldOut
from perceptive.training.loop import Run

Bools = NDArray[np.bool_]


@dataclass
class MemoryJob:
    """Training from one dataset."""

    learner: Any
    source: Any  # `InMemory`, or one on a cluster
    metric: str  # of the held-out part
    files: Sequence[str]
    log: Log
    counts: dict[str, int]  # as `Job.counts`
    look: Callable[[Any], Dataset]  # makes the dataset again, for a learner that only looks at it
    calibrate: Callable[[Any], None] | None = None  # on the held-out part; votes need no calibration
    cluster: Any = None  # the one whose workers have the examples, if any

    certifies = False
    readings = 0

    def prepare(self, report: Callable[[float], None]) -> None:
        """Do nothing: everything has been read."""

    def done(self, run: Run, played: int) -> float:
        """Return the bytes of the files, times the share of the examples that have been played."""
        return played / max(1, len(self.source.dataset)) * sum(map(size_of, self.files))

    def finished(self, learner: Any) -> Any:
        if self.calibrate is not None and learner.parameters.hypothesis != "voted":
            self.calibrate(learner)
        return learner

    def datasets(self, learner: Any) -> Iterable[Dataset]:
        return [self.look(learner)]

    def close(self) -> None:
        if self.cluster is not None:
            self.source.close()
            self.cluster.__exit__()


def held_out(
    fraction: float, seed: int, files: NDArray[np.int64], labels: Labels | None = None, unit: str = "examples"
) -> Bools:
    """Which examples are held out, as `HoldOut` does it; ``files`` has the number of the file of each."""
    holdout = HoldOut(fraction, seed)
    labels = Labels([None], np.zeros(len(files), np.int64)) if labels is None else labels
    ends = [*np.flatnonzero(np.diff(files)) + 1, len(files)]
    chosen, begin = [np.zeros(0, bool)], 0
    for end in ends:
        chosen.append(holdout.choose(Labels(labels.values, labels.which[begin:end])))
        holdout.next_file()
        begin = end
    holdout.check(unit)
    return np.concatenate(chosen)
