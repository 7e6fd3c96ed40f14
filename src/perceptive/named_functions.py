"""Functions of the user's in models: a file has their names, and they must be given again when the model is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Functions = Mapping[str, Callable[..., Any]]


class MissingFunction(ValueError):
    """A model needs a function that was not given."""


def name_of(function: Any) -> str:
    """What a file calls a function: it holds the name alone, and the user gives the function again to load it."""
    return str(getattr(function, "__name__", type(function).__name__))


def function_of(what: str, plain: Any, functions: Functions) -> Any:
    """A function by its name, where ``plain`` is ``{"function": name}``; other values are returned as they are."""
    if not isinstance(plain, Mapping):
        return plain
    name = plain["function"]
    if name not in functions:
        raise MissingFunction(
            f"the model's {what} is your function {name!r}, which no file holds; give it: "
            f"load(path, functions={{{name!r}: …}})"
        )
    return functions[name]
