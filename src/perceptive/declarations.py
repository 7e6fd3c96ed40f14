"""How parameters are declared: groups of them, and classes that hold checked values.

A `Group` declares parameters that belong together. Groups are composed by inheritance; a subclass declares only what
differs: ``C: float = parameter(0.03)`` keeps the help and the check of the group's C. A `Checked` class holds values of
its groups, checked and frozen. An estimator that inherits groups takes their parameters, unchecked until `fit`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import FrozenInstanceError, dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, dataclass_transform

from perceptive.errors import Parameter, ParameterError

# What a wrong value should have been, or None; "{}" stands for the parameter with the value None.
Check = Callable[[Any], str | None]

_SAME: Any = object()  # as in the group that is composed


class Declaration:
    """A parameter: its default, help and check, and what only the documentation says."""

    def __init__(self, **facts: Any) -> None:
        self.facts = facts


def parameter(
    default: Any = _SAME, help: str = _SAME, check: Check = _SAME, *, doc: str = _SAME, kind: str = _SAME
) -> Any:
    """Declare a parameter, or what differs from the group's declaration.

    ``help`` is a line for the command line and the documentation, ``doc`` for the latter where there is more to say;
    ``check`` tells what a wrong value should have been; ``kind`` is the type in words, where the annotation does not
    tell.
    """
    facts = {"default": default, "help": help, "check": check, "doc": doc, "kind": kind}
    if help is not _SAME and doc is _SAME:
        facts["doc"] = None  # that of the group would contradict
    return Declaration(**{name: value for name, value in facts.items() if value is not _SAME})


@dataclass_transform(kw_only_default=True)
class Group:
    """Parameters that belong together."""


def declared(cls: type) -> dict[str, Declaration]:
    """The parameters of a class and its groups, in the order in which these are named."""
    found: dict[str, Declaration] = {}
    for base in cls.__bases__:
        for name, one in declared(base).items():
            found.setdefault(name, one)
    annotations = vars(cls).get("__annotations__", {})
    for name, own in list(vars(cls).items()):
        if isinstance(own, Declaration):
            own.facts["type"] = annotations[name]
            before = found[name].facts if name in found else {}
            found[name] = Declaration(**{**before, **own.facts})
    return found


class Checked(Group):
    """Values of parameters, checked when they are given and frozen from then on."""

    defaults: ClassVar[dict[str, Any]]
    checks: ClassVar[dict[str, Check]]

    def __init_subclass__(cls) -> None:
        declarations = {name: one.facts for name, one in declared(cls).items()}
        others = vars(cls).get("__annotations__", {})
        cls.__annotations__ = {name: facts["type"] for name, facts in declarations.items()} | others
        cls.defaults = {name: facts["default"] for name, facts in declarations.items()}
        cls.checks = {name: facts["check"] for name, facts in declarations.items()}
        for name, facts in declarations.items():
            metadata = {key: facts.get(key) for key in ("help", "check", "doc", "kind")}
            metadata["choices"] = getattr(facts["check"], "choices", None)
            setattr(cls, name, field(default=facts["default"], metadata=metadata))
        # The rest is below, once for all: imports are faster, and so is every `fit`, which makes several.
        dataclass(kw_only=True, init=False, repr=False, eq=False)(cls)

    def __init__(self, **given: Any) -> None:
        for name in given.keys() - self.defaults.keys():
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument {name!r}")
        defaults, checks = self.defaults, self.checks
        for name, value in given.items():
            wanted = None if value is defaults[name] else checks[name](value)  # defaults have been checked
            if wanted:
                nones = [Parameter(name, None)] * wanted.count("{}")
                raise ParameterError("{}: it must be " + wanted, Parameter(name, value), *nones)
        vars(self).update({**defaults, **given})
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check whether the values go together."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to {name}; make other parameters with dataclasses.replace")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete {name}")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


# ---------------------------------------------------------------- checks


def one_of(*choices: object, why_not: Callable[[str], str | None] = lambda other: None) -> Check:
    """One of some values; ``why_not`` gives the reason why another one, a string, is not among them."""

    def check(value: Any) -> str | None:
        if any(value is choice or (type(value) is type(choice) and value == choice) for choice in choices):
            return None
        named = ", ".join(repr(choice) for choice in choices if choice is not None)
        reason = why_not(value) if isinstance(value, str) else None
        return f"one of {named}" + (", or {}" if None in choices else "") + (f" ({reason})" if reason else "")

    check.choices = choices  # type: ignore[attr-defined]
    return check


def number(what: str, test: Callable[[float], bool]) -> Check:
    """A finite number that passes a test."""

    def check(value: Any) -> str | None:
        try:
            good = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        except OverflowError:
            good = False
        return None if good and test(float(value)) else what

    return check


def whole(minimum: int, none: str | None = None, maximum: int = 2**31 - 1) -> Check:
    """A whole number; or None, which means ``none``."""
    what = f"a whole number from {minimum} to {'2³¹ − 1' if maximum == 2**31 - 1 else maximum}" + (
        f", or {{}} ({none})" if none else ""
    )

    def check(value: Any) -> str | None:
        if value is None and none:
            return None
        good = isinstance(value, Integral) and not isinstance(value, bool)
        return None if good and minimum <= value <= maximum else what

    return check


def seed(value: Any) -> str | None:
    """A whole number from which all that is random follows; models keep it."""
    wanted = whole(0)(value)
    return wanted and f"{wanted}, which repeats the run; for another order every time, give random.randrange(2**31)"


def anything(value: Any) -> str | None:
    """Any value: it is checked elsewhere."""
    return None


def a_label(value: Any) -> str | None:
    """What can be the label of an example, or None."""
    return None if isinstance(value, Hashable) else "a label, or None"


def or_word(word: str, otherwise: Check) -> Check:
    """A word, or what passes another check."""

    def check(value: Any) -> str | None:
        wanted = None if isinstance(value, str) and value == word else otherwise(value)
        return wanted and f"{wanted}, or {word!r}"

    return check


def jobs(value: Any) -> str | None:
    """A number of threads, as scikit-learn has it."""
    good = value is None or (
        isinstance(value, Integral) and not isinstance(value, bool) and (int(value) > 0 or value == -1)
    )
    return None if good else "a whole number ≥ 1, -1 or {}"


positive = number("a number > 0", lambda value: value > 0)
not_negative = number("a number ≥ 0", lambda value: value >= 0)
squarable = number("a number from 0 to 1e150", lambda value: 0 <= value <= 1e150)
boolean = one_of(True, False)
