"""How weights are stored: in arrays, features × classes (`DenseWeights`), or without those of classes that never erred.

`SparseWeights` are for many classes. NumPy sees them as cells: the places of weights that are not at their start,
counted feature by feature, and the values there. What is made of them weight by weight is the same number as that of
arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.cached import cached
from perceptive.learners.packed_weights import START, changed, pack, pack_cells, unpack, unpack_cells
from perceptive.state import Arrays

if TYPE_CHECKING:
    from perceptive.learners.weight_vector import WeightVector

MANY = _core.WIDEST_VECTOR  # classes: those of more are kept so
STRIDE = "stride"  # of the cells of a snapshot


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


class Cells:
    """Weights that are not at their start: ``feature · stride + class`` of each, rising, and values by name."""

    def __init__(self, at: NDArray[np.int64], values: Arrays, stride: int = 1) -> None:
        self.at, self.values, self.stride = at, values, stride

    def aligned(self, other: Cells) -> tuple[Cells, Cells]:
        """Both with the cells of both."""
        at = np.concatenate([self.at, other.at])
        at.sort(kind="stable")  # which joins what rises
        at = at[np.append(True, at[1:] != at[:-1])[: len(at)]]
        return self._at(at), other._at(at)

    def _at(self, at: NDArray[np.int64]) -> Cells:
        here = np.searchsorted(at, self.at)
        values = {}
        for name, array in self.values.items():
            values[name] = np.full(len(at), START.get(name, 0.0), array.dtype)
            values[name][here] = array
        return Cells(at, values, self.stride)

    def __add__(self, other: Cells) -> Cells:
        """Values added up, cell by cell."""
        mine, theirs = self.aligned(other)
        return Cells(mine.at, {name: array + theirs.values[name] for name, array in mine.values.items()}, self.stride)


class SparseWeights:
    """z, and the average's sum and AROW's sigma where ``names`` has them; `DenseWeights` has the same methods."""

    def __init__(self, names: Sequence[str], dtype: Any, stride: int) -> None:
        self.names, self.dtype = tuple(names), np.dtype(dtype)
        kind = _core.SparseWeights32 if self.dtype == np.float32 else _core.SparseWeights64
        self.core = kind(stride, "sum" in names, "sigma" in names)

    @classmethod
    def of_cells(cls, cells: Cells, stride: int | None = None) -> SparseWeights:
        """Weights with these values, and room for classes."""
        made = cls(list(cells.values), cells.values["z"].dtype, stride or cells.stride)
        made.core.set(cells.stride, cells.at, **cells.values)
        return made

    @classmethod
    def of_arrays(cls, arrays: Arrays, stride: int | None = None) -> SparseWeights:
        """The weights of arrays, features × classes."""
        at = changed(arrays)
        cells = Cells(at, {name: array.reshape(-1)[at] for name, array in arrays.items()}, arrays["z"].shape[1])
        return cls.of_cells(cells, stride)

    @property
    def room(self) -> tuple[int, int]:
        return 2**31, self.core.width

    def cells(self, stride: int | None = None) -> Cells:
        """The weights that are not at their start, copied."""
        stride = stride or self.core.width
        at, values = self.core.cells(stride)
        return Cells(at, values, stride)

    def model(self, **parts: Any) -> _core.LinearModel:
        return _core.LinearModel(self.core, **parts)

    def begin(self, z: Any) -> None:
        cells = z.cells()
        zeros = {name: np.full(len(cells.at), START[name], self.dtype) for name in self.names}
        self.core.set(cells.stride, cells.at, **zeros | {"z": cells.values["z"].astype(self.dtype)})

    def with_room(self, n_features: int, stride: int) -> SparseWeights:
        """The same weights, with room for so many classes; it doubles, so that growing one by one stays cheap."""
        if stride > self.core.width:
            self.core.widen(max(stride, 2 * self.core.width))
        return self

    def sorted(self, new_label: NDArray[np.int64], stride: int) -> SparseWeights:
        self.core.relabel(new_label)
        return self

    def astype(self, dtype: Any, copy: bool = False) -> SparseWeights:
        """The same weights in another type; never a copy in the same."""
        if np.dtype(dtype) == self.dtype:
            return self
        cells = self.cells()
        cells.values = {name: array.astype(dtype) for name, array in cells.values.items()}
        return self.of_cells(cells)

    def combined(self, n_features: int, stride: int, combine: Callable[[Arrays], NDArray[Any]]) -> SparseWeights:
        """What is made of the weights, each of its own; 0 of those that are 0."""
        cells = self.cells(stride)
        z = combine(cells.values)
        left = z != 0
        return self.of_cells(Cells(cells.at[left], {"z": z[left]}, stride))

    def dots(self, name: str, rows: _core.Rows, normalize: bool, out: NDArray[np.float64], threads: int = 1) -> None:
        self.core.scores(rows, name == "sum", normalize, out, threads)

    # ------------------------------------------------------------ z alone

    def any_of_features(self, n_features: int) -> NDArray[np.bool_]:
        """Whether a feature has a weight."""
        cells, found = self.cells(), np.zeros(n_features, bool)
        found[cells.at // cells.stride] = True
        return found

    def of_features(self, left: NDArray[np.bool_]) -> SparseWeights:
        """The weights of some features, which are numbered anew."""
        cells = self.cells()
        feature, label = np.divmod(cells.at, cells.stride)
        mine = left[feature]
        at = (np.cumsum(left) - 1)[feature[mine]] * cells.stride + label[mine]
        return self.of_cells(Cells(at, {"z": cells.values["z"][mine]}, cells.stride))

    def to_array(self, n_features: int) -> NDArray[Any]:
        """z, features × classes."""
        cells = self.cells()
        z = np.zeros((n_features, cells.stride), self.dtype)
        z.reshape(-1)[cells.at] = cells.values["z"]
        return z

    @cached
    def _by_class(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
        """Where the cells of each class begin; the features and values of all, class by class."""
        cells = self.cells()
        feature, label = np.divmod(cells.at, cells.stride)
        order = np.argsort(label, kind="stable")
        return np.searchsorted(label[order], np.arange(cells.stride + 1)), feature[order], cells.values["z"][order]

    def column(self, c: int, n_features: int) -> NDArray[np.float64]:
        """z of a class."""
        starts, feature, z = self._by_class
        found, mine = np.zeros(n_features), slice(starts[c], starts[c + 1])
        found[feature[mine]] = z[mine]
        return found

    # ------------------------------------------------------------ shards

    def replica(self, n_features: int, stride: int, spare: list[NDArray[Any]]) -> SparseWeights:
        cells = self.cells(stride)
        if "sum" in cells.values:
            cells.values["sum"][:] = 0
        return self.of_cells(cells)

    def pending_sum(self, core: _core.LinearModel, rows: _core.Rows, first: int, step: int) -> Cells:
        sums = SparseWeights(["z"], self.dtype, self.core.width)
        core.pending_sum(rows, sums.core, first, step)
        return sums.cells()

    def add_to_sum(self, sums: Cells) -> None:
        mine, theirs = self.cells(sums.stride).aligned(sums)
        mine.values["sum"] += theirs.values["z"]
        self.core.set(mine.stride, mine.at, **mine.values)

    # ------------------------------------------------------------ state

    def snapshot(self) -> Arrays:
        cells = self.cells()
        return {"at": cells.at, STRIDE: np.array(cells.stride), **cells.values}

    @classmethod
    def of_snapshot(cls, arrays: Arrays) -> SparseWeights:
        values = {name: arrays[name] for name in START if name in arrays}
        return cls.of_cells(Cells(arrays["at"].astype(np.int64), values, int(arrays[STRIDE])))

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseWeights.of_snapshot, (self.snapshot(),)

    def packed(self, n_features: int, stride: int) -> Arrays:
        cells, shape = self.cells(stride), (n_features, stride)
        some = pack_cells(cells.at, cells.values, n_features * stride)
        if some is not None:
            return some
        arrays = {name: np.full(shape, START[name], self.dtype) for name in self.names}
        for name, array in arrays.items():
            array.reshape(-1)[cells.at] = cells.values[name]
        return pack(arrays)

    def unpack(self, arrays: Mapping[str, NDArray[Any]], n_features: int, stride: int) -> None:
        at, values = unpack_cells(arrays, self.names, self.dtype, (n_features, stride))
        if at is None:
            at = changed(values)
            values = {name: array.reshape(-1)[at] for name, array in values.items()}
        self.core.set(stride, at.astype(np.int64), **values)


# ---------------------------------------------------------------- vectors, with or without zeros

Vector = tuple[NDArray[Any], NDArray[np.float64]]  # (features × padded classes, bias weights)
CompactVector = tuple[NDArray[Any] | SparseWeights, NDArray[np.float64]]  # the same, perhaps without zeros


def is_finite(w: NDArray[Any] | SparseWeights) -> bool:
    """Whether all weights are finite numbers."""
    return bool(np.isfinite(w if isinstance(w, np.ndarray) else w.cells().values["z"]).all())


def inner(v: CompactVector, w: CompactVector) -> float:
    """v·w, biases included; both have the same form."""
    a, b = v[0], w[0]
    if isinstance(a, SparseWeights) and isinstance(b, SparseWeights):
        stride = max(a.core.width, b.core.width)
        mine = theirs = a.cells(stride)
        if a is not b:
            mine, theirs = mine.aligned(b.cells(stride))
        a, b = mine.values["z"].astype(np.float64), theirs.values["z"].astype(np.float64)
    return float(np.vdot(a, b)) + float(np.vdot(v[1], w[1]))  # type: ignore[arg-type]


def of_run(vector: WeightVector, hypothesis: str) -> CompactVector:
    """The last vector of a run, or the averaged one; some weights may not be finite."""
    scale, (clock, total), kind = vector.run.scale, vector.average_clock(), vector.dtype.type
    z_bias, sum_bias = vector.biases["z_bias"], vector.biases["sum_bias"]

    def averaged(of: Arrays) -> Any:
        return ((clock * of["z"].astype(np.float64) - of["sum"]) / total).astype(kind)

    shape = vector.n_features, vector.stride
    with np.errstate(over="ignore", invalid="ignore"):
        if hypothesis == "last":
            return vector.weights.combined(*shape, lambda of: of["z"] * kind(scale)), z_bias * scale
        return vector.weights.combined(*shape, averaged), (clock * z_bias - sum_bias) / total
