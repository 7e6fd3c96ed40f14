"""Which options of a format mean something in which files, and which columns they may name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

from perceptive.errors import ParameterError, literal
from perceptive.streams.file_format import FEATURES, INDEX, FileFormat

ANY = {"lists", "list_weight", "apart", "words", "labels"}  # whoever reads lists says which files have some
TABLES = {"label", "text_column", "weight", "missing", "categorical", "ignore"}
NAMED = {"bits", "hash_seed", "interactions", "scale", "scaling"}
MEANT = {  # what heeds which options
    "svmlight": NAMED | {"zero_based", "n_features"},
    "vw": NAMED,
    "text": {"bits", "hash_seed", "labelled", "text"},
    "csv": NAMED | TABLES | {"delimiter", "quote", "text"},
    "arrow": NAMED | TABLES | {"text"},
    "json": NAMED | TABLES | {"text"},
}


def check_options(name: str, given: Mapping[str, Any]) -> None:
    """Raise TypeError where something was given that is no option of a format; tell those that this one heeds.

    Examples
    --------
    >>> check_options("text", {"labels_first": True})
    Traceback (most recent call last):
    TypeError: text files have no option labels_first; they have bits, hash_seed, labelled, text
    """
    if strange := given.keys() - {one.name for one in fields(FileFormat)}:
        heeded = ", ".join(sorted(MEANT[FileFormat(name=name).name]))
        raise TypeError(f"{name} files have no option {min(strange)}; they have {heeded}")


def check_meaning(format: FileFormat, given: Mapping[str, Any]) -> None:
    """Raise where options of a format were given that its format does not heed.

    Examples
    --------
    >>> check_meaning(FileFormat(name="svmlight", label="y"), {"label": "y"})
    Traceback (most recent call last):
    perceptive.errors.ParameterError: label: this means nothing in svmlight files; leave it out
    """
    default = {f.name: f.default for f in fields(FileFormat)} | {"text": {}}
    told = {name: value for name, value in given.items() if value is not None and value != default[name]}
    deaf = [name for name in told if name not in MEANT[format.name] | ANY]
    if format.name in ("csv", "arrow") and format.text_column is None and "text" in told:
        names = _of_text(told)
        said = _places(names) + ": this is for texts; name their column with {}"
        raise ParameterError(said, *names, "text_column")
    if "hash_seed" in told and format.bits is None:
        raise ParameterError("{} is about hashed features; give {} too", "hash_seed", "bits")
    if format.lists and "weight" in deaf:
        said = f"{{}}: {format.name} files have no place for the weights of lists; give JSON lines with candidates"
        raise ParameterError(said, "weight")
    if deaf:
        names = [one for name in deaf for one in (_of_text(told) if name == "text" else [name])]
        raise ParameterError(f"{_places(names)}: this means nothing in {format.name} files; leave it out", *names)


def _of_text(told: Mapping[str, Any]) -> list[str]:
    return [f"text.{name}" for name in told["text"]]


def _places(names: Collection[str]) -> str:
    return ", ".join(["{}"] * len(names))


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
