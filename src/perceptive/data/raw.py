"""Raw examples in memory (texts, dicts, data frames, rows of a table), read as the files that a model learned from.

What a model of JSON lines is given is read as JSON. All else becomes comma-separated values. What a value means is said
once, in `streams/values.py`; models from before, whose format has no ``words``, read values as they did then.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, time
from decimal import Decimal
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.cached import cached
from perceptive.data.rows import is_dicts
from perceptive.errors import warn_caller
from perceptive.frames import as_arrow, is_frame, is_table, listed
from perceptive.streams.dicts import as_line, as_svmlight_line, as_vw_line
from perceptive.streams.examples import Examples
from perceptive.streams.file_format import NO_KEY, FileFormat
from perceptive.streams.first_lines import ROWS, index_column, told_of_index
from perceptive.streams.idf import unweighted
from perceptive.streams.measuring import mixed_columns, told_of_mixed
from perceptive.streams.scaling import Scaling, outlier_of, scaling_of
from perceptive.streams.values import WORDS, is_missing, plain, plain_row

LINES = ("svmlight", "vw")  # formats of which a raw example is a line
DECLARED = ("categor", "enum")  # what the types of columns begin with whose numbers are names
NUMBERS = ("int", "uint", "float", "double", "halffloat", "bool")  # what the types of numbers begin with in pyarrow
Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Table:
    """What a model of a data frame remembers of it.

    Attributes
    ----------
    words : tuple of str
        The columns whose numbers are names.
    ignore : tuple of str
        The columns that are left out.
    scaling : Scaling or None
        How the numbers of the others are scaled; None where they are taken as they are.

    Examples
    --------
    >>> table = Table(words=("zip",), scaling=Scaling(("year",), (2000.0,), (0.1,)))
    >>> table.row({"year": 2010, "zip": 101, "ripe": True, "colour": None})
    {'year': 1.0, 'zip': '101', 'ripe': 'True'}
    """

    words: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    scaling: Scaling | None = None

    @cached
    def _factors(self) -> dict[str, tuple[float, float]]:
        return {} if self.scaling is None else {name: how for name, *how in self.scaling.factors}  # type: ignore[misc]

    def row(self, row: Mapping[Any, Any]) -> dict[str, Any]:
        """A dict of values as features: numbers, and words."""
        found = plain_row(row, self.words)
        for name in self.ignore:
            found.pop(name, None)
        for name, (shift, factor) in self._factors.items():
            x = found.get(name)
            if isinstance(x, int | float):
                found[name] = (x - shift) * factor
        return found

    def to_meta(self) -> dict[str, Any]:
        """As plain values, for a model file."""
        meta: dict[str, Any] = {"table": list(self.words)}
        meta |= {"table_ignore": list(self.ignore)} if self.ignore else {}
        return meta if self.scaling is None else {**meta, "table_scaling": asdict(self.scaling)}

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any]) -> Self | None:
        """What `to_meta` gave; None where there is none, as in models that have not learned from a frame."""
        if "table" not in meta:
            return None
        scaling = Scaling.from_meta(meta.get("table_scaling"))
        return cls(tuple(meta["table"]), tuple(meta.get("table_ignore", ())), scaling)


def is_texts(X: Any) -> bool:
    """Whether X is a list, an array or a series of strings."""
    if isinstance(X, str) or is_table(X) or len(getattr(X, "shape", (0,))) != 1:
        return False
    if isinstance(X, Sequence):
        first = X[:1]
    else:
        first = X.tolist()[:1] if hasattr(X, "tolist") else listed(X[:1]) if hasattr(X, "to_pylist") else ()
    return bool(first) and isinstance(first[0], str)


def names_of(X: Any) -> list[str]:
    """The columns of a frame, which must differ, or the keys of dicts; none of other examples."""
    if is_frame(X):
        names = list(map(str, X.column_names if is_table(X) else X.columns))
        for name, n in Counter(names).items():
            if n > 1:
                raise ValueError(f"Expected unique column names, got {name!r} {n} times; rename or drop the others")
        return names
    return list(dict.fromkeys(str(name) for row in X for name in row)) if is_dicts(X) else []


def frame_columns(X: Any, meant: bool = True) -> Columns:
    """The columns of a data frame or a table; for models from before (not ``meant``), categories are strings.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_columns(pd.DataFrame({"size": [2, 1], "kind": pd.Categorical(["a", None])}))
    {'size': [2, 1], 'kind': ['a', nan]}
    """
    if is_table(X):
        X = as_arrow(X)
        return {name: X[name].to_pylist() for name in X.column_names}
    columns = {}
    for name in X.columns:
        values = X[name].tolist() if hasattr(X[name], "tolist") else X[name].to_list()
        if not meant and str(X[name].dtype) == "category":
            values = [None if is_missing(value) else str(value) for value in values]
        columns[str(name)] = values
    return columns


def has_words(X: Any) -> bool:
    """Whether a data frame or a table has a column of words, or of lists, which are refused. Others are matrices.

    Examples
    --------
    >>> import pandas as pd
    >>> has_words(pd.DataFrame({"size": [2.5, 1.0], "colour": ["red", "blue"]})), has_words(pd.DataFrame({"size": [1]}))
    (True, False)
    """
    if is_table(X):
        types = [str(one.type) for one in as_arrow(X).schema]
        return not all(kind.startswith(NUMBERS) for kind in types)
    kinds = {name: str(X[name].dtype).lower() for name in X.columns}
    return any(
        kind.startswith((*DECLARED, "str", "date", "timedelta", "period", "list", "array"))
        or (kind == "object" and any(isinstance(value, date | Collection) for value in X[name]))
        for name, kind in kinds.items()
    )


def declared_words(X: Any) -> tuple[str, ...]:
    """The columns of a data frame that are declared categorical, so that their numbers are names.

    Examples
    --------
    >>> import pandas as pd
    >>> declared_words(pd.DataFrame({"size": [2, 1], "zip": pd.Categorical([101, 102])}))
    ('zip',)
    """
    if is_table(X):
        return tuple(one.name for one in as_arrow(X).schema if str(one.type).startswith("dictionary"))
    return tuple(str(name) for name in X.columns if str(X[name].dtype).lower().startswith(DECLARED))


def frame_table(X: Any, scales: bool) -> Table:
    """How a model that learns from a data frame reads its rows.

    What only numbers or names the rows is left out, and warned of. Where there are words, numbers are scaled as
    `perceptive train` scales those of a file, by all rows; if ``scales``, and not where they come bit by bit.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_table(pd.DataFrame({"year": [1990, 2010], "colour": ["red", "blue"]}), scales=True).scaling
    Scaling(names=('year',), shift=(2000.0,), factor=(0.1,))
    """
    columns, words = frame_columns(X), declared_words(X)
    index = index_column({name: values[:ROWS] for name, values in columns.items()})
    if index is not None:
        warn_caller(f"{told_of_index(index)}, and is left out; rename it to keep it")
    ignore = () if index is None else (index,)
    format = FileFormat(name="arrow", label=NO_KEY, words=words, ignore=ignore)
    numbers: Columns = {}
    has_word = not {*words}.issubset(ignore)
    for name, values in columns.items():
        if format.kinds([name]) == ["any"]:
            found = {False}
            if not {*map(type, values)} <= {int, float}:
                found = {isinstance(value, str) for value in map(plain, values) if value is not None}
            has_word = has_word or True in found
            only = found == {True} and all(isinstance(value, str) or is_missing(value) for value in values)
            words += (name,) * only  # also those that read as numbers
            numbers |= {name: values} if False in found else {}
    if not numbers or not has_word:
        return Table(words, ignore)
    make, lines = _table_lines(numbers, format)
    measures = make(False, None).measure(b"\n".join(lines))
    mixed = mixed_columns(measures, format)
    if mixed:
        warn_caller(told_of_mixed(mixed))
    if scales and (outlier := outlier_of(measures)):
        warn_caller(outlier)
    scaling = scaling_of(measures, "standard", format.absent_is_zero) if scales else None
    return Table((*words, *mixed), ignore, scaling)


def frame_dicts(X: Any, meant: bool = True, missing: bool = False) -> list[dict[str, Any]]:
    """The rows of a data frame as dicts of what is not missing; for models from before (not ``meant``), True is "True".

    With ``missing`` what is missing is None.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_dicts(pd.DataFrame({"size": [2, 1], "colour": ["red", None]}))
    [{'size': 2, 'colour': 'red'}, {'size': 1}]
    """
    columns = frame_columns(X, meant)
    n = len(next(iter(columns.values()), []))
    rows: list[dict[str, Any]] = [{} for _ in range(n)]
    for name, values in columns.items():
        for row, value in zip(rows, values, strict=True):
            if not is_missing(value):
                row[name] = str(value) if isinstance(value, (date, time) if meant else WORDS) else value
            elif missing:
                row[name] = None
    return rows


def read_raw(
    X: Any,
    format: FileFormat,
    idf: NDArray[np.float32] | None,
    columns: Sequence[str],
    dtype: Any,
    index: _core.InvertedIndex | None = None,
) -> Examples:
    """Examples of raw input: texts, dicts, a frame, or rows with a value for each column.

    ``format`` and ``idf`` are those by which a model reads files, ``columns`` those of the tables that it learned from,
    as far as it knows them; ``index`` takes the names of hashed features.
    """
    make, lines = _lines(X, format, columns)
    return _parsed(make(index is not None, idf), lines, np.dtype(dtype) == np.float32, index)


def with_statistics(
    X: Any, format: FileFormat, columns: Sequence[str]
) -> tuple[FileFormat, NDArray[np.float32] | None]:
    """The format with the numbers of raw input measured, and how rare its texts' features are, where these count."""
    if format.scale is not None:
        make, lines = _lines(X, replace(format, scale=None, scaling=None), columns)
        measures = make(False, None).measure(b"\n".join(lines))
        format = replace(format, scaling=scaling_of(measures, format.scale, format.absent_is_zero))
    if not format.has_idf:
        return format, None
    raw = unweighted(format)
    make, lines = _lines(X, raw, columns)
    found = _parsed(make(False, None), lines, False, None)
    df = np.bincount(found.indices, minlength=raw.width or 0).astype(np.int32)
    return format, _core.smooth_idf(df, len(found))


