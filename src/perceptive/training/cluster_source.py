"""`ClusterSource`: files as shards on a cluster, parsed by its workers.

A task parses each file; from these, tasks deal the examples out to the shards, as `mixing` does in one process: shard i
has the examples i, i + S, … of all files in their order. So a cluster gives the same model as threads, bit for bit,
and files that are sorted by label do not lead to shards of one class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.constant_feature import add_lengths, lengths_counted
from perceptive.data.dataset import Dataset, Order
from perceptive.data.labels import Labels
from perceptive.data.lists import graded_as
from perceptive.streams import Stream
from perceptive.streams.lists import CandidateLists
from perceptive.streams.parsing import Log
from perceptive.training.blocks import Blocks, check_answers
from perceptive.training.cluster import Cluster, Futures
from perceptive.training.dask import ClusterDataset, Shard, ShardSource, check_version, dealt, shards_of
from perceptive.training.holdout import HoldOut
from perceptive.training.loop import Run
from perceptive.training.source import FileSource


@dataclass(frozen=True)
class ParsedFile:
    """What a worker has parsed of a file."""

    taught: Any  # a block, or None where there is nothing to learn from
    held: Any  # what is held out
    unanswered: int
    log: Log  # without the names
    names: Any  # of hashed features, as arrays, or None


class FileFacts(NamedTuple):
    """What must be known about a file before the first epoch."""

    file: ParsedFile  # without its examples
    examples: int
    held: int
    rows: int
    labels: Labels  # different ones, and how many examples each has
    width: int
    met: NDArray[np.int64]  # columns, where they must be known
    first: Any  # an example
    graded: tuple[bool, set[float]] | None = None  # of lists: see `graded_as`


def parse_file(asked: str, stream: Stream, kind: Blocks, holdout: tuple[float, int]) -> ParsedFile:
    """Parse one file, and hold out a part."""
    check_version(asked)
    stream = replace(stream, log=Log())
    chosen, taught, held, unanswered = HoldOut(*holdout), [], [], 0
    for read in kind.parse(stream, lambda read: read):
        unanswered += read.unanswered
        if read.block is None or not len(read.block):
            continue
        away = chosen.choose(kind.labels_of(read.block))
        taught.append(read.block.take(np.flatnonzero(~away)) if away.any() else read.block)
        if away.any():
            held.append(read.block.take(np.flatnonzero(away)))
    rest, out = (kind.join(some, stream.dtype) if some else None for some in (taught, held))
    names = None if stream.log.names is None else stream.log.names.to_arrays()
    return ParsedFile(rest, out, unanswered, replace(stream.log, names=None), names)


def facts_of(parsed: ParsedFile, kind: Blocks, met: bool) -> FileFacts:
    block = parsed.taught
    n, held = (0 if part is None else len(part) for part in (block, parsed.held))
    seen = replace(parsed, taught=None, held=None)
    if block is None:
        return FileFacts(seen, 0, held, 0, Labels([], np.empty(0, np.int64)), 0, np.empty(0, np.int64), None)
    labels, examples = kind.labels_of(block), kind.for_cache(block)
    counts = np.bincount(labels.which, minlength=len(labels.values))
    columns = np.unique(examples.indices).astype(np.int64) if met else np.empty(0, np.int64)
    rows, first = kind.count_rows(block), block.take(np.arange(1))
    graded = graded_as(block.grades, block.starts) if isinstance(block, CandidateLists) else None
    return FileFacts(seen, n, held, rows, Labels(labels.values, counts), examples.width(), columns, first, graded)


def add_file(before: tuple[float, int], parsed: ParsedFile, kind: Any, normalize: bool) -> tuple[float, int]:
    """Return Σ‖x‖² and the number of rows so far."""
    if parsed.taught is None:
        return before
    rows, _, weights = kind.weighted(kind.ready(parsed.taught, None))
    return add_lengths(before, lengths_counted(rows, weights, normalize))


def take_part(parsed: ParsedFile, rows: NDArray[np.int64]) -> Any:
    return None if parsed.taught is None or not len(rows) else parsed.taught.take(rows)


@dataclass
class FileShard(Shard):
    """The examples of a shard."""

    kind: Any
    block: Any
    width: int | None

    def made(self, learner: Any) -> Dataset:
        return self.kind.dataset(learner, self.kind.ready(self.block, self.width), grow=False)  # type: ignore[no-any-return]


def make_shard(parts: list[Any], kind: Any, width: int | None, dtype: Any) -> FileShard:
    return FileShard(kind, kind.join([part for part in parts if part is not None], dtype), width)


class ClusterSource(ShardSource):
    """Files on a cluster, like a `FileSource` in one process; held-out examples are gathered in this process.

    The paths of the stream must mean the same files on all workers: on a shared disk, or URLs.
    """

    reads_first = repeatable = complete = True
    cached = False

    def __init__(
        self, stream: Stream, kind: Blocks, cluster: Cluster, shards: int, *, holdout: float = 0.0, seed: int = 0
    ) -> None:
        self.stream, self.kind, self.cluster, self.shards = stream, kind, cluster, shards
        self.fraction, self.seed = holdout, seed
        self.labels: list[Any] | None = None
        self.split: Any = _Counted([], self)
        self.done = 0.0
        self._facts: list[FileFacts] = []
        self._held: list[Any] = []
        self._files = Futures(cluster, self._parsed)

    # ------------------------------------------------------------ what there is

    def prepare(self, report: Callable[[], None] = lambda: None) -> None:
        """Let the workers parse the files."""
        if self.labels is not None:
            return
        met = self.stream.format.bits is not None

        def ask(client: Any) -> list[Any]:
            return [client.submit(facts_of, file, self.kind, met, pure=False) for file in self._files.of(client)]

        self._facts = self.cluster.ask(ask, report)
        values = dict.fromkeys(label for facts in self._facts for label in facts.labels.values)
        self.labels = [label for label in values if label is not None]
        self.split = _Counted(self._facts, self)
        self.stream.log.begin()
        for path, (file, *_) in zip(self.stream.files, self._facts, strict=True):
            index = None if file.names is None else _core.InvertedIndex.from_arrays(*file.names)
            self.stream.log.add(file.log, path)
            self.stream.log.note_names(index, self.stream.remember_names == "few")
        check_answers(self.stream.format, self.stream.files, self.stream.log, self.split.examples)
        if sum(facts.examples for facts in self._facts) == 0:
            raise ValueError(f"there are no {self.kind.answered}; check the files and the format")
        if self.fraction:
            self.split.holdout.check(self.kind.unit)
            self._held = self.cluster.ask(
                lambda client: [client.submit(attrgetter("held"), file, pure=False) for file in self._files.of(client)]
            )

    def _parsed(self, client: Any) -> list[Any]:
        """Return the files, as tasks."""
        plain, asked = replace(self.stream, threads=1, known_idf=self.stream.idf, log=Log()), version("perceptive")
        files, how = [replace(plain, files=(path,)) for path in self.stream.files], (self.fraction, self.seed)
        return [client.submit(parse_file, asked, file, self.kind, how, pure=False) for file in files]

    @property
    def skipped(self) -> int:
        return sum(facts.file.log.skipped for facts in self._facts)

    def all_labels(self) -> Iterator[Labels]:
        """Return the labels of all examples to learn from, file by file."""
        self.prepare()
        for facts in self._facts:
            values, counts = facts.labels
            yield Labels(values, np.repeat(np.arange(len(values)), counts))

    # ------------------------------------------------------------ what the loop asks for

    def begin(self, learner: Any) -> ClusterDataset:
        """Show a learner all data of the files; return the dataset that it plays."""
        self.freeze_bias(learner, self._files.of, add_file, self.kind, learner.parameters.normalize)
        facts = [one for one in self._facts if one.examples]
        width = self.stream.format.width or max(one.width for one in facts)
        if getattr(learner.parameters, "pairs", None) == "auto":  # all lists decide, as in one process
            learner.settle([one.graded for one in facts])
        tiny = self.kind.ready(facts[0].first, width)
        if learner.n_features is None or not learner.rounds:
            self.kind.dataset(learner, tiny)
            if learner.space.places is not None:
                for one in facts:
                    learner.space.meet_columns(one.met)
                self.kind.dataset(learner, tiny)
        for label in self.labels or []:
            if hasattr(learner, "classes") and label not in learner.index:
                learner.meet_class(label)
        rows = dealt([one.examples for one in self._facts], self.shards)

        def load(client: Any) -> list[Any]:
            files = ((file,) for file in self._files.of(client))
            made = shards_of(client, files, rows, take_part, make_shard, self.kind, width, self.stream.dtype)
            self._files.forget()
            return made

        return ClusterDataset(learner, self.cluster, load, [sum(map(len, mine)) for mine in rows])

    def blocks(self, run: Run) -> Iterator[tuple[Dataset | None, Order]]:
        self.prepare()
        if self.dataset is None or self.dataset.learner is not run.learner:
            self.dataset = self.begin(run.learner)
        yield from super().blocks(run)

    def score(self, learner: Any) -> float | None:
        if not self.fraction:
            return None
        learner.finish()
        return self.kind.score(learner, iter(self.held_out()))

    def held_out(self) -> Iterator[Any]:
        """Return the held-out examples, in the order of the files."""
        return (part for part in self._held if part is not None)

    def datasets(self, learner: Any) -> Iterator[Dataset]:
        """Yield all examples to learn from once more, read in this process, to be examined."""
        files = FileSource(self.stream, self.kind, holdout=self.fraction, seed=self.seed, shuffle=False)
        with files:
            yield from files.datasets(learner)

    def __enter__(self) -> ClusterSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Counted:
    """The counts of the files, in the form of `Split`."""

    def __init__(self, facts: list[FileFacts], source: ClusterSource) -> None:
        self._source = source
        self.examples = sum(one.examples + one.held for one in facts)
        self.rows = sum(one.rows for one in facts)
        self.unanswered = sum(one.file.unanswered for one in facts)
        self.holdout = HoldOut(source.fraction, source.seed)
        self.holdout.examples, self.holdout.held = self.examples, sum(one.held for one in facts)

    def held_out(self) -> Iterator[Any]:
        """What is held out."""
        return self._source.held_out()
