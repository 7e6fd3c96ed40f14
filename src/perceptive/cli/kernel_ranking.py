"""Kernel rankers on the command line: lists are read into memory, since any candidate may become a support.

Kernels of vectors take the lists that linear rankers take. Kernels of strings and trees take JSON lines: a candidate is
what the kernel compares, ``spectrum(3)`` strings, ``spectrum(3)@text`` objects with a part of that name.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.cli.kernel import check_width, held_out, said_plainly, try_objects
from perceptive.cli.options import given, option_of
from perceptive.parameters import KernelRankingParameters, TrainingParameters

if TYPE_CHECKING:
    from perceptive.certificate import Certificate
    from perceptive.learners.kernel_ranking import KernelRankingLearner
    from perceptive.streams import Stream
    from perceptive.streams.lists import CandidateLists
    from perceptive.streams.object_lists import ObjectLists
    from perceptive.streams.parsing import Log


class Answered(NamedTuple):
    """The lists of some files that have answers, in memory."""

    X: Any
    grades: NDArray[np.float64]
    starts: NDArray[np.int64]
    unanswered: int
    log: Log

    def take(self, which: NDArray[np.int64]) -> tuple[Any, NDArray[np.float64], NDArray[np.int64]]:
        """Candidates, grades and sizes of some of the lists."""
        sizes = np.diff(self.starts)
        if len(which) == len(sizes):
            return self.X, self.grades, sizes
        rows = np.concatenate([np.arange(self.starts[t], self.starts[t + 1]) for t in which])
        X = [self.X[i] for i in rows.tolist()] if isinstance(self.X, list) else self.X[rows]
        return X, self.grades[rows], sizes[which]


def train(options: argparse.Namespace, stream: Stream | None, learner: KernelRankingLearner | None) -> int:
    """Learn, or let a learner go on; ``stream`` is None where candidates are objects."""
    from perceptive.cli.console import progress
    from perceptive.cli.ranking import tell, tell_run
    from perceptive.learners.kernel_ranking import KernelRankingLearner
    from perceptive.learners.list_game import telling
    from perceptive.metrics import top1
    from perceptive.persistence import save
    from perceptive.training import train
    from perceptive.training.passes import TELLS_NOTHING

    began = time.monotonic()
    training = TrainingParameters(**given(options, TrainingParameters, {"progress"}))
    parameters = _parameters(options, learner)
    if learner is None:
        learner = KernelRankingLearner(**parameters)
    lists = _answered(options, stream, learner)
    held = held_out(len(lists.starts) - 1, training.validation_fraction, learner.parameters.random_state, "lists")
    taught, kept = lists.take(np.flatnonzero(~held)), np.flatnonzero(held)
    lesson = said_plainly(learner.prepare, *taught, several=training.epochs > 1)
    if not lesson.present.any():
        raise ValueError("no list has a candidate that is better than another; check the files and the format")

    if len(kept) and not telling(lists.grades, lists.starts)[kept].any():
        raise ValueError(TELLS_NOTHING)

    def top_of_held_out() -> float:
        X, grades, sizes = lists.take(kept)
        return top1(grades, learner.scores(X, sizes), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))

    files = _files(options) if stream is None else stream.files
    with progress(files, training.epochs, not (options.quiet or options.json)) as bar:

        def report(played: int, mistakes: int) -> None:
            bar.update((bar.total or 0) * played / (training.epochs * len(lesson)), played, mistakes)

        history = train(lesson, training, top_of_held_out if len(kept) else None, report)
    certificate = None
    if options.certify:
        from perceptive.dual_certificate import certify_kernel_lists

        certificate = certify_kernel_lists(learner, learner.lesson(*taught))
    if not options.model:
        learner.reading = None if stream is None else stream.reading
    save(learner, options.output)
    tell(lists.log)
    about = {
        "lists": len(lists.starts) - 1,
        "candidates": int(lists.starts[-1]),
        "unanswered": lists.unanswered,
        "skipped": lists.log.skipped,
        "features": learner.n_features,
        "kernel": repr(learner.kernel),
        "supports": 0 if learner.dual is None else len(learner.dual),
    }
    tell_run(options, about, history, certificate, time.monotonic() - began)
    return 0


def _parameters(options: argparse.Namespace, learner: KernelRankingLearner | None) -> dict[str, Any]:
    """What was given of the learner; of one that goes on, nothing may differ."""
    chosen = given(options, KernelRankingParameters, {"kernel", "cost", "cache_size"})
    if options.pair_cost is not None:
        chosen["cost"] = options.pair_cost
    if learner is None:
        return {**chosen, "kernel": options.kernel}
    changed = [option_of(name) for name, value in chosen.items() if value != getattr(learner.parameters, name)]
    changed += ["--kernel"] if options.kernel is not None else []
    if changed:
        raise ValueError(f"{options.model}: goes on learning as it has begun; leave out {', '.join(changed)}")
    return {}


def _files(options: argparse.Namespace) -> list[str]:
    from perceptive.streams.blocks import expand

    if options.format not in (None, "json", "jsonl"):
        raise ValueError(f"kernels of strings, trees and parts take JSON lines, not {options.format}")
    return expand(options.data)


def _answered(options: argparse.Namespace, stream: Stream | None, learner: KernelRankingLearner) -> Answered:
    from perceptive.streams.lists import read_lists
    from perceptive.streams.object_lists import read_object_lists
    from perceptive.streams.parsing import Log

    log = Log()
    parts: list[Any]
    if stream is None:

        def attempt(X: list[Any], sizes: NDArray[np.int64]) -> None:
            try_objects(learner.kernel, learner.parameters.dtype, learner.dual, X)

        parts = list(read_object_lists(_files(options), log, options.on_error == "skip", attempt))
    elif stream.reading.has_idf:
        raise ValueError("idf does not go with --kernel; leave it out")
    else:
        parts, log = list(read_lists(stream)), stream.log
    grades = np.concatenate([np.empty(0), *(part.grades for part in parts)])
    sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(part.starts) for part in parts)])
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    answered = ~np.logical_or.reduceat(np.isnan(grades), starts[:-1]) if len(sizes) else np.zeros(0, bool)
    if not answered.any():
        from perceptive.cli.ranking import tell

        tell(log)
        raise ValueError("there are no lists with answers; check the files and the format")
    X = [x for part in parts for x in part.candidates] if stream is None else _rows(stream, learner, parts)
    every = Answered(X, grades, starts, int(np.count_nonzero(~answered)), log)
    X, grades, sizes = every.take(np.flatnonzero(answered))
    return Answered(X, grades, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), every.unanswered, log)


def _rows(stream: Stream, learner: KernelRankingLearner, parts: list[CandidateLists]) -> Any:
    from perceptive.streams.examples import join

    examples = join([part.examples for part in parts], stream.dtype)
    check_width(stream, learner.n_features, examples.width())
    width = max(stream.reading.width or learner.n_features or 0, examples.width())
    return examples.X(width)


def scored_lists(
    learner: KernelRankingLearner, options: argparse.Namespace, bar_wanted: bool
) -> Iterator[tuple[CandidateLists | ObjectLists, NDArray[np.float64], Log]]:
    """The lists of the files with the scores of their candidates, block by block."""
    from perceptive.cli.console import progress
    from perceptive.cli.model import stream_for
    from perceptive.streams.lists import read_lists
    from perceptive.streams.object_lists import read_object_lists
    from perceptive.streams.parsing import Log

    def score(X: Any, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        return learner.scores(X, sizes, options.hypothesis)

    assert learner.dual is not None
    learner.dual.check_hypothesis(options.hypothesis or learner.parameters.hypothesis)
    done = 0
    if learner.takes_objects:
        files, log = _files(options), Log()
        with progress(files, 1, bar_wanted) as bar:
            for part in read_object_lists(files, log, options.on_error == "skip", score):
                done += len(part)
                bar.update(log.bytes, done)
                yield part, np.empty(0) if part.made is None else part.made, log
        return
    stream, width = stream_for(learner, options), learner.n_features or 0
    with progress(stream.files, 1, bar_wanted) as bar:
        for rows in read_lists(stream):
            done += len(rows)
            scores = score(rows.examples.narrow(width).X(width), np.diff(rows.starts)) if len(rows) else np.empty(0)
            bar.update(stream.log.bytes, done)
            yield rows, scores, stream.log


def certify(learner: KernelRankingLearner, options: argparse.Namespace) -> Certificate:
    """The certificate of a kernel ranker's run."""
    from perceptive.cli.model import stream_for
    from perceptive.cli.ranking import tell
    from perceptive.dual_certificate import certify_kernel_lists

    stream = None if learner.takes_objects else stream_for(learner, options, fixed=True)
    lists = _answered(options, stream, learner)
    tell(lists.log)
    certificate: Certificate = said_plainly(
        lambda: certify_kernel_lists(learner, learner.lesson(lists.X, lists.grades, np.diff(lists.starts)))
    )
    return certificate
