r"""Lists of candidates of any kind from JSON lines: strings, sequences, trees, objects with parts.

A line is as `perceptive.streams.lists` has it, but a candidate is any JSON that the kernel takes.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp(), "spelled.jsonl")
>>> _ = path.write_text('{"candidates": ["recieve", "receive"], "best": 1}\n')
>>> [(part.candidates, part.grades.tolist()) for part in read_object_lists([str(path)], Log(), False)]
[(['recieve', 'receive'], [0.0, 1.0])]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.errors import ExampleError
from perceptive.streams.blocks import blocks, check_json_lines, shown
from perceptive.streams.lists import complain, list_of, note_query
from perceptive.streams.parsing import Log

Attempt = Callable[[list[Any], NDArray[np.int64]], Any]  # of candidates and the sizes of their lists


@dataclass(frozen=True)
class ObjectLists:
    """Some whole lists.

    Attributes
    ----------
    candidates : list
        One list after the other.
    starts : array of int64
        List t is the candidates from ``starts[t]`` up to ``starts[t + 1]``.
    grades : array of float64
        How good each is; nan where nobody says.
    names : list
        The query of each list; None where lists have no names.
    skipped : list of int
        For each list that was left out, how many of these stand before it.
    made : object
        What was made of the candidates where they were tried.
    file : int
        The number of their file.
    """

    candidates: list[Any]
    starts: NDArray[np.int64]
    grades: NDArray[np.float64]
    names: list[Any]
    skipped: list[int] = field(default_factory=list)
    made: Any = None
    file: int = 0

    def __len__(self) -> int:
        return len(self.starts) - 1


@dataclass(frozen=True)
class _Line:
    place: str
    candidates: list[Any]
    grades: list[float]
    name: Any


def read_object_lists(
    files: Sequence[str], log: Log, skip: bool, attempt: Attempt = lambda candidates, sizes: None
) -> Iterator[ObjectLists]:
    """The lists of some files, block by block.

    Parameters
    ----------
    files : list of paths
    log : Log
        Is told what was left out, and what is odd.
    skip : bool
        Whether a broken list is left out, or raises.
    attempt : callable
        Is given candidates and the sizes of their lists, and raises where they cannot be taken.
    """
    for file, path in enumerate(files):
        line, seen = 0, set[str]()
        check_json_lines(path)
        for block in blocks(path):
            text = bytes(block.text)
            log.bytes += len(text)
            block.release()
            lists: list[_Line | None] = []  # None where a list is left out
            for one in text.splitlines():
                line += 1
                if not one.strip():
                    continue
                place = f"{shown(path)}:{line}"
                try:
                    *told, strange = list_of(one, any_kind=True)
                    lists.append(_Line(place, *told))
                except (ValueError, RecursionError) as error:
                    said = "this is nested too deeply" if isinstance(error, RecursionError) else error
                    complain(log, skip, f"{place}: {said}")
                    lists.append(None)
                else:
                    note_query(log, seen, told[2], place)
                    if strange:
                        log.remark("keys", f"{place}: {', '.join(strange)}: this is not heeded")
            log.lines += len(text.splitlines())
            if lists:
                yield replace(_sound(lists, log, skip, attempt), file=file)


def _sound(lists: list[_Line | None], log: Log, skip: bool, attempt: Attempt) -> ObjectLists:
    """Those that can be taken; they are tried one by one only where not all of them can be taken at once."""
    made = None
    while kept := [one for one in lists if one is not None]:
        error, made = _tried(attempt, kept)
        if error is None:
            break
        faults = {id(one): fault for one in kept if (fault := _tried(attempt, [one])[0])}
        if not faults:  # they do not go together
            first = kept[0]
            faults = {id(one): fault for one in kept[1:] if (fault := _tried(attempt, [first, one])[0])}
        if not faults:
            raise ValueError(error)
        for t, one in enumerate(lists):
            if one is not None and id(one) in faults:
                complain(log, skip, f"{one.place}: {faults[id(one)]}")
                lists[t] = None
    there = np.array([one is not None for one in lists])
    return ObjectLists(
        [x for one in kept for x in one.candidates],
        np.array([0, *accumulate(len(one.candidates) for one in kept)], np.int64),
        np.array([grade for one in kept for grade in one.grades]),
        [one.name for one in kept],
        (np.cumsum(there) - there)[~there].tolist(),
        made,
    )


def _tried(attempt: Attempt, lists: list[_Line]) -> tuple[str | None, Any]:
    """What is wrong with these lists, or what is made of them."""
    sizes = np.array([len(one.candidates) for one in lists], np.int64)
    try:
        return None, attempt([x for one in lists for x in one.candidates], sizes)
    except ExampleError as error:
        return error.worded(lambda i, _: f"candidate {i}"), None
    except (TypeError, ValueError) as error:
        return str(error) or type(error).__name__, None
