r"""CoNLL-U, the format of Universal Dependencies: ten named columns, separated by tabs.

Comments, ranges of tokens that are one written word (``3-4``), and empty nodes (``4.1``) are not tokens. ``feats.Case``
and ``misc.SpaceAfter`` are entries of the lists in these columns; ``_`` if there is no such entry.

>>> row = tuple("1 Dogs dog NOUN NNS Number=Plur 2 nsubj _ SpaceAfter=No".split())
>>> cell(row, "form"), cell(row, "feats.Number"), cell(row, "feats.Case")
('Dogs', 'Plur', '_')
>>> changed(row, "misc.NER", "O")[-1]
'NER=O|SpaceAfter=No'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from perceptive.errors import Parameter, ParameterError, plural
from perceptive.streams.blocks import shown
from perceptive.streams.sentence import Place, Row, Sentence
from perceptive.streams.text_lines import UTF8, text_lines

NAMES = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
LISTS = ("feats", "misc")  # of name=value, separated by |
OPEN = ("upos", "xpos", "head", "deprel")  # every token has one, so that _ says that it is not known
LABEL = "upos"  # where no other column is named
TOKEN = re.compile(r"[0-9]+")
NO_TOKEN = re.compile(r"[0-9]+(?:-[0-9]+|\.[0-9]+)")


def is_conllu(lines: Sequence[str]) -> bool:
    r"""Return whether a file that begins with these lines is CoNLL-U: ten columns, the first with numbers from 1.

    Examples
    --------
    >>> is_conllu(["# text = Hi", "1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_"]), is_conllu(["Hi UH O"])
    (True, False)
    """
    for line in lines:
        if line.strip(" \t\r") and not line.startswith("#"):
            row = line.rstrip("\r").split("\t")
            return len(row) == len(NAMES) and re.fullmatch(r"1|1-[0-9]+|0\.1", row[0]) is not None
    return False


def read_conllu(path: str, encoding: str = UTF8, live: bool = False) -> Iterator[list[Sentence]]:
    """Yield the sentences of a file, block by block; raise if a line is not CoNLL-U."""
    rows: list[Row] = []
    numbers: list[int] = []
    others: list[tuple[int, str]] = []

    def done() -> Sentence:
        return Sentence(rows, Place(shown(path), _compact(numbers)), "\t", others, True)

    for first, lines in text_lines(path, encoding, live):
        found: list[Sentence] = []
        for number, line in enumerate(lines, first):
            line = line.rstrip("\r")
            if not line.strip(" \t"):
                if rows:
                    found.append(done())
                    rows, numbers, others = [], [], []
                continue
            row = tuple(line.split("\t"))
            if line.startswith("#") or (len(row) == len(NAMES) and NO_TOKEN.fullmatch(row[0])):
                others.append((len(rows), line))
                continue
            if wrong := _misfit(row):
                yield found  # what precedes it is sound
                raise ValueError(f"{shown(path)}:{number}: {wrong}")
            rows.append(row)
            numbers.append(number)
        yield found
    if rows:
        yield [done()]


def _misfit(row: Row) -> str:
    """What is wrong with the line of a token, if anything is."""
    if len(row) != len(NAMES):
        columns = f"{len(row)} {plural(len(row), 'column')}"
        return f"{columns} where CoNLL-U has {len(NAMES)}, separated by tabs; give them all"
    if not TOKEN.fullmatch(row[0]):
        return f"the first column is {row[0][:40]!r}; CoNLL-U numbers tokens there: 3, 3-4 or 4.1"
    return ""


def _compact(numbers: list[int]) -> Sequence[int]:
    """Numbers that follow each other as a range, which takes less room."""
    whole = range(numbers[0], numbers[-1] + 1)
    return whole if len(whole) == len(numbers) else numbers


def check_name(name: str, option: str = "columns") -> str:
    """Return the name of a column; raise if CoNLL-U has none, naming the option."""
    column, dot, key = name.partition(".")
    if column in NAMES and (not dot or (column in LISTS and key)):
        return name
    known = ", ".join(NAMES)
    raise ParameterError(
        f"{{}}: CoNLL-U has the columns {known}, and feats.NAME and misc.NAME of what these list",
        Parameter(option, name),
    )


def cell(row: Row, name: str) -> str:
    """Return the value of a column, or one entry of a list."""
    column, _, key = name.partition(".")
    found = row[NAMES.index(column)]
    return _entries(found).get(key, "_") if key else found


def labels(rows: Sequence[Row], name: str) -> list[str | None]:
    """Return the value of a column for each token; None if it is unknown."""
    found = [cell(row, name) for row in rows]
    return [None if label == "_" and name in OPEN else label for label in found]


def changed(row: Row, name: str, value: str) -> Row:
    """Return a row with a different value in a column, or in one entry of a list; ``_`` removes the entry."""
    column, _, key = name.partition(".")
    at = NAMES.index(column)
    if key:
        entries = sorted({**_entries(row[at]), key: value}.items(), key=lambda one: one[0].lower())
        value = "|".join(f"{name}={one}" if one else name for name, one in entries if (name, one) != (key, "_"))
    return (*row[:at], value or "_", *row[at + 1 :])


def _entries(listed: str) -> dict[str, str]:
    if listed == "_":
        return {}
    parts = (part.partition("=") for part in listed.split("|"))
    return {name: value for name, _, value in parts}
