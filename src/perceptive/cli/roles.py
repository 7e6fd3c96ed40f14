"""``perceptive roles``: which tasks, representations, rules and hypotheses go together."""

from __future__ import annotations

import argparse

from perceptive.cli.options import add_json, as_json
from perceptive.roles import as_dict, as_text

EXAMPLE = """\
examples:
  perceptive roles
  perceptive roles --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Show which rules and hypotheses each task takes, in each representation, and why not the others."
    )
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    print(as_json({"roles": as_dict()}) if options.json else as_text())
