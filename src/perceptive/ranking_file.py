"""Rankers as model files; `persistence` calls this."""

from __future__ import annotations

import os
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import model_file
from perceptive.dual_persistence import dual_apart, dual_together
from perceptive.features.vocabulary import Vocabulary
from perceptive.kernels import Kernel, as_kernel
from perceptive.kernels.storage import Functions, MissingFunction, kernel_from_plain, kernel_to_plain
from perceptive.learners.dual import Dual
from perceptive.learners.kernel_ranking import KernelRankingLearner
from perceptive.learners.ranking import RankingLearner
from perceptive.learners.reranking import RerankingLearner, hashed, structure_of
from perceptive.learners.sequence import SequenceLearner
from perceptive.model_file import ModelFileError
from perceptive.persistence import problem_apart, problem_together
from perceptive.streams.reading import Reading
from perceptive.tagger_file import tagger_apart, tagger_together
from perceptive.training import History

if TYPE_CHECKING:
    from perceptive.estimators import KernelRanker, LinearRanker, Reranker

KINDS = ("RankingLearner", "LinearRanker", "KernelRankingLearner", "KernelRanker", "RerankingLearner", "Reranker")
COUNTS = ("played", "ids")
WHOLE = dict.fromkeys(("ids", "mistakes", "run0.slot", "run0.gain", "run0.loss", "run0.at"), "iu")
DUAL = {**WHOLE, **dict.fromkeys(("criterion", "run0.step", "run0.length2"), "f")}  # kinds of arrays
RERANKER = ("k", "folds", "target", "oracle_")


def save_ranker(model: Any, path: str | os.PathLike[str]) -> bool:
    """Write a ranker to a file; False if this is none."""
    if isinstance(model, RankingLearner | KernelRankingLearner):
        model_file.write(path, type(model).__name__, *_learner_apart(model))
        return True
    if isinstance(model, RerankingLearner):
        model_file.write(path, "RerankingLearner", *_reranking_apart(model))
        return True
    kind = type(model).__name__  # without importing scikit-learn for other models
    if kind in ("LinearRanker", "KernelRanker"):
        model_file.write(path, kind, *_estimator_apart(model))
    elif kind == "Reranker":
        model_file.write(path, kind, *_reranker_apart(model))
    return kind in KINDS


def _learner_apart(learner: RankingLearner | KernelRankingLearner) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    return _take_apart(learner) if isinstance(learner, RankingLearner) else _kernel_apart(learner)


def _estimator_apart(model: LinearRanker | KernelRanker) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    if not hasattr(model, "learner_"):
        raise ValueError(f"this {type(model).__name__} has not learned anything; fit it before it is saved")
    meta, arrays = _learner_apart(model.learner_)
    parameters = model.get_params(deep=False)
    if "kernel" in parameters:
        asked = parameters.pop("kernel")
        plain = kernel_to_plain(asked, arrays) if isinstance(asked, Kernel) else asked
        meta["asked"] = plain if isinstance(plain, str | dict) else None
    meta["estimator"] = {name: _plain(value) for name, value in parameters.items()}
    meta["history"] = asdict(model._history)
    for name in ("feature_names_in_", "n_features_in_"):
        if hasattr(model, name):
            value = getattr(model, name)
            meta[name] = value.tolist() if isinstance(value, np.ndarray) else int(value)
    return meta, arrays


def _reranking_apart(learner: RerankingLearner) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    parts = {"tagger": tagger_apart(learner.tagger), "ranker": _learner_apart(learner.ranker)}
    return _in_folders(parts, {"k": _plain(learner.k), "oracle_": learner.oracle}, learner.features, learner.structure)


def _reranker_apart(model: Reranker) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    if not hasattr(model, "ranker_"):
        raise ValueError("this Reranker has not learned anything; fit it before it is saved")
    parts = {"tagger": tagger_apart(model.tagger_), "ranker": _estimator_apart(model.ranker_)}
    return _in_folders(
        parts, {name: _plain(getattr(model, name)) for name in RERANKER}, model.features, model._structure
    )


