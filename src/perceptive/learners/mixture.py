"""`VectorMixture`: what shards have learned from one weight vector on, to be mixed (McDonald, Hall & Mann 2010).

Shard i starts from v, goes to v_i, and has been at v_{i,t} in round t. It has a weight ω_i, and μ_i = ω_i/Σ ω: ω_i = 1,
or its updates. A mixture is ::

    step = Σ ω_i (v_i − v)              v ← v + step/Σ ω
    spread = Σ_i Σ_t (v_{i,t} − v)      for the average: the mean of all v_{i,t}, as in `reference.mixing`

so that a shard is the mixture of itself, and two mixtures add up to one. Both are zero if nothing was learned. With
the lazy average (core/linear.hpp), Σ_t (v_{i,t} − v) = clock·(v_i − v) − sum. Shares of sum that a shard defers wait
with those of the vector, and are left out here.

AROW keeps σ beside each weight: with P_i = 1/σ_i, P = Σ μ_i P_i and v = P⁻¹ Σ μ_i P_i v_i. Written with ρ_i = P_i σ,
which is 1 if nothing was learned: step = Σ ω_i ρ_i (v_i − v), gain = Σ ω_i (ρ_i − 1), v ← v + step/(Σ ω + gain),
σ ← σ Σ ω/(Σ ω + gain).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.learners.weights import Cells, DenseWeights, SparseWeights
from perceptive.state import Arrays

if TYPE_CHECKING:
    from perceptive.learners.weight_vector import WeightVector

PARTS = {"z": "step", "sum": "spread", "sigma": "gain"}  # what a replica's weights become, in the core's order
COUNTED = ("rounds", "mistakes", "updates", "touched", "criterion", "clock", "radius2")  # of shards
MIXED = (
    "mixed_rounds", "mixed_updates", "mixed_mistakes", "weighted_updates", "weighted_mistakes", "heaviest",
)  # of a run that was mixed: see core/round.hpp  # fmt: skip


def weighted(run: _core.Progress) -> dict[str, Any]:
    """Return what the theorems of mixing need: the weights of a run's updates and mistakes, and the largest μ.

    Serial rounds have weight 1.
    """
    if not run.mixed_rounds:
        return {}
    return {
        "weighted_updates": run.updates - run.mixed_updates + run.weighted_updates,
        "weighted_mistakes": run.mistakes - run.mixed_mistakes + run.weighted_mistakes,
        "heaviest": run.heaviest if run.rounds == run.mixed_rounds else 1.0,
    }


class VectorMixture:
    """What the replica ``end`` of a vector, or several replicas, have learned; their learning is over.

    ω is the number of its updates (``by_updates``), or 1.
    """

    def __init__(self, start: WeightVector, end: WeightVector, by_updates: bool) -> None:
        self.run = _core.Progress()
        self.run.add(end.run)
        self.weight = self.heaviest = float(self.run.updates) if by_updates else 1.0  # Σ ω_i, the largest ω_i
        self.weighted_updates = self.weight * self.run.updates  # Σ ω_i k_i
        self.weighted_mistakes = self.weight * self.run.mistakes
        if end.dtype != start.dtype:  # it has made very many updates
            end.weights = end.weights.astype(start.dtype)
            end.bind_again()
        before, after, self.at = _together(start, end)
        biases = [{name: one.biases[f"{name}_bias"] for name in end.weights.names} for one in (start, end)]
        for was, now in ((before, after), biases):
            z, sums, sigma = map(now.get, PARTS)
            assert z is not None
            _core.depart(was["z"], z, sums, was.get("sigma"), sigma, end.run.clock, self.weight)
        self.parts = [{PARTS[name]: array for name, array in now.items()} for now in (after, biases[1])]
        self._spare = start.spare

    def add(self, other: VectorMixture) -> None:
        """Add other shards."""
        if self.at is not None and other.at is not None:
            own, others = Cells(self.at, self.parts[0]).aligned(Cells(other.at, other.parts[0]))
            self.at, self.parts[0], other.parts[0] = own.at, own.values, others.values
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            for name, array in mine.items():
                array += theirs[name]
        self.run.add(other.run)
        self.weight += other.weight
        self.heaviest = max(self.heaviest, other.heaviest)
        self.weighted_updates += other.weighted_updates
        self.weighted_mistakes += other.weighted_mistakes
        self._leave(other.parts[0], self._spare)

    def _leave(self, weights: Arrays, spare: list[NDArray[Any]]) -> None:
        """Leave memory for replicas."""
        if self.at is None:
            spare.extend(weights.values())

    def apply(self, vector: WeightVector, threads: int = 1) -> None:
        """Move the vector that the shards started from."""
        run = vector.run
        run.mix(self.run, self.weight, self.weighted_updates, self.weighted_mistakes, self.heaviest)
        weights, biases = self.parts
        if self.weight:
            own = {name: vector.biases[f"{name}_bias"] for name in vector.weights.names}
            of_weights = self._move_weights(vector, weights, threads)
            run.norm2 = run.norm2_error = of_weights + self._move(run, own, biases, 1)
        self._leave(weights, vector.spare)

    def _move_weights(self, vector: WeightVector, moved: Arrays, threads: int) -> float:
        weights = vector.weights
        if isinstance(weights, DenseWeights):
            mine = {name: array[: vector.n_features] for name, array in weights.arrays.items()}
            return self._move(vector.run, mine, moved, threads)
        assert self.at is not None
        cells, theirs = weights.cells(vector.stride).aligned(Cells(self.at, moved))
        norm2 = self._move(vector.run, cells.values, theirs.values, threads)
        weights.core.set(cells.stride, cells.at, **cells.values)
        return norm2

    def _move(self, run: _core.Progress, mine: Arrays, moved: Arrays, threads: int) -> float:
        z, sums, sigma = map(mine.get, PARTS)
        step, spread, gain = map(moved.get, PARTS.values())
        assert z is not None
        assert step is not None
        return _core.move(z, sums, sigma, step, spread, gain, run.clock, self.weight, threads)

    def __copy__(self) -> VectorMixture:
        twin = object.__new__(VectorMixture)
        twin.__dict__.update(self.__dict__)
        twin.parts = [{name: array.copy() for name, array in parts.items()} for parts in self.parts]
        twin.run, twin._spare = _core.Progress(), []
        twin.run.add(self.run)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to send over a network: if many weights are unchanged, they are left out."""
        weights, biases = self.parts
        run = {name: getattr(self.run, name) for name in COUNTED}
        packed = _sparse(weights) if self.at is None else (None, weights)
        return {**self.__dict__, "_spare": [], "run": run, "parts": (packed, weights["step"].shape, biases)}

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
    """Return the places and values of nonzero weights; or None and all weights, if that is smaller."""
    size = weights["step"].size
    touched = np.zeros(size, bool)
    for array in weights.values():
        touched |= array.reshape(-1) != 0
    each, kind = sum(array.itemsize for array in weights.values()), np.uint32 if size <= 2**32 else np.uint64
    if int(np.count_nonzero(touched)) * (each + np.dtype(kind).itemsize) >= size * each:
        return None, weights
    at = np.flatnonzero(touched)
    return at.astype(kind), {name: array.reshape(-1)[at] for name, array in weights.items()}


def _together(start: WeightVector, end: WeightVector) -> tuple[Arrays, Arrays, NDArray[np.int64] | None]:
    """Return the weights of a vector and of its replica; for many classes in the same cells, and these cells."""
    mine, theirs = start.weights, end.weights
    if isinstance(mine, SparseWeights) and isinstance(theirs, SparseWeights):
        before, after = mine.cells(start.stride).aligned(theirs.cells(start.stride))
        return before.values, after.values, after.at
    assert isinstance(mine, DenseWeights)
    assert isinstance(theirs, DenseWeights)
    return mine.arrays, theirs.arrays, None


def replica_of(vector: WeightVector) -> WeightVector:
    """Return a copy of v at the start of its own run, in memory that earlier replicas have left."""
    shape = vector.n_features, None if vector.binary else vector.n_classes
    twin = type(vector)(*shape, vector.parameters, dtype=vector.dtype.name)
    twin.weights = vector.weights.replica(vector.n_features, vector.stride, vector.spare)
    for name in ("z_bias", "sigma_bias"):
        twin.biases[name][:] = vector.biases[name]
    twin.bind_again()
    twin.run.norm2 = vector.run.norm2
    if vector.deferred is not None:
        twin.share(vector.deferred)
    return twin
