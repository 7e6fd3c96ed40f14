"""Shards on a Dask cluster: the same bits as threads, even where workers leave, come late or are slow.

Shards are results of deterministic tasks, which any worker can make again; nothing is pinned to a worker, and nothing
meets in the middle of an epoch. Once an epoch the weights go out, every shard plays, and mixtures are added up in pairs
on the workers. What a cluster loses it makes again; where the scheduler is lost, all of the epoch is asked for anew,
from the weights that this process has. Every wait has a time limit.
"""

from __future__ import annotations

import copy
import operator
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.data.constant_feature import typical_length
from perceptive.data.dataset import Dataset, Order
from perceptive.errors import ClusterError
from perceptive.models.registry import from_state
from perceptive.state import State
from perceptive.training.cluster import Cluster, Futures
from perceptive.training.loop import Run
from perceptive.training.mixing import Block, Mixture, Seconds, Tree, join, order_of, play_block, play_shard

Task = Callable[..., Any]
Deal = list[list[NDArray[np.int64]]]  # for each shard, rows of each part
Weights = tuple[str, str, State, Mapping[str, Any]]  # version, kind of learner, state, functions


# ---------------------------------------------------------------- tasks


def check_version(asked: str) -> None:
    """Raise where this worker has another version than the client."""
    mine = version("perceptive")
    if mine != asked:
        raise ClusterError(
            f"a worker runs perceptive {mine}, and the client {asked}; install the same version on all machines"
        )


class Shard(ABC):
    """The examples of a shard; ready to be played once this process has been asked to."""

    _ready: Dataset | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_ready": None}

    @abstractmethod
    def made(self, learner: Any) -> Dataset:
        """The examples, ready to be played."""

    def ready(self, learner: Any) -> Dataset:
        """As the learner plays them; what has been made ready once is kept."""
        ready = self._ready
        if ready is None:
            ready = self._ready = self.made(learner)
        return ready

    def dataset(self, learner: Any) -> Dataset:
        """As this learner plays them, which may have learned more than another of before."""
        dataset = copy.copy(self.ready(learner))
        dataset.learner = learner
        dataset.meet()
        return dataset


class Played(NamedTuple):
    """What shards have made of the weights."""

    mixture: Mixture
    seconds: float
    examples: int
    fingerprint: int
    deferred: dict[int, dict[Any, NDArray[np.float64]]]  # of each shard, by problem


def play(shard: Shard, weights: Weights, number: int, block: Block, defer: bool) -> Played:
    """Let a shard play an epoch; with ``defer`` it defers its share of the average."""
    began = time.perf_counter()
    learner = learner_of(weights)
    dataset: Any = shard.dataset(learner)
    if defer:
        for vector in learner.vectors.values():
            vector.begin(dataset.rows, defer=True)
            vector.divide(True)
    order: Order = order_of(np.arange(len(dataset)), number, block.seed)
    mixture = play_shard(learner, dataset, order, block)
    deferred = {key: vector.deferred for key, vector in learner.vectors.items()} if defer else {}
    known = shard.ready(learner)
    return Played(mixture, time.perf_counter() - began, known.n_played, known.fingerprint(), {number: deferred})


def add(mine: Played, other: Played) -> Played:
    """Two shards together. Both stay as they are: another task may need them again."""
    mixture = join({key: copy.copy(part) for key, part in mine.mixture.items()}, other.mixture)
    fingerprint, deferred = (mine.fingerprint + other.fingerprint) % 2**64, {**mine.deferred, **other.deferred}
    return Played(mixture, mine.seconds + other.seconds, mine.examples + other.examples, fingerprint, deferred)


def deferred_sum(shard: Shard, weights: Weights, problem: Any, pending: NDArray[np.float64]) -> NDArray[Any]:
    """What a shard has deferred of one problem, added up."""
    learner = learner_of(weights)
    dataset: Any = shard.dataset(learner)
    vector = learner.vectors[problem]
    vector.share(pending)
    found: NDArray[Any] = vector.pending_sum(dataset.rows)
    return found


