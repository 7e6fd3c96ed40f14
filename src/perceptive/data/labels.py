"""Labels as people give them: numbers, strings, booleans, in a list or an array."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, time, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.errors import Parameter, ParameterError
from perceptive.streams.values import is_missing, some_names

NO_CLASSES = "no classes are known yet; announce them (classes=…), or let it learn first"
CLASSES_ASKED = "name the column of the classes, or make classes of the numbers"
FEW, FEW_EACH = 10, 3  # labels that may be those of any examples; examples that each of more has at least
MOST_BROKEN = 100  # labels that are no whole numbers: more look like those of a regression
NO_LABELS = (date, time, timedelta, np.datetime64, np.timedelta64, bytes, tuple, frozenset)
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


def plain_label(label: Any) -> Any:
    """A label as a plain, hashable Python value."""
    if isinstance(label, NO_LABELS) and not is_missing(label):
        raise ValueError(f"label {label!r} cannot be a class; give numbers, strings or booleans")
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


def check_classes(labels: list[Any], complete: bool, missing: int = 0) -> None:
    """Raise where labels cannot be classes; ``complete`` says whether there are no others but so many missing ones.

    Examples
    --------
    >>> check_classes([1, "1"], complete=False)
    Traceback (most recent call last):
    ValueError: the labels 1 and '1' differ only in type; write all as numbers, or all as texts
    """
    if complete and len(labels) == 1:
        were = "label was" if missing == 1 else "labels were"
        taken = f"; {missing:,} {were} taken as missing (empty, NA, NaN or null): a class needs another name"
        said = f"all examples have the label {labels[0]!r}: a classifier needs at least two classes"
        raise ValueError(said + taken * bool(missing))
    broken = [label for label in labels if isinstance(label, float) and not label.is_integer()]
    if len(broken) > MOST_BROKEN:
        raise ValueError(
            f"this looks like regression: there are {len(labels):,} different labels, such as {broken[0]!r}; "
            f"{CLASSES_ASKED}"
        )
    alike: dict[str, Any] = {}
    for label in labels:
        other = alike.setdefault(str(label), label)
        if type(other) is not type(label):
            said = f"the labels {other!r} and {label!r} differ only in type"
            raise ValueError(f"{said}; write all as numbers, or all as texts")


def odd_labels(labels: list[Any], examples: int) -> str | None:
    """What to say where labels are many, with hardly an example each, or two may be one; None of others.

    Examples
    --------
    >>> odd_labels(list(range(200)), 10_000)
    >>> print(odd_labels(list(range(200)), 400))  # doctest: +ELLIPSIS
    this looks like regression: the labels of 400 examples are 200 different numbers; name the column of ...
    >>> print(odd_labels([f"text {i}" for i in range(200)], 400))
    400 examples have 200 different labels, such as 'text 0': hardly any occurs twice; check which column is the label
    >>> print(odd_labels(["no", "yes", "Yes"], 400))
    the labels 'Yes' and 'yes' differ only in capitals or blanks, and are two classes; if they are one, write it one way
    """
    alike: dict[str, Any] = {}
    for label in labels:
        if isinstance(label, str) and len(label) > 1:  # single letters may be what is to be told apart
            other = alike.setdefault("".join(label.split()).casefold(), label)
            if other != label:
                both = " and ".join(map(repr, sorted((other, label))))
                said = f"the labels {both} differ only in capitals or blanks, and are two classes"
                return f"{said}; if they are one, write it one way"
    if len(labels) <= FEW or examples >= FEW_EACH * len(labels):
        return None
    if all(isinstance(label, int | float) for label in labels):
        said = f"this looks like regression: the labels of {examples:,} examples are {len(labels):,} different numbers"
        return f"{said}; {CLASSES_ASKED}"
    said = (
        f"{examples:,} examples have {len(labels):,} different labels, such as {labels[0]!r}: hardly any occurs twice"
    )
    return f"{said}; check which column is the label"


def check_known(labels: Iterable[Any], index: dict[Any, int]) -> None:
    """Raise where a label is not one of the classes.

    Examples
    --------
    >>> check_known([7], dict.fromkeys("abcdef", 0))
    Traceback (most recent call last):
    ValueError: label 7 is not one of the classes that were learned, 'a', 'b', 'c', 'd', 'e', …; leave out its examples
    """
    unknown = [label for label in labels if label not in index]
    if unknown:
        said = f"label {unknown[0]!r} is not one of the classes that were learned, {some_names(list(index))}"
        raise ValueError(f"{said}; leave out its examples")


def check_lengths(n_rows: int, n_labels: int) -> None:
    """Raise where there are not as many labels as rows."""
    if n_rows != n_labels:
        raise ValueError(f"X has {n_rows} rows, but y has {n_labels} labels; give one label per row")
