"""Ranking lists by linear learners; and what kernel rankers share with that."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.cli.console import pairs, tell_log, watched
from perceptive.cli.options import as_json, given_to_learner
from perceptive.cli.tasks import Evaluation, Opened
from perceptive.cli.tasks.classify import all_new, examined, refuse_strange, weights_of
from perceptive.cli.tasks.explained import Explained
from perceptive.cli.tasks.files import ListsJob
from perceptive.cli.tasks.rows import (
    OfRows,
    count,
    known_rows,
    open_stream,
    refuse_changes,
    stream_for,
)
from perceptive.data.dataset import Dataset
from perceptive.evaluation.metrics import mean_average_precision, mrr, ndcg, top1, top1_counts
from perceptive.inspection import heaviest
from perceptive.learners.ranking import RankingLearner
from perceptive.parameters import RankingParameters, TrainingParameters
from perceptive.streams import Stream
from perceptive.streams.lists import read_lists
from perceptive.streams.meaning import check_meaning
from perceptive.training.blocks import NO_LISTS, ListBlocks
from perceptive.training.source import FileSource

SHOWN = {"top1": "top-1", "mrr": "MRR", "map": "MAP", "ndcg": "NDCG", "ndcg@10": "NDCG@10"}
Scores = NDArray[np.float64]


class Rank(OfRows):
    unit, tells_epochs = "lists", False

    # ------------------------------------------------------------ training

    def open(self, options: argparse.Namespace, training: TrainingParameters, learner: Any) -> ListsJob:
        stream, learner = self._begin(options, learner)
        return ListsJob(stream, ListBlocks(), options, training, learner)

    def _begin(self, options: argparse.Namespace, learner: Any) -> tuple[Stream, Any]:
        if options.model:
            refuse_changes(options, learner)
        new = RankingLearner(**given_to_learner(options, RankingParameters)) if learner is None else learner
        stream = open_stream(options, learner, RankingParameters)
        if learner is None:
            new.space.reads(stream.format, stream.idf)
        return stream, new

    def follow(self, options: argparse.Namespace, learner: Any) -> tuple[Any, Iterator[Dataset]]:
        """Learn from lists as they arrive: one of svmlight ends where the query changes, one of JSON with its line."""
        stream, new = self._begin(options, learner)
        kind, width = ListBlocks(), stream.format.width

        def datasets() -> Iterator[Dataset]:
            for read in kind.parse(stream, lambda read: read, live=True):
                if read.block is not None:
                    yield kind.dataset(new, kind.ready(read.block, width))
                    new.space.remember(stream.log.names, () if new.space.header else stream.columns)

        return new, datasets()

    # ------------------------------------------------------------ using a model

    def scored(self, learner: Any, options: argparse.Namespace, stream: Stream | None = None) -> Opened:
        """Lists with the scores of their candidates, block by block; raises as `scored_rows` does."""
        read = stream_for(learner, options) if stream is None else stream

        def parts() -> Iterator[tuple[int, Any]]:
            latest = -1
            for part in read_lists(read):
                if part.file != latest and np.any(part.examples.data) and all_new(part.examples, learner.n_features):
                    refuse_strange(read, part.file)
                latest = part.file
                yield len(part), (part, self.score(learner, options, part) if len(part) else np.empty(0))

        return Opened(read.files, read.log, parts())

    def score(self, learner: Any, options: argparse.Namespace, part: Any) -> Scores:
        rows = known_rows(part.examples, learner.n_features)
        scores: Scores = learner.scores(rows, np.diff(part.starts), options.hypothesis)
        return scores

    def predict(self, learner: Any, options: argparse.Namespace) -> Opened:
        """A line for each list: its candidates from best to worst."""
        opened = self.scored(learner, options)
        return opened._replace(parts=((len(part), _lines(part, scores, options)) for _, (part, scores) in opened.parts))

    def explain(self, learner: Any, options: argparse.Namespace) -> Opened:
        """Explain the order of each list: the features of each candidate, the best first."""
        from perceptive.explanation import explain_rows, file_names

        stream = stream_for(learner, options, names=True)

        def tell(part: Any) -> list[Any]:
            name = file_names(stream.format, stream.log.names, learner.space.names)
            rows = part.examples.narrow(learner.n_features)
            return explain_rows(learner, rows, name, None, options.top, options.hypothesis)

        return explained_lists(self.scored(learner, options, stream), tell)

    def evaluate(self, learner: Any, options: argparse.Namespace) -> Evaluation:
        """Top-1, MRR, MAP and NDCG of the lists that have answers."""
        grades, scores, sizes = [np.empty(0)], [np.empty(0)], [np.empty(0, np.int64)]
        lists = unanswered = 0
        opened = self.scored(learner, options)
        for part, found in watched(opened, not options.json):
            if len(part) == 0:
                continue
            missing = np.logical_or.reduceat(np.isnan(part.grades), part.starts[:-1])
            answered = np.repeat(~missing, np.diff(part.starts))
            grades.append(part.grades[answered])
            scores.append(found[answered])
            sizes.append(np.diff(part.starts)[~missing])
            lists += int(np.count_nonzero(~missing))
            unanswered += int(np.count_nonzero(missing))
        if lists == 0:
            tell_log(opened.log)  # may say why
            raise ValueError(NO_LISTS)
        starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
        told = np.concatenate(grades), np.concatenate(scores), starts
        metrics, counted = _metrics(*told), top1_counts(*told)[1]
        if counted < lists:
            said = f"in {lists - counted:,} of {lists:,} lists no candidate is better than another: they do not count"
            opened.log.remark("equal", said)
        skipped = opened.log.skipped
        rows: list[tuple[str, Any]] = [("lists", f"{lists:,}")]
        rows += [(name, f"{n:,}") for name, n in (("without answer", unanswered), ("skipped", skipped)) if n]
        for name, n in metrics.items():
            rows.append((SHOWN[name], _undefined(name, told[0], counted) if n is None else f"{n:.4f}"))
        counts = count(lists, opened.log, unanswered, candidates=int(starts[-1]))
        return Evaluation(counts, metrics, {}, pairs(rows), opened.log)

    def examine(self, learner: Any, options: argparse.Namespace) -> Opened:
        return examined(FileSource(weighed_stream(learner, options), ListBlocks()), learner)

    def weights(self, learner: Any, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
        tops = heaviest(learner, options.top, options.hypothesis) if learner.vectors else {}
        return weights_of(tops, learner.space.hashed)


def weighed_stream(learner: Any, options: argparse.Namespace) -> Stream:
    """Return the files that a model is certified on; an option may name another key of the weights."""
    stream = stream_for(learner, options, fixed=True)
    if options.weight is None:
        return stream
    format = replace(stream.format, weight=options.weight)
    check_meaning(format, {"weight": options.weight})
    return replace(stream, format=format)


def explained_lists(opened: Opened, tell: Callable[[Any], list[Any]]) -> Opened:
    """Explain the candidates of scored lists, the best first."""

    def parts() -> Iterator[tuple[int, list[Explained]]]:
        number = 0
        for n, (part, scores) in opened.parts:
            told, lists = tell(part) if len(part) else [], []
            for t, name in enumerate(part.names):
                number += 1
                begin, end = part.starts[t], part.starts[t + 1]
                order = np.argsort(-scores[begin:end], kind="stable").tolist()
                title = f"list {number}" if name is None else f"query {name}"
                beside = {"order": order} if name is None else {"qid": name, "order": order}
                titles = [f"{title}, candidate {j}" for j in order]
                lists.append(Explained([told[begin + j] for j in order], titles, beside))
            yield n, lists

    return opened._replace(parts=parts())


def _undefined(name: str, grades: Scores, counted: int) -> str:
    """Say why a metric is not defined."""
    if name == "map" and counted:
        which = "every grade is above 0" if (grades > 0).all() else "no list has grades above 0 and others"
        return f"not defined: {which}; candidates with grades above 0 are the relevant ones"
    if (grades < 0).any():
        return "not defined for negative grades; add a number to all of them, so that the lowest is 0"
    return "not defined: no list has a candidate that is better than another"


def _lines(part: Any, scores: Scores, options: argparse.Namespace) -> bytes:
    """A line for every list; one that was skipped has an empty line."""
    lines = []
    for t, name in enumerate([*part.names, None]):
        lines += ["null" if options.json else ""] * part.skipped.count(t)
        if t == len(part):
            break
        mine = scores[part.starts[t] : part.starts[t + 1]]
        order = np.argsort(-mine, kind="stable").tolist()
        if options.json:
            told = {"order": order, "scores": [round(float(mine[j]), 9) for j in order]}
            lines.append(as_json(told if name is None else {"qid": name, **told}))
        elif options.scores:
            lines.append(" ".join(f"{j}:{mine[j]:.6g}" for j in order))
        else:
            lines.append(" ".join(map(str, order)))
    return "".join(line + "\n" for line in lines).encode()


def _metrics(grades: Scores, scores: Scores, starts: NDArray[np.int64]) -> dict[str, float | None]:
    told, gains_known = (grades, scores, starts), bool((grades >= 0).all())
    numbers = {
        "top1": top1(*told),
        "mrr": mrr(*told),
        "map": mean_average_precision(*told),
        "ndcg": ndcg(*told) if gains_known else np.nan,
        "ndcg@10": ndcg(*told, 10) if gains_known else np.nan,
    }
    return {name: None if np.isnan(value) else float(value) for name, value in numbers.items()}
