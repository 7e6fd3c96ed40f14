"""`Recorded`: a learner whose datasets write down in it what they play."""

from __future__ import annotations

from typing import Any, Self

from perceptive import _core
from perceptive.learners.forwarding import forwarded
from perceptive.learners.guarded import Guarded
from perceptive.state import Meta, pair_or_none


class Recorded(Guarded):
    """A guarded learner with a tally.

    Attributes
    ----------
    tally : Tally
        The fingerprint of the examples, how many were played, and their id features: one step changes all three.
    first_epoch : (int, int) or None
        Rounds and mistakes of the first epoch, where training made more.
    """

    tally: _core.Tally
    first_epoch: tuple[int, int] | None

    def __new__(cls, *_: Any, **__: Any) -> Self:
        learner = super().__new__(cls)
        learner.tally, learner.first_epoch = _core.Tally(), None
        return learner

    def record(self, fingerprint: int, played: int, ids: int) -> None:
        self.tally.add(fingerprint, played, ids)

    def recorded(self) -> Meta:
        """What is recorded, as plain values."""
        counts = {"fingerprint": str(self.fingerprint), "played": self.played, "ids": self.ids}
        return {**counts, "first_pass": self.first_epoch}

    def restore_recorded(self, meta: Meta) -> None:
        self.fingerprint, self.played = int(meta["fingerprint"]), meta["played"]
        self.ids = meta["ids"] if "ids" in meta else meta["seen"]  # older files of kernel classifiers lack ids
        self.first_epoch = pair_or_none(meta.get("first_pass"))

    fingerprint: int = forwarded("tally.fingerprint", "The sum of the hashes of the examples that datasets recorded.")
    played: int = forwarded("tally.played", "Examples recorded by datasets.")
    ids: int = forwarded("tally.ids", "Id features that the Δ-trick has handed out.")
