"""Files as passes over blocks of examples: parsed in the first pass, from the cache in later ones."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.learners.lesson import Labels
from perceptive.streams import Stream
from perceptive.streams.blocks import repeatable
from perceptive.streams.cache import Cache, signature
from perceptive.streams.examples import UNLABELLED, Examples
from perceptive.streams.parsing import in_order

MAX_FEATURES = 2**24  # of files that number their features: more are to be hashed


@dataclass(frozen=True)
class Batch:
    """A block of labelled examples, checked and ready for a learner."""

    number: int
    rows: _core.Rows
    labels: Labels
    weights: NDArray[np.float64] | None
    _cache: Cache | None = None
    _buffer: bytearray | None = None

    def release(self) -> None:
        """Say that it has been played."""
        if self._cache is not None and self._buffer is not None:
            self._cache.release(self._buffer)


def as_batch(examples: Examples, number: int, width: int | None) -> Batch:
    """Check examples; ``width`` is the number of columns, None as many as they need."""
    rows = _core.csr_rows(
        examples.indptr, examples.indices, examples.data, examples.width() if width is None else width, True
    )
    assert rows is not None  # parsers sort
    return Batch(number, rows, Labels(examples.labels, examples.which.astype(np.int64)), examples.weight)


class Source:
    """Labelled examples from a stream of files, as many passes as are wanted.

    Parameters
    ----------
    stream : Stream
    passes : int
        Where there are several, the first one writes the cache.
    cache : path or None
        Where the cache is kept, and looked for; one that was made from other files, or otherwise, is made anew.
    holdout : float
        Part of the examples that is held out, chosen at random.
    seed : int
        Of that choice.
    """

    def __init__(
        self, stream: Stream, *, passes: int = 1, cache: str | None = None, holdout: float = 0.0, seed: int = 0
    ) -> None:
        self.stream, self.holdout, self.seed = stream, holdout, seed
        self.examples = self.unlabelled = self.skipped = 0  # of the first pass; those held out are examples too
        options = {"skip": stream.skip, "idf": None if stream.idf is None else zlib.crc32(stream.idf.tobytes())}
        self._made_from = signature(stream.files, stream.reading, stream.dtype, **options)
        self._path, self._wanted = cache, passes > 1 or cache is not None
        self._cache: Cache | None = None
        if cache is not None:
            kept = Cache.open(cache, self._made_from)
            self._cache = None if stream.remember_names else kept
        self.held_out: Cache | None = None

    @property
    def signature(self) -> dict[str, Any]:
        """What the examples depend on."""
        return {**self._made_from, "holdout": self.holdout, "seed": self.seed}

    @property
    def repeatable(self) -> bool:
        """Whether the examples can be had more than once."""
        return self.cached or all(map(repeatable, self.stream.files))

    @property
    def cached(self) -> bool:
        """Whether the examples can be had without parsing."""
        return self._cache is not None

    @property
    def ready(self) -> bool:
        """Whether a first pass has been made, so that later ones find all they need."""
        return self.cached and (self.held_out is not None or not self.holdout)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        for cache in (self._cache, self.held_out):
            if cache is not None:
                cache.close()

    def first(self) -> Iterator[Batch | None]:
        """The first pass: blocks in the order of the files; None for one of which nothing is to be learned."""
        held_out = Cache(None, {}) if self.holdout else None
        self.examples = self.unlabelled = 0
        cached = self._cache is not None
        try:
            for n, batch, held in self._read_again(np.arange(self.n_blocks)) if cached else self._parse():
                self.examples += n
                if held_out is not None and held is not None and len(held):
                    held_out.append(replace(held, qid=None))
                yield batch
        except BaseException:
            if held_out is not None:
                held_out.close()
            raise
        self.held_out = held_out
        assert self._cache is not None or not self._wanted
        if self._cache is not None:
            self.unlabelled, self.skipped = self._cache.left_out

    def again(self, order: NDArray[np.int64]) -> Iterator[Batch | None]:
        """A later pass: blocks from the cache, in any order."""
        return (batch for _, batch, _ in self._read_again(order))

    def batches(self) -> Iterator[Batch]:
        """All that is to be learned from, once more, in the order of the files."""
        all_of_it = self.again(np.arange(self.n_blocks)) if self.cached else self.first()
        return (batch for batch in all_of_it if batch is not None)

    def _parse(self) -> Iterator[tuple[int, Batch | None, Examples | None]]:
        cache = Cache(self._path, self._made_from) if self._wanted else None
        try:
            for examples, unlabelled, batch, held in self.stream.blocks(prepare=self._prepare, limit=MAX_FEATURES):
                self.unlabelled += unlabelled
                if cache is not None:
                    cache.append(examples if examples.qid is None else replace(examples, qid=None))  # of no use here
                yield len(examples), batch, held
            self.skipped = self.stream.log.skipped
            if cache is not None:
                cache.left_out = [self.unlabelled, self.skipped]
                cache.finish()
        except BaseException:
            if cache is not None:
                cache.close()
            raise
        self._cache = cache

    def _read_again(self, order: NDArray[np.int64]) -> Iterator[tuple[int, Batch | None, Examples | None]]:
        cache = self._cache
        assert cache is not None
        dtype = self.stream.dtype

        def read(number: int) -> tuple[int, Batch | None, Examples | None]:
            examples, buffer = cache.read(number, dtype)
            taught, held = self._split(examples, number)
            batch = as_batch(taught, number, self.stream.reading.width) if len(taught) else None
            if taught is not examples or batch is None:
                cache.release(buffer)
            else:
                batch = replace(batch, _cache=cache, _buffer=buffer)
            return len(examples), batch, held

        return in_order(read, order.tolist(), 2 if self.stream.threads > 1 else 1)

    def kept(self, n_features: int) -> Iterator[Batch]:
        """What was held out, in the order of the files, with as many columns as a model has."""
        held_out = self.held_out
        for number in range(len(held_out.blocks) if held_out is not None else 0):
            assert held_out is not None
            examples, _ = held_out.read(number, self.stream.dtype)
            yield as_batch(examples.narrow(n_features), number, n_features)

    @property
    def n_blocks(self) -> int:
        """Blocks in the cache."""
        assert self._cache is not None
        return len(self._cache.blocks)

    def _prepare(self, examples: Examples, number: int) -> tuple[Examples, int, Batch | None, Examples | None]:
        """What the parsing threads also do: leave out what has no label, hold out a part, and check the rows."""
        missing = examples.which == UNLABELLED
        unlabelled = int(np.count_nonzero(missing))
        if unlabelled:
            examples = examples.take(np.flatnonzero(~missing))
        taught, held = self._split(examples, number)
        batch = as_batch(taught, number, self.stream.reading.width) if len(taught) else None
        return examples, unlabelled, batch, held

    def _split(self, examples: Examples, number: int) -> tuple[Examples, Examples | None]:
        if not self.holdout:
            return examples, None
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, number])))
        held = rng.random(len(examples)) < self.holdout
        return examples.take(np.flatnonzero(~held)), examples.take(np.flatnonzero(held))
