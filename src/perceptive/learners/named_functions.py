"""Functions of the user's in a model: a file holds their names, and the user gives them again to load it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perceptive.kernels.storage import MissingFunction


def name_of(function: Any) -> str:
    """What a file calls a function."""
    return str(getattr(function, "__name__", type(function).__name__))


def function_of(what: str, plain: Any, functions: Mapping[str, Any]) -> Any:
    """A function by its name, where ``plain`` is ``{"function": name}``; other values are returned as they are."""
    if not isinstance(plain, dict):
        return plain
    name = plain["function"]
    if name not in functions:
        raise MissingFunction(
            f"the model's {what} is your function {name!r}, which no file holds; give it: "
            f"load(path, functions={{{name!r}: …}})"
        )
    return functions[name]
