"""`Recorded`: a learner whose datasets write down in it what they play."""

from __future__ import annotations

from typing import Any, Self

from perceptive import _core
from perceptive.learners.counters import Counters


class Recorded(Counters):
    """A guarded learner with a tally.

    Attributes
    ----------
    tally : Tally
        The fingerprint of the examples, how many were played, and their id features: one step changes all three.
    """

    tally: _core.Tally

    def __new__(cls, *_: Any, **__: Any) -> Self:
        learner = super().__new__(cls)
        learner.tally = _core.Tally()
        return learner

    @property
    def fingerprint(self) -> int:
        """The sum of the hashes of the examples that datasets recorded."""
        return self.tally.fingerprint

    @fingerprint.setter
    def fingerprint(self, value: int) -> None:
        self.tally.fingerprint = value

    @property
    def played(self) -> int:
        """Examples recorded by datasets."""
        return self.tally.played

    @played.setter
    def played(self, value: int) -> None:
        self.tally.played = value

    @property
    def ids(self) -> int:
        """Id features that the Δ-trick has handed out."""
        return self.tally.ids

    @ids.setter
    def ids(self, value: int) -> None:
        self.tally.ids = value
