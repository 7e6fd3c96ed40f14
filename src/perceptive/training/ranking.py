"""Passes over lists that come from files: every pass reads them anew, memory holds a few blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.learners.ranking import RankingLearner, RankingLesson
from perceptive.parameters import TrainingParameters
from perceptive.streams import Stream
from perceptive.streams.blocks import STDIN
from perceptive.streams.lists import CandidateLists, read_lists
from perceptive.training.local import History, hash_seed


class ListSource:
    """The lists of a stream that have answers: those to learn from, and those held out.

    Parameters
    ----------
    stream : Stream
    holdout : float
        Part of the lists that is held out, chosen at random.
    seed : int
        Of that choice.
    """

    def __init__(self, stream: Stream, holdout: float = 0.0, seed: int = 0) -> None:
        self.stream, self.holdout, self.seed = stream, holdout, seed
        self.lists = self.candidates = self.unanswered = 0  # of the latest reading

    def parts(self) -> Iterator[tuple[CandidateLists, NDArray[np.bool_]]]:
        """Lists, and which of them are held out; lists without an answer are left out and counted."""
        self.lists = self.candidates = self.unanswered = 0
        for number, part in enumerate(read_lists(self.stream)):
            answered = np.flatnonzero(~np.logical_or.reduceat(np.isnan(part.grades), part.starts[:-1]))
            self.unanswered += len(part) - len(answered)
            rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, number])))
            held = rng.random(len(answered)) < self.holdout
            if len(answered):
                part = part.take(answered)
                self.lists += len(part)
                self.candidates += len(part.examples)
                yield part, held

    def taught(self) -> Iterator[CandidateLists]:
        """Those to learn from."""
        for part, held in self.parts():
            if not held.all():
                yield part.take(np.flatnonzero(~held))

    def lessons(self, learner: RankingLearner) -> Iterator[RankingLesson]:
        """Those to learn from, to be looked at."""
        for part in self.taught():
            yield learner.lesson(rows_of(part, learner), part.grades, np.diff(part.starts))


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
    if training.epochs > 1 and STDIN in source.stream.files:
        raise ValueError("standard input comes but once; write it to a file, or take one pass")
    if training.epochs > 1 and learner.parameters.delta:
        raise ValueError("delta needs the lists in memory for more than one pass; take one pass, or delta=0")
    learner.reading, learner.idf = source.stream.reading, source.stream.idf
    if learner.problem is None and learner.reading.width is not None:
        learner.n_features = learner.reading.width
    history, best, best_epoch = History(), None, 0
    for epoch in range(training.epochs):
        before = learner.mistakes, learner.updates, learner.loss, learner.rounds
        for number, part in enumerate(source.taught()):
            order = np.arange(len(part))
            if training.shuffle:
                _core.shuffle(order, hash_seed(hash_seed(learner.parameters.random_state, epoch), number))
            lesson = learner.prepare(rows_of(part, learner), part.grades, np.diff(part.starts))
            lesson.play_as_they_come(order)
            after_block(epoch)
        if learner.rounds == before[3]:
            raise ValueError("no list has a candidate that is better than another; check the files and the format")
        history.mistakes.append(learner.mistakes - before[0])
        history.updates.append(learner.updates - before[1])
        history.loss.append(learner.loss - before[2])
        history.converged = history.updates[-1] == 0
        if epoch == 0:
            learner.first_pass = learner.rounds, learner.mistakes
        if source.holdout:
            score = held_out_accuracy(learner, source)
            if score > max(history.held_out, default=-1.0):
                best, best_epoch = deepcopy(learner.snapshot()), epoch
            history.held_out.append(score)
            if epoch - best_epoch >= training.patience:
                break
        if history.converged:
            break
    if best is not None and best_epoch < history.epochs - 1:
        learner.restore(best)
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
    return top1(np.concatenate(grades), np.concatenate(scores), starts)
