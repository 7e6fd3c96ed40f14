"""``perceptive train --kernel``: the examples are read into memory, since any of them may become a support.

Kernels of vectors take the rows of any format. Kernels of strings and trees take JSON lines: every line is an object,
``spectrum(3)@text`` compares what stands under "text", and the label stands under "label".
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from perceptive.cli.options import given, option_of
from perceptive.parameters import KernelParameters, LinearParameters, TrainingParameters

if TYPE_CHECKING:
    from perceptive.learners.kernel import KernelLearner
    from perceptive.streams import Stream

LABEL = "label"


def train(options: argparse.Namespace, stream: Stream | None) -> int:
    """Learn; ``stream`` is None where the kernel takes objects."""
    from perceptive.learners.kernel import KernelLearner
    from perceptive.persistence import save
    from perceptive.training import train_kernel

    began = time.monotonic()
    training = TrainingParameters(**given(options, TrainingParameters, {"progress"}))
    parameters = _parameters(options)
    if stream is None:
        X, y, weights = *_labelled(options.data), None
    else:
        X, y, weights = _rows(stream)
    classes = options.classes or _in_order(y)
    if len(classes) < 2:
        raise ValueError(f"there is one class only, {classes[0]!r}: give examples of at least 2")
    learner = KernelLearner(classes=classes, **parameters)
    try:
        lesson = learner.prepare(X, y, weights, several=training.epochs > 1)
    except TypeError as error:  # objects of another kind than the kernel takes
        raise ValueError(str(error)) from None
    history = train_kernel(lesson, training.epochs, training.shuffle)
    certificate = None
    if options.certify:
        from perceptive.dual_certificate import certify_kernel

        certificate = certify_kernel(learner, X, y, weights)
    learner.reading = None if stream is None else stream.reading
    learner.takes_objects = stream is None
    save(learner, options.output)
    _tell(options, learner, history, certificate, time.monotonic() - began)
    return 0


def _parameters(options: argparse.Namespace) -> dict[str, Any]:
    known = {f.name for f in fields(KernelParameters)}
    chosen = given(options, LinearParameters, {"bits", "cost", "n_features", "reference"})
    strange = [option_of(name) for name in chosen if name not in known]
    strange += [f"--{name}" for name in ("checkpoint", "cache", "follow", "reference") if getattr(options, name)]
    if options.model:
        strange.append("--continue")
    if options.validation_fraction:
        strange.append("--holdout")
    if strange:
        raise ValueError(f"{', '.join(strange)} does not go with --kernel; leave it out")
    more = {name: value for name in ("budget", "forget") if (value := getattr(options, name)) is not None}
    return {**chosen, **more, "kernel": options.kernel}


def _rows(stream: Stream) -> tuple[Any, list[Any], Any]:
    import numpy as np

    from perceptive.streams.examples import UNLABELLED, join

    if stream.reading.has_idf:
        raise ValueError("idf does not go with --kernel; leave it out")
    parts = list(stream.blocks())
    if not parts:
        raise ValueError("there are no examples; check the files and the format")
    examples = join(parts, stream.dtype)
    labelled = np.flatnonzero(examples.which != UNLABELLED)
    if len(labelled) < len(examples):
        examples = examples.take(labelled)
    width = stream.reading.width or examples.width()
    return examples.X(width), examples.y().tolist(), examples.weight


def objects(paths: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of JSON lines, each with the place it stands at."""
    from perceptive.streams.blocks import blocks, expand, shown

    for path in expand(paths):
        number = 0
        for block in blocks(path):
            for line in bytes(block.text).splitlines():
                number += 1
                place = f"{shown(path)}:{number}"
                if not line.strip():
                    continue
                try:
                    found = json.loads(line)
                except ValueError as error:
                    raise ValueError(f"{place}: no JSON ({error}); give an object a line") from None
                except RecursionError:
                    raise ValueError(f"{place}: JSON that is nested too deeply; give flatter objects") from None
                if not isinstance(found, dict):
                    raise ValueError(f'{place}: no JSON object; write {{"text": …, "label": …}}')
                yield place, found
            block.release()


def _labelled(paths: Any) -> tuple[list[dict[str, Any]], list[Any]]:
    from perceptive.learners.lesson import is_missing

    X, y = [], []
    for place, found in objects(paths):
        if LABEL not in found:
            raise ValueError(f"{place}: an object without {LABEL!r}: {str(found)[:60]}")
        label = found.pop(LABEL)
        if not isinstance(label, str | int | float) or is_missing(label):
            raise ValueError(
                f"{place}: the label {str(label)[:60]} is no label; give a string, a number, true or false"
            )
        y.append(label)
        X.append(found)
    if not X:
        raise ValueError("there are no examples; kernels of strings and trees take JSON lines")
    return X, y


def _in_order(labels: list[Any]) -> list[Any]:
    from perceptive.learners.linear import in_order_of_labels

    return in_order_of_labels(list(dict.fromkeys(labels)))


def predict(options: argparse.Namespace, learner: KernelLearner, file: Any) -> None:
    """A line for each object: the label, and the scores if they are asked for."""
    X = [found for _, found in objects(options.data)]
    if not X:
        return
    try:
        scores = learner.scores(X, options.hypothesis)
    except TypeError as error:
        raise ValueError(str(error)) from None
    table = scores if scores.ndim == 2 else scores[:, None]
    for i, row in zip(learner.decide(scores).tolist(), table.tolist(), strict=True):
        if options.json:
            line = json.dumps({"label": learner.classes[i], "scores": row})
        else:
            line = "\t".join([str(learner.classes[i]), *(f"{s:.6g}" for s in row if options.scores)])
        file.write(line.encode() + b"\n")


def _tell(options: argparse.Namespace, learner: KernelLearner, history: Any, certificate: Any, seconds: float) -> None:
    from perceptive.inspection import describe_kernel

    about = describe_kernel(learner)
    if options.json:
        told = {
            "model": options.output,
            **about,
            "mistakes": history.mistakes,
            "updates": history.updates,
            "converged": history.converged,
            "certificate": None if certificate is None else str(certificate),
            "seconds": seconds,
        }
        print(json.dumps(told))
        return
    if options.quiet:
        return
    from perceptive.cli.console import pairs

    rows = [(name, value) for name, value in about.items() if value is not None]
    if certificate is not None:
        rows.append(("certificate", str(certificate)))
    print(pairs([*rows, ("time", f"{seconds:.2f} s"), ("model", options.output)]))
    sys.stdout.flush()
