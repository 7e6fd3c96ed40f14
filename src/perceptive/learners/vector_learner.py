"""`VectorLearner`: what all learners with weight vectors share; their replicas can learn separately and be mixed.

Below are the scores of a vector, its part in theorems, and its state.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptive import _core
from perceptive.data.dataset import Problem, Witness
from perceptive.data.feature_space import FeatureSpace
from perceptive.data.labelled_rows import ALL
from perceptive.data.sample_weights import as_floats
from perceptive.errors import Parameter, ParameterError, overflowed
from perceptive.learners.learner import NOTHING_LEARNED, MixableLearner, Recorded
from perceptive.learners.mixture import MIXED, VectorMixture, replica_of, weighted
from perceptive.learners.pruning import check_prunable, prune_vectors
from perceptive.learners.weight_vector import WeightVector, stride_of
from perceptive.learners.weights import CompactVector, inner
from perceptive.parameters import LinearParameters, RankingParameters
from perceptive.rules import RULES
from perceptive.state import State, array_of

NEARLY = 1e4  # a margin for rounding, and for v = scale·z
MOST_ROUNDS = 2**53  # beyond, a double no longer counts by one
JOURNAL = (
    "survival", "scale", "first_entry", "entry_label", "entry_vector", "entry_coefficient", "entry_bias",
    "vector_start", "index", "value",
)  # fmt: skip
Scores = NDArray[np.float64]


class VectorLearner(Recorded, MixableLearner):
    """A recorded learner with a vector for each of its problems."""

    explained_by = "features"
    vectors: dict[Any, WeightVector]  # of each problem, by the classes that it is about
    _open = False  # as every vector is, those to come included

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

    def facts(self, **own: Any) -> dict[str, Any]:
        return super().facts(**own, features=self.n_features)

    def _count(self, name: str) -> Any:
        return sum([getattr(vector.run, name) for vector in self.vectors.values()])

    def finish(self) -> None:
        """End learning for now; predictions may compute whole vectors."""
        with self.lock.changing():
            for vector in self.vectors.values():
                vector.finish()
        self.check_growth()

    def weights_of(self, k: int, hypothesis: str) -> tuple[Scores, float]:
        """Return the weights of the columns in score k, and its bias; one against one: the sum over its pairs."""
        total, bias = np.zeros(self.n_features or 0), 0.0
        for pair, vector in self.vectors.items():
            output, sign = (0, float(k in pair)) if vector.binary else (k, 1.0)
            if vector.binary and len(pair) != 1:  # of two classes the first has the negative score
                first, second = pair or (0, 1)
                sign = float(k == second) - float(k == first)
            if sign:
                total += sign * self.space.by_column(vector.column(hypothesis, output))
                bias += sign * vector.bias * float(vector.compact(hypothesis)[1][output])
        return total, bias

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
        return any(vector.deferred is not None for vector in self.vectors.values())

    def mixture(self, replica: Self, by_updates: bool) -> dict[Any, VectorMixture]:
        return {key: VectorMixture(vector, replica.vectors[key], by_updates) for key, vector in self.vectors.items()}

    def mix(self, mixture: dict[Any, VectorMixture]) -> None:
        with self.lock.learning(), self.lock.changing():
            for key, vector in self.vectors.items():
                vector.mix(mixture[key], self.threads)


# ---------------------------------------------------------------- witnesses of the theorems


def problems_of(vectors: Mapping[Any, WeightVector], given: ArrayLike | None, space: FeatureSpace) -> list[Problem]:
    """The sequences of all problems; a vector may be given where there is one problem."""
    if not vectors:
        raise ValueError(NOTHING_LEARNED)
    if given is not None and ALL not in vectors:
        raise ParameterError(
            "{} is for two classes or {}; each problem of ovr and ovo has its own",
            "witness", Parameter("multiclass", "joint"),
        )  # fmt: skip
    return [problem_of(vector, given, space, key=pair) for pair, vector in vectors.items()]


def problem_of(v: WeightVector, given: ArrayLike | None, space: FeatureSpace, **facts: Any) -> Problem:
    """Return a sequence v₀, v₁, … for the theorems; its witnesses are last, averaged, best and a given vector."""
    p, run = v.parameters, v.run
    kept = {"last": True, "averaged": v.averages, "best": v.journal is not None}
    known = bool(RULES[p.rule].theorem)  # else there is nothing to witness
    found = {name: v.compact(name) for name, there in kept.items() if there and known}
    if given is not None:
        found["given"] = _given(v, np.atleast_2d(as_floats(given, "witness")), space)
    looked = ((name, _witness(v, vector)) for name, vector in found.items())
    witnesses = {name: witness for name, witness in looked if 0.0 < witness.length < math.inf}  # others say nothing
    start_length = None if v.initial is None else _length(v.initial)
    counts = {name: getattr(run, name) for name in ("rounds", "mistakes", "updates", "radius2")}
    facts |= {"delta": p.delta, "start_length": start_length, "certified": p.cost is None, **counts, **weighted(run)}
    return Problem(**p.rule_facts(), witnesses=witnesses, **facts)


def _witness(v: WeightVector, vector: CompactVector) -> Witness:
    """Return a witness, in float64: it is multiplied with many blocks."""
    w, b = vector
    doubles = w.astype(np.float64, copy=False), b
    length, along = _length(doubles), 0.0
    if v.initial is not None and length:
        along = inner(v.initial, doubles) / length
    return Witness(doubles, length, along)


def _given(v: WeightVector, u: NDArray[np.float64], space: FeatureSpace) -> CompactVector:
    n, d = v.n_classes, v.n_features if space.places is None else space.n_features or 0
    if u.shape not in ((n, d), (n, d + 1)) or not np.isfinite(u).all():
        raise ValueError(f"witness has shape {u.shape}; give {n} × {d} finite numbers, or {n} × {d + 1}, bias last")
    w = np.zeros((d, v.stride))
    w[:, :n] = u[:, :d].T
    return v.compacted((space.by_place(w), u[:, d] if u.shape[1] > d else np.zeros(n)))


def _length(vector: CompactVector) -> float:
    """‖(w, b)‖."""
    w, b = vector
    doubles = w.astype(np.float64, copy=False) if isinstance(w, np.ndarray) else w, b  # others are multiplied so anyhow
    return math.sqrt(inner(doubles, doubles))


# ---------------------------------------------------------------- scores


def score_rows(v: WeightVector, rows: _core.Rows, hypothesis: str, threads: int = 1) -> Scores:
    """Scores under a hypothesis, rows × classes; votes are given as shares (two classes: of −1 … 1)."""
    v.check_hypothesis(hypothesis)
    if hypothesis == "voted":
        return _vote(v, rows)
    if not v.finished and hypothesis in ("last", "averaged"):
        scores = _score_as_it_learns(v, rows, hypothesis)
    else:
        scores = v.linear(rows, *v.compact(hypothesis), threads)
    if not np.isfinite(scores).all():
        raise overflowed("scores")
    return scores


def votes_in_lists(v: WeightVector, rows: _core.Rows, which: NDArray[np.int64]) -> Scores:
    """Return shares of the votes for the best of each list; ``which`` is the list of each row."""
    votes = np.empty(rows.n, np.int64)
    survival = v.survivals()
    _core.rank_votes(rows, v.journal, survival, np.zeros(rows.n), which, v.parameters.normalize, votes)
    return votes / max(1, int(survival.sum()))


def _score_as_it_learns(v: WeightVector, rows: _core.Rows, hypothesis: str) -> Scores:
    """Return scores without making the vector, which would cost O(dimension) between two examples of a stream."""
    v.settle()
    run, bias = v.run, v.bias
    z = v.own_dots(rows, "z") + bias * v.biases["z_bias"]
    if hypothesis == "last":
        return run.scale * z
    clock, total = v.average_clock()
    sums = v.own_dots(rows, "sum") + bias * v.biases["sum_bias"]
    with np.errstate(invalid="ignore"):  # of weights that have overflowed
        average: Scores = (clock * z - sums) / total
    return average


def _vote(v: WeightVector, rows: _core.Rows) -> Scores:
    if v.initial is None:
        start = np.zeros((rows.n, v.n_classes))
    else:
        w, bias = v.initial
        start = v.linear(rows, w.astype(v.dtype, copy=False), bias)
    votes = np.empty((rows.n, v.n_classes), np.int64)
    survival = v.survivals()
    _core.votes(rows, v.journal, survival, start, v.bias, v.parameters.normalize, votes)
    return votes / max(1, int(survival.sum()))


# ---------------------------------------------------------------- state of a vector


def state_of_vector(vector: WeightVector) -> State:
    """Return the whole state of a vector, for the features so far."""
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
    """Make the vector that `state_of_vector` was given; raise ValueError if the parts do not fit together."""
    meta, arrays = state
    shapes = {"initial": (n_features, stride_of(n_classes)), "initial_bias": (n_classes or 1,)}
    vector = WeightVector(n_features, n_classes, parameters, dtype=meta.get("dtype", parameters.dtype))
    vector.weights.unpack(arrays, n_features, vector.stride)
    journal = {name: arrays[name] for name in JOURNAL} if vector.journal is not None else None
    if journal is not None and np.asarray(journal["survival"], float).sum() > MOST_ROUNDS:
        raise ValueError("voters survived more rounds than anyone can play")
    biases = {name: array_of(arrays, name, np.float64, shapes["initial_bias"]) for name in vector.biases}
    # Older files lack both: then ‖v‖² must be measured, and the average is closed.
    older = {"norm2_error": abs(meta["run"]["norm2"]), "open": False, **dict.fromkeys(MIXED, 0)}
    vector.go_on(biases, {**older, **meta["run"]}, journal)
    if meta["started"]:
        start = [array_of(arrays, name, arrays[name].dtype, shapes[name]) for name in shapes if name in arrays]
        vector.initial = vector.compacted((start[0], start[1])) if len(start) == 2 else vector.compact("last")
    vector.finish()
    return vector
