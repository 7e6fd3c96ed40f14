"""What many workers would do: a simulation of iterative parameter mixing from measured constants. `--plot` draws it.

An epoch of W workers is

    broadcast(W) + the slowest worker's share of the examples + reduction(W)

Weights of B bytes go out and mixtures of 2B come back (step and spread). Three topologies:

    star     the client sends to, and adds up from, each worker:  W·B/β + W·2B/β
    tree     who has the weights hands them on, pairs add up:     ⌈log₂ W⌉·(λ + B/β), ⌈log₂ W⌉·(λ + 2B/β + 2B/α)
    ring     all-reduce in pieces, as MPI and NCCL do:            2·2B/β·(W − 1)/W + 2·W·λ

with β the bandwidth of a network card, λ the latency of a task (what a scheduler takes to start it), α how fast two
mixtures are added. What is measured is measured here, on one machine; the network and the scheduler are stated.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from perceptive.datasets import zipf_text
from perceptive.learners import LinearLearner
from perceptive.parameters import TrainingParameters
from perceptive.training.loop import InMemory, Run, train
from report import Table

WORKERS = [10, 30, 100, 300, 1000, 3000, 10_000]


@dataclass(frozen=True)
class Constants:
    """What the simulation is made from."""

    example: float  # seconds to play one (measured)
    addition: float  # bytes of mixtures added in a second (measured)
    network: float = 1.25e9  # bytes in a second: 10 Gbit/s (stated)
    task: float = 2e-3  # seconds: Dask's scheduler takes about one for a task, and a round trip (stated)
    schedule: float = 2e-4  # seconds of the scheduler for each task: all pass through it (stated)
    spread: float = 0.1  # standard deviation of the workers' speeds (stated)


def measured(rows: int = 60_000, columns: int = 2**20) -> Constants:
    """Play an epoch and add two mixtures, the best of three."""
    X, y = zipf_text(rows, columns)
    playing, adding = [], []
    for _ in range(3):
        learner = LinearLearner([0, 1], hypothesis="averaged")
        dataset = learner.dataset(X, y, epochs=2)
        start = time.thread_time()
        train(Run.of(learner, TrainingParameters(epochs=2)), InMemory(dataset, True))
        playing.append((time.thread_time() - start) / (2 * rows))
        a, b = np.ones(columns, np.float32), np.ones(columns, np.float32)
        start = time.thread_time()
        for _ in range(20):
            a += b
        adding.append(20 * a.nbytes / (time.thread_time() - start))
    return Constants(min(playing), max(adding))


def epoch(c: Constants, workers: int, examples: float, weights: float, topology: str) -> tuple[float, float, float]:
    """Seconds that the weights, the slowest worker and the mixtures take."""
    size, rounds = 4.0 * weights, math.ceil(math.log2(workers))
    slowest = 1.0 + c.spread * math.sqrt(2 * math.log(workers))  # the largest of so many normal numbers, about
    compute = examples / workers * c.example * slowest + workers * c.schedule
    if topology == "star":
        return workers * size / c.network, compute, workers * (2 * size / c.network + 2 * size / c.addition)
    if topology == "tree":
        out = rounds * (c.task + size / c.network)
        return out, compute, rounds * (c.task + 2 * size / c.network + 2 * size / c.addition)
    around = 2 * size / c.network * (workers - 1) / workers + 2 * workers * 1e-5
    return around, compute - workers * c.schedule, around + 2 * size / c.addition


def simulate(c: Constants, examples: float, weights: float) -> Table:
    """A row for each number of workers; of the topologies the times, and what dominates the tree."""
    rows = []
    for workers in WORKERS:
        times = {name: sum(epoch(c, workers, examples, weights, name)) for name in ("star", "tree", "ring")}
        out, compute, back = epoch(c, workers, examples, weights, "tree")
        first = min(times, key=lambda name: times[name])
        share = f"{(out + back) / (out + compute + back):.0%}"
        rows.append([f"{workers:,}", *(f"{times[name]:.2f} s" for name in times), share, first])
    title = f"{examples:.0e} examples, {weights:,.0f} weights: seconds of an epoch (simulated)"
    return Table(title, ["workers", "star", "tree (ours)", "ring", "of the tree: transfer", "best"], rows)


def plot(c: Constants, path: Path, examples: float, weights: float) -> None:
    """Draw the times of an epoch."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    grid = np.unique(np.geomspace(10, 10_000, 60).astype(int))
    for name, style in (("star", ":"), ("tree", "-"), ("ring", "--")):
        axes.plot(
            grid, [sum(epoch(c, int(w), examples, weights, name)) for w in grid], style, label=f"{name} (simulated)"
        )
    one = examples * c.example
    axes.plot(grid, one / grid, color="grey", linewidth=0.8, label="one worker's measured speed, divided")
    axes.set(xscale="log", yscale="log", xlabel="workers", ylabel="seconds an epoch")
    axes.set_title(f"{examples:.0e} examples, {weights:,.0f} weights in float32", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None}, transparent=True)


def main() -> None:
    """Measure, simulate, print, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, help="where the picture goes, as SVG")
    options = parser.parse_args()
    c = measured()
    print(
        f"measured: {1e6 * c.example:.2f} µs an example of 67 features, {c.addition / 1e9:.1f} GB/s of mixtures added"
    )
    jobs: list[Callable[[], Table]] = [lambda: simulate(c, 1e9, 2**20), lambda: simulate(c, 1e9, 2**26)]
    for job in jobs:
        print(job().markdown(), end="\n\n")
    if options.plot:
        plot(c, options.plot, 1e9, 2**22)


if __name__ == "__main__":
    main()
