"""The libraries we measure ourselves against, one file each, behind one small interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

SPEED = ("scikit_learn", "liblinear")
ONLINE = ("river",)


@dataclass(frozen=True)
class Rival:
    """A learner.

    ``kind`` is "last", "averaged", "pa1", "pa1 averaged" or "svm": learners of one kind do the same thing.
    ``fit(X, y, epochs, seed)`` gives an object with ``predict(X)``. What ``prepare(X, y)`` does, a translation of the
    data into the rival's own form, is not timed.
    """

    name: str
    kind: str
    fit: Callable[[Any, Any, int, int], Any]
    prepare: Callable[[Any, Any], tuple[Any, Any]] = lambda X, y: (X, y)
    multiclass: bool = True


def load(names: tuple[str, ...]) -> list[Rival]:
    """The rivals of these files; those not installed are named and left out."""
    found: list[Rival] = []
    for name in names:
        try:
            found += import_module(f"rivals.{name}").RIVALS
        except ImportError as error:
            print(f"{name}: left out, it is not installed ({error})")
    return found
