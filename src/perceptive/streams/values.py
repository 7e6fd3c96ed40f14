"""What a value of a table means, in every kind of input: nothing, a number, or a word.

A file, a data frame, a dict and a row of the same table have the same features. Strings are read by the core
(`core/formats/meaning.hpp`); here any other value becomes a number, or the string that a file would have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from typing import Any

import numpy as np

from perceptive import _core

WORDS = (str, bool, date, time)


def is_number(word: str) -> bool:
    """Whether a word reads as a number.

    Examples
    --------
    >>> is_number("1e3"), is_number("price")
    (True, False)
    """
    try:
        float(word)
    except ValueError:
        return False
    return True


def is_missing(value: Any) -> bool:
    """Whether a value, or a label, stands for none: None, NaN, or NumPy's and pandas' NA and NaT."""
    kind = type(value)
    if kind is float or kind is int or kind is str:  # as most are
        return kind is float and value != value
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def plain(value: Any) -> Any:
    """A value as a number or a word, and None where it is missing; anything else as it is.

    Examples
    --------
    >>> from datetime import date, datetime
    >>> [plain(value) for value in (True, np.int8(3), " red ", "NA", float("nan"), Decimal("0.5"))]
    ['True', 3, 'red', None, None, 0.5]
    >>> [plain(value) for value in (date(2020, 1, 31), datetime(2020, 1, 31), datetime(2020, 1, 31, 12, 30), "true")]
    ['2020-01-31', '2020-01-31', '2020-01-31 12:30:00', 'True']
    """
    if type(value) is float or type(value) is int:
        return value if value == value else None
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64):
        value = str(value)
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, WORDS):
        word = str(value)
        return (_core.meant(word) if word.isascii() else word.strip(" \t")) or None
    return float(value) if isinstance(value, Decimal) else value


def plain_row(row: Mapping[Any, Any], words: Collection[str] = ()) -> dict[str, Any]:
    """A dict of features as the row of a table, without what is missing; in columns of words, numbers are names.

    Examples
    --------
    >>> plain_row({"size": 2.5, "ripe": True, "colour": None, "zip": 101}, words=["zip"])
    {'size': 2.5, 'ripe': 'True', 'zip': '101'}
    """
    found = ((str(name), plain(value)) for name, value in row.items())
    return {name: str(value) if name in words else value for name, value in found if value is not None}


def some_names(names: Sequence[Any]) -> str:
    """The first few names.

    Examples
    --------
    >>> some_names(["", "age", "colour"])
    "'', 'age', 'colour'"
    """
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")


def missing_names(known: Sequence[str], there: Iterable[str]) -> list[str]:
    """Return which columns of a model are absent from data; raise ValueError if all are.

    Examples
    --------
    >>> missing_names(["age", "size"], ["size", "colour"])
    ['age']
    """
    there = {*there}
    lost = [name for name in known if name not in there]
    if lost and len(lost) == len(known):
        raise ValueError(
            f"the data has none of the columns that the model learned from, {some_names(known)}; there are "
            f"{some_names(sorted(there)) or 'none'}; check the data"
        )
    return lost
