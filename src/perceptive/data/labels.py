"""Labels as people give them: numbers, strings, booleans, in a list or an array."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.errors import Parameter, ParameterError

NO_CLASSES = "no classes are known yet; announce them (classes=…), or let it learn first"
_FIRST = np.zeros(1, dtype=np.int64)


class NewClass(ValueError):
    """A label came that is none of the two classes that a learner took for all: training from files starts over.

    ``again()`` is the learner to start over with.
    """

    def __init__(self, message: str, again: Callable[[], Any]) -> None:
        super().__init__(message)
        self.again = again


class Labels(NamedTuple):
    """The different labels of some examples, as plain values, and which of them each example has."""

    values: list[Any]
    which: NDArray[np.int64]

    @classmethod
    def of(cls, y: Any) -> Labels:
        """Look through y, unless that has been done."""
        if isinstance(y, Labels):
            return y
        if isinstance(y, list) and len(y) == 1:  # one example of a stream: no detour by NumPy
            return cls([plain_label(y[0])], _FIRST)
        array = np.asarray(y)
        if array.ndim != 1:
            raise ValueError(f"y must have one dimension, not {array.ndim}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError("y contains NaN or inf; drop such examples")
        mixed = isinstance(y, list) and (len(set(map(type, y))) > 1 or (type(y[0]) is int and array.dtype.kind != "i"))
        if mixed or array.dtype.kind in "OV":
            index: dict[Any, int] = {}
            which = [index.setdefault(plain_label(label), len(index)) for label in y]
            return cls(list(index), np.array(which, dtype=np.int64))
        unique, inverse = np.unique(array, return_inverse=True)
        return cls(unique.tolist(), inverse.astype(np.int64, copy=False))


def is_missing(label: Any) -> bool:
    """Whether a label stands for none: None, NaN, or pandas' NA and NaT."""
    return (
        label is None or type(label).__name__ in ("NAType", "NaTType") or (isinstance(label, float) and label != label)
    )


def plain_label(label: Any) -> Any:
    """A label as a plain, hashable Python value."""
    if isinstance(label, np.generic):
        label = label.item()
    if (isinstance(label, float) and not np.isfinite(label)) or (label is not None and is_missing(label)):
        raise ValueError("y contains NaN, inf or missing labels; drop such examples")
    try:
        hash(label)
    except TypeError:
        raise ValueError(f"label {label!r} cannot be a class; give numbers, strings or booleans") from None
    return label


def announced_classes(classes: Iterable[Any]) -> list[Any]:
    """Classes that are known before the data, as plain labels; raises where they are not at least two, each once."""
    labels = [plain_label(label) for label in classes]
    if len(set(labels)) < max(2, len(labels)):
        raise ParameterError("{}: give at least two classes, each once", Parameter("classes", labels))
    return labels


def in_order_of_labels(labels: Iterable[Any]) -> list[Any]:
    """Labels sorted, or in the order of arrival where they are of kinds that cannot be compared."""
    labels = list(labels)
    try:
        return sorted(labels)
    except TypeError:
        return labels


def check_known(labels: Iterable[Any], index: dict[Any, int]) -> None:
    """Raise where a label is none of the classes."""
    unknown = [label for label in labels if label not in index]
    if unknown:
        raise ValueError(f"label {unknown[0]!r} is none of the classes {list(index)!r}")


def check_lengths(n_rows: int, n_labels: int) -> None:
    """Raise where there are not as many labels as rows."""
    if n_rows != n_labels:
        raise ValueError(f"X has {n_rows} rows, but y has {n_labels} labels; give one label per row")
