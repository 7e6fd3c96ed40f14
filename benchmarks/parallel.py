"""Shards that are mixed, and batches of sentences, beside serial learning: time and accuracy. `make bench-parallel`.

Wall time depends on who else uses the machine. All ways take turns, seed by seed; of each the shortest time counts, and
the load is told. Beside it stands the CPU time of the longest path: what would pass if no thread had to wait for a
processor. The honest figure is the time to the accuracy of serial learning: a column of the tables, and the plot.
"""

from __future__ import annotations

import argparse
import copy
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
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
from ways import Panel, Way, draw, table

Score = Callable[[Any], float]  # per cent on the test part
Make = Callable[[], tuple[Any, list[Any]]]  # a learner that has learned nothing, and its datasets


class Parts:
    """Examples that are mixed several times an epoch: a dataset for each."""

    def __init__(self, datasets: list[Any]) -> None:
        self.datasets = datasets

    def blocks(self, run: Run) -> Iterator[tuple[Any, Any]]:
        """One after the other."""
        yield from ((dataset, np.empty(0, np.int64)) for dataset in self.datasets[run.block :])

    def score(self, learner: Any) -> None:
        """Nothing is held out."""


def play(way: Way, make: Make, epochs: int, score: Score, apart: bool) -> None:
    """Learn against the clock, and score every epoch.

    The clock stands still meanwhile; ``apart``: scoring would change what learning puts off, so it has its own run.
    """
    learner, datasets = make()
    seconds: list[float] = []
    scores: list[float] = []
    stood, idle = 0.0, 0.0  # seconds, and those of the processor, while the clock stood still
    began, cpu = time.perf_counter(), time.process_time()

    def after() -> None:
        nonlocal stood, idle
        now, busy = time.perf_counter(), time.process_time()
        seconds.append(now - began - stood)
        if not apart:
            scores.append(score(learner))
        stood, idle = stood + time.perf_counter() - now, idle + time.process_time() - busy

    runs = learned(way, learner, datasets, epochs, after)
    learner.finish()
    seconds[-1], cpu = time.perf_counter() - began - stood, time.process_time() - cpu - idle
    if apart:
        again, datasets = make()
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


# ---------------------------------------------------------------- rows


