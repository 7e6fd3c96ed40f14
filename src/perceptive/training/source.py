"""`FileSource`: plays files in epochs over windows of examples, mixed from the first epoch on.

The examples are parsed into a cache, in the order of the files, before the first round. Every epoch plays them from
there: all at once, like arrays, if they fit in memory, else in windows (see `windows`). A single epoch over more than
fits in memory, without a hold-out, needs no cache if the files can be mixed while they are parsed (`streams.mixing`)
and labels do not come in runs. The same is tried if the cache cannot be written. A pipe is read through a window.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import numpy as np

from perceptive import _core
from perceptive.data.dataset import Dataset, Order
from perceptive.data.labels import Labels
from perceptive.errors import NotWritten, Parameter, ParameterError, told
from perceptive.file_lock import FileLock
from perceptive.streams import Stream
from perceptive.streams.blocks import repeatable
from perceptive.streams.cache import Cache, Unwritten, open_or_lock, signature, writing
from perceptive.streams.mixing import PIECES, estimated_size
from perceptive.streams.parsing import one_ahead
from perceptive.training.blocks import NOTHING_BETTER, PER_EXAMPLE, Blocks, Read, check_answers, in_parts
from perceptive.training.holdout import HoldOut, Split
from perceptive.training.loop import InMemory, Run, hash_seed
from perceptive.training.windows import MEMORY, TURNS, LongestRun, Unit, block_sizes, fits, windows, with_first

Parsed = Generator[tuple[Read, Any]]


class FileSource:
    """Examples from a stream of files, for any number of epochs.

    Parameters
    ----------
    stream : Stream
    kind : Blocks
        `RowBlocks()` or `ListBlocks()`.
    epochs : int
    cache : path or None
        Where the cache is kept and looked for; one made from other files, or with other settings, is made again.
    holdout : float
        Part of the examples to hold out.
    seed : int
        Seed of that choice.
    shuffle : bool
        Whether to play the examples in random order; else in the order of the files.
    memory : int
        Approximate number of bytes for examples.

    Attributes
    ----------
    reads_first : bool
        Whether the files are parsed into a cache before the first round.
    labels : list or None
        The labels known before the first round, after `prepare`: all of them, or those of the first block or window.
    complete : bool
        Whether these are all.
    split : Split
        Counts of the files, and what is held out.
    skipped : int
        Broken lines that were left out.
    done : float
        How much of the current epoch is done, in bytes of the files.
    """

    def __init__(
        self,
        stream: Stream,
        kind: Blocks,
        *,
        epochs: int = 1,
        cache: str | None = None,
        holdout: float = 0.0,
        seed: int = 0,
        shuffle: bool = True,
        memory: int = MEMORY,
    ) -> None:
        self.stream, self.kind, self.shuffle, self.memory = stream, kind, shuffle, memory
        self.fraction, self.seed = holdout, seed
        self.split = Split(kind, HoldOut(0.0, seed), stream.dtype)  # nothing has been read
        self.skipped, self.done, self.complete = 0, 0.0, False
        self._bytes = sum(os.path.getsize(path) for path in stream.files if os.path.isfile(path))
        in_turns = shuffle and not kind.can_be_mixed(stream) and all(map(repeatable, stream.files))
        self._path, self._needed = cache, epochs > 1 or cache is not None or holdout > 0 or in_turns
        self._cache: Cache | None = None
        self._lock: FileLock | None = None
        self._made_from: dict[str, Any] = {}  # what a cache that is kept is known by
        sizes = [memory + 1 if size is None else size for size in map(estimated_size, stream.files)]
        self._block_sizes = block_sizes(memory, sum(sizes))
        if cache is not None:
            how = {"skip": stream.skip, "unit": kind.unit, "blocks": self._block_sizes}
            self._made_from = signature(stream.files, stream.format, stream.dtype, stream.idf, **how)
            self._cache, self._lock = open_or_lock(cache, self._made_from, anew=bool(stream.remember_names))
        self.reads_first = self._needed or sum(sizes) <= memory
        self._failure: BaseException | None = None  # why there is no cache
        self.labels: list[Any] | None = None
        self._begun: Generator[Unit] | None = None  # the first reading, of which the first unit is known
        self._whole: Unit | None = None  # all examples, where memory holds them
        self._memory: InMemory | None = None

    @property
    def examples(self) -> int:
        """Number of examples or lists with an answer, including held-out ones."""
        return self.split.examples

    @property
    def repeatable(self) -> bool:
        """Whether the examples can be read more than once."""
        return self.reads_first or all(map(repeatable, self.stream.files))

    @property
    def cached(self) -> bool:
        """Whether a cache is needed for later epochs or runs."""
        return self._cache is not None and self._needed

    def __enter__(self) -> FileSource:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._begun, self._cache, self.split):
            if file is not None:
                file.close()
        self._unlock()

    # ------------------------------------------------------------ what the loop asks for

    def prepare(self, report: Callable[[], None] = lambda: None) -> None:
        """Read everything needed before the first round; ``report`` is called after each block."""
        if self.labels is not None:
            return
        stored = False
        while self.reads_first and not stored:
            try:
                self.reads_first = stored = self._store(report)
            except Unwritten as failed:
                self._go_without(failed.__cause__)
        if stored:
            assert self._cache is not None
            self.labels, self.complete = self._cache.labels, True
            _core.trim()  # of what the parsers had
            return
        units = self._streamed()
        first = next(units, Unit(None, last=True))
        mixed = self.shuffle and self._as_parsed and self._failure is None
        if mixed and self._window > PIECES * self._block_sizes[-1] and self.kind.in_runs(first.ready):
            units.close()
            self._needed = self.reads_first = True
            return self.prepare(report)
        self._begun, self.complete = with_first(first, units), first.last
        self.labels = [] if first.ready is None else self.kind.labels(first.ready)

    def blocks(self, run: Run) -> Iterator[tuple[Dataset | None, Order]]:
        """Yield the current epoch, window by window."""
        if run.training.epochs > 1 and run.learner.parameters.delta:
            raise ParameterError(
                "{} needs the examples in memory for more than one epoch; train for one epoch, or set {}",
                "delta", Parameter("delta", 0),
            )  # fmt: skip
        self.prepare()
        if run.epoch == run.block == 0:
            run.streamed = not self.reads_first
        elif self._failure is not None and not run.streamed:
            raise self._failure
        if not run.streamed and fits(self._sizes(), self.memory):
            yield from self._from_memory(run)
        else:
            yield from self._by_window(run)
        self._check(run)

    def _from_memory(self, run: Run) -> Iterator[tuple[Dataset | None, Order]]:
        """Yield all examples at once, played like arrays."""
        if self._whole is None:
            [self._whole] = self._windows([range(len(self._sizes()))])
        if self._whole.ready is not None:
            dataset = self.kind.dataset(run.learner, self._whole.ready)  # made anew, as in a run that is resumed
            if self._memory is None:
                self._memory = InMemory(dataset, self.shuffle)
            self._memory.dataset = dataset
            yield from self._memory.blocks(run)

    def _by_window(self, run: Run) -> Iterator[tuple[Dataset | None, Order]]:
        seed, first = hash_seed(run.learner.parameters.random_state, run.epoch), 0
        if run.streamed:
            units, self._begun = self._begun or self._streamed(), None
        else:
            sizes = self._sizes()
            chosen = windows(sizes, self._window, seed) if self.shuffle else [[number] for number in range(len(sizes))]
            units, first = self._windows(chosen[run.block :]), run.block
        threads = 1 if run.streamed and self._as_parsed else self.stream.threads
        for number, unit in enumerate(one_ahead(units, threads), first):
            if number < run.block:  # of a run that is resumed
                continue
            if unit.ready is None:
                yield None, np.empty(0, np.int64)
                continue
            dataset = self.kind.dataset(run.learner, unit.ready)
            n = len(dataset)
            order = _core.random_order(n, hash_seed(seed, number) if number else seed) if self.shuffle else np.arange(n)
            yield dataset, order
            self._release(unit)
            del dataset, order, unit  # before the next ones are made

    def score(self, learner: Any) -> float | None:
        """The score on the held-out part."""
        if not self.fraction:
            return None
        learner.finish()
        return self.kind.score(learner, self.split.held_out())

    def datasets(self, learner: Any) -> Iterator[Dataset]:
        """Yield all training examples again, to be looked at without learning."""
        stored = self.labels is not None and self.reads_first
        blocks = [[number] for number in range(len(self._sizes()))] if stored else []
        for unit in self._windows(blocks) if stored else self._streamed(looked_at=True):
            if unit.ready is not None:
                yield self.kind.dataset(learner, unit.ready, grow=False)
            self._release(unit)

    def let_go(self) -> None:
        """Free the memory of the examples; they are read again if needed."""
        self._whole = self._memory = None
        if self._cache is not None:
            self._cache.let_go()

    def all_labels(self) -> Iterator[Labels]:
        """Yield the labels of all training examples, block by block, before the first round."""
        self.prepare()
        if self.reads_first:
            for number, (read, _) in enumerate(self._kept()):
                yield self.kind.labels_of(self.split.taught(read.block, [number]))
            return
        self._begun = None  # the first round reads the files anew
        self._begin()
        for read, _ in self._parsed():
            taught = self.split.note(read)
            if taught is not None:
                yield self.kind.labels_of(taught)

    # ------------------------------------------------------------ by the cache

    def _store(self, report: Callable[[], None]) -> bool:
        """Parse the files into the cache, or read an existing one; return whether it is complete.

        A cache that is not needed is given up if the examples do not fit in memory.
        """
        self._begin()
        cache, size = self._cache, 0
        reads = self._kept() if cache is not None else in_parts(self.kind, self._parsed, *self._block_sizes)
        try:
            if cache is None:
                with writing():
                    cache = Cache(self._path, self._made_from)
            for read, _ in reads:
                if self.split.note(read) is None:
                    continue
                if self._cache is None:
                    with writing():
                        cache.append(self.kind.for_cache(read.block), read.file)
                    size += cache.sizes(self.stream.dtype, len(cache.blocks) - 1)[0] + PER_EXAMPLE * len(read.block)
                    if size > self.memory and not self._needed:
                        return False
                self._note_progress()
                report()
            if self._cache is None:
                cache.left_out = [self.split.unanswered, self.stream.log.skipped]
                cache.remarks = self.stream.log.remarks
                with writing():
                    cache.finish()
                    self._unlock()
                self._cache = cache
        finally:
            reads.close()
            if cache is not None and cache is not self._cache:
                cache.close()
        self.split.unanswered, self.skipped = cache.left_out
        self.stream.log.remarks |= cache.remarks
        return True

    def _go_without(self, error: BaseException | None) -> None:
        """Continue with an unnamed cache, or without one; raise if the files cannot be parsed again."""
        assert isinstance(error, OSError)
        if not all(map(repeatable, self.stream.files)):
            raise error
        self._unlock()
        if self._path is None:
            self.reads_first, self._failure = False, error
        how = "the cache: every epoch parses the files again" if self._path is None else "keeping it"
        self._path, how = None, f"going on without {how}"
        warnings.warn(NotWritten(f"{told(error)}; {how}"), stacklevel=2)

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def _sizes(self) -> list[int]:
        """Bytes that each block of the cache takes in memory."""
        assert self._cache is not None
        stored = self._cache.sizes(self.stream.dtype)
        return [size + PER_EXAMPLE * block[1] for size, block in zip(stored, self._cache.blocks, strict=True)]

    @property
    def _window(self) -> int:
        """Bytes of a window: one is played while the next is read, and held-out examples are copied."""
        return self.memory // (3 if self.fraction else 2)

    def _windows(self, chosen: Sequence[Sequence[int]]) -> Generator[Unit]:
        """Yield some blocks of the cache at a time: those of each entry of ``chosen``."""
        cache, width = self._cache, self.stream.format.width
        assert cache is not None
        for at, numbers in enumerate(chosen, 1):
            examples, buffer = cache.read(numbers, self.stream.dtype)
            block = self.kind.from_cache(examples)
            taught = self.split.taught(block, numbers)
            unit = Unit(self.kind.ready(taught, width) if len(taught) else None, buffer)
            if len(taught) < len(block):  # it was copied, so the next window may use the buffer
                self._release(unit)
                unit = unit._replace(buffer=None)
            self._note_progress(at / len(chosen))
            del examples, buffer, block, taught
            yield unit

    def _release(self, unit: Unit) -> None:
        if unit.buffer is not None and self._cache is not None:
            self._cache.release(unit.buffer)

    # ------------------------------------------------------------ as the files are parsed

    @property
    def _as_parsed(self) -> bool:
        """Whether blocks are played one by one as threads parse them, and not in windows."""
        return not self.shuffle or (not self.fraction and self.kind.can_be_mixed(self.stream))

    def _streamed(self, looked_at: bool = False) -> Generator[Unit]:
        """Yield examples as they are parsed: mixed blocks, or windows if files must be read from their start.

        Block by block in the order of the files if they are only ``looked_at``, or without shuffling. The hold-out is
        decided in the order of the files.
        """
        self._begin()
        mixed, alone = self.shuffle and not looked_at and not self.fraction, looked_at or self._as_parsed
        width, runs, waiting, size, examples, units = self.stream.format.width, LongestRun(), list[Any](), 0, 0, 0
        turn = None if alone else self.memory // 3 // TURNS
        for read, ready in self._parsed(mixed, alone and not self.fraction, turn):
            taught = self.split.note(read)
            if taught is None:
                continue
            self._note_progress()
            if alone:
                yield Unit(ready or (self.kind.ready(taught, width) if len(taught) else None))
            elif len(taught):
                waiting.append(taught)
                runs.note(self.kind.labels_of(taught))
                size, examples = size + self.kind.size(taught), examples + len(taught)
            if size > self.memory // 3:
                yield Unit(self.kind.ready(self.kind.join(waiting, self.stream.dtype), width))
                waiting, size, units = [], 0, units + 1
        self.skipped = self.stream.log.skipped
        if waiting:
            yield Unit(self.kind.ready(self.kind.join(waiting, self.stream.dtype), width), last=units == 0)
        if units:
            runs.warn(examples // units, self.stream.log)

    def _parsed(self, mixed: bool = False, ready: bool = False, size: int | None = None) -> Parsed:
        """Yield blocks of ``size`` bytes as they are parsed; with ``ready`` the parsing threads prepare them, too."""

        def then(read: Read) -> tuple[Read, Any]:
            return read, self.kind.ready(read.block, self.stream.format.width) if ready and read.block else None

        yield from self.kind.parse(self.stream, then, mixed, size)

    def _kept(self) -> Parsed:
        """Yield the blocks of an existing cache."""
        assert self._cache is not None
        for number in range(len(self._cache.blocks)):
            block = self.kind.from_cache(self._cache.read([number], self.stream.dtype)[0])
            yield Read(block, self._cache.file_of(number), 0), None

    def _begin(self) -> None:
        """Start reading the files again."""
        self.split.close()
        self.split = Split(self.kind, HoldOut(self.fraction, self.seed), self.stream.dtype)

    def _note_progress(self, share: float | None = None) -> None:
        """Note how much of this epoch is done: a share, or what was parsed."""
        self.done = float(self.stream.log.bytes) if share is None else share * self._bytes

    def _check(self, run: Run) -> None:
        """Raise if there was nothing to learn from."""
        check_answers(self.stream.format, self.stream.files, self.stream.log, self.examples, run.rounds_before > 0)
        if self.examples == 0:
            raise ValueError(f"there are no {self.kind.answered}; check the files and the format")
        self.split.holdout.check(self.kind.unit)
        if run.learner.rounds == run.rounds_before and self.kind.unit == "lists":
            raise ValueError(NOTHING_BETTER)
