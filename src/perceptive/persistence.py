"""`save` and `load`: a learner, or the estimator around it, as a model file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core, model_file
from perceptive.features.vocabulary import Vocabulary
from perceptive.learners.linear import LinearLearner
from perceptive.learners.problem import Problem, stride_of
from perceptive.learners.ranking import RankingLearner
from perceptive.model_file import ModelFileError
from perceptive.parameters import LinearParameters, RankingParameters, TrainingParameters
from perceptive.streams.reading import Reading
from perceptive.training import History
from perceptive.training.stream import Run

if TYPE_CHECKING:
    from perceptive.estimators import (
        KernelClassifier,
        KernelRanker,
        LinearClassifier,
        LinearRanker,
        Reranker,
        SequenceTagger,
    )
    from perceptive.kernels.storage import Functions
    from perceptive.learners import KernelLearner, KernelRankingLearner, SequenceLearner
    from perceptive.learners.reranking import RerankingLearner

JOURNAL = (
    "survival", "scale", "first_entry", "entry_label", "entry_vector", "entry_coefficient", "entry_bias",
    "vector_start", "index", "value",
)  # fmt: skip


RUN: dict[str, Any] = {
    "epoch": int, "block": int, "before": tuple, "best_epoch": int, "done": bool, "may_widen": bool,
}  # fmt: skip
NAMES = ("names.bucket", "names.offsets", "names.blob")


def save(
    model: LinearLearner
    | KernelLearner
    | RankingLearner
    | KernelRankingLearner
    | SequenceLearner
    | RerankingLearner
    | LinearClassifier
    | KernelClassifier
    | LinearRanker
    | KernelRanker
    | SequenceTagger
    | Reranker,
    path: str | os.PathLike[str],
) -> None:
    """Write a model to a file: everything it needs to predict, to go on learning, and to be certified.

    The file appears under its name only when it is complete. Nothing is pickled; labels must be strings, numbers,
    booleans or None.

    Examples
    --------
    >>> import tempfile, os, perceptive
    >>> path = os.path.join(tempfile.mkdtemp(), "and.model")
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [False, False, False, True]
    >>> perceptive.save(perceptive.LinearClassifier(epochs=20).fit(X, y), path)
    >>> perceptive.load(path).predict(X).tolist()
    [False, False, False, True]
    """
    if isinstance(model, LinearLearner):
        meta, arrays = _take_apart(model)
        model_file.write(path, "LinearLearner", meta, arrays)
        return
    from perceptive.dual_persistence import estimator_apart, take_apart
    from perceptive.learners.kernel import KernelLearner
    from perceptive.tagger_file import save_tagger

    if isinstance(model, KernelLearner):
        meta, arrays = take_apart(model)
        model_file.write(path, "KernelLearner", meta, arrays)
        return
    if save_tagger(model, path):
        return
    from perceptive.ranking_file import save_ranker

    if save_ranker(model, path):
        return
    from perceptive.estimators import KernelClassifier, LinearClassifier

    if type(model).__name__ == "JointClassifier":
        raise TypeError(
            "a JointClassifier is made of your functions phi and candidates, which no file holds; save its ranker_, "
            "and set that of a new JointClassifier(phi, candidates): ranker_ = load(path)"
        )
    if not isinstance(model, LinearClassifier | KernelClassifier):
        raise TypeError(f"cannot save a {type(model).__name__}; give an estimator or a learner of perceptive")
    if not hasattr(model, "learner_"):
        raise ValueError(f"this {type(model).__name__} has not learned anything; fit it before it is saved")
    if isinstance(model, KernelClassifier):
        meta, arrays = estimator_apart(model)
        model_file.write(path, "KernelClassifier", meta, arrays)
        return
    meta, arrays = _take_apart(model.learner_)
    meta["estimator"] = _plain_values(model.get_params())
    meta["history"] = asdict(model._history)
    meta["class_kind"] = model.classes_.dtype.str
    for name in ("feature_names_in_", "n_features_in_"):
        if hasattr(model, name):
            value = getattr(model, name)
            meta[name] = value.tolist() if isinstance(value, np.ndarray) else int(value)
    model_file.write(path, "LinearClassifier", meta, arrays)


def load(path: str | os.PathLike[str], *, verify: bool | None = None, functions: Functions | None = None) -> Any:
    """Read what `save` wrote.

    Parameters
    ----------
    path : path
    verify : bool or None
        Whether the checksum of the data is compared: None means for files below 64 MB.
    functions : mapping of names to functions, or None
        Those that the kernel of a saved model is made of (see `kernels.Custom`), or a reranker's features and
        structure: no file holds them.

    Raises
    ------
    ModelFileError
        Where the file is damaged, foreign, or newer than this version of perceptive.
    """
    return _load(path, verify, True, functions)


def load_learner(
    path: str | os.PathLike[str],
) -> LinearLearner | KernelLearner | RankingLearner | KernelRankingLearner | SequenceLearner | RerankingLearner:
    """Read the learner of what `save` wrote, without scikit-learn."""
    learner: LinearLearner | KernelLearner | RankingLearner | KernelRankingLearner | SequenceLearner | RerankingLearner
    learner = _load(path, None, False)
    return learner


def _load(path: str | os.PathLike[str], verify: bool | None, dressed: bool, functions: Functions | None = None) -> Any:
    kind, meta, arrays = model_file.read(path, verify=verify)
    if kind in ("LinearLearner", "LinearClassifier"):  # the commonest, without importing what the others need
        with _fitting(path):
            learner = _put_together(meta, arrays)
            return _dress(learner, meta) if dressed and kind == "LinearClassifier" else learner
    from perceptive.ranking_file import KINDS, load_ranker

    if kind in ("SequenceLearner", "SequenceTagger"):
        from perceptive.tagger_file import load_tagger

        return load_tagger(path, kind if dressed else "SequenceLearner", meta, arrays)
    if kind == "Checkpoint":
        raise ModelFileError(f"{os.fspath(path)}: is a checkpoint of a run; let it end: perceptive train --checkpoint")
    if kind not in ("KernelLearner", "KernelClassifier", *KINDS):
        raise ModelFileError(
            f"{os.fspath(path)}: holds a {kind!r}, which this version does not know; upgrade perceptive"
        )
    if kind in KINDS:
        from perceptive.kernels.storage import MissingFunction

        with _fitting(path, MissingFunction):
            return load_ranker(kind, meta, arrays, dressed, functions or {})
    from perceptive.dual_persistence import estimator_together, put_together
    from perceptive.kernels.storage import MissingFunction

    with _fitting(path, MissingFunction):
        together = estimator_together if dressed and kind == "KernelClassifier" else put_together
        return together(meta, arrays, functions or {})


@contextmanager
def _fitting(path: str | os.PathLike[str], passing: type[Exception] = ModelFileError) -> Iterator[None]:
    """What is wrong within a file, said of the file."""
    try:
        yield
    except (ModelFileError, passing):
        raise
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError, RuntimeError) as error:
        raise ModelFileError(f"{os.fspath(path)}: the model does not fit together ({error}); save it again") from None


def save_checkpoint(run: Run, path: str | os.PathLike[str], made_from: dict[str, Any]) -> None:
    """Write down where a training run stands, between two blocks; ``made_from`` says of what data and options."""
    meta: dict[str, Any] = {
        "made_from": made_from,
        "training": asdict(run.training),
        "history": asdict(run.history),
        "state": {name: getattr(run, name) for name in RUN},
    }
    arrays: dict[str, NDArray[Any]] = {}
    for name, learner in (("learner", run.learner), ("best", run.best)):
        meta[name], parts = (None, {}) if learner is None else _take_apart(learner)
        arrays |= {f"{name}/{part}": array for part, array in parts.items()}
    model_file.write(path, "Checkpoint", meta, arrays)


def load_checkpoint(path: str | os.PathLike[str], made_from: dict[str, Any]) -> Run:
    """Take a training run up where `save_checkpoint` left it.

    Raises
    ------
    ModelFileError
        Where the file is no sound checkpoint, or one of other data or options.
    """
    kind, meta, arrays = model_file.read(path)
    where = os.fspath(path)
    if kind != "Checkpoint":
        raise ModelFileError(f"{where}: holds a {kind!r}, not a checkpoint; give another --checkpoint")
    try:
        if meta["made_from"] != json.loads(json.dumps(made_from)):
            raise ModelFileError(f"{where}: was made from other data or with other options; delete it to start anew")
        learners = {}
        for name in ("learner", "best"):
            parts = {n.partition("/")[2]: array for n, array in arrays.items() if n.startswith(f"{name}/")}
            learners[name] = None if meta[name] is None else _put_together(meta[name], parts)
        if learners["learner"] is None:
            raise ValueError("no learner")
        state = {name: type_(meta["state"][name]) for name, type_ in RUN.items()}
        training = TrainingParameters(**meta["training"])
        return Run(learners["learner"], training, History.from_meta(meta["history"]), best=learners["best"], **state)
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
        raise ModelFileError(f"{where}: the checkpoint does not fit together ({error}); delete it") from None


def _take_apart(learner: LinearLearner) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    for label in learner.classes:
        if not isinstance(label, str | int | float | bool | None):
            raise ModelFileError(f"label {label!r} cannot be saved; use strings, numbers, booleans or None")
    meta: dict[str, Any] = {
        "parameters": _plain_values(asdict(learner.parameters)),
        "classes": learner.classes,
        "announced": learner.announced,
        "n_features": learner.n_features,
        "fingerprint": str(learner.fingerprint),
        "played": learner.played,
        "ids": learner.ids,
        "first_pass": learner.first_pass,
        "temperature": learner.temperature,
        "problems": [],
    }
    arrays: dict[str, NDArray[Any]] = {}
    for i, (pair, problem) in enumerate(learner.problems.items()):
        described, parts = problem_apart(problem)
        meta["problems"].append({"pair": pair, **described})
        arrays |= {f"{i}.{name}": array for name, array in parts.items()}
    meta["reading"] = None if learner.reading is None else learner.reading.to_meta()
    if learner.idf is not None:
        arrays["idf"] = learner.idf
    if learner.names is not None:
        arrays |= zip(NAMES, learner.names.to_arrays(), strict=True)
    if learner.vocabulary is not None:
        arrays |= {f"vocabulary.{name}": array for name, array in learner.vocabulary.to_arrays().items()}
    return meta, arrays


def problem_apart(problem: Problem) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A problem as plain values and arrays."""
    state = problem.snapshot()
    arrays = {**state["arrays"], **state["biases"], **(state["journal"] or {})}
    arrays |= {name: array[: problem.n_features] for name, array in state["arrays"].items()}
    if problem.initial is not None:
        arrays["initial"], arrays["initial_bias"] = problem.initial
    return {"run": state["run"], "started": problem.initial is not None}, arrays


