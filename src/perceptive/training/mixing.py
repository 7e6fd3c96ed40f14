"""Iterative parameter mixing (McDonald, Hall & Mann 2010): shards learn separately from the same v, and are mixed.

`reference.mixing` defines it. Shard i of S has the examples i, i + S, i + 2S, … of a block, in its own order. It does
not matter who plays a shard, and when: mixtures are added in pairs, in the order of the shards.
"""

from __future__ import annotations

import operator
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial, singledispatch
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.dataset import Dataset, Order
from perceptive.errors import Parameter, ParameterError
from perceptive.learners.learner import MixableLearner
from perceptive.parameters import TrainingParameters
from perceptive.roles import why_not_mixed

Mixture = dict[Any, Any]  # by problem
Part = TypeVar("Part")
SOON = 0.05  # seconds between two looks at what threads have played


def check_mixing(learner: Any, shards: int) -> None:
    """Raise ParameterError if a learner cannot be mixed from shards."""
    learner = getattr(learner, "ranker", learner)
    p, representation = learner.parameters, "linear" if hasattr(type(learner), "replica") else "kernel"
    for name in (None, "rule", "hypothesis", "keep", "delta"):
        value = getattr(p, name, None) if name else None
        reason = why_not_mixed(representation, name, value)
        if reason is not None:
            what = Parameter("kernel") if name is None else Parameter(name, value)
            raise ParameterError(f"{{}} does not go with {{}}: {reason}", Parameter("shards", shards), what)


class Block(NamedTuple):
    """What the shards of a block have in common."""

    seed: int | None  # of the order in which they are played; None: as they lie
    by_updates: bool  # whether μ is proportional to the updates of a shard


def block_of(training: TrainingParameters, seed: int) -> Block:
    """What the shards of a block have in common."""
    return Block(seed if training.shuffle else None, training.mixing == "mistakes")


def order_of(members: Order, shard: int, seed: int | None) -> Order:
    """The order in which a shard plays its members."""
    if seed is None:
        return members
    return members[_core.random_order(len(members), (seed + (shard + 1) * 0x9E3779B97F4A7C15) % 2**64)]


def play_shard(
    learner: MixableLearner, dataset: Dataset, order: Order, block: Block, played: Callable[[int], None] | None = None
) -> Mixture:
    """What a replica of the learner becomes that plays some examples of its dataset, in an order."""
    replica = learner.replica()
    mine = dataset.replica(replica)
    for chunk in mine.chunks(order):
        mine.play(chunk)
        if played is not None:
            played(len(chunk))
    return learner.mixture(replica, block.by_updates)


def join(mine: Mixture, others: Mixture) -> Mixture:
    """The mixture of two; the first is changed."""
    for key, part in mine.items():
        part.add(others[key])
    return mine


