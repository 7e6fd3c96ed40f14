r"""Read lists of candidates from files: svmlight with ``qid:`` (SVM-rank, LETOR), or JSON lines of lists.

In svmlight, the lines of a query are adjacent and in one file; a broken line breaks its whole list. Memory holds a few
blocks and the current list.

>>> import pathlib, tempfile
>>> from perceptive import streams
>>> path = pathlib.Path(tempfile.mkdtemp(), "rank.svm")
>>> _ = path.write_text("2 qid:7 1:1\n0 qid:7 2:1\n1 qid:8 1:3\n")
>>> [(part.starts.tolist(), part.grades.tolist()) for part in read_lists(streams.open(path))]
[([0, 2], [2.0, 0.0]), ([0, 1], [1.0])]
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive.streams.blocks import Block, blocks, located, shown
from perceptive.streams.examples import UNLABELLED, Examples, join
from perceptive.streams.file_format import NO_KEY
from perceptive.streams.parsing import BrokenLine, in_order

if TYPE_CHECKING:
    from perceptive.streams import Stream

MAX_LIST = 2**20  # candidates: memory stays bounded also where all lines name one query
MAX_FEATURES = 2**24  # of files that number their features: more are to be hashed
MAX_SEEN = 2**14  # queries of a file that are remembered, to see whether they come back
QUERY = re.compile(rb"(?:^|\s)qid:(\d{1,18})(?=\s|$)")


@dataclass(frozen=True)
class CandidateLists:
    """Some complete lists.

    Attributes
    ----------
    examples : Examples or list
        The candidates, list after list; arbitrary objects are in a Python list.
    starts : array of int64
        List t is the candidates from ``starts[t]`` up to ``starts[t + 1]``.
    grades : array of float64
        How good each is; nan if unknown.
    names : list
        The query of each list; None if lists have no names.
    skipped : list of int
        For each list that was left out, how many of these come before it.
    file : int
        The number of their file.
    made : object
        What was made from the candidates when they were tried.
    weights : array of float64 or None
        The importance of each list; None if all are 1.
    """

    examples: Any
    starts: NDArray[np.int64]
    grades: NDArray[np.float64]
    names: list[Any]
    skipped: list[int] = field(default_factory=list)
    file: int = 0
    made: Any = None
    weights: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, which: NDArray[np.int64]) -> CandidateLists:
        """Return some of the lists, in that order, copied."""
        rows, starts = rows_of_lists(self.starts, which)
        names = [self.names[t] for t in which]
        weights = None if self.weights is None else self.weights[which]
        examples, grades = self.examples.take(rows), self.grades[rows]
        return CandidateLists(examples, starts, grades, names, file=self.file, weights=weights)


def rows_of_lists(starts: NDArray[np.int64], which: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the candidates of some lists, and where each of these lists then starts.

    Examples
    --------
    >>> [found.tolist() for found in rows_of_lists(np.array([0, 2, 3, 6]), np.array([2, 0]))]
    [[3, 4, 5, 0, 1], [0, 3, 5]]
    """
    sizes = np.diff(starts)[which]
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.arange(begins[-1]) + np.repeat(starts[which] - begins[:-1], sizes), begins


def join_lists(parts: Sequence[CandidateLists], dtype: np.dtype[Any]) -> CandidateLists:
    """Concatenate lists."""
    starts = np.cumsum([0, *(size for part in parts for size in np.diff(part.starts))], dtype=np.int64)
    grades = np.concatenate([part.grades for part in parts])
    examples, names = join([part.examples for part in parts], dtype), [None] * (len(starts) - 1)
    return CandidateLists(examples, starts, grades, names, weights=join_weights(parts))


def join_weights(parts: Sequence[CandidateLists]) -> NDArray[np.float64] | None:
    """Return the weights of all lists, None if all are 1."""
    if all(part.weights is None for part in parts):
        return None
    return np.concatenate([np.ones(len(part)) if part.weights is None else part.weights for part in parts])


