"""Rankers on the command line: what ``train --task rank``, ``rank`` and ``eval`` do with them."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from perceptive.cli.options import add_parameters, as_json, given, option_of
from perceptive.parameters import LinearParameters, RankingParameters, TrainingParameters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from perceptive.certificate import Certificate
    from perceptive.learners.kernel_ranking import KernelRankingLearner
    from perceptive.learners.ranking import RankingLearner, RankingLesson
    from perceptive.streams import Stream
    from perceptive.streams.lists import CandidateLists
    from perceptive.streams.object_lists import ObjectLists
    from perceptive.streams.parsing import Log
    from perceptive.training import History

SHARED = {f.name for f in fields(LinearParameters)}  # options that are there for both; --cost is the taggers'
LEAVE_OUT = {"bits", "n_features"}  # of the reading


def add_ranking(parser: argparse.ArgumentParser) -> None:
    """Options of the task."""
    group = parser.add_argument_group("ranking (--task rank): svmlight with qid:, or JSON lines with candidates")
    add_parameters(group, RankingParameters, SHARED)
    [cost] = [f for f in fields(RankingParameters) if f.name == "cost"]
    group.add_argument("--pair-cost", choices=[c for c in cost.metadata["choices"] if c], help=cost.metadata["help"])


def train_rank(options: argparse.Namespace, stream: Stream, training: TrainingParameters) -> int:
    """Learn to rank."""
    from perceptive.certificate import certify_lists
    from perceptive.cli.console import progress
    from perceptive.learners.ranking import RankingLearner
    from perceptive.persistence import save
    from perceptive.training.ranking import ListSource, train_lists

    began = time.monotonic()
    chosen = given(options, RankingParameters, LEAVE_OUT | {"cost"})
    if options.pair_cost is not None:
        chosen["cost"] = options.pair_cost
    if options.model:
        learner = linear_ranker(options.model)
        changed = [option_of(name) for name, value in chosen.items() if value != getattr(learner.parameters, name)]
        if changed:
            raise ValueError(f"{options.model}: goes on learning as it has begun; leave out {', '.join(changed)}")
    else:
        learner = RankingLearner(**chosen)
    start = learner.rounds, learner.mistakes
    seed, passes = options.random_state or 0, training.epochs + bool(options.certify)
    with ListSource(stream, training.validation_fraction, seed, passes=passes, cache=options.cache) as source:
        with progress(stream.files, training.epochs, not (options.quiet or options.json)) as bar:

            def after_block(epoch: int) -> None:
                done = source.done + epoch * (bar.total or 0) / training.epochs
                bar.update(done, learner.rounds - start[0], learner.mistakes - start[1])

            history = train_lists(learner, source, training, after_block)
        certificate = certify_lists(learner, source.lessons(learner)) if options.certify else None
    save(learner, options.output)
    tell(stream.log)
    about = {
        "lists": source.lists,
        "candidates": source.candidates,
        "unanswered": source.unanswered,
        "skipped": source.skipped,
        "features": learner.n_features,
    }
    tell_run(options, about, history, certificate, time.monotonic() - began)
    return 0


def tell_run(
    options: argparse.Namespace,
    about: dict[str, Any],
    history: History,
    certificate: Certificate | None,
    seconds: float,
) -> None:
    """What training did: a line of JSON, or a table."""
    if options.json:
        from perceptive.cli.train import certificate_json

        told = {
            "model": options.output,
            **about,
            **asdict(history),
            "certificate": None if certificate is None else certificate_json(certificate),
            "seconds": seconds,
        }
        print(as_json(told))
        return
    if options.quiet:
        return
    from perceptive.cli.console import of_passes, pairs

    names = {"unanswered": "without answer", "skipped": "skipped lists"}
    rows: list[tuple[str, Any]] = [
        (names.get(name, name), f"{value:,}" if isinstance(value, int) else value)
        for name, value in about.items()
        if value is not None and (value or name not in names)
    ]
    rows.append(("mistakes", of_passes(history.mistakes, converged=history.converged)))
    if history.held_out:
        rows.append(("held-out top-1", of_passes(history.held_out, ".2%")))
    if certificate is not None:
        rows.append(("certificate", str(certificate)))
    print(pairs([*rows, ("time", f"{seconds:.2f} s"), ("model", options.output)]))


def tell(log: Log) -> None:
    """What was skipped, and what is odd."""
    for said in [*(f"skipped: {one}" for one in log.complaints), *(f"note: {one}" for one in log.remarks.values())]:
        print(said, file=sys.stderr)


def load_ranker(path: str) -> RankingLearner | KernelRankingLearner:
    """The ranker of a model file, which must have learned, and not from dicts."""
    from perceptive.learners.kernel_ranking import KernelRankingLearner
    from perceptive.learners.ranking import RankingLearner
    from perceptive.persistence import load_learner

    learner = load_learner(path)
    if not isinstance(learner, RankingLearner | KernelRankingLearner):
        raise ValueError(f"{path}: is no ranker; train one with --task rank")
    if (learner.problem if isinstance(learner, RankingLearner) else learner.dual) is None:
        raise ValueError(f"{path}: this model has learned nothing; train it first")
    if isinstance(learner, KernelRankingLearner):
        if learner.kernel.one_way:
            raise ValueError(f"{path}: compares by a Gram matrix, which files do not hold; use it from Python")
        return learner
    if learner.vocabulary is not None:
        raise ValueError(f"{path}: learned from dicts in Python, and cannot read files; use it from Python")
    return learner


def linear_ranker(path: str) -> RankingLearner:
    """A ranker that was not learned with a kernel."""
    from perceptive.learners.ranking import RankingLearner

    learner = load_ranker(path)
    assert isinstance(learner, RankingLearner)  # kernel rankers go on elsewhere
    return learner


def certify_ranker(options: argparse.Namespace) -> Certificate:
    """The certificate of a ranker on the lists of files."""
    from perceptive.certificate import certify_lists
    from perceptive.cli.console import progress
    from perceptive.cli.model import stream_for
    from perceptive.learners.ranking import RankingLearner
    from perceptive.training.ranking import ListSource

    learner = load_ranker(options.model)
    if not isinstance(learner, RankingLearner):
        from perceptive.cli.kernel_ranking import certify

        return certify(learner, options)
    stream = stream_for(learner, options, fixed=True)
    with ListSource(stream) as source, progress(stream.files, 1, not options.json) as bar:

        def lessons() -> Iterator[RankingLesson]:
            for lesson in source.lessons(learner, known_only=True):
                bar.update(stream.log.bytes, source.lists)
                yield lesson

        certificate = certify_lists(learner, lessons())
        if source.lists == 0:
            raise ValueError("there are no lists with answers; check the files and the format")
    return certificate


def scored_lists(
    learner: RankingLearner | KernelRankingLearner, options: argparse.Namespace, bar_wanted: bool
) -> Iterator[tuple[CandidateLists | ObjectLists, NDArray[np.float64], Log]]:
    """The lists of the files with the scores of their candidates, block by block."""
    from perceptive.learners.ranking import RankingLearner

    if isinstance(learner, RankingLearner):
        yield from _scored_rows(learner, options, bar_wanted)
    else:
        from perceptive.cli import kernel_ranking

        yield from kernel_ranking.scored_lists(learner, options, bar_wanted)


def _scored_rows(
    learner: RankingLearner, options: argparse.Namespace, bar_wanted: bool
) -> Iterator[tuple[CandidateLists, NDArray[np.float64], Log]]:
    import numpy as np

    from perceptive.cli.console import progress
    from perceptive.cli.model import stream_for
    from perceptive.streams.lists import read_lists
    from perceptive.training.ranking import rows_of

    stream = stream_for(learner, options)
    with progress(stream.files, 1, bar_wanted) as bar:
        done = 0
        for part in read_lists(stream):
            done += len(part)
            scores = np.empty(0)
            if len(part):
                scores = learner.scores_of(rows_of(part, learner, known_only=True), part.starts, options.hypothesis)
            bar.update(stream.log.bytes, done)
            yield part, scores, stream.log


def evaluate_ranker(learner: RankingLearner | KernelRankingLearner, options: argparse.Namespace) -> None:
    """Top-1, MRR, MAP and NDCG of the lists that have answers."""
    import numpy as np

    from perceptive.metrics import mean_average_precision, mrr, ndcg, top1

    grades, scores, sizes = [np.empty(0)], [np.empty(0)], [np.empty(0, np.int64)]
    lists = unanswered = skipped = 0
    log: Log | None = None
    for part, found, latest in scored_lists(learner, options, not options.json):
        log = latest
        if len(part) == 0:
            continue
        missing = np.logical_or.reduceat(np.isnan(part.grades), part.starts[:-1])
        answered = np.repeat(~missing, np.diff(part.starts))
        grades.append(part.grades[answered])
        scores.append(found[answered])
        sizes.append(np.diff(part.starts)[~missing])
        lists += int(np.count_nonzero(~missing))
        unanswered += int(np.count_nonzero(missing))
    if log is not None:
        tell(log)
        skipped = log.skipped
    if lists == 0:
        raise ValueError("there are no lists with answers; check the files and the format")
    starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    told = (np.concatenate(grades), np.concatenate(scores), starts)
    gains_known = bool((told[0] >= 0).all())
    numbers: dict[str, float | None] = {
        "top1": top1(*told),
        "mrr": mrr(*told),
        "map": mean_average_precision(*told),
        "ndcg": ndcg(*told) if gains_known else None,
        "ndcg@10": ndcg(*told, 10) if gains_known else None,
    }
    numbers = {name: None if value is None or np.isnan(value) else value for name, value in numbers.items()}
    if options.json:
        print(as_json({"lists": lists, "unanswered": unanswered, "skipped": skipped, **numbers}))
        return
    from perceptive.cli.console import pairs

    rows: list[tuple[str, Any]] = [("lists", f"{lists:,}")]
    rows += [(name, f"{n:,}") for name, n in (("without answer", unanswered), ("skipped", skipped)) if n]
    names = {"top1": "top-1", "mrr": "MRR", "map": "MAP", "ndcg": "NDCG", "ndcg@10": "NDCG@10"}
    rows += [(names[name], "not defined" if value is None else f"{value:.4f}") for name, value in numbers.items()]
    print(pairs(rows))
