"""``perceptive certify``: the mistake bound of a run."""

from __future__ import annotations

import argparse

from perceptive.cli import groups as g
from perceptive.cli.options import add_data, add_json
from perceptive.cli.tasks import of_model, options_of

EXAMPLE = """\
examples:
  perceptive certify a9a.model train.svm
  perceptive certify letor.model letor-train.svm
  perceptive certify chunk.model train.conll
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.description = (
        "How many mistakes training made and how many the theorem allows, with its witness, margin and radius. On "
        "other files than those of the training the certificate is hypothetical, and says so."
    )
    parser.add_argument("model", metavar="MODEL", help="a model file")
    add_data(parser, "the examples it learned from")
    g.add_groups(parser, options_of("certify"))
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Certify."""
    from perceptive.certificates import certify_datasets
    from perceptive.cli.console import tell_log, watched
    from perceptive.cli.report import tell_certificate

    learner, entry, task = of_model(options)
    task.check(learner, options.model)
    opened = task.examine(learner, options)
    certificate = certify_datasets(learner, watched(opened, not options.json))
    tell_log(opened.log)
    tell_certificate(options, entry, certificate)