def read_lists(stream: Stream, live: bool = False) -> Iterator[CandidateLists]:
    """Yield the lists of some files, block by block; with ``live`` as soon as they arrive."""
    if stream.format.name == "json":
        from perceptive.streams.json_lists import read_row_lists

        stream.log.begin()
        # models from before there was "lists" take a candidate's "weight" for none of its features
        parser = replace(stream.format, label=NO_KEY).parser(bool(stream.remember_names), idf=stream.idf)
        few, single = stream.remember_names == "few", stream.dtype == np.float32
        how = stream.log, stream.skip, parser, single, live, few, stream.format.list_weight
        return read_row_lists(stream.files, *how)
    if stream.format.name != "svmlight":
        raise ValueError(
            f"{stream.format.name} files have no lists; give svmlight with qid:, or JSON lines with candidates"
        )
    return _query_lists(stream, live)


# ---------------------------------------------------------------- svmlight


def _query_lists(stream: Stream, live: bool) -> Iterator[CandidateLists]:
    stream.log.begin()
    for file, path in enumerate(stream.files):  # with a file its last list ends
        waiting: list[Examples] = []  # parts of the last list, which may go on in the next block
        before = stream.log.lines
        lists = partial(_as_lists, stream, path, file, before, set[int]())
        for examples in _query_blocks(stream, path, live):
            if len(examples) == 0:
                continue
            assert examples.qid is not None
            goes_on = bool(waiting) and waiting[-1].qid is not None and waiting[-1].qid[-1] == examples.qid[0]
            if waiting and not goes_on:
                yield lists(waiting)
                waiting = []
            breaks = np.flatnonzero(np.diff(examples.qid)) + 1
            last = int(breaks[-1]) if len(breaks) else 0
            if last:
                yield lists([*waiting, examples.cut(0, last)])
                waiting = []
            waiting.append(examples.cut(last, len(examples)))
            if sum(map(len, waiting)) > MAX_LIST:
                place = f"by line {stream.log.lines - before:,} of {shown(path)}"
                raise ValueError(f"query {examples.qid[-1]} has more than {MAX_LIST:,} candidates {place}; break it up")
        if waiting:
            yield lists(waiting)


def _query_blocks(stream: Stream, path: str, live: bool) -> Iterator[Examples]:
    """The lines of a file; broken ones that are skipped stand as candidates of weight 0."""
    single, log = stream.dtype == np.float32, stream.log
    parser = stream.format.parser(bool(stream.remember_names), MAX_FEATURES, stream.idf, queries=True)

    def work(block: Block) -> tuple[Any, ...]:
        try:
            *arrays, lines, skipped, complaints, names = parser.parse(block.text, single, stream.skip)
            examples, strays = Examples(*arrays), (False, False)
            if stream.skip and complaints:
                known = [int(one[0]) for one in complaints] if len(complaints) == skipped else None
                examples, strays = _with_broken(bytes(block.text), parser, single, known)
            return examples, strays, lines, complaints, names, block.offset, len(block.text)
        finally:
            block.release()

    line, last, stray = 0, None, False
    for examples, strays, lines, complaints, names, offset, size in in_order(
        work, blocks(path, live=live), 1 if live else stream.threads
    ):
        log.note_names(names, stream.remember_names == "few")
        said = located(path, line, offset, complaints)
        line += lines
        log.lines += lines
        log.bytes += size
        if strays[0] and last is not None:
            yield _broken(last, stream.dtype)
        if len(examples):
            assert examples.qid is not None
            if stray:  # a line of the block before
                yield _broken(int(examples.qid[0]), stream.dtype)
            last, stray = int(examples.qid[-1]), False
        stray |= strays[1]
        yield examples
        if said and not stream.skip:
            raise BrokenLine(said[0])
        log.complaints += said[: max(0, 10 - len(log.complaints))]


