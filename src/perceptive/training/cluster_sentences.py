"""`ClusterSentences`: sentences as shards on a cluster, from files that its workers read or from bags of Dask.

Tasks read the parts, and deal their sentences out to the shards, as `mixing` does in one process: shard i has the
sentences i, i + S, … of all parts in their order. Before the first epoch three things must be the same for all: the
labels and their scheme, the strings that features are made of, and which features are too rare. The labels come here;
so do the different strings of every part, and both are numbered in the order of the parts. Features are counted on the
workers.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.data.sample_weights import check_weights
from perceptive.data.sentence_files import SentenceFiles, check_answered
from perceptive.data.sentences import SentenceDataset, different_labels, paired
from perceptive.errors import ExampleError
from perceptive.features.clusters import added
from perceptive.learners.sequence import SequenceLearner
from perceptive.streams.columns import Columns
from perceptive.streams.sentence import Place
from perceptive.training.cluster import Cluster, Futures
from perceptive.training.dask import (
    ClusterDataset,
    Shard,
    ShardSource,
    Weights,
    check_version,
    dealt,
    learner_of,
    partitions,
    send,
    shards_of,
    tree,
    weights_of,
)

Numbers = NDArray[np.int64]
Tally = dict[str, tuple[NDArray[np.uint64], Numbers]]  # of each kind of features: keys, and how often each is seen
Load = Callable[[Any], list[Any]]  # the futures of parts, from a client

# ---------------------------------------------------------------- tasks


@dataclass(frozen=True)
class SentencePart:
    """Sentences that one task reads."""

    X: list[Any]
    y: list[Any]
    weights: NDArray[np.float64] | None = None
    name: str = ""  # of a partition
    places: Sequence[Place] = ()  # in files
    columns: Columns | None = None  # of a file
    remarks: Sequence[str] = ()
    unanswered: int = 0  # sentences of a file that are left out

    def where(self, i: int, t: int | None = None) -> str:
        """Return the place of a sentence, or of a token."""
        if self.places:
            return self.places[i].of(t)
        return f"{self.name}, sentence {i}" + ("" if t is None else f", token {t}")

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Add the place of the sentence to errors."""
        try:
            yield
        except ExampleError as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(error.worded(self.where)) from None


