"""Shards on a Dask cluster: the same bits as threads, whoever leaves, comes late or is slow.

Shards are results of deterministic tasks, which any worker can make again; nothing is pinned to a worker, and nothing
meets in the middle of an epoch. Once an epoch the weights go out, every shard plays, and mixtures are added up in pairs
on the workers. What a cluster loses it makes again; where the scheduler is lost, all of the epoch is asked for anew,
from the weights that this process has. Every wait has a time limit.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import copy
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, NamedTuple, TypeVar

import numpy as np

from perceptive.data.dataset import Dataset, Margins, Order, Problem
from perceptive.errors import ClusterError
from perceptive.learners.weight_vector import MOST_PENDING
from perceptive.models.registry import from_state
from perceptive.state import State
from perceptive.training.mixing import Block, Mixture, Seconds, Tree, join, order_of, play_shard

LIMIT = 600.0  # seconds that an epoch, or any other wait, may take
SOON = 0.02  # seconds between two looks at what is done
AGAIN = 0.5  # seconds before a lost scheduler is looked for again
Answer = TypeVar("Answer")


def _lost() -> tuple[type[BaseException], ...]:
    """What is raised where a cluster has lost something that it can make again."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    cancelled = (asyncio.CancelledError, concurrent.futures.CancelledError)
    return (CommClosedError, KilledWorker, *cancelled, TimeoutError, OSError)


class Cluster:
    """The workers of a Dask cluster.

    Parameters
    ----------
    address : str or distributed.Client
        Of the scheduler (``tcp://…``), ``local`` for workers on this machine, or a client that is connected.
    limit : float
        Seconds that any wait may take.
    workers : int or None
        Of ``local``: how many processes; None: as many as there are processors.

    Examples
    --------
    >>> with Cluster("local", workers=1) as cluster:  # doctest: +SKIP
    ...     cluster.ask(lambda client: client.submit(sum, [1, 2]))
    3
    """

    def __init__(self, address: Any, limit: float = LIMIT, workers: int | None = None) -> None:
        try:
            import distributed
        except ModuleNotFoundError:
            raise ClusterError("a cluster needs the package distributed; install perceptive[dask]") from None
        self.limit, self.generation = limit, 0
        self._local: Any = None
        self._own = isinstance(address, str)
        if address == "local":
            how: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
            self._local = distributed.LocalCluster(n_workers=workers, **how)  # type: ignore[no-untyped-call]
            address = self._local.scheduler_address
        self.address = address if isinstance(address, str) else address.scheduler.address
        self.client = self._connect(time.monotonic() + limit) if self._own else address

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        if self._own:
            self.client.close()
        if self._local is not None:
            self._local.close()

    def _connect(self, deadline: float) -> Any:
        """A client of the scheduler; waits for one that is started again."""
        from distributed import Client

        while True:
            try:
                left = max(0.1, deadline - time.monotonic())
                how: dict[str, Any] = {"timeout": min(5.0, left), "set_as_default": False}
                return Client(self.address, **how)  # type: ignore[no-untyped-call]
            except (OSError, TimeoutError) as error:
                if time.monotonic() > deadline:
                    raise ClusterError(
                        f"no scheduler answers at {self.address} within {self.limit:g} s; check the address, and that "
                        "it runs"
                    ) from error
                time.sleep(min(AGAIN, left))

    def ask(self, submit: Callable[[Any], Any], watch: Callable[[], None] = lambda: None) -> Any:
        """The result of what ``submit(client)`` asks the cluster for; what is lost is asked for again.

        Parameters
        ----------
        submit : callable
            Gives a future, or a list of futures. `generation` tells whether futures of before are still known.
        watch : callable
            Called while there is nothing to do but wait.
        """
        deadline = time.monotonic() + self.limit
        while True:
            try:
                return self._wait(submit(self.client), deadline, watch)
            except _Late:
                raise self._too_late() from None
            except _lost() as error:
                if not _is_lost(error):
                    raise
                if time.monotonic() > deadline:
                    raise self._too_late() from error
                self._again(deadline)

    def _wait(self, wanted: Any, deadline: float, watch: Callable[[], None]) -> Any:
        futures = wanted if isinstance(wanted, list) else [wanted]
        while not all(future.done() for future in futures):
            if time.monotonic() > deadline:
                raise _Late
            watch()
            time.sleep(SOON)
        left = max(1.0, deadline - time.monotonic())
        results = [future.result(timeout=left) for future in futures]
        return results if isinstance(wanted, list) else results[0]

    def _again(self, deadline: float) -> None:
        """Begin again with a scheduler that may be another one, and knows nothing."""
        self.generation += 1
        if self._own:
            self.client.close(timeout=1)
            self.client = self._connect(deadline)
        else:
            time.sleep(AGAIN)

    def _too_late(self) -> ClusterError:
        try:
            workers = len(self.client.scheduler_info(n_workers=-1)["workers"])
        except Exception:  # the scheduler is gone, or of another version
            workers = 0
        there = "no worker is" if workers == 0 else f"{workers} worker{'s are' if workers > 1 else ' is'}"
        return ClusterError(
            f"the cluster at {self.address} has not answered within {self.limit:g} s, and {there} there; start "
            "workers, or allow more time: a run with a checkpoint is resumed from its last epoch"
        )


