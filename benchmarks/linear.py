"""LinearClassifier against its rivals: speed and accuracy, on one core. `python benchmarks/linear.py --help`."""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from statistics import mean, median, variance
from typing import Any

os.environ.update(dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1"))

import numpy as np
import scipy.sparse as sp

import data
import rivals
from data import Dataset
from machine import machine
from perceptive import LinearClassifier
from report import Table, Target, show, write
from rivals import Rival, ours
from timing import Runs, interleave, ratio

EPOCHS = 5
Score = tuple[float, int]  # accuracy on the test part, epochs played
Results = dict[str, Runs]  # by the name of the learner

AVERAGED, LAST, PA1_AVERAGED = (f"{ours.NAME} {kind}" for kind in ("averaged", "last", "pa1 averaged"))


# ---------------------------------------------------------------- measuring


def compare(dataset: Dataset, learners: Iterable[Rival], repetitions: int, epochs: int = EPOCHS) -> Results:
    """Time each learner's whole `fit`, and score it on the test part."""

    def look(model: Any) -> Score:
        accuracy = float(np.mean(np.asarray(model.predict(dataset.X_test)) == dataset.y_test))
        return accuracy, getattr(model, "n_iter_", epochs)

    jobs: dict[str, Callable[[int], Any]] = {}
    for learner in learners:
        X, y = learner.prepare(dataset.X, dataset.y)
        jobs[learner.name] = partial(learner.fit, X, y, epochs)
    return interleave(jobs, repetitions, look)


def nanoseconds(runs: Runs, entries: int) -> float:
    """Per entry and epoch."""
    return 1e9 * median(s / seen[1] for s, seen in zip(runs.seconds, runs.seen, strict=True)) / entries


def accuracy(runs: Runs) -> float:
    """In per cent, the mean over the seeds."""
    return 100 * mean(seen[0] for seen in runs.seen)


def gain(a: Runs, b: Runs) -> tuple[float, float]:
    """Points of accuracy that a is ahead of b, and the standard error of that over the seeds."""
    n = [len(runs.seen) for runs in (a, b)]
    spread = [100**2 * variance(s[0] for s in runs.seen) if len(runs.seen) > 1 else 0.0 for runs in (a, b)]
    return accuracy(a) - accuracy(b), math.sqrt(sum(v / k for v, k in zip(spread, n, strict=True)))


def epoch_and_dot(dataset: Dataset, repetitions: int, more: int = 20) -> list[tuple[float, float, float]]:
    """Seconds of an epoch of the averaged perceptron, shuffled and in order, and of one X @ w.

    The set-up is left out: the epoch is what ``more`` epochs add to a fit of one. The product is SciPy's sequential
    gather-dot for CSR and BLAS for dense rows.
    """
    X, y = dataset.X, dataset.y
    w = np.random.default_rng(0).normal(size=X.shape[1]).astype(X.dtype)

    def fit(epochs: int, shuffle: bool, seed: int) -> int:
        return LinearClassifier(epochs=epochs, shuffle=shuffle, random_state=seed).fit(X, y).n_iter_

    def dot(_: int) -> int:
        for _ in range(more):
            X @ w
        return more

    jobs: dict[str, Callable[[int], int]] = {"dot": dot}
    for order, shuffle in (("shuffled", True), ("in order", False)):
        jobs |= {f"{order}, long": partial(fit, 1 + more, shuffle), f"{order}, short": partial(fit, 1, shuffle)}
    runs = interleave(jobs, repetitions, lambda played: played)

    def added(order: str) -> Iterable[float]:
        long, short = runs[f"{order}, long"], runs[f"{order}, short"]
        for i, played in enumerate(long.seen):
            yield (long.seconds[i] - short.seconds[i]) / max(1, played - 1)

    return list(zip(added("shuffled"), added("in order"), (s / more for s in runs["dot"].seconds), strict=True))


def import_seconds(statement: str, repetitions: int) -> tuple[float, list[str]]:
    """CPU seconds of an import in a fresh process, and which heavy packages came with it."""
    program = (
        f"import sys, time; start = time.process_time(); {statement}; print(time.process_time() - start, "
        "*[m for m in ('sklearn', 'scipy', 'pandas') if m in sys.modules])"
    )
    answers = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(repetitions)
    ]
    return median(float(seconds) for seconds, *_ in answers), answers[0][1:]


# ---------------------------------------------------------------- tables


def comparison_table(dataset: Dataset, learners: Iterable[Rival], results: Results) -> Table:
    """All learners on one set. The ratios are of our time to theirs: below 1 we are faster."""
    same_kind = {learner.kind: results[learner.name] for learner in ours.RIVALS if learner.name in results}
    table = Table(
        f"{dataset.name} ({dataset.shape})",
        ["learner", "ns per entry and epoch", "fit, s", "our averaged / this", "our same kind / this", "accuracy, %"],
    )
    for learner in learners:
        runs = results[learner.name]
        theirs = not learner.name.startswith(ours.NAME)
        table.rows.append((
            learner.name,
            f"{nanoseconds(runs, dataset.entries):.2f}" if learner.kind != "svm" else "no epochs",
            f"{runs.median:.3f}",
            f"{ratio(results[AVERAGED], runs):.2f}",
            f"{ratio(same_kind[learner.kind], runs):.2f}" if theirs and learner.kind in same_kind else "",
            f"{accuracy(runs):.2f}",
        ))  # fmt: skip
    return table


