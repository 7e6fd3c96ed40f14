"""``perceptive eval``: predictions beside the labels of some files."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

from perceptive.cli.certify import NO_TAGGER
from perceptive.cli.options import add_files, add_json, as_json

NEVER_MET = "(never met)"  # all labels that the model does not know
MOST_SHOWN = 20  # classes in the confusion matrix
EXAMPLE = """\
examples:
  perceptive eval a9a.model test.svm
  perceptive eval a9a.model test.svm --json
  perceptive eval letor.model letor-test.svm
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.description = (
        "Accuracy, precision, recall and F1 of each class, the confusion matrix, and for two classes the area under "
        "the ROC curve; for taggers and rerankers the table of conlleval; for rankers top-1, MRR, MAP and NDCG. Labels "
        "that the model has never met count as mistakes; examples without a label are left out."
    )
    parser.epilog = EXAMPLE
    parser.add_argument("model", metavar="MODEL", help="a model file")
    add_files(parser, "labelled examples")
    parser.add_argument(
        "--label-column", type=int, help="taggers: the column that holds the label (default: as in training)"
    )
    parser.add_argument("--hypothesis", help="another one than the model was trained with, where it was kept")
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Evaluate."""
    import numpy as np

    from perceptive.cli.console import progress
    from perceptive.cli.model import of_examples, scored, stream_for
    from perceptive.learners.linear import LinearLearner
    from perceptive.learners.reranking import RerankingLearner
    from perceptive.learners.sequence import SequenceLearner
    from perceptive.metrics import Confusion, auc
    from perceptive.persistence import load_learner
    from perceptive.streams.examples import UNLABELLED

    some = load_learner(options.model)
    if not isinstance(some, SequenceLearner | RerankingLearner) and options.label_column is not None:
        raise ValueError(NO_TAGGER.format(options.model))
    if not isinstance(some, LinearLearner) and _evaluate_other(some, options):
        return
    learner = of_examples(some, options.model)
    confusion = Confusion(list(learner.classes))
    index = learner.index
    unlabelled = 0
    positive, all_scores = [], []

    def decide(labels: Any, which: Any, scores: Any) -> Any:
        two = scores[:, 1] - scores[:, 0] if scores.ndim == 2 and len(learner.classes) == 2 else None
        return labels, which, learner.decide(scores), scores if scores.ndim == 1 else two

    def count(labels: Any, which: Any, predicted: Any, scores: Any) -> None:
        nonlocal unlabelled
        if len(confusion.labels) == len(index) and any(label not in index for label in labels):
            confusion.widen(NEVER_MET)
        known = which != UNLABELLED
        unlabelled += int(np.count_nonzero(~known))
        truth = np.array([*(index.get(label, len(index)) for label in labels), 0], np.int64)[which]
        confusion.add(truth[known], predicted[known])
        if scores is not None:
            positive.append(truth[known] == 1)
            all_scores.append(scores[known])

    if not isinstance(learner, LinearLearner) and not learner.kernel.vectors:
        from perceptive.cli.kernel import evaluated
        from perceptive.cli.objects import Objects

        log: Any = Objects(options, labelled=False)
        for labels, which, scores in evaluated(learner, log, options.hypothesis):
            count(*decide(labels, which, scores))
    else:
        stream = stream_for(learner, options)
        log = stream.log

        def then(examples: Any, scores: Any) -> Any:
            return decide(examples.labels, examples.which, scores)

        with progress(stream.files, 1, not options.json) as bar:
            for block in scored(learner, stream, bar, options.hypothesis, then):
                count(*block)
    if confusion.total == 0:
        raise ValueError("there are no labelled examples; check the files and the format")
    area = auc(np.concatenate(positive), np.concatenate(all_scores)) if all_scores else math.nan
    for complaint in log.complaints:
        print(f"skipped: {complaint}", file=sys.stderr)
    reports = confusion.reports()
    if options.json:
        told: dict[str, Any] = {
            "examples": confusion.total,
            "unlabelled": unlabelled,
            "skipped": log.skipped,
            "accuracy": confusion.accuracy,
            "auc": None if math.isnan(area) else area,
            "classes": [report.__dict__ for report in reports],
            "confusion": confusion.counts.tolist(),
        }
        print(as_json(told))
        return
    from perceptive.cli.console import pairs, table

    rows: list[tuple[str, Any]] = [("examples", f"{confusion.total:,}"), ("accuracy", f"{confusion.accuracy:.2%}")]
    if not math.isnan(area):
        rows.append(("AUC", f"{area:.4f}"))
    rows += [(name, f"{n:,}") for name, n in (("without label", unlabelled), ("skipped", log.skipped)) if n]
    print(pairs(rows), end="\n\n")
    shown = [
        [r.label, f"{r.precision:.4f}", f"{r.recall:.4f}",
         f"{r.f1:.4f}", f"{r.support:,}"]
        for r in reports
    ]  # fmt: skip
    print(table(shown, ["class", "precision", "recall", "F1", "examples"]))
    if len(confusion.labels) <= MOST_SHOWN:
        body = [[label, *row] for label, row in zip(confusion.labels, confusion.counts.tolist(), strict=True)]
        print("\n" + table(body, ["true \\ predicted", *map(str, confusion.labels)]))


def _evaluate_other(learner: Any, options: argparse.Namespace) -> bool:
    """Evaluate what does not label examples; returns whether it was such."""
    from perceptive.cli.ranking import evaluate_ranker, load_ranker
    from perceptive.cli.tagging import evaluate_tagger
    from perceptive.learners.kernel_ranking import KernelRankingLearner
    from perceptive.learners.ranking import RankingLearner
    from perceptive.learners.reranking import RerankingLearner
    from perceptive.learners.sequence import SequenceLearner

    if isinstance(learner, SequenceLearner | RerankingLearner):
        evaluate_tagger(options, learner)
        return True
    if isinstance(learner, RankingLearner | KernelRankingLearner):
        evaluate_ranker(load_ranker(options.model), options)
        return True
    return False
