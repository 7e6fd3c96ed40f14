"""Build the signature and the documentation of an estimator from its groups of parameters."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import make_dataclass
from typing import Any, TypeVar

from perceptive.declarations import Checked, Declaration, declared

PARAMETERS, RUN = "    {parameters}\n", "    {run}\n"  # placeholders in docstrings
WIDTH = 112
ATTRIBUTES = """\
    n_iter_ : int
        Epochs played.
    mistakes_, updates_, loss_ : arrays
        Per epoch of `fit` or call of `partial_fit`: mistakes, updates, and the perceptron criterion summed over the
        mistakes when they happened. ``learner_.mistakes`` and ``learner_.updates`` also count `learn_one`.
    history_ : list of dict
        The same per epoch, by name; with ``shards`` also the seconds spent on computing, waiting and mixing.
    rounds_ : int
        Examples played, over all epochs and problems.
    converged_ : bool
        Whether an epoch had no mistake and no update.
    held_out_ : array
        Score on the held-out part, per epoch.
    certificate_ : Certificate
        With ``certify=True``.
    learner_ : {learner}
        The learner itself.
"""

Estimator = TypeVar("Estimator", bound=type)
Values = TypeVar("Values", bound=Checked)


def with_parameters(cls: Estimator) -> Estimator:
    """Give an estimator the parameters of its groups, as keywords, and describe them in its docstring.

    A docstring may also contain ``{run}``, for the attributes of a run. `__init__` calls ``__post_init__`` at its end,
    if there is one.

    >>> from sklearn.base import BaseEstimator
    >>> from perceptive.parameter_groups import SeedGroup
    >>> @with_parameters
    ... class Guess(SeedGroup, BaseEstimator):
    ...     '''A guess.
    ...
    ...     {parameters}
    ...     '''
    >>> Guess(random_state=3)
    Guess(random_state=3)
    >>> print(Guess.__doc__)
    A guess.
    <BLANKLINE>
        Parameters
        ----------
        random_state : int, default=0
            Seed of the shuffling and of the random hypothesis.
    <BLANKLINE>
    """
    parameters = declared(cls)
    hook = {"__post_init__": cls.__post_init__} if hasattr(cls, "__post_init__") else {}
    keywords = [(name, one.facts["type"], one.facts["default"]) for name, one in parameters.items()]
    made: Any = make_dataclass(cls.__name__, keywords, kw_only=True, eq=False, repr=False, namespace=hook)
    made.__init__.__qualname__, made.__init__.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    cls.__init__ = made.__init__  # type: ignore[misc]
    for name, one in parameters.items():
        setattr(cls, name, one.facts["default"])
    section = "Parameters\n----------\n" + "".join(_described(name, one) for name, one in parameters.items())
    doc = (cls.__doc__ or "").replace(PARAMETERS, textwrap.indent(section, "    "))
    if RUN in doc:
        doc = doc.replace(RUN, ATTRIBUTES.format(learner=cls._learner.__name__))  # type: ignore[attr-defined]
    cls.__doc__ = doc
    return cls


def checked(given: Mapping[str, Any], parameters: type[Values]) -> Values:
    """Check the given values of some parameters; raise `ParameterError` if one is not possible."""
    return parameters(**{name: given[name] for name in parameters.defaults if name in given})


def _described(name: str, one: Declaration) -> str:
    """An entry of the section "Parameters", as numpydoc has it."""
    text: str = one.facts.get("doc") or one.facts["help"]
    first = text.split()[0]
    if first[0].isascii() and not first.endswith(":"):  # Greek letters and names of rules stay small
        text = text[0].upper() + text[1:]
    lines = textwrap.wrap(text.removesuffix(".") + ".", WIDTH)
    return (
        f"{name} : {_kind(one)}, default={_quoted(one.facts['default'])}\n"
        + textwrap.indent("\n".join(lines), "    ")
        + "\n"
    )


def _kind(one: Declaration) -> str:
    choices = getattr(one.facts["check"], "choices", None)
    if choices is None or True in choices:
        return str(one.facts.get("kind") or one.facts["type"].replace(" | ", " or "))
    shown = [choice for choice in choices if choice != "none" or None not in choices]  # "none" is the command line's
    return f"one of {', '.join(map(_quoted, shown))}"  # in braces, the site would take the first for the default


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
