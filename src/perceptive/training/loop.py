"""The training loop: play the examples, epoch by epoch; score the held-out part; stop in time.

It is independent of the task: a `Learner` learns, a `Source` provides datasets. Examples in memory are one dataset that
is played repeatedly; files give one dataset per block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from perceptive import _core
from perceptive.data.dataset import Dataset, Order
from perceptive.data.labels import NewClass
from perceptive.learners.learner import Learner
from perceptive.parameters import TrainingParameters
from perceptive.training.mixing import Seconds, block_of, check_mixing, play_block, too_many

if TYPE_CHECKING:
    from perceptive.training.checkpoint import Checkpoint

FEWEST = 10  # epochs that are played before few mistakes end a training


@dataclass
class History:
    """What happened, epoch by epoch."""

    mistakes: list[int] = field(default_factory=list)
    updates: list[int] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)  # the perceptron criterion of the mistakes as they happened
    held_out: list[float] = field(default_factory=list)  # score on the held-out part
    converged: bool = False  # an epoch went by without a mistake or an update
    seconds: list[dict[str, float]] = field(default_factory=list, compare=False)  # of shards: see `mixing.Seconds`

    @classmethod
    def from_meta(cls, meta: dict[str, Any]) -> Self:
        """Read it from a file; raise ValueError if that is not possible."""
        if not meta.keys() <= {f.name for f in fields(cls)}:
            raise ValueError("an impossible history")
        history = cls(**meta)
        if not len(history.mistakes) == len(history.updates) == len(history.loss) >= len(history.held_out):
            raise ValueError("the history has lists of different lengths")
        return history

    def meta(self) -> dict[str, Any]:
        """Return it as plain values, for a file."""
        told = asdict(self)
        return told if self.seconds else {name: value for name, value in told.items() if name != "seconds"}

    @property
    def epochs(self) -> int:
        """Epochs begun."""
        return len(self.mistakes)

    @property
    def settled(self) -> bool:
        """Whether the last epoch made no update: then no later epoch will either.

        It may still make mistakes that teach nothing (for example if K(x, x) = 0): then it has settled, but not
        converged.
        """
        return self.updates[-1] == 0

    def few(self, mistakes: float) -> bool:
        """Whether ten epochs are over, and each of the later half made at most this many mistakes (and these are > 0).

        The average over all epochs is then mostly an average of vectors that rarely err.
        """
        return mistakes > 0 and self.epochs >= FEWEST and max(self.mistakes[self.epochs // 2 :]) <= mistakes

    def note(self, learner: Learner, before: tuple[int, int, float]) -> tuple[int, int, float]:
        """Note what a learner did since these mistakes, updates and loss; return the current ones."""
        with learner.lock.changing():
            now = learner.progress
            self.mistakes.append(now[0] - before[0])
            self.updates.append(now[1] - before[1])
            self.loss.append(now[2] - before[2])
        return now


@dataclass
class Run:
    """A training run and its position: it can be saved between two chunks and resumed later.

    Attributes
    ----------
    learner : Learner
    training : TrainingParameters
    history : History
        The completed epochs.
    epoch, block, chunk : int
        The current epoch, how many of its blocks have been played, and how many chunks of the current block.
    before : (int, int, float)
        Mistakes, updates and loss before this epoch.
    rounds_before : int
        Rounds before this epoch.
    best : object
        Snapshot of the learner after the epoch with the best held-out score.
    best_epoch : int
    done : bool
    dataset_state : object
        State of the current block, if the run was resumed in the middle of it.
    streamed : bool
        Whether the examples are played while the files are parsed, not from a cache.
    """

    learner: Learner
    training: TrainingParameters
    history: History = field(default_factory=History)
    epoch: int = 0
    block: int = 0
    chunk: int = 0
    before: tuple[int, int, float] = (0, 0, 0.0)
    rounds_before: int = 0
    best: Any = None
    best_epoch: int = 0
    done: bool = False
    dataset_state: Any = None
    streamed: bool = False

    @classmethod
    def of(cls, learner: Learner, training: TrainingParameters, history: History | None = None) -> Run:
        """Start a run with a learner in its current state."""
        run = cls(learner, training, History() if history is None else history)
        run.before, run.rounds_before = learner.progress, learner.rounds
        return run

    def start_over(self, learner: Learner) -> None:
        """Start again with another, untrained learner."""
        self.learner, self.best = learner, None
        for name in ("mistakes", "updates", "loss", "held_out", "seconds"):
            getattr(self.history, name).clear()
        self.epoch = self.block = self.chunk = self.best_epoch = self.rounds_before = 0
        self.before, self.dataset_state = (0, 0, 0.0), None


class Source(Protocol):
    """Where the examples of a run come from."""

    def blocks(self, run: Run) -> Iterator[tuple[Dataset | None, Order]]:
        """Yield the datasets of the current epoch with the order to play each, from ``run.block`` on.

        None means a block with nothing to learn.
        """

    def score(self, learner: Learner) -> float | None:
        """Return the score on the held-out part; None if nothing is held out."""


class InMemory:
    """Examples in memory, as one dataset.

    Parameters
    ----------
    dataset : Dataset
    shuffle : bool
        Whether each epoch plays them in a new random order.
    held_out : callable or None
        Returns the score on the held-out part.
    """

    def __init__(self, dataset: Dataset, shuffle: bool, held_out: Callable[[], float] | None = None) -> None:
        self.dataset, self.shuffle, self.held_out = dataset, shuffle, held_out
        self._order, self._shuffled = np.arange(len(dataset)), 0

    def blocks(self, run: Run) -> Iterator[tuple[Dataset | None, Order]]:
        """Yield the dataset; each epoch shuffles the order of the previous one. Shards have their own orders."""
        if self.shuffle and run.training.shards == 1:
            while self._shuffled <= run.epoch:
                seed = hash_seed(run.learner.parameters.random_state, self._shuffled)
                self._order = self._order[_core.random_order(len(self._order), seed)]
                self._shuffled += 1
        self.dataset.revisited = run.epoch > 0
        if run.block == 0:
            yield self.dataset, self._order

    def score(self, learner: Learner) -> float | None:
        """Return the score on the held-out part."""
        return None if self.held_out is None else self.held_out()


def hash_seed(random_state: int, epoch: int) -> int:
    """A seed for each epoch."""
    return (int(random_state) * 0x9E3779B97F4A7C15 + epoch * 0xD1342543DE82EF95 + 1) % 2**64


def train(
    run: Run,
    source: Source,
    *,
    report: Callable[[int], None] | None = None,
    after_epoch: Callable[[History], None] | None = None,
    checkpoint: Checkpoint | None = None,
    threads: int = 1,
) -> History:
    """Play up to ``epochs`` epochs.

    Training ends early after an epoch without updates; if, of ten or more epochs, the later half made mistakes on at
    most a part ``tol`` of the examples; or if the held-out score has been below the best for ``patience`` epochs. Then
    the learner returns to the best epoch, the last one of equals. If an exception (such as Ctrl-C) interrupts training,
    the learner keeps what it has learned, and the history contains the unfinished epoch.

    Parameters
    ----------
    run : Run
    source : Source
    report : callable or None
        Called about fifty times a second with the number of examples just played.
    after_epoch : callable or None
        Called with the history after each epoch.
    checkpoint : Checkpoint or None
        Saves the run between two chunks.
    threads : int
        Threads for shards and other parallel work. Results do not depend on it.
    """
    if run.training.shards > 1:
        check_mixing(run.learner, run.training.shards)
    loop = _Loop(run, source, report, after_epoch, checkpoint, threads)
    while not run.done:
        with run.learner.lock.learning():  # no other thread teaches it before the run is over
            with run.learner.lock.changing():
                run.learner.open = False
                run.learner.threads = threads
            loop.play()
    return run.history


@dataclass(frozen=True)
class _Loop:
    """The epochs of a run; the fields are the arguments of `train`."""

    run: Run
    source: Source
    report: Callable[[int], None] | None
    after_epoch: Callable[[History], None] | None
    checkpoint: Checkpoint | None
    threads: int

    def play(self) -> None:
        """Play the epochs, to the end or until a new learner has to start over."""
        run = self.run
        while not run.done:
            complete = run.history.epochs
            try:
                self._play_epoch()
                self._end_epoch()
            except NewClass as met:
                run.start_over(met.again())
                return
            except BaseException:
                if run.history.epochs == complete:
                    run.history.note(run.learner, run.before)
                raise
            finally:
                if run.done:
                    run.learner.finish()

    def _play_epoch(self) -> None:
        run, checkpoint, sharded = self.run, self.checkpoint, self.run.training.shards > 1
        for dataset, order in self.source.blocks(run):
            if dataset is not None and sharded:
                self._play_shards(dataset)
            elif dataset is not None:
                self._play_block(dataset, order)
            run.block, run.chunk = run.block + 1, 0
            # What a resumable dataset keeps, another epoch needs: it is written down between two chunks only.
            if checkpoint is not None and (sharded or not (dataset is not None and dataset.resumable)):
                checkpoint.after_chunk(run, None)
            del dataset, order  # before the next ones are made

    def _play_shards(self, dataset: Dataset) -> None:
        """Play a dataset by shards that are mixed."""
        run, training, history = self.run, self.run.training, self.run.history
        if run.epoch == run.block == 0 and len(dataset) < training.shards:
            raise too_many(training.shards, len(dataset))
        seed = hash_seed(hash_seed(run.learner.parameters.random_state, run.epoch), run.block)
        spent = play_block(dataset, training.shards, block_of(training, seed), self.threads, self.report)
        if len(history.seconds) <= run.epoch:
            history.seconds.append(asdict(Seconds()))
        for name, value in asdict(spent).items():
            history.seconds[-1][name] += value

    def _play_block(self, dataset: Dataset, order: Order) -> None:
        """Play a dataset, from the chunk on where the run was resumed."""
        run = self.run
        skip, state, run.dataset_state = run.chunk, run.dataset_state, None
        if state is not None and skip == 0:
            dataset.restore(state)
        for played in dataset.epoch(order, skip=skip, state=state if skip else None):
            run.chunk += 1
            if self.report is not None:
                self.report(played)
            if self.checkpoint is not None and dataset.resumable:
                self.checkpoint.after_chunk(run, dataset)

    def _end_epoch(self) -> None:
        run, learner, history = self.run, self.run.learner, self.run.history
        now, rounds = history.note(learner, run.before), learner.rounds
        played = rounds - run.rounds_before
        if played == 0:
            raise ValueError("all examples have weight 0: there is nothing to learn; give some of them more weight")
        if learner.first_epoch is None:
            learner.first_epoch = played, history.mistakes[-1]
        history.converged = history.settled and history.mistakes[-1] == 0
        few = history.few(run.training.tol * played)
        run.done = history.settled or few or run.epoch + 1 >= run.training.epochs
        score = self.source.score(learner)
        if score is not None:
            best = max(history.held_out, default=-1.0)
            history.held_out.append(score)
            if score >= best:  # of equals the later: an average is the better the longer it is
                run.best_epoch, run.best = run.epoch, None if run.done else learner.snapshot()
                if self.checkpoint is not None and not run.done:
                    self.checkpoint.new_best(learner)
            elif run.epoch - run.best_epoch >= run.training.patience:
                run.done = True
        if self.after_epoch is not None:
            self.after_epoch(history)
        run.before, run.rounds_before = now, rounds
        run.epoch, run.block, run.chunk = run.epoch + 1, 0, 0
        if run.done and run.best is not None and run.best_epoch < history.epochs - 1:
            learner.restore(run.best)
            run.best = None
