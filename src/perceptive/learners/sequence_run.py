"""The run of a tagger so far: what the core has counted, and what theorems see."""

from __future__ import annotations

from typing import Any, Self

from perceptive import _core
from perceptive.data.dataset import Problem
from perceptive.learners.counters import NOTHING_LEARNED, Counters
from perceptive.learners.mixture import weighted
from perceptive.learners.sequence_vectors import Vectors
from perceptive.parameters import SequenceParameters

OF_THE_CORE = ("model", "_vectors", "played_rows")  # what a copy makes anew


class SequenceRun(Counters):
    """A guarded learner whose model in the core counts for itself."""

    parameters: SequenceParameters
    model: _core.SequenceModel | None
    _vectors: Vectors
    played_rows: _core.SentenceRows | None = None  # of the sentences that were played last, up to date

    @property
    def core(self) -> _core.SequenceModel:
        """The model in the core."""
        if self.model is None:
            raise ValueError(NOTHING_LEARNED)
        return self.model

    def problems(self, witness: Any = None) -> list[Problem]:
        """The run as the theorem of the structured perceptron (Collins 2002) sees it: δ is Φ(x, y*) − Φ(x, ŷ)."""
        if witness is not None:
            raise ValueError("witness does not go with sequences, whose features have no columns; leave it out")
        with self.lock.shared():
            return [self._problem()]

    def _problem(self) -> Problem:
        p, core = self.parameters, self.core
        run: Any = {name: getattr(core, name) for name in ("rounds", "mistakes", "updates", "radius2")}
        rule: Any = {name: getattr(p, name) for name in ("rule", "learning_rate", "margin", "C")}
        known = p.rule == "perceptron" and not p.hamming and not p.beam
        mixed = weighted(core.run)
        mixed.pop("weighted_mistakes", None)  # the theorem is about updates
        return Problem(**run, **rule, witnesses=self._vectors.witnesses(core), certified=known, batch=p.batch, **mixed)

    def divide(self, n: int, sums: Any) -> bool:
        """Nothing is put off: a shard knows the average of every feature that it has met."""
        return False

    def replica(self) -> Self:
        """A tagger with the same weights that learns on its own; see `Learner`."""
        twin = type(self).__new__(type(self))
        with self.lock.shared():
            mine = {name: value for name, value in self.__dict__.items() if name not in twin.__dict__}
            twin.__dict__.update(mine)
            twin.model, twin._vectors = _core.replica_of(self.core), Vectors(self.parameters)
        return twin

    def mixture(self, replica: Self, by_updates: bool) -> dict[Any, _core.SequenceMixture]:
        """What a replica has become; see `Learner`."""
        assert replica.played_rows is not None
        return {0: _core.SequenceMixture(self.core, replica.core, replica.played_rows, by_updates)}

    def mix(self, mixture: dict[Any, _core.SequenceMixture]) -> None:
        """Move by what replicas have learned."""
        with self.lock.learning(), self.lock.changing():
            self._vectors.clear()
            mixture[0].apply(self.core, self.played_rows)

    def _count(self, name: str) -> Any:
        return 0 if self.model is None else getattr(self.model, name)

    played = Counters.rounds  # the core counts them one by one
    ids = 0  # there is no Δ-trick for sequences

    def record(self, fingerprint: int, played: int, ids: int) -> None:
        """Nothing is to be noted: the core counts what is played."""

    @property
    def fingerprint(self) -> int:
        """The sum of the hashes of the sentences played so far."""
        return int(self._counted("fingerprint"))
