"""``perceptive rank``: every list of some files, from best to worst."""

from __future__ import annotations

import argparse

from perceptive.cli.predict import add_prediction, run

__all__ = ["configure", "run"]

EXAMPLE = """\
examples:
  perceptive rank letor.model test.svm > orders.txt
  perceptive rank answers.model questions.jsonl --scores
  cat new.jsonl | perceptive rank answers.model - --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.description = (
        "Order the candidates of each list: a line for each list, with the places of its candidates (counted from 0) "
        "from best to worst. Lists are svmlight lines with one qid:, or JSON lines with candidates; rankers with a "
        "kernel of strings or trees take the latter. "
        "Lists that are skipped have an empty line (null with --json)."
    )
    data = "lists to order: files, globs, or - for standard input"
    add_prediction(parser, "rank", "a model file, of train --task rank", data)
