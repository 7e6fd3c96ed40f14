"""`Guarded` makes a learner safe with several threads and Ctrl-C; `Recorded` keeps what its datasets note.

One thread learns at a time; others predict, save and copy between two of its steps. A step that changes the model is
atomic: no other thread sees it half done, and no signal handler interrupts it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self, TypeVar

from perceptive import _core
from perceptive.learners.forwarding import forwarded
from perceptive.state import Meta, pair_or_none

Answer = TypeVar("Answer")
NOTHING_LEARNED = "this learner has learned nothing yet; let it learn first"


def counter(name: str, doc: str) -> Any:
    """Make a property that returns one of the whole numbers of `Guarded._count`."""

    def read(self: Guarded) -> int:
        with self.lock.shared():
            return int(self._count(name))

    return property(read, doc=doc)


class Guarded:
    """The base class of learners: their lock, and their counts over all problems.

    Attributes
    ----------
    lock : Lock
        A thread holds ``learning()`` while it trains, from the first example to the last; ``shared()`` while it
        predicts; ``exclusive()`` while it copies the model, or changes it for long; ``changing()`` during a short step
        that changes it, which signals wait for. A copy, a pickle and a fork have their own lock.
    """

    lock: _core.Lock
    threads = 1  # that may work at the same time while it learns; results do not depend on it

    def __new__(cls, *_: Any, **__: Any) -> Self:
        learner = super().__new__(cls)
        learner.lock = _core.Lock()
        return learner

    @property
    def settled(self) -> bool:
        """Whether prediction changes nothing: no average must be brought up to date."""
        return True

    def asked(self, answer: Callable[[], Answer]) -> Answer:
        """Ask the learner while no other thread changes it."""
        with self.lock.shared():
            if self.settled:
                return answer()
        with self.lock.exclusive():
            return answer()

    def _parts(self) -> dict[str, Any]:
        """What a copy is made of, as `__setstate__` takes it."""
        return {name: value for name, value in self.__dict__.items() if name != "lock"}

    def __getstate__(self) -> dict[str, Any]:
        with self.lock.exclusive():
            return copy.deepcopy(self._parts())

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # parts that two learners share would have two locks

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        with self.lock.exclusive():
            parts = copy.deepcopy(self._parts(), memo)
        twin.__setstate__(parts)
        return twin

    # ------------------------------------------------------------ what was counted

    def _count(self, name: str) -> Any:
        """Rounds, mistakes, updates, touched weights or the criterion so far; 0 before the first example."""
        raise NotImplementedError

    rounds: int = counter("rounds", "Examples played so far: rows, lists or sentences.")
    mistakes: int = counter("mistakes", "Examples that were answered wrongly when they were played.")
    updates: int = counter("updates", "Updates so far.")
    touched: int = counter("touched", "Weights written so far: grows with the updates, not with the dimension.")

    @property
    def loss(self) -> float:
        """The perceptron criterion summed over the mistakes when they happened: Σ best rival − answer."""
        return self.progress[2]

    @property
    def progress(self) -> tuple[int, int, float]:
        """Mistakes, updates and loss, at one moment."""
        with self.lock.shared():
            return int(self._count("mistakes")), int(self._count("updates")), float(self._count("criterion"))


class Recorded(Guarded):
    """A guarded learner that keeps what its datasets note."""

    tally: _core.Tally  # fingerprint of the examples, how many were played, their id features: one step changes all
    first_epoch: tuple[int, int] | None  # rounds and mistakes, where training made more epochs

    def __new__(cls, *_: Any, **__: Any) -> Self:
        learner = super().__new__(cls)
        learner.tally, learner.first_epoch = _core.Tally(), None
        return learner

    def record(self, fingerprint: int, played: int, ids: int) -> None:
        self.tally.add(fingerprint, played, ids)

    def recorded(self) -> Meta:
        """Return what was recorded, as plain values."""
        counts = {"fingerprint": str(self.fingerprint), "played": self.played, "ids": self.ids}
        return {**counts, "first_pass": self.first_epoch}

    def restore_recorded(self, meta: Meta) -> None:
        self.fingerprint, self.played = int(meta["fingerprint"]), meta["played"]
        self.ids = meta["ids"] if "ids" in meta else meta["seen"]  # older files of kernel classifiers lack ids
        self.first_epoch = pair_or_none(meta.get("first_pass"))

    fingerprint: int = forwarded("tally.fingerprint", "The sum of the hashes of the examples that datasets recorded.")
    played: int = forwarded("tally.played", "Examples recorded by datasets.")
    ids: int = forwarded("tally.ids", "Id features that the Δ-trick has handed out.")
