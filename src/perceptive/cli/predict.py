"""``perceptive predict``: a label for every example of some files; and the driver of ``rank`` and ``tag``."""

from __future__ import annotations

import argparse
import sys

from perceptive.cli import groups as g
from perceptive.cli.options import add_json
from perceptive.cli.tasks import of_model, options_of

EXAMPLE = """\
examples:
  perceptive predict a9a.model test.svm > labels.txt
  perceptive predict a9a.model test.svm --scores -o scores.tsv
  perceptive predict cut.model new.csv --proba --header | paste new.csv -
  perceptive predict news.model inbox.txt --unlabelled --top 3
  cat new.svm | perceptive predict a9a.model - --json
  perceptive predict spam.model inbox.txt --unlabelled --proba
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.description = (
        "Label the examples of files: a line for each line of theirs, the label first. The line is empty where that of "
        "the file holds no example, or was skipped."
    )
    shown = parser.add_mutually_exclusive_group()
    g.add_options(shown, g.SCORES)
    g.add_options(shown, g.PROBABILITIES.only("proba"))
    add_prediction(parser, "predict", "a model file", "examples to label: files, globs, or - for standard input")


def add_prediction(parser: argparse.ArgumentParser, command: str, model: str, data: str, several: str = "+") -> None:
    """What the commands that predict share."""
    parser.add_argument("model", metavar="MODEL", help=model)
    parser.add_argument("data", nargs=several, metavar="DATA", help=data)
    parser.add_argument("-o", "--output", metavar="FILE", help="instead of standard output")
    g.add_groups(parser, options_of(command))
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Write the predictions of a model for the examples of files."""
    from perceptive.cli.console import tell_log, watched
    from perceptive.cli.paths import output

    learner, entry, task = of_model(options)
    task.check(learner, options.model)
    with output(options.output, [options.model, *options.data], sys.stdout.buffer) as file:
        opened = task.predict(learner, options)
        for lines in watched(opened, options.output is not None):
            file.write(lines)
    tell_log(opened.log)
    if opened.log.skipped and entry.name == "classify":
        print(f"skipped {opened.log.skipped:,} lines: they are empty in the output", file=sys.stderr)