def linear(
    seeds: int, rows: int, epochs: int = 8, briefly: bool = False
) -> tuple[list[Table], list[Target], Panel | None]:
    """Sparse rows with 2²⁰ columns; ``briefly``: two shards beside serial learning alone."""
    X, y = zipf_text(rows + rows // 9, 2**20)
    train_X, train_y, test_X, test_y = X[:rows], y[:rows], X[rows:], y[rows:]
    ways = {"serial": Way(), "2 shards": Way(2, 2)}
    if not briefly:
        ways |= {
            "2 shards, 1 thread": Way(2),
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

            play(way, make, epochs, score, apart=True)
    two, serial = ways["2 shards"], ways["serial"]
    fast, good, path = serial.wall / two.wall, two.score - serial.score, min(serial.paths) / min(two.paths)
    title = f"{rows:,} × 2²⁰, {X.nnz / X.shape[0]:.0f} a row, averaged perceptron, {epochs} epochs, {seeds} seeds"
    name = f"linear, {rows:,} rows"
    targets = [
        Target(f"{name}, 2 threads: 1.5 × as fast", f"{fast:.2f} × (by the longest path {path:.2f} ×)", fast >= 1.5),
        Target(f"{name}, 2 shards: within 0.3 points", f"{good:+.2f}", good >= -0.3),
    ]
    if briefly:
        return [table(title, ways, "accuracy")], targets, None
    ways |= rivals((train_X, train_y, test_X, test_y), epochs, seeds)
    for name in ("2 shards", "8 shards"):
        ahead = ways[name].score - ways[f"{name}, one shot"].score
        targets.append(Target(f"{name}: mixing beats one shot", f"{ahead:+.2f}", ahead > 0))
    drawn = ["serial", "2 shards, 1 thread", "2 shards", *(name for name in ways if name in RIVALS)]
    return [table(title, ways, "accuracy")], targets, ("accuracy of rows", ways, drawn)


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
    found = {name: Way(threads=1 + (name != RIVALS[0]), rival=True) for name in RIVALS}
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
    except subprocess.CalledProcessError:
        print("Vowpal Wabbit is not here, and is left out; install perceptive[bench]", file=sys.stderr)
        del found[RIVALS[2]]
    return found


# ---------------------------------------------------------------- sentences


def conll2000(sentences: int | None) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The chunks to learn from, or so many sentences of them, and those to test on."""
    folder = Path(os.environ["PERCEPTIVE_DATA"], "conll2000")
    (X, y), test = (conll.read(next(folder.glob(name))) for name in ("train*", "test*"))
    return (X[:sentences], y[:sentences]), test


def tagger(
    seeds: int, sentences: int | None = None, epochs: int = 10
) -> tuple[list[Table], list[Target], Panel | None]:
    """CoNLL-2000 chunking."""
    (X, y), (test_X, test_y) = conll2000(sentences)
    fresh = SequenceLearner(template="chunking", hypothesis="averaged")
    encoded = fresh.dataset(X, y, epochs=epochs)
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
                learner = copy.deepcopy(fresh)
                learner.parameters = replace(learner.parameters, random_state=seed, batch=way.batch)
                return learner, [encoded.replica(learner)]

            play(way, make, epochs, score, apart=False)
    two, serial = ways["2 shards"], ways["serial"]
    good = {name: way for name, way in ways.items() if way.threads == 2 and way.score >= serial.score - 0.1}
    best = min(good, key=lambda name: good[name].wall, default="2 shards")
    fast, ahead = serial.wall / ways[best].wall, ways[best].score - serial.score
    targets = [
        Target(
            "CoNLL-2000, 2 threads, within 0.1 F1: 1.7 × as fast",
            f"{fast:.2f} × by {best} ({ahead:+.2f} F1)",
            best in good and fast >= 1.7,
        ),
        Target("CoNLL-2000, 2 shards: within 0.1 F1", f"{two.score - serial.score:+.2f}", "2 shards" in good),
    ]
    title = f"CoNLL-2000 chunking, averaged perceptron, {epochs} epochs, {seeds} seeds"
    drawn = ["serial", "2 shards, 1 thread", "2 shards", "batches of 16"]
    return [table(title, ways, "F1")], targets, ("F1 of chunks", ways, drawn)


# ---------------------------------------------------------------- a cluster


def cluster(sentences: int | None = None, epochs: int = 12) -> tuple[list[Table], list[Target], Panel | None]:
    """What an epoch on two worker processes costs beside the playing: rows with 2²⁰ weights in float32, and chunks."""
    import dask.array as da
    import dask.bag as db
    import distributed
    from dask import delayed

    from perceptive import LinearClassifier, SequenceTagger
    from perceptive.training.dask import ClusterDataset

    beside: list[float] = []

    def watched(self: Any, *block: Any) -> Any:
        began = time.perf_counter()
        found = plain(self, *block)
        beside.append(time.perf_counter() - began - found.computing / 2)
        return found

    plain, ClusterDataset.play_block = ClusterDataset.play_block, watched  # type: ignore[method-assign]
    X, y = zipf_text(20_000, 2**20)
    parts = [X[i::4] for i in range(4)]
    blocks = [da.from_delayed(delayed(part), part.shape, X.dtype, meta=parts[0][:0]) for part in parts]
    labels = [da.from_array(y[i::4], chunks=-1) for i in range(4)]
    found = {}
    workers = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with workers, distributed.Client(workers):
        LinearClassifier(shards=2, epochs=epochs, bias=1.0).fit(da.concatenate(blocks), da.concatenate(labels))
        found["20,000 rows, 2²⁰ weights"] = sorted(beside[1:])
        if "PERCEPTIVE_DATA" in os.environ:
            beside.clear()
            bags = [db.from_sequence(part, npartitions=4) for part in conll2000(sentences)[0]]
            SequenceTagger(template="chunking", rule="perceptron", shards=2, epochs=epochs).fit(*bags)
            found["CoNLL-2000 chunking"] = sorted(beside[1:])  # the first encodes the sentences
    rows = [[name, f"{1e3 * times[0]:.0f} ms", f"{1e3 * median(times):.0f} ms"] for name, times in found.items()]
    [middle, *_] = map(median, found.values())
    target = Target(
        "Dask, 2 processes: at most 150 ms an epoch beside the playing", f"{1e3 * middle:.0f} ms", middle <= 0.15
    )
    return [Table("An epoch on a cluster beside the playing", ["", "shortest", "median"], rows)], [target], None


def main() -> None:
    """Measure, print, and write into README.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--plot", type=Path, help="where the picture of accuracy over time goes, as SVG")
    parser.add_argument("--only", choices=["linear", "large", "tagger", "cluster"])
    parser.add_argument("--quick", action="store_true", help="little data, one seed, to try it out; prints only")
    options = parser.parse_args()
    load, seeds = os.getloadavg()[0], 1 if options.quick else options.seeds
    rows, many, sentences = (10_000, 20_000, 500) if options.quick else (180_000, 1_000_000, None)
    tables: list[Table] = []
    targets: list[Target] = []
    panels: list[Panel] = []
    jobs: dict[str, Callable[[], tuple[list[Table], list[Target], Panel | None]]] = {
        "linear": lambda: linear(seeds, rows),
        "large": lambda: linear(seeds, many, briefly=True),
        "tagger": lambda: tagger(seeds, sentences),
        "cluster": lambda: cluster(sentences),
    }
    for name, job in jobs.items():
        if options.only in (None, name) and not (name == "tagger" and "PERCEPTIVE_DATA" not in os.environ):
            some, more, panel = job()
            tables += some
            targets += more
            panels += [] if panel is None else [panel]
    show(tables, targets)
    if options.plot is not None and panels:
        draw(options.plot, panels)
    if not options.quick and options.only is None:
        loads = f"Load of the machine: {load:.1f} before, {os.getloadavg()[0]:.1f} after."
        write("parallel", tables, targets, f"{machine('two cores', 'distributed')} {loads}")


if __name__ == "__main__":
    main()