def present_client() -> Any:
    """The Dask client of this process; raises where there is none."""
    import distributed

    try:
        return distributed.get_client()
    except ValueError:
        raise ClusterError("there is no Dask client; make one first: distributed.Client(address)") from None


class _Late(Exception):
    """The time limit has passed."""


def _is_lost(error: BaseException) -> bool:
    """Whether an error is the cluster's, not that of a task: an OSError of a task names a file."""
    return getattr(error, "filename", None) is None


# ---------------------------------------------------------------- tasks


def check_version(asked: str) -> None:
    """Raise where this worker has another version than who asks."""
    mine = version("perceptive")
    if mine != asked:
        raise ClusterError(
            f"a worker runs perceptive {mine}, and the client {asked}; install the same version on all machines"
        )


@dataclass
class Shard:
    """The examples of a shard, as arrays; ready to be played once this process has been asked to."""

    X: Any
    y: Any
    weights: Any = None
    _dataset: Any = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X, "y": self.y, "weights": self.weights, "_dataset": None}

    def dataset(self, learner: Any) -> Dataset:
        """As the learner plays them; what has been made ready is kept."""
        if self._dataset is None:
            self._dataset = learner.dataset(self.X, self.y, self.weights, grow=False)
        found: Dataset = self._dataset
        return found


class Played(NamedTuple):
    """What a shard has made of the weights."""

    mixture: Mixture
    seconds: float
    examples: int
    fingerprint: int


def play(shard: Shard, weights: tuple[str, str, State], number: int, block: Block) -> Played:
    """Let a shard play an epoch."""
    began = time.perf_counter()
    asked, kind, state = weights
    check_version(asked)
    learner = from_state(kind, state)
    dataset = shard.dataset(learner)
    order: Order = order_of(len(dataset), number, block.seed)
    mixture = play_shard(learner, dataset, order, block)
    return Played(mixture, time.perf_counter() - began, dataset.n_played, dataset.fingerprint())


def add(mine: Played, other: Played) -> Played:
    """Two shards together. Both stay as they are: who needs them again may be given them again."""
    mixture = join({key: copy.copy(part) for key, part in mine.mixture.items()}, other.mixture)
    fingerprint = (mine.fingerprint + other.fingerprint) % 2**64
    return Played(mixture, mine.seconds + other.seconds, mine.examples + other.examples, fingerprint)


def weights_of(learner: Any) -> tuple[str, str, State]:
    """The weights that shards start from, as they travel: what is zero is left out, and so are averages."""
    return version("perceptive"), type(learner).__name__, learner.replica().state()


