"""Columns of tables that options name."""

from __future__ import annotations

from collections.abc import Sequence

from perceptive.errors import ParameterError, literal
from perceptive.streams.file_format import FEATURES, INDEX, FileFormat


def check_columns(format: FileFormat, columns: Sequence[str], where: str) -> None:
    """Raise where an option names a column that is not there. The label and the weight may be missing.

    Interactions are of columns that become features: neither the label nor a text nor what is ignored. What a model
    remembers of the files that it has learned from may be missing in others.
    """
    if format.learned:
        return
    features = [name for name, kind in zip(columns, format.kinds(columns), strict=True) if kind in FEATURES]
    pairs = [name for pair in format.interactions if pair != "all" for name in pair.split(":")]
    texts = () if format.text_column is None else (format.text_column,)
    asked = (
        ("categorical", format.categorical, columns),
        ("ignore", format.ignore, columns),
        ("text_column", texts, columns),
        ("interactions", pairs, features),
    )
    for option, names, there_are in asked:
        known = set(there_are)
        for name in names:
            if name not in known and not (option == "ignore" and name in INDEX):
                there = ", ".join(map(repr, there_are))
                said = literal(f"there is no column {name!r} for it; there are {there}")
                raise ParameterError(literal(where) + ": {}: " + said, option)
