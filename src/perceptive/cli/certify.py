"""``perceptive certify``: the mistake bound of a run."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from perceptive.cli.options import add_files, add_json, as_json

if TYPE_CHECKING:
    from perceptive.certificate import Certificate
    from perceptive.learners.lesson import Lesson

NO_TAGGER = "{}: is no tagger; leave out --label-column"
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
    parser.epilog = EXAMPLE
    parser.add_argument("model", metavar="MODEL", help="a model file")
    add_files(parser, "the examples it learned from")
    parser.add_argument(
        "--label-column", type=int, help="taggers: the column that holds the label (default: as in training)"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Certify."""
    from perceptive.certificate import certify_lessons
    from perceptive.cli.console import progress
    from perceptive.cli.model import of_examples, stream_for
    from perceptive.cli.train import certificate_json
    from perceptive.learners.linear import LinearLearner
    from perceptive.persistence import load_learner
    from perceptive.training.source import Source
    from perceptive.training.stream import no_examples

    some = load_learner(options.model)
    if not isinstance(some, LinearLearner):
        certificate = _certify_other(some, options)
        print(as_json(certificate_json(certificate)) if options.json else certificate)
        return
    if options.label_column is not None:
        raise ValueError(NO_TAGGER.format(options.model))
    learner = of_examples(some, options.model)
    assert isinstance(learner, LinearLearner)
    stream = stream_for(learner, options, fixed=True)
    with Source(stream) as source, progress(stream.files, 1, not options.json) as bar:

        def lessons() -> Iterator[Lesson]:
            for batch in source.batches():
                bar.update(stream.log.bytes, source.examples)
                yield learner.lesson(batch.rows, batch.labels, batch.weights)

        certificate = certify_lessons(learner, lessons())
        if source.examples == 0:
            raise ValueError(no_examples(source))
    print(as_json(certificate_json(certificate)) if options.json else certificate)


def _certify_other(learner: Any, options: argparse.Namespace) -> Certificate:
    from perceptive.cli.kernel import certify
    from perceptive.cli.model import of_examples, stream_for
    from perceptive.cli.ranking import certify_ranker
    from perceptive.cli.tagging import certify_tagger
    from perceptive.learners.kernel import KernelLearner
    from perceptive.learners.kernel_ranking import KernelRankingLearner
    from perceptive.learners.ranking import RankingLearner
    from perceptive.learners.sequence import SequenceLearner

    if isinstance(learner, SequenceLearner):
        return certify_tagger(options, learner)
    if options.label_column is not None:
        raise ValueError(NO_TAGGER.format(options.model))
    if isinstance(learner, RankingLearner | KernelRankingLearner):
        return certify_ranker(options)
    kernel = of_examples(learner, options.model)
    assert isinstance(kernel, KernelLearner)
    return certify(options, kernel, stream_for(kernel, options, fixed=True) if kernel.kernel.vectors else None)
