"""The language of templates: from a line of text to a `Template`, which prints as such a line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from perceptive.features.template import (
    AFFIXES,
    KINDS,
    PLAIN,
    READINGS,
    Columns,
    CrfppLine,
    Line,
    SegmentIn,
    Template,
    Term,
    Values,
    wrong_affix,
)

COLUMNS = ("word", "pos")
LONGEST_LINE = 4096
FUNCTIONS = ("lower", "norm", "prefix", "suffix", "shape", "pattern", "has", "is", "length", "in", "cluster", "col")
SHORT = {"capitalised": "is(capitalised)", "hyphenated": "has(hyphen)", "token": "word"}
WRITTEN = {
    "bag": "bag(word[-2:2])",
    "columns": "columns word pos",
    "@label": "@label[-1]",
    "values": "values(emb) in a line",
}

CRFPP = re.compile(r"B|[UB][0-9]+|[UB][^\s:%\[(]*:.*|[UB].*%x\[.*")
VALUES = re.compile(
    r"values\s*(?:\((?P<prefix>[^()]*)\))?\s*(?:\[\s*(?P<first>[+-]?\d+)\s*(?::\s*(?P<last>[+-]?\d+)\s*)?\])?"
)
TERM = re.compile(
    r"^(?P<name>@?\w+)\s*(?:\((?P<arguments>[^()]*)\))?\s*"
    r"(?:\[\s*(?P<first>[+-]?\d+)\s*(?:(?P<how>:|\.\.)\s*(?P<last>[+-]?\d+)\s*)?\])?$"
)
LABEL = re.compile(r"^y\s*(?:\[\s*(?P<offset>0|-1)\s*\])?\s*==\s*(?P<label>[^\s()&]+)$")
SCALED = re.compile(r"(.*\S)\s*\*\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)", re.IGNORECASE)
AND = re.compile(r"&|\band\b")
OR = re.compile(r"\bor\b")


def template(text: str, columns: Sequence[str] = COLUMNS) -> Line:
    """A line of the language as an object.

    Parameters
    ----------
    columns : sequence of str
        The names of the columns.

    Examples
    --------
    >>> from perceptive.features.terms import pos, word
    >>> template("word[-1] and pos[0]") == word[-1] & pos
    True
    """
    line = text.strip()
    if len(line) > LONGEST_LINE:
        raise ValueError(f"a line of {len(line)} characters; write at most {LONGEST_LINE}")
    if re.match(r"columns(\s|$)", line):
        return Columns(tuple(line.split()[1:]))
    if CRFPP.fullmatch(line) and line not in columns:
        return CrfppLine(line)
    if line.startswith("segment "):
        file = re.fullmatch(r"segment\s+in\(\s*([^()]+?)\s*\)", line)
        if file is None:
            raise ValueError(f"{line!r}: write 'segment in(FILE)'; other templates need no 'segment'")
        return SegmentIn(file[1])
    scaled = SCALED.fullmatch(line)
    line = scaled[1] if scaled else line
    if (values := VALUES.fullmatch(line)) and line not in columns:
        first = int(values["first"] or 0)
        prefix, last = (values["prefix"] or "").strip(), int(values["last"] or first)
        return Values(prefix, first, last, float(scaled[2]) if scaled else 1.0)
    bagged = re.fullmatch(r"bag\s*\((.*)\)", line)
    found = Template()
    for part in _conjuncts(bagged[1] if bagged else line):
        found &= _parse(part, columns)
    return replace(found, bagged=bool(bagged), value=float(scaled[2]) if scaled else 1.0)


def _parse(part: str, columns: Sequence[str]) -> Template:
    labels = _labels_of(part)
    if labels is not None:
        return Template(labels=labels[0], before=labels[1])
    if part.startswith("@"):
        return _label_pairs(part)
    short = {name: long for name, long in SHORT.items() if name not in columns}
    part = re.sub(r"^\w+(?=\s*(?:\[|$))", lambda name: short.get(name[0], name[0]), part)
    match = TERM.match(part)
    if match is None:
        raise ValueError(f"cannot read {part!r}; a term is name(arguments)[offset]")
    first = int(match["first"] or 0)
    last = int(match["last"]) if match["last"] else first
    function, argument, of = _function_of(match["name"], match["arguments"], columns)
    return Template((Term(function, argument, of, first, last, match["how"] == ".."),))


def _label_pairs(part: str) -> Template:
    match = TERM.match(part)
    if match is None or match["name"] != "@label" or match["arguments"] is not None:
        raise ValueError(f"unknown directive {part!r}; labels are @label[-1], or @label[-2] for triples")
    first, last = int(match["first"] or -1), int(match["last"] or match["first"] or -1)
    if {first, last} - {-1, -2}:
        raise ValueError(f"{part!r}: only @label[-1] and @label[-2] can be looked at")
    return Template(pairs=min(first, last))


def _function_of(
    name: str, arguments: str | None, columns: Sequence[str]
) -> tuple[str, tuple[Any, ...], str | int | None]:
    if name in columns and arguments is None:
        return "", (), name
    if name not in FUNCTIONS:
        if name in WRITTEN:
            raise ValueError(f"{name!r} is not a term; write {WRITTEN[name]}")
        if name in columns or name == "token":
            raise ValueError(f"{name}({arguments}): a column takes no argument; write {name}, or {name}[-1]")
        if name in SHORT:
            long = SHORT[name].replace(")", f", {columns[-1]})")
            raise ValueError(f"{name}({arguments}): {name} takes no argument; of a column write {long}")
        known = [*FUNCTIONS, *columns, *SHORT, "bag", "@label", "columns", "values"]
        close = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
        raise ValueError(f"unknown directive {name!r}; {hint}")
    given = [argument.strip() for argument in (arguments or "").split(",") if argument.strip()]
    if name == "col":
        if len(given) != 1 or not given[0].isdecimal():
            raise ValueError("col takes the number of a column, from 0: col(2)")
        return "", (), int(given[0])
    needs = name not in PLAIN
    readable = (*columns, *READINGS) if name in AFFIXES else columns
    of = _named_column(given.pop(), readable) if len(given) == needs + 1 else None
    if len(given) != needs:
        raise ValueError(f"{name} takes {'one argument' if needs else 'no argument'}, and perhaps a column")
    if not needs:
        return name, (), of
    if name in AFFIXES:
        low, _, high = given[0].partition("..")
        if not low.isdecimal() or (high and not high.isdecimal()):
            raise ValueError(wrong_affix(name, given[0]))
        return name, (int(low), int(high or low)), of
    if name == "cluster":
        return name, (int(given[0]) if given[0].isdecimal() else given[0],), of
    return name, tuple(map(str.strip, given[0].split("|"))) if name in KINDS else (given[0],), of


def _named_column(text: str, columns: Sequence[str]) -> str | int:
    if text in columns:
        return text
    if match := re.fullmatch(r"col(?:\s|\()?(\d+)\)?", text):
        return int(match[1])
    raise ValueError(f"no column {text!r}; the columns are {', '.join(columns)}")


def _labels_of(part: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The labels that ``y==B or y==I`` allows, now and one token before; None if the part speaks of no label."""
    found: dict[str, list[str]] = {"0": [], "-1": []}
    for one in _split(part, OR):
        match = LABEL.match(_trim(one))
        if match is None:
            return None
        found[match["offset"] or "0"].append(match["label"])
    if found["0"] and found["-1"]:
        raise ValueError("join y==… and y[-1]==… by 'and'")
    return tuple(found["0"]), tuple(found["-1"])


def _conjuncts(text: str) -> Iterator[str]:
    """What is joined by & and 'and', outside parentheses and within those around it all."""
    waiting = [text]
    while waiting:
        text = _trim(waiting.pop())
        parts = _split(text, AND)
        if len(parts) == 1:
            yield text
        else:
            waiting += reversed(parts)


def _split(text: str, separator: re.Pattern[str]) -> list[str]:
    """Split outside parentheses."""
    depths, depth = [], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        depths.append(depth)
    parts, begin = [], 0
    for match in separator.finditer(text):
        if depths[match.start()] == 0:
            parts.append(text[begin : match.start()])
            begin = match.end()
    return [*parts, text[begin:]]


def _trim(text: str) -> str:
    """Without spaces and parentheses around it all."""
    text = text.strip()
    while text.startswith("(") and text.endswith(")"):
        depth = 0
        for i, character in enumerate(text):
            depth += (character == "(") - (character == ")")
            if depth == 0 and i < len(text) - 1:
                return text
        text = text[1:-1].strip()
    return text
