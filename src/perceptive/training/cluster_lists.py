"""`ClusterLists`: what rerankers learn from, on a cluster.

The taggers of cross-fitting are tasks, one for each fold; so is what each proposes for the sentences of its fold. Lists
in which a candidate is better than another are dealt out to the shards, as `mixing` does it, and the workers describe
their candidates. Each tagger learns from nearly all sentences, so a worker must be able to hold them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.data.dataset import Dataset, Order
from perceptive.errors import ParameterError
from perceptive.learners.candidates import (
    NOTHING_TOLD,
    CandidateLists,
    best_of,
    f1_or_accuracy,
    grades_of,
    warn_of_few,
)
from perceptive.learners.description import Candidate
from perceptive.learners.reranking import RerankingLearner, new_like, ranked_dataset
from perceptive.training.cluster import Futures
from perceptive.training.cluster_sentences import ClusterSentences, SentencePart
from perceptive.training.dask import ClusterDataset, Shard, ShardSource, same
from perceptive.training.mixing import check_mixing

Floats = NDArray[np.float64]
Proposed = list[list[Candidate]]  # for each sentence of a fold


class Told(NamedTuple):
    """What must be known about a fold before the first epoch."""

    sentences: NDArray[np.int64]  # whose lists tell something
    best: list[list[Any]]  # candidates, of every sentence
    first: CandidateLists | None  # a list


def propose(parts: list[SentencePart], learner: RerankingLearner, fold: int, weights: Floats | None) -> Proposed:
    """Return what a tagger that has learned from the other folds proposes for a fold."""
    return learner.propose(*_joined(parts), fold, weights)


def told_of(
    parts: list[SentencePart], learner: RerankingLearner, proposed: Proposed, fold: int, in_segments: bool
) -> Told:
    """Return which lists of a fold are informative, and the best candidate of every list."""
    X, y = (some[fold :: learner.folds] for some in _joined(parts))
    graded = grades_of(y, proposed, learner.target, in_segments)
    telling = [i for i, grades in enumerate(graded) if max(grades) > min(grades)]
    first = None
    if telling:
        [i] = telling[:1]
        first = learner.graded([X[i]], [y[i]], [proposed[i]], [{}], True, in_segments)
    numbers = fold + learner.folds * np.array(telling, np.int64)
    return Told(numbers, best_of(y, proposed, in_segments), first)


@dataclass
class ListShard(Shard):
    """The lists of a shard; features of candidates are hashed."""

    lists: CandidateLists
    weights: Floats | None

    def made(self, learner: Any) -> Dataset:
        dataset: Any = ranked_dataset(learner, self.lists, grow=False)
        dataset.weights = self.weights  # also where all are 1, since those of other shards are not
        return dataset  # type: ignore[no-any-return]


def make_shard(
    parts: list[SentencePart],
    learner: RerankingLearner,
    folds: list[Proposed],
    in_segments: bool,
    numbers: Order,
    weights: Floats | None,
) -> ListShard:
    """Return the lists of some sentences, with their weights."""
    X, y = _joined(parts)
    every = [folds[i % learner.folds][i // learner.folds] for i in range(len(X))]
    recalled, chosen = learner.recalled(X, every), numbers.tolist()
    X, y, every, recalled = ([some[i] for i in chosen] for some in (X, y, every, recalled))
    lists = learner.graded(X, y, every, recalled, True, in_segments)
    return ListShard(lists, weights)


def _joined(parts: list[SentencePart]) -> tuple[list[Any], list[Any]]:
    return [x for part in parts for x in part.X], [labels for part in parts for labels in part.y]


def check_ranker(learner: RerankingLearner, shards: int) -> None:
    """Raise if the ranker of a learner cannot learn on a cluster."""
    check_mixing(learner, shards)
    if learner.hashing is None:
        raise ParameterError("a ranker on a cluster hashes the features of candidates; give it {}", "bits")


class ClusterLists(ShardSource):
    """Candidates of sentences on a cluster, as a source; the learner has a linear ranker that hashes its features."""

    dataset: ClusterDataset

    def __init__(self, sentences: ClusterSentences, learner: RerankingLearner) -> None:
        check_ranker(learner, sentences.shards)
        self._weights = sentences.weights(learner.parameters.rule)
        learner.check_folds(sentences.y, self._weights)
        warn_of_few(len(sentences.y))
        new_like(learner.tagger).meet_elsewhere(sentences.first, sentences.y, whole=True)  # tells of odd labels
        self.cluster, self._sentences, self._learner = sentences.cluster, sentences, learner
        in_segments, tasks = learner.in_segments(sentences.y), Futures(self.cluster, self._folds)

        def ask(client: Any) -> list[Any]:
            parts, sent, folds = tasks.of(client)
            return [
                client.submit(told_of, parts, sent, proposed, fold, in_segments, pure=False)
                for fold, proposed in enumerate(folds)
            ]

        found: list[Told] = self.cluster.ask(ask)
        self.telling = np.sort(np.concatenate([one.sentences for one in found]))
        if not len(self.telling):
            raise ValueError(NOTHING_TOLD)
        best: list[Any] = [None] * len(sentences.y)
        for fold, one in enumerate(found):
            best[fold :: learner.folds] = one.best
        learner.oracle = f1_or_accuracy(sentences.y, best, in_segments)
        first = next(one.first for one in found if one.first is not None)
        ranked_dataset(learner.ranker, first, epochs=1)
        deal = [self.telling[i :: sentences.shards] for i in range(sentences.shards)]
        weights = self._weights
        if weights is not None and (weights[self.telling] == 1).all():
            weights = None

        def load(client: Any) -> list[Any]:
            parts, sent, folds = tasks.of(client)
            tasks.forget()
            how = parts, sent, folds, in_segments
            return [
                client.submit(make_shard, *how, numbers, None if weights is None else weights[numbers], pure=False)
                for numbers in deal
            ]

        self.dataset = ClusterDataset(learner.ranker, self.cluster, load, list(map(len, deal)))

    def _folds(self, client: Any) -> tuple[list[Any], Any, list[Any]]:
        """Return the sentences, the learner, and the proposals for each fold, as tasks."""
        parts, sent = self._sentences.parts.of(client), client.submit(same, self._learner, pure=False)
        folds = [
            client.submit(propose, parts, sent, fold, self._weights, pure=False, retries=3)
            for fold in range(self._learner.folds)
        ]
        return parts, sent, folds
