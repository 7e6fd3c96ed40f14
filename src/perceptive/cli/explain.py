"""``perceptive explain``: what made each prediction."""

from __future__ import annotations

import argparse
import sys

from perceptive.cli.options import whole
from perceptive.cli.predict import add_prediction
from perceptive.cli.tasks import of_model

EXAMPLE = """\
examples:
  perceptive explain spam.model inbox.txt --unlabelled --top 5
  perceptive explain cut.model new.csv --class Ideal
  perceptive explain chunk.model test.conll --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.description = (
        "What made each prediction: the features of the example and what each adds to the score of its label; for "
        "kernels the supports, for taggers the features of each token."
    )
    parser.add_argument("--top", type=whole(1), default=10, help="features to show for each prediction (default: 10)")
    add_prediction(parser, "explain", "a model file", "examples to explain: files, globs, or - for standard input")


def run(options: argparse.Namespace) -> None:
    """Explain."""
    from perceptive.cli.console import tell_log, watched
    from perceptive.cli.paths import output

    learner, _, task = of_model(options)
    task.check(learner, options.model)
    with output(options.output, [options.model, *options.data], sys.stdout.buffer) as file:
        opened = task.explain(learner, options)
        for text in watched(opened, options.output is not None):
            file.write(text.encode())
    tell_log(opened.log)
