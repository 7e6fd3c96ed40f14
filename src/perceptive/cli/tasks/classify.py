"""Classifying rows by linear learners; and what kernel classifiers share with that."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.cli.console import in_line, pairs, table, watched
from perceptive.cli.options import given_to_learner
from perceptive.cli.tasks import Evaluation, Opened
from perceptive.cli.tasks.explained import Explained
from perceptive.cli.tasks.predictions import Predictions, probabilities_of
from perceptive.cli.tasks.rows import (
    OfRows,
    count,
    known_rows,
    labels_told,
    note_strange,
    open_stream,
    refuse_changes,
    stream_for,
)
from perceptive.data.dataset import Dataset
from perceptive.data.rows import in_parts
from perceptive.errors import UsageError
from perceptive.learners.linear import LinearLearner
from perceptive.parameters import LinearParameters, TrainingParameters
from perceptive.streams import Stream
from perceptive.streams.blocks import shown
from perceptive.streams.examples import UNLABELLED, Examples
from perceptive.streams.file_format import NAMED_FEATURES
from perceptive.streams.label_reading import label_of_word

if TYPE_CHECKING:
    from perceptive.cli.tasks.files import RowsJob
    from perceptive.cli.tasks.objects import Objects
    from perceptive.evaluation.metrics import Confusion
    from perceptive.explanation import Explanation
    from perceptive.training.source import FileSource

NEVER_MET = "(never met)"  # all labels that the model does not know
MOST_SHOWN = 20  # classes in the confusion matrix
MOST_IN_JSON = 1000  # likewise
SHOWN = {"macro_f1": "macro F1", "auc": "AUC", "log_loss": "log loss"}
NO_EXAMPLES = "there are no labelled examples; check the files and the format"
# Of labels, which of them each example has, scores, and the lines between examples that hold none.
Then = Callable[[list[Any], NDArray[Any], Any, NDArray[np.int64]], Any]


class Classify(OfRows):
    unit, tells_epochs = "examples", False

    # ------------------------------------------------------------ training

    def open(self, options: argparse.Namespace, training: TrainingParameters, learner: Any) -> RowsJob:
        from perceptive.cli.tasks.files import RowsJob
        from perceptive.training.blocks import RowBlocks
        from perceptive.training.classifiers import classifier_for

        parameters = given_to_learner(options, LinearParameters)
        LinearParameters(**parameters)  # raises for what cannot be, before anything is read
        stream = self._stream(options, learner)
        classes, reference = labels_given(options, stream)

        def make(source: FileSource) -> LinearLearner:
            return classifier_for(source, classes, **parameters, **reference)

        job = RowsJob(stream, RowBlocks(), options, training, learner, make)
        job.class_weight = weights_given(options, stream)
        return job

    def _stream(self, options: argparse.Namespace, learner: Any) -> Stream:
        if options.model:
            refuse_changes(options, learner, "classes", "reference")
            learner.temperature = None  # it was that of other weights
        return open_stream(options, learner, LinearParameters)

    def follow(self, options: argparse.Namespace, learner: Any) -> tuple[Any, Iterator[Dataset]]:
        from perceptive.training.blocks import MAX_FEATURES, RowBlocks, check_answers

        goes_on, before = learner is not None, 0 if learner is None else learner.rounds
        if options.class_weight == "balanced":
            raise UsageError("--class-weight balanced must count the classes first, and --follow cannot; give numbers")
        stream, kind = self._stream(options, learner), RowBlocks()
        kind.class_weight = weights_given(options, stream)
        if learner is None:
            classes, reference = labels_given(options, stream)
            parameters = {**given_to_learner(options, LinearParameters), **reference}
            learner = LinearLearner(classes, **parameters, n_features=stream.format.width)
            learner.space.reads(stream.format, stream.idf)

        def datasets() -> Iterator[Dataset]:
            for examples in stream.blocks(live=True, limit=MAX_FEATURES):
                labelled = examples.take((examples.which != UNLABELLED).nonzero()[0])
                if len(labelled):
                    yield kind.dataset(learner, kind.ready(labelled, stream.format.width))
                    learner.space.remember(stream.log.names, () if learner.space.header else stream.columns)
            check_answers(stream.format, stream.files, stream.log, learner.rounds - before, goes_on)

        return learner, datasets()

    # ------------------------------------------------------------ using a model

    def scored(self, learner: Any, options: argparse.Namespace, then: Then) -> Opened:
        """Scores of all examples; the parsing threads compute them, and do ``then`` with them."""
        width, stream = learner.n_features or 0, stream_for(learner, options)
        # Of an example without features; vectors are made once.
        empty = learner.scores(_core.dense_rows(np.zeros((1, width)), False), options.hypothesis)
        voted = (options.hypothesis or learner.parameters.hypothesis) == "voted"
        asks = not (learner.space.header or learner.space.format is None or voted) and learner.updates > 0

        def score(examples: Examples) -> Any:
            return learner.scores(known_rows(examples, width), options.hypothesis)

        def strange(examples: Examples, scores: Any) -> bool:
            """Whether all features are new to the model."""
            hashed = asks and stream.format.bits is not None
            return all_new(examples, width) or (hashed and bool((scores == empty).all()))

        return scored_rows(stream, len(learner.classes), score, then, strange)

    def predict(self, learner: Any, options: argparse.Namespace) -> Opened:
        """A line for each line of the files: the label first."""
        made = Predictions(learner, options)
        opened = self.scored(learner, options, lambda labels, which, scores, gaps: made.lines(scores, gaps))
        if not options.header:
            return opened
        return opened._replace(parts=chain([(0, made.header())], opened.parts))

    def explain(self, learner: Any, options: argparse.Namespace) -> Opened:
        """What made the predictions: the features of each example."""
        from perceptive.explanation import explain_rows, file_names

        stream, width = stream_for(learner, options, names=True), learner.n_features or 0
        how = class_asked(learner, options), options.top, options.hypothesis

        def found() -> Iterator[list[Explanation]]:
            for examples in stream.blocks():
                name = file_names(stream.format, stream.log.names, learner.space.names)
                yield explain_rows(learner, examples.narrow(width), name, *how)

        return explained(stream, found())

    def evaluate(self, learner: Any, options: argparse.Namespace) -> Evaluation:
        """Accuracy, macro F1, log loss; and precision, recall and F1 of each class."""
        from perceptive.evaluation.metrics import Confusion, LogLoss, auc

        confusion, n = Confusion(list(learner.classes)), len(learner.classes)
        index = learner.index | {str(one): i for one, i in learner.index.items() if isinstance(one, bool)}
        to_proba = probabilities_of(learner, options.hypothesis)
        unanswered, positive, margins = 0, [], []
        log_loss, strange = LogLoss(), dict[Any, None]()

        def decide(labels: list[Any], which: NDArray[Any], scores: Any, gaps: Any) -> Any:
            two = scores[:, 1] - scores[:, 0] if scores.ndim == 2 and len(learner.classes) == 2 else None
            known, loss = which != UNLABELLED, LogLoss()
            truth = np.array([*(index.get(one, n) for one in labels), 0], np.int64)[which]
            if to_proba is not None:
                met = known & (truth < n)
                loss.add(truth[met], to_proba(scores)[met])
            return labels, known, truth, learner.decide(scores), scores if scores.ndim == 1 else two, loss

        opened = self.scored(learner, options, decide)
        for labels, known, truth, predicted, margin, loss in watched(opened, not options.json):
            new = [one for one in labels if one not in index]
            strange |= dict.fromkeys(new)
            if new and len(confusion.labels) == n:
                confusion.widen(NEVER_MET)
            unanswered += int(np.count_nonzero(~known))
            confusion.add(truth[known], predicted[known])
            log_loss.include(loss)
            if margin is not None:
                positive.append(truth[known] == 1)
                margins.append(margin[known])
        if confusion.total == 0:
            from perceptive.training.blocks import check_answers

            if opened.format is not None:
                check_answers(opened.format, opened.files, opened.log, 0, goes_on=True)
            raise ValueError(NO_EXAMPLES)
        if confusion.there[:n].sum() == 0:
            note_strange(opened.log, strange, learner.index)
        area = auc(np.concatenate(positive), np.concatenate(margins)) if margins else math.nan
        metrics = {"accuracy": confusion.accuracy, "macro_f1": confusion.macro_f1}
        metrics |= {"auc": area, "log_loss": log_loss.mean}
        defined = {name: None if math.isnan(value) else value for name, value in metrics.items()}
        reports = confusion.reports()
        return Evaluation(
            count(confusion.total, opened.log, unanswered),
            defined,
            {"classes": [vars(report) for report in reports], "confusion": _in_json(confusion)},
            _shown(confusion, reports, defined, unanswered, opened.log.skipped),
            opened.log,
        )

    def examine(self, learner: Any, options: argparse.Namespace) -> Opened:
        from perceptive.training.blocks import RowBlocks
        from perceptive.training.source import FileSource

        return examined(FileSource(stream_for(learner, options, fixed=True), RowBlocks()), learner)

    def weights(self, learner: Any, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
        from perceptive.inspection import heaviest

        tops = heaviest(learner, options.top, options.hypothesis)
        return weights_of({one: tops[one] for one in classes_asked(tops, options)}, learner.space.hashed)


def labels_given(options: argparse.Namespace, stream: Stream | None) -> tuple[list[Any] | None, dict[str, Any]]:
    """The classes that were announced, and the reference class, as the files have labels; objects come as JSON."""
    words = labels_are_words(options, stream)
    classes = None if options.classes is None else [label_of_word(one, words) for one in options.classes]
    return classes, {} if options.reference is None else {"reference": label_of_word(options.reference, words)}


def weights_given(options: argparse.Namespace, stream: Stream | None) -> Any:
    """The weights of classes, as the files have labels; objects come as JSON."""
    asked, words = options.class_weight, labels_are_words(options, stream)
    return {label_of_word(k, words): v for k, v in asked.items()} if isinstance(asked, dict) else asked


def labels_are_words(options: argparse.Namespace, stream: Stream | None) -> bool:
    """Whether labels that read as numbers are words; objects come as JSON."""
    if stream is None:
        return labels_told(options) == "words"
    format = stream.format
    return format.name == "text" or (format.name in NAMED_FEATURES and format.labels == "words")


def classes_asked(classes: Iterable[Any], options: argparse.Namespace) -> list[Any]:
    """Those of some classes that an option names; all, where it is not given."""
    wanted = getattr(options, "class")
    found = [one for one in classes if wanted in (None, str(one))]
    if wanted is not None and not found:
        raise UsageError(f"no class {wanted!r}; there are {', '.join(map(str, classes))}")
    return found


def class_asked(learner: Any, options: argparse.Namespace) -> Any:
    """The class that an option names; None where it is not given."""
    return None if getattr(options, "class") is None else classes_asked(learner.classes, options)[0]


def explained(files: Stream | Objects, found: Iterator[list[Explanation]]) -> Opened:
    """Explanations of the examples of files, some at a time."""
    return Opened(files.files, files.log, ((len(some), [Explained([one]) for one in some]) for some in found))


def scored_rows(
    stream: Stream,
    n_classes: int,
    score: Callable[[Examples], Any],
    then: Then,
    strange: Callable[[Examples, Any], bool],
) -> Opened:
    """Examples of files with their scores, some at a time; raises where all features at the start of a file are new."""

    def prepare(examples: Examples, number: int, file: int) -> tuple[int, bool, list[tuple[int, Any]]]:
        odd, found = bool(np.any(examples.data)), []
        for some in in_parts(len(examples), n_classes):
            part = examples.cut(some.start, some.stop)
            scores = score(part)
            odd = odd and strange(part, scores)
            found.append((len(part), then(part.labels, part.which, scores, part.gaps)))
        return file, odd, found

    def parts() -> Iterator[tuple[int, Any]]:
        latest = -1
        for file, odd, found in stream.blocks(prepare=prepare):
            if odd and file != latest:
                refuse_strange(stream, file)
            latest = file
            yield from found

    return Opened(stream.files, stream.log, parts(), stream.format)


def all_new(examples: Examples, width: int) -> bool:
    """Whether all features, if there are any, are beyond the columns of a model."""
    return bool((examples.indices >= width).all())


def refuse_strange(stream: Stream, file: int) -> None:
    """Raise where a model knows none of the features at the start of a file; texts may have new words only."""
    said = f"{shown(stream.files[file])}: the model knows none of the features"
    if stream.format.name != "text":
        raise ValueError(f"{said}; check that it was trained on such files")
    stream.log.remark("strange", f"{said}, and predicts the same for all")


def examined(source: FileSource, learner: Any) -> Opened:
    """The examples of a source as datasets, to be looked at."""
    from perceptive.training.blocks import check_answers

    def parts() -> Iterator[tuple[int, Dataset]]:
        with source:
            yield from ((len(dataset), dataset) for dataset in source.datasets(learner))
            if source.examples == 0:
                stream = source.stream
                check_answers(stream.format, stream.files, stream.log, 0, goes_on=True)
                raise ValueError(f"there are no {source.kind.answered}; check the files and the format")

    return Opened(source.stream.files, source.stream.log, parts())


def weights_of(tops: dict[Any, Any], hashed: bool = False) -> tuple[dict[str, Any], str]:
    """The heaviest features of each class, for machines and for people; ``hashed``: they may lack names."""
    told = [{"class": one, "features": [f._asdict() for f in top]} for one, top in tops.items()]
    parts = []
    for one, top in tops.items():
        rows = [[_called(f), f"{f.weight:+.5g}", _shares(f)] for f in top]
        parts.append(f"{in_line(one)}\n{table(rows) if rows else 'no feature has a weight'}")
    if hashed and any(f.name is None for top in tops.values() for f in top):
        parts.append("# is the column of hashed features; train with --invert-hash to see their names")
    return {"weights": told}, "\n\n".join(parts)


def _called(feature: Any) -> str:
    """The name of a feature, which a column without a name has, too; or its number."""
    return f"#{feature.column}" if feature.name is None else feature.name or "''"


def _shares(feature: Any) -> str:
    return f"shares #{feature.column} with {feature.sharing - 1} more" if feature.sharing > 1 else ""


def _in_json(confusion: Confusion) -> list[Any]:
    """The matrix; the pairs that occur where there are many classes."""
    if len(confusion.labels) <= MOST_IN_JSON:
        matrix: list[Any] = confusion.counts.tolist()
        return matrix
    return [{"label": truth, "predicted": said, "examples": n} for truth, said, n in confusion.pairs()]


def _shown(
    confusion: Confusion, reports: list[Any], metrics: dict[str, float | None], unanswered: int, skipped: int
) -> str:
    rows: list[tuple[str, Any]] = [("examples", f"{confusion.total:,}"), ("accuracy", f"{confusion.accuracy:.2%}")]
    rows += [(called, f"{value:.4f}") for name, called in SHOWN.items() if (value := metrics[name]) is not None]
    rows += [(name, f"{n:,}") for name, n in (("without answer", unanswered), ("skipped", skipped)) if n]
    by_class = [[r.label, f"{r.precision:.4f}", f"{r.recall:.4f}", f"{r.f1:.4f}", f"{r.support:,}"] for r in reports]
    parts = [pairs(rows), table(by_class, ["class", "precision", "recall", "F1", "examples"])]
    if len(confusion.labels) <= MOST_SHOWN:
        body = [[one, *row] for one, row in zip(confusion.labels, confusion.counts.tolist(), strict=True)]
        parts.append(table(body, ["true \\ predicted", *map(str, confusion.labels)]))
    return "\n\n".join(parts)
