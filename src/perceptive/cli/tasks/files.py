"""Training of linear learners from files, which are read block by block."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from perceptive.cli import groups as g
from perceptive.cli.tasks.rows import refuse_standard_input, size_of
from perceptive.errors import UsageError
from perceptive.parameters import TrainingParameters
from perceptive.streams import Stream
from perceptive.training.blocks import Blocks
from perceptive.training.class_weights import weigh_classes
from perceptive.training.classifiers import calibrate
from perceptive.training.loop import Run
from perceptive.training.source import FileSource
from perceptive.training.windows import MEMORY

if TYPE_CHECKING:
    from perceptive.training.cluster import Cluster


class FileJob:
    """Training from a `FileSource`, of a given learner, or of a new one that fits the files."""

    certifies = False

    def __init__(
        self,
        stream: Stream,
        kind: Blocks,
        options: argparse.Namespace,
        training: TrainingParameters,
        learner: Any,
        make: Callable[[FileSource], Any] | None = None,
    ) -> None:
        self.stream, self.files, self.log, self.learner, self._make = stream, stream.files, stream.log, learner, make
        self._size = sum(map(size_of, self.files))
        self.cluster: Any = None
        self.source: FileSource  # or a `ClusterSource`, which has the same methods
        seed = 0 if learner is None else learner.parameters.random_state
        seed = seed if options.random_state is None else options.random_state
        how: dict[str, Any] = {"holdout": training.validation_fraction, "seed": seed}
        if options.cluster:
            with connected(options, training.shards, stream.files) as self.cluster:
                from perceptive.training.cluster_source import ClusterSource

                source: Any = ClusterSource(stream, kind, self.cluster, training.shards, **how)
            self.source = source
        else:
            how |= {"epochs": training.epochs, "cache": options.cache, "memory": options.memory or MEMORY}
            self.source = FileSource(stream, kind, shuffle=training.shuffle, **how)
        if options.certify and training.epochs == 1 and not self.source.repeatable:
            raise UsageError("--certify reads the examples twice, a pipe gives them once; write them to a file")

    def prepare(self, report: Callable[[float], None]) -> None:
        self.source.prepare(lambda: report(self.source.done))
        if self.learner is None and self._make is not None:
            self.learner = self._make(self.source)

    @property
    def readings(self) -> int:
        """1 if the files are read before the first epoch, else 0."""
        return int(self.source.reads_first)

    def done(self, run: Run, played: int) -> float:
        """Return the bytes that were read in earlier epochs and in this one."""
        return (run.epoch + self.readings) * self._size + self.source.done

    def finished(self, learner: Any) -> Any:
        """Give the learner the names of its hashed features, and free the memory of the examples."""
        learner.space.remember(self.log.names, self.stream.columns)
        if self.cluster is None:
            self.source.let_go()
        return learner

    def datasets(self, learner: Any) -> Any:
        return self.source.datasets(learner)

    @property
    def counts(self) -> dict[str, int]:
        """Counts of what the first epoch read."""
        found = self.source.split
        return {"examples": found.examples, "skipped": self.source.skipped, "unanswered": found.unanswered}

    def close(self) -> None:
        self.source.__exit__()
        if self.cluster is not None:
            self.cluster.__exit__()


class RowsJob(FileJob):
    metric = "accuracy"
    class_weight: Mapping[Any, float] | str | None = None

    def prepare(self, report: Callable[[float], None]) -> None:
        super().prepare(report)
        weigh_classes(self.source, self.class_weight)

    @property
    def certifies(self) -> bool:  # type: ignore[override]
        """Whether there is a cache, so that reading the examples again costs little."""
        return self.source.cached

    def finished(self, learner: Any) -> Any:
        if self.source.fraction and learner.parameters.hypothesis != "voted":
            calibrate(learner, self.source)
        return super().finished(learner)


class ListsJob(FileJob):
    metric = "top-1"

    @property
    def counts(self) -> dict[str, int]:
        return {**super().counts, "candidates": self.source.split.rows}


@contextmanager
def connected(
    options: argparse.Namespace, shards: int, files: Sequence[str], already: Cluster | None = None
) -> Iterator[Cluster]:
    """The cluster that is asked for, let go where a job cannot begin; raises for options that do not go with it."""
    for name in ("cache", "memory"):
        if getattr(options, name):
            raise UsageError(f"--{name} does not go with --cluster, whose workers hold the examples; leave it out")
    refuse_standard_input(files)
    if shards == 1:
        raise UsageError("--cluster needs --shards; give about as many as the workers have threads")
    from perceptive.training.cluster import Cluster

    cluster = already or Cluster(options.cluster, g.TIME_LIMIT if options.time_limit is None else options.time_limit)
    try:
        yield cluster
    except BaseException:
        cluster.__exit__()
        raise