def classification(
    sets: Iterable[Dataset], learners: list[Rival], repetitions: int
) -> tuple[list[Table], dict[str, Results]]:
    """Parts a, b and d: every learner on every set."""
    tables, results = [], {}
    for dataset in sets:
        print(f"{dataset.name} …", flush=True)
        results[dataset.name] = compare(dataset, learners, repetitions)
        tables.append(comparison_table(dataset, learners, results[dataset.name]))
    return tables, results


def online(sets: Iterable[Dataset], learners: list[Rival], n_rows: int) -> tuple[Table, dict[str, float]]:
    """learn_one over dicts; the ratio is to River's learner of the same kind (our average to River's perceptron)."""
    table = Table(
        f"One example at a time, as dicts (learn_one; one pass over the first {n_rows:,} rows)",
        ["set, learner", "µs per example", "ns per non-zero", "whole set, s", "ours / River", "accuracy, %"],
    )
    ratios = {}
    for dataset in sets:
        print(f"{dataset.name}, one at a time …", flush=True)
        part = dataset.head(n_rows)
        part = Dataset(dataset.name, part.X, part.y, part.X_test[:2000], part.y_test[:2000] > 0)
        results = compare(part, learners, 3, epochs=1)
        river = {learner.kind: learner.name for learner in learners if learner.name.startswith("River")}
        for learner in learners:
            runs, rival = results[learner.name], river[learner.kind.replace("averaged", "last")]
            each = runs.median / len(part.y)
            compared = ratio(runs, results[rival])
            if rival != learner.name:
                ratios[f"{dataset.name}, {learner.kind}"] = compared
            table.rows.append((
                f"{dataset.name}, {learner.name}",
                f"{1e6 * each:.1f}",
                f"{1e9 * runs.median / part.non_zeros:.0f}",
                f"{each * len(dataset.y):.2f}",
                f"{compared:.2f}" if rival != learner.name else "",
                f"{accuracy(runs):.2f}",
            ))  # fmt: skip
    return table, ratios


def against_bare_dot(sets: Iterable[Dataset], repetitions: int) -> tuple[Table, dict[str, float]]:
    """Part c. The target is about gathering, so about sparse rows."""
    table = Table(
        "An epoch of the averaged perceptron and a bare X @ w, ns per entry, on sets that fit the cache",
        ["set", "epoch, shuffled", "epoch, in order", "X @ w", "shuffled / X @ w", "in order / X @ w"],
    )
    ratios = {}
    for dataset in sets:
        print(f"{dataset.name}, bare dot …", flush=True)
        seconds = epoch_and_dot(dataset, repetitions)
        times = [median(column) for column in zip(*seconds, strict=True)]
        shuffled, in_order = (median(s[i] / s[2] for s in seconds) for i in (0, 1))
        cells = [f"{1e9 * t / dataset.entries:.2f}" for t in times]
        table.rows.append((f"{dataset.name} ({dataset.shape})", *cells, f"{shuffled:.2f}", f"{in_order:.2f}"))
        if sp.issparse(dataset.X):
            ratios[dataset.name] = shuffled
    return table, ratios


def imports(repetitions: int) -> tuple[Table, Target]:
    """Part e."""
    table = Table("Import in a fresh process", ["", "CPU, s", "of sklearn, scipy, pandas"])
    measured = {}
    for module in ("numpy", "perceptive", "perceptive.learners", "perceptive.estimators"):
        seconds, heavy = measured[module] = import_seconds(f"import {module}", repetitions)
        table.rows.append((f"`import {module}`", f"{seconds:.3f}", ", ".join(heavy) or "none of the three"))
    extra = measured["perceptive"][0] - measured["numpy"][0]
    heavy = measured["perceptive"][1]
    text = "`import perceptive` within 0.1 s of `import numpy`, without scikit-learn, SciPy, pandas"
    return table, Target(text, f"{extra:+.3f} s, brings in {', '.join(heavy) or 'none'}", extra <= 0.1 and not heavy)


# ---------------------------------------------------------------- targets


def at_most(text: str, limit: float, measured: dict[str, float], show_all: bool = True) -> Target:
    """A target on the largest of some ratios."""
    worst = max(measured, key=measured.__getitem__)
    listed = measured if show_all else [worst]
    cells = ", ".join(f"{measured[name]:.2f} ({name})" for name in listed)
    return Target(text, cells if show_all else f"at worst {cells}", measured[worst] <= limit)


