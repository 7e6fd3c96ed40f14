"""Weights as a file holds them: all of them, or only those that learning has changed, where these are few."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.state import Arrays, array_of

START = {"z": 0.0, "sum": 0.0, "sigma": 1.0}  # what a weight is before anything is learned
AT = "at"  # where the weights are that are held, counted row by row


def pack(weights: Arrays) -> Arrays:
    """Weights that are still as at the start left out, where that makes them smaller."""
    shape = weights["z"].shape
    changed = np.zeros(shape, bool)
    for name, array in weights.items():
        bits = np.dtype(f"u{array.dtype.itemsize}")  # −0 is not 0
        changed |= array.view(bits) != np.array(START[name], array.dtype).view(bits)
    size = changed.size
    kind = np.uint32 if size <= 2**32 else np.uint64
    held, each = np.count_nonzero(changed), sum(array.dtype.itemsize for array in weights.values())
    if held * (each + np.dtype(kind).itemsize) >= size * each:
        return weights
    at = np.flatnonzero(changed)
    return {AT: at.astype(kind), **{name: array.reshape(-1)[at] for name, array in weights.items()}}


def unpack(arrays: Mapping[str, NDArray[Any]], weights: Arrays) -> None:
    """Fill weights that hold their first values with what `pack` made; raises ValueError where it does not fit.

    What a file left out is not written to: a small file stays small in memory, whatever width it declares.
    """
    at = arrays.get(AT)
    for name, array in weights.items():
        if at is None:
            array[:] = array_of(arrays, name, array.dtype, array.shape)
            continue
        rising = at.ndim == 1 and at.dtype in (np.uint32, np.uint64) and not (at[1:] <= at[:-1]).any()
        if not rising or (at[-1:] >= array.size).any():
            raise ValueError(f"{AT} must hold rising numbers below {array.size}")
        array.reshape(-1)[at] = array_of(arrays, name, array.dtype, at.shape)