def _with_broken(text: bytes, parser: Any, single: bool, known: list[int] | None) -> tuple[Examples, tuple[bool, bool]]:
    """The examples of a block in which broken lines stand as candidates of weight 0.

    A broken line of which not even the query can be read counts for the lists before and behind it. Also returns
    whether there is such a line before the first query of the block, and behind the last one. ``known`` are the broken
    lines, where all are known.
    """
    lines = text.split(b"\n")
    wrong = set(known or ())
    if known is None:
        wrong = {at for at, line in enumerate(lines) if parser.parse(line, single, True)[-3]}
    queries = [found[1] if (found := QUERY.search(line.partition(b"#")[0])) else None for line in lines]
    behind = _filled(queries[::-1])[::-1]
    sound: list[bytes] = []
    weight: list[float] = []
    for at, (line, before) in enumerate(zip(lines, _filled(queries), strict=True)):
        if at in wrong:
            names = dict.fromkeys(name for name in (before, behind[at]) if name is not None)
            own = queries[at]
            sound += [b"0 qid:" + name for name in ([own] if own is not None else names)]
        elif line.removesuffix(b"\r").lstrip(b" \t")[:1] not in (b"", b"#"):
            sound.append(line)
        weight += [float(at not in wrong)] * (len(sound) - len(weight))
    *arrays, _, _, _, _ = parser.parse(b"\n".join(sound), single, True)
    lost = [at for at in wrong if queries[at] is None]
    first, last = (any(fill[at] is None for at in lost) for fill in (_filled(queries), behind))
    return replace(Examples(*arrays), weight=np.array(weight)), (first, last)


def _filled(queries: list[bytes | None]) -> list[bytes | None]:
    """For each line the latest query."""
    latest, filled = None, []
    for query in queries:
        latest = latest if query is None else query
        filled.append(latest)
    return filled


def _broken(query: int, dtype: np.dtype[Any]) -> Examples:
    """A broken line, as a candidate of this query."""
    nothing = np.zeros(0, np.int32)
    return Examples(
        [0], np.zeros(1, np.int32), np.zeros(1), np.array([query]), np.zeros(2, np.int32), nothing, np.zeros(0, dtype)
    )


def _as_lists(
    stream: Stream, path: str, file: int, before: int, seen: set[int], parts: list[Examples]
) -> CandidateLists:
    """Whole lists; those with a broken line are left out."""
    examples = join(parts, stream.dtype)
    assert examples.qid is not None
    first = np.concatenate([[0], np.flatnonzero(np.diff(examples.qid)) + 1]).astype(np.int64)
    names = examples.qid[first].astype(np.int64).tolist()
    for name in names:
        if name in seen and "query" not in stream.log.remarks:
            line = _comes_back(path, name)
            place = f"by line {stream.log.lines - before:,}" if line is None else f"on line {line:,}"
            said = f"{shown(path)}: query {name} comes back {place}, as another list; sort the lines by query"
            stream.log.remark("query", said)
        if len(seen) < MAX_SEEN:
            seen.add(name)
    values = np.array([*map(float, examples.labels), np.nan])
    grades = values[np.where(examples.which == UNLABELLED, -1, examples.which)]
    found = CandidateLists(replace(examples, weight=None), np.append(first, len(examples)), grades, names, file=file)
    if examples.weight is None:
        return found
    whole = np.minimum.reduceat(examples.weight, first) > 0
    stream.log.skipped += int(np.count_nonzero(~whole))
    skipped: list[int] = (np.cumsum(whole) - whole)[~whole].tolist()
    return replace(found.take(np.flatnonzero(whole)), skipped=skipped)


def _comes_back(path: str, query: int) -> int | None:
    """The line on which a query comes back: the file is read again for it, once; None where it is a pipe."""
    if not os.path.isfile(path):  # a pipe
        return None
    line, there, gone = 0, False, False
    for block in blocks(path):
        text = bytes(block.text)
        block.release()
        for one in text.removesuffix(b"\n").split(b"\n"):
            line += 1
            found = QUERY.search(one.partition(b"#")[0])
            if found is not None and int(found[1]) == query:
                if gone:
                    return line
                there = True
            elif found is not None:
                gone |= there
    return None