def at_least(text: str, lead: float, pairs: dict[str, tuple[Runs, Runs]]) -> Target:
    """A target on points of accuracy ahead of a rival."""
    gains = {name: gain(a, b) for name, (a, b) in pairs.items()}
    cells = ", ".join(f"{points:+.2f} ± {error:.2f} ({name})" for name, (points, error) in gains.items())
    return Target(text, cells, all(points >= lead for points, _ in gains.values()))


def targets(
    two: dict[str, Results], many: dict[str, Results], dots: dict[str, float], ones: dict[str, float], large: str
) -> list[Target]:
    """What the project asks of its linear learner."""
    everything = two | many
    slowest = {
        f"{name}, {rival}": ratio(results[AVERAGED], runs)
        for name, results in everything.items()
        for rival, runs in results.items()
        if not rival.startswith(ours.NAME)
    }

    def to(results: dict[str, Results], rival: str) -> dict[str, float]:
        return {name: ratio(r[AVERAGED], r[rival]) for name, r in results.items()}

    def ahead(mine: str, rival: str) -> dict[str, tuple[Runs, Runs]]:
        return {name: (r[mine], r[rival]) for name, r in everything.items()}

    perceptron, averaged, pa1 = (f"scikit-learn {kind}" for kind in ("Perceptron", "averaged", "pa1 averaged"))
    on_large = {large: two[large]}
    found = [
        at_most("averaged ≤ 0.55 × scikit-learn's Perceptron, large set", 0.55, to(on_large, perceptron)),
        at_most("averaged ≤ 0.3 × scikit-learn's averaged, large set", 0.3, to(on_large, averaged)),
        at_most("averaged never slower than any rival on any set (fit)", 1.0, slowest, show_all=False),
        at_most("an epoch ≤ 1.3 × a bare sequential gather-dot, sets that fit the cache", 1.3, dots),
        at_most("averaging costs ≤ 10 % over last (ratio ≤ 1.10)", 1.1, to(everything, LAST)),
        at_most("10 to 20 classes, joint ≤ 0.2 × scikit-learn's one-vs-rest", 0.2, to(many, perceptron)),
        at_least("accuracy: averaged at least scikit-learn's averaged", 0.0, ahead(AVERAGED, averaged)),
        at_least("accuracy: averaged within 0.3 points of scikit-learn's pa1 averaged", -0.3, ahead(AVERAGED, pa1)),
        at_least("accuracy: pa1 averaged within 0.3 points of the same", -0.3, ahead(PA1_AVERAGED, pa1)),
    ]
    if ones:
        found.insert(3, at_most("never slower than River (learn_one)", 1.0, ones))
    return found


# ---------------------------------------------------------------- the run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sets, few repetitions: to try the script out")
    size.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    options = parser.parse_args()
    quick = options.quick

    few, some, several = (2, 2, 3) if quick else (3, 5, 15)  # repetitions

    learners = ours.RIVALS + rivals.load(rivals.SPEED)
    in_epochs = [learner for learner in learners if learner.kind != "svm"]
    river = rivals.load(rivals.ONLINE)

    a9a = data.a9a()
    digits = data.digits().head(5000 if quick else 60_000)
    as_given = digits.map(f"{digits.name} even/odd as given", lambda X: X, lambda y: y % 2)
    even_odd = as_given.map(f"{digits.name} even/odd", data.scaled)
    dense = digits.map(f"{digits.name} 10 classes, dense", data.scaled)
    csr = digits.map(f"{digits.name} 10 classes, CSR", data.sparse)
    large = data.zipf("Zipf large", *((20_000, 2**17, 2000) if quick else (500_000, 2**20, 50_000)))
    small = data.zipf("Zipf small", 10_000, 2**14, 1000)
    classes = data.zipf_classes(*((5000, 2**15, 1000) if quick else (60_000, 2**17, 10_000)), 20)

    tables: list[Table] = []
    two: dict[str, Results] = {}
    for sets, contenders, repetitions in (
        (a9a, learners, several),
        ([even_odd, large], learners, some),
        ([as_given], in_epochs, some),  # the SVM would take minutes: the pixels are not scaled
    ):
        more, results = classification(sets, contenders, repetitions)
        tables, two = tables + more, two | results
    more, many = classification([dense, csr, classes], in_epochs, few)
    tables += more

    ones: dict[str, float] = {}
    if river:
        table, ones = online([*a9a, even_odd, large], river, 500 if quick else 5000)
        tables.append(table)
    part = even_odd.head(5000)
    in_cache = [*a9a, small, part.map(f"{digits.name} even/odd, CSR", data.sparse), part]
    table, dots = against_bare_dot(in_cache, several)
    tables.append(table)
    table, import_target = imports(several)
    tables.append(table)

    found = [*targets(two, many, dots, ones, large.name), import_target]
    show(tables, found)
    if options.write:
        packages = ("numpy", "scipy", "scikit-learn", "liblinear-official", "river")
        write("linear", tables, found, machine("one core", *packages))


if __name__ == "__main__":
    main()
