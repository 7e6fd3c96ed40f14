"""A third class appears after two classes were one problem of +1 against −1: now all classes compete.

Where the perceptron with one vector has v, the perceptron with two competing vectors makes the same mistakes, and has v
and −v. PA, MIRA and ROMMA have ½·v and −½·v. PA-I, PA-II, AROW and a margin β measure lengths or scores, which differ:
they also go on from ½·v and −½·v, but as no run from 0 would. One against the rest has v and −v for every rule; one
against one has v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptive import _core
from perceptive.data.labelled_rows import ALL
from perceptive.data.labels import NewClass
from perceptive.errors import Parameter, ParameterError
from perceptive.learners.kernel_values import COUNTS
from perceptive.learners.weight_vector import WeightVector
from perceptive.state import Arrays

if TYPE_CHECKING:
    from perceptive.learners.dual import Dual
    from perceptive.learners.kernel import KernelLearner
    from perceptive.learners.linear import LinearLearner


def check_new(learner: LinearLearner | KernelLearner, labels: Sequence[Any]) -> None:
    """Raise if a label is new, and this learner accepts no new ones."""
    new = [label for label in labels if label not in learner.index]
    if not new or not learner.announced:
        return
    said = f"label {new[0]!r} is not one of the classes {learner.classes!r}"
    if learner.fixed:
        raise ValueError(f"{said}, which were announced as all; announce this one, too, or none")
    if getattr(learner, "provisional", False):
        raise NewClass(said, lambda: with_open_classes(learner))  # type: ignore[arg-type]
    p = learner.parameters
    if p.ties == "positive" and learner.binary and p.multiclass == "joint":
        raise ParameterError(f"{said}, and {{}} is about two; fit again without it", Parameter("ties", "positive"))
    if getattr(p, "cost", None) is not None:
        raise ParameterError(f"{said}, and {{}} has no row for it; fit again with one that has", "cost")


def with_open_classes(learner: LinearLearner) -> LinearLearner:
    """Return an untrained learner with the same parameters, whose classes may appear at any time."""
    again = type(learner)(**{f.name: getattr(learner.parameters, f.name) for f in fields(learner.parameters)})
    if learner.space.format is not None:
        again.space.reads(learner.space.format, learner.space.idf)
    return again


def share(learner: LinearLearner | KernelLearner) -> float:
    """Return the f for which two competing vectors are f·v and −f·v."""
    p = learner.parameters
    return 1.0 if p.rule == "perceptron" and p.margin == 0 else 0.5


def is_same_run(learner: LinearLearner | KernelLearner) -> bool:
    """Return whether two competing vectors would have come to the same, so that theorems still apply to the run."""
    p = learner.parameters
    return p.multiclass != "joint" or (
        p.rule in ("perceptron", "pa", "mira", "romma", "aggressive-romma") and not p.margin
    )


def open_vectors(learner: LinearLearner) -> None:
    """Give a binary learner the vectors of a learner whose classes compete."""
    p, vectors = learner.parameters, dict(learner.vectors)
    if vectors and p.multiclass == "joint":
        f = share(learner)
        learner.vectors = {ALL: with_outputs(vectors[ALL], [-f, f], joint=True)}
    elif vectors and p.multiclass == "ovo":
        learner.vectors = {(0, 1): vectors[ALL]}
    elif vectors:
        both = {(0,): with_outputs(vectors[ALL], [-1.0], joint=False), (1,): vectors[ALL]}
        learner.vectors = {(k,): v for (k,), v in both.items() if learner.classes[k] != p.reference}


def with_outputs(vector: WeightVector, factors: Sequence[float], joint: bool) -> WeightVector:
    """Return what a binary problem has learned as competing vectors, or as another binary one: multiples of v."""
    state, many = vector.snapshot(), len(factors)
    initial = vector.initial
    if initial is not None:
        initial = _outputs(initial[0], factors, joint), np.outer(initial[1], factors)[0]
    made = WeightVector(vector.n_features, many if joint else None, vector.parameters, initial, vector.dtype.name)
    arrays, biases, run = state["arrays"], state["biases"], state["run"]
    for name in arrays.keys() - {"sigma"}:
        arrays[name] = _outputs(arrays[name], factors, joint)
    if "sigma" in arrays:
        arrays["sigma"] = np.repeat(arrays["sigma"], made.stride, axis=1)
    for name, bias in biases.items():
        biases[name] = np.repeat(bias, many) if name == "sigma_bias" else np.outer(bias, factors)[0]
    squared = sum(f * f for f in factors)
    run |= {"norm2": squared * run["norm2"], "norm2_error": squared * run["norm2_error"]}
    run |= {"radius2": many * run["radius2"], "criterion": (max(factors) - min(factors) or 1.0) * run["criterion"]}
    if state["journal"] is not None:
        state["journal"] = _journal(state["journal"], factors)
    made.restore(state)
    return made


def _outputs(weights: Any, factors: Sequence[float], joint: bool) -> Any:
    """Return a column times each factor, side by side; padded if the vectors compete."""
    padded = np.zeros(-(-len(factors) // 4) * 4 if joint else 1)
    padded[: len(factors)] = factors
    return (weights[:, :1] * padded.astype(weights.dtype)).astype(weights.dtype)


def _journal(journal: Arrays, factors: Sequence[float]) -> Arrays:
    """Return the journal with every entry repeated for each output."""
    many = len(factors)
    entries = {name: np.repeat(journal[name], many) for name in ("entry_vector", "entry_coefficient", "entry_bias")}
    n = len(journal["entry_vector"])
    each = np.tile(factors, n)
    entries["entry_coefficient"] = entries["entry_coefficient"] * each
    entries["entry_bias"] = entries["entry_bias"] * each
    label = np.tile(np.arange(many), n).astype(journal["entry_label"].dtype)
    return {**journal, **entries, "entry_label": label, "first_entry": many * journal["first_entry"]}


def open_dual(dual: Dual, task: str, f: float) -> None:
    """Turn a binary dual, in place, into one with two competing outputs, or with one against the rest."""
    f = f if task == "joint" else 1.0
    factors = np.array([-f, f])
    dual.task = task
    [journal] = dual.journals
    arrays, n = journal.to_arrays(), len(dual)
    if task == "joint":
        gain = (arrays["step"] > 0).astype(np.int64)
        arrays |= {"gain": gain, "loss": 1 - gain, "step": f * np.abs(arrays["step"])}
        arrays["length2"] = 2.0 * f * f * arrays["length2"]
        dual.journals = [_core.DualJournal.from_arrays(**arrays, supports=n, outputs=2, rounds=dual.rounds)]
        dual.criterion, dual.radius2 = 2.0 * f * dual.criterion, 2.0 * dual.radius2
    else:
        arrays["step"] = -arrays["step"]
        journal.meet_output(0)
        dual.journals = [_core.DualJournal.from_arrays(**arrays, supports=n, outputs=2, rounds=dual.rounds), journal]
        for name in COUNTS:
            setattr(dual, name, np.repeat(getattr(dual, name), 2))
    dual.change_outputs(lambda coefficients: coefficients * factors)


def meet_output(dual: Dual, place: int) -> None:
    """Insert an output of zeros into a dual, in this place."""
    for journal in dual.journals:
        journal.meet_output(place)
    if dual.task == "ovr":
        dual.journals.insert(place, _core.DualJournal())
        for name in COUNTS:
            setattr(dual, name, np.insert(getattr(dual, name), place, 0))
    dual.change_outputs(lambda coefficients: np.insert(coefficients, place, 0.0, axis=1))


def go_on_open(learner: LinearLearner | KernelLearner) -> None:
    """Do what all classifiers need when a class appears that the first data did not have."""
    if learner.binary and learner.parameters.multiclass == "joint" and learner.temperature is not None:
        learner.temperature /= 2.0 * share(learner)  # the same probabilities
    if learner.binary and not is_same_run(learner):
        learner.fingerprint, learner.first_epoch = 0, None  # no theorem is about such a run
    learner.announced = False
