"""`Recorded`: a learner whose datasets write down in it what they play."""

from __future__ import annotations

from typing import Any, Self

from perceptive import _core
from perceptive.learners.counters import Counters
from perceptive.learners.forwarding import forwarded


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

    fingerprint: int = forwarded("tally.fingerprint", "The sum of the hashes of the examples that datasets recorded.")
    played: int = forwarded("tally.played", "Examples recorded by datasets.")
    ids: int = forwarded("tally.ids", "Id features that the Δ-trick has handed out.")
