"""Comma-separated values (RFC 4180) under a header, also with another delimiter.

A number stays a number: the feature is named as its column. Any other value becomes the feature ``column=value``, as do
the numbers of a categorical column. Empty, NA, NaN and null, in any case, are missing: there is no such feature, or
``column=missing`` where that is asked for. A column may hold the weights of examples; where one is missing, it is 1.
Blanks around a value count for nothing, unless it is quoted: then they count in texts, and where values are not
``alike`` in all. A field that begins with a quote ends with one; within, two quotes stand for one, and delimiters
and newlines are plain text. Elsewhere quotes are refused. Where ``quotes`` mean nothing, they are plain text.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from twins.features import Feature, Scaling, row, scaled
from twins.label import label_of
from twins.labelled_text import text_row
from twins.lines import DECIMAL, NOT_FINITE, Bad, Example, fits, shown
from twins.meaning import is_missing, meant

MEANINGLESS = "if quotes have no special meaning, give --quote none (Python: quote=None)"
Columns = Sequence[tuple[bytes, str]]  # name, and: any, categorical, text, label, weight or ignored


def records(text: bytes, delimiter: bytes = b",", quotes: bool = True) -> Iterator[tuple[int, bytes]]:
    r"""Where records begin, and what they are, without the ends of their lines.

    Examples
    --------
    >>> list(records(b'a,"b\nc"\nd\n'))
    [(0, b'a,"b\nc"'), (8, b'd')]
    """
    field = rb'"(?:[^"]|"")*(?:"(?!")[^D\n]*|\Z)|(?!")[^D\n]*'.replace(b"D", re.escape(delimiter))
    record = re.compile(b"(?:%s)(?:%s(?:%s))*" % (field, re.escape(delimiter), field) if quotes else rb"[^\n]*")
    begin = 0
    while begin < len(text):
        match = record.match(text, begin)
        assert match is not None
        yield begin, match[0].removesuffix(b"\r")
        begin = match.end() + 1


def quote_cure(columns: Columns) -> str:
    """What else may be wrong with quotes: they mean nothing, or another mark separates what looks like one column."""
    mark = re.search("[|;:]", columns[0][0].decode(errors="replace")) if len(columns) == 1 else None
    if mark is None:
        return MEANINGLESS
    return f"if '{mark[0]}' separates the columns, give --delimiter '{mark[0]}' (Python: delimiter='{mark[0]}')"


def fields(
    record: bytes, delimiter: bytes = b",", quotes: bool = True, cure: str = MEANINGLESS
) -> Iterator[tuple[int, bytes]]:
    """Where the fields of a record begin, and their values.

    Examples
    --------
    >>> list(fields(b'a, 2 ,"b, c"'))
    [(0, b'a'), (2, b'2'), (6, b'b, c')]
    """
    at = 0
    while True:
        if quotes and record[at : at + 1] == b'"':
            match = re.compile(rb'"((?:[^"]|"")*)("?)').match(record, at)
            assert match is not None
            if not match[2]:
                raise Bad(at, f"the quote that opens here is never closed; close it, or double it; {cure}")
            end = match.end()
            if record[end : end + 1] not in (b"", delimiter):
                said = "there is more after the closing quote; double the quotes within a value"
                raise Bad(end, f"{said}; {cure}")
            yield at, match[1].replace(b'""', b'"')
        else:
            end = record.find(delimiter, at) if delimiter in record[at:] else len(record)
            if quotes and b'"' in record[at:end]:
                said = "there is a quote within a value; put the value in quotes, and double those within"
                raise Bad(record.index(b'"', at), f"{said}; {cure}")
            yield at, record[at:end].strip(b" \t")
        if end == len(record):
            return
        at = end + 1


def parse(
    text: bytes,
    columns: Columns,
    *,
    delimiter: bytes = b",",
    name: str = "<bytes>",
    first_line: int = 1,
    text_options: dict[str, Any] | None = None,
    quotes: bool = True,
    **options: Any,
) -> list[Example]:
    r"""Parse whole records, the header being above them; options are those of `features.row`.

    Examples
    --------
    >>> parse(b'spam,1.5,"a, b"\n', [(b"y", "label"), (b"size", "any"), (b"word", "any")], bits=4)
    [Example(label=b'spam', weight=None, entries=((7, 1.0), (10, -1.5)))]
    """
    examples = []
    for begin, record in records(text, delimiter, quotes):
        try:
            if record if delimiter == b"\t" else record.strip(b" \t"):
                examples.append(_record(record, columns, delimiter, text_options or {}, quotes=quotes, **options))
        except Bad as bad:
            at = begin + bad.at
            line, column = first_line + text.count(b"\n", 0, at), at - text.rfind(b"\n", 0, at)
            raise ValueError(f"{name}:{line}:{column}: {bad}") from None
    return examples


def _record(
    record: bytes,
    columns: Columns,
    delimiter: bytes,
    text_options: dict[str, Any],
    single: bool = False,
    scaling: Scaling | None = None,
    missing: bool = False,
    apart: bool = False,
    alike: bool = False,
    labels: str = "typed",
    quotes: bool = True,
    **options: Any,
) -> Example:
    label: float | int | bytes | None = None
    weight = 1.0 if any(kind == "weight" for _, kind in columns) else None
    features: list[Feature] = []
    n = 0
    for n, (at, value) in enumerate(fields(record, delimiter, quotes, quote_cure(columns)), 1):
        column, kind = columns[n - 1] if n <= len(columns) else (b"", "ignored")
        if kind == "label":
            label = label_of(at, value, labels, False)
            continue
        value = value.strip(b" \t") if alike and kind != "text" else value
        word = meant(value) if alike else value
        if kind == "text":
            features += [(h, x, b"") for h, x in text_row(value, **_hash(options), **text_options)]
        elif kind == "ignored":
            continue
        elif is_missing(value):
            if missing and kind != "weight":
                features.append((column + b"=missing", 1.0, column))
        elif kind == "weight":
            weight = _weight(at, value)
        elif kind == "categorical":
            features.append((column + b"=" + word, 1.0, column))
        else:
            number = _number(at, value, "value", single, lambda x, column=column: scaled(column, x, scaling))
            feature = (column + b"=" + word, 1.0) if number is None else (column + b":" * apart, number)
            features.append((*feature, column))
    if n != len(columns):
        what = f"the row has {n} field{'s' * (n != 1)}, the header {len(columns)}"
        raise Bad(0, f"{what}; check the delimiter and the quotes")
    return Example(label, weight, row(features, single=single, at=len(record), **options))


def _hash(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("bits", "seed", "signed") if name in options}


def _weight(at: int, value: bytes) -> float:
    x = _number(at, value, "weight", False)
    if x is None:
        raise Bad(at, f"weight '{shown(value)}' is not a number; give 0 or more")
    if x < 0:
        raise Bad(at, f"weight '{shown(value)}' is negative; give 0 or more")
    return x + 0.0  # −0 is 0


def _number(
    at: int, value: bytes, what: str, single: bool, change: Callable[[float], float] | None = None
) -> float | None:
    if NOT_FINITE.fullmatch(value):
        raise Bad(at, f"{what} '{shown(value)}' is not finite; drop or impute such examples first")
    if not DECIMAL.fullmatch(value):
        return None
    x = float(value) if change is None else change(float(value))
    if not fits(x, single):
        raise Bad(at, f"{what} '{shown(value)}' is too large for {'float32' if single else 'float64'}; rescale")
    return x
