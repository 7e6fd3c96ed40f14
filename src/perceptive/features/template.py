"""`Template`: a line of the template language as an object; the other kinds of lines beside it."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

MAX_OFFSET = 15  # of core/sequence/columns.hpp
LONGEST_AFFIX = 15
LAST_COLUMN = 9_999
MOST_CLUSTERS = 10_000
PLAIN = ("lower", "norm", "shape", "pattern", "length")  # functions of a column alone
AFFIXES = ("prefix", "suffix")
READINGS = ("lower", "norm")  # what affixes may be of, beside columns
KINDS = {
    "has": ("digit", "hyphen", "upper", "lower", "punctuation", "dot"),
    "is": ("capitalised", "upper", "number", "title", "punctuation"),
}


@dataclass(frozen=True)
class Term:
    """One thing that a template reads: a function of a column, at one place or more."""

    function: str  # "": the column itself
    argument: tuple[Any, ...]  # (1, 4) of affixes, kinds of has and is, (name,) of a dictionary, (100,) of clusters
    of: str | int | None  # a column's name or number; None: the first; of affixes also lower or norm
    first: int = 0
    last: int = 0
    joined: bool = False  # the places are read together

    def __post_init__(self) -> None:
        for end in ("first", "last"):
            place = whole(getattr(self, end))
            if place is None:
                raise TypeError(f"{self.base()}[{getattr(self, end)!r}]: an offset is a whole number")
            object.__setattr__(self, end, place)
        if isinstance(self.of, int) and self.of > LAST_COLUMN:
            raise ValueError(f"column {self.of}: the last that can be read is {LAST_COLUMN}")
        if self.last < self.first:
            raise ValueError(f"{str(self)!r}: the offsets run backwards")
        if max(-self.first, self.last) > MAX_OFFSET:
            far = self.last if self.last > MAX_OFFSET else self.first
            raise ValueError(f"offset {far} is too far away; at most {MAX_OFFSET}")
        if self.function in KINDS:
            for kind in self.argument:
                if kind not in KINDS[self.function]:
                    raise ValueError(f"{self.function}({kind}): choose from {', '.join(KINDS[self.function])}")
        if self.function == "cluster":
            (n,) = map(whole, self.argument)
            if n is None or not 2 <= n <= MOST_CLUSTERS:
                raise ValueError(f"cluster({self.argument[0]}): give a number of clusters, from 2 to {MOST_CLUSTERS:,}")
            object.__setattr__(self, "argument", (n,))
        if self.function in AFFIXES:
            low, high = map(whole, self.argument)
            if low is None or high is None:
                said = ", ".join(map(repr, self.argument))
                raise TypeError(f"{self.function}({said}): a number of characters is a whole number")
            object.__setattr__(self, "argument", (low, high))
            if not 1 <= low <= high <= LONGEST_AFFIX:
                raise ValueError(wrong_affix(self.function, _range(low, high)))

    def base(self, argument: str | None = None) -> str:
        """The term without its places; of several arguments, with one."""
        of = f"col {self.of}" if isinstance(self.of, int) else self.of
        if not self.function:
            return f"col({self.of})" if isinstance(self.of, int) else str(self.of)
        if argument is None and self.argument:
            affix = self.function in AFFIXES
            argument = _range(*self.argument) if affix else "|".join(map(str, self.argument))
        said = ", ".join(part for part in (argument, of) if part is not None)
        return f"{self.function}({said})" if said else self.function

    def __str__(self) -> str:
        if self.joined:
            return f"{self.base()}[{self.first}..{self.last}]"
        if self.first != self.last:
            return f"{self.base()}[{self.first}:{self.last}]"
        return f"{self.base()}[{self.first}]" if self.first else self.base()


@dataclass(frozen=True, repr=False)
class Template:
    """A line of the language: terms that are read together, the labels they are seen with, and a value.

    Made by the names of this module, by operators, or by `template` from text.

    Examples
    --------
    >>> from perceptive.features.terms import pos, suffix, word
    >>> word[-1:1] & suffix(3)
    template('word[-1:1] & suffix(3)')
    >>> suffix(2, of=pos)[-1]
    template('suffix(2, pos)[-1]')
    """

    terms: tuple[Term, ...] = ()
    labels: tuple[str, ...] = ()  # one weight for this set of labels
    before: tuple[str, ...] = ()  # and these labels one token before
    pairs: int = 0  # −1: pairs of labels, −2: triples
    value: float = 1.0
    bagged: bool = False
    words: tuple[tuple[str, tuple[str, ...]], ...] = field(default=(), compare=False)  # dictionaries given as words

    def __post_init__(self) -> None:
        _check_value(self)
        if self.value != 1.0 and (self.pairs or self.before):
            raise ValueError("pairs of labels cannot be scaled")
        if self.bagged and not self.terms:
            raise ValueError(f"{str(self)!r}: a bag needs at least one term; labels alone cannot be in it")
        if self.pairs == -2 and (self.terms or self.labels or self.before):
            raise ValueError("@label[-2] must be alone: triples of labels cannot be joined with other terms")

    def __getitem__(self, place: int | slice) -> Template:
        """Return the same at another place, or in a window that includes both ends."""
        term = self._term("be moved")
        first, last = (place.start, place.stop) if isinstance(place, slice) else (place, place)
        if isinstance(place, slice) and (first is None or last is None or place.step is not None):
            raise ValueError("a window has two ends and no step, as in word[-2:2]")
        return replace(self, terms=(replace(term, first=first, last=last, joined=False),))

    def __iter__(self) -> Iterator[Template]:
        raise TypeError("a template is not a sequence; give a window by its ends, as in word[-2:2]")

    def __call__(self, of: Template | str | int) -> Template:
        """Return the same template of another column."""
        term = self._term("be of a column")
        if term.function not in PLAIN:
            raise TypeError(f"{str(self)!r} cannot be called; give the column as of=")
        return replace(self, terms=(replace(term, of=column_of(of)),))

    def joined(self) -> Template:
        """The places of the window read together: one template instead of one for each."""
        return replace(self, terms=(replace(self._term("be joined"), joined=True),))

    def __and__(self, other: Template) -> Template:
        """Return the template that reads both together."""
        if not isinstance(other, Template):
            return NotImplemented
        for one in (self, other):
            if one.bagged or one.value != 1.0:
                raise ValueError(f"{str(one)!r} cannot be joined with others; make bags and values last")
        if (self.labels and other.labels) or (self.before and other.before):
            raise ValueError("a template may name y only once; join labels with 'or'")
        return Template(
            self.terms + other.terms,
            self.labels or other.labels,
            self.before or other.before,
            min(self.pairs, other.pairs),
            words=self.words + other.words,
        )

    def __mul__(self, value: float) -> Template:
        """Features of this value: their weights grow more slowly, or faster."""
        if isinstance(value, bool) or not isinstance(value, Real):
            return NotImplemented
        return replace(self, value=self.value * float(value))

    __rmul__ = __mul__

    def __str__(self) -> str:
        parts = [_written("y", self.labels), _written("y[-1]", self.before), *map(str, self.terms)]
        parts += [f"@label[{self.pairs}]"] if self.pairs else []
        line = " & ".join(filter(None, parts))
        line = f"bag({line})" if self.bagged else line
        return line if self.value == 1.0 else f"{line} * {self.value!r}"

    def __repr__(self) -> str:
        return f"template({str(self)!r})"

    def _term(self, what: str) -> Term:
        if len(self.terms) != 1 or self.labels or self.before or self.pairs or self.bagged or self.value != 1.0:
            raise TypeError(f"{str(self)!r} cannot {what}: only a single term can")
        return self.terms[0]


@dataclass(frozen=True)
class Columns:
    """The names of the columns."""

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        for i, name in enumerate(self.names):
            column_of(name)
            if name in self.names[:i]:
                raise ValueError(f"columns: two are named {name!r}; rename one")
        if not self.names:
            raise ValueError("columns names the columns, as in: columns word pos")

    def __str__(self) -> str:
        return " ".join(("columns", *self.names))


@dataclass(frozen=True)
class SegmentIn:
    """Whether a whole segment stands in a dictionary."""

    name: str
    words: tuple[tuple[str, tuple[str, ...]], ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"segment in({self.name})"


@dataclass(frozen=True, repr=False)
class Values:
    """Which of the values beside the columns are read, at which places, and times what."""

    prefix: str = ""  # of their names
    first: int = 0
    last: int = 0
    value: float = 1.0

    def __post_init__(self) -> None:
        if re.search(r"[\s()\[\]#*&]", self.prefix):
            raise ValueError(f"values({self.prefix}): the beginning of a name has no spaces, brackets, #, * or &")
        Term("values", (), None, self.first, self.last)  # checks the places
        _check_value(self)

    def __getitem__(self, place: int | slice) -> Values:
        """Return the same at another place, or in a window that includes both ends."""
        first, last = (place.start, place.stop) if isinstance(place, slice) else (place, place)
        return replace(self, first=first, last=last)

    def __mul__(self, value: float) -> Values:
        """Return the same template, its values multiplied by a number."""
        return replace(self, value=self.value * value)

    def __str__(self) -> str:
        name = f"values({self.prefix})" if self.prefix else "values"
        place = f"[{self.first}:{self.last}]" if self.first != self.last else f"[{self.first}]" if self.first else ""
        return name + place + (f" * {self.value!r}" if self.value != 1.0 else "")

    def __repr__(self) -> str:
        return f"template({str(self)!r})"


@dataclass(frozen=True)
class CrfppLine:
    """A line of a template file of CRF++."""

    text: str

    def __str__(self) -> str:
        return self.text


Line = Template | Columns | SegmentIn | Values | CrfppLine


def column_of(of: Template | str | int) -> str | int:
    """A column's name or number."""
    if isinstance(of, Template):
        term = of._term("be a column")
        if term.function or term.first or term.last or term.joined or term.of is None:
            raise ValueError(f"{str(of)!r} is not a column; give one, as word or column(2)")
        return term.of
    if isinstance(of, str) and not re.fullmatch(r"\w+", of):
        raise ValueError(f"column {of!r} cannot be named in a template; use letters, digits and _, or column(2)")
    if isinstance(of, str):
        return of
    number = whole(of)
    if number is None:
        raise TypeError(f"column {of!r}: give its name, or its number from 0")
    if number < 0:
        raise ValueError(f"column {of}: columns are numbered from 0")
    return number


def whole(value: Any) -> int | None:
    """A whole number of Python's or NumPy's as an int; None for anything else, and for truth values."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def wrong_affix(function: str, said: str) -> str:
    """What is wrong with a length of affixes."""
    return f"{function}({said}): give a number of characters, as 3 or 1..4, at most {LONGEST_AFFIX}"


def _check_value(line: Template | Values) -> None:
    if not 0 < line.value < 1e6:
        raise ValueError(f"{str(line)!r}: features cannot have the value {line.value}")


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}..{high}"


def _written(what: str, labels: tuple[str, ...]) -> str:
    said = " or ".join(f"{what}=={name}" for name in labels)
    return f"({said})" if len(labels) > 1 else said
