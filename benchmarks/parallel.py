"""Shards that are mixed, and batches of sentences, beside serial learning: time and accuracy. `make bench-parallel`.

Wall time depends on who else uses the machine. All ways take turns, seed by seed; of each the shortest time counts, and
the load is told. Beside it stands the CPU time of the longest path: what would pass if no thread had to wait for a
processor.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

os.environ.update(dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1"))

import numpy as np

from machine import machine
from perceptive.datasets import zipf_text
from perceptive.evaluation.conlleval import evaluate
from perceptive.learners import LinearLearner, SequenceLearner
from perceptive.parameters import TrainingParameters
from perceptive.streams import conll
from perceptive.training.loop import InMemory, Run, train
from perceptive.training.mixing import one_shot
from report import Table, Target, show, write

Score = Callable[[Any], float]  # per cent on the test part


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
    seconds: list[list[float]] = field(default_factory=list)
    scores: list[list[float]] = field(default_factory=list)
    paths: list[float] = field(default_factory=list)  # CPU seconds of the longest path: see `longest_path`

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


class Parts:
    """Examples that are mixed several times an epoch: a dataset for each."""

    def __init__(self, datasets: list[Any]) -> None:
        self.datasets = datasets

    def blocks(self, run: Run) -> Iterator[tuple[Any, Any]]:
        """One after the other."""
        yield from ((dataset, np.empty(0, np.int64)) for dataset in self.datasets[run.block :])

    def score(self, learner: Any) -> None:
        """Nothing is held out."""


def play(way: Way, make: Callable[[], tuple[Any, list[Any]]], epochs: int, score: Score) -> None:
    """Learn once against the clock, and once more, the same, to score every epoch."""
    learner, datasets = make()
    seconds: list[float] = []
    began, cpu = time.perf_counter(), time.process_time()
    runs = learned(way, learner, datasets, epochs, lambda: seconds.append(time.perf_counter() - began))
    learner.finish()
    total, cpu = time.perf_counter() - began, time.process_time() - cpu
    seconds[-1] = total
    again, datasets = make()
    scores: list[float] = []
    learned(way, again, datasets, epochs, lambda: scores.append(score(again)))
    for values in (seconds, scores):
        values += values[-1:] * (epochs - len(values))  # it has converged
    way.seconds.append(seconds)
    way.scores.append(scores)
    way.paths.append(longest_path(way, runs, cpu))


def learned(way: Way, learner: Any, datasets: list[Any], epochs: int, after: Callable[[], None]) -> list[Run]:
    """Play all epochs."""
    source: Any = InMemory(datasets[0], True) if len(datasets) == 1 else Parts(datasets)
    if way.once:
        one_shot(datasets[0], TrainingParameters(epochs=epochs, shards=way.shards))
        after()
        return []
    plan = [(way.serial, 1), (epochs - way.serial, way.shards)]
    runs = []
    for n, shards in plan:
        if n:
            runs.append(Run.of(learner, TrainingParameters(epochs=n, shards=shards, mixing=way.mixing)))
            train(runs[-1], source, after_epoch=lambda _: after(), threads=way.threads)
    return runs


def longest_path(way: Way, runs: list[Run], cpu: float) -> float:
    """CPU seconds that would pass if no thread had to wait for a processor: shards are of one size."""
    if way.shards == 1 or way.once or way.threads == 1:
        return cpu
    spent = [epoch for run in runs for epoch in run.history.seconds]
    apart = sum(epoch["computing"] for epoch in spent)
    return cpu - apart + apart / way.threads


def table(title: str, ways: dict[str, Way], metric: str) -> Table:
    """Time, score, and the time to the score of serial learning."""
    base = ways["serial"]
    rows = []
    for name, way in ways.items():
        until = way.until(base.score - 0.05)
        reached = "not reached" if until is None else f"{until:.2f} s"
        path = "" if way.batch > 1 or not way.paths else f"{min(way.paths):.2f} s"
        rows.append([name, f"{way.wall:.2f} s", f"{base.wall / way.wall:.2f} ×", path, f"{way.score:.2f}", reached])
    return Table(title, ["", "wall", "faster", "CPU of the longest path", metric, "to serial's, less 0.05"], rows)


# ---------------------------------------------------------------- rows


def linear(seeds: int, rows: int, plot: Path | None = None, epochs: int = 8) -> tuple[list[Table], list[Target]]:
    """Sparse rows with 2²⁰ columns."""
    X, y = zipf_text(rows + rows // 9, 2**20)
    train_X, train_y, test_X, test_y = X[:rows], y[:rows], X[rows:], y[rows:]
    ways = {
        "serial": Way(),
        "2 shards, 1 thread": Way(2),
        "2 shards": Way(2, 2),
        "2 shards, μ by mistakes": Way(2, 2, "mistakes"),
        "2 shards, mixed 4 times an epoch": Way(2, 2, mixes=4),
        "first epoch serial, then 2 shards": Way(2, 2, serial=1),
        "2 shards, one shot": Way(2, once=True),
        "8 shards": Way(8, 2),
        "8 shards, one shot": Way(8, once=True),
    }

    def score(learner: Any) -> float:
        learner.finish()
        return 100 * float(np.mean(np.array(learner.predict_many(test_X)) == test_y))

    for seed in range(seeds):
        for way in ways.values():

            def make(way: Way = way, seed: int = seed) -> tuple[Any, list[Any]]:
                learner = LinearLearner([0, 1], hypothesis="averaged", random_state=seed)
                parts = [(train_X[i :: way.mixes], train_y[i :: way.mixes]) for i in range(way.mixes)]
                return learner, [learner.dataset(*part, epochs=epochs) for part in parts]

            play(way, make, epochs, score)
    ways |= rivals((train_X, train_y, test_X, test_y), epochs, seeds)
    two, serial = ways["2 shards"], ways["serial"]
    fast, good, path = serial.wall / two.wall, two.score - serial.score, min(serial.paths) / min(two.paths)
    if plot is not None:
        draw(plot, ways, ["serial", "2 shards, 1 thread", "2 shards", *(name for name in ways if name in RIVALS)])
    targets = [
        Target("linear, 2 threads: 1.5 × as fast", f"{fast:.2f} × (by the longest path {path:.2f} ×)", fast >= 1.5),
        Target("linear, 2 shards: within 0.3 points", f"{good:+.2f}", good >= -0.3),
        *(
            Target(f"{name}: mixing beats one shot", f"{ahead:+.2f}", ahead > 0)
            for name in ("2 shards", "8 shards")
            for ahead in [ways[name].score - ways[f"{name}, one shot"].score]
        ),
    ]
    title = f"{rows:,} × 2²⁰, {X.nnz / X.shape[0]:.0f} a row, averaged perceptron, {epochs} epochs, {seeds} seeds"
    return [table(title, ways, "accuracy")], targets


RIVALS = (
    "scikit-learn, averaged, n_jobs=1",
    "scikit-learn, averaged, n_jobs=2",
    "Vowpal Wabbit (a thread reads, one learns)",
)


def rivals(data: tuple[Any, Any, Any, Any], epochs: int, seeds: int) -> dict[str, Way]:
    """The same rows by others, epoch by epoch. scikit-learn's threads are for more than two classes."""
    from sklearn.linear_model import SGDClassifier

    from rivals.scikit_learn import AVERAGED

    X, y, test_X, test_y = data
    found = {name: Way(threads=1 + (name != RIVALS[0])) for name in RIVALS}
    for seed in range(seeds):
        for name, jobs in zip(RIVALS, (1, 2), strict=False):
            model, way, spent, seconds, scores = SGDClassifier(**AVERAGED, n_jobs=jobs), found[name], 0.0, [], []
            cpu = 0.0
            for epoch in range(epochs):
                model.random_state = seed * epochs + epoch
                began, busy = time.perf_counter(), time.process_time()
                model.partial_fit(X, y, classes=[0, 1])
                spent, cpu = spent + time.perf_counter() - began, cpu + time.process_time() - busy
                seconds.append(spent)
                scores.append(100 * float(model.score(test_X, test_y)))
            way.seconds.append(seconds)
            way.scores.append(scores)
            way.paths.append(cpu)
    try:
        from rivals.vowpal_wabbit import Learned

        with tempfile.TemporaryDirectory() as folder:
            vw = Learned(Path(folder), *data)
            times = [vw.after(passes) for passes in range(1, epochs + 1)]
        found[RIVALS[2]].seconds.append([seconds for seconds, _ in times])
        found[RIVALS[2]].scores.append([score for _, score in times])
    except (ImportError, subprocess.CalledProcessError):
        del found[RIVALS[2]]
    return found


