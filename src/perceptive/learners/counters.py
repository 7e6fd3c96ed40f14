"""`Counters`: what a learner has counted so far, as its contract names it."""

from __future__ import annotations

from typing import Any

from perceptive.learners.guarded import Guarded

NOTHING_LEARNED = "this learner has learned nothing yet; let it learn first"


class Counters(Guarded):
    """A guarded learner that counts its rounds, its mistakes and its updates, over all its problems."""

    def _count(self, name: str) -> Any:
        """Rounds, mistakes, updates, touched weights or the criterion so far; 0 before the first example."""
        raise NotImplementedError

    def _counted(self, name: str) -> Any:
        with self.lock.shared():
            return self._count(name)

    @property
    def rounds(self) -> int:
        """Examples played so far: rows, lists or sentences."""
        return int(self._counted("rounds"))

    @property
    def mistakes(self) -> int:
        """Examples that were answered wrongly when they were played."""
        return int(self._counted("mistakes"))

    @property
    def updates(self) -> int:
        """Updates so far."""
        return int(self._counted("updates"))

    @property
    def touched(self) -> int:
        """Weights written so far: grows with the updates, not with the dimension."""
        return int(self._counted("touched"))

    @property
    def loss(self) -> float:
        """The perceptron criterion of the mistakes as they happened: Σ best rival − answer."""
        return float(self._counted("criterion"))

    @property
    def progress(self) -> tuple[int, int, float]:
        """Mistakes, updates and loss, all of one moment."""
        with self.lock.shared():
            return int(self._count("mistakes")), int(self._count("updates")), float(self._count("criterion"))
