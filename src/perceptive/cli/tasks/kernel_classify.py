"""Classifying by kernels: the examples are read into memory, since any of them may become a support.

Kernels of vectors take the rows of any format. Kernels of strings and trees take JSON lines: every line is an object,
``spectrum(3)@text`` compares what stands under "text", and the label stands under "label". Beside such parts, a kernel
of vectors without "@" sees the other numbers of the line, ``0.5*gaussian(sigma=2)+spectrum(3)@text``: those that the
first line has, in the order of their names, which the model keeps.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.cli.console import tell_log
from perceptive.cli.options import given_to_learner
from perceptive.cli.tasks import Opened, of_name
from perceptive.cli.tasks.classify import (
    NO_EXAMPLES,
    Classify,
    Then,
    all_new,
    class_asked,
    explained,
    labels_given,
    scored_rows,
    weights_given,
)
from perceptive.cli.tasks.memory import MemoryJob, held_out
from perceptive.cli.tasks.objects import Objects, try_objects, with_numbers
from perceptive.cli.tasks.rows import NOTHING, count, open_stream, refuse_changes, stream_for
from perceptive.data.dataset import Dataset
from perceptive.data.labels import Labels, check_classes, in_order_of_labels, odd_labels
from perceptive.errors import UsageError
from perceptive.kernels import Kernel, as_kernel
from perceptive.learners.calibration import fit_temperature
from perceptive.learners.kernel import KernelLearner
from perceptive.parameters import KernelParameters, TrainingParameters
from perceptive.streams import Stream
from perceptive.streams.blocks import shown
from perceptive.streams.examples import UNLABELLED, join
from perceptive.streams.file_format import FileFormat
from perceptive.streams.parsing import Log
from perceptive.training.blocks import check_answers
from perceptive.training.class_weights import class_weighted
from perceptive.training.loop import InMemory

if TYPE_CHECKING:
    from perceptive.explanation import Explanation

PART = 1024  # objects that are scored at a time


class Labelled(NamedTuple):
    """The labelled examples of some files, in memory."""

    X: Any
    y: list[Any]
    weights: NDArray[np.float64] | None
    numbers: NDArray[np.int64]  # of their files
    unanswered: int
    files: Any
    log: Log

    def take(self, rows: NDArray[np.int64]) -> tuple[Any, list[Any], Any]:
        """Some of the examples, their labels and their weights."""
        X = self.X[rows] if hasattr(self.X, "tocsr") else [self.X[i] for i in rows.tolist()]
        return X, [self.y[i] for i in rows.tolist()], None if self.weights is None else self.weights[rows]


class OfKernel:
    """What the models of kernels share: they have supports, and no weights of features."""

    def check(self, learner: Any, path: str) -> None:
        """Raise where the model has learned nothing, or files hold no such examples."""
        if learner.dual is None:
            raise ValueError(NOTHING.format(path))
        if learner.kernel.one_way:
            raise ValueError(f"{path}: compares by a Gram matrix, which files do not hold; use it from Python")

    def weights(self, learner: Any, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
        return {"weights": []}, ""


class KernelClassify(OfKernel, Classify):
    def open(self, options: argparse.Namespace, training: TrainingParameters, learner: Any) -> MemoryJob:  # type: ignore[override]
        if options.model:
            refuse_changes(options, learner, "kernel", "classes")
            learner.temperature = None  # it was that of other supports
        kernel = kernel_for(options, learner)
        stream = None if not kernel.vectors else open_stream(options, learner, KernelParameters)
        if stream is None:
            kernel, read = _objects(options, kernel, learner)
        else:
            read = _rows(stream, learner)
        if learner is None:
            learner = _new_learner(options, read, kernel, stream)
        held = held_out(training.validation_fraction, learner.parameters.random_state, read.numbers, Labels.of(read.y))
        (X, y, weights), kept = read.take(np.flatnonzero(~held)), read.take(np.flatnonzero(held))
        taught = X, y, class_weighted(weights, y, weights_given(options, stream))

        def accuracy() -> float:
            said = learner.predict_many(kept[0])
            return float(np.mean([truth == one for truth, one in zip(kept[1], said, strict=True)]))

        def calibrate(learner: Any) -> None:
            truth = np.array([learner.index[label] for label in kept[1]], np.int64)
            learner.temperature = fit_temperature(learner.scores(kept[0]), truth)

        dataset = learner.dataset(*taught, epochs=training.epochs)
        scored, calibrates = (accuracy, calibrate) if held.any() else (None, None)
        source = InMemory(dataset, training.shuffle, scored)
        counts = count(len(read.y), read.log, read.unanswered)

        def look(learner: Any) -> Any:
            return learner.dataset(*taught, grow=False)

        return MemoryJob(learner, source, "accuracy", read.files, read.log, counts, look, calibrates)

    def explain(self, learner: Any, options: argparse.Namespace) -> Opened:
        from perceptive.explanation import explain_supports

        label, width = class_asked(learner, options), learner.n_features or 0

        def tell(X: Any) -> list[Explanation]:
            return explain_supports(learner, X, label, options.top, options.hypothesis)

        if learner.kernel.vectors:
            stream = stream_for(learner, options)
            return explained(stream, (tell(examples.narrow(width).X(width)) for examples in stream.blocks()))
        objects = Objects(options, learner)
        return explained(objects, (objects.sound(part, tell)[1] or [] for part in _parts(iter(objects))))

    def scored(self, learner: Any, options: argparse.Namespace, then: Then) -> Opened:
        """Scores of all examples: of rows block by block, of objects some at a time."""
        if learner.kernel.vectors:
            width = learner.n_features or 0

            def score(examples: Any) -> Any:
                return learner.scores(examples.narrow(width).X(width), options.hypothesis)

            how = score, then, lambda examples, _: all_new(examples, width)
            return scored_rows(stream_for(learner, options), len(learner.classes), *how)
        found = Objects(options, learner)

        def parts() -> Iterator[tuple[int, Any]]:
            for part in _parts(found.lines()):
                objects = [one for one in part if one is not None]
                kept, scores = found.sound(objects, lambda X: learner.scores(X, options.hypothesis))
                labels = list(dict.fromkeys(one.label for one in kept if one.label is not None))
                place = {label: i for i, label in enumerate(labels)} | {None: UNLABELLED}
                which = np.array([place[one.label] for one in kept], np.int64)
                there = np.isin([id(one and one.value) for one in part], [id(one) for one in kept])
                if not kept:
                    scores = np.empty(0 if learner.binary else (0, len(learner.classes)))
                yield len(kept), then(labels, which, scores, np.cumsum(there, dtype=np.int64)[~there])

        return Opened(found.files, found.log, parts())

    def examine(self, learner: Any, options: argparse.Namespace) -> Opened:
        if learner.kernel.vectors:
            read = _rows(stream_for(learner, options, fixed=True), learner)
        else:
            _, read = _objects(options, learner.kernel, learner)

        def parts() -> Iterator[tuple[int, Dataset]]:
            yield len(read.y), learner.dataset(read.X, read.y, read.weights, grow=False)

        return Opened(read.files, read.log, parts())


def _parts(lines: Iterator[Any]) -> Iterator[list[Any]]:
    """Lines, some at a time."""
    return iter(lambda: list(islice(lines, PART)), [])


def kernel_for(options: argparse.Namespace, learner: Any) -> Kernel:
    """The kernel of a training run, which files can serve; raises for options that go with rows only."""
    try:
        kernel: Kernel = as_kernel(options.kernel) if learner is None else learner.kernel
    except ValueError as error:
        raise UsageError(f"--{error}") from None  # it begins with "kernel", and says where it is wrong
    if kernel.one_way:
        raise UsageError(f"--kernel {options.kernel}: files hold no Gram matrices; give them from Python")
    if not kernel.vectors:
        entry = of_name(options.task, kernel=True)
        entry.refuse_of_objects(options, entry.title)
    return kernel


def check_width(stream: Stream, known: int | None, width: int) -> None:
    """Raise where numbered features go beyond those of a model, whose supports have so many columns."""
    if known is not None and width > known:
        files = ", ".join(map(shown, stream.files[:3])) + (", …" if len(stream.files) > 3 else "")
        raise ValueError(
            f"{files}: there are {width} features, but the model was trained on {known}, and supports cannot grow; "
            f"train it again with --features {width} or more"
        )


def check_idf(stream: Stream) -> None:
    """Raise where texts are weighed by idf, which kernels do not keep."""
    if stream.format.has_idf:
        raise UsageError("--idf does not go with --kernel; leave it out")


def _new_learner(options: argparse.Namespace, read: Labelled, kernel: Kernel, stream: Stream | None) -> KernelLearner:
    announced = labels_given(options, stream)[0]
    classes = announced or in_order_of_labels(dict.fromkeys(read.y))
    check_classes(classes, complete=True, missing=read.unanswered)
    said = None if announced else odd_labels(list(classes), len(read.y))
    if said is not None:
        read.log.remark("labels", said)
    parameters = given_to_learner(options, KernelParameters)
    learner = KernelLearner(classes, fixed=announced is not None, kernel=kernel, **parameters)
    if stream is not None:
        learner.space.reads(stream.format, None)
        learner.space.remember(None, stream.columns)
    learner.takes_objects = stream is None
    return learner


def _rows(stream: Stream, learner: Any) -> Labelled:
    check_idf(stream)
    parts = list(stream.blocks(prepare=lambda examples, number, file: (examples, file)))
    if not parts:
        raise ValueError("there are no examples; check the files and the format")
    examples = join([part for part, _ in parts], stream.dtype)
    numbers = np.concatenate([np.full(len(part), file) for part, file in parts])
    labelled = np.flatnonzero(examples.which != UNLABELLED)
    unanswered = len(examples) - len(labelled)
    if unanswered:
        examples, numbers = examples.take(labelled), numbers[labelled]
    check_answers(stream.format, stream.files, stream.log, len(examples), learner is not None)
    if len(examples) == 0:
        raise ValueError(NO_EXAMPLES)
    known = None if learner is None else learner.n_features
    check_width(stream, known, examples.width())
    X = examples.X(max(stream.format.width or known or 0, examples.width()))
    return Labelled(X, examples.y().tolist(), examples.weight, numbers, unanswered, stream.files, stream.log)


def _objects(options: argparse.Namespace, kernel: Kernel, learner: Any) -> tuple[Kernel, Labelled]:
    """Objects, their labels and the kernel; that of a new learner is told which numbers of the objects it compares."""
    objects = Objects(options, learner)
    met = list(objects)
    lines = [one for one in met if one.value.label is not None]
    if met and not lines:
        check_answers(FileFormat(name="json"), objects.files, objects.log, 0, goes_on=True)
        raise ValueError(NO_EXAMPLES)
    kernel = with_numbers(kernel, lines) if learner is None else kernel
    dtype = options.dtype or KernelParameters.dtype if learner is None else learner.parameters.dtype
    found, _ = objects.sound(lines, lambda X: try_objects(kernel, learner, dtype, X))
    if not found:
        tell_log(objects.log)  # may say why
        raise ValueError("there are no examples; kernels of strings and trees take JSON lines")
    numbers = np.array([one.file for one in found], np.int64)
    X, y = [one.x for one in found], [one.label for one in found]
    return kernel, Labelled(X, y, None, numbers, len(met) - len(lines), objects.files, objects.log)
