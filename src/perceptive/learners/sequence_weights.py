"""What a tagger holds: its facts, its heaviest weights by name, and how it is pruned to those that predict."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.errors import ParameterError
from perceptive.features.templates import Templates
from perceptive.learners.facts import parameter_facts
from perceptive.learners.labelling import Labelling, Labels
from perceptive.learners.pruning import check_prunable
from perceptive.learners.sequence_run import SequenceRun
from perceptive.learners.weight_names import weight_name


class SequenceWeights(SequenceRun):
    """The model of a tagger as a whole."""

    labels: Labels
    labelling: Labelling
    label_column: int | str | None

    @property
    @abstractmethod
    def classes(self) -> Labels:
        """The labels as the user knows them."""

    @property
    @abstractmethod
    def _readable(self) -> Templates: ...

    @abstractmethod
    def vector(self, hypothesis: str | None = None) -> _core.SequenceVector | None:
        """What the core predicts by; None is the last vector."""

    @abstractmethod
    def restore(self, state: Any) -> None:
        """Go back to a snapshot."""

    def facts(self) -> dict[str, Any]:
        """What it is, as plain values by name."""
        scheme = {"scheme": self.labelling.given or self.labelling.scheme, "label_column": self.label_column}
        features = 0 if self.model is None else int(self.model.n_state_rows + self.model.n_edge_rows)
        return {**parameter_facts(self.parameters), "classes": self.classes, **scheme, "features": features}

    def prune(self, threshold: float = 0.0, hypothesis: str | None = None, precision: str | None = None) -> None:
        """Keep only the vector that predicts, and of it only the weights above a threshold in absolute value.

        Learning may go on from there; the average begins anew. A learner that keeps every update cannot be pruned.
        """
        check_prunable(self.parameters, threshold)
        if precision is not None:
            raise ParameterError("{}: files hold the weights of taggers as float32 alone; leave it out", "precision")
        with self.lock.learning():
            vector = self.vector(hypothesis) or self.core.last()
            self.restore((self.core.state(vector, float(threshold)), self.core.fingerprint))

    def heaviest(self, n: int = 20, hypothesis: str | None = None) -> list[tuple[str, str, float]]:
        """The n largest weights: feature, label (or pair, or triple of labels), weight; −1 for all."""
        with self.lock.shared():
            vector = self.vector(hypothesis)
            heaviest = self.core.heaviest(vector, n)
            found = [(*weight_name(self._readable, self.labels, *where), weight) for *where, weight in heaviest]
            if not self._readable.trigrams:
                return found
            found += self._triples(self.core.state(vector, 0.0)["triple.weight"])
        found.sort(key=lambda one: -abs(one[2]))
        return found if n < 0 else found[:n]

    def _triples(self, weights: NDArray[np.float32]) -> list[tuple[str, str, float]]:
        """The weights of triples of labels that are not 0."""
        L = len(self.labels)
        cube = np.asarray(weights).reshape(L, L, -1)[:, :, :L]  # the rest is room to spare
        names = list(map(str, self.labels))
        return [
            ("@label[-2]", " → ".join(names[i] for i in place), float(cube[tuple(place)]))
            for place in np.argwhere(cube).tolist()
        ]

    def unknown(self, X: Sequence[Any]) -> list[list[bool]]:
        """For each token of each sentence whether its word, the first column, was not learned from."""
        with self.lock.shared():
            state = self.core.state(None, 0.0)
        blob, ends = bytes(state["column0.blob"]), np.cumsum(state["column0.lengths"], dtype=np.int64).tolist()
        known = {blob[start:end] for start, end in zip([0, *ends], ends, strict=False)}
        return [[not isinstance(one, dict) and _word(one).encode() not in known for one in x] for x in X]


def _word(token: Any) -> str:
    return token if isinstance(token, str) else str(token[0])