def _lines(X: Any, format: FileFormat, columns: Sequence[str]) -> tuple[Callable[..., Any], list[bytes]]:
    """What makes the parser of raw input, given whether it tells names and the idf; and the lines that it reads."""
    if format.name in LINES:
        if is_dicts(X):
            numbered = format.name == "svmlight"
            lines = [as_svmlight_line(i, row, format.zero_based) if numbered else as_vw_line(i, row)
                     for i, row in enumerate(X)]  # fmt: skip
        else:
            lines = _numbered(X, format) if len(getattr(X, "shape", ())) == 2 else [str(line).encode() for line in X]
        return lambda names, idf: format.parser(names), lines
    if format.name == "json" and not is_texts(X):
        rows = X if is_dicts(X) else frame_dicts(X, format.words is not None, missing=True)
        lines = [as_line(i, row, format.label) for i, row in enumerate(rows)]
        return lambda names, idf: format.parser(names, idf=idf), lines
    if is_texts(X):
        text_column = format.text_column or "text"
        if not format.has_text:
            raise ValueError("X holds texts, but the model learned from a table; give dicts or a data frame")
        table: Columns = {text_column: list(listed(X))}
    else:
        table = _columns(X, columns, format.words is not None)
        text_column = format.text_column or ("text" if format.name == "text" else "")
    return _table_lines(table, replace(format, text_column=text_column or None))


