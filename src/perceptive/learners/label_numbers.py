"""Labels as the core takes them: different ones, and their numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any

from perceptive.errors import ExampleError
from perceptive.features import schemes


def different_labels(y: Sequence[Sequence[Any]]) -> dict[Any, None]:
    """Return the labels that occur, without None, in the order of their first tokens; raise for what is no label."""
    try:
        found: dict[Any, None] = dict.fromkeys(chain.from_iterable(y))
        found.pop(None, None)
    except TypeError:
        found = {}
    if found and not any(label != label for label in found):
        return found
    for i, labels in enumerate(y):
        for t, label in enumerate(labels):
            if label is not None and (not isinstance(label, Hashable) or label != label):
                raise ExampleError(f"{label!r} cannot be a label; give strings or whole numbers", i, t)
    return found


def numbered(said: Iterable[Any], index: dict[Any, int]) -> tuple[dict[Any, int], list[list[int]]]:
    """Return the number of each label and choice, as in `core/sequence/choices.hpp`, and the labels of each choice."""
    chosen = [one for one in said if isinstance(one, schemes.Choice)]
    if not chosen:
        return index, []
    numbers = {one: -2 - i for i, one in enumerate(chosen)}
    return {**index, **numbers}, [[index[label] for label in one.labels if label in index] for one in chosen]
