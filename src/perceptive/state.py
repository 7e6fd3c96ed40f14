"""The state of a part of a model: plain values and arrays, checked when they come back from a file.

Every part that is saved has ``state()`` and ``from_state()``. A file is hostile until it is checked: each value that is
read has a type and a range here, and what does not fit raises ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
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


def keywords(meta: Mapping[str, Any], name: str, known: Iterable[str]) -> Meta:
    """Arguments by name from a file, all of them known."""
    value = meta.get(name)
    if not isinstance(value, dict) or not value.keys() <= set(known):
        raise ValueError(f"{name} must be values by name, of {', '.join(known)}")
    return value


def number_or_nan(meta: Mapping[str, Any], name: str) -> float:
    """A number from a file; nan where it is not known."""
    value = meta.get(name)
    if value is None:
        return math.nan
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{name} must be a number")
    return float(value)


def not_negative(meta: Mapping[str, Any], name: str) -> float:
    """A finite number ≥ 0 from a file."""
    value = meta[name]
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a finite number, 0 or more")
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


def array_of(arrays: Mapping[str, NDArray[Any]], name: str, dtype: Any, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """An array from a file without NaN and inf, of this type and shape; None stands for any length."""
    array = arrays[name]
    fits = len(array.shape) == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    if array.dtype != dtype or not fits:
        wanted = " × ".join("n" if n is None else str(n) for n in shape)
        raise ValueError(f"{name} must hold {wanted} numbers of type {np.dtype(dtype)}")
    return check_finite(name, array)
