"""A `SequenceLearner` as plain values and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptive.data.token_values import Tokens
from perceptive.features.presets import PRESETS
from perceptive.features.templates import Templates
from perceptive.features.tokens import TOKENISERS
from perceptive.kernels.storage import function_of, name_of
from perceptive.state import Meta, State, array_of, below, check_labels, pair_or_none, plain

if TYPE_CHECKING:
    from perceptive.learners.sequence import SequenceLearner

MODEL = "model."  # before the names of the core's arrays


def is_preset(template: Any) -> bool:
    """Whether templates are known by a name."""
    return isinstance(template, str) and (template in ("auto", "attributes") or template in PRESETS)


def plain_template(template: Any, learner: SequenceLearner) -> Any:
    """A template as JSON has it: a preset's name, or the text of what the learner has."""
    assert learner.templates is not None
    return template if is_preset(template) else learner.templates.text


def state_of(learner: SequenceLearner, learned: Any = None) -> State:
    """All that a learner is; ``learned``: its snapshot, where that is another."""
    templates, p = learner.templates, learner.parameters
    if templates is None or learner.model is None:
        raise ValueError("this learner has learned nothing yet; let it learn before it is saved")
    parameters = {f.name: plain(getattr(p, f.name)) for f in fields(p) if f.name != "template"}
    model, fingerprint = learner.snapshot() if learned is None else learned
    words, own_function = _dictionaries(templates), learner.features is not None and p.template != "attributes"
    meta = {
        "parameters": {**parameters, "template": plain_template(p.template, learner)},
        "text": templates.text,
        "where": templates.where,
        "dictionaries": [name for name, _ in words],
        "labels": check_labels(list(map(plain, learner.labels))),
        **learner.labelling.state(),
        "label_column": learner.label_column,
        "columns": list(learner.columns),
        "n_columns": learner.n_columns,
        "tokeniser": learner.tokeniser,
        **({"function": {"function": name_of(learner.features)}} if own_function else {}),
        **({} if learner.tokens is None else {"tokens": learner.tokens.kind, "numbers": learner.tokens.numbers}),
        "fingerprint": str(fingerprint),
        "first_pass": None if learner.first_epoch is None else list(learner.first_epoch),
        "temperature": learner.temperature,
    }
    arrays = {MODEL + name: array for name, array in model.items()}
    for i, (_, some) in enumerate(words):
        arrays[f"dictionary{i}"] = np.frombuffer("\n".join(some).encode(), np.uint8)
    return State(meta, arrays)


def parameters_from(state: State, functions: Mapping[str, Any]) -> Meta:
    """The parameters of a learner; raises ValueError where they cannot be, or where a function is missing."""
    parameters = state.meta["parameters"]
    if parameters.get("template") == "attributes":
        return dict(parameters)
    function = function_of("template", state.meta.get("function"), functions)
    return {**parameters, "template": _templates_from(state) if function is None else function}


def restore_state(learner: SequenceLearner, state: State) -> None:
    """Give a new learner what `state_of` took from another; raises ValueError where it does not fit together."""
    meta = state.meta
    learner.labelling.restore(meta)
    in_scheme = meta["scheme"] is not None or meta["given"] is not None
    if in_scheme and not all(isinstance(label, str) and label for label in meta["labels"]):
        raise ValueError("the labels of a scheme must be texts that are not empty")
    learner.columns = tuple(meta.get("columns", ()))
    learner.label_column, learner.n_columns = _columns_from(meta)
    learner.tokeniser = meta.get("tokeniser", TOKENISERS[0])  # models of earlier builds have no such field
    learner.meet_labels(meta["labels"])
    if len(learner.labels) != len(meta["labels"]):
        raise ValueError("labels are not all different")
    learner.restore((below(state.arrays, MODEL), int(meta["fingerprint"])))
    learner.first_epoch = pair_or_none(meta.get("first_pass"))
    learner.temperature = meta.get("temperature")
    if "tokens" in meta:
        learner.tokens = Tokens(meta["tokens"], meta.get("numbers"))


def _templates_from(state: State) -> Templates:
    text, where, names = (state.meta[name] for name in ("text", "where", "dictionaries"))
    blobs = [array_of(state.arrays, f"dictionary{i}", np.uint8, (None,)).tobytes().decode() for i in range(len(names))]
    words = {name: blob.split("\n") if blob else [] for name, blob in zip(names, blobs, strict=True)}
    templates = Templates(text, where, words, reads=False)
    if [name for name, _ in _dictionaries(templates)] != names:
        raise ValueError("dictionaries and templates do not match")
    return templates


def _dictionaries(templates: Templates) -> list[tuple[str, list[str]]]:
    """All that are known, with their words."""
    every = [*templates.dictionaries.items(), *templates.phrases.items()]
    return [(name, words) for name, words in every if name not in templates.unlearned]


def _columns_from(meta: Meta) -> tuple[int | str | None, int | None]:
    """The column of labels and how many columns there are; files of before they were remembered have neither."""
    column, n = meta.get("label_column"), meta.get("n_columns")
    chosen = isinstance(column, str) or meta.get("columns")  # a name, or the number of a column of the file
    if (column is None) != (n is None) or (n is not None and not chosen and not -n <= column < n):
        raise ValueError(f"label_column is {column}, of {n} columns")
    return column, n
