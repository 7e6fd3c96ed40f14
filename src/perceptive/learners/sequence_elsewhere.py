"""A tagger whose sentences others have: it knows their labels and strings, and others start from its weights."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from perceptive import _core
from perceptive.data.sentences import Features
from perceptive.features.templates import Templates
from perceptive.learners.labelling import Labelling, Labels
from perceptive.learners.named_functions import name_of
from perceptive.learners.sentence_reader import SentenceReader
from perceptive.learners.sequence_state import state_of
from perceptive.learners.sequence_weights import SequenceWeights
from perceptive.state import Arrays, State

Parts = tuple[_core.SequenceModel, Templates, Labelling]


class SequenceElsewhere(SequenceWeights):
    """What a tagger does for sentences on a cluster.

    Features are known by keys that are made of the numbers of strings, and these are numbered as they are met. So
    everybody needs the same strings in the same order before features can be compared.
    """

    features: Features | None
    token_kind: str | None

    @abstractmethod
    def _settled(
        self, X: Sequence[Any], y: list[Any], whole: bool, classes: Iterable[Any]
    ) -> tuple[Parts, list[Any], Labels]: ...

    @abstractmethod
    def _keep(self, parts: Parts, every: Labels, token: Any, whole: bool) -> None: ...

    def meet_elsewhere(self, first: Sequence[Any], y: list[Any], whole: bool) -> list[Any]:
        """Know the labels of sentences of which the first is here; returns the labels, mended where that is wanted.

        ``whole``: they are a whole training set, of a learner that has learned nothing.
        """
        self.labelling.check(y)
        with self.lock.learning():
            y = self.labelling.mended(y, whole)
            parts, _, every = self._settled([first], y, whole, ())
            self._keep(parts, every, first[0], whole)
        return y

    def strings_of(self, X: Sequence[Any]) -> Arrays:
        """Know the strings of sentences; returns all that it knows, in their order."""
        with self.lock.learning(), self.lock.changing():
            SentenceReader(self.features, self._readable, self.token_kind).encode(self.core.meet, X)
            return self.core.strings()

    def meet_strings(self, strings: Arrays) -> None:
        """Know the strings that another knows, too; those that are new come behind."""
        with self.lock.learning(), self.lock.changing():
            self.core.meet_strings(strings)

    def departure(self) -> tuple[State, Mapping[str, Any]]:
        """The state of a replica; see `Learner`. Rows of weights keep their numbers."""
        replica: Any = self.replica()
        functions = {} if self.features is None else {name_of(self.features): self.features}
        return state_of(replica, (replica.core.state(None, 0.0), 0)), functions
