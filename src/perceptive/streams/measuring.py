"""A pass over files before the first one: how large the numbers of their columns are, and which are names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from perceptive import _core
from perceptive.streams import arrow, tables
from perceptive.streams.blocks import Block, repeatable
from perceptive.streams.file_format import FileFormat
from perceptive.streams.parsing import Log, in_order
from perceptive.streams.scaling import outlier_of, scaling_of, sizes_of
from perceptive.streams.values import some_names

LOOKED_AT = 1 << 18  # bytes of files that are not scaled
RARE = 0.01  # of the values of a column: words that may be slips beside its numbers


def measured(files: Sequence[str], format: FileFormat, threads: int = 1, log: Log | None = None) -> FileFormat:
    """The format with the columns of files measured, where numbers are scaled; and with those whose numbers are names.

    What comes but once is known by its first block. The result does not depend on threads.

    Parameters
    ----------
    log : Log or None
        Where given, columns whose numbers are names are looked for, also where nothing is scaled: those in which
        strings are all that reads as numbers (Parquet by its types, JSON), and those that have words, too. The log is
        told of these.
    """
    scales = format.scale not in (None, "auto") and format.scaling is None
    if log is not None and format.name == "arrow":
        found = list(dict.fromkeys(name for path in files for name in arrow.word_columns(path)))
        kinds = zip(found, format.kinds(found), strict=True)
        format = replace(format, words=tuple(name for name, kind in kinds if kind == "any"))
    looks = log is not None and format.name in ("csv", "json")
    if not scales and not looks:
        return format
    measures = _measured(files, format, threads)
    if log is not None and looks:
        mixed = mixed_columns(measures, format)
        codes = [name for name in measures.codes if name not in {*measures.names}]
        format = replace(format, words=(*codes, *mixed))
        if mixed:
            log.remark("words", told_of_mixed(mixed))
    if not scales:
        return format
    assert format.scale is not None
    if log is not None and (outlier := outlier_of(measures)):
        log.remark("outlier", outlier)
    return replace(format, scaling=scaling_of(measures, format.scale, format.absent_is_zero))


def mixed_columns(measures: _core.Measures, format: FileFormat) -> dict[str, str]:
    """The columns that have numbers and words, of which the first is given; a single word may mark what is missing.

    pandas, R and Parquet make such a column one of words.
    """
    numbers = dict(zip(measures.names, measures.table()[::7].tolist(), strict=True))
    found = [(name, words[0].decode(errors="replace")) for name, n, words in measures.words
             if len(words) > 1 and name in numbers and n > RARE * (n + numbers[name])]  # fmt: skip
    kinds = format.kinds([name for name, _ in found])
    return {name: word for (name, word), kind in zip(found, kinds, strict=True) if kind == "any"}


def told_of_mixed(columns: Mapping[str, str]) -> str:
    """What to say of such columns.

    Examples
    --------
    >>> print(told_of_mixed({"code": "V10"}))
    column 'code' has numbers and words, such as 'V10': all are read as words, as if ...
    """
    (name, word), *others = columns.items()
    more = f" (and so have {some_names([name for name, _ in others])})" if others else ""
    said = (
        f"column {name!r} has numbers and words, such as {word!r}{more}: all are read as words, as if it were declared "
    )
    return said + "categorical; to read numbers, leave the words out"


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