class SentenceFacts(NamedTuple):
    """What must be known about a part before the first epoch."""

    labels: list[Any]  # different ones
    which: NDArray[np.int32]  # of each token
    lengths: Numbers  # of each sentence
    first: list[Any]  # a sentence
    width: int  # columns of a token in a file
    part: SentencePart  # without its sentences

    def y(self) -> list[list[Any]]:
        """The labels of all sentences."""
        every = [self.labels[i] for i in self.which.tolist()]
        ends = np.cumsum(self.lengths).tolist()
        return [every[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def read_part(asked: str, files: SentenceFiles, path: str) -> SentencePart:
    check_version(asked)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        X, y, places, columns, _, unanswered, _ = files.read(path)
    return SentencePart(X, y, None, path, places, columns, [str(one.message) for one in caught], unanswered)


def partition(X: Any, y: Any, weights: Any, number: int) -> SentencePart:
    """Return a partition of bags; raise if its parts do not fit each other. Without y, it consists of pairs."""
    name, X = f"partition {number}", list(X)
    if y is None:
        if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in X):
            raise TypeError(f"{name}: give pairs of a sentence and its labels, or another bag with the labels")
        X, y = [x for x, _ in X], [labels for _, labels in X]
    part = SentencePart(X, list(y), None if weights is None else np.asarray(weights, np.float64), name)
    if len(part.X) != len(part.y):
        raise ValueError(f"{name} has {len(part.X)} sentences, but {len(part.y)} label sequences; give one each")
    return part


def facts_of(part: SentencePart) -> SentenceFacts:
    """Return what must be known about a part; raise if sentences and labels do not fit each other."""
    bare = replace(part, X=[], y=[])
    if not part.X:
        return SentenceFacts([], np.empty(0, np.int32), np.empty(0, np.int64), [], 0, bare)
    with part.placed():
        X, y = paired(part.X, part.y)
        labels = [None, *different_labels(y)]
    index = {label: i for i, label in enumerate(labels)}
    which = np.fromiter((index[label] for label in itertools.chain.from_iterable(y)), np.int32)
    width = len(X[0][0]) if part.places else 0
    lengths = np.array(list(map(len, y)))
    return SentenceFacts(labels, which, lengths, X[0], width, bare)


def take_part(part: SentencePart, mended: dict[int, list[Any]], weighed: bool, rows: Numbers) -> SentencePart:
    """Return some sentences of a part, with repaired labels, and with weights if they are ``weighed``."""
    some = rows.tolist()
    weights = part.weights[rows] if weighed and part.weights is not None else None
    y = [mended.get(i, part.y[i]) for i in some]
    return replace(
        part, X=[part.X[i] for i in some], y=y, weights=weights, places=[part.places[i] for i in some if part.places]
    )


def told_of(
    part: SentencePart, weights: Weights, rows: Numbers, tell: Callable[[SequenceLearner, list[Any]], Any]
) -> Any:
    """Return what must be known about some sentences of a part; None if there are none."""
    some = take_part(part, {}, False, rows)
    learner = learner_of(weights)
    with some.placed():
        return tell(learner, some.X) if some.X else None


@dataclass
class TaggedShard(Shard):
    """The sentences of a shard."""

    parts: list[SentencePart]
    rare: dict[str, NDArray[np.uint64]] | None = None  # keys of features to leave out

    def made(self, learner: SequenceLearner) -> SentenceDataset:
        """Without the features that are rare in all shards together."""
        X, y = ([x for part in self.parts for x in getattr(part, name)] for name in "Xy")
        dataset = learner.dataset(X, y, grow=False)
        if self.parts[0].weights is not None:
            dataset.weigh(np.concatenate([part.weights for part in self.parts]))
        if self.rare is not None:
            dataset.sentences.drop(**self.rare)
        return dataset


def make_shard(parts: list[SentencePart]) -> TaggedShard:
    """Return a shard of some sentences of parts."""
    return TaggedShard([part for part in parts if part.X])


def tally(shard: TaggedShard, weights: Weights) -> Tally:
    """Return how often each feature occurs in a shard."""
    counted: Tally = shard.made(learner_of(weights)).sentences.tally()
    return {name: add_up(*found) for name, found in counted.items()}


def add_up(keys: NDArray[np.uint64], counts: Numbers) -> tuple[NDArray[np.uint64], Numbers]:
    """Return the different keys in their order, and the sum of the counts of each.

    Examples
    --------
    >>> add_up(np.array([7, 3, 7], np.uint64), np.array([1, 2, 4]))
    (array([3, 7], dtype=uint64), array([2, 5]))
    """
    found, place = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(found), np.int64)
    np.add.at(sums, place, counts)
    return found, sums


def add_tallies(mine: Tally, other: Tally) -> Tally:
    both = {name: zip(mine[name], other[name], strict=True) for name in mine}
    return {name: add_up(*[np.concatenate(pair) for pair in pairs]) for name, pairs in both.items()}


def without_rare(shard: TaggedShard, counted: Tally, min_count: int) -> TaggedShard:
    """Return a shard without the features that occur less than ``min_count`` times in all shards together."""
    return TaggedShard(shard.parts, {name: keys[counts < min_count] for name, (keys, counts) in counted.items()})


# ---------------------------------------------------------------- the source


