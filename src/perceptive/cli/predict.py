"""``perceptive predict``: a label for every example of some files."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

from perceptive.cli.options import add_files, add_json, as_json, check_target

EXAMPLE = """\
examples:
  perceptive predict a9a.model test.svm > labels.txt
  perceptive predict a9a.model test.svm --scores -o scores.tsv
  cat new.svm | perceptive predict a9a.model - --json
  perceptive predict spam.model inbox.txt --unlabelled --proba
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.description = "Label the examples of files: a line for each, the label first."
    parser.epilog = EXAMPLE
    parser.add_argument("model", metavar="MODEL", help="a model file")
    add_files(parser, "examples to label")
    parser.add_argument("-o", "--output", metavar="FILE", help="instead of standard output")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--scores", action="store_true", help="add the score, or one for each class")
    shown.add_argument("--proba", action="store_true", help="add the probability of each class")
    parser.add_argument("--unlabelled", action="store_true", help="text: lines are texts, without a label before them")
    parser.add_argument("--hypothesis", help="another one than the model was trained with, where it was kept")
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Predict."""
    import numpy as np

    from perceptive.cli.console import progress
    from perceptive.cli.model import load_any, scored, stream_for
    from perceptive.learners.calibration import probabilities
    from perceptive.learners.linear import LinearLearner

    learner = load_any(options.model)
    if not isinstance(learner, LinearLearner):
        if options.proba:
            raise ValueError(f"{options.model}: a kernel model has scores, no probabilities; ask for --scores")
        if not learner.kernel.vectors:
            from perceptive.cli.kernel import predict

            with output(options.output, [options.model, *options.data]) as file:
                predict(options, learner, file)
            return
    stream = stream_for(learner, options)
    voted = (options.hypothesis or learner.parameters.hypothesis) == "voted"
    if options.proba and learner.temperature is None and not voted:
        raise ValueError(f"{options.model}: was not calibrated; train it with --holdout, or ask for --scores")
    names = [str(label).encode() for label in learner.classes]

    def lines(examples: Any, scores: Any) -> bytes:
        decided = learner.decide(scores).tolist()
        if not (options.scores or options.proba or options.json):
            return b"".join([names[i] + b"\n" for i in decided])
        if options.proba:
            scores = probabilities(scores, None if voted else learner.temperature)
        table = scores if scores.ndim == 2 else scores[:, None]
        if not options.json:
            return b"".join(
                b"\t".join([names[i], *(b"%.6g" % s for s in row)]) + b"\n"
                for i, row in zip(decided, table.tolist(), strict=True)
            )
        return "".join(
            as_json({"label": learner.classes[i], **told(row)}) + "\n"
            for i, row in zip(decided, np.round(table, 9).tolist(), strict=True)
        ).encode()

    def told(row: list[float]) -> dict[str, Any]:
        if options.proba:
            return {"proba": dict(zip(map(str, learner.classes), row, strict=True))}
        if len(row) == 1:
            return {"score": row[0]}
        return {"scores": dict(zip(map(str, learner.classes), row, strict=True))}

    target = output(options.output, [options.model, *options.data])
    with target as file, progress(stream.files, 1, options.output is not None) as bar:
        for part in scored(learner, stream, bar, options.hypothesis, lines):
            file.write(part)
    for complaint in stream.log.complaints:
        print(f"skipped: {complaint}", file=sys.stderr)
    if stream.log.skipped:
        print(f"skipped {stream.log.skipped:,} lines: they have no label in the output", file=sys.stderr)


@contextmanager
def output(path: str | None, inputs: Sequence[str]) -> Iterator[IO[bytes]]:
    """Standard output, or a file that gets its name when it is complete, and is none of the inputs."""
    if path is None:
        yield sys.stdout.buffer
        return
    check_target(path, inputs)
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device
        with open(path, "wb") as file:
            yield file
        return
    temporary = os.path.join(os.path.dirname(os.path.abspath(path)), f".perceptive-{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
