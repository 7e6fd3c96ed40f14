"""Which options of ``train`` a task takes. The others are refused, so that none is thought to work that does not."""

from __future__ import annotations

import argparse
from dataclasses import fields

from perceptive.cli.options import option_of
from perceptive.cli.reading import READING, TEXT
from perceptive.parameters import (
    KernelParameters,
    KernelRankingParameters,
    LinearParameters,
    RankingParameters,
    SequenceParameters,
    TrainingParameters,
)


def _names(parameters: type) -> set[str]:
    return {f.name for f in fields(parameters)}


ALWAYS = {"command", "default_of", "data", "output", "task", "json", "quiet"}
FILES = {"format", "on_error", "threads"}
ROWS = {*READING, *TEXT, "text"}
LISTS = ROWS - {"label", "categorical", "ignore", "delimiter", "text"}  # svmlight, and JSON lines of candidates
TRAINING = _names(TrainingParameters)
# --cost is the taggers'; --bits and --features are about reading
RANKING = {*_names(RankingParameters) - {"cost", "bits", "n_features"}, "pair_cost"}
KERNEL = {*_names(KernelParameters) & _names(LinearParameters) - {"cost", "bits", "n_features"}, *TRAINING}
KERNEL |= {"kernel", "budget", "forget", "classes", "certify", "model"}
KERNEL_RANKING = {*_names(KernelRankingParameters) - {"cost"}, "pair_cost", *TRAINING, "certify", "model"}
TAKEN = {
    "--task tag": {*_names(SequenceParameters), *TRAINING, "model", "dev", "label_column", "prune", "certify"},
    "--task rank": {*RANKING, *TRAINING, *FILES, *LISTS, "model", "cache", "certify", "kernel"},
    "--task rerank": {
        *RANKING, *TRAINING - {"validation_fraction", "patience"},
        "base", "candidates", "folds", "base_epochs", "target", "label_column",
    },
    "kernels": {*KERNEL, *FILES, *ROWS},
    "kernels of strings and trees": {*KERNEL, "format", "on_error"},
    "kernel rankers": {*KERNEL_RANKING, *FILES, *LISTS},
    "kernel rankers of strings and trees": {*KERNEL_RANKING, "format", "on_error"},
}  # fmt: skip


def refuse(options: argparse.Namespace, task: str) -> None:
    """Raise where options were given that a task does not take."""
    mine = ALWAYS | TAKEN[task]
    wrong = [name for name, value in vars(options).items() if name not in mine and value != options.default_of(name)]
    if wrong:
        raise ValueError(f"{', '.join(map(option_of, wrong))} does not go with {task}; leave it out")