def _in_folders(
    parts: dict[str, Any], about: dict[str, Any], features: Any, structure: Any
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A reranker is its tagger and its ranker, each in a folder of its own."""
    meta: dict[str, Any] = {name: part[0] for name, part in parts.items()}
    named = _functions_in(meta["ranker"].get("kernel"))
    own = {}
    for what, function in (("features", features), ("structure", structure)):
        own[what] = {"function": _name_of(function)} if callable(function) else function
        if callable(function) and (name := _name_of(function)) in named:
            raise ModelFileError(
                f"two functions of the model are called {name!r}, and a file knows them by name; rename {what}"
            )
        named |= {_name_of(function)} if callable(function) else set()
    meta |= {**about, **own}
    return meta, {f"{name}/{at}": array for name, part in parts.items() for at, array in part[1].items()}


def _name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _functions_in(plain: Any) -> set[str]:
    """The names of the functions that a kernel is made of."""
    if not isinstance(plain, dict):
        return set()
    found = {plain["function"]} if "function" in plain else set()
    parameters = plain.get("parameters", {})
    if plain.get("kernel") == "Custom":
        found.add(parameters["name"]["value"])
    return found.union(*(_functions_in(value) for value in parameters.values()))


def _own(what: str, plain: Any, functions: Functions) -> Any:
    """A function of the user's by its name; what is none is given back as it is."""
    if not isinstance(plain, dict):
        return plain
    name = plain["function"]
    if name not in functions:
        raise MissingFunction(
            f"the model's {what} is your function {name!r}, which no file holds; give it: "
            f"load(path, functions={{{name!r}: …}})"
        )
    return functions[name]


def _reranker_together(
    meta: dict[str, Any], arrays: dict[str, NDArray[Any]], dressed: bool, functions: Functions
) -> Reranker | RerankingLearner:
    def folder(name: str) -> dict[str, NDArray[Any]]:
        return {at.removeprefix(f"{name}/"): array for at, array in arrays.items() if at.startswith(f"{name}/")}

    features = _own("features", meta.get("features"), functions)  # files of before there were kernels have neither
    structure = _own("structure", meta.get("structure"), functions)
    parts, functions = folder("ranker"), {**functions, "hashed": hashed}  # our own
    learner = _learner_together(meta["ranker"], parts, functions)
    tagger = tagger_together(meta["tagger"], folder("tagger"), dressed)
    if structure is not None:
        structure_of(structure)
    if isinstance(tagger, SequenceLearner):
        if not isinstance(meta["k"], int) or meta["k"] < 1:
            raise ValueError("an impossible k")
        reranker = RerankingLearner(tagger, learner, k=meta["k"], features=features, structure=structure)
        reranker.oracle = float(meta["oracle_"])
        return reranker
    from sklearn.base import clone

    from perceptive.estimators import Reranker

    ranker = _dress(learner, meta["ranker"], parts, functions)
    shape = {name: meta[name] for name in ("k", "folds", "target")}
    kernel = None
    if isinstance(learner, KernelRankingLearner):
        kernel = ranker.kernel.k2.k  # what was added to the features, of the second part of a candidate
        shape["structure"] = structure
    model = Reranker(clone(tagger), ranker=clone(ranker), features=features, kernel=kernel, **shape)
    model._check_parameters()
    model.tagger_, model.ranker_, model.oracle_ = tagger, ranker, float(meta["oracle_"])
    return model


def load_ranker(
    kind: str, meta: dict[str, Any], arrays: dict[str, NDArray[Any]], dressed: bool, functions: Functions
) -> Any:
    """What `save_ranker` wrote, or the learner of it; raises where it does not fit together."""
    if kind in ("Reranker", "RerankingLearner"):
        return _reranker_together(meta, arrays, dressed and kind == "Reranker", functions)
    learner = _learner_together(meta, arrays, functions)
    return _dress(learner, meta, arrays, functions) if dressed and kind.endswith("Ranker") else learner


def _learner_together(
    meta: dict[str, Any], arrays: dict[str, NDArray[Any]], functions: Functions
) -> RankingLearner | KernelRankingLearner:
    return _kernel_together(meta, arrays, functions) if "kernel" in meta else _put_together(meta, arrays)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _take_apart(learner: RankingLearner) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    learner.check_finite()
    meta: dict[str, Any] = {
        "parameters": {name: _plain(value) for name, value in asdict(learner.parameters).items()},
        "n_features": learner.n_features,
        "fingerprint": str(learner.fingerprint),
        "first_pass": learner.first_pass,
        "reading": None if learner.reading is None else learner.reading.to_meta(),
        "problem": None,
        **{name: getattr(learner, name) for name in COUNTS},
    }
    arrays: dict[str, NDArray[Any]] = {}
    if learner.problem is not None:
        meta["problem"], arrays = problem_apart(learner.problem)
    if learner.idf is not None:
        arrays["idf"] = learner.idf
    if learner.vocabulary is not None:
        arrays |= {f"vocabulary.{name}": array for name, array in learner.vocabulary.to_arrays().items()}
    return meta, arrays


def _put_together(meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> RankingLearner:
    learner = RankingLearner(**meta["parameters"])
    if "vocabulary.blob" in arrays:
        names = ("blob", "offsets", "table")
        learner.vocabulary = Vocabulary.from_arrays(*(arrays[f"vocabulary.{name}"] for name in names))
    if meta["reading"] is not None:
        learner.reading = Reading.from_meta(meta["reading"])
        if learner.reading.has_idf:
            learner.idf = np.ascontiguousarray(arrays["idf"], np.float32)
            if learner.idf.shape != (learner.reading.width,) or not np.isfinite(learner.idf).all():
                raise ValueError("idf does not fit")
    learner.n_features = meta["n_features"]
    if meta["problem"] is not None:
        if not isinstance(learner.n_features, int) or learner.n_features < 0:
            raise ValueError("no features")
        learner.problem = problem_together(meta["problem"], arrays, learner.n_features, None, learner.parameters)
    _counts_together(learner, meta, COUNTS)
    return learner


def _kernel_apart(learner: KernelRankingLearner) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    arrays: dict[str, NDArray[Any]] = {}
    parameters = {f.name: getattr(learner.parameters, f.name) for f in fields(learner.parameters)}
    parameters.pop("kernel")
    meta: dict[str, Any] = {
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "kernel": kernel_to_plain(learner.kernel, arrays),
        "n_features": learner.n_features,
        "fingerprint": str(learner.fingerprint),
        "first_pass": learner.first_pass,
        "reading": None if learner.reading is None else learner.reading.to_meta(),
        "dual": None if learner.dual is None else dual_apart(learner.dual, arrays),
        **{name: getattr(learner, name) for name in (*COUNTS, "seen")},
    }
    return meta, arrays


def _kernel_together(
    meta: dict[str, Any], arrays: dict[str, NDArray[Any]], functions: Functions
) -> KernelRankingLearner:
    kernel = kernel_from_plain(meta["kernel"], arrays, functions)
    learner = KernelRankingLearner(kernel=kernel, **meta["parameters"])
    if meta["dual"] is not None:
        if not _is_count(meta["dual"]["rounds"]) or meta["dual"]["rounds"] >= 2**63:
            raise ValueError("impossible rounds")
        for name, kinds in DUAL.items():
            if arrays[name].dtype.kind not in kinds or arrays[name].ndim != 1:
                raise ValueError(f"{name} of the wrong kind")
        learner.dual = dual_together(Dual(kernel, "binary", 1, learner.parameters), meta["dual"], arrays)
    learner.n_features = meta["n_features"]
    reading = meta.get("reading")  # files of before the command line knew kernel rankers have none
    learner.reading = None if reading is None else Reading.from_meta(reading)
    _counts_together(learner, meta, (*COUNTS, "seen"))
    return learner


def _counts_together(
    learner: RankingLearner | KernelRankingLearner, meta: dict[str, Any], counts: tuple[str, ...]
) -> None:
    learner.fingerprint = int(meta["fingerprint"])
    for name in counts:
        if not _is_count(meta[name]):
            raise ValueError("impossible counts")
        setattr(learner, name, meta[name])
    first = meta["first_pass"]
    if first is not None and not (isinstance(first, list) and len(first) == 2 and all(map(_is_count, first))):
        raise ValueError("an impossible first pass")
    learner.first_pass = None if first is None else (first[0], first[1])
    if learner.n_features is not None and not _is_count(learner.n_features):
        raise ValueError("an impossible number of features")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _dress(
    learner: RankingLearner | KernelRankingLearner,
    meta: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    functions: Functions,
) -> LinearRanker | KernelRanker:
    from perceptive.estimators import KernelRanker, LinearRanker

    model: LinearRanker | KernelRanker
    if isinstance(learner, KernelRankingLearner):
        asked = meta["asked"]
        if asked is not None and not isinstance(asked, str | dict):
            raise ValueError("an impossible kernel")
        kernel = kernel_from_plain(asked, arrays, functions) if isinstance(asked, dict) else asked
        kernel = learner.kernel if kernel is None else kernel
        as_kernel(kernel)
        learner.parameters = replace(learner.parameters, kernel=kernel)  # as it was asked for
        model = KernelRanker(kernel=kernel, **meta["estimator"])
        model.learner_ = learner
    else:
        model = LinearRanker(**meta["estimator"])
        model.learner_ = learner
    model._check_parameters()
    model._history = History.from_meta(meta["history"])
    if "n_features_in_" in meta:
        model.n_features_in_ = int(meta["n_features_in_"])
    if "feature_names_in_" in meta:
        model.feature_names_in_ = np.array(meta["feature_names_in_"], dtype=object)
    return model
