"""Sentences and labels as they are given: in lists, of tokens of some kind."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from perceptive.features import schemes


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
    """The number of each label and choice, as `core/choices.hpp` has them, and the labels of each choice."""
    chosen = [one for one in said if isinstance(one, schemes.Choice)]
    if not chosen:
        return index, []
    numbers = {one: -2 - i for i, one in enumerate(chosen)}
    return {**index, **numbers}, [[index[label] for label in one.labels if label in index] for one in chosen]
