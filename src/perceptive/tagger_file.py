"""A sequence learner, or the estimator around it, in a model file."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import model_file
from perceptive.features.presets import PRESETS
from perceptive.features.templates import Templates
from perceptive.learners.sequence import SequenceLearner
from perceptive.model_file import ModelFileError
from perceptive.training import History

if TYPE_CHECKING:
    from perceptive.estimators import SequenceTagger

MODEL = "model."


def save_tagger(model: object, path: str | os.PathLike[str]) -> bool:
    """Write a sequence learner or tagger to a file; returns whether it was one."""
    if isinstance(model, SequenceLearner):
        model_file.write(path, "SequenceLearner", *_take_apart(model))
        return True
    if type(model).__name__ != "SequenceTagger":  # without importing scikit-learn for other models
        return False
    from perceptive.estimators import SequenceTagger

    assert isinstance(model, SequenceTagger)
    model_file.write(path, "SequenceTagger", *tagger_apart(model))
    return True


def tagger_apart(model: SequenceTagger | SequenceLearner) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A tagger, or its learner, as plain values and arrays."""
    if isinstance(model, SequenceLearner):
        return _take_apart(model)
    if not model.__sklearn_is_fitted__():
        raise ValueError("this SequenceTagger has not learned anything; fit it before it is saved")
    meta, arrays = _take_apart(model.learner_)
    meta["estimator"] = {
        **_plain_values(model.get_params()),
        "template": _plain_template(model.template, model.learner_),
    }
    meta["history"] = asdict(model._history)
    return meta, arrays


def tagger_together(
    meta: dict[str, Any], arrays: dict[str, NDArray[Any]], dressed: bool = True
) -> SequenceTagger | SequenceLearner:
    """What `tagger_apart` gave, or the learner of it; raises where it does not fit together."""
    try:
        learner = _put_together(meta, arrays)
        return _dress(learner, meta) if dressed else learner
    except MemoryError:
        raise ValueError("it needs more memory than there is") from None


def load_tagger(path: str | os.PathLike[str], kind: str, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    """Make again what `save_tagger` took apart."""
    try:
        return tagger_together(meta, arrays, kind != "SequenceLearner")
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError, RuntimeError) as error:
        raise ModelFileError(f"{os.fspath(path)}: the model does not fit together ({error}); save it again") from None


def _plain_template(template: Any, learner: SequenceLearner) -> Any:
    """A template as JSON has it: a preset's name, or the text of what the learner has."""
    assert learner.templates is not None
    return template if _is_name(template) else learner.templates.text


def _is_name(template: Any) -> bool:
    return isinstance(template, str) and (template == "auto" or template in PRESETS)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _plain_values(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in values.items()}


def _take_apart(learner: SequenceLearner) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    if learner.templates is None or learner.model is None:
        raise ValueError("this learner has learned nothing yet; let it learn before it is saved")
    if learner.features is not None:
        raise ModelFileError("features made by a function cannot be saved; write them as templates")
    labels = list(map(_plain, learner.labels))
    for label in labels:
        if not isinstance(label, str | int | float | bool):
            raise ModelFileError(f"label {label!r} cannot be saved; use strings, numbers or booleans")
    parameters = {f.name: _plain(getattr(learner.parameters, f.name)) for f in fields(learner.parameters)}
    parameters["template"] = _plain_template(learner.parameters.template, learner)
    meta = {
        "parameters": parameters,
        "text": learner.templates.text,
        "where": learner.templates.where,
        "dictionaries": [*learner.templates.dictionaries, *learner.templates.phrases],
        "longest": learner.longest,
        "labels": labels,
        "scheme": learner.scheme,
        "given": learner.given,
        "recognised": learner.labelling.recognised,
        "settled": learner.labelling.settled,
        "label_column": learner.label_column,
        "n_columns": learner.n_columns,
        "fingerprint": str(learner.core.fingerprint),
        "first_pass": learner.first_pass,
        "temperature": learner.temperature,
    }
    arrays = {MODEL + name: array for name, array in learner.arrays().items()}
    every = [*learner.templates.dictionaries.values(), *learner.templates.phrases.values()]
    for i, words in enumerate(every):
        arrays[f"dictionary{i}"] = np.frombuffer("\n".join(words).encode(), np.uint8)
    return meta, arrays


def _put_together(meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> SequenceLearner:
    blobs = [bytes(arrays[f"dictionary{i}"]).decode() for i in range(len(meta["dictionaries"]))]
    words = {name: blob.split("\n") if blob else [] for name, blob in zip(meta["dictionaries"], blobs, strict=True)}
    templates = Templates(meta["text"], meta["where"], words, reads=False)
    if [*templates.dictionaries, *templates.phrases] != meta["dictionaries"]:
        raise ValueError("dictionaries and templates do not match")
    learner = SequenceLearner(**{**meta["parameters"], "template": templates})
    written = learner.labelling
    written.scheme, written.given, written.recognised = meta["scheme"], meta["given"], bool(meta["recognised"])
    written.settled = bool(meta.get("settled", False)) and written.scheme is not None
    learner.label_column, learner.n_columns = _columns(meta.get("label_column"), meta.get("n_columns"))
    if learner.scheme not in ("bio", "iob1", "bioes", None) or learner.given not in ("bio", "iob1", None):
        raise ValueError("an unknown scheme")
    learner.longest = meta["longest"]
    learner.meet_labels(meta["labels"])
    if len(learner.labels) != len(meta["labels"]):
        raise ValueError("labels are not all different")
    try:
        learner.core.restore({name[len(MODEL) :]: array for name, array in arrays.items() if name.startswith(MODEL)})
    except RuntimeError:  # a cast of the core's
        raise ValueError("an array of another type than it should have") from None
    learner.core.fingerprint = int(meta["fingerprint"]) % 2**64
    learner.first_pass = None if meta["first_pass"] is None else tuple(meta["first_pass"])
    learner.temperature = None if meta["temperature"] is None else float(meta["temperature"])
    if learner.temperature is not None and not 0 < learner.temperature < math.inf:
        raise ValueError("an impossible temperature")
    return learner


def _columns(label: Any, n: Any) -> tuple[int | None, int | None]:
    """The column of labels, and how many columns there are."""
    if label is None and n is None:
        return None, None
    if type(label) is not int or type(n) is not int or not -n <= label < n:
        raise ValueError("an impossible column of labels")
    return label, n


def _dress(learner: SequenceLearner, meta: dict[str, Any]) -> SequenceTagger:
    from perceptive.estimators import SequenceTagger

    tagger = SequenceTagger(**meta["estimator"])
    assert learner.templates is not None
    if not _is_name(tagger.template):  # what was trained: a clone learns without any file
        text = learner.templates.text
        tagger.template = text if "\n" in text and not meta["dictionaries"] else learner.templates
    tagger._training()
    tagger.learner_ = learner
    tagger._history = History.from_meta(meta["history"])
    return tagger
