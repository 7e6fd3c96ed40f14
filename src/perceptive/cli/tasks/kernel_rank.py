"""Ranking by kernels: lists are read into memory, since any candidate may become a support.

Kernels of vectors take the lists that linear rankers take. Kernels of strings and trees take JSON lines: a candidate is
what the kernel compares, ``spectrum(3)`` strings, ``spectrum(3)@text`` objects with a part of that name.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.cli.console import tell_log
from perceptive.cli.options import given_to_learner
from perceptive.cli.tasks import Opened
from perceptive.cli.tasks.kernel_classify import OfKernel, check_idf, check_width, kernel_for
from perceptive.cli.tasks.memory import MemoryJob, held_out
from perceptive.cli.tasks.objects import object_files, try_objects
from perceptive.cli.tasks.rank import Rank, Scores, explained_lists, weighed_stream
from perceptive.cli.tasks.rows import count, open_stream, refuse_changes
from perceptive.data.dataset import Dataset
from perceptive.data.lists import has_preference, starts_of
from perceptive.evaluation.metrics import top1
from perceptive.learners.kernel_ranking import KernelRankingLearner
from perceptive.parameters import KernelRankingParameters, TrainingParameters
from perceptive.streams import Stream
from perceptive.streams.examples import join
from perceptive.streams.json_lists import read_object_lists
from perceptive.streams.lists import join_weights, read_lists, rows_of_lists
from perceptive.streams.parsing import Log
from perceptive.training.blocks import NO_LISTS, NO_PREFERENCE, NOTHING_BETTER
from perceptive.training.loop import InMemory


class ListsRead(NamedTuple):
    """The lists of some files that have answers, in memory."""

    X: Any
    grades: Scores
    sizes: NDArray[np.int64]
    weights: Scores | None
    numbers: NDArray[np.int64]  # of their files
    unanswered: int
    files: Any
    log: Log

    def take(self, which: NDArray[np.int64]) -> ListsRead:
        """Return some of the lists."""
        rows, starts = rows_of_lists(starts_of(self.sizes, len(self.grades)), which)
        X = [self.X[i] for i in rows.tolist()] if isinstance(self.X, list) else self.X[rows]
        weights = None if self.weights is None else self.weights[which]
        return ListsRead(X, self.grades[rows], np.diff(starts), weights, self.numbers[which], *self[5:])


class KernelRank(OfKernel, Rank):
    def open(self, options: argparse.Namespace, training: TrainingParameters, learner: Any) -> MemoryJob:  # type: ignore[override]
        if options.model:
            refuse_changes(options, learner, "kernel")
        kernel = kernel_for(options, learner)
        stream = None if not kernel.vectors else open_stream(options, learner, KernelRankingParameters)
        if learner is None:
            parameters = given_to_learner(options, KernelRankingParameters)
            learner = KernelRankingLearner(kernel=kernel, **parameters)
            if stream is not None:
                learner.space.reads(stream.format, None)
                learner.space.remember(None, stream.columns)
        lists = _answered(options, stream, learner)
        held = held_out(training.validation_fraction, learner.parameters.random_state, lists.numbers, unit="lists")
        taught, kept = lists.take(np.flatnonzero(~held)), lists.take(np.flatnonzero(held))
        dataset = _dataset(learner, taught, epochs=training.epochs)
        if not dataset.present.any():
            raise ValueError(NOTHING_BETTER)
        starts = starts_of(kept.sizes, len(kept.grades))
        if held.any() and not has_preference(kept.grades, starts).any():
            raise ValueError(NO_PREFERENCE)

        def top_of_held_out() -> float:
            return top1(kept.grades, learner.scores(kept.X, kept.sizes), starts)

        def look(learner: Any) -> Any:
            return _dataset(learner, taught, grow=False)

        source = InMemory(dataset, training.shuffle, top_of_held_out if held.any() else None)
        counts = count(len(lists.sizes), lists.log, lists.unanswered, candidates=len(lists.grades))
        return MemoryJob(learner, source, "top-1", lists.files, lists.log, counts, look)

    def scored(self, learner: Any, options: argparse.Namespace, stream: Stream | None = None) -> Opened:
        learner.dual.check_hypothesis(options.hypothesis or learner.parameters.hypothesis)
        return _scored_objects(learner, options) if learner.takes_objects else super().scored(learner, options, stream)

    def score(self, learner: Any, options: argparse.Namespace, part: Any) -> Scores:
        scores: Scores = learner.scores(_known(learner, part), np.diff(part.starts), options.hypothesis)
        return scores

    def explain(self, learner: Any, options: argparse.Namespace) -> Opened:
        from perceptive.explanation import explain_supports

        def tell(part: Any) -> list[Any]:
            X = part.examples if learner.takes_objects else _known(learner, part)
            return explain_supports(learner, X, None, options.top, options.hypothesis)

        return explained_lists(self.scored(learner, options), tell)

    def examine(self, learner: Any, options: argparse.Namespace) -> Opened:
        stream = None if learner.takes_objects else weighed_stream(learner, options)
        lists = _answered(options, stream, learner)

        def parts() -> Iterator[tuple[int, Dataset]]:
            yield len(lists.sizes), _dataset(learner, lists, grow=False)

        return Opened(lists.files, lists.log, parts())


def _known(learner: Any, part: Any) -> Any:
    """The candidates of some lists of rows, in the columns that the model has."""
    width = learner.n_features or 0
    return part.examples.narrow(width).X(width)


def _dataset(learner: Any, lists: ListsRead, **how: Any) -> Any:
    return learner.dataset(lists.X, lists.grades, lists.weights, sizes=lists.sizes, **how)


def _scored_objects(learner: Any, options: argparse.Namespace) -> Opened:
    files, log = object_files(options), Log()
    lists = read_object_lists(
        files, log, options.on_error == "skip", lambda X, sizes: learner.scores(X, sizes, options.hypothesis)
    )
    return Opened(files, log, ((len(one), (one, np.empty(0) if one.made is None else one.made)) for one in lists))


def _answered(options: argparse.Namespace, stream: Stream | None, learner: Any) -> ListsRead:
    """The lists of files that have answers."""
    log = Log()
    parts: list[Any]
    if stream is None:
        files: Any = object_files(options)
        attempt = partial(try_objects, learner.kernel, learner, learner.parameters.dtype)
        skip, weight = options.on_error == "skip", options.weight
        parts = list(read_object_lists(files, log, skip, lambda X, _: attempt(X), weight))
    else:
        check_idf(stream)
        files, log, parts = stream.files, stream.log, list(read_lists(stream))
    grades = np.concatenate([np.empty(0), *(part.grades for part in parts)])
    sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(part.starts) for part in parts)])
    numbers = np.concatenate([np.empty(0, np.int64), *(np.full(len(part), part.file) for part in parts)])
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    answered = ~np.logical_or.reduceat(np.isnan(grades), starts[:-1]) if len(sizes) else np.zeros(0, bool)
    if not answered.any():
        tell_log(log)  # may say why
        raise ValueError(NO_LISTS)
    X = [x for part in parts for x in part.examples] if stream is None else _rows(stream, learner, parts)
    unanswered = int(np.count_nonzero(~answered))
    every = ListsRead(X, grades, sizes, join_weights(parts), numbers, unanswered, files, log)
    return every.take(np.flatnonzero(answered)) if unanswered else every


def _rows(stream: Stream, learner: Any, parts: list[Any]) -> Any:
    examples = join([part.examples for part in parts], stream.dtype)
    check_width(stream, learner.n_features, examples.width())
    return examples.X(max(stream.format.width or learner.n_features or 0, examples.width()))
