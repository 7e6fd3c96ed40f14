r"""Read lists of candidates from JSON lines: rows of features for rankers, or any objects for kernels.

A line is ``{"candidates": [{…}, {…}], "best": 0}``; ``best`` may be a list of equally good ones, or ``"grades"`` may
say how good each is. Without either, the list has no answer. ``"weight"``, or another key, may say how much it counts.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp(), "spelled.jsonl")
>>> _ = path.write_text('{"candidates": ["recieve", "receive"], "best": 1}\n')
>>> [(part.examples, part.grades.tolist()) for part in read_object_lists([str(path)], Log(), False)]
[(['recieve', 'receive'], [0.0, 1.0])]
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.errors import ExampleError
from perceptive.streams.blocks import Block
from perceptive.streams.examples import Examples
from perceptive.streams.json_lines import read_json_lines, sound
from perceptive.streams.lists import MAX_SEEN, CandidateLists
from perceptive.streams.parsing import Log

KEYS = ("candidates", "best", "grades", "qid")
WEIGHT = "weight"  # the key of a list's weight, unless another is named
Attempt = Callable[[list[Any], NDArray[np.int64]], Any]  # of candidates and the sizes of their lists


class _List(NamedTuple):
    candidates: list[Any]
    grades: list[float]
    name: Any
    weight: float


def candidate_blocks(path: str, ahead: bool) -> Iterator[Block]:
    """Yield the candidates of a file as JSON lines, for inspection; broken lists are left out.

    With ``ahead`` only those of its first block, which can still be read.
    """
    read = partial(_list_of, "objects", None, Log(), set[str]())
    for lines in read_json_lines(path, Log(), True, read, ahead=ahead):
        yield Block(memoryview(_as_lines([x for one in lines if one is not None for x in one.value.candidates])), 0)


def _as_lines(candidates: list[Any]) -> bytes:
    return b"\n".join(json.dumps(one).encode() for one in candidates)


def read_row_lists(
    files: Sequence[str], log: Log, skip: bool, parser: Any, single: bool, live: bool, few: bool, weight: str | None
) -> Iterator[Any]:
    """Yield the lists of some files; a JSON parser makes rows of the candidates, ``weight`` is the key of weights."""

    def parse(candidates: list[Any], sizes: NDArray[np.int64]) -> Examples:
        *arrays, _, _, complaints, names = parser.parse(_as_lines(candidates), single, True)
        if complaints:
            raise ValueError(complaints[0][-1])
        log.note_names(names, few)
        return Examples(*arrays)

    return _read(files, log, skip, parse, weight, "objects", live)


def read_object_lists(
    files: Sequence[str],
    log: Log,
    skip: bool,
    attempt: Attempt = lambda candidates, sizes: None,
    weight: str | None = None,
) -> Iterator[CandidateLists]:
    """Yield the lists of some files, block by block.

    Parameters
    ----------
    files : list of paths
    log : Log
        Collects what was left out, and oddities.
    skip : bool
        Whether a broken list is left out; otherwise it raises.
    attempt : callable
        Called with candidates and the sizes of their lists; raises if they are not valid.
    weight : str or None
        The key of the weight of a list; None: "weight".
    """

    def worded(candidates: list[Any], sizes: NDArray[np.int64]) -> Any:
        try:
            return attempt(candidates, sizes)
        except ExampleError as error:
            raise ValueError(error.worded(lambda i, _: f"candidate {i}")) from error

    return _read(files, log, skip, worded, weight)


def _read(
    files: Sequence[str],
    log: Log,
    skip: bool,
    attempt: Attempt,
    weight: str | None,
    of: str | None = None,
    live: bool = False,
) -> Iterator[CandidateLists]:
    def tried(lists: list[_List]) -> Any:
        return attempt([x for one in lists for x in one.candidates], np.array([len(one.grades) for one in lists]))

    for file, path in enumerate(files):
        for lines in read_json_lines(path, log, skip, partial(_list_of, of, weight, log, set[str]()), live):
            kept, made = sound([one for one in lines if one is not None], tried, log, skip)
            lists: list[_List] = [one.value for one in kept]
            places = {id(one) for one in kept}
            there = np.array([id(one) in places for one in lines])
            weights = np.array([one.weight for one in lists])
            yield CandidateLists(
                (tried(lists) if made is None else made) if of else [x for one in lists for x in one.candidates],
                np.array([0, *accumulate(len(one.grades) for one in lists)], np.int64),
                np.array([grade for one in lists for grade in one.grades]),
                [one.name for one in lists],
                (np.cumsum(there) - there)[~there].tolist(),
                file,
                made,
                None if (weights == 1).all() else weights,
            )


def _list_of(of: str | None, weight: str | None, log: Log, seen: set[str], row: Any, place: str) -> _List:
    """Return the list of a line, and remark on what is odd.

    ``of`` says what candidates must be, ``weight`` is the key of the weight, ``seen`` are the queries.
    """
    found = row.get("candidates") if isinstance(row, dict) else None
    if not isinstance(found, list) or not (of is None or all(isinstance(one, dict) for one in found)):
        raise ValueError(f'"candidates" must be a list{f" of {of}" if of else ""}')
    n = len(found)
    if n == 0:
        raise ValueError("the list has no candidates; give at least one")
    grades, name = row.get("grades"), row.get("qid")
    if grades is not None and row.get("best") is not None:
        raise ValueError('there are both "best" and "grades"; give one of them')
    if grades is None:
        grades = _grades(row.get("best"), n)
    elif not isinstance(grades, list) or len(grades) != n or not all(map(_is_number, grades)):
        raise ValueError(f'"grades" must be a list of {n} numbers, one for each candidate')
    elif not math.isfinite(float(max(grades)) - float(min(grades))):
        raise ValueError('"grades" differ by more than any number; rescale them')
    key = json.dumps(name)
    if name is not None and key in seen:
        log.remark("query", f"{place}: query {key} comes back, as another list; give all its candidates on one line")
    elif name is not None and len(seen) < MAX_SEEN:
        seen.add(key)
    keys = (*KEYS, weight or WEIGHT)
    strange = ", ".join(json.dumps(key) for key in row if key not in keys)
    if strange:
        log.remark("keys", f"{place}: {strange}: ignored; a list has only {', '.join(keys)}")
    return _List(found, [float(grade) for grade in grades], name, _weight(row.get(weight or WEIGHT)))


def _weight(given: Any) -> float:
    """Return the weight of a list, as rows of JSON lines have it: null is 1, as are true and what is not there."""
    if given is None or isinstance(given, bool):
        return 1.0 if given is None else float(given)
    if not _is_number(given):
        raise ValueError("the weight must be a number, 0 or more")
    if given < 0:
        raise ValueError("the weight is negative; give 0 or more")
    return float(given) + 0.0  # −0 is 0


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
