"""A pass over files before the first one: how large the numbers of their columns are, and which are names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from perceptive import _core
from perceptive.streams import arrow, tables
from perceptive.streams.blocks import Block, repeatable
from perceptive.streams.file_format import FileFormat
from perceptive.streams.parsing import in_order
from perceptive.streams.scaling import scaling_of, sizes_of

LOOKED_AT = 1 << 18  # bytes of files that are not scaled


def measured(files: Sequence[str], format: FileFormat, threads: int = 1, strings: bool = False) -> FileFormat:
    """The format with the columns of files measured, where numbers are scaled; and with those whose numbers are names.

    What comes but once is known by its first block. The result does not depend on threads. With ``strings`` columns in
    which strings are all that reads as numbers are looked for, also where nothing is scaled.
    """
    scales = format.scale not in (None, "auto") and format.scaling is None
    if strings and format.name == "arrow":
        found = list(dict.fromkeys(name for path in files for name in arrow.word_columns(path)))
        kinds = zip(found, format.kinds(found), strict=True)
        format = replace(format, words=tuple(name for name, kind in kinds if kind == "any"))
    if not scales and not (strings and format.name == "json"):
        return format
    measures = _measured(files, format, threads)
    if strings and format.name == "json":
        format = replace(format, words=tuple(name for name in measures.codes if name not in {*measures.names}))
    if not scales:
        return format
    assert format.scale is not None
    return replace(format, scaling=scaling_of(measures, format.scale, format.absent_is_zero))


def odd_sizes(files: Iterable[str], format: FileFormat) -> str | None:
    """What to say of columns that differ much at the start of the first file; None of others."""
    return sizes_of(_measured(islice(files, 1), format, blocks=1))


def _measured(files: Iterable[str], format: FileFormat, threads: int = 1, blocks: int | None = None) -> _core.Measures:
    """The columns of files; or of so many short blocks of each."""
    measures, size = _core.Measures(), None if blocks is None else LOOKED_AT
    for path in files:
        source, header, _ = tables.open(path, format, size, False, ahead=not repeatable(path))
        parser = format.parser(header=header, measuring=True)

        def work(block: Block, parser: _core.Csv = parser) -> _core.Measures:
            try:
                return parser.measure(block.text)
            finally:
                block.release()

        for part in in_order(work, islice(source, blocks), threads):
            measures.merge(part)
    return measures
