"""Feature templates: a small language that says which columns of which neighbours are read together.

A line is one or more terms, joined by ``&`` (or ``and``)::

    word[-2:2]                        five templates: the words from two before to two behind
    pos[-1..1]                        one template: the three tags together
    word[-1] & pos[0]                 a conjunction
    suffix(1..4)                      four templates; also prefix, with [offset]
    lower  norm  shape  pattern       of the word: Ibm-1993 is ibm-1993, ibm-0000, Xx+-d+, Xxx-dddd; length
    has(digit|hyphen|upper)           one template each; also lower, punctuation, dot
    is(capitalised|upper|number)      one template each; also title, punctuation
    lower(pos)  suffix(2, pos)        of another column; col(3) is the fourth one
    in(cities.txt)                    whether the word stands in a file, one to a line
    pos[-2..2] * 0.5                  features of value 0.5: their weights grow more slowly
    bag(word[-3:3])                   the words around, wherever they stand
    @label[-1]                        pairs of labels; joined with others: pairs of labels seen with these
    @label[-2]                        triples of labels (second order)
    (y==B or y==I) and capitalised    one weight for a set of labels; B is also B-NP, B-PP, …
    y==I and y[-1]==B and hyphenated  one weight for a set of pairs of labels
    segment in(streets.txt)           with segments=True: whether a whole segment, joined by spaces, stands in a file
    columns word pos                  names of the columns; these are the names if none are given

``#`` begins a comment. Lines of CRF++ (``U00:%x[-1,0]/%x[0,0]``, ``B``) are read as they are, and may be mixed in.
"""

from __future__ import annotations

import difflib
import itertools
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perceptive.features.presets import PRESETS

__all__ = ["PRESETS", "Templates"]

MAX_OFFSET = 15  # of core/columns.hpp
WRITTEN = {"bag": "bag(word[-2:2])", "columns": "columns word pos", "@label": "@label[-1]"}
FUNCTIONS = ("lower", "norm", "prefix", "suffix", "shape", "pattern", "has", "is", "length", "in", "col")
HAS = ("digit", "hyphen", "upper", "lower", "punctuation", "dot")
IS = ("capitalised", "upper", "number", "title", "punctuation")
SHORT = {"capitalised": "is(capitalised)", "hyphenated": "has(hyphen)", "token": "word"}

CRFPP = re.compile(r"^([UB])(?![a-z(])([^\s]*)$")
MACRO = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]")
TERM = re.compile(
    r"^(?P<name>@?[a-z_]+)\s*(?:\((?P<arguments>[^()]*)\))?\s*"
    r"(?:\[\s*(?P<first>[+-]?\d+)\s*(?:(?P<how>:|\.\.)\s*(?P<last>[+-]?\d+)\s*)?\])?$"
)
LABEL = re.compile(r"^y\s*(?:\[\s*(?P<offset>0|-1)\s*\])?\s*==\s*(?P<label>[^\s()&]+)$")

