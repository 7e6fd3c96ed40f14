"""``perceptive eval``: predictions beside the answers of some files."""

from __future__ import annotations

import argparse

from perceptive.cli import groups as g
from perceptive.cli.options import add_data, add_json
from perceptive.cli.tasks import of_model, options_of

EXAMPLE = """\
examples:
  perceptive eval a9a.model test.svm
  perceptive eval a9a.model test.svm --json
  perceptive eval letor.model letor-test.svm
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.description = (
        "Accuracy, macro F1, precision, recall and F1 of each class, the confusion matrix, for two classes the area "
        "under the ROC curve, and log loss where the model has probabilities; for taggers and rerankers the table of "
        "conlleval; for rankers top-1, MRR, MAP and NDCG. Labels that the model has never met count as mistakes; "
        "examples without an answer are left out."
    )
    parser.add_argument("model", metavar="MODEL", help="a model file")
    add_data(parser, "examples with answers")
    g.add_groups(parser, options_of("eval"))
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Evaluate."""
    from perceptive.cli.console import tell_log
    from perceptive.cli.report import tell_evaluation

    learner, entry, task = of_model(options)
    task.check(learner, options.model)
    found = task.evaluate(learner, options)
    tell_log(found.log)
    tell_evaluation(options, entry, found)
