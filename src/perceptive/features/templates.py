"""Feature templates: a small language that says which columns of which neighbours are read together.

A line is one or more terms, joined by ``&`` (or ``and``)::

    word[-2:2]                        five templates: the words from two before to two after
    pos[-1..1]                        one template: the three tags together
    word[-1] & pos[0]                 a conjunction
    suffix(1..4)                      four templates; also prefix, with [offset]
    lower  norm  shape  pattern       of the word: Ibm-1993 is ibm-1993, ibm-0000, Xx+-d+, Xxx-dddd; length
    has(digit|hyphen|upper)           one template each; also lower, punctuation, dot
    is(capitalised|upper|number)      one template each; also title, punctuation
    lower(pos)  suffix(2, pos)        of another column; col(3) is the fourth one
    prefix(3, lower) suffix(2, norm)  affixes in lower case; with norm, digits are 0
    in(cities.txt)                    whether the word is in a file, one per line; a tab and a value may follow it
    cluster(100)                      which of 100 clusters the word is in: see `features.clusters`
    pos[-2..2] * 0.5                  features of value 0.5: their weights grow more slowly
    bag(word[-3:3])                   the words around, in any place
    @label[-1]                        pairs of labels; joined with others: pairs of labels seen with these
    @label[-2]                        triples of labels (second order)
    (y==B or y==I) and capitalised    one weight for a set of labels; B is also B-NP, B-PP, …
    y==I and y[-1]==B and hyphenated  one weight for a set of pairs of labels
    segment in(streets.txt)           with segments=True: whether a whole segment, joined by spaces, is in a file
    values(emb)[-1:1] * 0.5           the token's values with names that begin so; values: all
    columns word pos                  names of the columns; these are the default

``#`` begins a comment. If no line mentions values, all values of the token are read. CRF++ lines
(``U00:%x[-1,0]/%x[0,0]``, ``B``) are read unchanged, including spaces, and may be mixed in. `perceptive.features.terms`
has the same as Python objects.
"""

from __future__ import annotations

import copy
import itertools
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from perceptive.features.clusters import Contexts, clusters, contexts_of
from perceptive.features.presets import PRESETS
from perceptive.features.template import AFFIXES, KINDS, Columns, CrfppLine, Line, SegmentIn, Template, Term, Values
from perceptive.features.template_language import COLUMNS, CRFPP, template

__all__ = ["PRESETS", "Templates"]

MOST_OF_LINE = 1_000
MOST = 10_000  # templates; model files number them in 16 bits
NO_LINE = re.compile(r"[^\s()\[\]*=&:]+")  # with a dot or a slash in it
NAME = re.compile(r"[\w+-]+")
NO_MACRO = re.compile(r"U[0-9]+(?::.*)?|B[0-9]+:\s*\S.*")  # meant to read something; U:NAME and B01 are not
MACRO = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]")

Part = tuple[int, int]  # column, offset


class Column(NamedTuple):
    """A column of the data, or one derived from it."""

    function: str  # "": the column itself
    number: int  # of characters, of the kind, of the dictionary
    base: int
    of: str = ""  # lower or norm: how the strings of the base are read before


Unnumbered = tuple[Column, int]
LabelSet = tuple[tuple[str, ...], tuple[str, ...]]  # labels of y, of y[-1]


