"""The vectors of a run as witnesses of its theorem."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptive.data.dataset import Problem, Witness
from perceptive.data.feature_space import FeatureSpace
from perceptive.data.labelled_rows import ALL
from perceptive.data.sample_weights import as_floats
from perceptive.errors import Parameter, ParameterError
from perceptive.learners.facts import rule_facts
from perceptive.learners.learner import NOTHING_LEARNED
from perceptive.learners.mixture import weighted
from perceptive.learners.sparse_weights import CompactVector, inner
from perceptive.learners.weight_vector import WeightVector
from perceptive.rules import RULES


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
    """A sequence v₀, v₁, … as theorems see it, with its last, averaged and best vectors and one that is given."""
    p, run = v.parameters, v.run
    kept = {"last": True, "averaged": v.averages, "best": v.journal is not None}
    known = bool(RULES[p.rule].theorem)  # else there is nothing to witness
    found = {name: v.compact(name) for name, there in kept.items() if there and known}
    if given is not None:
        found["given"] = _given(v, np.atleast_2d(as_floats(given, "witness")), space)
    witnesses = {name: _witness(v, vector) for name, vector in found.items()}
    start_length = None if v.initial is None else _length(v.initial)
    counts = {name: getattr(run, name) for name in ("rounds", "mistakes", "updates", "radius2")}
    facts |= {"delta": p.delta, "start_length": start_length, "certified": p.cost is None, **counts, **weighted(run)}
    return Problem(**rule_facts(p), witnesses=witnesses, **facts)


def _witness(v: WeightVector, vector: CompactVector) -> Witness:
    """A vector in float64: it looks at many blocks."""
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
