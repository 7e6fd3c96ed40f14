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
from perceptive.learners.forwarding import forwarded
from perceptive.learners.learner import MixableLearner, Recorded
from perceptive.learners.mixture import VectorMixture, replica_of
from perceptive.learners.pruning import check_prunable, prune_vectors
from perceptive.learners.weight_vector import WeightVector

NEARLY = 1e4  # a margin for rounding, and for v = scale·z


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
