"""Options that several commands share, and those that are made from the declared parameters."""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perceptive.errors import Parameter

RENAMED = {
    "random_state": "seed", "n_features": "features", "validation_fraction": "holdout", "model": "continue",
    "normalize_text": "unit-length", "text.normalize": "unit-length", "file.encoding": "input-encoding",
}  # fmt: skip

SAY_NONE = {"--constraints", "--cost", "--encoding"}  # options with a choice "none"
ABOUT_FILES = {"bits", "n_features", "reference", "kernel"}  # options that say more than the parameters of that name


def option_of(name: str) -> str:
    return "--" + RENAMED.get(name, name.removeprefix("text.")).replace("_", "-")


def as_option(parameter: Parameter, task: str | None = None) -> str:
    """A parameter that an error mentions, in words of the command line.

    >>> from perceptive.errors import Parameter, ParameterError
    >>> as_option(Parameter("validation_fraction", 1.5)), as_option(Parameter("shuffle", False))
    ('--holdout 1.5', '--no-shuffle')
    >>> ParameterError("{} needs {}, or {}", "max_segment", Parameter("segments", True), "cost").worded(as_option)
    '--max-segment needs --segments, or --cost'
    """
    option = "--pair-cost" if parameter.name == "cost" and task in ("rank", "rerank") else option_of(parameter.name)
    if not parameter.has_value or parameter.value is True:
        return option
    value = parameter.value
    if value is False:
        return "--no-" + option[2:]
    if value is None:
        return f"{option} none" if option in SAY_NONE else f"no {option}"
    return f"{option} {','.join(map(str, value)) if isinstance(value, list | tuple) else value}"


def options_for(parameters: type) -> dict[str, str]:
    """The option of each declared parameter that has one of its own: ``--cost`` is the taggers', not that of pairs."""
    names = {f.name: f.name for f in fields(parameters) if f.name not in ABOUT_FILES}
    return names | {"cost": "pair_cost"} if "pairs" in names else names


def given(options: argparse.Namespace, parameters: type) -> dict[str, Any]:
    """Those declared parameters that are options, and were given."""
    found = ((name, getattr(options, option, None)) for name, option in options_for(parameters).items())
    return {name: value for name, value in found if value is not None}


def given_to_learner(options: argparse.Namespace, parameters: Any) -> dict[str, Any]:
    """What was given of the parameters of a new learner; else what is declared, where learners have it otherwise."""
    return {**{name: getattr(parameters, name) for name in parameters.of_notes}, **given(options, parameters)}


def as_json(value: Any) -> str:
    """A line of JSON, which knows neither NaN nor infinity: they are null.

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


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="write JSON, for machines")


def number(kind: type[int] | type[float], minimum: int) -> Any:
    """A type for argparse: a number from ``minimum`` on.

    >>> number(float, 0)("0.5")
    0.5
    """
    called = "whole number" if kind is int else "number"

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not minimum <= value < math.inf:
            raise argparse.ArgumentTypeError(f"{text!r} is not a {called} ≥ {minimum}")
        return value

    return read


def whole(minimum: int) -> Any:
    """A type for argparse: a whole number from ``minimum`` on."""
    return number(int, minimum)


def or_word(kind: type[float]) -> Callable[[str], float | str]:
    """A type for argparse: a number of this kind where it is one, else a word.

    >>> or_word(float)("0.5"), or_word(int)("2"), or_word(int)("auto")
    (0.5, 2, 'auto')
    """

    def read(text: str) -> float | str:
        try:
            return kind(text)
        except ValueError:
            return text

    return read


def duration(text: str) -> float:
    """A type for argparse: seconds, from 90, 90s, 100ms, 5m or 2h.

    >>> duration("5m"), duration("100ms")
    (300.0, 0.1)
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(ms|[smh]?)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration; write 90, 90s, 100ms, 5m or 2h")
    return float(match[1]) * {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3600}[match[2]]


def amount(text: str) -> int:
    """A type for argparse: bytes, from 5000, 64k, 32M or 2G, which are powers of 1024; also 32MB and 32MiB.

    >>> amount("2M"), amount("2MB"), amount("2mib"), amount("2B")
    (2097152, 2097152, 2097152, 2)
    """
    match = re.fullmatch(r"([0-9]{1,15})(?:([kmg])i?)?b?", text, re.IGNORECASE)
    if not match or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of memory; write 5000, 64k, 32M or 2G")
    return int(match[1]) << 10 * " kmg".index((match[2] or " ").lower())


def span(text: str) -> tuple[int, int]:
    """A type for argparse: from so many to so many.

    >>> span("1-2"), span("3")
    ((1, 2), (3, 3))
    """
    match = re.fullmatch(r"([0-9]{1,3})(?:-([0-9]{1,3}))?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number or a range; write 2 or 1-2")
    return int(match[1]), int(match[2] or match[1])


def words(text: str) -> tuple[str, ...]:
    """A type for argparse: words separated by commas; one that holds a comma stands in quotes."""
    return tuple(word for word in columns(text) if word)


def columns(text: str) -> tuple[str, ...]:
    """A type for argparse: columns separated by commas, of which one may have no name, as words are.

    Examples
    --------
    >>> columns('id,"Name, first"'), columns("")
    (('id', 'Name, first'), ('',))
    """
    try:
        return tuple(word for row in csv.reader([text], strict=True) for word in row) or ("",)
    except csv.Error as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}; put a name with a comma in double quotes") from None


def class_weight(text: str) -> dict[str, float] | str:
    """A type for argparse: "balanced", or a weight for some classes.

    >>> class_weight("spam=2,ham=0.5")
    {'spam': 2.0, 'ham': 0.5}
    """
    if text == "balanced":
        return text
    pairs = [part.rpartition("=") for part in text.split(",") if part]
    try:
        weights = {name: float(weight) for name, _, weight in pairs}
    except ValueError:
        weights = {}
    if not weights or any(not name or not 0 <= weight < math.inf for name, weight in weights.items()):
        raise argparse.ArgumentTypeError(f"{text!r} is neither 'balanced' nor weights of classes such as a=2,b=0.5")
    return weights
