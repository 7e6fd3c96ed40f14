"""`VectorMixture`: what shards made of one weight vector, to be mixed (McDonald, Hall & Mann 2010).

Shard i starts from v, goes to v_i, and has been at v_{i,t} in round t. It has a weight ω_i, and μ_i = ω_i/Σ ω: ω_i = 1,
or its updates. A mixture is ::

    step = Σ ω_i (v_i − v)              v ← v + step/Σ ω
    spread = Σ_i Σ_t (v_{i,t} − v)      for the average: the mean of all v_{i,t}, as in `reference.mixing`

so that a shard is the mixture of itself, and two mixtures add up to one. Both are zero where nothing was learned.

AROW keeps σ beside each weight: with P_i = 1/σ_i, P = Σ μ_i P_i and v = P⁻¹ Σ μ_i P_i v_i. Written with ρ_i = P_i σ,
which is 1 where nothing was learned: step = Σ ω_i ρ_i (v_i − v), gain = Σ ω_i (ρ_i − 1), v ← v + step/(Σ ω + gain),
σ ← σ Σ ω/(Σ ω + gain).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.state import Arrays

if TYPE_CHECKING:
    from perceptive.learners.weight_vector import WeightVector

BLOCK = 1 << 15  # weights
PARTS = {"z": "step", "sum": "spread", "sigma": "gain"}  # what a replica's weights become
COUNTED = ("rounds", "mistakes", "updates", "touched", "criterion", "clock", "radius2")  # of shards
MIXED = ("mixed_rounds", "mixed_updates", "weighted_updates", "heaviest")  # of a run that was mixed: see core/round.hpp


def weighted(run: _core.Progress) -> dict[str, Any]:
    """What the theorem of mixing must know of a run: its weighted updates and the largest μ. Serial rounds weigh 1."""
    if not run.mixed_rounds:
        return {}
    return {
        "weighted_updates": run.updates - run.mixed_updates + run.weighted_updates,
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
        end.settle()
        self.run = _core.Progress()
        self.run.add(end.run)
        self.weight = self.heaviest = float(self.run.updates) if by_updates else 1.0  # Σ ω_i, the largest ω_i
        self.weighted_updates = self.weight * self.run.updates  # Σ ω_i k_i
        self.parts = [
            _departure(before, after, self.run.clock, self.weight)
            for before, after in zip(_weights(start), _weights(end), strict=True)
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
        self._spare.extend(other.parts[0].values())

    def apply(self, vector: WeightVector) -> None:
        """Move the vector that the shards started from."""
        vector.settle()
        run = vector.run
        run.mix(self.run, self.weight, self.weighted_updates, self.heaviest)
        run.norm2 = 0.0
        for weights, parts in zip(_weights(vector), self.parts, strict=True):
            _move(weights, parts, self.weight, run.clock)
            run.norm2 += float(np.vdot(weights["z"], weights["z"]))
        run.norm2_error = run.norm2
        vector.spare.extend(self.parts[0].values())

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


def _weights(vector: WeightVector) -> tuple[Arrays, Arrays]:
    """The weights in use, and the bias weights, by name."""
    arrays = {name: array[: vector.n_features, : vector.stride] for name, array in vector.arrays.items()}
    return arrays, {name: vector.biases[f"{name}_bias"] for name in arrays}


def _blocks(weights: Arrays) -> Iterator[slice]:
    """Some rows at a time: what is made in between stays in the processor's cache."""
    n, each = len(weights["z"]), max(1, weights["z"][:1].size)
    step = max(1, BLOCK // each)
    return (slice(begin, begin + step) for begin in range(0, n, step))


def _departure(before: Arrays, after: Arrays, clock: float, weight: float) -> Arrays:
    """Step, spread and gain of some weights, in the memory of the replica that has come to ``after``."""
    kind = before["z"].dtype.type
    parts = {PARTS[name]: array for name, array in after.items()}
    for some in _blocks(after):
        z = after["z"][some]
        z -= before["z"][some]
        if "sum" in after:
            spread = after["sum"][some]
            np.subtract(z * kind(clock), spread, out=spread)
        if "sigma" in after:
            gain = after["sigma"][some]
            np.divide(before["sigma"][some], gain, out=gain)
            z *= gain
            gain -= kind(1)
            gain *= kind(weight)
        if weight != 1.0:
            z *= kind(weight)
    return parts


def _move(weights: Arrays, parts: Arrays, weight: float, clock: float) -> None:
    """v ← v + Δ; with it sum ← sum + clock·Δ − spread, where Σ_t v_t = clock·v − sum."""
    if not weight:
        return
    kind = weights["z"].dtype.type
    for some in _blocks(weights):
        z, total = weights["z"][some], kind(weight)
        if "gain" in parts:
            total = parts["gain"][some] + kind(weight)
            weights["sigma"][some] *= kind(weight) / total
        before = z.copy()
        z += parts["step"][some] / total
        if "spread" in parts:
            weights["sum"][some] += (z - before) * kind(clock) - parts["spread"][some]


def replica_of(vector: WeightVector) -> WeightVector:
    """The same v at the start of a run of its own, in memory that earlier replicas have left."""
    vector.settle()
    shape = vector.n_features, None if vector.binary else vector.n_classes
    twin = type(vector)(*shape, vector.parameters, dtype=vector.dtype.name)
    used = slice(vector.n_features), slice(vector.stride)
    for name in twin.arrays:
        array = _taken(vector.spare, twin.arrays[name])
        array[:] = 0 if name == "sum" else vector.arrays[name][used]
        twin.arrays[name] = array
    for name in ("z_bias", "sigma_bias"):
        twin.biases[name][:] = vector.biases[name]
    twin.bind_again()
    twin.run.norm2 = vector.run.norm2
    return twin


def _taken(spare: list[NDArray[Any]], like: NDArray[Any]) -> NDArray[Any]:
    """An array of this shape and type, used before where there is one: fresh memory costs a fault for every page."""
    with suppress(IndexError):  # another thread may take the last one
        while spare:
            array = spare.pop()
            if array.shape == like.shape and array.dtype == like.dtype:
                return array
    return like
