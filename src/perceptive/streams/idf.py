"""Inverse document frequencies: how much the rare features of texts count, and how a model file holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.state import Arrays, array_of
from perceptive.streams.file_format import NO_KEY, FileFormat
from perceptive.streams.parsing import parse

REST, AT, IDF = "idf.rest", "idf.at", "idf"  # that of features which no text has; where the others are, and what
MOST = 1 << 22  # that are packed: a small file must stay small in memory


def unweighted(format: FileFormat) -> FileFormat:
    """The format in which texts are read to count their features, which are all that is read of tables."""
    text = {**format.text, "idf": False, "normalize": False}
    roles: dict[str, Any] = {} if format.name == "json" else {"label": NO_KEY, "weight": None}
    return replace(format, text=text, interactions=(), scale=None, scaling=None, known=(), **roles)


def learn_idf(files: Iterable[str], format: FileFormat, **options: Any) -> NDArray[np.float32]:
    """Read texts to count how many of them have each feature; of what comes but once, the first block."""
    assert format.bits is not None
    n, df = 0, np.zeros(1 << format.bits, np.int32)
    for examples in parse(files, unweighted(format), np.dtype(np.float64), ahead=True, **options):
        n += len(examples)
        np.add.at(df, examples.indices, np.int32(1))  # a one of another type takes a hundred times as long
    return _core.smooth_idf(df, n)


def pack(idf: NDArray[np.float32]) -> Arrays:
    """Those of the features that were met, where that makes fewer bytes: the others all have the largest one.

    Examples
    --------
    >>> packed = pack(_core.smooth_idf(np.array([3, 0, 0, 0], np.int32), 3))
    >>> packed["idf.at"].tolist(), unpack(packed, 4).astype(float).round(3).tolist()
    ([0], [1.0, 2.386, 2.386, 2.386])
    """
    rest = idf.max()
    if len(idf) > MOST or np.count_nonzero(idf != rest) * (idf.itemsize + 4) >= idf.nbytes:
        return {IDF: idf}
    at = np.flatnonzero(idf != rest).astype(np.uint32)
    return {IDF: idf[at], AT: at, REST: np.array([rest])}


def unpack(arrays: Mapping[str, NDArray[Any]], width: int) -> NDArray[np.float32]:
    """What `pack` was given; raises ValueError where the arrays cannot be that."""
    if AT not in arrays:
        found = np.ascontiguousarray(array_of(arrays, IDF, np.float32, (width,)))
    else:
        at = array_of(arrays, AT, np.uint32, (None,))
        if width > MOST:
            raise ValueError(f"{IDF} must hold {width} numbers: only up to {MOST} are packed")
        if (at[1:] <= at[:-1]).any() or (at[-1:] >= width).any():
            raise ValueError(f"{AT} must hold rising numbers below {width}")
        found = np.full(width, array_of(arrays, REST, np.float32, (1,))[0], np.float32)
        found[at] = array_of(arrays, IDF, np.float32, at.shape)
    if not (found > 0).all():
        raise ValueError(f"{IDF} must hold positive numbers")
    return found