def problem_together(
    described: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    n_features: int,
    n_classes: int | None,
    parameters: LinearParameters | RankingParameters,
) -> Problem:
    """What `problem_apart` gave; raises where it does not fit together."""
    if arrays["z"].shape != (n_features, stride_of(n_classes)):
        raise ValueError("weights of the wrong shape")
    initial = (arrays["initial"], arrays["initial_bias"]) if described["started"] else None
    problem = Problem(n_features, n_classes, parameters, initial)
    problem.restore(
        {
            "arrays": {name: arrays[name] for name in problem.arrays},
            "biases": {name: arrays[name] for name in problem.biases},
            "run": described["run"],
            "journal": {name: arrays[name] for name in JOURNAL} if problem.journal is not None else None,
        }
    )
    problem.finish()
    return problem


def _put_together(meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> LinearLearner:
    classes, announced = meta["classes"], meta["announced"]
    learner = LinearLearner(classes=classes if announced else None, **meta["parameters"])
    if not announced:
        learner._set_classes(classes)
    if "vocabulary.blob" in arrays:
        names = ("blob", "offsets", "table")
        learner.vocabulary = Vocabulary.from_arrays(*(arrays[f"vocabulary.{name}"] for name in names))
    if meta.get("reading") is not None:  # models from before files could be read have none
        learner.reading = Reading.from_meta(meta["reading"])
        if learner.reading.has_idf:
            learner.idf = np.ascontiguousarray(arrays["idf"], np.float32)
            if learner.idf.shape != (learner.reading.width,) or not np.isfinite(learner.idf).all():
                raise ValueError("idf does not fit")
    if NAMES[0] in arrays:
        learner.names = _core.InvertedIndex.from_arrays(*(np.ascontiguousarray(arrays[name]) for name in NAMES))
    n_features = meta["n_features"]
    if meta["problems"]:
        if not isinstance(n_features, int) or n_features < 0:
            raise ValueError("no features")
        if [tuple(p["pair"]) for p in meta["problems"]] != learner._wanted_problems():
            raise ValueError("problems and classes do not match")
    for i, described in enumerate(meta["problems"]):
        mine = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{i}.")}
        n_classes = len(classes) if learner.joint else None
        learner.problems[tuple(described["pair"])] = problem_together(
            described, mine, n_features, n_classes, learner.parameters
        )
    learner.n_features = n_features
    learner.fingerprint, learner.played, learner.ids = int(meta["fingerprint"]), meta["played"], meta["ids"]
    if not all(isinstance(count, int) and count >= 0 for count in (learner.played, learner.ids)):
        raise ValueError("impossible counts")
    learner.first_pass = None if meta["first_pass"] is None else tuple(meta["first_pass"])
    learner.temperature = None if meta["temperature"] is None else float(meta["temperature"])
    return learner


def _dress(learner: LinearLearner, meta: dict[str, Any]) -> LinearClassifier:
    from perceptive.estimators import LinearClassifier

    parameters = dict(meta["estimator"])
    if isinstance(parameters["class_weight"], list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    if parameters["cost"] is not None:
        parameters["cost"] = np.array(parameters["cost"])
    model = LinearClassifier(**parameters)
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


def _plain_values(values: dict[str, Any]) -> dict[str, Any]:
    """Values as JSON has them."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return value.tolist()
        return [[plain(key), plain(v)] for key, v in value.items()] if isinstance(value, dict) else value

    return {name: plain(value) for name, value in values.items()}
