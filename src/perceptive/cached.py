"""Values that are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class cached(Generic[Value]):
    """A property that is made once, without a lock: two threads may both make it.

    `functools.cached_property` of Python 3.11 has one lock for all objects, which a forked child may find taken for
    ever.

    Examples
    --------
    >>> class Circle:
    ...     @cached
    ...     def area(self):
    ...         print("made")
    ...         return 3.14
    >>> circle = Circle()
    >>> circle.area, circle.area
    made
    (3.14, 3.14)
    """

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make, self.__doc__ = make, make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._make(instance)  # found there from now on, before this is asked
        return value
