"""Passes over lists that come from files: parsed once, then from the cache; memory holds a few blocks."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.learners.ranking import RankingLearner, RankingLesson
from perceptive.parameters import TrainingParameters
from perceptive.streams import Stream
from perceptive.streams.blocks import STDIN
from perceptive.streams.cache import Cache, signature
from perceptive.streams.lists import CandidateLists, read_lists
from perceptive.training.passes import TELLS_NOTHING, History, hash_seed, play_passes


class ListSource:
    """The lists of a stream that have answers: those to learn from, and those held out.

    They are parsed once, and come from the cache after that. In the cache the number of its list stands for the query
    of a candidate, and its grade for the weight.

    Parameters
    ----------
    stream : Stream
    holdout : float
        Part of the lists that is held out, chosen at random.
    seed : int
        Of that choice.
    passes : int
        Where there are several, the first one writes the cache.
    cache : path or None
        Where the cache is kept, and looked for; one that was made from other files, or otherwise, is made anew.
    """

    def __init__(
        self, stream: Stream, holdout: float = 0.0, seed: int = 0, *, passes: int = 1, cache: str | None = None
    ) -> None:
        self.stream, self.holdout, self.seed = stream, holdout, seed
        self.lists = self.candidates = self.unanswered = self.skipped = self.held = 0  # of the latest reading
        self.done = 0.0  # how much of a reading has been done, in bytes
        idf = None if stream.idf is None else zlib.crc32(stream.idf.tobytes())
        how = {"lists": True, "skip": stream.skip, "idf": idf}
        self._made_from = signature(stream.files, stream.reading, stream.dtype, **how)
        self._path, self._wanted = cache, passes > 1 or cache is not None
        self._cache = None if cache is None else Cache.open(cache, self._made_from)

    def __enter__(self) -> ListSource:
        return self

    def __exit__(self, *_: object) -> None:
        if self._cache is not None:
            self._cache.close()

    @property
    def repeatable(self) -> bool:
        """Whether the lists can be had more than once."""
        return self._wanted or self._cache is not None or STDIN not in self.stream.files

    def parts(self) -> Iterator[tuple[CandidateLists, NDArray[np.bool_]]]:
        """Lists, and which of them are held out; lists without an answer are left out and counted."""
        self.lists = self.candidates = self.held = 0
        for number, part in enumerate(self._parse() if self._cache is None else self._read(self._cache)):
            rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, number])))
            self.lists += len(part)
            self.candidates += len(part.examples)
            held = rng.random(len(part)) < self.holdout
            self.held += int(np.count_nonzero(held))
            yield part, held

    def _parse(self) -> Iterator[CandidateLists]:
        cache = Cache(self._path, self._made_from) if self._wanted else None
        self.unanswered = 0
        try:
            for part in read_lists(self.stream):
                self.done = float(self.stream.log.bytes)
                if len(part) == 0:
                    continue
                answered = np.flatnonzero(~np.logical_or.reduceat(np.isnan(part.grades), part.starts[:-1]))
                self.unanswered += len(part) - len(answered)
                if len(answered) == 0:
                    continue
                part = part.take(answered)
                if cache is not None:
                    number = np.repeat(np.arange(len(part)), np.diff(part.starts))
                    which = np.zeros(len(part.examples), np.int32)
                    cache.append(replace(part.examples, labels=[0], which=which, weight=part.grades, qid=number))
                yield part
            self.skipped = self.stream.log.skipped
            if cache is not None:
                cache.left_out = [self.unanswered, self.skipped]
                cache.finish()
        except BaseException:
            if cache is not None:
                cache.close()
            raise
        self._cache = cache

    def _read(self, cache: Cache) -> Iterator[CandidateLists]:
        self.unanswered, self.skipped = cache.left_out
        size = sum(os.path.getsize(path) for path in self.stream.files if path != STDIN)
        for number in range(len(cache.blocks)):
            examples, _ = cache.read(number, self.stream.dtype)
            self.done = size * (number + 1) / len(cache.blocks)
            assert examples.qid is not None
            assert examples.weight is not None
            starts = np.flatnonzero(np.diff(examples.qid, prepend=-1, append=-1)).astype(np.int64)
            yield CandidateLists(examples, starts, examples.weight, [None] * (len(starts) - 1))

    def taught(self) -> Iterator[CandidateLists]:
        """Those to learn from."""
        for part, held in self.parts():
            if not held.all():
                yield part.take(np.flatnonzero(~held))

    def lessons(self, learner: RankingLearner, known_only: bool = False) -> Iterator[RankingLesson]:
        """Those to learn from, to be looked at; ``known_only`` is that of `rows_of`."""
        for part in self.taught():
            yield learner.lesson(rows_of(part, learner, known_only), part.grades, np.diff(part.starts))


def rows_of(part: CandidateLists, learner: RankingLearner, known_only: bool = False) -> _core.Rows:
    """Candidates as checked rows; with ``known_only`` columns that the learner has never met are left out."""
    examples, width = part.examples, learner.reading.width if learner.reading is not None else None
    if known_only:
        width = learner.n_features
        assert width is not None
        examples = examples.narrow(width)
    rows = _core.csr_rows(
        examples.indptr, examples.indices, examples.data, examples.width() if width is None else width, True
    )
    assert rows is not None  # parsers sort
    return rows


def train_lists(
    learner: RankingLearner,
    source: ListSource,
    training: TrainingParameters,
    after_block: Callable[[int], None] = lambda epoch: None,
) -> History:
    """Play the lists up to ``epochs`` times, shuffled within blocks.

    Training ends early on a pass without updates, or when the share of held-out lists whose best is on top has not
    risen for ``patience`` passes; then the learner is as it was after the best pass.
    """
    if training.epochs > 1 and not source.repeatable:
        raise ValueError("standard input comes but once; keep a cache, or take one pass")
    if training.epochs > 1 and learner.parameters.delta:
        raise ValueError("delta needs the lists in memory for more than one pass; take one pass, or delta=0")
    learner.reading, learner.idf = source.stream.reading, source.stream.idf
    if learner.problem is None and learner.reading.width is not None:
        learner.n_features = learner.reading.width

    def play(epoch: int) -> None:
        before = learner.rounds
        for number, part in enumerate(source.taught()):
            order = np.arange(len(part))
            if training.shuffle:
                _core.shuffle(order, hash_seed(hash_seed(learner.parameters.random_state, epoch), number))
            lesson = learner.prepare(rows_of(part, learner), part.grades, np.diff(part.starts))
            lesson.play_as_they_come(order)
            after_block(epoch)
        if source.holdout and source.held in (0, source.lists) and source.lists:
            which = "all" if source.held else "none"
            raise ValueError(
                f"--holdout {source.holdout:g} holds out {which} of {source.lists} lists; give more lists, or leave it "
                "out"
            )
        if learner.rounds == before:
            raise ValueError("no list has a candidate that is better than another; check the files and the format")

    held_out = (lambda: held_out_accuracy(learner, source)) if source.holdout else None
    history = play_passes(learner, play, training.epochs, held_out=held_out, patience=training.patience)
    learner.finish()
    return history


def held_out_accuracy(learner: RankingLearner, source: ListSource) -> float:
    """Share of the held-out lists whose best is on top."""
    from perceptive.metrics import top1

    grades, scores, sizes = [np.empty(0)], [np.empty(0)], [np.empty(0, np.int64)]
    for part, held in source.parts():
        if held.any():
            kept = part.take(np.flatnonzero(held))
            grades.append(kept.grades)
            scores.append(learner.scores_of(rows_of(kept, learner, known_only=True), kept.starts))
            sizes.append(np.diff(kept.starts))
    starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    score = top1(np.concatenate(grades), np.concatenate(scores), starts)
    if np.isnan(score):
        raise ValueError(TELLS_NOTHING)
    return score
