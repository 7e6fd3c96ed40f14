r"""Lists of candidates from files: svmlight with ``qid:`` (SVM-rank, LETOR), or JSON lines of lists.

A line of JSON is ``{"candidates": [{…}, {…}], "best": 0}``; ``best`` may be a list of those equally good, or
``"grades"`` may say how good each is; without either the list has no answer. Candidates are read as JSON lines are.

In svmlight the lines of a query stand together. Memory holds a few blocks and the list that is being read.

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
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive.streams.blocks import blocks, shown
from perceptive.streams.examples import UNLABELLED, Examples, join
from perceptive.streams.parsing import BrokenLine

if TYPE_CHECKING:
    from perceptive.streams import Stream

MAX_LIST = 2**20  # candidates: memory stays bounded also where all lines name one query
MAX_FEATURES = 2**24  # of files that number their features: more are to be hashed


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
    """

    examples: Examples
    starts: NDArray[np.int64]
    grades: NDArray[np.float64]
    names: list[Any]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, which: NDArray[np.int64]) -> CandidateLists:
        """Some of the lists, copied."""
        if len(which) == len(self):
            return self
        sizes = np.diff(self.starts)[which]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        rows = np.arange(starts[-1]) + np.repeat(self.starts[which] - starts[:-1], sizes)
        return CandidateLists(self.examples.take(rows), starts, self.grades[rows], [self.names[t] for t in which])


def read_lists(stream: Stream) -> Iterator[CandidateLists]:
    """The lists of some files, block by block."""
    if stream.reading.format == "json":
        return _json_lists(stream)
    if stream.reading.format != "svmlight":
        raise ValueError(
            f"{stream.reading.format} files have no lists; give svmlight with qid:, or JSON lines with candidates"
        )
    return _query_lists(stream)


# ---------------------------------------------------------------- svmlight


def _query_lists(stream: Stream) -> Iterator[CandidateLists]:
    waiting: list[Examples] = []  # parts of the last list, which may go on in the next block
    dtype = stream.dtype
    for examples in stream.blocks(limit=MAX_FEATURES, queries=True):
        if len(examples) == 0:
            continue
        assert examples.qid is not None
        goes_on = bool(waiting) and waiting[-1].qid is not None and waiting[-1].qid[-1] == examples.qid[0]
        if waiting and not goes_on:
            yield _as_lists(join(waiting, dtype))
            waiting = []
        breaks = np.flatnonzero(np.diff(examples.qid)) + 1
        last = int(breaks[-1]) if len(breaks) else 0
        if last:
            yield _as_lists(join([*waiting, examples.cut(0, last)], dtype))
            waiting = []
        waiting.append(examples.cut(last, len(examples)))
        if sum(map(len, waiting)) > MAX_LIST:
            place = f"by line {stream.log.lines:,}"
            raise ValueError(f"query {examples.qid[-1]} has more than {MAX_LIST:,} candidates {place}; break it up")
    if waiting:
        yield _as_lists(join(waiting, dtype))


def _as_lists(examples: Examples) -> CandidateLists:
    assert examples.qid is not None
    first = np.concatenate([[0], np.flatnonzero(np.diff(examples.qid)) + 1]).astype(np.int64)
    values = np.array([*map(float, examples.labels), np.nan])
    grades = values[np.where(examples.which == UNLABELLED, -1, examples.which)]
    return CandidateLists(examples, np.append(first, len(examples)), grades, examples.qid[first].tolist())


# ---------------------------------------------------------------- JSON lines


def _json_lists(stream: Stream) -> Iterator[CandidateLists]:
    stream.log.__init__()  # type: ignore[misc]
    log, parser = stream.log, stream.reading.parser(idf=stream.idf)
    for path in stream.files:
        line = 0
        for block in blocks(path):
            text = bytes(block.text)
            log.bytes += len(text)
            block.release()
            lists: list[tuple[list[bytes], list[float], Any]] = []
            where: list[int] = []  # the line of each list
            for one in text.splitlines():
                line += 1
                if not one.strip():
                    continue
                try:
                    lists.append(_list_of(one))
                    where.append(line)
                except ValueError as error:
                    _complain(stream, f"{shown(path)}:{line}: {error}")
            log.lines = line
            examples, broken = None, dict[int, str]()
            while lists and (examples is None or broken):
                examples, broken = _parsed(parser, lists, stream.dtype)
                for t, message in broken.items():
                    _complain(stream, f"{shown(path)}:{where[t]}: {message}")
                lists = [one for t, one in enumerate(lists) if t not in broken]
                where = [at for t, at in enumerate(where) if t not in broken]
            if not lists or examples is None:
                continue
            sizes = [len(found) for found, _, _ in lists]
            starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            grades = np.array([grade for _, given, _ in lists for grade in given])
            yield CandidateLists(examples, starts, grades, [name for _, _, name in lists])


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


def _complain(stream: Stream, said: str) -> None:
    """Raise, or note that a line was left out."""
    if not stream.skip:
        raise BrokenLine(said)
    stream.log.skipped += 1
    stream.log.complaints += [said][: max(0, 10 - len(stream.log.complaints))]


def _list_of(line: bytes) -> tuple[list[bytes], list[float], Any]:
    """The candidates of a line, each as JSON, their grades, and the query."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    found = row.get("candidates") if isinstance(row, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError('"candidates" must be a list of objects')
    n = len(found)
    if n == 0:
        raise ValueError("the list has no candidates; give at least one")
    grades = row.get("grades")
    if grades is None:
        grades = _grades(row.get("best"), n)
    elif not isinstance(grades, list) or len(grades) != n or not all(map(_is_number, grades)):
        raise ValueError(f'"grades" must be a list of {n} numbers, one for each candidate')
    return [json.dumps(one).encode() for one in found], [float(grade) for grade in grades], row.get("qid")


def _grades(best: Any, n: int) -> list[float]:
    if best is None:
        return [math.nan] * n
    good = best if isinstance(best, list) else [best]
    if not good or not all(isinstance(j, int) and not isinstance(j, bool) and 0 <= j < n for j in good):
        raise ValueError(f'"best" is {best!r}; it must be an index from 0 to {n - 1}, or a list of such')
    return [float(j in good) for j in range(n)]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
