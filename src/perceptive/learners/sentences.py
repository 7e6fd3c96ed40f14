"""Sentences and labels as they are given: in lists, of tokens of some kind."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from perceptive import _core
from perceptive.features import schemes
from perceptive.learners.labelling import Labelling

Features = Callable[[Sequence[Any], int], dict[str, Any] | Iterable[str]]


def guess(X: Sequence[Any], y: Sequence[Sequence[Any]]) -> str:
    """The preset that fits the tokens."""
    token = X[0][0]
    if isinstance(token, dict):
        return "@label[-1]"
    if isinstance(token, list | tuple) and len(token) > 1:
        return "chunking"
    return "ner" if schemes.recognise(y) else "pos"


def as_lists(X: Sequence[Any]) -> list[Any]:
    """Sequences as lists, as the core reads them; what is a list already is not copied."""
    if isinstance(X, str | bytes) or not isinstance(X, Iterable):
        raise TypeError(f"sequences must come in a list, not in a {type(X).__name__}")
    if type(X) is list and all(type(x) is list for x in X):
        return X
    rows = []
    for i, x in enumerate(X):
        if isinstance(x, str | bytes) or not isinstance(x, Iterable):
            raise TypeError(f"sentence {i} is a {type(x).__name__}; give a list, one entry a token")
        rows.append(x if type(x) is list else x.tolist() if isinstance(x, np.ndarray) else list(x))
    return rows


def paired(X: Sequence[Any], y: Sequence[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
    """Sentences and labels as lists; raises where they do not fit each other."""
    X, y = as_lists(X), as_lists(y)
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} sentences, but y has {len(y)}; give one list of labels a sentence")
    if not X:
        raise ValueError("there are no sentences; give at least one")
    for i, sentence in enumerate(X):
        if not sentence:
            raise ValueError(f"sentence {i} is empty; leave it out")
        if len(sentence) != len(y[i]):
            raise ValueError(f"sentence {i} has {len(sentence)} tokens, but {len(y[i])} labels; give one a token")
    return X, y


def featured(X: Sequence[Any], features: Features) -> list[list[dict[str, Any]]]:
    """What a function of the user's says of each token."""
    found = []
    for i, x in enumerate(X):
        tokens = [features(x, t) for t in range(len(x))]
        for t, one in enumerate(tokens):
            if isinstance(one, str) or not isinstance(one, Iterable):
                raise TypeError(
                    f"sentence {i}, token {t}: the template's function gave a {type(one).__name__}; "
                    "give a dict of features, or a list of names"
                )
        found.append([one if isinstance(one, dict) else dict.fromkeys(one, 1.0) for one in tokens])
    return found


def different_labels(y: Sequence[Sequence[Any]]) -> dict[Any, None]:
    """The labels there are."""
    try:
        found = dict.fromkeys(label for labels in y for label in labels if label is not None)
    except TypeError:
        found = {}
    if found and not any(label != label for label in found):
        return found
    for i, labels in enumerate(y):
        for t, label in enumerate(labels):
            if label is not None and (not isinstance(label, Hashable) or label != label):
                raise ValueError(f"sentence {i}, token {t}: {label!r} is no label; give strings or whole numbers")
    return found


def in_order(labels: Iterable[Any]) -> list[Any]:
    labels = list(labels)
    try:
        return sorted(labels)
    except TypeError:
        return labels


def only_labels(said: Iterable[Any]) -> list[Any]:
    """Labels without choices of some."""
    return [one for one in said if not isinstance(one, schemes.Choice)]


def numbered(said: Iterable[Any], index: dict[Any, int]) -> tuple[dict[Any, int], list[list[int]]]:
    """The number of each label and choice, as `core/sequence/choices.hpp` has them, and the labels of each choice."""
    chosen = [one for one in said if isinstance(one, schemes.Choice)]
    if not chosen:
        return index, []
    numbers = {one: -2 - i for i, one in enumerate(chosen)}
    return {**index, **numbers}, [[index[label] for label in one.labels if label in index] for one in chosen]


def forced_labels(forced: Sequence[Sequence[Any]], labelling: Labelling, within: list[Any]) -> _core.Forced:
    """Labels of the user's that are wanted, as the core takes them; ``within`` are those that it knows, in order."""
    index = {label: i for i, label in enumerate(within)}
    given = as_lists(forced)
    for i, labels in enumerate(given):
        for t, label in enumerate(labels):
            if label is not None and not labelling.knows(label, index):
                known = in_order(dict.fromkeys(labelling.names(within)))
                raise ValueError(f"forced, sentence {i}, token {t}: {label!r} is none of the labels {known!r}")
    if labelling.given is not None:
        given = [labelling.choices(labels, within) for labels in given]
    return _core.Forced(given, *numbered(different_labels(given), index))
