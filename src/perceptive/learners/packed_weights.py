"""Weights as a file holds them: where few were changed by learning only those, each in as few bytes as lose no bit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.state import Arrays, array_of, check_finite

START = {"z": 0.0, "sum": 0.0, "sigma": 1.0}  # what a weight is before anything is learned
AT = "at"  # where the weights are that are held, counted row by row
UNIT = "unit."  # before a name: the number that its whole numbers of one byte are multiples of
MOST = 127  # of these
Way = tuple[np.dtype[Any], float | None]  # the type of numbers that are written, and what they are multiples of
PART = 1 << 16  # weights that are looked at at a time, so that no copy is made of all


def pack(weights: Arrays) -> Arrays:
    """Weights that learning has changed, where leaving out the others makes them fewer bytes; all are copied."""
    size = weights["z"].size
    n = sum(int(np.count_nonzero(found)) for _, found in _changed(weights))
    ways = {name: _narrowest(array) for name, array in weights.items()}
    if not _saves(n, size, ways):
        return _written(weights, ways)
    at, values = np.empty(n, _index(size)), {name: np.empty(n, array.dtype) for name, array in weights.items()}
    each, end = size // len(weights["z"]), 0
    for rows, found in _changed(weights):
        here = np.flatnonzero(found)
        begin, end = end, end + len(here)
        at[begin:end] = here + rows.start * each
        for name, array in weights.items():
            values[name][begin:end] = array[rows].reshape(-1)[here]
    return {AT: at} | _written(values, ways)


def changed(weights: Arrays) -> NDArray[np.int64]:
    """Where weights are that are not at their start, counted row by row."""
    each = math.prod(weights["z"].shape[1:])
    found = [np.flatnonzero(found) + rows.start * each for rows, found in _changed(weights)]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _changed(weights: Arrays) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
    """Some rows after the other, and which of their weights are not at their start."""
    for rows in _parts(weights["z"]):
        found = np.zeros(weights["z"][rows].shape, bool)
        for name, array in weights.items():
            found |= _bits(array[rows]) != _bits(np.array(START[name], array.dtype))
        yield rows, found


def pack_cells(at: NDArray[np.int64], values: Arrays, size: int) -> Arrays | None:
    """Of weights of this size those that are not at their start; None where all would be fewer bytes."""
    others = len(at) < size
    ways = {name: _narrowest(np.append(array, np.array([START[name]] if others else [], array.dtype)))
            for name, array in values.items()}  # fmt: skip
    return {AT: at.astype(_index(size))} | _written(values, ways) if _saves(len(at), size, ways) else None


def _saves(n: int, size: int, ways: Mapping[str, Way]) -> bool:
    """Whether n weights with their places take fewer bytes than all."""
    each = sum(way.itemsize for way, _ in ways.values())
    return n * (each + _index(size).itemsize) < size * each


def _index(size: int) -> np.dtype[Any]:
    """What places of so many weights are written as."""
    return np.dtype(np.uint32 if size <= 2**32 else np.uint64)


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
    largest = float(np.maximum(values.max(initial=0.0), -values.min(initial=0.0)))
    _, exponent = math.frexp(largest)
    unit = math.ldexp(1.0, exponent - 7)
    return unit if largest <= MOST * unit else 2 * unit


def _written(arrays: Arrays, ways: Mapping[str, Way]) -> Arrays:
    packed: Arrays = {}
    for name, (way, unit) in ways.items():
        array = arrays[name]
        packed[name] = (array if unit is None else array / unit).astype(way)
        if unit is not None:
            packed[UNIT + name] = np.array([unit])
    return packed


def _narrowest(array: NDArray[Any]) -> Way:
    """One byte and the unit of whole numbers, or float16, where these hold every bit."""
    parts = [array[rows] for rows in _parts(array)]
    if all(_is_whole(part, whole_unit(part)) for part in parts):  # those of all are multiples of these
        unit = whole_unit(array)
        if all(_is_whole(part, unit) for part in parts):
            return np.dtype(np.int8), unit
    return np.dtype(np.float16) if all(map(_fits_half, parts)) else array.dtype, None


def _parts(array: NDArray[Any]) -> list[slice]:
    """Some rows after the other."""
    step = max(1, PART // max(1, math.prod(array.shape[1:])))
    return [slice(i, i + step) for i in range(0, len(array), step)]


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
