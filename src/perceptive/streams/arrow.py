"""Arrow and Parquet files: the rows that the same table would give as CSV. Columns of strings are columns of words."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

from perceptive.errors import Parameter, ParameterError, literal
from perceptive.streams.blocks import STDIN, Block, open_file, shown
from perceptive.streams.file_format import FileFormat, Header
from perceptive.streams.meaning import check_columns
from perceptive.streams.remote import is_url

ROWS = 4096  # at a time


def open(path: str, format: FileFormat, check: bool = True) -> tuple[Iterator[Block], Header, int]:
    """The rows as blocks of comma-separated values; their columns; how many lines of header there are: none.

    Columns that the format names must be there, if that is to be checked.
    """
    pa = _module("pyarrow", path)
    schema, batches = _table(path)
    if check:
        check_columns(format, schema.names, shown(path))
    if len(set(schema.names)) < len(schema.names):
        raise ValueError(f"{shown(path)}: two columns have the same name; rename one")
    kinds = zip(schema.names, format.kinds(schema.names), strict=True)
    kept = [name for name, kind in kinds if kind != "ignored"]
    if not kept:
        raise ValueError(f"{shown(path)}: all columns are ignored; keep at least one")
    words = _words(pa, schema, kept, format)
    header = Header(kept, ",", () if format.numerals else words, format.label in _strings(pa, schema))
    return _written(path, batches, kept, words, format), header, 0


def first_rows(path: str, rows: int) -> dict[str, list[Any]]:
    """The values of so many rows of a file, by column; none where it cannot be read."""
    with suppress(ValueError):  # whoever reads it says what is wrong
        _, batches = _table(path)
        for batch in _sound(path, batches):
            if batch.num_rows:
                return {name: batch.column(name)[:rows].to_pylist() for name in batch.schema.names}
    return {}


def word_columns(path: str) -> list[str]:
    """The columns of a file whose types say that numbers in them are names: strings, and what is categorical."""
    pa, (schema, _) = _module("pyarrow", path), _table(path)
    strings = _strings(pa, schema)
    return [one.name for one in schema if one.name in strings or pa.types.is_dictionary(one.type)]


def _strings(pa: Any, schema: Any) -> set[str]:
    """The columns of strings, be they categories."""
    strings = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return {name for name in schema.names if any(is_kind(_type(pa, schema, name)) for is_kind in strings)}


def _words(pa: Any, schema: Any, names: list[str], format: FileFormat) -> list[str]:
    """The columns that hold no numbers; for models from before, dictionaries do not, whatever is in them."""
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    kinds = {name: schema.field(name).type if format.words is None else _type(pa, schema, name) for name in names}
    return [name for name, kind in kinds.items() if not any(is_kind(kind) for is_kind in numbers)]


def _type(pa: Any, schema: Any, name: str) -> Any:
    kind = schema.field(name).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _table(path: str) -> tuple[Any, Iterator[Any]]:
    """The schema of a file, and its record batches."""
    if path == STDIN:
        try:
            stream = _module("pyarrow.ipc", path).open_stream(sys.stdin.buffer)
        except (_module("pyarrow", path).ArrowException, OSError) as error:
            cure = "only Arrow's stream format can be read from standard input"
            raise ValueError(f"{shown(path)}: {cure} ({error}); name a file") from None
        return stream.schema, iter(stream)
    with open_file(path) as file:
        start = file.read(6)
    source: Any = open_file(path) if is_url(path) else path
    try:
        if start.startswith(b"PAR1"):
            table = _module("pyarrow.parquet", path).ParquetFile(source, pre_buffer=False)
            return table.schema_arrow, table.iter_batches(ROWS)
        ipc = _module("pyarrow.ipc", path)
        if start == b"ARROW1":
            table = ipc.open_file(source)
            return table.schema, map(table.get_batch, range(table.num_record_batches))
        stream = ipc.open_stream(source)
        return stream.schema, iter(stream)
    except _module("pyarrow", path).ArrowException as error:
        raise ValueError(f"{shown(path)}: neither Parquet nor Arrow, or damaged ({error}); check the file") from None


def _written(
    path: str, batches: Iterator[Any], kept: list[str], words: list[str], format: FileFormat
) -> Iterator[Block]:
    pa, csv = _module("pyarrow", path), _module("pyarrow.csv", path)
    options = csv.WriteOptions(include_header=False)
    offset = 0
    for batch in _sound(path, batches):
        columns = []
        for name in kept:
            column = batch.column(batch.schema.get_field_index(name))
            if pa.types.is_boolean(column.type) and format.words is not None:
                column = _module("pyarrow.compute", path).if_else(column, "True", "False")
            if pa.types.is_dictionary(column.type):
                column = column.dictionary_decode()
            try:
                columns.append(column.cast(pa.string()) if name in words else column)
            except pa.ArrowException:
                said = literal(f"{shown(path)}: column {name!r} is of type {column.type}; leave it out by ")
                raise ParameterError(said + "{}", Parameter("ignore", (name,))) from None
        sink = pa.BufferOutputStream()
        csv.write_csv(pa.RecordBatch.from_arrays(columns, kept), sink, options)
        text = memoryview(sink.getvalue())
        begin, offset = offset, offset + len(text)
        yield Block(text, begin)


def _sound(path: str, batches: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from batches
    except (_module("pyarrow", path).ArrowException, OSError) as error:
        raise ValueError(f"{shown(path)}: damaged or cut off ({error}); fetch it again") from None


def _module(name: str, path: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{shown(path)}: Arrow and Parquet need pyarrow; pip install 'perceptive[arrow]'") from None
