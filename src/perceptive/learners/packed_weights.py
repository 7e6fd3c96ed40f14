"""Weights as a file holds them: where few were changed by learning only those, each in as few bytes as lose no bit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.state import Arrays, array_of, check_finite

START = {"z": 0.0, "sum": 0.0, "sigma": 1.0}  # what a weight is before anything is learned
AT = "at"  # where the weights are that are held, counted row by row
UNIT = "unit."  # before a name: the number that its whole numbers of one byte are multiples of
MOST = 127  # of these
Way = tuple[np.dtype[Any], float | None]  # the type of numbers that are written, and what they are multiples of
FEW = 1024  # weights that were changed, and are tried before all are


def pack(weights: Arrays) -> Arrays:
    """Weights that learning has changed, where leaving out the others makes them fewer bytes."""
    at, size = changed(weights), weights["z"].size
    values = {name: array.reshape(-1)[at] for name, array in weights.items()}
    return pack_cells(at, values, size) or _written(weights, _ways(values, len(at) < size))


def changed(weights: Arrays) -> NDArray[np.int64]:
    """Where weights are that are not at their start, counted row by row."""
    found = np.zeros(weights["z"].shape, bool)
    for name, array in weights.items():
        found |= _bits(array) != _bits(np.array(START[name], array.dtype))
    return np.flatnonzero(found)


def pack_cells(at: NDArray[np.int64], values: Arrays, size: int) -> Arrays | None:
    """Of weights of this size those that are not at their start; None where all would be fewer bytes."""
    kind = np.dtype(np.uint32 if size <= 2**32 else np.uint64)
    ways = _ways(values, len(at) < size)
    each = sum(way.itemsize for way, _ in ways.values())
    if len(at) * (each + kind.itemsize) >= size * each:
        return None
    return {AT: at.astype(kind)} | _written(values, ways)


def unpack(arrays: Mapping[str, NDArray[Any]], weights: Arrays) -> None:
    """Write what `pack` gave into weights at their start; raises ValueError where it does not fit.

    What a file left out is not written to: a small file stays small in memory, whatever width it declares.
    """
    z = weights["z"]
    at, values = unpack_cells(arrays, list(weights), z.dtype, z.shape)
    for name, array in weights.items():
        if at is None:
            array[:] = values[name]
        else:
            array.reshape(-1)[at] = values[name]


def unpack_cells(
    arrays: Mapping[str, NDArray[Any]], names: Sequence[str], dtype: np.dtype[Any], shape: tuple[int, ...]
) -> tuple[NDArray[Any] | None, Arrays]:
    """Where the weights are that `pack` gave, or None for all, and these; raises ValueError where they do not fit."""
    at, size = arrays.get(AT), math.prod(shape)
    if at is not None:
        rising = at.ndim == 1 and at.dtype in (np.uint32, np.uint64) and not (at[1:] <= at[:-1]).any()
        if not rising or (at[-1:] >= size).any():
            raise ValueError(f"{AT} must hold rising numbers below {size}")
        shape = at.shape
    return at, {name: _widen(arrays, name, dtype, shape) for name in names}


def whole_unit(values: NDArray[Any]) -> float:
    """The smallest power of two of which all values are at most 127 times as large."""
    _, exponent = math.frexp(float(np.abs(values).max(initial=0.0)))
    unit = math.ldexp(1.0, exponent - 7)
    return unit if np.abs(values).max(initial=0.0) <= MOST * unit else 2 * unit


def _ways(values: Arrays, others: bool) -> dict[str, Way]:
    """How each array is written, where there are others at their start, too."""
    ways = {}
    for name, array in values.items():
        start = np.array([START[name]] if others else [], array.dtype)  # one stands for all
        ways[name] = _narrowest(np.concatenate([array, start]))
    return ways


def _written(arrays: Arrays, ways: Mapping[str, Way]) -> Arrays:
    packed: Arrays = {}
    for name, (way, unit) in ways.items():
        array = arrays[name]
        packed[name] = (array if unit is None else array / unit).astype(way, copy=False)
        if unit is not None:
            packed[UNIT + name] = np.array([unit])
    return packed


def _narrowest(array: NDArray[Any]) -> Way:
    """One byte and the unit of whole numbers, or float16, where these hold every bit; some are tried first."""
    some = array[:FEW]
    if _is_whole(some, whole_unit(some)) and _is_whole(array, unit := whole_unit(array)):
        return np.dtype(np.int8), unit
    return np.dtype(np.float16) if _fits_half(some) and _fits_half(array) else array.dtype, None


def _widen(arrays: Mapping[str, NDArray[Any]], name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    narrow = arrays[name].dtype
    if narrow == np.int8:
        [unit] = array_of(arrays, UNIT + name, np.float64, (1,))
        with np.errstate(over="ignore"):
            return check_finite(name, (array_of(arrays, name, np.int8, shape) * unit).astype(dtype))
    if narrow == np.float16:
        return array_of(arrays, name, np.float16, shape).astype(dtype)
    return array_of(arrays, name, dtype, shape)


def _is_whole(array: NDArray[Any], unit: float) -> bool:
    """Whether all are whole multiples of a unit, none of them −0."""
    with np.errstate(all="ignore"):
        whole = array / unit
    plain = (whole == np.rint(whole)).all() and np.abs(whole).max(initial=0.0) <= MOST
    return bool(plain and not np.signbit(array[array == 0]).any())


def _fits_half(array: NDArray[Any]) -> bool:
    with np.errstate(over="ignore", under="ignore"):
        return bool((_bits(array.astype(np.float16).astype(array.dtype)) == _bits(array)).all())


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    """Bits to compare: −0 is not 0."""
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))
