"""Successive halving (Jamieson & Talwalkar 2016): every choice plays a little, and the best third of them plays on."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from perceptive.errors import plural

Choice = Mapping[str, Any]

# What is tried of the rules. C and r are as far apart as they make a difference.
RULES: tuple[Choice, ...] = (
    {"rule": "perceptron"},
    {"rule": "pa1", "C": 0.01},
    {"rule": "pa1", "C": 0.1},
    {"rule": "pa1", "C": 1.0},
    {"rule": "arow", "r": 0.1},
    {"rule": "arow", "r": 1.0},
    {"rule": "arow", "r": 10.0},
)
PAIRS: tuple[Choice, ...] = ({"pairs": "best"}, {"pairs": "worst"}, {"pairs": "all"})  # what a ranker learns from
STEP = 3  # how many times more epochs the next round plays, and how many times fewer choices


class Trial(NamedTuple):
    """A choice, how many epochs it was given, and its score on the held-out part."""

    choice: Choice
    epochs: int
    score: float


def rules_among(names: Collection[str]) -> list[Choice]:
    """Those of `RULES` that are known by one of these names."""
    return [choice for choice in RULES if choice["rule"] in names]


def products(*axes: Iterable[Choice]) -> list[Choice]:
    """Every choice of the first axis with every one of the second, and so on.

    Examples
    --------
    >>> products([{"C": 1}, {"C": 2}], [{"idf": True}])
    [{'C': 1, 'idf': True}, {'C': 2, 'idf': True}]
    """
    made: list[Choice] = [{}]
    for axis in axes:
        made = [{**one, **other} for one in made for other in axis]
    return made


def with_default(choices: Sequence[Choice], default: Choice) -> list[Choice]:
    """Choices of which the first is what is taken where nothing is tuned.

    Examples
    --------
    >>> with_default([{"C": 1}, {"C": 2}], {"C": 2}), with_default([{"C": 1}], {"C": 3})
    ([{'C': 2}, {'C': 1}], [{'C': 3}, {'C': 1}])
    """
    return [default, *(one for one in choices if one != default)]


def successive_halving(
    choices: Sequence[Choice],
    play: Callable[[Choice, int], float],
    epochs: int,
    tell: Callable[[str], None] | None = None,
    stays: Choice | None = None,
) -> list[Trial]:
    """Try choices: all of them for E/9 epochs, the best third for E/3, the best ninth for all E.

    ``play`` trains a choice for so many epochs, and gives its score; with equal scores the choice that comes first is
    the better one. ``tell`` is told how it goes. ``stays`` is a choice that plays to the end: rules that take
    small steps lose at first. Returns the best of the last round first; then those that went out, the latest first.

    Examples
    --------
    >>> slow = {"C": 1}, {"C": 2}, {"C": 3}, {"C": 4}
    >>> [tuple(trial) for trial in successive_halving(slow, lambda choice, epochs: choice["C"] * epochs / 100, 9)]
    [({'C': 4}, 9, 0.36), ({'C': 3}, 3, 0.09), ({'C': 2}, 1, 0.02), ({'C': 1}, 1, 0.01)]
    """
    if not choices:
        raise ValueError("there is nothing to choose from: every option that could be tuned is given")
    left, trials, out = list(choices), list[Trial](), list[Trial]()
    for length in sorted({max(1, epochs // STEP**2), max(1, epochs // STEP), epochs}):
        if tell is not None:
            tell(f"{len(left)} {plural(len(left), 'choice')}, epochs {length}")
        trials = sorted((Trial(choice, length, play(choice, length)) for choice in left), key=lambda one: -one.score)
        most = len(trials) if length == epochs else math.ceil(len(trials) / STEP)
        stay = [one for place, one in enumerate(trials) if place < most or one.choice == stays]
        left, out = [one.choice for one in stay], [*(one for one in trials if one not in stay), *out]
    return [*trials, *out]
