"""Fewer and shorter weights: those above a threshold, rounded to float16 or to whole numbers of one byte."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.data.feature_space import FeatureSpace
from perceptive.errors import Parameter, ParameterError
from perceptive.learners.learner import NOTHING_LEARNED
from perceptive.learners.packed_weights import whole_unit
from perceptive.learners.weight_vector import WeightVector
from perceptive.learners.weights import CompactVector
from perceptive.parameters import PRECISIONS


def prune_vectors(
    vectors: Mapping[Any, WeightVector], space: FeatureSpace, threshold: float, precision: str | None, hypothesis: str
) -> dict[Any, WeightVector]:
    """New vectors that start from what is kept of a hypothesis; hashed columns without a weight lose their place."""
    if not vectors:
        raise ValueError(NOTHING_LEARNED)
    kept: dict[Any, CompactVector] = {}
    for key, vector in vectors.items():
        w, bias = vector.compact(hypothesis)
        if isinstance(w, np.ndarray):
            kept[key] = pruned(w, threshold, precision), bias
        else:
            kept[key] = w.combined(0, vector.stride, lambda of: pruned(of["z"], threshold, precision)), bias
    used = [
        w.any(axis=1) if isinstance(w, np.ndarray) else w.any_of_features(vectors[key].n_features)
        for key, (w, _) in kept.items()
    ]
    left = space.keep_places(np.logical_or.reduce(used))
    made = {}
    for key, v in vectors.items():
        w, bias = kept[key]
        start = w[left] if isinstance(w, np.ndarray) else w.of_features(left)
        made[key] = WeightVector(int(left.sum()), None if v.binary else v.n_classes, v.parameters, (start, bias))
    return made


def check_prunable(parameters: Any, threshold: Any, precision: str | None = None) -> None:
    """Raise where a learner with these parameters cannot be pruned so."""
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not float(threshold) >= 0:
        raise ParameterError("{}: it must be a number ≥ 0", Parameter("threshold", threshold))
    if precision is not None and precision not in PRECISIONS:
        raise ParameterError(f"{{}}: it must be one of {', '.join(PRECISIONS)}", Parameter("precision", precision))
    if parameters.keeps_journal:
        why = "a learner that keeps every update ({}, or the {} best, voted or random) cannot be pruned; "
        raise ParameterError(why + "train an averaged or last one", Parameter("keep", "all"), "hypothesis")


def pruned(w: NDArray[Any], threshold: float, precision: str | None = None) -> NDArray[Any]:
    """Weights above a threshold in absolute value, rounded; the others are 0.

    Examples
    --------
    >>> import numpy as np
    >>> pruned(np.array([0.5, -0.04, 2.01]), 0.1, "int8").tolist()
    [0.5, 0.0, 2.0]
    """
    kept = np.where(np.abs(w) > threshold, w, w.dtype.type(0))
    if precision == "int8":
        unit = whole_unit(kept)
        return np.asarray(np.rint(kept / unit) * unit + 0.0, w.dtype)
    if precision == "float16":
        largest = float(np.abs(kept).max(initial=0.0))
        if largest > float(np.finfo(np.float16).max):
            raise ParameterError(
                f"a weight of {largest:g} is too large for float16; choose {{}}", Parameter("precision", "int8")
            )
        return kept.astype(np.float16).astype(w.dtype)
    return kept