@dataclass
class Templates:
    """Templates, ready for the core.

    Parameters
    ----------
    text : str
        Lines of the language above.
    where : str
        The name of the text in messages.
    words : mapping, optional
        The words of the files in ``in(…)``; files not given here are read.
    reads : bool
        Whether files may be read; if not, all words must be given.

    Examples
    --------
    >>> templates = Templates("word[-1:1]\\nsuffix(2) & @label[-1]")
    >>> templates.state_names
    ['word[-1]', 'word[0]', 'word[1]']
    >>> templates.edge_names, templates.bigrams
    (['suffix(2)[0] & @label[-1]'], False)
    >>> Templates("word[0]\\nsufix(3)")
    Traceback (most recent call last):
    ValueError: template, line 2: unknown directive 'sufix'; did you mean 'suffix'?
    """

    text: str
    where: str = "template"
    words: Mapping[str, list[str]] = field(default_factory=dict)
    reads: bool = True

    def __post_init__(self) -> None:
        self.columns = list(COLUMNS)
        self.n_base = 1
        self.derived: list[Column] = []
        self.dictionaries: dict[str, list[str]] = {}
        self.clusters: dict[str, tuple[int, int]] = {}  # dictionaries that are learned: how many, of which column
        self.phrases: dict[str, list[str]] = {}  # dictionaries of whole segments
        self.values: list[Values] = []
        self.state: list[tuple[int, list[Part]]] = []
        self.edge: list[tuple[int, list[Part]]] = []
        self.state_names: list[str] = []
        self.edge_names: list[str] = []
        self.state_sets: list[LabelSet | None] = []
        self.edge_sets: list[LabelSet | None] = []
        self.bigrams = self.trigrams = False
        self.scale: list[float] = []  # the value of each state template's features
        self.lines_of_labels: dict[tuple[str, ...], int] = {}  # where labels are first named together
        self._names: dict[str, int] = {}
        self._read: list[tuple[list[tuple[int, list[Part]]], int, list[Unnumbered]]] = []
        for number, line in enumerate(self.text.splitlines(), 1):
            line = line.strip() if CRFPP.fullmatch(line.strip()) else line.split("#", 1)[0].strip()
            if not line:
                continue
            try:
                made = template(line, self.columns)
                self._line(made)
            except ValueError as error:
                raise ValueError(f"{self.where}, line {number}: {error}") from None
            if isinstance(made, Template):
                for labels in filter(None, (made.labels, made.before)):
                    self.lines_of_labels.setdefault(labels, number)
        self._settle()

    @property
    def empty(self) -> bool:
        """Whether no template reads anything, and none uses neighbouring labels."""
        return not (self._read or self.bigrams or self.phrases or self.values)

    @property
    def unlearned(self) -> list[str]:
        """The clusters that must still be learned, from the first sentences."""
        return [name for name in self.clusters if name not in self.words]

    def contexts(self, X: Iterable[Sequence[Any]]) -> dict[int, Contexts]:
        """Return what clusters are learned from, for each column with clusters."""
        return {column: contexts_of(X, column, self.n_base) for _, column in self.clusters.values()}

    def with_clusters(self, contexts: Mapping[int, Contexts]) -> Templates:
        """Return the same templates, with clusters learned from these contexts."""
        words = {**self.dictionaries, **self.phrases}
        for name in self.unlearned:
            k, column = self.clusters[name]
            words[name] = [f"{word}\t{of}" for word, of in clusters(contexts[column], column, k).items()]
        return Templates(self.text, self.where, words, reads=False)

    def copy(self) -> Templates:
        """Return a copy; columns that the copy adds are not added here."""
        made = copy.copy(self)
        made.derived = list(self.derived)
        return made

    @classmethod
    def of(cls, given: Any) -> Templates:
        """Make templates from a preset's name, the path of a file, lines, objects, or templates."""
        if isinstance(given, Templates):
            return given
        if isinstance(given, Line):
            given = [given]
        if isinstance(given, str) and given in PRESETS:
            return cls(PRESETS[given], where=f"preset {given!r}")
        if isinstance(given, os.PathLike) or (isinstance(given, str) and _is_path(given)):
            return cls.read(given)
        if isinstance(given, str):
            try:
                return cls(given)
            except ValueError as error:
                if NAME.fullmatch(given):  # a preset, perhaps
                    raise ValueError(f"{error}; presets are {', '.join(PRESETS)}") from None
                raise
        if isinstance(given, Iterable):
            lines = list(given)
            for line in lines:
                if not isinstance(line, str | Line):
                    raise TypeError(f"a template is a {type(line).__name__}; give lines, or what features.terms makes")
            return cls("\n".join(map(str, lines)), words=_dictionaries(lines))
        raise TypeError(
            f"templates are a {type(given).__name__}; give one of {', '.join(PRESETS)}, a file, or lines of templates"
        )

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Templates:
        """Read templates from a file; the files in ``in(…)`` are relative to its folder."""
        folder = Path(path).parent
        if not os.path.exists(path):
            raise FileNotFoundError(f"{os.fspath(path)}: no such file; presets are {', '.join(PRESETS)}")
        text = _text(Path(path), os.fspath(path))
        words = {name: _words(folder / name) for name in _named(text) if (folder / name).exists()}
        return cls(text, where=os.fspath(path), words=words)

    @staticmethod
    def files(given: str) -> list[str]:
        """Return all files that templates use: their own, and those in ``in(…)``."""
        if given in PRESETS or (_is_path(given) and not os.path.exists(given)):
            return []
        names = _named(_text(Path(given), given) if _is_path(given) else given)
        beside = [os.path.join(os.path.dirname(given), name) for name in names] if _is_path(given) else []
        return [*([given] if _is_path(given) else []), *beside, *names]

    def need(self, column: Column) -> int:
        """Return the number of a column; add it if no template reads it."""
        if column not in self.derived:
            self.derived.append(column)
        return self.n_base + self.derived.index(column)

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of the core's model."""
        dictionaries = list(self.dictionaries.values())
        return self.n_base, self.derived, dictionaries, self.state, self.edge, self.bigrams, self.trigrams

    # ------------------------------------------------------------ lines

    def _line(self, line: Line) -> None:
        if isinstance(line, Columns):
            if self._names or self.bigrams:
                raise ValueError("name the columns before the first template")
            self.columns = list(line.names)
        elif isinstance(line, CrfppLine):
            self._crfpp(line.text)
        elif isinstance(line, SegmentIn):
            self.phrases[line.name] = self._words(line.name)
        elif isinstance(line, Values):
            self.values.append(line)
        else:
            self._template(line)

    def _template(self, line: Template) -> None:
        pairs = bool(line.pairs or line.before)
        label_set = (line.labels, line.before) if line.labels or line.before else None
        if pairs and not line.terms and not label_set:  # triples stand alone
            self.bigrams, self.trigrams = True, self.trigrams or line.pairs == -2
            return
        alternatives = list(map(self._alternatives, line.terms))
        if (n := math.prod(map(len, alternatives))) > MOST_OF_LINE:
            raise ValueError(f"{n:,} templates in a line; at most {MOST_OF_LINE:,}: choose smaller windows")
        for choice in itertools.product(*alternatives):
            parts = [part for _, some in choice for part in some]
            name = " & ".join(text for text, _ in choice)
            if label_set:
                said = [f"y in {{{', '.join(line.labels)}}}"] if line.labels else []
                said += [f"y[-1] in {{{', '.join(line.before)}}}"] if line.before else []
                name = " & ".join([*said, *([name] if name else [])])
            elif pairs:
                name += " & @label[-1]"
            key = re.sub(r"\[[^\]]*\]", "", name) if line.bagged else name
            self._add(pairs, key, f"bag({key})" if line.bagged else name, parts, label_set, line.value)

    def _add(
        self,
        pairs: bool,
        key: str,
        name: str,
        parts: list[Unnumbered],
        label_set: LabelSet | None,
        value: float = 1.0,
    ) -> None:
        if len(self._read) == MOST:
            raise ValueError(f"more than {MOST:,} templates; leave some out")
        number = self._names.setdefault(key, len(self._names))
        self._read.append((self.edge if pairs else self.state, number, parts))
        (self.edge_names if pairs else self.state_names).append(name)
        (self.edge_sets if pairs else self.state_sets).append(label_set)
        if not pairs:
            self.scale.append(value)

    def _crfpp(self, line: str) -> None:
        macros = [(int(row), int(column)) for row, column in MACRO.findall(line)]
        if "%" in MACRO.sub("", line):
            raise ValueError(f"{line!r}: a macro is written %x[row,column]")
        if self.reads and not macros and NO_MACRO.fullmatch(line):  # older models may have such lines
            name = line.partition(":")[0]
            constant = "B is for pairs of labels alone" if line[0] == "B" else "U:NAME is a constant feature"
            raise ValueError(f"{line!r} reads nothing; write {name}:%x[row,column], as {name}:%x[0,0] ({constant})")
        terms = [Term("", (), column, row, row) for row, column in macros]  # which look at both numbers
        parts = [part for term in terms for _, some in self._alternatives(term) for part in some]
        key = MACRO.sub(lambda macro: f"%x[{macro[2]}]", line)  # lines with one identifier share their features
        if line[0] == "B" and not parts:
            self.bigrams = True
            return
        self._add(line[0] == "B", key, line, parts, None)

    # ------------------------------------------------------------ terms

    def _alternatives(self, term: Term) -> list[tuple[str, list[Unnumbered]]]:
        """What a term stands for: templates, each with its name and parts."""
        found = []
        places = range(term.first, term.last + 1)
        for text, column in self._columns_of(term):
            if term.joined:
                found.append((f"{text}[{term.first}..{term.last}]", [(column, offset) for offset in places]))
            else:
                found += [(f"{text}[{offset}]", [(column, offset)]) for offset in places]
        return found

    def _columns_of(self, term: Term) -> list[tuple[str, Column]]:
        base, reading = 0, ""
        if isinstance(term.of, int):
            base = term.of
        elif term.of in self.columns:
            base = self.columns.index(term.of)
        elif term.of is not None:
            reading = term.of
        function = term.function
        if not function or not term.argument:
            return [(term.base(), Column(function, 0, base))]
        if function in AFFIXES:
            low, high = term.argument
            return [(term.base(str(n)), Column(function, n, base, reading)) for n in range(low, high + 1)]
        if function == "in":
            (name,) = term.argument
            if name not in self.dictionaries:
                self.dictionaries[name] = self._words(name)
            return [(term.base(), Column("in", list(self.dictionaries).index(name), base))]
        if function == "cluster":
            name = term.base()
            if name not in self.dictionaries:
                self.clusters[name] = term.argument[0], base
                self.dictionaries[name] = list(self.words.get(name, ()))
            return [(name, Column("in", list(self.dictionaries).index(name), base, "norm"))]
        return [(term.base(kind), Column(function, KINDS[function].index(kind), base)) for kind in term.argument]

    def _words(self, name: str) -> list[str]:
        if name in self.words:
            return list(self.words[name])
        if not self.reads:
            raise ValueError(f"in({name}): its words are not given")
        return _words(Path(name))

    def _settle(self) -> None:
        """Number the columns: first those of the data, then those derived from them."""
        columns = [column for _, _, parts in self._read for column, _ in parts]
        self.n_base = 1 + max((column.base for column in columns), default=0)
        numbers: dict[Column, int] = {}
        for column in columns:
            if column.function and column not in numbers:
                numbers[column] = self.n_base + len(numbers)
        self.derived = list(numbers)
        for where, name, parts in self._read:
            where.append((name, [(numbers[c] if c.function else c.base, offset) for c, offset in parts]))


