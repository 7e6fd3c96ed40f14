"""The state of a part of a model: plain values and arrays, checked when they come back from a file.

Every part that is saved has ``state()`` and ``from_state()``. A file is hostile until it is checked: each value that is
read has a type and a range here, and what does not fit raises ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
Meta = dict[str, Any]


class State(NamedTuple):
    """Plain values, and arrays by name."""

    meta: Meta
    arrays: Arrays

    def within(self, prefix: str) -> State:
        """The same with the names of the arrays below a prefix."""
        return State(self.meta, {prefix + name: array for name, array in self.arrays.items()})


def below(arrays: Mapping[str, NDArray[Any]], prefix: str) -> Arrays:
    """The arrays whose names begin with a prefix, without it."""
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}


def plain(value: Any) -> Any:
    """A value as JSON has it: NumPy's numbers and arrays become Python's, a dict becomes a list of pairs."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [[plain(key), plain(item)] for key, item in value.items()] if isinstance(value, dict) else value


def plain_values(values: Mapping[str, Any]) -> Meta:
    """`plain` of each value."""
    return {name: plain(value) for name, value in values.items()}


def check_labels(labels: list[Any]) -> list[Any]:
    """Labels that a file can hold."""
    for label in labels:
        if not isinstance(label, str | int | float | bool | None):
            raise ValueError(f"label {label!r} cannot be saved; use strings, numbers, booleans or None")
    return labels


def whole(meta: Mapping[str, Any], name: str, low: int = 0, high: int = 2**63 - 1) -> int:
    """A whole number from a file."""
    value = meta[name]
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}")
    return value


def whole_or_none(meta: Mapping[str, Any], name: str, low: int = 0, high: int = 2**63 - 1) -> int | None:
    """A whole number from a file, or None."""
    return None if meta.get(name) is None else whole(meta, name, low, high)


def pair_or_none(meta: Mapping[str, Any], name: str) -> tuple[int, int] | None:
    """Two counts from a file, or None."""
    value = meta.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"{name} must be two whole numbers")
    return whole({name: value[0]}, name), whole({name: value[1]}, name)


def positive_or_none(meta: Mapping[str, Any], name: str) -> float | None:
    """A finite number above 0 from a file, or None."""
    value = meta.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a finite number above 0")
    return float(value)


def hash_of(meta: Mapping[str, Any], name: str = "fingerprint") -> int:
    """64 bits from a file, which are written as digits."""
    value = meta[name]
    if not isinstance(value, str) or not value.isascii() or not value.isdigit() or len(value) > 20:
        raise ValueError(f"{name} must be digits")
    return int(value) % 2**64


def check_finite(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """An array from a file without NaN and inf."""
    if not np.isfinite(values).all():
        raise ValueError(f"{name} contains NaN or inf")
    return values
