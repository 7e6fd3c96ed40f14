"""``perceptive demo``: digits four ways, then a game against the bound."""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from perceptive.certificates import Certificate
from perceptive.cli.options import whole

EXAMPLE = "example: perceptive demo --seed 7"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Learn handwritten digits four ways, and play a separable game against its mistake bound."
    parser.add_argument("--seed", type=whole(0), default=0, help="seed of the shuffling and of the game (default: 0)")


def run(options: argparse.Namespace) -> None:
    console, seed = Console(), options.seed
    console.print("\n[bold]1. Handwritten digits[/] (1,797 images of 8 × 8, ten classes): one run, four hypotheses\n")
    _digits(console, seed)
    console.print("\n[bold]2. The perceptron game[/]: two classes that some vector u separates with margin γ\n")
    _game(console, seed)
    console.print("\nNext: [bold]from perceptive import LinearClassifier[/] — README.md has a page of examples.\n")


def _digits(console: Console, seed: int) -> None:
    from sklearn.datasets import load_digits

    from perceptive.estimators import LinearClassifier

    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order], y[order]
    splits = np.array_split(np.arange(len(y)), 5)
    names = ("last", "best", "averaged", "voted")
    right = dict.fromkeys(names, 0)
    began = time.perf_counter()
    for held_out in track(splits, "five folds", console=console, transient=True):
        train = np.setdiff1d(np.arange(len(y)), held_out)
        clf = LinearClassifier(keep="all", certify=True, random_state=seed).fit(X[train], y[train])
        for name in names:
            right[name] += int((clf.predict(X[held_out], hypothesis=name) == y[held_out]).sum())
    seconds = time.perf_counter() - began

    table = Table("hypothesis", "predicts with", "errors on held-out digits")
    table.columns[2].justify = "right"
    from perceptive.hypotheses import HYPOTHESES

    for name in names:
        table.add_row(name, HYPOTHESES[name].meaning, f"{1 - right[name] / len(y):.2%}")
    console.print(table)
    console.print(f"five-fold cross-validation, ten epochs each, all four at once: {seconds:.2f} s\n")
    console.print("mistakes per epoch, last fold: " + ", ".join(map(str, clf.mistakes_)))
    _say(console, clf.certificate_)


def _game(console: Console, seed: int) -> None:
    from perceptive.certificates import certify
    from perceptive.games import separable_game
    from perceptive.learners import LinearLearner

    X, y, u = separable_game(2000, 20, margin=0.1, radius=1.0, random_state=seed)
    learner = LinearLearner(classes=[-1, 1], bias=0.0)
    marks = {10, 30, 100, 300, 1000, 2000}
    table = Table("examples seen", "mistakes k", "bound (R/γ)²")
    for column in table.columns:
        column.justify = "right"
    bound = (1.0 / 0.1) ** 2
    for i in track(range(len(y)), "playing", console=console, transient=True):
        learner.learn(X[i], y[i])
        if i + 1 in marks:
            table.add_row(f"{i + 1:,}", f"{learner.mistakes}", f"{bound:.0f}")
    console.print(table)
    _say(console, certify(learner, X, y, witness=u))


def _say(console: Console, certificate: Certificate) -> None:
    console.print(f"[green]certificate:[/] {certificate}", highlight=False)
