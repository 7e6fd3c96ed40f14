"""``perceptive train --kernel``: the examples are read into memory, since any of them may become a support.

Kernels of vectors take the rows of any format. Kernels of strings and trees take JSON lines: every line is an object,
``spectrum(3)@text`` compares what stands under "text", and the label stands under "label". Beside such parts, a kernel
of vectors without "@" sees the other numbers of the line, ``0.5*gaussian(sigma=2)+spectrum(3)@text``: those that the
first line has, in the order of their names, which the model keeps.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive.cli.objects import Found, Objects, with_numbers
from perceptive.cli.options import as_json, given, option_of
from perceptive.parameters import KernelParameters, LinearParameters, TrainingParameters

if TYPE_CHECKING:
    from perceptive.certificate import Certificate
    from perceptive.kernels import Kernel
    from perceptive.learners.dual import Dual
    from perceptive.learners.kernel import KernelLearner
    from perceptive.streams import Stream

PART = 1024  # objects that are scored at a time


def train(options: argparse.Namespace, stream: Stream | None, learner: KernelLearner | None) -> int:
    """Learn, or let a learner go on; ``stream`` is None where the kernel takes objects."""
    from perceptive.persistence import save
    from perceptive.training import train_kernel

    began = time.monotonic()
    training = TrainingParameters(**given(options, TrainingParameters, {"progress"}))
    parameters = _parameters(options, learner)
    X, y, weights, log = _labelled(options, learner, parameters) if stream is None else _rows(stream, learner)
    if learner is None:
        learner = _begin(options, y, parameters)
    held = held_out(len(y), training.validation_fraction, learner.parameters.random_state)
    X_held, y_held, _ = _take(X, y, None, np.flatnonzero(held))
    X, y, weights = _take(X, y, weights, np.flatnonzero(~held))
    lesson = said_plainly(learner.prepare, X, y, weights, several=training.epochs > 1)
    for label in dict.fromkeys(y):
        if label not in learner.index:
            learner.meet_class(label)

    def accuracy() -> float:
        predicted = said_plainly(learner.predict_many, X_held)
        return float(np.mean([label == said for label, said in zip(y_held, predicted, strict=True)]))

    validate = accuracy if y_held else None
    history = train_kernel(lesson, training.epochs, training.shuffle, held_out=validate, patience=training.patience)
    certificate = None
    if options.certify:
        from perceptive.dual_certificate import certify_kernel

        certificate = certify_kernel(learner, X, y, weights)
    if not options.model:
        learner.reading = None if stream is None else stream.reading
        learner.takes_objects = stream is None
    save(learner, options.output)
    _tell_skipped(log)
    _tell(options, learner, history, certificate, time.monotonic() - began)
    return 0


def _parameters(options: argparse.Namespace, learner: KernelLearner | None) -> dict[str, Any]:
    """What was given of the learner; of one that goes on, nothing may differ."""
    chosen = given(options, LinearParameters, {"bits", "cost", "n_features", "reference"})
    chosen |= {name: value for name in ("budget", "forget") if (value := getattr(options, name)) is not None}
    if learner is None:
        return {**chosen, "kernel": options.kernel}
    changed = [option_of(name) for name, value in chosen.items() if value != getattr(learner.parameters, name)]
    changed += [f"--{name}" for name in ("kernel", "classes") if getattr(options, name) is not None]
    if changed:
        raise ValueError(f"{options.model}: goes on learning as it has begun; leave out {', '.join(changed)}")
    return {}


def _begin(options: argparse.Namespace, y: list[Any], parameters: dict[str, Any]) -> KernelLearner:
    from perceptive.learners.kernel import KernelLearner
    from perceptive.learners.linear import in_order_of_labels

    classes = options.classes or in_order_of_labels(list(dict.fromkeys(y)))
    if len(classes) < 2:
        raise ValueError(f"there is one class only, {classes[0]!r}: give examples of at least 2")
    return KernelLearner(classes=classes, **parameters)


def held_out(n: int, fraction: float, seed: int, what: str = "examples") -> NDArray[np.bool_]:
    """Which of n examples are held out."""
    if not fraction:
        return np.zeros(n, dtype=bool)
    held = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 0]))).random(n) < fraction
    if held.all() or not held.any():
        part = "all" if held.all() else "none"
        raise ValueError(f"--holdout {fraction:g} holds out {part} of {n} {what}; give more {what}, or leave it out")
    return held


def _take(X: Any, y: list[Any], weights: Any, rows: NDArray[np.int64]) -> tuple[Any, list[Any], Any]:
    if len(rows) == len(y):
        return X, y, weights
    some = X[rows] if hasattr(X, "tocsr") else [X[i] for i in rows.tolist()]
    return some, [y[i] for i in rows.tolist()], None if weights is None else weights[rows]


def said_plainly(what: Any, *arguments: Any, **options: Any) -> Any:
    """Objects of another kind than the kernel takes are the files' fault, not the program's."""
    try:
        return what(*arguments, **options)
    except TypeError as error:
        raise ValueError(str(error)) from None


def _rows(stream: Stream, learner: KernelLearner | None) -> tuple[Any, list[Any], Any, Any]:
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
    known = None if learner is None else learner.n_features
    check_width(stream, known, examples.width())
    width = max(stream.reading.width or known or 0, examples.width())
    return examples.X(width), examples.y().tolist(), examples.weight, stream.log


def check_width(stream: Stream, known: int | None, width: int) -> None:
    """Raise where numbered features go beyond those of a model, whose supports have so many columns."""
    from perceptive.streams.blocks import shown

    if known is not None and width > known:
        files = ", ".join(map(shown, stream.files[:3])) + (", …" if len(stream.files) > 3 else "")
        raise ValueError(
            f"{files}: there are {width} features, but the model was trained on {known}, and supports cannot grow; "
            f"train it anew with --features {width} or more"
        )


def try_objects(kernel: Kernel, dtype: str, dual: Dual | None, X: list[Any]) -> None:
    """Raise where a kernel does not take objects as a learner wants them, or not beside its supports."""
    from perceptive.kernels.examples import check_alike

    prepared = kernel.resolved(X).prepare(X, np.dtype(dtype))
    if dual is not None and dual.supports is not None:
        check_alike(dual.supports, prepared)


def _labelled(
    options: argparse.Namespace, learner: KernelLearner | None, parameters: dict[str, Any]
) -> tuple[list[dict[str, Any]], list[Any], None, Objects]:
    """Objects and their labels; the kernel among the parameters becomes one of their numbers, where it sees these."""
    from perceptive.kernels import as_kernel

    objects = Objects(options, labelled=True)
    lines = list(objects)
    if learner is None:
        parameters["kernel"] = with_numbers(as_kernel(options.kernel), lines)
    kernel = parameters["kernel"] if learner is None else learner.kernel
    dtype = options.dtype or KernelParameters.dtype if learner is None else learner.parameters.dtype
    dual = None if learner is None else learner.dual
    found, _ = objects.sound(lines, lambda X: try_objects(kernel, dtype, dual, X))
    if not found:
        _tell_skipped(objects)
        raise ValueError("there are no examples; kernels of strings and trees take JSON lines")
    return [one.x for one in found], [one.label for one in found], None, objects


def _tell_skipped(log: Any) -> None:
    for complaint in log.complaints:
        print(f"skipped: {complaint}", file=sys.stderr)


def scored(learner: KernelLearner, found: Objects, hypothesis: str | None) -> Iterator[tuple[list[Any], Any]]:
    """Labels (None: without) and scores of objects, some at a time."""
    part: list[Found] = []

    def score() -> tuple[list[Any], Any]:
        kept, scores = found.sound(part, lambda X: learner.scores(X, hypothesis))
        return [one.label for one in kept], scores

    for one in found:
        part.append(one)
        if len(part) == PART:
            labels, scores = score()
            if labels:
                yield labels, scores
            part = []
    if part:
        labels, scores = score()
        if labels:
            yield labels, scores


def evaluated(learner: KernelLearner, found: Objects, hypothesis: str | None) -> Iterator[tuple[Any, Any, Any]]:
    """Labels, which of them each object has, and the scores of all: as streams of rows give them."""
    from perceptive.streams.examples import UNLABELLED

    for given_labels, scores in scored(learner, found, hypothesis):
        labels = list(dict.fromkeys(label for label in given_labels if label is not None))
        place = {label: i for i, label in enumerate(labels)} | {None: UNLABELLED}
        yield labels, np.array([place[label] for label in given_labels], np.int64), scores


def predict(options: argparse.Namespace, learner: KernelLearner, file: Any) -> None:
    """A line for each object: the label, and the scores if they are asked for."""
    found = Objects(options, labelled=False)
    for _, scores in scored(learner, found, options.hypothesis):
        table = scores if scores.ndim == 2 else scores[:, None]
        for i, row in zip(learner.decide(scores).tolist(), table.tolist(), strict=True):
            if options.json:
                line = as_json({"label": learner.classes[i], "scores": row})
            else:
                line = "\t".join([str(learner.classes[i]), *(f"{s:.6g}" for s in row if options.scores)])
            file.write(line.encode() + b"\n")
    _tell_skipped(found)


def certify(options: argparse.Namespace, learner: KernelLearner, stream: Stream | None) -> Certificate:
    """The certificate of a kernel model's run."""
    from perceptive.dual_certificate import certify_kernel

    X, y, weights, log = _labelled(options, learner, {}) if stream is None else _rows(stream, learner)
    _tell_skipped(log)
    certificate: Certificate = said_plainly(certify_kernel, learner, X, y, weights)
    return certificate


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
            "held_out": history.held_out,
            "certificate": None if certificate is None else str(certificate),
            "seconds": seconds,
        }
        print(as_json(told))
        return
    if options.quiet:
        return
    from perceptive.cli.console import of_passes, pairs

    about["mistakes"] = of_passes(history.mistakes, converged=history.converged)
    rows = [(name, value) for name, value in about.items() if value is not None]
    if history.held_out:
        rows.append(("held-out accuracy", of_passes(history.held_out, ".2%")))
    if certificate is not None:
        rows.append(("certificate", str(certificate)))
    print(pairs([*rows, ("time", f"{seconds:.2f} s"), ("model", options.output)]))
    sys.stdout.flush()
