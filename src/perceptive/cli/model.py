"""What the commands that use a model share: loading it, and reading files as it has learned to."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from perceptive import _core, streams
from perceptive.cli.console import Bar
from perceptive.learners.linear import LinearLearner
from perceptive.learners.ranking import RankingLearner
from perceptive.learners.sequence import SequenceLearner
from perceptive.persistence import load_learner
from perceptive.streams import Reading, Stream
from perceptive.streams.examples import Examples


def load_model(path: str) -> LinearLearner:
    """The learner of a model file, which must have learned from rows."""
    learner = load_learner(path)
    if isinstance(learner, RankingLearner):
        raise ValueError(f"{path}: is a ranker; use it with rank and eval")
    if isinstance(learner, SequenceLearner):
        raise ValueError(f"{path}: is a tagger, which labels the tokens of sentences; use perceptive tag")
    if not learner.problems:
        raise ValueError(f"{path}: this model has learned nothing; train it first")
    if learner.vocabulary is not None:
        raise ValueError(f"{path}: learned from dicts in Python, and cannot read files; use it from Python")
    learner.finish()
    return learner


def load_tagger_model(path: str) -> SequenceLearner:
    """The learner of a tagger's file."""
    learner = load_learner(path)
    if isinstance(learner, RankingLearner):
        raise ValueError(f"{path}: is a ranker, which orders lists; use perceptive rank")
    if not isinstance(learner, SequenceLearner):
        raise ValueError(f"{path}: is a classifier, which labels examples; use perceptive predict")
    return learner


def reading_of(learner: LinearLearner | RankingLearner, options: argparse.Namespace) -> Reading:
    """How a model reads files; one that learned from arrays reads svmlight, unless another format is given."""
    if learner.reading is None:
        return Reading(format=options.format or "svmlight")
    given = options.format
    if given is not None and Reading(format=given).format != learner.reading.format:
        raise ValueError(f"the model has learned from {learner.reading.format} files; it cannot read {given}")
    return replace(learner.reading, labelled=False) if getattr(options, "unlabelled", False) else learner.reading


def stream_for(learner: LinearLearner | RankingLearner, options: argparse.Namespace) -> Stream:
    """The files of a command."""
    return streams.open(
        options.data,
        reading=reading_of(learner, options),
        dtype="float32",
        threads=options.threads,
        on_error=options.on_error,
        idf=learner.idf,
    )


def known_rows(learner: LinearLearner, examples: Examples) -> _core.Rows:
    """Rows of as many columns as the model has; others were never seen and have no weight."""
    assert learner.n_features is not None
    examples = examples.narrow(learner.n_features)
    rows = _core.csr_rows(examples.indptr, examples.indices, examples.data, learner.n_features, False)
    assert rows is not None  # parsers sort
    return rows


def scored(
    learner: LinearLearner, stream: Stream, bar: Bar, hypothesis: str | None, then: Callable[[Examples, Any], Any]
) -> Iterator[Any]:
    """Scores of all examples, block by block; the parsing threads compute them, and do ``then`` with them."""
    learner.scores_of(
        _core.dense_rows(np.zeros((1, learner.n_features or 0)), False), hypothesis
    )  # vectors are made once

    def prepare(examples: Examples, number: int) -> tuple[int, Any]:
        return len(examples), then(examples, learner.scores_of(known_rows(learner, examples), hypothesis))

    done = 0
    for n, result in stream.blocks(prepare=prepare):
        done += n
        bar.update(stream.log.bytes, done)
        yield result
