"""``perceptive certify``: the mistake bound of a run."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from perceptive.cli.options import add_files, add_json

if TYPE_CHECKING:
    from perceptive.learners.lesson import Lesson

EXAMPLE = """\
examples:
  perceptive certify a9a.model train.svm
  perceptive certify letor.model letor-train.svm
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
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Certify."""
    from perceptive.certificate import certify_lessons
    from perceptive.cli.console import progress
    from perceptive.cli.model import load_any, stream_for
    from perceptive.cli.train import certificate_json
    from perceptive.learners.kernel import KernelLearner
    from perceptive.learners.ranking import RankingLearner
    from perceptive.persistence import load_learner
    from perceptive.training.source import Source
    from perceptive.training.stream import no_examples

    if isinstance(load_learner(options.model), RankingLearner):
        from perceptive.cli.ranking import certify_ranker

        certificate = certify_ranker(options)
        print(json.dumps(certificate_json(certificate)) if options.json else certificate)
        return
    learner = load_any(options.model)
    if isinstance(learner, KernelLearner):
        from perceptive.cli.kernel import certify

        rows = stream_for(learner, options, fixed=True) if learner.kernel.vectors else None
        certificate = certify(options, learner, rows)
        print(json.dumps(certificate_json(certificate)) if options.json else certificate)
        return
    stream = stream_for(learner, options, fixed=True)
    with Source(stream) as source, progress(stream.files, 1, not options.json) as bar:

        def lessons() -> Iterator[Lesson]:
            for batch in source.batches():
                bar.update(stream.log.bytes, source.examples)
                yield learner.lesson(batch.rows, batch.labels, batch.weights)

        certificate = certify_lessons(learner, lessons())
        if source.examples == 0:
            raise ValueError(no_examples(source))
    print(json.dumps(certificate_json(certificate)) if options.json else certificate)