def _columns(X: Any, columns: Sequence[str], meant: bool) -> Columns:
    if is_frame(X):
        return frame_columns(X, meant)
    if is_dicts(X):
        names = dict.fromkeys((*columns, *(str(name) for row in X for name in row)))
        return {name: [row.get(name) for row in X] for name in names}
    return {name: [row[i] for row in X] for i, name in enumerate(columns)}


def _numbered(X: Any, format: FileFormat) -> list[bytes]:
    """The rows of a matrix as lines of svmlight."""
    import scipy.sparse as sp

    rows, first = sp.csr_array(X), 0 if format.zero_based else 1
    entries = [f" {j + first}:{x!r}" for j, x in zip(rows.indices.tolist(), rows.data.tolist(), strict=True)]
    return [("0" + "".join(entries[a:b])).encode() for a, b in pairwise(rows.indptr.tolist())]


def _table_lines(table: Columns, format: FileFormat) -> tuple[Callable[..., Any], list[bytes]]:
    """A table as comma-separated values. Unless it is read as CSV files are, a column of numbers and words is two."""
    columns: list[tuple[str, str]] = []
    cells: list[list[str]] = []
    for (name, values), kind in zip(table.items(), format.kinds(list(table)), strict=True):
        if kind in ("label", "weight", "ignored"):
            continue
        found = ["" if is_missing(value) else _plain(name, i, value, format) for i, value in enumerate(values)]
        written = [_quoted(value) if isinstance(value, str) and value else str(value) for value in found]
        words = {isinstance(value, str) for value in found if value != ""}
        as_csv = format.name == "csv" or format.numerals
        if kind == "any" and not as_csv and words == {True}:
            kind = "categorical"
        if kind != "any" or as_csv or len(words) < 2:
            columns.append((name, kind))
            cells.append(written)
        elif format.missing is not None:
            raise ValueError(f"{name!r} has numbers and words; give one of both, so that it is known what is missing")
        else:
            columns += [(name, "any"), (name, "categorical")]
            word = [isinstance(value, str) for value in found]
            cells.append(["" if w else one for w, one in zip(word, written, strict=True)])
            cells.append([one if w else "" for w, one in zip(word, written, strict=True)])
    columns.append(("", "ignored"))  # so that no line is empty
    cells.append(['"."'] * len(next(iter(table.values()), [])))
    lines = [",".join(row).encode() for row in zip(*cells, strict=True)]
    return lambda names, idf: format.table_parser(columns, remember=names, idf=idf), lines


def _plain(name: str, row: int, value: Any, format: FileFormat) -> str | int | float:
    """A value as a string or a number."""
    if format.words is not None and format.text_column != name:
        value = plain(value)
    elif isinstance(value, bool | np.bool_) and format.name == "arrow":
        return str(value).lower()  # as Arrow writes it
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, WORDS):
        return "" if value is None else str(value)
    if isinstance(value, Decimal):
        return float(value)
    if not isinstance(value, int | float):
        what = type(value).__name__
        raise ValueError(f"row {row}: {name!r} is a {what}; give numbers, strings, booleans or None")
    if not math.isfinite(value):
        raise ValueError(f"row {row}: {name!r} is {value}; give finite numbers")
    return value


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _parsed(parser: Any, lines: list[bytes], single: bool, index: _core.InvertedIndex | None) -> Examples:
    *arrays, _, _, complaints, names = parser.parse(b"\n".join(lines), single, False)
    for line, _, _, message in complaints:
        raise ValueError(f"row {line}: {message}")
    if index is not None and names is not None:
        index.merge(names)
    return Examples(*arrays)
