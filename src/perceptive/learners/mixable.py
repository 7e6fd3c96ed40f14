"""`Mixable`: what all learners with weight vectors share; their replicas can learn separately and be mixed."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.feature_space import FeatureSpace
from perceptive.errors import overflowed
from perceptive.learners.learner import MixableLearner, Recorded, forwarded
from perceptive.learners.mixture import MIXED, VectorMixture, replica_of
from perceptive.learners.pruning import check_prunable, prune_vectors
from perceptive.learners.weight_vector import WeightVector, stride_of
from perceptive.parameters import LinearParameters, RankingParameters
from perceptive.state import State, array_of

NEARLY = 1e4  # a margin for rounding, and for v = scale·z
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


class Mixable(Recorded, MixableLearner):
    """A recorded learner with a vector for each of its problems."""

    parameters: Any
    space: FeatureSpace  # how examples become rows
    vectors: dict[Any, WeightVector]  # of each problem, by the classes that it is about
    _open = False  # as every vector is, those to come included

    n_features: int | None = forwarded("space.n_features", "Columns so far.")

    @property
    def open(self) -> bool:
        """Whether it is between two examples of a stream; see `Learner`."""
        return self._open

    @open.setter
    def open(self, open: bool) -> None:
        self._open = open
        for vector in self.vectors.values():
            vector.set_open(open)

    @property
    def settled(self) -> bool:
        """Whether every average is up to date."""
        return all(vector.settled for vector in self.vectors.values())

    def _count(self, name: str) -> Any:
        return sum([getattr(vector.run, name) for vector in self.vectors.values()])

    def finish(self) -> None:
        """End learning for now; predictions may compute whole vectors."""
        with self.lock.changing():
            for vector in self.vectors.values():
                vector.finish()
        self.check_growth()

    def check_growth(self) -> None:
        """Call `check_finite`, but only if the weights are so long that it may fail: it reads all of them."""
        if not self.vectors:
            return
        with self.lock.shared():
            norm2, clock, criterion = self._count("norm2"), self._count("clock"), self._count("criterion")
            dtype = next(iter(self.vectors.values())).dtype
        length = math.sqrt(max(norm2, 0.0)) * max(1.0, clock)  # no weight is larger, and no sum of an average
        if not (length * NEARLY < float(np.finfo(dtype).max) and math.isfinite(criterion)):
            self.check_finite()

    def check_finite(self) -> None:
        """Raise ValueError if the weights have overflowed, or the scores that they were learned from."""
        wanted = self.parameters.hypothesis
        with self.lock.exclusive():
            if not math.isfinite(self._count("criterion")):
                raise overflowed("weights")
            for vector in self.vectors.values():
                for hypothesis in {"last", "last" if wanted == "voted" else wanted}:
                    vector.compact(hypothesis)

    def prune(self, threshold: float = 0.0, hypothesis: str | None = None, precision: str | None = None) -> None:
        """Keep only the vector that predicts, and only its weights above a threshold in absolute value.

        Learning can continue; the average starts again. A learner that keeps every update cannot be pruned.
        ``precision`` "float16" or "int8" rounds the weights: a file stores each in two bytes, or one.
        """
        check_prunable(self.parameters, threshold, precision)
        with self.lock.learning(), self.lock.changing():
            hypothesis = hypothesis or self.parameters.hypothesis
            self.vectors = prune_vectors(self.vectors, self.space, threshold, precision, hypothesis)
            self.first_epoch, self.tally, self._open = None, _core.Tally(), False
            self.finish()

    # ------------------------------------------------------------ state

    def snapshot(self) -> dict[str, Any]:
        """Copy everything that learning changes."""
        with self.lock.exclusive():
            vectors = {key: vector.snapshot() for key, vector in self.vectors.items()}
            return {"vectors": vectors, "tally": copy.copy(self.tally), "open": self._open}

    def restore(self, state: dict[str, Any]) -> None:
        """Return to a snapshot."""
        with self.lock.learning(), self.lock.changing():
            for key, vector in self.vectors.items():
                vector.restore(state["vectors"][key])
            self.tally, self._open = copy.copy(state["tally"]), state["open"]

    # ------------------------------------------------------------ shards

    def _replicate(self, twin: Self) -> None:
        twin.vectors = {key: replica_of(vector) for key, vector in self.vectors.items()}

    def divide(self, n: int, sums: Callable[[Any], NDArray[Any]]) -> bool:
        """Prepare for shards of n examples; see `Learner`.

        Averages are deferred to the end of the run, as in serial learning, if the deferred numbers (one for each
        example and class) are fewer than the weights: on a cluster both are sent.
        """
        defer = all(n * vector.n_classes <= vector.n_features * vector.stride for vector in self.vectors.values())
        with self.lock.learning(), self.lock.changing():
            for key, vector in self.vectors.items():
                vector.divide(defer, partial(sums, key))
        return any(vector.put_off is not None for vector in self.vectors.values())

    def mixture(self, replica: Self, by_updates: bool) -> dict[Any, VectorMixture]:
        return {key: VectorMixture(vector, replica.vectors[key], by_updates) for key, vector in self.vectors.items()}

    def mix(self, mixture: dict[Any, VectorMixture]) -> None:
        with self.lock.learning(), self.lock.changing():
            for key, vector in self.vectors.items():
                vector.mix(mixture[key], self.threads)
