"""The vectors that a tagger predicts by."""

from __future__ import annotations

import math

import numpy as np

from perceptive import _core
from perceptive.data.dataset import Witness
from perceptive.errors import Parameter, ParameterError
from perceptive.hypotheses import check_name, choose_voter
from perceptive.parameters import SequenceParameters

State = tuple[_core.SequenceModel, int, int, bool]  # a model, its rounds and labels, and whether it is open


class Vectors:
    """The last, averaged, best and drawn vector, each made once for the state that the model is in."""

    def __init__(self, parameters: SequenceParameters) -> None:
        self._parameters = parameters
        self._made: dict[str, tuple[State, _core.SequenceVector]] = {}

    def of(self, core: _core.SequenceModel, hypothesis: str) -> _core.SequenceVector | None:
        """The vector of a hypothesis; None is the last one."""
        check_name(hypothesis)
        if hypothesis == "last":
            return None
        if hypothesis == "voted":
            raise ValueError("a vote has no single vector, so no scores; choose another hypothesis")
        now = core, core.run.rounds, core.n_labels, core.run.open  # read first: others may learn while a vector is made
        made = self._made.get(hypothesis)
        if made is not None and made[0] == now:
            return made[1]
        if hypothesis == "averaged" and core.run.clock == 0:
            return None  # nothing was learned since the vector was loaded
        if hypothesis == "averaged":
            vector = core.average()
        else:
            need_journal(self._parameters, hypothesis)
            survival = np.array(core.survival, np.int64)
            vector = core.voter(choose_voter(hypothesis, survival, self._parameters.random_state))
        self._made[hypothesis] = now, vector
        return vector

    def witnesses(self, core: _core.SequenceModel) -> dict[str, Witness]:
        """The vectors that a theorem may call upon; those of length 0 say nothing."""
        names = ("last", "averaged", "best") if self._parameters.keeps_journal else ("last", "averaged")
        found = {name: self.of(core, name) for name in names}
        lengths = {name: math.sqrt(core.squared_norm(vector)) for name, vector in found.items()}
        return {name: Witness(found[name], length) for name, length in lengths.items() if length}

    def clear(self) -> None:
        """Forget them: the model has changed."""
        self._made.clear()


def need_journal(parameters: SequenceParameters, hypothesis: str) -> None:
    """Raise where not every update is kept."""
    if not parameters.keeps_journal:
        raise ParameterError(
            "{} needs every update; train with {}", Parameter("hypothesis", hypothesis), Parameter("keep", "all")
        )
