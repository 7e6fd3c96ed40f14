"""`trace`: let a learner play a stream of examples, and record every round."""

from __future__ import annotations

import copy
import math
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from perceptive.data.labels import check_classes, in_order_of_labels
from perceptive.learners.kernel import KernelLearner
from perceptive.learners.learner import Learner
from perceptive.learners.linear import LinearLearner
from perceptive.learners.ranking import RankingLearner
from perceptive.learners.sequence import SequenceLearner
from perceptive.parameters import KernelParameters, LinearParameters, RankingParameters, SequenceParameters
from perceptive.tracing.table import Round, Trace
from perceptive.tracing.views import VIEWS, View

Parameters = LinearParameters | KernelParameters | RankingParameters | SequenceParameters
LEARNERS: dict[type, type[Any]] = {
    LinearParameters: LinearLearner,
    KernelParameters: KernelLearner,
    RankingParameters: RankingLearner,
    SequenceParameters: SequenceLearner,
}


def trace(
    learner: Learner | Parameters, X: Any, y: Any, *, initial: Any = None, u: Any = None, epochs: int = 1
) -> Trace:
    """Play examples in order, and record every round: the weights, the prediction, and the lemmas.

    Parameters
    ----------
    learner : Learner or its parameters
        For rows, lists, objects that a kernel compares, or sentences. A copy plays: the learner does not change.
        Parameters make a learner that knows the sorted labels of y as its classes, and computes in float64.
    X, y : examples and their answers
    initial : array or None
        v₀, the constant feature last, a row for each competing class; for a kernel α, one for each example.
    u : array, dict or None
        A vector in the shape of ``initial``, to compare with v·u; for a tagger, weights by name. It is scaled to length
        1. γ is its smallest margin on the examples; for a tagger, the smallest u·δ of an update.
    epochs : int
        How often the examples are played.

    Returns
    -------
    Trace

    Examples
    --------
    The films of the lecture notes: a constant, the scores of two critics, and whether the film made a profit.

    >>> from perceptive import trace
    >>> from perceptive.parameters import LinearParameters
    >>> X, y = [[1, 1, 1], [1, 3, 2], [1, 2, 4], [1, 3, 4], [1, 2, 3]], [-1, 1, 1, 1, -1]
    >>> movies = trace(LinearParameters(bias=0.0, ties="positive"), X, y, initial=[-1, 0, 0])
    >>> print(movies.text(["step", "weights", "score", "correct"]))
    step  weights     score                  correct?
    ────  ──────────  ─────────────────────  ────────
    1     [-1, 0, 0]  -1·1 + 0·1 + 0·1 = -1  yes
    2     [-1, 0, 0]  -1·1 + 0·3 + 0·2 = -1  no
    3     [0, 3, 2]   0·1 + 3·2 + 2·4 = 14   yes
    4     [0, 3, 2]   0·1 + 3·3 + 2·4 = 17   yes
    5     [0, 3, 2]   0·1 + 3·2 + 2·3 = 12   no
    <BLANKLINE>
    final weights: [-1, 1, -1]
    """
    if epochs < 1:
        raise ValueError(f"epochs={epochs}: play the examples once at least")
    view = _view(learner, X, y, initial)
    player, n = view.learner, len(view.X)
    if n == 0:
        raise ValueError("there are no examples; a table needs one at least")
    lemmas = _is_plain(player.parameters)
    watched = u is not None and lemmas
    margin, first_along = view.along(u) if watched else (None, None)
    first_length2, first_k = view.length2(), player.updates
    rounds: list[Round] = []
    for step in range(epochs * n):
        i = step % n
        before = Round(
            step=step + 1, example=view.example(i), answer=_plain(view.y[i]), weights=view.weights(),
            score=view.score(i), spelled=view.spelled(i), prediction=_plain(view.prediction(i)), correct=True,
            k=player.updates - first_k, along=view.along(u)[1] if watched else None, length2=view.length2(),
        )  # fmt: skip
        mistakes = player.mistakes
        for chunk in view.dataset.chunks(np.array([i])):
            view.dataset.play(chunk)
        rounds.append(replace(before, correct=player.mistakes == mistakes))
    k = player.updates - first_k
    radius2 = player.problems()[0].radius2 if lemmas else None
    if watched and margin is None:
        by_k = {one.k: one.along or 0.0 for one in rounds} | {k: view.along(u)[1]}
        margin = min((after - before for before, after in pairwise(by_k.values())), default=0.0)
    for i, one in enumerate(rounds):
        least = None if first_along is None or margin is None else first_along + one.k * margin
        most = None if radius2 is None else first_length2 + one.k * radius2
        rounds[i] = replace(one, along_least=least, length2_most=most)
    radius = None if radius2 is None else math.sqrt(radius2)
    return Trace(rounds, view.weights(), k, margin, radius, first_length2 == 0.0)


def _view(learner: Any, X: Any, y: Any, initial: Any) -> View:
    if type(learner) in LEARNERS:
        parameters = {f.name: getattr(learner, f.name) for f in fields(learner)}
        parameters["hypothesis"] = "last"
        if "dtype" in parameters:
            parameters["dtype"] = "float64"
        if isinstance(learner, LinearParameters | KernelParameters):
            parameters["classes"] = in_order_of_labels(dict.fromkeys(_plain(one) for one in y))
            check_classes(parameters["classes"], complete=True)
        player = LEARNERS[type(learner)](**parameters)
    elif type(learner) in VIEWS:
        player = copy.deepcopy(learner)
    else:
        known = ", ".join(one.__name__ for one in [*VIEWS, *LEARNERS])
        raise TypeError(f"{type(learner).__name__} cannot be traced; give one of {known}")
    return VIEWS[type(player)](player, X, y, initial)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_plain(p: Any) -> bool:
    """Whether the two lemmas speak of these updates: those of the perceptron, one δ at a time."""
    usual = {"learning_rate": 1.0, "margin": 0.0, "delta": 0.0, "budget": None}
    of_sequences = isinstance(p, SequenceParameters)  # whose cost other rules heed
    costs = not of_sequences and getattr(p, "cost", None) is not None
    return p.rule == "perceptron" and not costs and all(getattr(p, name, usual[name]) == usual[name] for name in usual)
