"""Templates as Python objects, and the language they are written in.

Objects print as lines of the language (`perceptive.features.templates`), and `template` makes them from lines. A list
of objects, lines or both can be used wherever templates can.

>>> from perceptive.features.terms import capitalised, label, pos, prefix, template, word, y
>>> word[-2:2]
template('word[-2:2]')
>>> [str(one) for one in (prefix(1, 4), word[-1] & pos[0:1].joined(), word & label[-1], pos[-2:2] * 0.5)]
['prefix(1..4)', 'word[-1] & pos[0..1]', 'word & @label[-1]', 'pos[-2:2] * 0.5']
>>> y.is_in("B", "I") & capitalised
template('(y==B or y==I) & is(capitalised)')
>>> template("(y==B or y==I) and capitalised") == y.is_in("B", "I") & capitalised
True

A window includes both ends, as in the language: ``word[-2:2]`` is five words. A set of words is a dictionary:

>>> from perceptive import SequenceTagger
>>> from perceptive.features.terms import in_
>>> tagger = SequenceTagger(template=[word, in_("cities", {"Rome", "Paris"}), label[-1]], hypothesis="last")
>>> tagger.fit([["to", "Rome"]], [["O", "B-LOC"]]).predict([["to", "Paris"]])
[['O', 'B-LOC']]
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from perceptive.features.template import PLAIN, READINGS, Columns, SegmentIn, Template, Term, Values, column_of, whole
from perceptive.features.template_language import AND, LABEL, OR, template

__all__ = [
    "bag", "capitalised", "column", "columns", "has", "hyphenated", "in_", "is_", "label", "length", "lower", "norm",
    "pattern", "pos", "prefix", "segment_in", "shape", "suffix", "template", "values", "word", "y",
]  # fmt: skip


def column(of: str | int) -> Template:
    """Read a column, by its name, or by its number from 0.

    Examples
    --------
    >>> column(2)[-1], column("lemma")
    (template('col(2)[-1]'), template('lemma'))
    """
    return Template((Term("", (), column_of(of)),))


def prefix(low: int, high: int | None = None, *, of: Template | str | int | None = None) -> Template:
    """Read the first characters: ``low`` of them, or a template each for ``low`` to ``high``.

    They may come from a column, or from `lower` or `norm`.
    """
    return _affix("prefix", low, high, of)


def suffix(low: int, high: int | None = None, *, of: Template | str | int | None = None) -> Template:
    """Read the last characters, in the same way.

    Examples
    --------
    >>> suffix(1, 4), suffix(3, of=norm)[-1]
    (template('suffix(1..4)'), template('suffix(3, norm)[-1]'))
    """
    return _affix("suffix", low, high, of)


def has(*kinds: str, of: Template | str | int | None = None) -> Template:
    """Test whether the word contains a digit, a hyphen, …; a template for each kind."""
    return _function("has", kinds, of)


def is_(*kinds: str, of: Template | str | int | None = None) -> Template:
    """Test whether the word is capitalised, a number, …; a template for each kind."""
    return _function("is", kinds, of)


def in_(name: str, words: Iterable[str] | None = None, *, of: Template | str | int | None = None) -> Template:
    """Test whether the word is in a dictionary: a file name, or any name and the words.

    Examples
    --------
    >>> in_("cities.txt") & capitalised, in_("cities", {"Rome", "Paris"})
    (template('in(cities.txt) & is(capitalised)'), template('in(cities)'))
    """
    made = _function("in", (_dictionary(name),), of)
    return made if words is None else replace(made, words=((name, _sorted(name, words)),))


def cluster(n: int, *, of: Template | str | int | None = None) -> Template:
    """Read the word's cluster (of n): words that occur with the same words and tags; see `features.clusters`.

    Examples
    --------
    >>> cluster(100)[-1:1], cluster(50) & pos
    (template('cluster(100)[-1:1]'), template('cluster(50) & pos'))
    """
    return _function("cluster", (n,), of)


def segment_in(name: str, words: Iterable[str] | None = None) -> SegmentIn:
    """With ``segments=True``: test whether a whole segment, joined by spaces, is in a dictionary."""
    return SegmentIn(_dictionary(name), () if words is None else ((name, _sorted(name, words)),))


def columns(*names: str) -> Columns:
    """Name the columns; put this before the templates that use the names."""
    return Columns(names)


def values(prefix: str = "") -> Values:
    """Read those of the token's values whose names begin so.

    Examples
    --------
    >>> values("emb")[-1:1] * 0.5
    template('values(emb)[-1:1] * 0.5')
    """
    return Values(prefix)


def bag(template: Template) -> Template:
    """Read the contents of a window, in any order.

    Examples
    --------
    >>> bag(word[-3:3])
    template('bag(word[-3:3])')
    """
    if not isinstance(template, Template):
        raise TypeError(f"bag({template!r}): give a template, as in bag(word[-3:3])")
    if template.value != 1.0:
        raise ValueError(f"{str(template)!r}: make a bag first, then give it a value")
    return replace(template, bagged=True)


class _LabelPairs:
    """``label[-1]``: pairs of labels; ``label[-2]``: triples."""

    def __getitem__(self, offset: int) -> Template:
        return template(f"@label[{offset}]")  # type: ignore[return-value]


@dataclass(frozen=True)
class _Label:
    """``y``: the label of the token; ``y[-1]``: that of the token before."""

    offset: int = 0

    def __getitem__(self, offset: int) -> _Label:
        place = whole(offset)
        if place not in (0, -1):
            raise ValueError(f"y[{offset}]: only y and y[-1] can be looked at")
        return _Label(place)

    def is_in(self, *labels: str) -> Template:
        """One weight for this set of labels; B is also B-NP, B-PP, …"""
        for name in labels:
            if not isinstance(name, str):
                raise TypeError(f"label {name!r}: give labels as strings")
            if LABEL.match(f"y=={name}") is None or AND.search(name) or OR.search(name) or re.search(r"[#*]", name):
                raise ValueError(f"label {name!r} cannot be written in a template")
        if not labels:
            raise ValueError("name at least one label")
        return Template(before=labels) if self.offset else Template(labels=labels)


def _affix(name: str, low: int, high: int | None, of: Template | str | int | None) -> Template:
    of = str(of) if isinstance(of, Template) and str(of) in READINGS else of
    return _function(name, (low, low if high is None else high), of)


def _function(name: str, argument: tuple[Any, ...], of: Template | str | int | None) -> Template:
    if not argument:
        raise ValueError(f"{name} takes one argument, and perhaps a column")
    return Template((Term(name, argument, None if of is None else column_of(of)),))


def _dictionary(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"dictionary {name!r}: give its name as a string")
    if not name.strip() or name != name.strip() or re.search(r"[(),#*&\n]|\band\b", name):
        raise ValueError(f"dictionary {name!r} cannot be named in a template; rename it")
    return name


def _sorted(name: str, words: Iterable[str]) -> tuple[str, ...]:
    if isinstance(words, str | bytes) or not isinstance(words, Iterable):
        raise TypeError(f"in({name}): the words are a {type(words).__name__}; give a set or a list of strings")
    words = list(words)
    for one in words:
        if not isinstance(one, str):
            raise TypeError(f"in({name}): {one!r} is not an entry; give strings")
    words = sorted(set(words))
    for one in words:
        if one != one.strip() or "\n" in one or not one:
            raise ValueError(f"in({name}): {one!r} is not an entry; leave out empty ones, line ends and outer spaces")
    return tuple(words)


word, pos = column("word"), column("pos")
lower, norm, shape, pattern, length = (Template((Term(name, (), None),)) for name in PLAIN)
capitalised = Template((Term("is", ("capitalised",), None),))
hyphenated = Template((Term("has", ("hyphen",), None),))
label = _LabelPairs()
y = _Label()
