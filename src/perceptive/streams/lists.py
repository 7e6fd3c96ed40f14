r"""Lists of candidates from files: svmlight with ``qid:`` (SVM-rank, LETOR), or JSON lines of lists.

A line of JSON is ``{"candidates": [{…}, {…}], "best": 0}``; ``best`` may be a list of those equally good, or
``"grades"`` may say how good each is; without either the list has no answer. Candidates are read as JSON lines are.

In svmlight the lines of a query stand together, and in one file; a list with a broken line is broken as a whole.
Memory holds a few blocks and the list that is being read.

>>> import pathlib, tempfile
>>> from perceptive import streams
>>> path = pathlib.Path(tempfile.mkdtemp(), "rank.svm")
>>> _ = path.write_text("2 qid:7 1:1\n0 qid:7 2:1\n1 qid:8 1:3\n")
>>> [(part.starts.tolist(), part.grades.tolist()) for part in read_lists(streams.open(path))]
[([0, 2], [2.0, 0.0]), ([0, 1], [1.0])]
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive.streams.blocks import Block, blocks, check_json_lines, located, shown
from perceptive.streams.examples import UNLABELLED, Examples, join
from perceptive.streams.parsing import BrokenLine, Log, in_order

if TYPE_CHECKING:
    from perceptive.streams import Stream

MAX_LIST = 2**20  # candidates: memory stays bounded also where all lines name one query
MAX_FEATURES = 2**24  # of files that number their features: more are to be hashed
MAX_SEEN = 2**14  # queries of a file that are remembered, to see whether they come back
QUERY = re.compile(rb"(?:^|\s)qid:(\d{1,18})(?=\s|$)")
KEYS = ("candidates", "best", "grades", "qid")
NO_LABEL = "\0"  # no key of anybody: candidates have grades, and no labels


@dataclass(frozen=True)
class CandidateLists:
    """Some whole lists.

    Attributes
    ----------
    examples : Examples
        The candidates, one list after the other.
    starts : array of int64
        List t is the candidates from ``starts[t]`` up to ``starts[t + 1]``.
    grades : array of float64
        How good each is; nan where nobody says.
    names : list
        The query of each list; None where lists have no names.
    skipped : list of int
        For each list that was left out, how many of these stand before it.
    file : int
        The number of their file.
    """

    examples: Examples
    starts: NDArray[np.int64]
    grades: NDArray[np.float64]
    names: list[Any]
    skipped: list[int] = field(default_factory=list)
    file: int = 0

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, which: NDArray[np.int64]) -> CandidateLists:
        """Some of the lists, copied."""
        if len(which) == len(self):
            return self
        sizes = np.diff(self.starts)[which]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        rows = np.arange(starts[-1]) + np.repeat(self.starts[which] - starts[:-1], sizes)
        names = [self.names[t] for t in which]
        return CandidateLists(self.examples.take(rows), starts, self.grades[rows], names, file=self.file)


def read_lists(stream: Stream, live: bool = False) -> Iterator[CandidateLists]:
    """The lists of some files, block by block; with ``live`` as soon as they are there."""
    if stream.format.name == "json":
        return _json_lists(stream, live)
    if stream.format.name != "svmlight":
        raise ValueError(
            f"{stream.format.name} files have no lists; give svmlight with qid:, or JSON lines with candidates"
        )
    return _query_lists(stream, live)


# ---------------------------------------------------------------- svmlight


def _query_lists(stream: Stream, live: bool) -> Iterator[CandidateLists]:
    stream.log.__init__()  # type: ignore[misc]
    for file, path in enumerate(stream.files):  # with a file its last list ends
        waiting: list[Examples] = []  # parts of the last list, which may go on in the next block
        seen: set[int] = set()
        before = stream.log.lines
        for examples in _query_blocks(stream, path, live):
            if len(examples) == 0:
                continue
            assert examples.qid is not None
            goes_on = bool(waiting) and waiting[-1].qid is not None and waiting[-1].qid[-1] == examples.qid[0]
            if waiting and not goes_on:
                yield replace(_as_lists(stream, path, before, waiting, seen), file=file)
                waiting = []
            breaks = np.flatnonzero(np.diff(examples.qid)) + 1
            last = int(breaks[-1]) if len(breaks) else 0
            if last:
                whole = [*waiting, examples.cut(0, last)]
                yield replace(_as_lists(stream, path, before, whole, seen), file=file)
                waiting = []
            waiting.append(examples.cut(last, len(examples)))
            if sum(map(len, waiting)) > MAX_LIST:
                place = f"by line {stream.log.lines - before:,} of {shown(path)}"
                raise ValueError(f"query {examples.qid[-1]} has more than {MAX_LIST:,} candidates {place}; break it up")
        if waiting:
            yield replace(_as_lists(stream, path, before, waiting, seen), file=file)


def _query_blocks(stream: Stream, path: str, live: bool) -> Iterator[Examples]:
    """The lines of a file; broken ones that are skipped stand as candidates of weight 0."""
    single, log = stream.dtype == np.float32, stream.log
    parser = stream.format.parser(limit=MAX_FEATURES, idf=stream.idf, queries=True)

    def work(block: Block) -> tuple[Any, ...]:
        try:
            *arrays, lines, skipped, complaints, _ = parser.parse(block.text, single, stream.skip)
            examples, strays = Examples(*arrays), (False, False)
            if stream.skip and complaints:
                known = [int(one[0]) for one in complaints] if len(complaints) == skipped else None
                examples, strays = _with_broken(bytes(block.text), parser, single, known)
            return examples, strays, lines, complaints, block.offset, len(block.text)
        finally:
            block.release()

    line, last, stray = 0, None, False
    for examples, strays, lines, complaints, offset, size in in_order(
        work, blocks(path, live=live), 1 if live else stream.threads
    ):
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
    whether there is such a line before the first query of the block, and behind the last one.

    Parameters
    ----------
    text : bytes
    parser : of the core
    single : bool
        Whether values are float32.
    known : list of int or None
        The broken lines, where all are known.
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


def _as_lists(stream: Stream, path: str, before: int, parts: list[Examples], seen: set[int]) -> CandidateLists:
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
    found = CandidateLists(replace(examples, weight=None), np.append(first, len(examples)), grades, names)
    if examples.weight is None:
        return found
    whole = np.minimum.reduceat(examples.weight, first) > 0
    stream.log.skipped += int(np.count_nonzero(~whole))
    skipped: list[int] = (np.cumsum(whole) - whole)[~whole].tolist()
    return replace(found.take(np.flatnonzero(whole)), skipped=skipped)


def _comes_back(path: str, query: int) -> int | None:
    """The line on which a query comes back: it is looked for once, in the file again; None where that is no file."""
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


# ---------------------------------------------------------------- JSON lines


def _json_lists(stream: Stream, live: bool) -> Iterator[CandidateLists]:
    stream.log.__init__()  # type: ignore[misc]
    log, parser = stream.log, replace(stream.format, label=NO_LABEL).parser(idf=stream.idf)
    for file, path in enumerate(stream.files):
        line, seen = 0, set[str]()
        check_json_lines(path)
        for block in blocks(path, live=live):
            text = bytes(block.text)
            log.bytes += len(text)
            block.release()
            lists: list[tuple[list[bytes], list[float], Any] | None] = []  # None where a list is left out
            where: list[int] = []  # the line of each list
            for one in text.splitlines():
                line += 1
                if not one.strip():
                    continue
                where.append(line)
                try:
                    *told, strange = list_of(one)
                    lists.append((told[0], told[1], told[2]))
                except (ValueError, RecursionError) as error:
                    said = "this is nested too deeply" if isinstance(error, RecursionError) else error
                    complain(log, stream.skip, f"{shown(path)}:{line}: {said}")
                    lists.append(None)
                else:
                    note_query(log, seen, told[2], f"{shown(path)}:{line}")
                    if strange:
                        known = ", ".join(KEYS)
                        log.remark("keys", f"{shown(path)}:{line}: {', '.join(strange)}: heeded are only {known}")
            log.lines = line
            if not lists:
                continue
            good = [t for t, one in enumerate(lists) if one is not None]
            while True:
                kept = [one for one in lists if one is not None]
                examples, broken = _parsed(parser, kept, stream.dtype)
                for at, message in broken.items():
                    complain(log, stream.skip, f"{shown(path)}:{where[good[at]]}: {message}")
                    lists[good[at]] = None
                if not broken:
                    break
                good = [t for t, one in enumerate(lists) if one is not None]
            starts = np.cumsum([0, *(len(found) for found, _, _ in kept)], dtype=np.int64)
            grades = np.array([grade for _, given, _ in kept for grade in given])
            there = np.array([one is not None for one in lists])
            skipped = (np.cumsum(there) - there)[~there].tolist()
            yield CandidateLists(examples, starts, grades, [name for _, _, name in kept], skipped, file)


def _parsed(
    parser: Any, lists: list[tuple[list[bytes], list[float], Any]], dtype: np.dtype[Any]
) -> tuple[Examples, dict[int, str]]:
    """The candidates of some lists; of lists with a broken one, what is wrong with it."""
    text = b"\n".join(candidate for found, _, _ in lists for candidate in found)
    *arrays, _, _, complaints, _ = parser.parse(text, dtype == np.float32, True)
    which = np.repeat(np.arange(len(lists)), [len(found) for found, _, _ in lists])
    broken: dict[int, str] = {}
    for at, _, _, message in complaints:
        broken.setdefault(int(which[at]), message)
    return Examples(*arrays), broken


def note_query(log: Log, seen: set[str], name: Any, place: str) -> None:
    """Remark on a query that has been met before; ``seen`` are those that have."""
    if name is None:
        return
    key = json.dumps(name)
    if key in seen:
        log.remark("query", f"{place}: query {key} comes back, as another list; give all its candidates on one line")
    elif len(seen) < MAX_SEEN:
        seen.add(key)


def complain(log: Log, skip: bool, said: str) -> None:
    """Raise, or note that a line was left out."""
    if not skip:
        raise BrokenLine(said)
    log.skipped += 1
    log.complaints += [said][: max(0, 10 - len(log.complaints))]


def list_of(line: bytes, any_kind: bool = False) -> tuple[list[Any], list[float], Any, list[str]]:
    """The candidates of a line, their grades, the query, and keys that mean nothing.

    Candidates are given as JSON; with ``any_kind`` they need be no objects, and are given as they are.
    """
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    found = row.get("candidates") if isinstance(row, dict) else None
    if not isinstance(found, list) or not (any_kind or all(isinstance(one, dict) for one in found)):
        raise ValueError(f'"candidates" must be a list{"" if any_kind else " of objects"}')
    n = len(found)
    if n == 0:
        raise ValueError("the list has no candidates; give at least one")
    grades = row.get("grades")
    if grades is not None and row.get("best") is not None:
        raise ValueError('there are both "best" and "grades"; give one of them')
    if grades is None:
        grades = _grades(row.get("best"), n)
    elif not isinstance(grades, list) or len(grades) != n or not all(map(_is_number, grades)):
        raise ValueError(f'"grades" must be a list of {n} numbers, one for each candidate')
    elif not math.isfinite(float(max(grades)) - float(min(grades))):
        raise ValueError('"grades" differ by more than any number; rescale them')
    strange = [json.dumps(key) for key in row if key not in KEYS]
    candidates = found if any_kind else [json.dumps(one).encode() for one in found]
    return candidates, [float(grade) for grade in grades], row.get("qid"), strange


def _grades(best: Any, n: int) -> list[float]:
    if best is None:
        return [math.nan] * n
    good = best if isinstance(best, list) else [best]
    if not good or not all(isinstance(j, int) and not isinstance(j, bool) and 0 <= j < n for j in good):
        raise ValueError(f'"best" is {best!r}; it must be an index from 0 to {n - 1}, or a list of such')
    return [float(j in good) for j in range(n)]


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False
