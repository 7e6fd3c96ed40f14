"""`forwarded`: an attribute of an object that is an attribute of one of its parts."""

from __future__ import annotations

from operator import attrgetter
from typing import Any


def forwarded(path: str, doc: str) -> Any:
    """A property that reads and writes ``path``, the attribute of a part, such as "ranker.rounds".

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> class Car:
    ...     engine = SimpleNamespace(power=60)
    ...     power = forwarded("engine.power", "In kW.")
    >>> Car().power
    60
    """
    part, _, name = path.rpartition(".")
    return property(attrgetter(path), lambda self, value: setattr(attrgetter(part)(self), name, value), doc=doc)
