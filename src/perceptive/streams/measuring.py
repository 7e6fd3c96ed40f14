"""A pass over files before the first one: how large the numbers of their columns are."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from perceptive import _core
from perceptive.streams import tables
from perceptive.streams.blocks import Block, repeatable
from perceptive.streams.file_format import FileFormat
from perceptive.streams.parsing import in_order
from perceptive.streams.scaling import Scaling, scaling_of, sizes_of

LOOKED_AT = 1 << 18  # bytes of files that are not scaled


def learn_scaling(files: Iterable[str], format: FileFormat, threads: int = 1) -> Scaling:
    """Measure the columns of files; of what comes but once, the first block. The result does not depend on threads."""
    assert format.scale is not None
    return scaling_of(_measured(files, format, threads), format.scale, format.absent_is_zero)


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
