"""`DenseWeights`: the weights of few classes, features × classes side by side in arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.learners.packed_weights import START, pack, unpack
from perceptive.state import Arrays


class DenseWeights:
    """z, and the average's sum and AROW's sigma where ``names`` has them, with room for more features and classes."""

    def __init__(self, names: Sequence[str], dtype: Any, n_features: int, stride: int) -> None:
        shape = n_features, stride
        self.arrays: Arrays = {name: (np.ones if START[name] else np.zeros)(shape, dtype) for name in names}

    @property
    def names(self) -> tuple[str, ...]:
        """Which of z, sum and sigma there are."""
        return tuple(self.arrays)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.arrays["z"].dtype

    @property
    def room(self) -> tuple[int, int]:
        """Features and classes that there is room for."""
        n_features, stride = self.arrays["z"].shape
        return n_features, stride

    def model(self, **parts: Any) -> _core.LinearModel:
        """A model of the core with these weights."""
        z, sums, sigma = map(self.arrays.get, START)
        assert z is not None
        return _core.LinearModel(z, sums, sigma, **parts)

    def begin(self, z: Any) -> None:
        """Have these weights at the start."""
        self.arrays["z"][:] = z

    def with_room(self, n_features: int, stride: int) -> DenseWeights:
        """The same weights, with this room at least; it doubles, so that growing one by one stays cheap."""
        mine = self.room
        if n_features <= mine[0] and stride <= mine[1]:
            return self
        features = mine[0] if n_features <= mine[0] else max(n_features, 2 * mine[0], 64)
        made = DenseWeights(
            self.names, self.dtype, features, mine[1] if stride <= mine[1] else max(stride, 2 * mine[1])
        )
        for name, array in self.arrays.items():
            made.arrays[name][: mine[0], : mine[1]] = array
        return made

    def sorted(self, new_label: NDArray[np.int64], stride: int) -> DenseWeights:
        """Class c is ``new_label[c]``; there is no room for others."""
        made = DenseWeights(self.names, self.dtype, self.room[0], stride)
        for name, array in self.arrays.items():
            made.arrays[name][:, new_label] = array[:, : len(new_label)]
        return made

    def astype(self, dtype: Any) -> DenseWeights:
        """The same weights in another type."""
        made = DenseWeights((), dtype, 0, 0)
        made.arrays = {name: array.astype(dtype) for name, array in self.arrays.items()}
        return made

    def combined(self, n_features: int, stride: int, combine: Callable[[Arrays], NDArray[Any]]) -> NDArray[Any]:
        """What is made of the weights of some features and classes, each of its own."""
        return combine({name: array[:n_features, :stride] for name, array in self.arrays.items()})

    def dots(self, name: str, rows: _core.Rows, normalize: bool, out: NDArray[np.float64]) -> None:
        """Write w_c·x of each row and class, of z or of the sum."""
        _core.linear_scores(rows, self.arrays[name], normalize, out)

    # ------------------------------------------------------------ shards

    def replica(self, n_features: int, stride: int, spare: list[NDArray[Any]]) -> DenseWeights:
        """The same weights at the start of an average, in memory that earlier replicas have left."""
        made = DenseWeights((), self.dtype, 0, 0)
        for name, array in self.arrays.items():
            made.arrays[name] = _taken(spare, (n_features, stride), self.dtype)
            made.arrays[name][:] = 0 if name == "sum" else array[:n_features, :stride]
        return made

    def pending_sum(self, core: _core.LinearModel, rows: _core.Rows, first: int, step: int) -> NDArray[Any]:
        """What is pending of the rows first, first + step, …, added up."""
        sums = np.zeros_like(self.arrays["sum"])
        core.pending_sum(rows, sums, first, step)
        return sums

    def add_to_sum(self, sums: NDArray[Any]) -> None:
        """Add what `pending_sum` gave, perhaps before there was more room."""
        self.arrays["sum"][: sums.shape[0], : sums.shape[1]] += sums

    # ------------------------------------------------------------ state

    def snapshot(self) -> Arrays:
        """All weights, copied."""
        return {name: array.copy() for name, array in self.arrays.items()}

    @classmethod
    def of_snapshot(cls, arrays: Arrays) -> DenseWeights:
        """The weights of a snapshot, copied."""
        made = cls((), np.float32, 0, 0)
        made.arrays = {name: array.copy() for name, array in arrays.items()}
        return made

    def packed(self, n_features: int, stride: int) -> Arrays:
        """The weights of some features and classes, as a file holds them."""
        return pack({name: array[:n_features, :stride] for name, array in self.arrays.items()})

    def unpack(self, arrays: Mapping[str, NDArray[Any]], n_features: int, stride: int) -> None:
        """Have the weights of a file; raises ValueError where they do not fit."""
        unpack(arrays, self.arrays)


def _taken(spare: list[NDArray[Any]], shape: tuple[int, int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """An array, used before where there is one: fresh memory costs a fault for every page."""
    with suppress(IndexError):  # another thread may take the last one
        while spare:
            array = spare.pop()
            if array.shape == shape and array.dtype == dtype:
                return array
    return np.empty(shape, dtype)