def draw(path: Path, ways: dict[str, Way], names: list[str]) -> None:
    """Accuracy over wall time."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for name in names:
        way = ways[name]
        axes.plot(np.min(way.seconds, axis=0), np.mean(way.scores, axis=0), ".-", label=name, linewidth=1)
    axes.axhline(ways["serial"].score, color="grey", linewidth=0.6)
    axes.set(xscale="log", xlabel="seconds (the shortest of all seeds)", ylabel="accuracy in per cent (their mean)")
    axes.set_title("A point for each epoch; the line is serial learning's in the end", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


# ---------------------------------------------------------------- sentences


def tagger(seeds: int, epochs: int = 10) -> tuple[list[Table], list[Target]]:
    """CoNLL-2000 chunking."""
    folder = Path(os.environ["PERCEPTIVE_DATA"], "conll2000")
    (X, y), (test_X, test_y) = (conll.read(next(folder.glob(name))) for name in ("train*", "test*"))
    ways = {
        "serial": Way(),
        "2 shards, 1 thread": Way(2),
        "2 shards": Way(2, 2),
        "2 shards, μ by mistakes": Way(2, 2, "mistakes"),
        "2 shards, one shot": Way(2, once=True),
        "8 shards": Way(8, 2),
        "8 shards, one shot": Way(8, once=True),
        "batches of 8": Way(1, 2, batch=8),
        "batches of 16": Way(1, 2, batch=16),
        "batches of 32": Way(1, 2, batch=32),
    }

    def score(learner: Any) -> float:
        return float(evaluate(test_y, learner.predict_many(test_X)).f1)

    for seed in range(seeds):
        for way in ways.values():

            def make(way: Way = way, seed: int = seed) -> tuple[Any, list[Any]]:
                how = {"hypothesis": "averaged", "random_state": seed, "batch": way.batch}
                learner = SequenceLearner(template="chunking", **how)
                return learner, [learner.dataset(X, y, epochs=epochs)]

            play(way, make, epochs, score)
    two, serial = ways["2 shards"], ways["serial"]
    best = max((way for way in ways.values() if way.threads == 2), key=lambda way: serial.wall / way.wall)
    fast, good = serial.wall / best.wall, best.score - serial.score
    targets = [
        Target("CoNLL-2000, 2 threads: 1.7 × as fast", f"{fast:.2f} ×", fast >= 1.7),
        Target("CoNLL-2000: within 0.1 F1", f"{good:+.2f}; 2 shards {two.score - serial.score:+.2f}", good >= -0.1),
    ]
    return [table(f"CoNLL-2000 chunking, averaged perceptron, {epochs} epochs, {seeds} seeds", ways, "F1")], targets


# ---------------------------------------------------------------- a cluster


def cluster(epochs: int = 12) -> tuple[list[Table], list[Target]]:
    """What an epoch on two worker processes costs beside the playing, with 2²⁰ weights in float32."""
    import distributed

    from perceptive import LinearClassifier
    from perceptive.training.dask import ClusterDataset

    X, y = zipf_text(20_000, 2**20)
    import dask.array as da

    made = []

    def watched(self: Any, *block: Any) -> Any:
        began = time.perf_counter()
        found = plain(self, *block)
        made.append((time.perf_counter() - began, found.computing / 2))
        return found

    plain, ClusterDataset.play_block = ClusterDataset.play_block, watched  # type: ignore[method-assign]
    parts = [X[i::4] for i in range(4)]
    from dask import delayed

    blocks = [da.from_delayed(delayed(part), part.shape, X.dtype, meta=parts[0][:0]) for part in parts]
    labels = [da.from_array(y[i::4], chunks=-1) for i in range(4)]
    workers = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with workers, distributed.Client(workers):
        LinearClassifier(shards=2, epochs=epochs, bias=1.0).fit(da.concatenate(blocks), da.concatenate(labels))
    beside = sorted(wall - computing for wall, computing in made[1:])
    middle = beside[len(beside) // 2]
    rows = [["shortest", f"{1e3 * beside[0]:.0f} ms"], ["median", f"{1e3 * middle:.0f} ms"]]
    target = Target(
        "Dask, 2 processes: at most 150 ms an epoch beside the playing", f"{1e3 * middle:.0f} ms", middle <= 0.15
    )
    return [Table("An epoch on a cluster beside the playing, 2²⁰ weights", ["", "time"], rows)], [target]


def main() -> None:
    """Measure, print, and write into README.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=180_000)
    parser.add_argument("--plot", type=Path, help="where the picture of accuracy over time goes, as SVG")
    parser.add_argument("--only", choices=["linear", "tagger", "cluster"])
    parser.add_argument("--no-write", action="store_true", help="print only")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    tables: list[Table] = []
    targets: list[Target] = []
    jobs: dict[str, Callable[[], tuple[list[Table], list[Target]]]] = {
        "linear": lambda: linear(options.seeds, options.rows, options.plot),
        "tagger": lambda: tagger(options.seeds),
        "cluster": cluster,
    }
    for name, job in jobs.items():
        if options.only in (None, name) and not (name == "tagger" and "PERCEPTIVE_DATA" not in os.environ):
            some, more = job()
            tables += some
            targets += more
    show(tables, targets)
    if not options.no_write:
        loads = f"Load of the machine: {load:.1f} before, {os.getloadavg()[0]:.1f} after."
        write("parallel", tables, targets, f"{machine('two cores', 'distributed')} {loads}")


if __name__ == "__main__":
    main()
