"""How models that learned in Python, from arrays, dicts or data frames, read files."""

from __future__ import annotations

from typing import Any

from perceptive.data.feature_space import FeatureSpace
from perceptive.errors import UsageError
from perceptive.streams.file_format import ALIASES, NO_KEY, FileFormat
from perceptive.streams.label_reading import reading_for

NO_NAMES = ("svmlight", "text")  # formats whose features have no names, or only those of words


def format_of_memory(learner: Any, told: str | None, fixed: bool, **how: Any) -> FileFormat:
    """Return how such a model reads files of a format; raise if it cannot.

    A model of dicts or of a data frame reads columns by name, one of an array svmlight. If ``fixed``, there are no
    more columns than the model has; else further ones are left out later.
    """
    space: FeatureSpace = learner.space
    name = None if told is None else ALIASES.get(told, told)
    bits = None if space.hasher is None else space.hasher.bits
    numbered = bits is None and space.vocabulary is None
    how["labels"] = reading_for(getattr(learner, "classes", ()))
    if numbered and name in (None, "svmlight"):
        return FileFormat(name="svmlight", n_features=learner.n_features if fixed else None, **how)
    columns = None if bits is not None else _columns(space)
    if bits is None and columns is None:
        raise UsageError(f"the model was trained on numbered columns, which {told} files lack; give svmlight")
    if name is None:
        raise UsageError(
            "the model was trained on dicts or a data frame in Python; name the format of the files with --format"
        )
    if columns is not None:
        if name in NO_NAMES:
            raise UsageError(
                f"the model was trained on named columns, which {told} files lack; give csv, json or arrow"
            )
        n = learner.n_features or 0
        bits, how = n.bit_length() or 1, {**how, "columns": columns, "n_features": n if fixed else None}
    how |= {"bits": bits, "scale": None}
    if name == "json":
        check_keys(space.framed)
        how["text_column"] = ""  # a text is a word, as it was in Python
    if "label" in space.framed:
        how["label"] = NO_KEY  # a feature, as it was in Python
    table = space.table
    if table is None:  # in dicts that are no rows of a table, True is 1
        return FileFormat(name=told or "", words=() if numbered else None, numerals=numbered, **how)
    words = (*table.words, *_only_words(space))
    how |= {"ignore": table.ignore, "numerals": True, "scaling": table.scaling}
    return FileFormat(name=told or "", words=words, **how)


def check_keys(names: tuple[str, ...], weight: str = "weight") -> None:
    """Raise if a model has learned from columns whose names mean something else in JSON lines."""
    if {weight, "features"} & {*names}:
        raise ValueError(
            "the model has learned from columns 'weight' or 'features', which mean something else in JSON lines; give "
            "csv or arrow files"
        )


def _columns(space: FeatureSpace) -> dict[str, int] | None:
    """The column of each feature by name; None if only their numbers are known. In a frame of numbers, True is 1."""
    if space.vocabulary is not None:
        return {name: i for i, name in enumerate(space.vocabulary.names())}
    if not space.framed or len(space.framed) != space.n_features:
        return None
    columns = {f"{name}=True": i for i, name in enumerate(space.framed)}
    return columns | {name: i for i, name in enumerate(space.framed)}


def _only_words(space: FeatureSpace) -> list[str]:
    """The columns of a frame in which no number was a feature, so that digits are words."""
    return [] if space.vocabulary is None else [name for name in space.framed if name not in space.vocabulary]
