"""Where a fit starts: from weights that are given, or from those of the learner before."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from perceptive.data.labelled_rows import ALL, Pair
from perceptive.data.sample_weights import as_floats
from perceptive.errors import Parameter, ParameterError
from perceptive.learners.compact_vector import Vector
from perceptive.learners.linear import LinearLearner


def initial_vectors(
    learner: LinearLearner, previous: LinearLearner | None, coef: ArrayLike | None, intercept: ArrayLike | None
) -> dict[Pair, Vector]:
    """The vectors v₀ of a learner's problems; empty where they start from zero.

    Where neither ``coef`` nor ``intercept`` is given, those that the previous learner has ended with.
    """
    if coef is None and intercept is None:
        return {} if previous is None else _last_vectors(previous, learner)
    if not (learner.binary or learner.joint):
        raise ParameterError("coef_init and intercept_init need two classes or {}", Parameter("multiclass", "joint"))
    vector, bias = learner.vectors[ALL], learner.bias
    shape = (vector.n_classes, learner.n_features or 0)
    w = np.zeros(shape) if coef is None else np.atleast_2d(as_floats(coef, "coef_init"))
    b = np.zeros(shape[0]) if intercept is None else np.atleast_1d(as_floats(intercept, "intercept_init"))
    if w.shape != shape or b.shape != shape[:1]:
        raise ValueError(f"coef_init and intercept_init must have the shapes {shape} and {shape[:1]}")
    if not (np.isfinite(w).all() and np.isfinite(b).all()):
        raise ValueError("coef_init and intercept_init must be finite")
    if b.any() and not bias:
        raise ParameterError("intercept_init needs a bias; {} is 0", "bias")
    start = np.zeros((shape[1], vector.stride), vector.dtype)
    start[:, : shape[0]] = w.T
    return {ALL: (start, b / (bias or 1.0))}


def _last_vectors(previous: LinearLearner, learner: LinearLearner) -> dict[Pair, Vector]:
    """The vectors that a learner ended with, for another one to start from, whose constant feature may differ."""
    shapes = [[(pair, v.stride) for pair, v in one.vectors.items()] for one in (previous, learner)]
    missing = (learner.n_features or 0) - (previous.n_features or 0)
    if (
        previous.classes != learner.classes
        or shapes[0] != shapes[1]
        or missing < 0
        or (missing and not learner.space.vocabulary)
    ):
        raise ParameterError(
            "{}, but classes, features or {} are not those of the last fit", Parameter("warm_start", True), "multiclass"
        )
    vectors = {}
    for pair, vector in previous.vectors.items():
        w, b = vector.vector("last")
        w = np.concatenate([previous.space.by_column(w), np.zeros((missing, vector.stride), w.dtype)])
        vectors[pair] = w, b if previous.bias == learner.bias else b * (previous.bias / (learner.bias or 1.0))
    return vectors
