"""``perceptive train --follow``: learn from what arrives for ever, and say how it goes."""

from __future__ import annotations

import argparse
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from perceptive.cli import groups as g
from perceptive.cli.options import as_json, option_of
from perceptive.cli.tasks import Task
from perceptive.errors import NotWritten, UsageError, told
from perceptive.learners.learner import learn_all
from perceptive.models.registry import save

# The groups whose options say how examples are played again, kept, or shared out.
PLAYS_OFTEN = (
    g.TRAINING, g.STOPPING, g.CACHE, g.CHECKPOINT.only("checkpoint"), g.CERTIFY, g.TUNE, g.PRUNE, g.CLUSTER,
)  # fmt: skip
STOPS = ("SIGINT", "SIGTERM", "SIGHUP")
WAKE = 0.5  # seconds


class Stopped(KeyboardInterrupt):
    """A signal asks the run to end."""


def follow(options: argparse.Namespace, task: Task, learner: Any) -> int:
    """Learn from examples as they arrive.

    Progressive accuracy is told when their number has doubled, and each second in which some arrived. The model is
    written every ``--every`` seconds in which something was learned, also while nothing arrives; and at the end, also
    where a signal or a broken line ends it.
    """
    names = [name for group in PLAYS_OFTEN for name in group.options]
    if given_too := [option_of(name) for name in names if getattr(options, name) not in (None, False)]:
        said = "not with --follow, which plays each example once, as it comes, in this process"
        raise UsageError(f"{', '.join(given_too)}: {said}")
    options.every = g.EVERY if options.every is None else options.every
    learner, datasets = task.follow(options, learner)
    start = learner.rounds
    teller, saver = _Teller(options, task.unit, learner), _Saver(learner, options)
    broken: Exception | None = None
    with stoppable(saver.note):
        try:
            for dataset in datasets:
                learn_all(dataset)
                teller.note()
                saver.note()
        except Stopped:
            pass
        except (ValueError, OSError) as error:
            broken = error
        if learner.rounds == start:
            raise broken or ValueError(f"no {task.unit} with answers have arrived; nothing was learned")
        save(learner, options.output)  # also what was learned before a line that is broken
    if broken is not None:
        raise broken
    teller.note(last=True)
    return 0


class _Saver:
    """Writes the model every now and then, if there is something new in it."""

    def __init__(self, learner: Any, options: argparse.Namespace) -> None:
        self.learner, self.options = learner, options
        self.saved, self.at, self.busy = learner.rounds, time.monotonic(), False

    def note(self) -> None:
        """Write it, if it is time; where that fails, it is tried again later. A signal may call this at any moment."""
        if self.busy or self.learner.rounds == self.saved or time.monotonic() - self.at < self.options.every:
            return
        self.busy = True
        try:
            rounds = self.learner.rounds
            save(self.learner, self.options.output)
            self.saved = rounds
        except OSError as error:
            warnings.warn(NotWritten(f"{told(error)}; trying again after {self.options.every:g} s"), stacklevel=2)
        finally:
            self.at, self.busy = time.monotonic(), False


class _Counts(NamedTuple):
    examples: int
    rounds: int  # more than examples where these are of several binary problems
    mistakes: int


class _Teller:
    def __init__(self, options: argparse.Namespace, unit: str, learner: Any) -> None:
        self.options, self.unit, self.learner = options, unit, learner
        self.start = self._counts(_Counts(0, 0, 0))
        self.told, self.at = _Counts(0, 0, 0), 0.0

    def _counts(self, start: _Counts) -> _Counts:
        now = self.learner.played, self.learner.rounds, self.learner.mistakes
        return _Counts(*(a - b for a, b in zip(now, start, strict=True)))

    def note(self, last: bool = False) -> None:
        """Tell of what was learned, if it is time."""
        seen, told, now = self._counts(self.start), self.told, time.monotonic()
        if seen.rounds == told.rounds or not (last or seen.examples >= 2 * told.examples or now - self.at >= 1.0):
            return
        recent = 1 - (seen.mistakes - told.mistakes) / (seen.rounds - told.rounds)
        overall = 1 - seen.mistakes / seen.rounds
        if self.options.json:
            counts = {"examples": seen.examples, "rounds": seen.rounds, "mistakes": seen.mistakes}
            print(as_json({**counts, "accuracy": overall, "recent": recent}), flush=True)
        elif not self.options.quiet:
            right = "right" if seen.rounds == seen.examples else f"right in {seen.rounds:,} binary rounds"
            latest = f"{recent:7.2%} of the latest"
            print(f"{seen.examples:>12,} {self.unit}  {overall:7.2%} {right}  {latest}", flush=True)
        self.told, self.at = seen, now


@contextmanager
def stoppable(wake: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Let signals end what is followed, so that it is saved; at a second one the program ends.

    One that comes just before a read that waits does not interrupt it: a timer does, and Python then sees the signal.
    Each time it calls ``wake``, also while the read waits on; not while the model changes, when all signals wait.
    """

    def stop(number: int, frame: object) -> None:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
        raise Stopped

    hung_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN  # nohup
    stops = [name for name in STOPS if name != "SIGHUP" or hung_up]
    before = {name: signal.signal(getattr(signal, name), stop) for name in stops}
    alarm = signal.signal(signal.SIGALRM, lambda *_: wake())
    signal.setitimer(signal.ITIMER_REAL, WAKE, WAKE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
