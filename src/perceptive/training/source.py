"""`FileSource`: files as epochs over blocks, parsed in the first epoch, read from the cache in later ones."""

from __future__ import annotations

import os
import warnings
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.dataset import Dataset, Order
from perceptive.data.labels import Labels, in_order_of_labels
from perceptive.errors import NotWritten, Parameter, ParameterError, literal, told
from perceptive.file_lock import FileLock
from perceptive.learners.calibration import fit_temperature, thinning
from perceptive.learners.linear import LinearLearner
from perceptive.streams import Stream
from perceptive.streams.blocks import STDIN, repeatable
from perceptive.streams.cache import Cache, open_or_lock, signature
from perceptive.streams.parsing import in_order
from perceptive.training.blocks import Blocks, Read, held_out_scores
from perceptive.training.holdout import Choices, HoldOut
from perceptive.training.loop import Run, hash_seed


class FileSource:
    """Examples from a stream of files, as many epochs as are wanted.

    Parameters
    ----------
    stream : Stream
    kind : Blocks
        `RowBlocks()` or `ListBlocks()`.
    epochs : int
        Where there are several, the first one writes the cache.
    cache : path or None
        Where the cache is kept, and looked for; one that was made from other files, or otherwise, is made anew.
    holdout : float
        Part of the examples that is held out.
    seed : int
        Of that choice.
    shuffle : bool
        Whether the examples of a block, and from the second epoch on the blocks of rows, are played in random order.

    Attributes
    ----------
    examples, unanswered, skipped : int
        What the first epoch met: examples or lists with an answer (those held out, too), those without, and broken
        lines that were skipped.
    rows : int
        Rows of the examples: as many as there are examples, or all candidates of the lists.
    done : float
        How much of the present epoch is done, in bytes of the files.
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
    ) -> None:
        self.stream, self.kind, self.shuffle = stream, kind, shuffle
        self.holdout = HoldOut(holdout, seed)
        self.examples = self.unanswered = self.skipped = self.rows = 0
        self.done = 0.0
        options = {"skip": stream.skip, "idf": None if stream.idf is None else zlib.crc32(stream.idf.tobytes())}
        self._made_from = signature(stream.files, stream.format, stream.dtype, unit=kind.unit, **options)
        self._path, self._wanted = cache, epochs > 1 or cache is not None
        self._resumed = False  # in a later epoch, whose order the cache alone has
        self._cache: Cache | None = None
        self._lock: FileLock | None = None
        if cache is not None:
            self._cache, self._lock = open_or_lock(cache, self._made_from, anew=stream.remember_names)
        self._choices: Choices | None = None  # what is held out of each block
        self.held_out: Cache | None = None

    @property
    def signature(self) -> dict[str, Any]:
        """What the examples depend on."""
        return {**self._made_from, "holdout": self.holdout.fraction, "seed": self.holdout.seed}

    @property
    def repeatable(self) -> bool:
        """Whether the examples can be had more than once."""
        return self.cached or all(map(repeatable, self.stream.files))

    @property
    def cached(self) -> bool:
        """Whether the examples can be had without parsing."""
        return self._cache is not None

    @property
    def n_blocks(self) -> int:
        """Blocks in the cache."""
        assert self._cache is not None
        return len(self._cache.blocks)

    def __enter__(self) -> FileSource:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._cache, self.held_out, self._choices):
            if file is not None:
                file.close()
        self._unlock()

    # ------------------------------------------------------------ what the loop asks for

    def blocks(self, run: Run) -> Iterator[tuple[Dataset | None, Order]]:
        """The present epoch. The first one takes the blocks in the order of the files; so do all without a cache."""
        learner, seed = run.learner, hash_seed(run.learner.parameters.random_state, run.epoch)
        if run.training.epochs > 1 and learner.parameters.delta:
            raise ParameterError(
                "{} needs the examples in memory for more than one epoch; train for one epoch, or set {}",
                "delta", Parameter("delta", 0),
            )  # fmt: skip
        skip = run.block
        self._wanted = self._wanted and not run.in_file_order
        if run.epoch == 0 or not self._wanted:
            run.in_file_order = run.epoch > 0
            found: Iterator[Any] = self._first()
        else:
            self._be_ready()
            order, skip = np.arange(self.n_blocks), 0
            if self.shuffle and self.kind.shuffles_blocks:
                _core.shuffle(order, seed)
            found = self._again(order[run.block :])
        for at, (number, ready, release) in enumerate(found):
            if at < skip:
                continue
            if ready is None:
                yield None, np.empty(0, np.int64)
                continue
            dataset = self.kind.dataset(learner, ready)
            play = np.arange(len(dataset))
            if self.shuffle:
                _core.shuffle(play, hash_seed(seed, number))
            yield dataset, play
            release()
        self._check(run)

    def score(self, learner: Any) -> float | None:
        """The score on the held-out part."""
        if not self.holdout:
            return None
        learner.finish()
        return self.kind.score(learner, self.kept())

    def kept(self) -> Iterator[Any]:
        """What was held out, in the order of the files."""
        held_out = self.held_out
        for number in range(len(held_out.blocks) if held_out is not None else 0):
            assert held_out is not None
            yield self.kind.from_cache(held_out.read(number, self.stream.dtype)[0])

    def datasets(self, learner: Any) -> Iterator[Dataset]:
        """All that is to be learned from, once more, to be looked at; columns never met are left out."""
        all_of_it = self._again(np.arange(self.n_blocks), learner) if self.cached else self._first(learner)
        for _, ready, release in all_of_it:
            if ready is not None:
                yield self.kind.dataset(learner, ready, grow=False)
            release()

    def first_labels(self) -> list[Any]:
        """The labels of the first block that has some."""
        return next((labels.values for labels in self.labels()), [])

    def labels(self) -> Iterator[Labels]:
        """The labels of all that is to be learned from, block by block."""
        return (ready[1] for _, ready, _ in self._first() if ready is not None)

    # ------------------------------------------------------------ reading

    def _be_ready(self) -> None:
        """Read the files as the first epoch does, where a resumed run needs what that finds."""
        if self._cache is None or (self.examples == 0 or (self.holdout and self.held_out is None)):
            self._resumed = True
            for _ in self._first():
                pass

    def _first(self, learner: Any = None) -> Iterator[tuple[int, Any, Any]]:
        """Blocks in the order of the files; None for one of which nothing is to be learned."""
        self.examples = self.unanswered = self.rows = 0
        self.holdout = HoldOut(self.holdout.fraction, self.holdout.seed)
        if self._choices is not None:
            self._choices.close()
        self._choices = Choices() if self.holdout else None
        held_out = Cache(None, {}) if self.holdout else None
        cache, number = None, 0
        try:
            try:
                cache = Cache(self._path, self._made_from) if self._wanted and self._cache is None else None
            except OSError as error:
                self._go_without(cache, error)
            for read, ready, kept in self._split(self._all(learner), self._width(learner)):
                self.unanswered += read.unanswered
                if read.block is None:
                    continue
                self.examples += len(read.block)
                self.rows += self.kind.count_rows(read.block)
                try:
                    if cache is not None:
                        cache.append(self.kind.for_cache(read.block), read.file)
                except OSError as error:
                    self._go_without(cache, error)
                    cache = None
                if held_out is not None and kept is not None:
                    held_out.append(self.kind.for_cache(kept))
                self._note_progress(number)
                yield number, ready, _nothing
                number += 1
            try:
                if cache is not None:
                    cache.left_out = [self.unanswered, self.stream.log.skipped]
                    cache.finish()
                    self._unlock()
            except OSError as error:
                self._go_without(cache, error)
                cache = None
        except BaseException:
            for unfinished in (held_out, cache):
                if unfinished is not None:
                    unfinished.close()
            raise
        if cache is not None:
            self._cache = cache
        if self._cache is not None:
            self.unanswered, self.skipped = self._cache.left_out
        else:
            self.skipped = self.stream.log.skipped
        self.held_out = held_out

    def _go_without(self, cache: Cache | None, error: OSError) -> None:
        """Go on without the cache, which cannot be written; raise where the files cannot be parsed again."""
        if cache is not None:
            cache.close()
        if self._resumed or not all(map(repeatable, self.stream.files)):
            raise error
        self._wanted = False
        self._unlock()
        how = "going on without the cache: every epoch parses the files anew, in their order"
        warnings.warn(NotWritten(f"{told(error)}; {how}"), stacklevel=2)

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def _all(self, learner: Any) -> Iterator[tuple[Read, Any]]:
        """Every block, with what `Blocks.ready` makes of it where nothing is held out: then threads do that."""
        width, ready = self._width(learner), not self.holdout

        def then(read: Read) -> tuple[Read, Any]:
            if read.block is None:
                return read, None
            block = self._narrowed(read.block, learner)
            return read._replace(block=block), self.kind.ready(block, width) if ready and len(block) else None

        if self._cache is None:
            yield from self.kind.parse(self.stream, then)
            return
        cache = self._cache
        for number in range(len(cache.blocks)):
            examples, _ = cache.read(number, self.stream.dtype)
            yield then(Read(self.kind.from_cache(examples), cache.file_of(number), 0))

    def _split(self, blocks: Iterator[tuple[Read, Any]], width: int | None) -> Iterator[tuple[Read, Any, Any]]:
        """Blocks, what is to be learned of each, and what is held out: that is decided in the order of the files."""
        if not self.holdout:
            yield from ((read, ready, None) for read, ready in blocks)
            return

        choices = self._choices
        assert choices is not None

        def decided() -> Iterator[tuple[Read, NDArray[np.bool_]]]:
            file = 0
            for read, _ in blocks:
                if read.block is None:
                    yield read, np.zeros(0, bool)
                    continue
                if read.file != file:
                    self.holdout.next_file()
                    file = read.file
                held = self.kind.choose(self.holdout, read.block)
                choices.append(held)
                yield read, held

        def split(one: tuple[Read, NDArray[np.bool_]]) -> tuple[Read, Any, Any]:
            read, held = one
            if read.block is None:
                return read, None, None
            taught = read.block.take(np.flatnonzero(~held))
            kept = read.block.take(np.flatnonzero(held)) if held.any() else None
            return read, self.kind.ready(taught, width) if len(taught) else None, kept

        yield from in_order(split, decided(), 2 if self.stream.threads > 1 else 1)

    def _again(self, order: Order, learner: Any = None) -> Iterator[tuple[int, Any, Any]]:
        """Blocks from the cache, in any order."""
        cache, width = self._cache, self._width(learner)
        assert cache is not None

        def read(number: int) -> tuple[int, Any, Any]:
            examples, buffer = cache.read(number, self.stream.dtype)
            block = self._narrowed(self.kind.from_cache(examples), learner)
            if self._choices is not None:
                block = block.take(np.flatnonzero(~self._choices.read(number)))
            ready = self.kind.ready(block, width) if len(block) else None
            return number, ready, lambda: cache.release(buffer)

        for at, found in enumerate(in_order(read, order.tolist(), 2 if self.stream.threads > 1 else 1)):
            self._note_progress(at)
            yield found

    def _narrowed(self, block: Any, learner: Any) -> Any:
        """Without the columns that a learner has never met, where it only looks."""
        return block if learner is None or learner.n_features is None else self.kind.narrow(block, learner.n_features)

    def _width(self, learner: Any) -> int | None:
        return self.stream.format.width if learner is None else learner.n_features

    def _note_progress(self, number: int) -> None:
        if self._cache is None:
            self.done = float(self.stream.log.bytes)
        else:
            size = sum(os.path.getsize(path) for path in self.stream.files if path != STDIN)
            self.done = size * (number + 1) / max(1, len(self._cache.blocks))

    def _check(self, run: Run) -> None:
        """Raise where there was nothing to learn from."""
        format, columns = self.stream.format, self.stream.log.columns
        wanted = {"label": format.label if self.examples == 0 else None, "weight": format.weight}
        for what, name in wanted.items():
            if columns and name is not None and name not in columns:
                there = ", ".join(map(repr, columns))
                said = literal(f"there is no column {name!r} for the {what} but {there}; say which with ")
                raise ParameterError(said + "{}", what)
        if self.examples == 0:
            raise ValueError(f"there are no {self.kind.answered}; check the files and the format")
        self.holdout.check(self.kind.unit)
        if run.learner.rounds == run.rounds_before and self.kind.unit == "lists":
            raise ValueError("no list has a candidate that is better than another; check the files and the format")


def _nothing() -> None:
    """No memory is to be given back."""


def classifier_for(source: FileSource, classes: list[Any] | None, **parameters: Any) -> LinearLearner:
    """A learner for the files of a source.

    Where the classes are not given and the first block has two, they are one binary problem, until a third class is
    met. Standard input cannot be read twice: there all classes compete from the start.
    """
    format, guessed = source.stream.format, None
    if classes is None and source.repeatable:
        found = source.first_labels()
        guessed = in_order_of_labels(found) if len(found) == 2 else None
    parameters["n_features"] = format.width
    learner = LinearLearner(classes or guessed, provisional=guessed is not None, **parameters)
    learner.space.reads(format, source.stream.idf)
    return learner


def calibrate(learner: LinearLearner, source: FileSource) -> None:
    """Fit the probabilities on what was held out, or on some of it where that is much."""
    step, at = thinning(source.holdout.held, len(learner.classes)), 0
    truth, scores = [], []
    for block in source.kept():
        some = np.arange(-at % step, len(block), step)
        at += len(block)
        if len(some):
            found = held_out_scores(learner, block.take(some))
            truth.append(found[0])
            scores.append(found[1])
    known = np.concatenate([np.empty(0, np.int64), *truth])
    if (known >= 0).any():
        learner.temperature = fit_temperature(np.concatenate(scores)[known >= 0], known[known >= 0])
