"""A pass over files before the first one: how large the numbers of their columns are."""

from __future__ import annotations

from collections.abc import Iterable

from perceptive import _core
from perceptive.streams import tables
from perceptive.streams.blocks import Block, repeatable
from perceptive.streams.file_format import FileFormat
from perceptive.streams.parsing import in_order
from perceptive.streams.scaling import Scaling, scaling_of


def learn_scaling(files: Iterable[str], format: FileFormat, threads: int = 1) -> Scaling:
    """Measure the columns of files; of what comes but once, the first block. The result does not depend on threads."""
    assert format.scale is not None
    measures = _core.Measures()
    for path in files:
        source, header, _ = tables.open(path, format, None, False, ahead=not repeatable(path))
        parser = format.parser(header=header, measuring=True)

        def work(block: Block, parser: _core.Csv = parser) -> _core.Measures:
            try:
                return parser.measure(block.text)
            finally:
                block.release()

        for part in in_order(work, source, threads):
            measures.merge(part)
    return scaling_of(measures, format.scale, format.name in ("svmlight", "vw"))
