"""The vectors that a tagger predicts by."""

from __future__ import annotations

import numpy as np

from perceptive import _core
from perceptive.parameters import SequenceParameters

State = tuple[_core.SequenceModel, int, int]  # a model, its rounds and labels


class Vectors:
    """The last, averaged and best vector, each made once for the state that the model is in."""

    def __init__(self, parameters: SequenceParameters) -> None:
        self._parameters = parameters
        self._made: dict[str, tuple[State, _core.SequenceVector]] = {}

    def of(self, core: _core.SequenceModel, hypothesis: str) -> _core.SequenceVector | None:
        """The vector of a hypothesis; None is the last one."""
        if hypothesis == "last":
            return None
        if hypothesis == "voted":
            raise ValueError("a vote has no single vector, so no scores; choose another hypothesis")
        now = core, core.rounds, core.n_labels  # read first: another thread may learn while a vector is made
        made = self._made.get(hypothesis)
        if made is not None and made[0] == now:
            return made[1]
        if hypothesis == "averaged" and core.clock == 0:
            return None  # nothing was learned since the vector was loaded
        if hypothesis == "averaged":
            vector = core.average()
        elif hypothesis == "best":
            need_log(self._parameters)
            vector = core.voter(int(np.argmax(core.survival)))
        else:
            raise ValueError(f"hypothesis={hypothesis!r}: choose last, averaged, best or voted")
        self._made[hypothesis] = now, vector
        return vector

    def clear(self) -> None:
        """Forget them: the model has changed."""
        self._made.clear()


def need_log(parameters: SequenceParameters) -> None:
    """Raise where not every update is kept."""
    if not parameters.keeps_log:
        raise ValueError("this needs every update: create the learner with keep='all'")
