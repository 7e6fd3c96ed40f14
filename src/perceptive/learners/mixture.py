"""`VectorMixture`: what shards made of one weight vector, to be mixed (McDonald, Hall & Mann 2010).

Shard i starts from v, goes to v_i, and has been at v_{i,t} in round t. It has a weight ω_i, and μ_i = ω_i/Σ ω: ω_i = 1,
or its updates. A mixture is ::

    step = Σ ω_i (v_i − v)              v ← v + step/Σ ω
    spread = Σ_i Σ_t (v_{i,t} − v)      for the average: the mean of all v_{i,t}, as in `reference.mixing`

so that a shard is the mixture of itself, and two mixtures add up to one. Both are zero where nothing was learned. With
the lazy average (core/linear.hpp), Σ_t (v_{i,t} − v) = clock·(v_i − v) − sum. Shares of sum that a shard puts off wait
with those of the vector, and are left out here.

AROW keeps σ beside each weight: with P_i = 1/σ_i, P = Σ μ_i P_i and v = P⁻¹ Σ μ_i P_i v_i. Written with ρ_i = P_i σ,
which is 1 where nothing was learned: step = Σ ω_i ρ_i (v_i − v), gain = Σ ω_i (ρ_i − 1), v ← v + step/(Σ ω + gain),
σ ← σ Σ ω/(Σ ω + gain).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.state import Arrays

if TYPE_CHECKING:
    from perceptive.learners.weight_vector import WeightVector

PARTS = {"z": "step", "sum": "spread", "sigma": "gain"}  # what a replica's weights become, in the core's order
COUNTED = ("rounds", "mistakes", "updates", "touched", "criterion", "clock", "radius2")  # of shards
MIXED = (
    "mixed_rounds", "mixed_updates", "mixed_mistakes", "weighted_updates", "weighted_mistakes", "heaviest",
)  # of a run that was mixed: see core/round.hpp  # fmt: skip


def weighted(run: _core.Progress) -> dict[str, Any]:
    """What the theorems of mixing must know of a run: what its updates and mistakes weigh, and the largest μ.

    Serial rounds weigh 1.
    """
    if not run.mixed_rounds:
        return {}
    return {
        "weighted_updates": run.updates - run.mixed_updates + run.weighted_updates,
        "weighted_mistakes": run.mistakes - run.mixed_mistakes + run.weighted_mistakes,
        "heaviest": run.heaviest if run.rounds == run.mixed_rounds else 1.0,
    }


class VectorMixture:
    """What a replica of a vector has become, or several together; it has learned all that it is to.

    Parameters
    ----------
    start, end : WeightVector
        The vector, and its replica.
    by_updates : bool
        Whether ω is its updates, not 1.
    """

    def __init__(self, start: WeightVector, end: WeightVector, by_updates: bool) -> None:
        self.run = _core.Progress()
        self.run.add(end.run)
        self.weight = self.heaviest = float(self.run.updates) if by_updates else 1.0  # Σ ω_i, the largest ω_i
        self.weighted_updates = self.weight * self.run.updates  # Σ ω_i k_i
        self.weighted_mistakes = self.weight * self.run.mistakes
        if end.dtype != start.dtype:  # it has made very many updates
            end.have_type(start.dtype)
        _core.depart(start.core, end.core, self.weight)
        self.parts = [
            {PARTS[name]: array for name, array in end.arrays.items()},
            {PARTS[name]: end.biases[f"{name}_bias"] for name in end.arrays},
        ]
        self._spare = start.spare

    def add(self, other: VectorMixture) -> None:
        """Let other shards join."""
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            for name, array in mine.items():
                array += theirs[name]
        self.run.add(other.run)
        self.weight += other.weight
        self.heaviest = max(self.heaviest, other.heaviest)
        self.weighted_updates += other.weighted_updates
        self.weighted_mistakes += other.weighted_mistakes
        self._spare.extend(other.parts[0].values())

    def apply(self, vector: WeightVector, threads: int = 1) -> None:
        """Move the vector that the shards started from."""
        vector.run.mix(self.run, self.weight, self.weighted_updates, self.weighted_mistakes, self.heaviest)
        weights, biases = self.parts
        if self.weight:
            step, spread, gain = weights["step"], weights.get("spread"), weights.get("gain")
            _core.move(vector.core, step, spread, gain, list(biases.values()), self.weight, threads)
        vector.spare.extend(weights.values())

    def __copy__(self) -> VectorMixture:
        twin = object.__new__(VectorMixture)
        twin.__dict__.update(self.__dict__)
        twin.parts = [{name: array.copy() for name, array in parts.items()} for parts in self.parts]
        twin.run, twin._spare = _core.Progress(), []
        twin.run.add(self.run)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """For a way through a network: weights that no shard has touched are left out where they are many."""
        weights, biases = self.parts
        run = {name: getattr(self.run, name) for name in COUNTED}
        return {**self.__dict__, "_spare": [], "run": run, "parts": (_sparse(weights), weights["step"].shape, biases)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        (at, packed), shape, biases = state["parts"]
        weights = packed
        if at is not None:
            weights = {name: np.zeros(shape, values.dtype) for name, values in packed.items()}
            for name, values in packed.items():
                weights[name].reshape(-1)[at] = values
        run = _core.Progress()
        for name, value in state["run"].items():
            setattr(run, name, value)
        self.__dict__.update({**state, "run": run, "parts": [weights, biases]})


def _sparse(weights: Arrays) -> tuple[NDArray[Any] | None, Arrays]:
    """Where weights are that are not zero, and these; all, and None, where that is less."""
    size = weights["step"].size
    touched = np.zeros(size, bool)
    for array in weights.values():
        touched |= array.reshape(-1) != 0
    each, kind = sum(array.itemsize for array in weights.values()), np.uint32 if size <= 2**32 else np.uint64
    if int(np.count_nonzero(touched)) * (each + np.dtype(kind).itemsize) >= size * each:
        return None, weights
    at = np.flatnonzero(touched)
    return at.astype(kind), {name: array.reshape(-1)[at] for name, array in weights.items()}


def replica_of(vector: WeightVector) -> WeightVector:
    """The same v at the start of a run of its own, in memory that earlier replicas have left."""
    shape = vector.n_features, None if vector.binary else vector.n_classes
    twin = type(vector)(*shape, vector.parameters, dtype=vector.dtype.name)
    for name in twin.arrays:
        array = _taken(vector.spare, twin.arrays[name])
        array[:] = 0 if name == "sum" else vector.arrays[name][: vector.n_features, : vector.stride]
        twin.arrays[name] = array
    for name in ("z_bias", "sigma_bias"):
        twin.biases[name][:] = vector.biases[name]
    twin.bind_again()
    twin.run.norm2 = vector.run.norm2
    if vector.put_off is not None:
        twin.share(vector.put_off)
    return twin


def _taken(spare: list[NDArray[Any]], like: NDArray[Any]) -> NDArray[Any]:
    """An array of this shape and type, used before where there is one: fresh memory costs a fault for every page."""
    with suppress(IndexError):  # another thread may take the last one
        while spare:
            array = spare.pop()
            if array.shape == like.shape and array.dtype == like.dtype:
                return array
    return like
