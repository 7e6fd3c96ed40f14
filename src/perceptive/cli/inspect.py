"""``perceptive inspect``: what a model is, and its heaviest features by name."""

from __future__ import annotations

import argparse

from perceptive.cli import groups as g
from perceptive.cli.options import add_json, whole
from perceptive.cli.tasks import of_model, options_of

EXAMPLE = """\
examples:
  perceptive inspect a9a.model --top 10
  perceptive inspect news.model --class sport --json
  perceptive inspect letor.model --top 5
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.description = (
        "What a model is, and its heaviest features. Hashed features have names where the model was trained with "
        "--invert-hash; several names in one bucket share its weight."
    )
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument("--top", type=whole(1), default=20, help="features to show for each class (default: 20)")
    g.add_groups(parser, options_of("inspect"))
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Inspect."""
    from perceptive.cli.report import tell_model

    learner, entry, task = of_model(options)
    learner.finish()
    tell_model(options, entry, learner, *task.weights(learner, options))