class Tree(Generic[Part]):
    """n mixtures, or other parts, added up in pairs, always the same pairs, whichever comes first.

    ``join`` gives the sum of two; the first may be changed.

    Examples
    --------
    >>> from perceptive.training import mixing
    >>> [*mixing.Tree.levels(5)]
    [[(0, 1), (2, 3), (4,)], [(0, 1), (2,)], [(0, 1)]]
    """

    def __init__(self, n: int, join: Callable[[Part, Part], Part]) -> None:
        self._levels, self._join = list(self.levels(n)), join
        self._waiting: list[dict[int, Part]] = [{} for _ in self._levels]
        self.root: Part | None = None

    @staticmethod
    def levels(n: int) -> Iterator[list[tuple[int, ...]]]:
        """Which mixtures of a level become one of the next."""
        while n > 1:
            pairs: list[tuple[int, ...]] = [(i, i + 1) for i in range(0, n - 1, 2)]
            yield pairs + [(n - 1,)] * (n % 2)
            n = -(-n // 2)

    def add(self, i: int, part: Part) -> None:
        """The part of shard i."""
        for level, waiting in zip(self._levels, self._waiting, strict=True):
            pair = level[i // 2]
            if len(pair) == 2:
                other = waiting.pop(i ^ 1, None)
                if other is None:
                    waiting[i] = part
                    return
                part = self._join(other, part) if i % 2 else self._join(part, other)
            i //= 2
        self.root = part


@dataclass
class Seconds:
    """Where the time of a block went."""

    computing: float = 0.0  # shards were played, over all threads
    waiting: float = 0.0  # threads had nothing to do, since others still played
    mixing: float = 0.0  # mixtures were added up and the learner moved
    transferring: float = 0.0  # weights were on their way, on a cluster


def too_many(shards: int, examples: int) -> ParameterError:
    """The error for shards of which some would have no example."""
    said = f"{{}} is more than there are examples: {examples}; give at most so many"
    return ParameterError(said, Parameter("shards", shards))


@singledispatch
def play_block(
    dataset: Dataset, shards: int, block: Block, threads: int, report: Callable[[int], None] | None = None
) -> Seconds:
    """Play a dataset by shards, in several threads, and mix; shards without any example are left out.

    Where an exception breaks in, the learner stays as it was before the block. ``report`` is called with the number of
    examples just played, in the thread that has called. Datasets that lie elsewhere have a way of their own.
    """
    learner, n, began = cast(MixableLearner, dataset.learner), len(dataset), time.perf_counter()
    dataset.meet()
    shards = min(shards, n)
    learner.divide(n, partial(deferred_sum, dataset, shards, threads))
    tree, spent, mixing = Tree(shards, join), 0.0, 0.0

    def play(i: int, played: Callable[[int], None] | None) -> tuple[Mixture, float]:
        start = time.thread_time()
        order = order_of(np.arange(i, n, shards), i, block.seed)
        mixture = play_shard(learner, dataset, order, block, played)
        return mixture, time.thread_time() - start

    for i, (mixture, seconds) in _each(play, shards, min(threads, shards), report):
        start = time.perf_counter()
        tree.add(i, mixture)
        spent, mixing = spent + seconds, mixing + time.perf_counter() - start
    start = time.perf_counter()
    assert tree.root is not None
    learner.mix(tree.root)
    dataset.record()
    dataset.check()
    now = time.perf_counter()
    waiting = max(0.0, (start - began) * min(threads, shards) - spent - mixing)
    return Seconds(spent, waiting, mixing + now - start)


def deferred_sum(dataset: Any, shards: int, threads: int, problem: Any) -> NDArray[Any]:
    """What the shards of a dataset of rows have deferred, of one problem."""
    vector, tree = dataset.learner.vectors[problem], Tree[NDArray[Any]](shards, operator.iadd)
    for i, part in _each(lambda i, _: vector.pending_sum(dataset.rows, i, shards), shards, min(threads, shards)):
        tree.add(i, part)
    assert tree.root is not None
    return tree.root


Play = Callable[[int, Callable[[int], None] | None], Part]


class _Stopped(Exception):
    """Another shard has failed, or Ctrl-C was pressed."""


def _each(
    play: Play[Part], shards: int, threads: int, report: Callable[[int], None] | None = None
) -> Iterator[tuple[int, Part]]:
    """What each shard made, as they come; no more than a few wait to be taken."""
    if threads == 1:
        for i in range(shards):
            yield i, play(i, report)
        return
    counts: queue.SimpleQueue[int] = queue.SimpleQueue()
    stop = threading.Event()

    def played(n: int) -> None:
        counts.put(n)
        if stop.is_set():
            raise _Stopped

    def tell() -> None:
        while not counts.empty():
            n = counts.get()
            if report is not None:
                report(n)

    with ThreadPoolExecutor(threads, thread_name_prefix="perceptive-shard") as pool:
        todo = iter(range(shards))
        running: dict[Future[Part], int] = {}
        try:
            for i in range(threads):
                running[pool.submit(play, next(todo), played)] = i
            while running:
                done, _ = wait(running, SOON, FIRST_COMPLETED)
                tell()
                for future in done:
                    i = running.pop(future)
                    result = future.result()
                    following = next(todo, None)
                    if following is not None:
                        running[pool.submit(play, following, played)] = following
                    yield i, result
        finally:
            stop.set()


def one_shot(dataset: Dataset, training: TrainingParameters) -> None:
    """Mixing in one shot, to compare with: every shard plays all epochs on its own, and they are mixed at the end.

    On separable data it need not converge (McDonald, Hall & Mann 2010, Theorem 2).
    """
    check_mixing(dataset.learner, training.shards)
    learner, n, shards = cast(MixableLearner, dataset.learner), len(dataset), training.shards
    first = int(learner.parameters.random_state) * training.epochs
    tree = Tree(shards, join)
    dataset.meet()
    learner.divide(n, partial(deferred_sum, dataset, shards, 1))
    for i in range(shards):
        seeds = [first + epoch if training.shuffle else None for epoch in range(training.epochs)]
        orders = [order_of(np.arange(i, n, shards), i, seed) for seed in seeds]
        block = block_of(training, 0)
        tree.add(i, play_shard(learner, dataset, np.concatenate(orders), block))
    assert tree.root is not None
    learner.mix(tree.root)
    for _ in range(training.epochs):
        dataset.record()
