"""Kernels and KernelClassifier: speed and accuracy. `python benchmarks/kernels.py --help`."""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import data
from data import Dataset
from machine import machine
from perceptive import KernelClassifier
from perceptive.kernels import Gaussian, Polynomial, Subsequence, SubsetTree, vectors
from perceptive.processors import processors
from report import Table, Target, show, write


def seconds(job: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall and CPU seconds of a job (the CPU time counts all threads), and its result."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = job()
    return time.perf_counter() - wall, time.process_time() - cpu, result


# ---------------------------------------------------------------- MNIST


Pairs = list[tuple[Any, Any]]


def products(pairs: Pairs) -> None:
    """Matrix products, and nothing else."""
    for A, B in pairs:
        A @ B.T


def noted(fit: Callable[[], Any]) -> Pairs:
    """The arrays whose products a fit made."""
    pairs: Pairs = []
    made = vectors.dots

    def dots(A: Any, B: Any) -> Any:
        pairs.append((A.array, B.array))
        return made(A, B)

    vectors.dots = dots
    try:
        fit()
    finally:
        vectors.dots = made
    return pairs


def one_pass(mnist: Dataset, repetitions: int) -> tuple[Table, list[Target]]:
    """One epoch of the ten one-vs-rest problems beside its matrix products, in turns."""

    def fit() -> KernelClassifier:
        kernel = Polynomial(degree=4)
        return KernelClassifier(kernel=kernel, multiclass="ovr", epochs=1, shuffle=False).fit(mnist.X, mnist.y)

    pairs = noted(fit)
    before = [(A, B) for A, B in pairs if not np.may_share_memory(A, B)]
    jobs = {
        "fit": fit,
        "its matrix products alone": lambda: products(pairs),
        "of these, blocks with the supports before them": lambda: products(before),
    }
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for _ in range(repetitions):
        for name, job in jobs.items():
            runs[name].append(seconds(job)[:2])
    table = Table(
        f"{mnist.name}, (x·x' + 1)⁴, one epoch in order, one-vs-rest", ["", "wall, s", "CPU, s", "fit / this, CPU"]
    )
    ratios = {}
    for name, took in runs.items():
        ratios[name] = [median(f[k] / t[k] for f, t in zip(runs["fit"], took, strict=True)) for k in (0, 1)]
        cells = [f"{median(t[k] for t in took):.2f}" for k in (0, 1)]
        table.rows.append((name, *cells, f"{ratios[name][1]:.2f}"))
    wall, cpu = ratios["its matrix products alone"]
    targets = [Target("one epoch ≤ 1.25 × its matrix products", f"{wall:.2f} wall, {cpu:.2f} CPU", cpu <= 1.25)]
    return table, targets


def against_svc(mnist: Dataset) -> tuple[Table, list[Target]]:
    """scikit-learn's SVC on all examples; its own scale of x·x' does better than ours for it."""
    from sklearn.svm import SVC

    def measured(model: Any) -> tuple[float, float, float]:
        """CPU seconds of fit and predict, and the error in per cent."""
        fit = seconds(lambda: model.fit(mnist.X, mnist.y))[1]
        _, predict, predicted = seconds(lambda: model.predict(mnist.X_test))
        return fit, predict, 100 * float(np.mean(predicted != mnist.y_test))

    table = Table("Beside SVC(kernel='poly', degree=4, coef0=1)", ["", "fit, CPU s", "predict, CPU s", "error, %"])
    found = {}
    for name, model in (
        ("SVC", SVC(kernel="poly", degree=4, coef0=1.0)),
        ("KernelClassifier, 1 epoch", KernelClassifier(kernel=Polynomial(4), multiclass="ovr", epochs=1)),
        ("KernelClassifier, 3 epochs", KernelClassifier(kernel=Polynomial(4), multiclass="ovr", epochs=3)),
    ):
        print(f"  {name} …", flush=True)
        fit, predict, error = found[name] = measured(model)
        table.rows.append((name, f"{fit:.1f}", f"{predict:.1f}", f"{error:.2f}"))
    theirs, one, three = found.values()
    return table, [
        Target("one epoch ≤ 0.1 × SVC's fit", f"{one[0] / theirs[0]:.3f} (CPU)", one[0] <= 0.1 * theirs[0]),
        Target(
            "three epochs: at least SVC's accuracy", f"{three[2]:.2f} % and {theirs[2]:.2f} %", three[2] <= theirs[2]
        ),
    ]


# ---------------------------------------------------------------- strings, trees, Gaussian


def random_texts(n: int, length: int) -> list[str]:
    """Texts of letters and blanks."""
    rng = random.Random(0)
    return ["".join(rng.choice("abcdefghijklmnopqrstuvwxyz      ") for _ in range(length)) for _ in range(n)]


def random_trees(n: int, low: int = 40, high: int = 56) -> list[str]:
    """Binary parse trees of some 48 nodes, in brackets."""
    rng = random.Random(0)

    def grow(depth: int) -> tuple[str, int]:
        if depth == 0 or rng.random() < 0.15:
            return f"({rng.choice('NVDP')} {rng.choice(['the', 'dog', 'cat', 'runs', 'a', 'big', 'sees', 'man'])})", 1
        (left, m), (right, k) = grow(depth - 1), grow(depth - 1)
        return f"({rng.choice(['S', 'NP', 'VP', 'PP'])} {left} {right})", 1 + m + k

    trees: list[str] = []
    while len(trees) < n:
        tree, size = grow(6)
        if low <= size <= high:
            trees.append(tree)
    return trees


def structures(quick: bool) -> tuple[Table, list[Target]]:
    """Gram matrices of strings and trees, and of vectors beside NumPy."""
    n = 100 if quick else 500
    texts, trees = random_texts(n, n), random_trees(n)
    table = Table("Gram matrices", ["", "wall, s", "CPU, s"])
    targets = []
    text_wall, text_cpu, _ = seconds(lambda: Subsequence(4, 0.5).gram(texts, dtype=np.float32))
    table.rows.append((f"Subsequence(4, 0.5), {n} texts of {n}, float32", f"{text_wall:.2f}", f"{text_cpu:.2f}"))
    if quick:
        wall, cpu, _ = seconds(lambda: Subsequence(4, 0.5).gram(texts))
        table.rows.append(("the same, float64", f"{wall:.2f}", f"{cpu:.2f}"))
    runs = [seconds(lambda: SubsetTree(0.5).gram(trees))[:2] for _ in range(5)]
    tree_wall, tree_cpu = (median(run[k] for run in runs) for k in (0, 1))
    table.rows.append((f"SubsetTree, {n} trees of 48 nodes, brackets read", f"{tree_wall:.3f}", f"{tree_cpu:.3f}"))
    targets.append(Target("Subsequence ≤ 7 s", f"{text_wall:.1f} s wall, {text_cpu:.1f} s CPU", text_wall <= 7))
    targets.append(Target("SubsetTree ≤ 0.15 s", f"{tree_wall:.3f} s wall, {tree_cpu:.3f} s CPU", tree_wall <= 0.15))
    X = np.random.default_rng(0).normal(size=(1000 if quick else 5000, 100)).astype(np.float32)

    def bare() -> None:
        K = X @ X.T
        np.exp(K, out=K)

    X *= 0.1  # products that e to the power of does not make infinite
    kernel = Gaussian(gamma=0.5)
    pairs = [(seconds(lambda: kernel.gram(X))[:2], seconds(bare)[:2]) for _ in range(9)]
    ratios = [median(ours[k] / theirs[k] for ours, theirs in pairs) for k in (0, 1)]
    for name, i in (("Gaussian", 0), ("X @ X.T and np.exp of it", 1)):
        walls, cpus = ([pair[i][k] for pair in pairs] for k in (0, 1))
        table.rows.append((f"{name}, {len(X):,} × 100, float32", f"{median(walls):.3f}", f"{median(cpus):.3f}"))
    told = f"{ratios[0]:.2f} wall, {ratios[1]:.2f} CPU"
    targets.append(Target("Gaussian ≤ 1.2 × the product and the exponentials by NumPy", told, ratios[1] <= 1.2))
    return table, targets


def main() -> None:
    """Measure, print, and perhaps write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sets: to try the script out")
    parser.add_argument("--write", action="store_true", help="write the tables into README.md")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--no-svc", action="store_true", help="leave out SVC, which takes minutes")
    options = parser.parse_args()
    mnist = data.digits()
    mnist = mnist.map(mnist.name, data.scaled)
    if options.quick:
        mnist = Dataset("part of MNIST", mnist.X[:2000], mnist.y[:2000], mnist.X_test[:500], mnist.y_test[:500])
    print("strings, trees, vectors …", flush=True)
    grams, targets = structures(options.quick)
    print(f"{mnist.name} …", flush=True)
    passes_table, more = one_pass(mnist, options.repetitions)
    targets += more
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    targets.append(Target("memory ≤ 2 GB", f"{memory:.2f} GB at most", memory <= 2))
    tables = [grams, passes_table]
    if not options.no_svc:
        svc, more = against_svc(mnist)
        tables.append(svc)
        targets += more
    show(tables, targets)
    if options.write:
        on = machine(f"{processors()} cores", "numpy", "scipy", "scikit-learn")
        write("kernels", tables, targets, on)


if __name__ == "__main__":
    main()
