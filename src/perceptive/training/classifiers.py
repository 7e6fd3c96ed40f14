"""Linear classifiers from files: made for the labels that there are, and calibrated on what was held out."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptive.data.labels import check_classes, in_order_of_labels, odd_labels
from perceptive.learners.calibration import fit_temperature, thinning
from perceptive.learners.linear import LinearLearner, check_reference
from perceptive.training.blocks import held_out_rows
from perceptive.training.source import FileSource


def classifier_for(source: FileSource, classes: list[Any] | None, **parameters: Any) -> LinearLearner:
    """A learner for the files of a source.

    Where the classes are not given and two labels are known before the first round, they are one binary problem. Where
    there may be others, and the files can be read again, that holds until a third class is met; else all classes
    compete from the start.
    """
    source.prepare()
    format, guessed, known = source.stream.format, None, source.labels or []
    if classes is None:
        check_classes(known, source.complete, source.split.unanswered)
        check_reference(parameters.get("reference"), known, source.complete)
        _tell_oddities(source, known)
    if classes is None and len(known) == 2 and (source.complete or source.repeatable):
        guessed = in_order_of_labels(known)
    parameters["n_features"] = format.width
    learner = LinearLearner(classes or guessed, fixed=guessed is None, provisional=guessed is not None, **parameters)
    learner.space.reads(format, source.stream.idf)
    return learner


def _tell_oddities(source: FileSource, labels: list[Any]) -> None:
    """Note what makes it likely that files are misread."""
    log, said = source.stream.log, odd_labels(labels, source.split.examples) if source.complete else None
    if said is not None:
        log.remark("labels", said)
    if source.stream.format.name in ("csv", "arrow") and not source.stream.columns:
        log.remark("columns", "there are no features: the files have no column but the label and what is left out")


def calibrate(learner: LinearLearner, source: FileSource) -> None:
    """Fit the probabilities on what was held out, or on some of it where that is much."""
    step, at = thinning(source.split.holdout.held, len(learner.classes)), 0
    truth, scores = [], []
    for block in source.split.held_out():
        some = np.arange(-at % step, len(block), step)
        at += len(block)
        if len(some):
            index, rows = held_out_rows(learner, block.take(some))
            known = index >= 0
            truth.append(index[known])
            scores.append(learner.scores(rows)[known])
    if any(map(len, truth)):
        learner.temperature = fit_temperature(np.concatenate(scores), np.concatenate(truth))
