"""``perceptive tag``: labels for the tokens of sentences."""

from __future__ import annotations

import argparse

from perceptive.cli.predict import add_prediction, run

__all__ = ["configure", "run"]

EXAMPLE = """\
examples:
  perceptive tag chunk.model new.conll > tagged.conll
  perceptive tag ner.model --text "Ada Lovelace met Charles Babbage in London." --spans
  cat new.conll | perceptive tag chunk.model - --kbest 5 --margin
  perceptive tag rerank.model new.conll > tagged.conll
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.description = (
        "Label the tokens of files in columns: a token to a line, an empty line after each sentence. The columns come "
        "out as they went in, the label behind them, separated by tabs if those of the first file are, else by spaces. "
        "With --kbest each sentence comes k times, under a line with rank and score; with --margin a last column says "
        "what the best path through another label would lose. A column of labels is passed over: that of training, "
        "where there are as many columns, or --label-column."
    )
    data = "files in columns, globs, or - for standard input"
    add_prediction(parser, "tag", "a model file, of train --task tag or rerank", data, several="*")