def learner_of(weights: Weights) -> Any:
    """The learner with these weights; raises where this is another version."""
    asked, kind, state, functions = weights
    check_version(asked)
    return from_state(kind, state, functions)


def weights_of(learner: Any) -> Weights:
    """The weights that shards start from, as they travel."""
    return version("perceptive"), type(learner).__name__, *learner.departure()


# ---------------------------------------------------------------- training


class ClusterDataset(Dataset):
    """Examples that lie on the workers of a cluster, as shards of these sizes.

    The learner, which can be mixed, knows all labels and features of the shards. ``load(client)`` gives the futures of
    the shards, each a `Shard`; it is asked again where they were lost.
    """

    resumable = False

    def __init__(self, learner: Any, cluster: Cluster, load: Callable[[Any], list[Any]], sizes: Sequence[int]) -> None:
        self.learner, self.cluster, self._sizes = learner, cluster, list(sizes)
        self.shards = Futures(cluster, load)

    def __len__(self) -> int:
        return sum(self._sizes)

    def play_block(
        self, shards: int, block: Block, threads: int, report: Callable[[int], None] | None = None
    ) -> Seconds:
        """Play all shards and mix, as `mixing.play_block` does in this process."""
        learner: Any = self.learner
        began = time.perf_counter()
        defer, waiting = learner.divide(len(self), self._deferred_sum), dict[Any, int]()
        weights = weights_of(learner)

        def submit(client: Any) -> Any:
            each = [(shard, i, block, defer) for i, shard in enumerate(self.shards.of(client))]
            made = tree(client, weights, play, each, add)
            waiting.clear()
            waiting.update(zip(made[:-1], self._sizes, strict=True))
            return made[-1]

        def watch() -> None:
            for future in [future for future in waiting if future.done()]:
                n = waiting.pop(future)
                if report is not None:
                    report(n)

        sent = time.perf_counter()
        played: Played = self.cluster.ask(submit, watch)
        back = time.perf_counter()
        for i, shares in played.deferred.items():
            for key, share in shares.items():
                learner.vectors[key].deferred[i :: len(self._sizes)] = share
        learner.mix(played.mixture)
        learner.record(played.fingerprint, played.examples, 0 if self.revisited else played.examples)
        self.revisited = True
        now = time.perf_counter()
        computing, workers = played.seconds, len(self.cluster.client.nthreads())
        transferring = max(0.0, back - sent - computing / max(1, min(len(self._sizes), workers)))
        return Seconds(computing, 0.0, now - back + sent - began, transferring)

    def _deferred_sum(self, problem: Any) -> NDArray[Any]:
        """What the shards have deferred of one problem."""
        learner: Any = self.learner
        weights, pending = weights_of(learner), learner.vectors[problem].pending

        def submit(client: Any) -> Any:
            shards = self.shards.of(client)
            each = [(shard, problem, pending[i :: len(shards)]) for i, shard in enumerate(shards)]
            return tree(client, weights, deferred_sum, each, operator.add)[-1]

        found: NDArray[Any] = self.cluster.ask(submit)
        return found

    def _elsewhere(self, *_: Any) -> Any:
        """What a dataset in this process does or knows: here the workers do."""
        raise NotImplementedError

    chunks = play = margins = _elsewhere  # type: ignore[assignment]
    present = hashes = property(_elsewhere)


@play_block.register
def _(dataset: ClusterDataset, *block: Any) -> Seconds:
    return dataset.play_block(*block)


