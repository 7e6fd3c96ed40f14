"""Options that several commands share, and those that are made from the declared parameters."""

from __future__ import annotations

import argparse
import glob
import itertools
import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import Field, fields
from typing import Any

RENAMED = {
    "random_state": "seed", "n_features": "features", "validation_fraction": "holdout", "model": "continue",
    "normalize_text": "unit-length",
}  # fmt: skip


def option_of(name: str) -> str:
    """A parameter's option."""
    return "--" + RENAMED.get(name, name).replace("_", "-")


def in_options(message: str, task: str | None = None) -> str:
    """A message that speaks of parameters as Python has them, in words of the command line.

    Examples
    --------
    >>> in_options("validation_fraction=1.5: validation_fraction must be a number below 1")
    '--holdout 1.5: it must be a number below 1'
    >>> in_options("repair the labels, or turn the constraints off (constraints=None); max_segment needs segments=True")
    'repair the labels, or turn the constraints off (--constraints none); --max-segment needs --segments'
    """
    from perceptive import parameters as p

    kinds = (p.LinearParameters, p.KernelParameters, p.RankingParameters, p.SequenceParameters, p.TrainingParameters)
    declared = {f.name: f for kind in kinds for f in fields(kind) if f.name != "progress"}
    known = "|".join(declared)

    def named(name: str) -> str:
        return "--pair-cost" if name == "cost" and task in ("rank", "rerank") else option_of(name)

    def written(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"].strip("'")
        if value == "True":
            return named(name)
        if value == "False":
            return "--no-" + named(name)[2:]
        if value == "None":
            choices = declared[name].metadata["choices"] or ()
            return f"{named(name)} none" if "none" in choices else f"no {named(name)}"
        return f"{named(name)} {value}"

    before, value = r"(?<![\w/\\.'\"-])(?<!\w\()", r"(?P<value>'[^']*'|[^\s,;:()'\"/]+)"
    message = re.sub(rf"^(?P<whole>(?P<name>{known})=.*): (?P=name) must be", r"\g<whole>: it must be", message)
    message = re.sub(rf"{before}(?P<name>{known})={value}(?=[\s,;:)]|$)", written, message)
    compound = "|".join(name for name in declared if "_" in name)
    return re.sub(rf"{before}({compound})(?![\w/\\.'\"=-])", lambda match: named(match[0]), message)


def add_parameters(group: Any, parameters: type, leave_out: set[str]) -> None:
    """Make options of declared parameters; one that is not given is None, so that a model's own value can stand."""
    for f in fields(parameters):
        if f.name not in leave_out:
            _add(group, f)


def _add(group: Any, f: Field[Any]) -> None:
    kind = str(f.type).removesuffix(" | None")
    help = f.metadata["help"].replace("%", "%%")
    if kind == "bool":
        shown = "yes" if f.default else "no"
        group.add_argument(
            option_of(f.name), dest=f.name, action=argparse.BooleanOptionalAction, default=None,
            help=f"{help} (default: {shown})",
        )  # fmt: skip
        return
    choices = [c for c in f.metadata["choices"] or () if c is not None] or None
    group.add_argument(
        option_of(f.name), dest=f.name, type={"float": float, "int": int}.get(kind, str), choices=choices,
        metavar=None if choices else kind.upper(),
        help=help if f.default is None else f"{help} (default: {f.default})",
    )  # fmt: skip


def given(options: argparse.Namespace, parameters: type, leave_out: set[str]) -> dict[str, Any]:
    """Those declared parameters that were given."""
    names = (f.name for f in fields(parameters) if f.name not in leave_out)
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def as_json(value: Any) -> str:
    """A line of JSON, which knows neither NaN nor infinity: they are null.

    Examples
    --------
    >>> as_json({"held_out": [0.5, float("nan")], "bound": float("inf")})
    '{"held_out": [0.5, null], "bound": null}'
    """
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(_without_nan(value), allow_nan=False)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def add_files(parser: argparse.ArgumentParser, help: str) -> None:
    """Files, and how they are read."""
    parser.add_argument("data", nargs="+", metavar="DATA", help=f"{help}: files, globs, or - for standard input")
    group = parser.add_argument_group("files")
    group.add_argument("--format", help="of the files, where name and first bytes do not tell")
    group.add_argument("--on-error", choices=["stop", "skip"], default="stop", help="at a broken line (default: stop)")
    group.add_argument("--threads", type=whole(1), help="that parse; results do not depend on it (default: all)")


def add_json(parser: argparse.ArgumentParser) -> None:
    """For machines."""
    parser.add_argument("--json", action="store_true", help="write JSON, for machines")


def whole(minimum: int) -> Any:
    """A type for argparse: a whole number from ``minimum`` on."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = minimum - 1
        if value < minimum:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number ≥ {minimum}")
        return value

    return number


def duration(text: str) -> float:
    """A type for argparse: seconds, from 90, 90s, 5m or 2h.

    Examples
    --------
    >>> duration("5m")
    300.0
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh]?)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write 90, 90s, 5m or 2h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def check_target(path: str | None, inputs: Sequence[str] = ()) -> None:
    """Raise where a file could not be written later, or would replace an input."""
    if path is None:
        return
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise ValueError(f"{path}: the folder does not exist; make it first")
    if os.path.isdir(path):
        raise ValueError(f"{path}: is a folder; give a file")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise ValueError(f"{path}: cannot be written; check the permissions")
    if not os.path.isfile(path):
        return
    named = ("/dev/stdin" if one == "-" else one for one in inputs)
    for one in itertools.chain.from_iterable([one, *glob.iglob(one, recursive=True)] for one in named):
        if os.path.isfile(one) and os.path.samefile(one, path):
            raise ValueError(f"{path}: is one of the files to read, and would be lost; give another name")


def span(text: str) -> tuple[int, int]:
    """A type for argparse: from so many to so many.

    Examples
    --------
    >>> span("1-2"), span("3")
    ((1, 2), (3, 3))
    """
    match = re.fullmatch(r"([0-9]{1,3})(?:-([0-9]{1,3}))?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor two, such as 1-2")
    return int(match[1]), int(match[2] or match[1])


def words(text: str) -> tuple[str, ...]:
    """A type for argparse: words separated by commas."""
    return tuple(word for word in text.split(",") if word)


def label(text: str, format: str) -> Any:
    """A label as files of a format give it: those of texts are words, elsewhere a number is a number.

    Examples
    --------
    >>> label("+1", "svmlight"), label("ham", "csv"), label("1", "text")
    (1, 'ham', '1')
    """
    if format == "text":
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
