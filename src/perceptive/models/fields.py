"""The fields of files: for every kind of model, and for checkpoints, each field with its type and range.

A file is hostile until it is checked. Its plain values are checked here, before any class sees them: ``from_state`` may
take them for what they are, and compares them with each other and with the arrays. Fields that are not declared are
ignored: a later version may have written them. Parameters are declared in `perceptive.parameters`, and those classes
check them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from perceptive.data.token_values import BOTH, COLUMNS, FEATURES
from perceptive.declarations import Check, anything, boolean, number, one_of, positive, whole
from perceptive.features.schemes import SCHEMES
from perceptive.features.tokens import TOKENISERS
from perceptive.parameters import (
    KernelParameters,
    KernelRankingParameters,
    LinearParameters,
    RankingParameters,
    SequenceParameters,
)

MOST = 2**53  # counts: beyond, a double no longer counts by one
MOST_COLUMNS = 2**31 - 1
NESTED = 210  # levels of values within values: a kernel takes two, and there are 100 within each other at most


@dataclass(frozen=True)
class Optional:
    """A field that older files lack."""

    field: Any


@dataclass(frozen=True)
class Maybe:
    """A field, or None."""

    field: Any


@dataclass(frozen=True)
class Each:
    """A list of values of one kind."""

    field: Any


@dataclass(frozen=True)
class Chosen:
    """A field whose kind the value itself, or what stands beside it, tells."""

    choose: Callable[[Any], Any]


Record = dict[str, Any]  # fields by name; a tuple has them by place


def check(field: Any, value: Any) -> None:
    """Raise ValueError where a value is not what its declaration says."""
    todo = [(field, value, "", 0)]
    while todo:  # no recursion: it is for files to say how deep they are nested
        field, value, where, depth = todo.pop()
        if depth > NESTED:
            raise ValueError(f"{where[:60]}… is nested more than {NESTED} levels deep")
        if isinstance(field, Optional) or (isinstance(field, Maybe) and value is not None):
            todo.append((field.field, value, where, depth))
        elif isinstance(field, Chosen):
            todo.append((field.choose(value), value, where, depth))
        elif isinstance(field, Each | tuple | dict):
            within = _in_record(field, value, where) if isinstance(field, dict) else _in_list(field, value, where)
            todo += [(one, item, at, depth + 1) for one, item, at in within]
        elif not isinstance(field, Maybe) and (wanted := field(value)):
            raise ValueError(f"{where} must be {wanted}")


def _in_list(field: Any, value: Any, where: str) -> Iterator[tuple[Any, Any, str]]:
    length = len(field) if isinstance(field, tuple) else None
    if not isinstance(value, list | tuple) or length not in (None, len(value)):
        raise ValueError(f"{where} must be a list" + ("" if length is None else f" of {length}"))
    for i, item in enumerate(value):
        yield field[i] if isinstance(field, tuple) else field.field, item, f"{where}[{i}]"


def _in_record(fields: Record, value: Any, where: str) -> Iterator[tuple[Any, Any, str]]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{where or 'the header'} must be an object with named values")
    prefix = where and where + "."
    for name, field in fields.items():
        if name in value:
            yield field, value[name], prefix + name
        elif not isinstance(field, Optional):
            raise ValueError(f"{prefix}{name} is missing")


# ---------------------------------------------------------------- kinds of values


def text(value: Any) -> str | None:
    return None if isinstance(value, str) else "a text"


def digits(most: int) -> Check:
    """A whole number from 0 on, below a limit, that is written as digits."""
    limit = len(str(most - 1))

    def check(value: Any) -> str | None:
        sound = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= limit
        return None if sound and int(value) < most else f"digits of a number below {most}"

    return check


def label(value: Any) -> str | None:
    sound = value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    return None if sound else "a string, a finite number, a boolean or None"


def any_number(value: Any) -> str | None:
    """A number, also nan and infinities, that a double holds."""
    sound = isinstance(value, int | float) and not isinstance(value, bool)
    return None if sound and (isinstance(value, float) or abs(value) <= MOST) else "a number"


def parameters_of(declared: type, *others: str) -> Check:
    """Parameters by name, of those that a class declares but for some; the class checks their values."""
    known = {f.name for f in dataclasses.fields(declared)} - set(others)

    def check(value: Any) -> str | None:
        return None if isinstance(value, Mapping) and value.keys() <= known else f"of {', '.join(sorted(known))}"

    return check


def named(value: Any) -> str | None:
    """Values by name that are checked elsewhere."""
    return None if isinstance(value, Mapping) and all(isinstance(name, str) for name in value) else "values by name"


COUNT, FLAG, FINITE = whole(0, maximum=MOST), boolean, number("a finite number", lambda value: True)
NOT_NEGATIVE = number("a finite number, 0 or more", lambda value: value >= 0)
PAIR = (COUNT, COUNT)
LABELS = Each(label)
TEXTS = Each(text)

# ---------------------------------------------------------------- parts

SCALING: Record = {"names": TEXTS, "shift": Each(FINITE), "factor": Each(FINITE)}
READING: Record = {
    "format": text,
    "zero_based": Optional(FLAG),
    "n_features": Optional(Maybe(whole(0))),
    "bits": Optional(Maybe(whole(1, maximum=30))),
    "hash_seed": Optional(whole(0, maximum=2**32 - 1)),
    "interactions": Optional(TEXTS),
    "labelled": Optional(FLAG),
    "label": Optional(text),
    "text_column": Optional(Maybe(text)),
    "categorical": Optional(TEXTS),
    "ignore": Optional(TEXTS),
    "delimiter": Optional(Maybe(text)),
    "quote": Optional(one_of(None)),
    "weight": Optional(Maybe(text)),
    "missing": Optional(one_of(None, "indicator")),
    "scale": Optional(one_of(None, "standard", "max")),
    "scaling": Optional(Maybe(SCALING)),
    "lists": Optional(FLAG),
    "list_weight": Optional(text),
    "apart": Optional(FLAG),
    "words": Optional(TEXTS),
    "labels": Optional(one_of("typed", "numbers", "words")),
    "text": Optional(
        {
            "words": Optional(Maybe((whole(0), whole(0)))),
            "chars": Optional(Maybe((whole(0), whole(0)))),
            "lowercase": Optional(FLAG),
            "weighting": Optional(text),
            "idf": Optional(FLAG),
            "normalize": Optional(FLAG),
        }
    ),
}
PROGRESS: Record = {
    **dict.fromkeys(("rounds", "mistakes", "updates", "touched"), COUNT),
    **dict.fromkeys(("criterion", "norm2", "scale"), FINITE),
    **dict.fromkeys(("radius2", "clock"), NOT_NEGATIVE),
    "norm2_error": Optional(NOT_NEGATIVE),
    "open": Optional(FLAG),
    "mixed_rounds": Optional(COUNT),
    **dict.fromkeys(("mixed_updates", "mixed_mistakes"), Optional(COUNT)),
    **dict.fromkeys(("weighted_updates", "weighted_mistakes"), Optional(NOT_NEGATIVE)),
    "heaviest": Optional(NOT_NEGATIVE),
}
PROBLEM: Record = {"run": PROGRESS, "started": FLAG, "dtype": Optional(one_of("float32", "float64"))}
HISTORY: Record = {
    "mistakes": Optional(Each(COUNT)),
    "updates": Optional(Each(COUNT)),
    "loss": Optional(Each(any_number)),
    "held_out": Optional(Each(any_number)),
    "converged": Optional(FLAG),
    "seconds": Optional(
        Each(dict.fromkeys(("computing", "waiting", "mixing", "transferring"), Optional(NOT_NEGATIVE)))
    ),
}


def _of_examples(value: Any) -> Any:
    """Examples that a kernel has prepared."""
    kind = value.get("kind") if isinstance(value, dict) else None
    return {"kind": one_of("dense", "sparse", "parts", "texts", "trees", "objects"), **EXAMPLES.get(str(kind), {})}


EXAMPLES: dict[str, Record] = {
    "sparse": {"shape": (whole(0), whole(0))},
    "parts": {"parts": Each(Chosen(_of_examples)), "derived": Optional(FLAG)},
    "texts": {"single": FLAG},
}


def _of_kernel(value: Any) -> Any:
    """A kernel: its name, and its parameters, which may hold further kernels; its class checks the rest."""
    parameters = value.get("parameters") if isinstance(value, dict) else None
    names = parameters if isinstance(parameters, dict) else {}
    return {"kernel": text, "parameters": {**dict.fromkeys(names, Chosen(_of_kernel_value))}}


def _of_kernel_value(value: Any) -> Any:
    if not isinstance(value, dict):
        plain = value is None or isinstance(value, bool | str) or any_number(value) is None
        return lambda _: None if plain else "a plain value"
    if "kernel" in value:
        return Chosen(_of_kernel)
    if "array" in value:
        return {"array": text}
    if "examples" in value:
        return {"examples": Chosen(_of_examples), "under": text}
    if "slice" in value:
        return {"slice": (Maybe(whole(-MOST_COLUMNS)),) * 3}
    return {"function": text} if "function" in value else {"value": anything}


KERNEL = Chosen(_of_kernel)
DUAL: Record = {
    "n_outputs": whole(1),
    "rounds": COUNT,
    "open": Optional(FLAG),
    "runs": Each({"updates": COUNT, "radius2": NOT_NEGATIVE}),
    "supports": Maybe(Chosen(_of_examples)),
    "forgetting": Maybe({"next": whole(0), "random": (digits(2**128), digits(2**128), digits(2), digits(2**32))}),
}

# ---------------------------------------------------------------- learners

RUN: Record = {"fingerprint": digits(2**64), "first_pass": Optional(Maybe(PAIR))}
SPACE: Record = {
    "n_features": Maybe(whole(0)),
    "reading": Optional(Maybe(READING)),
    "header": Optional(TEXTS),
    "table": Optional(TEXTS),
    "table_ignore": Optional(TEXTS),
    "table_scaling": Optional(SCALING),
}
CLASSES: Record = {
    "classes": LABELS,
    "announced": FLAG,
    "fixed": Optional(FLAG),
    "temperature": Optional(Maybe(positive)),
}
LISTS: Record = {**RUN, **SPACE, "played": COUNT}
KERNELIZED: Record = {
    **LISTS,
    "ids": Optional(COUNT),
    "seen": COUNT,
    "bits": Optional(whole(1, maximum=30)),
    "kernel": KERNEL,
    "dual": Maybe(DUAL),
}
RANKING: Record = {**LISTS, "parameters": parameters_of(RankingParameters), "ids": COUNT, "problem": Maybe(PROBLEM)}
KERNEL_RANKING: Record = {**KERNELIZED, "parameters": parameters_of(KernelRankingParameters, "kernel")}
SEQUENCE: Record = {
    **RUN,
    "parameters": parameters_of(SequenceParameters),
    "temperature": Optional(Maybe(positive)),
    "text": text,
    "where": text,
    "dictionaries": TEXTS,
    "labels": LABELS,
    "scheme": one_of(*SCHEMES, None),
    "given": one_of("bio", "iob1", "bilou", "bmes", "bmewo", "ioe1", "ioe2", None),
    "recognised": FLAG,
    "settled": Optional(FLAG),
    "longest": Optional(Maybe(whole(1, maximum=2**16 - 1))),
    "label_column": Optional(Chosen(lambda value: text if isinstance(value, str) else Maybe(whole(-MOST_COLUMNS)))),
    "columns": Optional(TEXTS),
    "n_columns": Optional(Maybe(whole(1))),
    "tokeniser": Optional(one_of(*TOKENISERS)),
    "function": Optional({"function": text}),
    "tokens": Optional(one_of(COLUMNS, FEATURES, BOTH)),
    "numbers": Optional(Maybe(whole(0))),
    "named": Optional(FLAG),
}
CANDIDATES = whole(2)


def _one_of_rankers(linear: Record, kernel: Record) -> Chosen:
    return Chosen(lambda value: kernel if isinstance(value, dict) and "kernel" in value else linear)


RERANKING: Record = {
    "tagger": SEQUENCE,
    "ranker": _one_of_rankers(RANKING, KERNEL_RANKING),
    "k": CANDIDATES,
    "folds": Optional(CANDIDATES),
    "target": Optional(one_of("f1", "exact")),
    "oracle_": Optional(Maybe(any_number)),
    "description": Optional(one_of(1, 2, 3, 4)),
    "lookback": Optional(whole(0)),
    "fold_epochs": Optional(Maybe(whole(1))),
    "features": Optional(Maybe({"function": text})),
    "structure": Optional(Maybe(Chosen(lambda value: {"function": text} if isinstance(value, dict) else text))),
}
LEARNERS: dict[str, Record] = {
    "LinearLearner": {
        **LISTS,
        **CLASSES,
        "parameters": parameters_of(LinearParameters),
        "ids": COUNT,
        "provisional": Optional(FLAG),
        "problems": Each({"pair": Each(whole(0)), **PROBLEM}),
    },
    "KernelLearner": {
        **KERNELIZED,
        **CLASSES,
        "parameters": parameters_of(KernelParameters, "kernel"),
        "takes_objects": FLAG,
    },
    "RankingLearner": RANKING,
    "KernelRankingLearner": KERNEL_RANKING,
    "SequenceLearner": SEQUENCE,
    "RerankingLearner": RERANKING,
}

# ---------------------------------------------------------------- estimators and checkpoints

ESTIMATOR: Record = {
    "estimator": named,
    "history": HISTORY,
    "n_features_in_": Optional(whole(0)),
    "feature_names_in_": Optional(TEXTS),
}
ASKED: Record = {"asked": Maybe(Chosen(lambda value: KERNEL if isinstance(value, dict) else text))}
CLASSIFIER: Record = {**ESTIMATOR, "class_kind": text}
ESTIMATORS: dict[str, Record] = {
    "LinearClassifier": {**LEARNERS["LinearLearner"], **CLASSIFIER},
    "KernelClassifier": {**LEARNERS["KernelLearner"], **CLASSIFIER, **ASKED},
    "LinearRanker": {**RANKING, **ESTIMATOR},
    "KernelRanker": {**KERNEL_RANKING, **ESTIMATOR, **ASKED},
    "SequenceTagger": {**SEQUENCE, **ESTIMATOR},
}
ESTIMATORS["Reranker"] = {
    **RERANKING,
    "tagger": ESTIMATORS["SequenceTagger"],
    "ranker": _one_of_rankers(ESTIMATORS["LinearRanker"], ESTIMATORS["KernelRanker"]),
    "folds": CANDIDATES,
    "target": one_of("f1", "exact"),
}
PIPELINE: Record = {"steps": (text, text), "text": named, "kind": one_of(*ESTIMATORS), "model": named}
MODELS = LEARNERS | ESTIMATORS | {"Pipeline": PIPELINE}
CHECKPOINT: Record = {
    "kind": one_of(*LEARNERS),
    "made_from": named,
    "training": named,
    "history": HISTORY,
    "before": (COUNT, COUNT, any_number),
    "streamed": FLAG,
    **dict.fromkeys(("epoch", "block", "chunk", "best_epoch", "rounds_before"), COUNT),
    "learner": named,
    "best": Maybe(named),
    "dataset": Maybe(named),
}
DATASETS: dict[str, Record] = {  # of learners whose datasets keep something while they are played
    "KernelLearner": {"first_id": Maybe(COUNT), "blocks": {"busy": FLAG}},
    "KernelRankingLearner": {"first_id": Maybe(COUNT)},
}


def check_checkpoint(meta: Any) -> None:
    """Raise ValueError where these are not the plain values of a checkpoint; its learners are checked on their own."""
    check(CHECKPOINT, meta)
    if meta["dataset"] is not None:
        check({"dataset": DATASETS.get(meta["kind"], {})}, meta)
