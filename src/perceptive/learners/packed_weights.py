"""Weights as a file holds them: where few were changed by learning only those, each in as few bytes as lose no bit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.state import Arrays, array_of, check_finite

START = {"z": 0.0, "sum": 0.0, "sigma": 1.0}  # what a weight is before anything is learned
AT = "at"  # where the weights are that are held, counted row by row
UNIT = "unit."  # before a name: the number that its whole numbers of one byte are multiples of
MOST = 127  # of these
FEW = 1024  # weights that were changed, and are tried before all are


def pack(weights: Arrays) -> Arrays:
    """Weights that learning has changed, where leaving out the others makes them fewer bytes."""
    changed = np.zeros(weights["z"].shape, bool)
    for name, array in weights.items():
        changed |= _bits(array) != _bits(np.array(START[name], array.dtype))
    size = changed.size
    kind = np.uint32 if size <= 2**32 else np.uint64
    packed: Arrays = {}
    at = np.flatnonzero(changed)
    for name, array in weights.items():
        packed |= _narrow(name, array, array.reshape(-1)[at[:FEW]])
    each = sum(packed[name].dtype.itemsize for name in weights)
    if len(at) * (each + np.dtype(kind).itemsize) < size * each:
        packed |= {name: packed[name].reshape(-1)[at] for name in weights} | {AT: at.astype(kind)}
    return packed


def unpack(arrays: Mapping[str, NDArray[Any]], weights: Arrays) -> None:
    """Write what `pack` gave into weights at their start; raises ValueError where it does not fit.

    What a file left out is not written to: a small file stays small in memory, whatever width it declares.
    """
    at = arrays.get(AT)
    for name, array in weights.items():
        if at is None:
            array[:] = _widen(arrays, name, array.dtype, array.shape)
            continue
        rising = at.ndim == 1 and at.dtype in (np.uint32, np.uint64) and not (at[1:] <= at[:-1]).any()
        if not rising or (at[-1:] >= array.size).any():
            raise ValueError(f"{AT} must hold rising numbers below {array.size}")
        array.reshape(-1)[at] = _widen(arrays, name, array.dtype, at.shape)


def whole_unit(values: NDArray[Any]) -> float:
    """The smallest power of two of which all values are at most 127 times as large."""
    _, exponent = math.frexp(float(np.abs(values).max(initial=0.0)))
    unit = math.ldexp(1.0, exponent - 7)
    return unit if np.abs(values).max(initial=0.0) <= MOST * unit else 2 * unit


def _narrow(name: str, array: NDArray[Any], some: NDArray[Any]) -> Arrays:
    """As whole numbers of one byte, or as float16, where these hold every bit; some are tried first."""
    if _is_whole(some, whole_unit(some)) and _is_whole(array, unit := whole_unit(array)):
        return {name: (array / unit).astype(np.int8), UNIT + name: np.array([unit])}
    if _fits_half(some) and _fits_half(array):
        return {name: array.astype(np.float16)}
    return {name: array}


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
