"""What the commands that use a model share: loading it, and reading files as it has learned to."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptive import _core, streams
from perceptive.cli.console import Bar
from perceptive.learners.linear import LinearLearner
from perceptive.persistence import load_learner
from perceptive.streams import Reading, Stream
from perceptive.streams.examples import Examples

if TYPE_CHECKING:
    from perceptive.learners.kernel import KernelLearner
    from perceptive.learners.kernel_ranking import KernelRankingLearner
    from perceptive.learners.ranking import RankingLearner
    from perceptive.learners.reranking import RerankingLearner
    from perceptive.learners.sequence import SequenceLearner

    OfRows = LinearLearner | KernelLearner | RankingLearner | KernelRankingLearner

NOTHING = "this model has learned nothing; train it first"


# Learners of rows are looked for first, and the others imported only where a model is one of them: commands start fast.


def load_model(path: str) -> LinearLearner:
    """The learner of a model file, which must have learned from rows."""
    learner = load_any(path)
    if not isinstance(learner, LinearLearner):
        raise ValueError(f"{path}: holds a kernel model, which this command does not take; use it from Python")
    return learner


def load_any(path: str) -> LinearLearner | KernelLearner:
    """The learner of a model file, linear or kernel."""
    return of_examples(load_learner(path), path)


def of_examples(learner: Any, path: str) -> LinearLearner | KernelLearner:
    """A learner that labels examples and has learned; raises ValueError for all others."""
    if isinstance(learner, LinearLearner):
        if not learner.problems:
            raise ValueError(f"{path}: {NOTHING}")
        if learner.vocabulary is not None:
            raise ValueError(f"{path}: learned from dicts in Python, and cannot read files; use it from Python")
        learner.finish()
        return learner
    from perceptive.learners.kernel import KernelLearner
    from perceptive.learners.kernel_ranking import KernelRankingLearner
    from perceptive.learners.ranking import RankingLearner
    from perceptive.learners.reranking import RerankingLearner

    if isinstance(learner, RankingLearner | KernelRankingLearner):
        raise ValueError(f"{path}: is a ranker; use it with rank and eval")
    if not isinstance(learner, KernelLearner):
        what = "reranker" if isinstance(learner, RerankingLearner) else "tagger"
        raise ValueError(f"{path}: is a {what}, which labels the tokens of sentences; use perceptive tag")
    if learner.dual is None:
        raise ValueError(f"{path}: {NOTHING}")
    return learner


def load_tagger_model(path: str) -> SequenceLearner | RerankingLearner:
    """The learner of a tagger's file, or of a reranker's."""
    from perceptive.learners.kernel_ranking import KernelRankingLearner
    from perceptive.learners.ranking import RankingLearner
    from perceptive.learners.reranking import RerankingLearner
    from perceptive.learners.sequence import SequenceLearner

    learner = load_learner(path)
    if isinstance(learner, RankingLearner | KernelRankingLearner):
        raise ValueError(f"{path}: is a ranker, which orders lists; use perceptive rank")
    if not isinstance(learner, SequenceLearner | RerankingLearner):
        raise ValueError(f"{path}: is a classifier, which labels examples; use perceptive predict")
    return learner


def reading_of(learner: OfRows, options: argparse.Namespace, fixed: bool = True) -> Reading:
    """How a model reads files.

    One that learned from arrays reads svmlight: with ``fixed`` no more columns than it has, else those beyond are left
    out later.
    """
    given = options.format
    if learner.reading is None:
        bits = getattr(learner.parameters, "bits", None)
        if bits is None and given not in (None, "svmlight", "libsvm"):
            raise ValueError(f"the model has learned from columns, which {given} files do not number; give svmlight")
        if bits is not None and given is None:
            raise ValueError(
                "the model has learned from dicts in Python; say by --format which files hold such examples"
            )
        return Reading(format=given or "svmlight", bits=bits, n_features=learner.n_features if fixed else None)
    if given is not None and Reading(format=given).format != learner.reading.format:
        raise ValueError(f"the model has learned from {learner.reading.format} files; it cannot read {given}")
    return replace(learner.reading, labelled=False) if getattr(options, "unlabelled", False) else learner.reading


def stream_for(learner: OfRows, options: argparse.Namespace, fixed: bool = False) -> Stream:
    """The files of a command."""
    return streams.open(
        options.data,
        reading=reading_of(learner, options, fixed),
        dtype=learner.parameters.dtype if hasattr(learner, "kernel") else "float32",
        threads=options.threads,
        on_error=options.on_error,
        idf=getattr(learner, "idf", None),
    )


def known_rows(learner: LinearLearner, examples: Examples) -> _core.Rows:
    """Rows of as many columns as the model has; others were never seen and have no weight."""
    assert learner.n_features is not None
    examples = examples.narrow(learner.n_features)
    rows = _core.csr_rows(examples.indptr, examples.indices, examples.data, learner.n_features, False)
    assert rows is not None  # parsers sort
    return rows


def scored(
    learner: LinearLearner | KernelLearner,
    stream: Stream,
    bar: Bar,
    hypothesis: str | None,
    then: Callable[[Examples, Any], Any],
) -> Iterator[Any]:
    """Scores of all examples, block by block; the parsing threads compute them, and do ``then`` with them."""
    if isinstance(learner, LinearLearner):  # vectors are made once
        learner.scores_of(_core.dense_rows(np.zeros((1, learner.n_features or 0)), False), hypothesis)

    def prepare(examples: Examples, number: int) -> tuple[int, Any]:
        if isinstance(learner, LinearLearner):
            scores = learner.scores_of(known_rows(learner, examples), hypothesis)
        else:
            width = learner.n_features or 0
            scores = learner.scores(examples.narrow(width).X(width), hypothesis)
        return len(examples), then(examples, scores)

    done = 0
    for n, result in stream.blocks(prepare=prepare):
        done += n
        bar.update(stream.log.bytes, done)
        yield result
