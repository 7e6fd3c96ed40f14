"""Show what a model contains: facts about its learner, and its heaviest features by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from perceptive.data.feature_space import FeatureSpace
from perceptive.features.hashing import HashKernel
from perceptive.learners.weight_vector import WeightVector

COUNTS = ("played", "rounds", "mistakes", "updates")


class Feature(NamedTuple):
    """A feature: its name, if it has one, its column, its weight, and how many names share the column.

    The weight of a hashed feature is its column's weight times its own sign.
    """

    name: str | None
    column: int
    weight: float
    sharing: int = 1


def describe(learner: Any) -> dict[str, Any]:
    """Return a few facts about any learner or fitted estimator, as plain values.

    Facts that it does not have are left out.

    Examples
    --------
    >>> from perceptive.learners import LinearLearner
    >>> L = LinearLearner(classes=[-1, 1])
    >>> L.learn_many([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> describe(L)["mistakes"], describe(L)["features"]
    (2, 2)
    """
    learner = _learner_of(learner)
    return {**learner.facts(), **{name: getattr(learner, name) for name in COUNTS}}


def heaviest(learner: Any, top: int, hypothesis: str | None = None) -> dict[Any, list[Feature]]:
    """Return the columns with the largest weights of a linear learner or fitted estimator, for each class.

    Two classes have one vector, which is positive for the second class. A ranker has one, named "score".

    Examples
    --------
    >>> from perceptive.learners import LinearLearner
    >>> L = LinearLearner(classes=["loss", "profit"])
    >>> L.learn_many([{"critic": 1.0}, {"star": 2.0}], ["loss", "profit"])
    >>> heaviest(L, 1, "last")["profit"]
    [Feature(name='star', column=1, weight=2.0, sharing=1)]
    """
    learner, given = _learner_of(learner), learner
    if not hasattr(learner, "outputs"):
        raise TypeError(f"a {type(learner).__name__} has no weights of columns; {_instead(learner, given, top)}")
    hypothesis = hypothesis or learner.parameters.hypothesis
    space, framed = learner.space, getattr(given, "feature_names_in_", learner.space.framed)
    return {name: _heaviest(space, framed, vector, k, top, hypothesis) for name, vector, k in learner.outputs()}


def _instead(learner: Any, given: Any, top: int) -> str:
    """What to do for the weights of a learner that has none of columns."""
    dot = "." if given is learner else ".learner_."
    if hasattr(learner, "heaviest"):
        return f"those of features and labels are returned by its own method: call {dot}heaviest({top})"
    if hasattr(learner, "ranker"):
        return f"give its ranker, which is {dot}ranker"
    return "its weights belong to examples"


def _learner_of(model: Any) -> Any:
    """A learner, or that of an estimator."""
    learner = getattr(model, "learner_", model)
    if not hasattr(learner, "facts"):
        raise TypeError(f"a {type(model).__name__} is neither a learner nor a fitted estimator; fit or load it first")
    return learner


def _heaviest(
    space: FeatureSpace, framed: Sequence[str], vector: WeightVector, k: int, top: int, hypothesis: str
) -> list[Feature]:
    weight = vector.column(hypothesis, k)
    size = np.abs(weight)
    best = np.argpartition(-size, min(top, len(size)) - 1)[:top] if len(size) else np.empty(0, np.int64)
    column = np.arange(len(weight)) if space.places is None else space.places.features
    best = best[np.lexsort((column[best], -size[best]))]
    return [f for j in best.tolist() if weight[j] for f in _features(space, framed, int(column[j]), float(weight[j]))]


def _features(space: FeatureSpace, framed: Sequence[str], column: int, weight: float) -> list[Feature]:
    """All features that lie in a column; ``framed`` are the columns of a frame of numbers."""
    if space.vocabulary is not None:
        return [Feature(space.vocabulary.names()[column], column, weight)]
    format, hasher = space.format, space.hasher
    if format is None and hasher is None and len(framed) == space.n_features:
        return [Feature(framed[column], column, weight)]
    if format is not None and format.bits is None:
        return [Feature(str(column if format.zero_based else column + 1), column, weight)]  # as the file has it
    if format is not None and format.bits is not None:
        hasher = HashKernel(format.bits, format.hash_seed)
    names = [] if space.names is None else space.names.names(column)
    if hasher is None or not names:
        return [Feature(None, column, weight)]
    _, signs = hasher.hash(names)
    return [Feature(n, column, sign * weight, len(names)) for n, sign in zip(names, signs.tolist(), strict=True)]