Part = tuple[int, int]  # column, offset
Column = tuple[str, int, int]  # function (or none), its number, base column
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
        What to call the text in messages.
    words : mapping, optional
        The words of the files that ``in(…)`` names; those not given are read.

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

    def __post_init__(self) -> None:
        self.columns = ["word", "pos"]
        self.n_base = 1
        self.derived: list[Column] = []
        self.dictionaries: dict[str, list[str]] = {}
        self.phrases: dict[str, list[str]] = {}  # dictionaries of whole segments
        self.state: list[tuple[int, list[Part]]] = []
        self.edge: list[tuple[int, list[Part]]] = []
        self.state_names: list[str] = []
        self.edge_names: list[str] = []
        self.state_sets: list[LabelSet | None] = []
        self.edge_sets: list[LabelSet | None] = []
        self.bigrams = self.trigrams = False
        self.scale: list[float] = []  # the value of each state template's features
        self._scale = 1.0
        self._names: dict[str, int] = {}
        self._read: list[tuple[list[tuple[int, list[Part]]], int, list[Unnumbered]]] = []
        for number, line in enumerate(self.text.splitlines(), 1):
            line = line.split("#", 1)[0].strip() if not line.lstrip().startswith(("U", "B")) else line.strip()
            if not line:
                continue
            try:
                self._line(line)
            except ValueError as error:
                raise ValueError(f"{self.where}, line {number}: {error}") from None
        self._settle()

    @classmethod
    def of(cls, given: Any) -> Templates:
        """Templates from a preset's name, the path of a file, lines, or templates."""
        if isinstance(given, Templates):
            return given
        if isinstance(given, str) and given in PRESETS:
            return cls(PRESETS[given], where=f"preset {given!r}")
        if isinstance(given, os.PathLike) or (isinstance(given, str) and _is_path(given)):
            return cls.read(given)
        if isinstance(given, str):
            return cls(given)
        if isinstance(given, Iterable):
            return cls("\n".join(map(str, given)))
        raise TypeError(
            f"templates are a {type(given).__name__}; give one of {', '.join(PRESETS)}, a file, or lines of templates"
        )

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Templates:
        """Templates from a file; the files that ``in(…)`` names are sought beside it."""
        folder = Path(path).parent
        text = Path(path).read_text(encoding="utf-8")
        names = re.findall(r"\bin\(\s*([^(),]+?)\s*(?:,[^()]*)?\)", text)
        words = {name: _words(folder / name) for name in names if (folder / name).exists()}
        return cls(text, where=os.fspath(path), words=words)

    def need(self, column: Column) -> int:
        """The number of a column, which is made if no template reads it."""
        if column not in self.derived:
            self.derived.append(column)
        return self.n_base + self.derived.index(column)

    def arguments(self) -> tuple[Any, ...]:
        """What the core's model is made from."""
        dictionaries = list(self.dictionaries.values())
        return self.n_base, self.derived, dictionaries, self.state, self.edge, self.bigrams, self.trigrams

    # ------------------------------------------------------------ lines

    def _line(self, line: str) -> None:
        self._scale = 1.0
        if re.match(r"columns(\s|$)", line):
            if line == "columns":
                raise ValueError("columns names the columns, as in: columns word pos")
            if self._names or self.bigrams:
                raise ValueError("name the columns before the first template")
            self.columns = line.split()[1:]
            return
        if (crfpp := CRFPP.match(line)) and (line == "B" or ":" in line or "%x" in line or line[1:].isalnum()):
            self._crfpp(crfpp[1], line)
            return
        if line.startswith("segment "):
            file = re.fullmatch(r"segment\s+in\(\s*([^()]+?)\s*\)", line)
            if file is None:
                raise ValueError(
                    f"{line!r}: segments are looked up by 'segment in(FILE)'; the rest is read without saying so"
                )
            self.phrases[file[1]] = list(self.words.get(file[1]) or _words(Path(file[1])))
            return
        scaled = re.fullmatch(r"(.*\S)\s*\*\s*([0-9]*\.?[0-9]+)", line)
        self._scale = float(scaled[2]) if scaled else 1.0
        if not 0 < self._scale < 1e6:
            raise ValueError(f"{line!r}: features cannot have the value {self._scale}")
        line = scaled[1] if scaled else line
        bag = re.fullmatch(r"bag\s*\((.*)\)", line)
        terms = [_trim(term) for term in re.split(r"\s*(?:&|\band\b)\s*", bag[1] if bag else line)]
        alternatives: list[list[tuple[str, list[Unnumbered]]]] = []
        labels, before, pairs = [], [], False
        for term in terms:
            if (chosen := _labels_of(term)) is not None:
                now, then = chosen
                labels += [now] if now else []
                before += [then] if then else []
            elif term.startswith("@"):
                offset = self._label_term(term)
                pairs = True
                if offset == -2:
                    if len(terms) > 1:
                        raise ValueError("@label[-2] stands alone: triples are not joined with what is seen")
                    self.trigrams = self.bigrams = True
                    return
            else:
                alternatives.append(self._term(term))
        if len(labels) > 1 or len(before) > 1:
            raise ValueError("a template says what y is at most once; join labels by 'or'")
        pairs = pairs or bool(before)
        if not alternatives and pairs and not labels and not before:
            self.bigrams = True
            return
        label_set = (labels[0] if labels else (), before[0] if before else ()) if labels or before else None
        for choice in itertools.product(*alternatives):
            parts = [part for _, some in choice for part in some]
            name = " & ".join(text for text, _ in choice)
            if label_set:
                said = [f"y in {{{', '.join(label_set[0])}}}"] if label_set[0] else []
                said += [f"y[-1] in {{{', '.join(label_set[1])}}}"] if label_set[1] else []
                name = " & ".join([*said, *([name] if name else [])])
            elif pairs:
                name += " & @label[-1]"
            key = re.sub(r"\[[^\]]*\]", "", name) if bag else name
            self._add(pairs, key, name if not bag else f"bag({key})", parts, label_set)

    def _add(
        self,
        pairs: bool,
        key: str,
        name: str,
        parts: list[Unnumbered],
        label_set: LabelSet | None,
    ) -> None:
        number = self._names.setdefault(key, len(self._names))
        for _, offset in parts:
            if abs(offset) > MAX_OFFSET:
                raise ValueError(f"offset {offset} is too far away; at most {MAX_OFFSET}")
        self._read.append((self.edge if pairs else self.state, number, parts))
        if pairs and self._scale != 1.0:
            raise ValueError("pairs of labels cannot be scaled")
        if pairs:
            self.edge_names.append(name)
            self.edge_sets.append(label_set)
        else:
            self.state_names.append(name)
            self.scale.append(self._scale)
            self.state_sets.append(label_set)

    def _crfpp(self, kind: str, line: str) -> None:
        if line == "B":
            self.bigrams = True
            return
        macros = [(int(row), int(column)) for row, column in MACRO.findall(line)]
        rest = MACRO.sub("", line)
        if "%x" in rest or "%" in rest:
            raise ValueError(f"{line!r}: a macro is written %x[row,column]")
        parts = [(("", 0, column), row) for row, column in macros]
        key = MACRO.sub(lambda macro: f"%x[{macro[2]}]", line)  # lines with one identifier share their features
        if kind == "B" and not parts:
            self.bigrams = True
            return
        self._add(kind == "B", key, line, parts, None)

    def _label_term(self, term: str) -> int:
        match = TERM.match(term)
        if match is None or match["name"] != "@label" or match["arguments"] is not None:
            raise ValueError(f"unknown directive {term!r}; labels are @label[-1], or @label[-2] for triples")
        first, last = int(match["first"] or -1), int(match["last"] or match["first"] or -1)
        if {first, last} - {-1, -2}:
            raise ValueError(f"{term!r}: only @label[-1] and @label[-2] can be looked at")
        return min(first, last)

    # ------------------------------------------------------------ terms

    def _term(self, term: str) -> list[tuple[str, list[Unnumbered]]]:
        """The alternatives that a term stands for, each with its name and parts."""
        term = SHORT.get(term, term)
        for short, long in SHORT.items():
            term = re.sub(rf"^{short}(?=\[)", long, term)
        match = TERM.match(term)
        if match is None:
            raise ValueError(f"cannot read {term!r}; a term is name(arguments)[offset]")
        name, arguments = match["name"], match["arguments"]
        first = int(match["first"] or 0)
        last = int(match["last"]) if match["last"] else first
        if last < first:
            raise ValueError(f"{term!r}: the offsets run backwards")
        if max(-first, last) > MAX_OFFSET:
            far = last if last > MAX_OFFSET else first
            raise ValueError(f"offset {far} is too far away; at most {MAX_OFFSET}")
        columns = self._columns_of(name, arguments)
        found = []
        for text, column in columns:
            if match["how"] == "..":
                parts = [(column, offset) for offset in range(first, last + 1)]
                found.append((f"{text}[{first}..{last}]", parts))
            else:
                found += [(f"{text}[{offset}]", [(column, offset)]) for offset in range(first, last + 1)]
        return found

    def _columns_of(self, name: str, arguments: str | None) -> list[tuple[str, Column]]:
        if name in self.columns and arguments is None:
            return [(name, ("", 0, self.columns.index(name)))]
        if name not in FUNCTIONS:
            if name in WRITTEN:
                raise ValueError(f"{name!r} does not stand so; it is written {WRITTEN[name]}")
            known = [*FUNCTIONS, *self.columns, *SHORT, "bag", "@label", "columns"]
            close = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
            raise ValueError(f"unknown directive {name!r}; {hint}")
        given = [argument.strip() for argument in (arguments or "").split(",") if argument.strip()]
        if name == "col":
            if len(given) != 1 or not given[0].isdigit():
                raise ValueError("col takes the number of a column, from 0: col(2)")
            return [(f"col({given[0]})", ("", 0, int(given[0])))]
        column, said = 0, ""
        needs = name in ("prefix", "suffix", "has", "is", "in")
        if len(given) == needs + 1:
            column, said = self._column(given.pop()), f", {given[-1] if needs else ''}"
            said = f", {self.columns[column] if column < len(self.columns) else f'col {column}'}"
        if len(given) != needs:
            raise ValueError(f"{name} takes {'one argument' if needs else 'no argument'}, and perhaps a column")
        if not needs:
            return [(f"{name}({said[2:]})" if said else name, (name, 0, column))]
        if name in ("prefix", "suffix"):
            low, _, high = given[0].partition("..")
            if not low.isdigit() or (high and not high.isdigit()) or not 1 <= int(low) <= int(high or low) <= 15:
                raise ValueError(f"{name}({given[0]}): give a number of characters, as 3 or 1..4, at most 15")
            return [(f"{name}({n}{said})", (name, n, column)) for n in range(int(low), int(high or low) + 1)]
        if name == "in":
            if given[0] not in self.dictionaries:
                self.dictionaries[given[0]] = list(self.words.get(given[0]) or _words(Path(given[0])))
            return [(f"in({given[0]}{said})", ("in", list(self.dictionaries).index(given[0]), column))]
        kinds = HAS if name == "has" else IS
        found = []
        for kind in map(str.strip, given[0].split("|")):
            if kind not in kinds:
                raise ValueError(f"{name}({kind}): choose from {', '.join(kinds)}")
            found.append((f"{name}({kind}{said})", (name, kinds.index(kind), column)))
        return found

    def _column(self, text: str) -> int:
        if text in self.columns:
            return self.columns.index(text)
        if match := re.fullmatch(r"col(?:\s|\()?(\d+)\)?", text):
            return int(match[1])
        raise ValueError(f"no column {text!r}; the columns are {', '.join(self.columns)}")

    def _settle(self) -> None:
        """Number the columns: first those of the data, then those derived from them."""
        columns = [column for _, _, parts in self._read for column, _ in parts]
        self.n_base = 1 + max((column[2] for column in columns), default=0)
        numbers: dict[Column, int] = {}
        for column in columns:
            if column[0] and column not in numbers:
                numbers[column] = self.n_base + len(numbers)
        self.derived = list(numbers)
        for where, name, parts in self._read:
            where.append((name, [(numbers[c] if c[0] else c[2], offset) for c, offset in parts]))


def _labels_of(term: str) -> LabelSet | None:
    """The labels that ``y==B or y==I`` allows, now and one token before; None if the term speaks of no label."""
    found: dict[str, list[str]] = {"0": [], "-1": []}
    for one in re.split(r"\s+or\s+", term):
        match = LABEL.match(_trim(one))
        if match is None:
            return None
        found[match["offset"] or "0"].append(match["label"])
    if found["0"] and found["-1"]:
        raise ValueError("join y==… and y[-1]==… by 'and'")
    return tuple(found["0"]), tuple(found["-1"])


def _trim(term: str) -> str:
    """Without spaces and one pair of parentheses around it all."""
    term = term.strip()
    while term.startswith("(") and term.endswith(")"):
        term = term[1:-1].strip()
    return term


def _is_path(text: str) -> bool:
    return "\n" not in text and len(text) < 4096 and (os.path.exists(text) or text.endswith((".txt", ".template")))


def _words(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except FileNotFoundError:
        raise ValueError(f"in({path}): there is no such file") from None


def matches(label: str, wanted: Iterable[str]) -> bool:
    """Whether a label is one of those that a template names: B is B and B-NP."""
    return any(label == one or label.startswith(one + "-") for one in wanted)
