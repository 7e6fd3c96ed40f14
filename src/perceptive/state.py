"""The state of a part of a model: plain values and arrays, checked when they come back from a file.

Every part that is saved has ``state()`` and ``from_state()``. The plain values of a file have a type and a range, which
`perceptive.models.fields` declares and checks; arrays are checked here, by those who take them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

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


class FileArrays(Arrays):
    """The arrays of a file: one that is missing is a fault of the file, and told by its name."""

    def __missing__(self, name: str) -> NoReturn:
        raise ValueError(f"the array {name} is missing")


def below(arrays: Mapping[str, NDArray[Any]], prefix: str) -> FileArrays:
    """The arrays whose names begin with a prefix, without it."""
    found = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
    return FileArrays(found)


def numbered(arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> defaultdict[int, FileArrays]:
    """The arrays below each of ``0.``, ``1.`` and so on behind a prefix: one look at each, however many there are.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(numbered({"run0.w": np.ones(1), "run1.w": np.ones(1), "x": np.ones(1)}, "run"))
    [0, 1]
    """
    found: defaultdict[int, FileArrays] = defaultdict(FileArrays)
    for name, array in arrays.items():
        number, dot, rest = name[len(prefix) :].partition(".")
        if dot and name.startswith(prefix) and number.isdecimal() and number == str(int(number[:9])):
            found[int(number)][rest] = array
    return found


def plain(value: Any) -> Any:
    """A value as JSON has it: NumPy's numbers and arrays become Python's, a dict becomes a list of pairs."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [[plain(key), plain(item)] for key, item in value.items()] if isinstance(value, dict) else value


def plain_values(values: Mapping[str, Any]) -> Meta:
    return {name: plain(value) for name, value in values.items()}


def check_labels(labels: list[Any]) -> list[Any]:
    """Labels that a file can hold."""
    for label in labels:
        if not isinstance(label, str | int | float | bool | None):
            raise ValueError(f"label {label!r} cannot be saved; use strings, numbers, booleans or None")
    return labels


def pair_or_none(value: Any) -> tuple[int, int] | None:
    """Two counts, which a file has as a list, or None."""
    return None if value is None else (value[0], value[1])


def number_or_nan(value: Any) -> float:
    """A number; nan where it is not known."""
    return math.nan if value is None else float(value)


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