def _named(text: str) -> list[str]:
    """The dictionaries that templates name."""
    return re.findall(r"\bin\(\s*([^(),]+?)\s*(?:,[^()]*)?\)", text)


def _dictionaries(lines: Iterable[Any]) -> dict[str, list[str]]:
    """The dictionaries that came with the templates."""
    found: dict[str, list[str]] = {}
    for line in lines:
        for name, words in getattr(line, "words", ()):
            if found.setdefault(name, list(words)) != list(words):
                raise ValueError(f"in({name}): there are two dictionaries of this name; rename one")
    return found


def _is_path(text: str) -> bool:
    if "\n" in text or len(text) >= 4096:
        return False
    like_one = ("." in text or "/" in text) and NO_LINE.fullmatch(text) is not None
    return os.path.exists(text) or text.endswith((".txt", ".template")) or like_one


def _words(path: Path) -> list[str]:
    try:
        return [line.strip() for line in _text(path, f"in({path})").splitlines() if line.strip()]
    except FileNotFoundError:
        raise ValueError(f"in({path}): there is no such file") from None


def _text(path: Path, where: str) -> str:
    try:
        return path.read_text(encoding="utf-8").removeprefix("\ufeff")  # some editors begin with a mark
    except UnicodeDecodeError as error:
        raise ValueError(f"{where}: byte {error.start} is not UTF-8; write the file in UTF-8") from None


def matches(label: str, wanted: Iterable[str]) -> bool:
    """Return whether a label is one of those that a template names: B matches B and B-NP."""
    return any(label == one or label.startswith(one + "-") for one in wanted)