# ---------------------------------------------------------------- training


class ClusterDataset(Dataset):
    """Examples that lie on the workers of a cluster, as shards.

    Parameters
    ----------
    learner : MixableLearner
        That knows all labels and features of the shards.
    cluster : Cluster
    load : callable
        ``load(client)`` gives the futures of the shards, each a `Shard`; it is asked again where they were lost.
    sizes : sequence of int
        Examples of each shard.
    """

    resumable = False

    def __init__(self, learner: Any, cluster: Cluster, load: Callable[[Any], list[Any]], sizes: Sequence[int]) -> None:
        self.learner, self.cluster, self._load, self._sizes = learner, cluster, load, list(sizes)
        self._futures: list[Any] = []
        self._known_to = -1  # the generation of the cluster that knows the futures

    def __len__(self) -> int:
        return sum(self._sizes)

    def play_block(
        self, dataset: Dataset, shards: int, block: Block, threads: int, report: Callable[[int], None] | None = None
    ) -> Seconds:
        """Play all shards and mix, as `mixing.play_block` does in this process."""
        learner: Any = self.learner
        began = time.perf_counter()
        classes = max(vector.n_classes for vector in learner.vectors.values())
        block = block._replace(defer=len(self) * classes <= MOST_PENDING)
        weights, waiting = weights_of(learner), dict[Any, int]()

        def submit(client: Any) -> Any:
            name = uuid.uuid4().hex
            if self._known_to != self.cluster.generation:
                self._futures, self._known_to = self._load(client), self.cluster.generation
            sent = client.submit(_same, *weights, key=f"perceptive-weights-{name}")
            level = [
                client.submit(play, shard, sent, i, block, key=f"perceptive-play-{name}-{i}", retries=3)
                for i, shard in enumerate(self._futures)
            ]
            waiting.clear()
            waiting.update(zip(level, self._sizes, strict=True))
            for depth, pairs in enumerate(Tree.levels(len(level))):
                level = [
                    client.submit(add, level[pair[0]], level[pair[1]], key=f"perceptive-add-{name}-{depth}-{i}")
                    if len(pair) == 2
                    else level[pair[0]]
                    for i, pair in enumerate(pairs)
                ]
            return level[0]

        def watch() -> None:
            for future in [future for future in waiting if future.done()]:
                n = waiting.pop(future)
                if report is not None:
                    report(n)

        sent = time.perf_counter()
        played: Played = self.cluster.ask(submit, watch)
        back = time.perf_counter()
        learner.mix(played.mixture)
        learner.record(played.fingerprint, played.examples, 0 if self.revisited else played.examples)
        self.revisited = True
        now = time.perf_counter()
        computing = played.seconds
        transferring = max(0.0, back - sent - computing / max(1, min(len(self._sizes), self._workers())))
        return Seconds(computing, 0.0, now - back + sent - began, transferring)

    def _workers(self) -> int:
        return len(self.cluster.client.nthreads())

    # what a dataset in this process does, the workers do

    def chunks(self, order: Order) -> Iterator[Order]:
        """There are none here."""
        raise NotImplementedError

    def play(self, order: Order) -> None:
        """Workers play."""
        raise NotImplementedError

    def margins(self, problems: Sequence[Problem]) -> Iterator[Margins]:
        """Workers have the examples."""
        raise NotImplementedError

    @property
    def present(self) -> Any:
        """Not known here."""
        raise NotImplementedError

    @property
    def hashes(self) -> Any:
        """Not known here."""
        raise NotImplementedError


def release(dataset: ClusterDataset | None) -> None:
    """Let the workers forget the shards."""
    if dataset is not None:
        dataset._futures, dataset._known_to = [], -1


def _same(*values: Any) -> tuple[Any, ...]:
    """The weights, as the result of a task: it can be made again."""
    return values


def dealt(parts: Sequence[int], shards: int) -> list[list[np.ndarray[Any, np.dtype[np.int64]]]]:
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
