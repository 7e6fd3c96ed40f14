"""Weights of classes for examples from files: given, or such that all classes weigh alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive.declarations import not_negative
from perceptive.errors import Parameter, ParameterError, literal

if TYPE_CHECKING:
    from perceptive.training.source import FileSource

MOST_TOLD = 10  # labels


def check_class_weight(asked: Any) -> None:
    """Raise where these are not weights of classes."""
    if asked is None or (isinstance(asked, str) and asked == "balanced"):
        return
    if not isinstance(asked, Mapping) or any(not_negative(weight) for weight in asked.values()):
        raise ParameterError(
            "{}: it must be 'balanced', or a weight of 0 or more for each class", Parameter("class_weight", asked)
        )


def balanced(counts: Mapping[Any, int]) -> dict[Any, float]:
    """Weights n/(classes·count), as scikit-learn has them.

    Examples
    --------
    >>> balanced({"spam": 1, "ham": 3})
    {'spam': 2.0, 'ham': 0.6666666666666666}
    """
    n = sum(counts.values())
    return {label: n / (len(counts) * count) for label, count in counts.items()}


def weigh_classes(source: FileSource, asked: Mapping[Any, float] | str | None) -> None:
    """Have the examples of a source weigh as their classes do; "balanced" reads them once before."""
    check_class_weight(asked)
    if asked is None:
        return
    if isinstance(asked, str):
        if not source.repeatable:
            raise ParameterError(
                "{} counts the classes first, a pipe gives them once; write the examples to a file, or give numbers",
                Parameter("class_weight", asked),
            )
        counts: Counter[Any] = Counter()
        for labels in source.all_labels():
            found = np.bincount(labels.which, minlength=len(labels.values)).tolist()
            counts.update(dict(zip(labels.values, found, strict=True)))
        asked = balanced(+counts)
    elif source.complete:
        _check_known(asked, source.labels or [])
    source.kind.class_weight = dict(asked)  # type: ignore[union-attr]


def class_weighted(
    weights: NDArray[np.float64] | None, y: Sequence[Any], asked: Mapping[Any, float] | str | None
) -> NDArray[np.float64] | None:
    """The weights of examples in memory (None: 1 each), times those of their classes.

    Examples
    --------
    >>> class_weighted(None, ["ham", "spam", "ham"], {"spam": 2.0}).tolist()
    [1.0, 2.0, 1.0]
    """
    check_class_weight(asked)
    if asked is None:
        return weights
    found = balanced(Counter(y)) if isinstance(asked, str) else asked
    _check_known(found, list(dict.fromkeys(y)))
    of_class = np.array([found.get(label, 1.0) for label in y])
    return of_class if weights is None else weights * of_class


def weights_as_they_come(y: Sequence[Any], asked: Mapping[Any, float] | str) -> NDArray[np.float64]:
    """The weights of examples of a stream, by their classes: 1 where none is given. Other classes may come later.

    Examples
    --------
    >>> weights_as_they_come(["ham", "spam"], {"spam": 2.0, "advert": 3.0}).tolist()
    [1.0, 2.0]
    """
    check_class_weight(asked)
    if isinstance(asked, str):
        raise ParameterError(
            "{} counts the classes of all examples first; give a weight for each class, or fit all examples at once",
            Parameter("class_weight", asked),
        )
    return np.array([float(asked.get(label, 1.0)) for label in y])


def _check_known(asked: Mapping[Any, float], labels: list[Any]) -> None:
    """Raise where a weight is that of no class."""
    strange = [label for label in asked if label not in labels]
    if strange:
        there = ", ".join(map(repr, labels[:MOST_TOLD])) + (", …" if len(labels) > MOST_TOLD else "")
        raise ParameterError(
            literal(f"no example has the label {strange[0]!r}, but {there}; check ") + "{}", "class_weight"
        )
