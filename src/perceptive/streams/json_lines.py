"""JSON lines that Python reads: broken ones are left out, or raise."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from perceptive.streams.blocks import blocks, check_json_lines, first_block, last_line, shown
from perceptive.streams.parsing import BrokenLine, Log


class Line(NamedTuple):
    """What was read from a line, and where it stands: "file:line"."""

    place: str
    value: Any


def read_json_lines(
    path: str,
    log: Log,
    skip: bool,
    read: Callable[[Any, str], Any],
    live: bool = False,
    blank: bool = False,
    ahead: bool = False,
) -> Iterator[list[Line | None]]:
    """The lines of a file, block by block; None where one is left out, or (with ``blank``) is blank.

    A broken line raises, or the log is told that it was left out (``skip``). ``read`` is given the JSON of a line and
    its place, and raises ValueError where it is not what it should be. Lines may come as soon as they are there
    (``live``); ``ahead``: the first block is all, and stays there to be read.
    """
    number = 0
    check_json_lines(path)
    for block in first_block(path, last_line) if ahead else blocks(path, live=live):
        text = bytes(block.text)
        block.release()
        log.bytes += len(text)
        found: list[Line | None] = []
        for line in text.splitlines():
            number += 1
            if not line.strip():
                found += [None] if blank else []
                continue
            place = f"{shown(path)}:{number}"
            try:
                found.append(Line(place, read(_json_of(line), place)))
            except ValueError as error:
                complain(log, skip, f"{place}: {error}")
                found.append(None)
        log.lines += len(text.splitlines())
        if found:
            yield found


def _json_of(line: bytes) -> Any:
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError("this JSON is nested too deeply; give flatter objects") from None
    except ValueError as error:
        raise ValueError(f"this is not JSON: {error}; write one object per line") from None


def sound(lines: list[Line], attempt: Callable[[list[Any]], Any], log: Log, skip: bool) -> tuple[list[Line], Any]:
    """Those lines that ``attempt`` takes, and what it makes of their values; there is a complaint about the others.

    They are tried one by one, and beside the first, only where not all of them can be taken at once.
    """
    while lines:
        try:
            return lines, attempt([one.value for one in lines])
        except (TypeError, ValueError) as raised:
            error = str(raised)  # of values of another kind, too: that is the files' fault, not the program's
        faults = {i: fault for i, one in enumerate(lines) if (fault := _fault(attempt, [one.value]))}
        if not faults:  # each is good alone, but not beside the others: the fewer are wrong
            beside = {i: _fault(attempt, [lines[0].value, one.value]) for i, one in enumerate(lines)}
            strange = {i: fault for i, fault in beside.items() if fault}
            alone = 2 * len(strange) >= len(lines) > 2
            faults = {0: next(iter(strange.values()))} if alone else strange
        if not faults:
            raise ValueError(error)
        for i, fault in faults.items():
            complain(log, skip, f"{lines[i].place}: {fault}")
        lines = [one for i, one in enumerate(lines) if i not in faults]
    return lines, None


def _fault(attempt: Callable[[list[Any]], Any], values: list[Any]) -> str:
    """What is wrong with these values; nothing where nothing is."""
    try:
        attempt(values)
    except (TypeError, ValueError) as error:
        return str(error) or type(error).__name__
    return ""


def complain(log: Log, skip: bool, said: str) -> None:
    """Raise, or note that a line was left out."""
    if not skip:
        raise BrokenLine(said)
    log.skipped += 1
    log.complaints += [said][: max(0, 10 - len(log.complaints))]
