"""A weight vector in few bytes: an array, or where classes are many what is not zero of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive.learners.sparse_weights import SparseWeights
from perceptive.state import Arrays

if TYPE_CHECKING:
    from perceptive.learners.weight_vector import WeightVector

Vector = tuple[NDArray[Any], NDArray[np.float64]]  # (features × padded classes, bias weights)
CompactVector = tuple[NDArray[Any] | SparseWeights, NDArray[np.float64]]  # the same, perhaps without zeros


def is_finite(w: NDArray[Any] | SparseWeights) -> bool:
    """Whether all weights are finite numbers."""
    return bool(np.isfinite(w if isinstance(w, np.ndarray) else w.cells().values["z"]).all())


def inner(v: CompactVector, w: CompactVector) -> float:
    """v·w, biases included; both have the same form."""
    a, b = v[0], w[0]
    if isinstance(a, SparseWeights) and isinstance(b, SparseWeights):
        stride = max(a.core.width, b.core.width)
        mine = theirs = a.cells(stride)
        if a is not b:
            mine, theirs = mine.aligned(b.cells(stride))
        a, b = mine.values["z"].astype(np.float64), theirs.values["z"].astype(np.float64)
    return float(np.vdot(a, b)) + float(np.vdot(v[1], w[1]))  # type: ignore[arg-type]


def of_run(vector: WeightVector, hypothesis: str) -> CompactVector:
    """The last vector of a run, or the averaged one; some weights may not be finite."""
    scale, (clock, total), kind = vector.run.scale, vector.average_clock(), vector.dtype.type
    z_bias, sum_bias = vector.biases["z_bias"], vector.biases["sum_bias"]

    def averaged(of: Arrays) -> Any:
        return ((clock * of["z"].astype(np.float64) - of["sum"]) / total).astype(kind)

    shape = vector.n_features, vector.stride
    with np.errstate(over="ignore", invalid="ignore"):
        if hypothesis == "last":
            return vector.weights.combined(*shape, lambda of: of["z"] * kind(scale)), z_bias * scale
        return vector.weights.combined(*shape, averaged), (clock * z_bias - sum_bias) / total