class ClusterSentences(ShardSource):
    """Sentences on a cluster, as a source.

    ``parts(client)`` returns the futures of `SentencePart`; it is called again if they are lost.
    """

    def __init__(self, cluster: Cluster, parts: Load, shards: int) -> None:
        self.cluster, self.shards, self.parts = cluster, shards, Futures(cluster, parts)
        self.facts: list[SentenceFacts] = cluster.ask(
            lambda client: [client.submit(facts_of, part, pure=False) for part in self.parts.of(client)]
        )
        self.y = [labels for one in self.facts for labels in one.y()]
        bare = [one.part for one in self.facts]
        self.unanswered = sum(part.unanswered for part in bare)
        given = [one for one in self.facts if len(one.lengths)]
        check_answered(self.y, (given or self.facts)[0].part.columns, self.unanswered)
        if not given:
            raise ValueError("there are no sentences; give at least one")
        self.first, self.columns = given[0].first, given[0].part.columns
        for one in given:
            if one.width != given[0].width:
                raise ValueError(
                    f"{one.part.where(0)}: it has {one.width} columns, but those before it have {given[0].width}; "
                    "give every token the same columns"
                )
        self.places = [place for part in bare for place in part.places]
        for remark in (remark for part in bare for remark in part.remarks):
            warnings.warn(remark, stacklevel=2)
        self.scored: Callable[[], float] | None = None  # the score on what is held out

    @classmethod
    def of_files(cls, cluster: Cluster, files: SentenceFiles, paths: Sequence[str], shards: int) -> ClusterSentences:
        """Return the sentences of files that all workers can read."""
        asked = version("perceptive")

        def parts(client: Any) -> list[Any]:
            return [client.submit(read_part, asked, files, path, pure=False) for path in paths]

        return cls(cluster, parts, shards)

    @classmethod
    def of_bags(cls, cluster: Cluster, X: Any, y: Any, weights: Any, shards: int) -> ClusterSentences:
        """Return the sentences of bags of sentences and labels, or (without y) of pairs; weights are an array."""
        known = partitions(X, y, weights)

        def parts(client: Any) -> list[Any]:
            return [client.submit(partition, *each, number, pure=False) for number, each in enumerate(known(client))]

        return cls(cluster, parts, shards)

    # ------------------------------------------------------------ what the loop asks for

    def held_out(self, held: NDArray[np.bool_]) -> tuple[list[Any], list[Any]]:
        """Return the sentences and labels that are held out; they are sent to this process."""
        rows = self._rows(held)
        found = self.cluster.ask(
            lambda client: [
                client.submit(take_part, part, {}, False, mine, pure=False)
                for part, mine in zip(self.parts.of(client), rows, strict=True)
            ]
        )
        return [x for part in found for x in part.X], [labels for part in found for labels in part.y]

    def begin(self, learner: SequenceLearner, taught: NDArray[np.bool_], whole: bool) -> ClusterDataset:
        """Show a learner all sentences to learn from; return the dataset that it plays.

        ``taught`` says which sentences of all parts are learned from; ``whole``: they are its whole training set.
        """
        y = [labels for labels, mine in zip(self.y, taught, strict=True) if mine]
        first = self.first if taught[0] else self.held_out(np.arange(len(taught)) == np.argmax(taught))[0][0]
        mended = {
            int(i): now
            for i, was, now in zip(np.flatnonzero(taught), y, learner.meet_elsewhere(first, y, whole), strict=True)
            if now is not was
        }
        rows = self._rows(taught)
        if whole and learner.wants_contexts:
            learner.meet_contexts(added(self._told(learner, rows, SequenceLearner.contexts_of)))
        for strings in self._told(learner, rows, SequenceLearner.strings_of):
            learner.meet_strings(strings)
        starts = np.cumsum([0, *(len(one.lengths) for one in self.facts)])
        of_part = [
            {i - int(start): labels for i, labels in mended.items() if start <= i < end}
            for start, end in itertools.pairwise(starts)
        ]
        deal = [
            [mine[some] for mine, some in zip(rows, each, strict=True)]
            for each in dealt(list(map(len, rows)), self.shards)
        ]
        min_count = learner.min_count(y) if whole else 1
        weighed = self.weights(learner.parameters.rule) is not None

        def load(client: Any) -> list[Any]:
            parts = [(part, changed, weighed) for part, changed in zip(self.parts.of(client), of_part, strict=True)]
            made = shards_of(client, parts, deal, take_part, make_shard)
            self.parts.forget()
            if min_count == 1:
                return made
            counted = tree(client, weights_of(learner), tally, [(shard,) for shard in made], add_tallies)[-1]
            return [client.submit(without_rare, shard, counted, min_count, pure=False) for shard in made]

        self.dataset = ClusterDataset(learner, self.cluster, load, [sum(map(len, mine)) for mine in deal])
        return self.dataset

    def _told(self, learner: SequenceLearner, rows: list[Numbers], tell: Callable[..., Any]) -> list[Any]:
        """Return what a task reports about some sentences of each part, in the order of the parts."""
        weights = weights_of(learner)

        def ask(client: Any) -> list[Any]:
            travelling = send(client, weights)
            return [
                client.submit(told_of, part, travelling, mine, tell, pure=False)
                for part, mine in zip(self.parts.of(client), rows, strict=True)
            ]

        return [told for told in self.cluster.ask(ask) if told is not None]

    def weights(self, rule: str) -> NDArray[np.float64] | None:
        """Return the weights of all sentences, None if all are 1; raise if they are invalid."""
        given: list[Any] = [one.part.weights for one in self.facts]
        return None if given[0] is None else check_weights(np.concatenate(given), len(self.y), rule, "sentence")

    def _rows(self, chosen: NDArray[np.bool_]) -> list[Numbers]:
        """Return the numbers of chosen sentences in their parts."""
        ends = np.cumsum([len(one.lengths) for one in self.facts])[:-1]
        return [np.flatnonzero(some) for some in np.split(chosen, ends)]

    def score(self, learner: Any) -> float | None:
        return None if self.scored is None else self.scored()
