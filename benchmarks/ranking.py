"""LinearRanker and its rivals: who finds the best of a list, and how fast. `python benchmarks/ranking.py --help`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import mean, median
from typing import Any

os.environ.update(dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1"))

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

import data
from machine import machine
from perceptive import LinearRanker
from perceptive.data.lists import RankedRows
from perceptive.datasets import zipf_text
from perceptive.evaluation.metrics import ndcg, top1
from perceptive.learners.ranking import RankingLearner
from report import Table, Target, show, write
from timing import Runs, interleave, ratio

OURS = "perceptive averaged"
TARGET = 50e6  # non-zeros a second


@dataclass(frozen=True)
class Lists:
    """Candidates one list after the other, the grade of each, and where lists begin."""

    X: Any
    grades: NDArray[np.float64]
    starts: NDArray[np.int64]

    @property
    def qid(self) -> NDArray[np.int64]:
        """The list of each candidate."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def entries(self) -> int:
        """Numbers stored."""
        return self.X.nnz if sp.issparse(self.X) else self.X.size


@dataclass(frozen=True)
class Task:
    """Lists to learn from and to be judged by."""

    name: str
    train: Lists
    test: Lists

    @property
    def title(self) -> str:
        """With its size."""
        n, width = len(self.train.starts) - 1, self.train.X.shape[1]
        return f"{self.name} ({n:,} lists of {len(self.train.grades) / n:.0f}, {width:,} features)"


# ---------------------------------------------------------------- lists


def cut(name: str, X: Any, scores: NDArray[np.float64], length: int, n_test: int) -> Task:
    """Rows in lists of one length, the highest score being best; the last lists are the test part."""
    n = len(scores) // length
    best = scores[: n * length].reshape(n, length).argmax(axis=1)
    grades = (np.arange(length) == best[:, None]).astype(float).ravel()
    border = (n - n_test) * length
    starts = np.arange(0, n * length + 1, length)
    train = Lists(X[:border], grades[:border], starts[: n - n_test + 1])
    return Task(name, train, Lists(X[border : n * length], grades[border:], starts[: n_test + 1]))


