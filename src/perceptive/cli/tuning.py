"""``perceptive train --tune``: which rule, and which features of texts, do best on examples that are held out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from perceptive.cli import groups as g
from perceptive.cli.console import table
from perceptive.cli.defaults import fill
from perceptive.cli.options import as_option, given
from perceptive.cli.tasks import Entry
from perceptive.errors import Parameter, UsageError
from perceptive.parameters import LinearParameters, RankingParameters, TrainingParameters
from perceptive.rules import RULES
from perceptive.streams.blocks import expand, repeatable
from perceptive.training.loop import Run, train
from perceptive.training.tuning import (
    PAIRS,
    Choice,
    Trial,
    products,
    rules_among,
    successive_halving,
    with_default,
)

HELD_OUT = 0.1  # of the examples, where nothing else is asked for
TEXTS: list[list[Choice]] = [[{"words": (1, 1)}, {"words": (1, 2)}], [{"idf": False}, {"idf": True}]]
MOST_RULES = 5  # with texts: there are four ways to read them
SHOWN = 10
APART = ("model", "checkpoint", "cluster")  # options that do not go with --tune


def tune(options: argparse.Namespace, entry: Entry) -> list[Trial]:
    """Try choices, give the options the best, and tell what was tried; the best comes first."""
    wrong = [as_option(Parameter(name)) for name in APART if getattr(options, name)]
    if wrong:
        raise UsageError(f"--tune does not go with {', '.join(wrong)}; tune first, then train with what it has chosen")
    if not all(map(repeatable, expand(options.data))):
        raise UsageError("--tune reads the examples many times, a pipe gives them once; write them to a file")
    usual = argparse.Namespace(**vars(options))
    fill(usual, entry, entry.adapter(), ExitStack())
    training = TrainingParameters(**given(usual, TrainingParameters))
    choices = _choices(options, entry)
    default = _default(usual, {name: None for one in choices for name in one})
    tell = None if options.quiet or options.json else lambda said: print(f"tuning: {said}", file=sys.stderr)
    with TemporaryDirectory(prefix="perceptive-tune-") as folder:

        def play(choice: Choice, epochs: int) -> float:
            own = None if epochs == training.epochs else epochs  # in the end as it will be trained
            return _play(options, entry, choice, own, training.validation_fraction or HELD_OUT, folder)

        tried = with_default(choices, default) if choices else []
        trials = successive_halving(tried, play, training.epochs, tell, default)
    for name, value in trials[0].choice.items():
        setattr(options, name, value)
    if tell is not None:
        rows = [[_said(one.choice), one.epochs, f"{one.score:.2%}"] for one in trials[:SHOWN]]
        print(table(rows, ["choice", "epochs", "held out"]), file=sys.stderr)
    return trials


def _said(choice: Choice) -> str:
    shown = {name: f"{v[0]}-{v[1]}" if isinstance(v, tuple) else v for name, v in choice.items()}
    return " ".join(as_option(Parameter(name, value)) for name, value in shown.items())


def _choices(options: argparse.Namespace, entry: Entry) -> list[Choice]:
    """What may be tried: options that the task takes, and that were not given."""
    groups = entry.takes["train"]
    names = next(group.options["rule"]["choices"] for group in groups if "rule" in group.options)
    rules = [one for one in rules_among(names) if one.keys() <= g.names_of(groups)]
    texts: list[list[Choice]] = []
    if "words" in g.names_of(groups) and (options.text or options.text_column):
        texts = [axis for axis in TEXTS if getattr(options, next(iter(axis[0]))) is None]
        rules = [one for one in rules if one.get("C") != 0.01 and one.get("r") != 10.0][:MOST_RULES]
    if options.rule is not None:
        rules = [{name: v for name, v in one.items() if name != "rule"} for one in rules if one["rule"] == options.rule]
    rules = [one for one in rules if all(getattr(options, name) is None for name in one)]
    if "pairs" in g.names_of(groups) and options.pairs is None:
        texts.append([*PAIRS])
    return products(rules or [{}], *texts) if rules or texts else []


def _default(usual: argparse.Namespace, names: Iterable[str]) -> Choice:
    """What is taken where nothing is tuned, of these options."""
    values = {name: getattr(usual, name) for name in names}
    declared = {**LinearParameters.defaults, **RankingParameters.defaults}
    values = {name: declared.get(name) if value is None else value for name, value in values.items()}
    heeds = RULES[usual.rule or LinearParameters.rule].heeds
    return {name: value for name, value in values.items() if name not in ("C", "r") or name in heeds}


def _play(
    options: argparse.Namespace, entry: Entry, choice: Choice, epochs: int | None, held_out: float, folder: str
) -> float:
    """The best held-out score of a choice."""
    mine: dict[str, Any] = {"validation_fraction": held_out, "certify": False}
    mine |= {} if epochs is None else {"epochs": epochs}
    if "cache" in g.names_of(entry.takes["train"]):
        mine["cache"] = str(Path(folder, "-".join(str(choice.get(name)) for name in ("words", "idf"))))
    tried = argparse.Namespace(**{**vars(options), **choice, **mine})
    task = entry.adapter()
    fill(tried, entry, task, ExitStack())
    training = TrainingParameters(**given(tried, TrainingParameters))
    job = task.open(tried, training, None)
    try:
        job.prepare(lambda done: None)
        run = Run.of(job.learner, training)
        train(run, job.source)
        return max(run.history.held_out)
    finally:
        job.close()
