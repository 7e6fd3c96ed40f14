"""`Way`: a way to learn at the same time, what it took, and how that is told: in a table, and drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

import numpy as np

from report import Table


@dataclass
class Way:
    """A way to learn, and what it took: for each seed the seconds and the score after each epoch."""

    shards: int = 1
    threads: int = 1
    mixing: str = "uniform"
    batch: int = 1
    serial: int = 0  # epochs before the first mix
    mixes: int = 1  # an epoch
    once: bool = False  # mixing in one shot
    rival: bool = False  # by another library
    seconds: list[list[float]] = field(default_factory=list)
    scores: list[list[float]] = field(default_factory=list)
    paths: list[float] = field(default_factory=list)  # CPU seconds of the longest path: see `longest_path`

    def called(self, name: str) -> str:
        """Its name, with the number of threads."""
        return f"{name}, {self.threads} threads" if self.threads > 1 and not self.rival else name

    @property
    def wall(self) -> float:
        """The shortest time of all epochs."""
        return min(one[-1] for one in self.seconds)

    @property
    def score(self) -> float:
        """In the end, the mean of the seeds."""
        return mean(one[-1] for one in self.scores)

    def until(self, score: float) -> float | None:
        """Seconds until the mean of the seeds reaches a score; None: never."""
        epochs = np.mean(self.scores, axis=0)
        at = int(np.argmax(epochs >= score))
        return min(one[at] for one in self.seconds) if epochs[at] >= score else None


Panel = tuple[str, dict[str, Way], list[str]]  # of the plot: what is measured, and which ways are drawn


def table(title: str, ways: dict[str, Way], metric: str) -> Table:
    """Time, score, and the time to the score of serial learning."""
    base = ways["serial"]
    rows = []
    for name, way in ways.items():
        until = way.until(base.score - 0.05)
        reached = "not reached" if until is None else f"{until:.2f} s"
        path = "" if way.batch > 1 or not way.paths else f"{min(way.paths):.2f} s"
        rows.append(
            [way.called(name), f"{way.wall:.2f} s", f"{base.wall / way.wall:.2f} ×", path, f"{way.score:.2f}", reached]
        )
    return Table(title, ["", "wall", "faster", "CPU of the longest path", metric, "to serial's, less 0.05"], rows)


def draw(path: Path, panels: list[Panel]) -> None:
    """Accuracy over wall time."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    figure, every = plt.subplots(1, len(panels), figsize=(6 * len(panels), 4), squeeze=False)
    for axes, (measured, ways, names) in zip(every[0], panels, strict=True):
        for name in names:
            way = ways[name]
            axes.plot(
                np.min(way.seconds, axis=0), np.mean(way.scores, axis=0), ".-", label=way.called(name), linewidth=1
            )
        axes.axhline(ways["serial"].score, color="grey", linewidth=0.6)
        axes.set(
            xscale="log", xlabel="seconds (the shortest of all seeds)", ylabel=f"{measured}, per cent (their mean)"
        )
        axes.set_title("A point for each epoch; the line is serial learning's in the end", fontsize=9)
        axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None}, transparent=True)