def linear_teacher(n_lists: int, length: int = 20, d: int = 50) -> Task:
    """Dense candidates; the best is the best under a hidden vector, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_lists * length, d)).astype(np.float32)
    scores = X @ rng.normal(size=d) + 2.0 * rng.normal(size=len(X))
    return cut("linear teacher, noisy", X, scores, length, n_lists // 5)


def crooked_teacher(n_lists: int, length: int = 20, d: int = 20) -> Task:
    """Dense candidates; the best is the best under products of features, which no vector sees."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_lists * length, d)).astype(np.float32)
    scores = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) - X[:, 3] ** 2 + 0.5 * X[:, 4]
    return cut("crooked teacher", X, scores, length, n_lists // 5)


def zipf_teacher(n_lists: int, d: int, length: int = 20) -> Task:
    """Text-like candidates; the best has most of the common words that a hidden vector likes."""
    X, _ = zipf_text(n_lists * length, d, mean_length=67.0)
    X = sp.csr_array(X, dtype=np.float32)
    rng = np.random.default_rng(2)
    teacher = rng.normal(size=d) * (rng.random(d) < 0.5)
    teacher[np.argsort(-np.bincount(X.indices, minlength=d))[1024:]] = 0
    return cut("Zipfian text", X, X @ teacher, length, n_lists // 5)


def adult(length: int = 10) -> list[Task]:
    """a9a: one that earns more among nine that do not; each list is drawn at random."""
    parts = []
    for found in data.a9a():
        rng = np.random.default_rng(3)
        for X, y in ((found.X, found.y), (found.X_test, found.y_test)):
            rich, poor = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
            n = len(rich)
            rows = np.empty((n, length), np.int64)
            rows[:, 0] = rng.permutation(rich)
            rows[:, 1:] = rng.choice(poor, size=(n, length - 1))
            rows = rng.permuted(rows, axis=1)
            grades = np.isin(rows, rich).astype(float).ravel()
            matrix = sp.csr_array(sp.csr_array(X)[rows.ravel()], dtype=np.float32)
            parts.append(Lists(matrix, grades, np.arange(0, n * length + 1, length)))
    return [Task("a9a, one of ten earns more", *parts)] if parts else []


# ---------------------------------------------------------------- learners

Scorer = Callable[[Any], NDArray[np.float64]]


def ours(lists: Lists, seed: int, **parameters: Any) -> Scorer:
    """A ranker, ten passes at most."""
    ranker = LinearRanker(random_state=seed, **parameters).fit(lists.X, lists.grades, qid=lists.qid)
    return lambda X: X @ ranker.coef_


def xgboost(lists: Lists, seed: int) -> Scorer:
    """XGBoost's rank:ndcg with its defaults, on one thread."""
    from xgboost import XGBRanker

    model = XGBRanker(objective="rank:ndcg", n_jobs=1, random_state=seed)
    model.fit(lists.X, lists.grades, qid=lists.qid)
    return model.predict


def svm_on_pairs(lists: Lists, seed: int) -> Scorer:
    """LinearSVC on the differences of the best and each other candidate, half of them turned round."""
    best = np.flatnonzero(lists.grades)
    size = np.diff(lists.starts)
    mine = np.repeat(best, size - 1)
    others = np.flatnonzero(lists.grades == 0)
    sign = np.where(np.arange(len(mine)) % 2, 1, -1)
    differences = lists.X[mine] - lists.X[others]
    if sp.issparse(differences):
        differences = sp.csr_array(sp.diags_array(sign.astype(np.float32)) @ differences)
    else:
        differences = differences * sign[:, None]
    weights = LinearSVC(fit_intercept=False, random_state=seed).fit(differences, sign).coef_[0]
    return lambda X: X @ weights


LEARNERS: dict[str, Callable[[Lists, int], Scorer]] = {
    OURS: ours,
    "perceptive pa1 averaged": partial(ours, rule="pa1", C=0.01),
    "perceptive, all pairs": partial(ours, pairs="all"),
    "LinearSVC on pairs": svm_on_pairs,
    "XGBoost rank:ndcg": xgboost,
}


# ---------------------------------------------------------------- measuring


def compare(task: Task, repetitions: int) -> tuple[Table, dict[str, Runs]]:
    """Time each learner's whole `fit`, and see how often the best is on top."""
    test = task.test

    def look(score: Scorer) -> tuple[float, float]:
        scores = np.asarray(score(test.X), np.float64)
        return top1(test.grades, scores, test.starts), ndcg(test.grades, scores, test.starts, 10)

    jobs = {name: partial(learner, task.train) for name, learner in LEARNERS.items() if available(name)}
    runs = interleave(jobs, repetitions, look)
    table = Table(task.title, ["learner", "fit, s", "our averaged / this", "top-1, %", "NDCG@10"])
    for name, one in runs.items():
        table.rows.append((
            name,
            f"{one.median:.3f}",
            f"{ratio(runs[OURS], one):.3f}",
            f"{100 * mean(seen[0] for seen in one.seen):.2f}",
            f"{mean(seen[1] for seen in one.seen):.4f}",
        ))  # fmt: skip
    return table, runs


def available(name: str) -> bool:
    """Whether a rival is installed."""
    if not name.startswith("XGBoost"):
        return True
    try:
        import xgboost  # noqa: F401
    except ImportError:
        print("xgboost is not installed, so it is left out")
        return False
    return True


def play(dataset: RankedRows, order: NDArray[np.int64], _: int) -> None:
    """One pass."""
    dataset.play(order)


def throughput(tasks: list[Task], repetitions: int) -> tuple[Table, Target]:
    """Non-zeros a second of a pass in the order of the lists and of a shuffled one, all candidates counted."""
    table = Table("A pass of the averaged perceptron", ["set", "million non-zeros a second", "shuffled", "mistakes, %"])
    slowest = float("inf")
    for task in tasks:
        lists = task.train
        order = np.arange(len(lists.starts) - 1)
        shuffled = np.random.default_rng(0).permutation(order)

        dataset = RankingLearner().dataset(lists.X, lists.grades, sizes=np.diff(lists.starts))
        jobs = {"in order": partial(play, dataset, order), "shuffled": partial(play, dataset, shuffled)}
        runs = interleave(jobs, repetitions)
        rates = [lists.entries / median(runs[name].seconds) for name in jobs]
        slowest = min(slowest, *rates)
        rounds = 2 * repetitions * len(order)
        share = dataset.learner.mistakes / rounds
        table.rows.append((task.title, *(f"{rate / 1e6:,.0f}" for rate in rates), f"{100 * share:.1f}"))
    text = "training at 50 million non-zeros a second on one core"
    return table, Target(text, f"at least {slowest / 1e6:,.0f} million", slowest >= TARGET)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sets, few repetitions: to try the script out")
    size.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    options = parser.parse_args()
    n = 500 if options.quick else 4000
    tasks = [linear_teacher(n), crooked_teacher(n), zipf_teacher(n // 4, 2**11), *adult()]
    tables = []
    for task in tasks:
        print(f"{task.title} …", flush=True)
        tables.append(compare(task, 2 if options.quick else 3)[0])
    table, target = throughput([*tasks, zipf_teacher(n, 2**18)], 3 if options.quick else 7)
    tables.append(table)
    show(tables, [target])
    if options.write:
        write("ranking", tables, [target], machine("one core", "numpy", "scipy", "scikit-learn", "xgboost"))


if __name__ == "__main__":
    main()
