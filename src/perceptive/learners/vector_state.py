"""A `WeightVector` as plain values and arrays, and back."""

from __future__ import annotations

import numpy as np

from perceptive.learners.mixture import MIXED
from perceptive.learners.weight_vector import WeightVector, stride_of
from perceptive.parameters import LinearParameters, RankingParameters
from perceptive.state import State, array_of

MOST_ROUNDS = 2**53  # beyond, a double no longer counts by one
JOURNAL = (
    "survival", "scale", "first_entry", "entry_label", "entry_vector", "entry_coefficient", "entry_bias",
    "vector_start", "index", "value",
)  # fmt: skip


def state_of_vector(vector: WeightVector) -> State:
    """All that it is, of the features that there are."""
    vector.settle()
    arrays = vector.weights.packed(vector.n_features, vector.stride)
    arrays |= {name: bias.copy() for name, bias in vector.biases.items()}
    arrays |= {} if vector.journal is None else vector.journal.to_arrays()
    if vector.initial is not None and vector.run.updates:
        arrays["initial"], arrays["initial_bias"] = vector.spread(vector.initial)
    run = vector.numbers()
    if not run["mixed_rounds"]:
        run = {name: value for name, value in run.items() if name not in MIXED}
    return State({"run": run, "started": vector.initial is not None, "dtype": vector.dtype.name}, arrays)


def vector_from_state(
    state: State, n_features: int, n_classes: int | None, parameters: LinearParameters | RankingParameters
) -> WeightVector:
    """What `state_of_vector` gave; raises ValueError where it does not fit together."""
    meta, arrays = state
    shapes = {"initial": (n_features, stride_of(n_classes)), "initial_bias": (n_classes or 1,)}
    vector = WeightVector(n_features, n_classes, parameters, dtype=meta.get("dtype", parameters.dtype))
    vector.weights.unpack(arrays, n_features, vector.stride)
    journal = {name: arrays[name] for name in JOURNAL} if vector.journal is not None else None
    if journal is not None and np.asarray(journal["survival"], float).sum() > MOST_ROUNDS:
        raise ValueError("voters survived more rounds than anyone can play")
    biases = {name: array_of(arrays, name, np.float64, shapes["initial_bias"]) for name in vector.biases}
    # Older files know neither: their ‖v‖² is to be measured, and their averages are closed.
    older = {"norm2_error": abs(meta["run"]["norm2"]), "open": False, **dict.fromkeys(MIXED, 0)}
    vector.go_on(biases, {**older, **meta["run"]}, journal)
    if meta["started"]:
        start = [array_of(arrays, name, arrays[name].dtype, shapes[name]) for name in shapes if name in arrays]
        vector.initial = vector.compacted((start[0], start[1])) if len(start) == 2 else vector.compact("last")
    vector.finish()
    return vector