class ShardSource:
    """A source of one dataset, which lies on a cluster."""

    cluster: Cluster
    dataset: ClusterDataset | None = None  # until a learner has met what the shards hold

    def blocks(self, run: Run) -> Iterator[tuple[Dataset | None, Order]]:
        assert self.dataset is not None
        self.dataset.revisited = run.epoch > 0
        if run.block == 0:
            yield self.dataset, np.empty(0, np.int64)

    def freeze_bias(self, learner: Any, parts: Callable[[Any], Iterable[Any]], add: Task, *how: Any) -> None:
        """Have the constant feature of ``bias="auto"`` as large as rows are long, which ``add`` finds part by part."""
        if getattr(learner.parameters, "bias", 0.0) != "auto":
            return

        def ask(client: Any) -> Any:
            total: Any = (0.0, 0)
            for part in parts(client):
                total = client.submit(add, total, part, *how, pure=False)
            return total

        learner.parameters = replace(learner.parameters, bias=typical_length(*self.cluster.ask(ask)))

    def score(self, learner: Any) -> float | None:
        """None: nothing is held out."""
        return None

    def close(self) -> None:
        """Let the workers forget the shards."""
        if self.dataset is not None:
            self.dataset.shards.forget()


def tree(client: Any, weights: Weights, task: Task, shards: list[tuple[Any, ...]], join: Task) -> list[Any]:
    """Futures: of ``task(shard, weights, …)`` for each shard, and of all of them, joined in pairs."""
    name, travelling = f"{task.__name__}-{uuid.uuid4().hex}", send(client, weights)
    made = [
        client.submit(task, shard, travelling, *rest, key=f"perceptive-{name}-{i}", retries=3)
        for i, (shard, *rest) in enumerate(shards)
    ]
    level = made
    for depth, pairs in enumerate(Tree.levels(len(level))):
        level = [
            client.submit(join, level[pair[0]], level[pair[1]], key=f"perceptive-add-{name}-{depth}-{i}")
            if len(pair) == 2
            else level[pair[0]]
            for i, pair in enumerate(pairs)
        ]
    return [*made, level[0]]


def send(client: Any, weights: Weights) -> Any:
    """The future of weights on their way."""
    return client.submit(_all, *weights, key=f"perceptive-weights-{uuid.uuid4().hex}")


def _all(*values: Any) -> tuple[Any, ...]:
    """The weights, as the result of a task: it can be made again."""
    return values


def same(value: Any) -> Any:
    """A value that several tasks need, as the result of one."""
    return value


def partitions(X: Any, y: Any, weights: Any) -> Callable[[Any], list[list[Any]]]:
    """What gives the futures of collections of Dask, from a client: for each partition those of X, y and the weights.

    None stands for what is not there. Raises where collections do not have the same partitions.
    """
    for name, given in (("y", y), ("sample_weight", weights)):
        if given is not None and not hasattr(given, "to_delayed"):
            raise TypeError(f"X is on the cluster, and {name} is not; give it in the same partitions as X")
    columns = [None if one is None else np.ravel(one.to_delayed()).tolist() for one in (X, y, weights)]
    counts = [len(column) for column in columns if column is not None]
    if len(set(counts)) > 1:
        said = " and ".join(map(str, counts))
        raise ValueError(f"X, y and sample_weight have {said} partitions; give all in the same")

    def compute(client: Any) -> list[list[Any]]:
        known = [[None] * counts[0] if column is None else client.compute(column) for column in columns]
        return list(map(list, zip(*known, strict=True)))

    return compute


def shards_of(
    client: Any, parts: Iterable[tuple[Any, ...]], rows: Deal, take: Task, make: Task, *how: Any
) -> list[Any]:
    """Futures of shards: ``make([take(*part, rows), …], *how)``, of the rows that each shard takes of the parts."""
    parts, made = list(parts), []
    for mine in rows:
        taken = [client.submit(take, *part, some, pure=False) for part, some in zip(parts, mine, strict=True)]
        made.append(client.submit(make, taken, *how, pure=False))
    return made


def dealt(parts: Sequence[int], shards: int) -> Deal:
    """For each shard, which rows of each part it takes: examples i, i + S, … of all, one part after the other.

    Examples
    --------
    >>> [[rows.tolist() for rows in shard] for shard in dealt([3, 2], 2)]
    [[[0, 2], [1]], [[1], [0]]]
    """
    starts = np.cumsum([0, *parts])
    return [
        [np.arange((i - start) % shards, n, shards) for start, n in zip(starts, parts, strict=False)]
        for i in range(shards)
    ]
