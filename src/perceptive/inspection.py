"""What a model is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from perceptive.features.hashing import HashKernel
from perceptive.learners.linear import LinearLearner
from perceptive.learners.problem import Problem

if TYPE_CHECKING:
    from perceptive.learners.kernel import KernelLearner
    from perceptive.learners.kernel_ranking import KernelRankingLearner
    from perceptive.learners.ranking import RankingLearner


class Feature(NamedTuple):
    """A feature: its name, where it has one, its column, its weight, and how many names share the column.

    What a hashed feature weighs is its column's weight times its own sign.
    """

    name: str | None
    column: int
    weight: float
    sharing: int = 1


def describe(learner: LinearLearner) -> dict[str, Any]:
    """A few words about a learner, as plain values.

    Examples
    --------
    >>> L = LinearLearner(classes=[-1, 1])
    >>> L.learn_many([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> describe(L)["mistakes"]
    2
    """
    p, names = learner.parameters, learner.names
    return {
        "rule": p.rule,
        "hypothesis": p.hypothesis,
        "classes": learner.classes,
        "features": learner.n_features,
        "format": None if learner.reading is None else learner.reading.format,
        "bits": None if learner.reading is None else learner.reading.bits,
        "examples": learner.played,
        "rounds": learner.rounds,
        "mistakes": learner.mistakes,
        "updates": learner.updates,
        "names": None if names is None else sum(len(names.names(bucket)) for bucket in names.buckets(1)),
        "collisions": None if names is None else len(names.buckets(2)),
    }


def describe_kernel(learner: KernelLearner) -> dict[str, Any]:
    """The same about a kernel learner."""
    p, dual = learner.parameters, learner.dual
    return {
        "kernel": repr(learner.kernel),
        "rule": p.rule,
        "hypothesis": p.hypothesis,
        "classes": learner.classes,
        "features": learner.n_features,
        "supports": 0 if dual is None else len(dual),
        "budget": p.budget,
        "examples": learner.played,
        "rounds": learner.rounds,
        "mistakes": learner.mistakes,
        "updates": learner.updates,
    }


def describe_ranker(learner: RankingLearner | KernelRankingLearner) -> dict[str, Any]:
    """The same about a ranker."""
    from perceptive.learners.ranking import RankingLearner

    p = learner.parameters
    about: dict[str, Any] = {
        "rule": p.rule,
        "hypothesis": p.hypothesis,
        "pairs": p.pairs,
        "cost": p.cost,
        "features": learner.n_features,
        "rounds": learner.rounds,
        "mistakes": learner.mistakes,
        "updates": learner.updates,
    }
    reading = learner.reading
    about["format"] = None if reading is None else reading.format
    about["bits"] = getattr(p, "bits", None) if reading is None else reading.bits
    if isinstance(learner, RankingLearner):
        return about
    return {"kernel": repr(learner.kernel), **about, "supports": 0 if learner.dual is None else len(learner.dual)}


def heaviest(
    learner: LinearLearner | RankingLearner, top: int, hypothesis: str | None = None
) -> dict[Any, list[Feature]]:
    """The columns of largest weight, for each class, feature by feature; two classes have one vector.

    It is positive for the second class. A ranker has one vector, under the name "score".

    Examples
    --------
    >>> L = LinearLearner(classes=["loss", "profit"])
    >>> L.learn_many([{"critic": 1.0}, {"star": 2.0}], ["loss", "profit"])
    >>> heaviest(L, 1, "last")["profit"]
    [Feature(name='star', column=1, weight=2.0, sharing=1)]
    """
    hypothesis = hypothesis or learner.parameters.hypothesis
    if not isinstance(learner, LinearLearner):
        return {} if learner.problem is None else {"score": _heaviest(learner, learner.problem, 0, top, hypothesis)}
    found = {}
    for pair, problem in learner.problems.items():
        for k in range(problem.n_classes):
            if not problem.binary:
                label = learner.classes[k]
            elif len(pair) == 2:
                label = f"{learner.classes[pair[1]]} against {learner.classes[pair[0]]}"
            else:
                label = learner.classes[pair[0] if pair else 1]
            found[label] = _heaviest(learner, problem, k, top, hypothesis)
    return found


def _heaviest(
    learner: LinearLearner | RankingLearner, problem: Problem, k: int, top: int, hypothesis: str
) -> list[Feature]:
    weight = problem.vector(hypothesis)[0][:, k].astype(np.float64)
    size = np.abs(weight)
    best = np.argpartition(-size, min(top, len(size)) - 1)[:top] if len(size) else np.empty(0, np.int64)
    best = best[np.lexsort((best, -size[best]))]
    return [f for j in best.tolist() if weight[j] for f in _features(learner, j, float(weight[j]))]


def _features(learner: LinearLearner | RankingLearner, column: int, weight: float) -> list[Feature]:
    """All features that lie in a column."""
    if learner.vocabulary is not None:
        return [Feature(learner.vocabulary.names()[column], column, weight)]
    reading = learner.reading
    if reading is None:
        return [Feature(None, column, weight)]
    if reading.bits is None:
        return [Feature(str(column if reading.zero_based else column + 1), column, weight)]  # as the file has it
    known = learner.names if isinstance(learner, LinearLearner) else None
    names = [] if known is None else known.names(column)
    if not names:
        return [Feature(None, column, weight)]
    _, signs = HashKernel(reading.bits, reading.hash_seed).hash(names)
    return [Feature(n, column, sign * weight, len(names)) for n, sign in zip(names, signs.tolist(), strict=True)]
