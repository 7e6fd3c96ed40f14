"""Arrow and Parquet files: the rows that the same table would give as CSV, but that strings never count as numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from perceptive.errors import Parameter, ParameterError, literal
from perceptive.streams.blocks import STDIN, Block, open_file, shown
from perceptive.streams.file_format import FileFormat, Header
from perceptive.streams.remote import is_url

ROWS = 4096  # at a time


def open(path: str, format: FileFormat, check: bool = True) -> tuple[Iterator[Block], Header, int]:
    """The rows as blocks of comma-separated values; their columns; how many lines of header there are: none.

    Columns that the format names must be there, if that is to be checked.
    """
    pa = _module("pyarrow", path)
    schema, batches = _table(path)
    if check:
        format.check_columns(schema.names, shown(path))
    if len(set(schema.names)) < len(schema.names):
        raise ValueError(f"{shown(path)}: two columns have the same name; rename one")
    kinds = zip(schema.names, format.kinds(schema.names), strict=True)
    kept = [name for name, kind in kinds if kind != "ignored"]
    if not kept:
        raise ValueError(f"{shown(path)}: all columns are ignored; keep at least one")
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    words = [name for name in kept if not any(is_kind(schema.field(name).type) for is_kind in numbers)]
    return _written(path, batches, kept, words), Header(kept, ",", words), 0


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


def _written(path: str, batches: Iterator[Any], kept: list[str], words: list[str]) -> Iterator[Block]:
    pa, csv = _module("pyarrow", path), _module("pyarrow.csv", path)
    options = csv.WriteOptions(include_header=False)
    offset = 0
    for batch in _sound(path, batches):
        columns = []
        for name in kept:
            column = batch.column(batch.schema.get_field_index(name))
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
        raise ValueError(f"{shown(path)}: damaged or cut off ({error}); fetch it anew") from None


def _module(name: str, path: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{shown(path)}: Arrow and Parquet need pyarrow; pip install 'perceptive[arrow]'") from None
