"""Kernel models, taken apart into plain values and arrays and put together again."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive.kernels import Kernel
from perceptive.kernels.storage import (
    Functions,
    check_fit,
    examples_from_arrays,
    examples_to_arrays,
    kernel_from_plain,
    kernel_to_plain,
)
from perceptive.learners.budget import ForgetOne
from perceptive.learners.dual import Dual
from perceptive.learners.dual_run import DualRun
from perceptive.learners.kernel import KernelLearner
from perceptive.parameters import KernelParameters
from perceptive.streams.reading import Reading
from perceptive.training import History

if TYPE_CHECKING:
    from perceptive.estimators import KernelClassifier

Arrays = dict[str, NDArray[Any]]
RUN = {"slot": np.int64, "gain": np.int64, "loss": np.int64, "step": np.float64, "at": np.int64, "length2": np.float64}
COUNTS = ("seen", "played")


def take_apart(learner: KernelLearner) -> tuple[dict[str, Any], Arrays]:
    """A learner as plain values and arrays."""
    for label in learner.classes:
        if not isinstance(label, str | int | float | bool | None):
            raise ValueError(f"label {label!r} cannot be saved; use strings, numbers, booleans or None")
    arrays: Arrays = {}
    names = [f.name for f in fields(KernelParameters) if f.name != "kernel"]
    meta: dict[str, Any] = {
        "parameters": {name: _plain(getattr(learner.parameters, name)) for name in names},
        "kernel": kernel_to_plain(learner.kernel, arrays),
        "classes": learner.classes,
        "announced": learner.announced,
        "n_features": learner.n_features,
        "fingerprint": str(learner.fingerprint),
        "first_pass": learner.first_pass,
        **{name: getattr(learner, name) for name in COUNTS},
        "reading": None if learner.reading is None else learner.reading.to_meta(),
        "takes_objects": learner.takes_objects,
        "dual": None,
    }
    if learner.dual is not None:
        meta["dual"] = dual_apart(learner.dual, arrays)
    return meta, arrays


def dual_apart(dual: Dual, arrays: Arrays) -> dict[str, Any]:
    """A dual as plain values; its arrays are put beside."""
    arrays |= {"alpha": dual.alpha, "sums": dual.sums, "ids": np.array(dual.ids, np.int64)}
    arrays |= {"mistakes": dual.mistakes, "criterion": dual.criterion}
    if dual.initial is not None:
        arrays["initial"] = dual.initial
    for i, run in enumerate(dual.runs):
        arrays |= {f"run{i}.{name}": np.array(getattr(run, name), dtype) for name, dtype in RUN.items()}
    about: dict[str, Any] = {
        "n_outputs": dual.n_outputs,
        "rounds": dual.rounds,
        "runs": [{"updates": run.updates, "radius2": run.radius2} for run in dual.runs],
        "supports": None if dual.supports is None else examples_to_arrays(dual.supports, "supports", arrays),
        "forgetting": None,
    }
    if isinstance(dual.forgetting, ForgetOne):
        about["forgetting"] = dual.forgetting.state()
    return about


def put_together(meta: dict[str, Any], arrays: Arrays, functions: Functions) -> KernelLearner:
    """The learner again; raises where the parts do not fit."""
    kernel = kernel_from_plain(meta["kernel"], arrays, functions)
    classes, announced = meta["classes"], meta["announced"]
    learner = KernelLearner(classes=classes if announced else None, kernel=kernel, **meta["parameters"])
    if not announced:
        learner._set_classes(classes)
    learner.n_features = meta["n_features"]
    learner.fingerprint = int(meta["fingerprint"])
    for name in COUNTS:
        setattr(learner, name, _count(meta, name))
    learner.first_pass = None if meta["first_pass"] is None else tuple(meta["first_pass"])
    learner.reading = None if meta["reading"] is None else Reading.from_meta(meta["reading"])
    learner.takes_objects = bool(meta["takes_objects"])
    if meta["dual"] is not None:
        outputs = 1 if learner.binary else max(1, len(learner.classes))
        dual = Dual(learner.kernel, learner.task, outputs, learner.parameters)
        learner.dual = dual_together(dual, meta["dual"], arrays)
    return learner


def dual_together(dual: Dual, about: dict[str, Any], arrays: Arrays) -> Dual:
    """What `dual_apart` gave, in a dual that has learned nothing; raises where the parts do not fit."""
    outputs = dual.n_outputs
    if about["n_outputs"] != outputs:
        raise ValueError("classes and outputs do not match")
    if arrays["ids"].ndim != 1 or arrays["ids"].dtype != np.int64 or (arrays["ids"] < 0).any():
        raise ValueError("supports with impossible numbers")
    ids = arrays["ids"].tolist()
    n = len(ids)
    for name in ("alpha", "sums"):
        if arrays[name].shape != (n, outputs) or arrays[name].dtype != np.float64:
            raise ValueError(f"{name} of the wrong shape")
        _check_finite(name, arrays[name])
    dual._alpha, dual._sums = np.array(arrays["alpha"]), np.array(arrays["sums"])
    dual.ids, dual.slot_of = ids, {number: slot for slot, number in enumerate(ids)}
    if len(dual.slot_of) != n:
        raise ValueError("a support stands there twice")
    if about["supports"] is not None:
        dual.supports = examples_from_arrays(about["supports"], "supports", arrays)
    if n != (0 if dual.supports is None else len(dual.supports)):
        raise ValueError("supports and coefficients do not match")
    if dual.supports is not None:
        check_fit(dual.kernel, dual.supports)
    if "initial" in arrays:
        dual.initial = np.array(arrays["initial"], np.float64)
        if dual.initial.ndim != 2 or dual.initial.shape[1] != outputs or len(dual.initial) > n:
            raise ValueError("initial coefficients of the wrong shape")
        _check_finite("initial", dual.initial)
    dual.rounds = _count(about, "rounds")
    for name in ("mistakes", "criterion"):
        mine: NDArray[Any] = getattr(dual, name)
        if arrays[name].shape != mine.shape:
            raise ValueError(f"{name} of the wrong shape")
        _check_finite(name, arrays[name])
        mine[:] = arrays[name]
    if (dual.mistakes < 0).any():
        raise ValueError("mistakes below 0")
    if len(about["runs"]) != len(dual.runs):
        raise ValueError("runs and classes do not match")
    for i, counts in enumerate(about["runs"]):
        dual.runs[i] = _run(i, counts, arrays, n, outputs, dual.rounds)
    if about["forgetting"] is not None and isinstance(dual.forgetting, ForgetOne):
        dual.forgetting.restore(about["forgetting"])
    return dual


def _run(i: int, counts: dict[str, Any], arrays: Arrays, supports: int, outputs: int, rounds: int) -> DualRun:
    parts = {name: arrays[f"run{i}.{name}"] for name in RUN}
    for name, part in parts.items():
        if part.ndim != 1 or part.dtype != RUN[name]:
            raise ValueError(f"a run with a {name} of the wrong kind")
        _check_finite(name, part)
    lengths = {len(parts[name]) for name in RUN if name != "length2"}
    if len(lengths) != 1 or len(parts["length2"]) != lengths.pop() + 1:
        raise ValueError("a run that does not fit together")
    for name, low, high in (("slot", 0, supports), ("gain", 0, outputs), ("loss", -1, outputs)):
        if len(parts[name]) and not low <= parts[name].min() <= parts[name].max() < high:
            raise ValueError(f"a run with an impossible {name}")
    at = parts["at"]
    if len(at) and not (at[0] >= 1 and at[-1] <= rounds and (np.diff(at) >= 0).all()):
        raise ValueError("a run with impossible rounds")
    radius2 = float(counts["radius2"])
    if not 0 <= radius2 < np.inf:
        raise ValueError("a run with an impossible radius")
    lists: dict[str, Any] = {name: part.tolist() for name, part in parts.items()}
    return DualRun(**lists, updates=_count(counts, "updates"), radius2=radius2)


def _check_finite(name: str, values: NDArray[Any]) -> None:
    if not np.isfinite(values).all():
        raise ValueError(f"{name} with numbers that are none")


def _count(counts: dict[str, Any], name: str) -> int:
    value = counts[name]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} is impossible")
    return value


def estimator_apart(model: KernelClassifier) -> tuple[dict[str, Any], Arrays]:
    """A fitted estimator as plain values and arrays."""
    meta, arrays = take_apart(model.learner_)
    parameters = {name: _plain(value) for name, value in model.get_params(deep=False).items() if name != "kernel"}
    meta["estimator"] = parameters
    asked = model.kernel
    if isinstance(asked, Kernel):
        meta["asked"] = kernel_to_plain(asked, arrays)
    else:
        meta["asked"] = asked if isinstance(asked, str) else None
    meta["history"] = asdict(model._history)
    meta["class_kind"] = model.classes_.dtype.str
    for name in ("feature_names_in_", "n_features_in_"):
        if hasattr(model, name):
            value = getattr(model, name)
            meta[name] = value.tolist() if isinstance(value, np.ndarray) else int(value)
    return meta, arrays


def estimator_together(meta: dict[str, Any], arrays: Arrays, functions: Functions) -> KernelClassifier:
    """The estimator again."""
    from perceptive.estimators import KernelClassifier

    learner = put_together(meta, arrays, functions)
    parameters = dict(meta["estimator"])
    if isinstance(parameters["class_weight"], list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    asked = meta["asked"]
    if isinstance(asked, dict):
        kernel: Any = kernel_from_plain(asked, arrays, functions)
    else:
        kernel = learner.kernel if asked is None else asked
    model = KernelClassifier(kernel=kernel, **parameters)
    model._check_parameters()
    model.learner_ = learner
    kind = np.dtype(meta["class_kind"])
    if kind.kind not in "biufUO":
        raise ValueError("labels of an unknown kind")
    model.classes_ = np.array(learner.classes, dtype=kind)
    model._history = History.from_meta(meta["history"])
    if "n_features_in_" in meta:
        model.n_features_in_ = int(meta["n_features_in_"])
    if "feature_names_in_" in meta:
        model.feature_names_in_ = np.array(meta["feature_names_in_"], dtype=object)
    return model


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [[_plain(key), _plain(item)] for key, item in value.items()] if isinstance(value, dict) else value
