"""What the first rows of files give away: a header among texts, an index, texts and numbers that are read as words."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice, pairwise
from typing import Any

from perceptive import _core
from perceptive.errors import ParameterError, literal
from perceptive.streams import arrow
from perceptive.streams.blocks import peek, repeatable, shown
from perceptive.streams.file_format import INDEX, NAMED_FEATURES, FileFormat
from perceptive.streams.parsing import Log
from perceptive.streams.tables import first_objects
from perceptive.streams.token_lines import KEYS, is_tokens
from perceptive.streams.values import is_missing, is_number

ROWS = 100  # of a table, that are looked at
COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+")
WITH_UNIT = re.compile(r"([$€£¥] ?[+-]?[0-9][0-9.,]*|[+-]?[0-9][0-9.,]* ?[%$€£¥])")
CODE = re.compile(r"0[0-9]+")
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
FEWEST, WORDS = 10, 3  # values of a column that may be texts, and words of each, about
BEFORE_TEXT = re.compile(r"(__label__\S*\s+)+|[^\t]*\t")
HEADERS = (
    {"label", "class", "category", "target", "sentiment", "y"},
    {"text", "sentence", "review", "message", "document"},
)
Columns = Mapping[str, Sequence[Any]]


def look(files: Iterable[str], format: FileFormat, log: Log) -> FileFormat:
    """The format of files to learn from, without columns that only count the rows; the log is told what is odd."""
    if format.name in NAMED_FEATURES and not (format.lists or format.learned):
        _check_roles(format)
    for path in files:
        if format.name == "text":
            start = peek(path).decode(errors="replace")
            if (said := _header(start)) is not None:
                log.remark("first lines", f"{shown(path)}: {said}")
            texts = [BEFORE_TEXT.sub("", line) for line in islice(start.split("\n"), ROWS)]
            _check_words(path, texts, format, log)
        if format.name not in NAMED_FEATURES:
            continue
        columns = first_rows(path, format)
        if format.name == "json":
            _check_keys(path, columns, format, log)
        if format.name != "json" and (index := index_column(columns, format)) is not None:
            log.remark("index", f"{shown(path)}: {told_of_index(index)}, and is left out; rename it to keep it")
            format = replace(format, ignore=(*format.ignore, index))
        kinds = zip(columns, format.kinds(list(columns)), strict=True)
        text_key = "text" if format.name == "json" and format.text_column is None else None
        _check_words(path, columns.get(text_key or format.text_column or "", ()), format, log)
        columns = {name: columns[name] for name, kind in kinds if kind == "any" and name != text_key}
        said = _misread_numbers(columns)
        if said is not None:
            log.remark("first lines", f"{shown(path)}: {said}")
        if format.name == "csv" and (said := _codes(columns)) is not None:
            log.remark("codes", f"{shown(path)}: {said}")
        if (text := text_among(columns)) is not None:
            cure = f"read it as text with --text-column {shlex.quote(text)} (Python: text_column), or leave it out"
            log.remark("texts", f"{shown(path)}: {told_of_text(text)}; {cure}")
    return format


def _check_roles(format: FileFormat) -> None:
    """Raise if the column of the label, the weight or the text is to be left out, or has two of these roles."""
    named: dict[str | None, tuple[str, str]] = {}
    for option, role in (("label", "label"), ("weight", "weight"), ("text_column", "text")):
        name = getattr(format, option)
        if name in format.ignore:
            said = literal(f": {name!r} is the {role}, which training needs; ")
            raise ParameterError("{}" + said + "leave it out of this list, or name another with {}", "ignore", option)
        other, its = named.setdefault(name, (option, role))
        if name is not None and other != option:
            said = literal(f": {name!r} is the {its}, and cannot be the {role} too; ")
            raise ParameterError("{}" + said + "name another column here, or with {}", option, other)


def _check_keys(path: str, columns: Columns, format: FileFormat, log: Log) -> None:
    """Raise if JSON lines are for taggers: the label is a list of spans, or there are tokens and a label for each.

    Remark on keys to leave out that are not there.
    """
    labels = [key for key in KEYS if isinstance(next(iter(columns.get(key, ())), None), list)]
    if (
        not format.lists
        and format.label not in columns
        and labels
        and is_tokens({"tokens": columns.get("tokens", [0])[0]})
    ):
        raise ValueError(
            f"{shown(path)}: lines of tokens with a label for each ({labels[0]!r}) are for taggers; give --task tag "
            "(Python: SequenceTagger)"
        )
    if not format.lists and any(isinstance(label, list) for label in columns.get(format.label, ())[:1]):
        raise ValueError(
            f"{shown(path)}: {format.label!r} is a list, as texts with spans have it; train a tagger, --task tag "
            "(Python: SequenceTagger), or give each line one label"
        )
    for name in () if format.learned or not columns else format.ignore:
        if not any(name.startswith(key) for key in columns):
            there = ", ".join(map(repr, columns))
            log.remark("ignore", f"{shown(path)}: --ignore: the first lines have no {name!r}, but {there}; check it")


def first_rows(path: str, format: FileFormat) -> dict[str, list[Any]]:
    """The first values of the columns of a table, or of the keys of JSON lines; none where they cannot be seen."""
    if format.name == "arrow":
        return arrow.first_rows(path, ROWS) if repeatable(path) else {}
    start = peek(path).decode(errors="replace").removeprefix("\ufeff")
    if format.name == "json":
        return by_column(first_objects(start.split("\n"), format.lists))
    quotes = format.quote is not None
    delimiter = format.delimiter or _core.csv_delimiter(start.encode(), True, quotes) or ","
    read = partial(csv.reader, io.StringIO(start), delimiter=delimiter)
    rows: list[list[str]] = []
    with suppress(csv.Error):  # the parser says what is wrong
        rows.extend(islice(read() if quotes else read(quoting=csv.QUOTE_NONE), ROWS + 2))
    if len(rows) > ROWS + 1 or not start.endswith("\n"):
        rows = rows[:-1]  # it may be cut off
    return {name.strip(): list(values) for name, *values in zip(*rows, strict=False)}


def by_column(rows: Iterable[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    """The values of the first dicts by their names, without what is missing.

    Examples
    --------
    >>> by_column([{"size": 2, "colour": "red"}, {"size": 1, "colour": None}])
    {'size': [2, 1], 'colour': ['red']}
    """
    columns: dict[str, list[Any]] = {}
    for row in islice(rows, ROWS):
        for name, value in row.items():
            if not is_missing(value):
                columns.setdefault(str(name), []).append(value)
    return columns


def index_column(columns: Columns, format: FileFormat | None = None) -> str | None:
    """The column that only numbers or names the rows, as R and pandas write it; None where there is none.

    Examples
    --------
    >>> index_column({"": ["0", "1", "2"], "size": ["3", "1", "4"]})
    ''
    >>> index_column({"": ["2.5", "1.5", "1.5"], "Unnamed: 0": [3, 1, 2]}) is None
    True
    """
    for name in INDEX:
        values = [str(value).strip() for value in columns.get(name, ())]
        if len(values) < 2 or (format is not None and format.kinds([name]) != ["any"]):
            continue
        numbers = [int(value) for value in values if WHOLE.fullmatch(value)]
        counts = len(numbers) == len(values) and all(b == a + 1 for a, b in pairwise(numbers))
        names = all(value and (WHOLE.fullmatch(value) or not is_number(value)) for value in values)
        if counts or (names and len(values) >= FEWEST and len({*values}) == len(values)):
            return name
    return None


def told_of_index(name: str) -> str:
    """What such a column does.

    Examples
    --------
    >>> told_of_index("")
    'the column without a name numbers or names the rows'
    """
    called = f"column {name!r}" if name else "the column without a name"
    return f"{called} numbers or names the rows"


def text_among(columns: Columns) -> str | None:
    """The column that has a different text in nearly every row; None where there is none."""
    for name, values in columns.items():
        there = [value for value in values if isinstance(value, str) and value.strip()]
        words = sum(len(value.split()) for value in there)
        if len(there) >= FEWEST and words >= WORDS * len(there) and 10 * len({*there}) >= 9 * len(there):
            return name
    return None


def told_of_text(name: str) -> str:
    return f"column {name!r} has a different text in nearly every row, each read as one category"


def _header(start: str) -> str | None:
    words = [word.strip().lower() for word in start.split("\n", 1)[0].split("\t")]
    if len(words) != 2 or any(word not in known for word, known in zip(words, HEADERS, strict=True)):
        return None
    return "the first line looks like a header, but is used as an example; remove it, or read the file as a table"


def _check_words(path: str, texts: Sequence[Any], format: FileFormat, log: Log) -> None:
    """Remark on texts that are a single word each, such as names: other texts hardly ever have the same word."""
    there = [text.strip() for text in texts if isinstance(text, str) and text.strip()]
    words = {text for text in there if text.isalpha() and text.lower() != text.upper()}  # in scripts with spaces
    if len(there) >= FEWEST and 10 * len(words) >= 9 * len(there) and not (format.text["chars"] or format.learned):
        said = "nearly every text is one word, which no other text has"
        log.remark("single words", f"{shown(path)}: {said}; learn from parts of words with --chars 2-4 (Python: chars)")


def _misread_numbers(columns: Columns) -> str | None:
    """Of columns whose numbers all have a comma for a point or between thousands, or a sign for money or per cent."""
    for name, values in columns.items():
        there = [value.strip() for value in values if isinstance(value, str) and value.strip()]
        if not there:
            continue
        if all(map(THOUSANDS.fullmatch, there)):
            said = f"the numbers of column {name!r} have a comma, such as {there[0]}, and are read as words"
            return f"{said}; write thousands without commas, and decimals with a point"
        if all(map(COMMA.fullmatch, there)):
            said = f"the numbers of column {name!r} have a decimal comma, such as {there[0]}, and are read as words"
            return f"{said}; write them with a point"
        if all(map(WITH_UNIT.fullmatch, there)):
            said = f"the numbers of column {name!r} have a sign or a unit, such as {there[0]}, and are read as words"
            return f"{said}; write the numbers alone"
    return None


def _codes(columns: Columns) -> str | None:
    """Of columns of whole numbers with zeros before them, as post codes have; a word among many may be one, too."""
    for name, values in columns.items():
        there = [value.strip() for value in values if value.strip()]
        whole = [value for value in there if WHOLE.fullmatch(value)]
        code = next(filter(CODE.fullmatch, whole), None)
        if code is not None and 10 * len(whole) >= 9 * len(there):
            said = f"the numbers of column {name!r} begin with zeros, such as {code}"
            return f"{said}; if they are codes, read them as words with --categorical {name} (Python: categorical)"
    return None
