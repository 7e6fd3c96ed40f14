"""From blocks of text to examples: parsed in worker threads beside the consumer, who gets them in order."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.streams import mixing, tables
from perceptive.streams.blocks import Block, located, located_in_pieces, peek, repeatable, shown
from perceptive.streams.examples import MOST_LABELS, Examples
from perceptive.streams.file_format import FileFormat, Header

MOST_TOLD = 10  # complaints that are kept
ODDITIES = {  # what is said of their lines, and the cure
    "several": "several, and only the first counts: a classifier learns one label per line; give each label its "
    "own, or leave all but one out",
    "missing labels": "such a label, and count as unlabelled; if it is a real label, write another word",
    "spellings": "a label that is written differently elsewhere; both count as one label; if they are codes, name "
    "the column of the label in --categorical (Python: categorical) to keep them as written",
    "spans": "such a value, which also holds delimiters; if these are separate records, because quotes mean "
    "nothing in the file, give --quote none (Python: quote=None)",
    "utf-8": "such bytes, and lose letters; convert the file to UTF-8, as by iconv -f LATIN1 -t UTF-8",
}
BEFOREHAND = (  # what is said before reading
    "scale", "outlier", "index", "words", "first lines", "texts", "ignore", "codes", "single words",
)  # fmt: skip
FEW_NAMES = 1 << 14  # of hashed features that models of tables remember anyhow, about
A = TypeVar("A")
B = TypeVar("B")


class BrokenLine(ValueError):
    """A line that is not of the format: which one, where, and what would be right.

    ``labelled`` says whether it is a text that should have begun with its label.
    """

    def __init__(self, said: str, labelled: bool = False) -> None:
        super().__init__(said)
        self.labelled = labelled


@dataclass
class Log:
    """What the parsers had to say."""

    lines: int = 0
    bytes: int = 0  # read so far, unpacked
    skipped: int = 0
    complaints: list[str] = field(default_factory=list)  # the first few
    columns: list[str] = field(default_factory=list)  # of the tables
    names: _core.InvertedIndex | None = None
    remarks: dict[str, str] = field(default_factory=dict)  # what is odd, and no error: the first of each kind
    odd: dict[str, tuple[int, str]] = field(default_factory=dict)  # of each of `ODDITIES`: lines, the first of them
    written: dict[Any, dict[str, int]] = field(default_factory=dict)  # labels that are numbers: how, and how often

    def begin(self) -> None:
        """Begin anew; what was said of the files before they were read stands."""
        self.__init__(remarks={kind: said for kind, said in self.remarks.items() if kind in BEFOREHAND})  # type: ignore[misc]

    def remark(self, kind: str, said: str) -> None:
        """Note something odd, once."""
        self.remarks.setdefault(kind, said)

    def note_names(self, names: _core.InvertedIndex | None, few: bool = False) -> None:
        """Note the names of more hashed features; of ``few``, as long as they are."""
        if names is not None:
            self.names = self.names or _core.InvertedIndex()
            if not few or len(self.names.buckets(1)) < FEW_NAMES:
                self.names.merge(names)

    def note_columns(self, path: str, columns: Sequence[str]) -> None:
        """Note the columns of a table; those before it may have others."""
        if (unnamed := columns.count("")) > 1:
            self.remark("unnamed", f"{shown(path)}: {unnamed} columns have no name, and are left out")
        if columns and self.columns and {*columns} != {*self.columns}:
            self.remark("headers", _differing(path, columns, self.columns))
        self.columns = list(dict.fromkeys((*self.columns, *columns)))

    def note_spelling(self, label: float, n: int, now: str, path: str) -> None:
        """Note how a label is written in a block; in one before it may have been written in another way."""
        known = self.written.setdefault(label, {}) if len(self.written) < MOST_LABELS else self.written.get(label)
        if known is None:
            return
        known[now] = known.get(now, 0) + n
        if next(iter(known)) != now:
            self.note_odd("spellings", n, f"{shown(path)}: the label {now!r} is taken as a number")

    def note_odd(self, kind: str, n: int, first: str) -> None:
        """Note that so many more lines have one of `ODDITIES`."""
        before, first = self.odd.get(kind, (0, first))
        self.odd[kind] = before + n, first
        lines = "1 line has" if before + n == 1 else f"{before + n:,} lines have"
        self.remarks[kind] = f"{first}; {lines} {ODDITIES[kind]}"

    def add(self, other: Log, path: str) -> None:
        """Add what was said of the next file, which was read elsewhere; all but the names of features."""
        self.lines += other.lines
        self.bytes += other.bytes
        self.skipped += other.skipped
        self.complaints += other.complaints[: MOST_TOLD - len(self.complaints)]
        self.note_columns(path, other.columns)
        for kind, (n, first) in other.odd.items():
            if kind == "spellings":  # those that differ from a block before are counted anew, with the files before
                n -= sum(sum(list(ways.values())[1:]) for ways in other.written.values())
            if n:
                self.note_odd(kind, n, first)
        for label, ways in other.written.items():
            for now, n in ways.items():
                self.note_spelling(label, n, now, path)
        for kind, said in other.remarks.items():
            if kind not in other.odd:
                self.remark(kind, said)


@dataclass
class _Opened:
    """A file that is being parsed."""

    file: int
    path: str
    parser: Any
    line: int  # how many lines have been read


def _differing(path: str, columns: Sequence[str], before: Sequence[str]) -> str:
    """What to say of a table that has other columns than those before it."""
    lacks, new = [c for c in before if c not in columns], [c for c in columns if c not in before]
    said = [f"{what} {', '.join(map(repr, some))}" for what, some in (("lacks", lacks), ("has", new)) if some]
    return f"{shown(path)}: {' and '.join(said)}, unlike the files before it; give the same columns the same names"


def _cure(format: FileFormat, log: Log, path: str) -> str:
    """What to add where a line is broken because texts are read as a table, or a table as texts."""
    if format.name == "text" and re.search(r"\.csv(\.\w+)?$", path, re.IGNORECASE):
        return "; if this is a table, give --label and --text-column instead of --text (Python: format='csv')"
    pairs = format.name == "csv" and len(log.columns) == 2 and format.label not in log.columns
    if not pairs or not repeatable(path) or b"\t" not in peek(path):
        return ""
    return "; if each line is a label, a tab and a text, give --text (Python: format='text')"


def in_order(work: Callable[[A], B], things: Iterable[A], threads: int) -> Iterator[B]:
    """``map(work, things)``, done by threads, each of which takes the next thing itself; a few results wait, no more.

    Examples
    --------
    >>> list(in_order(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    if threads <= 1:
        yield from map(work, things)
        return
    numbered, lock = enumerate(things), Lock()

    def take_one() -> tuple[int, B] | None:
        with lock:
            taken = next(numbered, None)
        return None if taken is None else (taken[0], work(taken[1]))

    pool = ThreadPoolExecutor(threads, thread_name_prefix="perceptive-parse")
    asked = deque(pool.submit(take_one) for _ in range(threads + 1))
    done: dict[int, B] = {}
    wanted = 0
    try:
        while asked:
            answer = asked.popleft().result()
            if answer is None:
                continue
            done[answer[0]] = answer[1]
            del answer  # else a block that was dealt with would stay
            while wanted in done:
                yield done.pop(wanted)
                asked.append(pool.submit(take_one))
                wanted += 1
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def one_ahead(things: Iterator[A], threads: int) -> Iterator[A]:
    """The same things; a thread makes the next one while the present one is used.

    Examples
    --------
    >>> list(one_ahead(iter([1, 2, 3]), threads=2))
    [1, 2, 3]
    """
    if threads <= 1:
        yield from things
        return
    pool, end = ThreadPoolExecutor(1, thread_name_prefix="perceptive-ahead"), object()
    try:
        coming = pool.submit(next, things, end)
        while (thing := coming.result()) is not end:
            coming = pool.submit(next, things, end)
            yield thing  # type: ignore[misc]
            del thing
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        if isinstance(things, Generator):
            things.close()


def parse(
    files: Iterable[str],
    format: FileFormat,
    dtype: np.dtype[Any],
    *,
    threads: int = 1,
    skip: bool = False,
    remember: bool | str = False,
    live: bool = False,
    ahead: bool = False,
    block: int | None = None,
    idf: NDArray[np.float32] | None = None,
    log: Log | None = None,
    limit: int | None = None,
    mixed: bool = False,
    prepare: Callable[[Examples, int, int], Any] = lambda examples, number, file: examples,
) -> Iterator[Any]:
    """Parse files, block by block: one after the other, or all of them mixed, as `mixing` says.

    The result does not depend on the threads.

    Parameters
    ----------
    skip : bool
        Leave out bad lines and log them; else the first one raises, after what precedes it has been given.
    remember : bool or "few"
        Log the names of hashed features, or of the first of them.
    live : bool
        Give what there is as soon as it is there.
    ahead : bool
        Of what comes but once give the first block alone, which stays there to be read.
    block : int or None
        Bytes at a time.
    log : Log or None
        Is kept up as blocks are given.
    idf, limit
        As for `FileFormat.parser`.
    prepare : callable
        What the threads also do with the examples of a block, its number and that of its file (of one of its files,
        where it is mixed).
    """
    log = Log() if log is None else log
    single, files = dtype == np.float32, list(files)
    if format.has_idf and idf is None:
        raise ValueError("idf needs the document frequencies; count them first, with learn_idf")
    number = 0

    def begin(file: int, path: str, header: Header | None, lines: int) -> _Opened:
        log.note_columns(path, () if header is None else header.columns)
        return _Opened(file, path, format.parser(bool(remember), limit, idf, header), lines)

    def work(numbered: tuple[int, tuple[_Opened, Block]]) -> tuple[Any, ...]:
        number, (opened, one) = numbered
        size = len(one.text)
        try:
            *arrays, lines, skipped, complaints, names = opened.parser.parse(one.text, single, skip)
        finally:
            one.release()
        examples = Examples(*arrays)
        ready = prepare(examples, number, opened.file)
        odd = examples.odd, examples.spellings()
        return opened, ready, size, one, odd, lines, skipped, complaints, names

    def sources() -> Iterator[Iterator[tuple[_Opened, Block]]]:
        if mixed:
            yield mixing.mixed(files, format, block, begin)
            return
        for file, path in enumerate(files):
            source, header, lines = tables.open(path, format, block, live, ahead and not repeatable(path))
            yield zip(repeat(begin(file, path, header, lines)), source, strict=False)

    for source in sources():
        for opened, parsed, size, one, (odd, spellings), lines, skipped, complaints, names in in_order(
            work, enumerate(source, number), 1 if live else threads
        ):
            number += 1
            told = complaints[: MOST_TOLD - len(log.complaints) if skip else 1]
            if one.pieces:
                place = partial(located_in_pieces, files, one.pieces)
            else:
                place = partial(located, opened.path, opened.line, one.offset)
            said = place(told)
            for kind, n, first in odd:
                log.note_odd(kind, n, place([first])[0])
            for label, n, written in spellings:
                log.note_spelling(label, n, written, opened.path)
            opened.line += lines
            log.lines += lines
            log.bytes += size
            log.note_names(names, remember == "few")
            yield parsed
            if said and not skip:
                raise BrokenLine(said[0] + _cure(format, log, opened.path), format.name == "text" and format.labelled)
            log.skipped += skipped
            log.complaints += said
