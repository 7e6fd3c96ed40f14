"""JSON lines as examples of kernels: every line is an object, the kernel names its parts, the label is beside."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from perceptive.data.labels import is_missing
from perceptive.errors import ExampleError, UsageError
from perceptive.kernels import Kernel
from perceptive.kernels.examples import check_alike
from perceptive.kernels.vectors import VectorKernel
from perceptive.kernels.views import On
from perceptive.streams.blocks import blocks, check_json_lines, expand, shown
from perceptive.streams.lists import complain
from perceptive.streams.parsing import Log

LABEL = "label"
JSON_ONLY = "kernels of strings, trees and parts take JSON lines, not {}"


class Found(NamedTuple):
    """An object, its label (None where there is none), and the file and line where it stands."""

    x: dict[str, Any]
    label: Any
    path: str
    line: int
    file: int  # its number among the files


def object_files(options: argparse.Namespace) -> list[str]:
    """The files, which must be JSON lines."""
    if options.format not in (None, "json", "jsonl"):
        raise UsageError(JSON_ONLY.format(options.format))
    return expand(options.data)


class Objects:
    """The objects of files.

    Parameters
    ----------
    options : argparse.Namespace
        With ``data``, and ``on_error``: whether a broken line stops, or is left out and counted.
    labelled : bool
        Whether an object without a label is broken.
    """

    def __init__(self, options: argparse.Namespace, labelled: bool) -> None:
        self.files, self.log = object_files(options), Log()
        self.skip, self.labelled = options.on_error == "skip", labelled

    def __iter__(self) -> Iterator[Found]:
        for file, path in enumerate(self.files):
            number = 0
            check_json_lines(path)
            for block in blocks(path):
                for line in bytes(block.text).splitlines():
                    number += 1
                    if not line.strip():
                        continue
                    try:
                        found = self._read(line)
                    except ValueError as error:
                        complain(self.log, self.skip, f"{shown(path)}:{number}: {error}")
                    else:
                        yield Found(*found, shown(path), number, file)
                self.log.bytes += len(block.text)
                block.release()

    def sound(self, found: list[Found], attempt: Callable[[list[dict[str, Any]]], Any]) -> tuple[list[Found], Any]:
        """Those that ``attempt`` takes, and what it makes of them; about the others there is a complaint.

        They are tried one by one, and beside the first, only where not all of them can be taken at once.
        """
        while found:
            try:
                return found, attempt([one.x for one in found])
            except (TypeError, ValueError) as raised:
                error = str(raised)  # of objects of another kind, too: that is the files' fault, not the program's
            faults = {i: fault for i, one in enumerate(found) if (fault := _fault(attempt, [one.x]))}
            if not faults:  # each is good alone, but not beside the others: the fewer are wrong
                beside = {i: _fault(attempt, [found[0].x, one.x]) for i, one in enumerate(found)}
                strange = {i: fault for i, fault in beside.items() if fault}
                alone = 2 * len(strange) >= len(found) > 2
                faults = {0: next(iter(strange.values()))} if alone else strange
            if not faults:
                raise ValueError(error)
            for i, fault in faults.items():
                complain(self.log, self.skip, f"{found[i].path}:{found[i].line}: {fault}")
            found = [one for i, one in enumerate(found) if i not in faults]
        return found, None

    def _read(self, line: bytes) -> tuple[dict[str, Any], Any]:
        try:
            found = json.loads(line)
        except RecursionError:
            raise ValueError("JSON that is nested too deeply; give flatter objects") from None
        except ValueError as error:
            raise ValueError(f"no JSON ({error}); give an object a line") from None
        if not isinstance(found, dict):
            raise ValueError(f'no JSON object; write {{"text": …, "{LABEL}": …}}')
        if LABEL not in found and self.labelled:
            raise ValueError(f"an object without {LABEL!r}: {str(found)[:60]}")
        label = found.pop(LABEL, None)
        if label is None and not self.labelled:
            return found, None
        if not isinstance(label, str | int | float) or is_missing(label):
            raise ValueError(f"the label {str(label)[:60]} is no label; give a string, a number, true or false")
        return found, label


def try_objects(kernel: Kernel, learner: Any, dtype: str, X: list[Any]) -> None:
    """Raise where a kernel does not take objects as a learner wants them, or not beside its supports."""
    prepared = kernel.resolved(X).prepare(X, np.dtype(dtype))
    if learner is not None and learner.dual is not None and learner.dual.supports is not None:
        check_alike(learner.dual.supports, prepared)


def with_numbers(kernel: Kernel, lines: list[Found]) -> Kernel:
    """The kernel, whose parts of vectors that no "@" sends elsewhere are of the numbers of the first line."""
    taken: list[Any] = []
    whole: list[Kernel] = []  # those that see all of a line
    waiting = [kernel]
    while waiting:
        one = waiting.pop()
        if isinstance(one, On):
            taken.append(one.columns)
        elif isinstance(one, VectorKernel):
            whole.append(one)
        else:
            waiting += [inner for _, inner in one.kernels()]
    if not lines or not taken or not whole:
        return kernel
    first = lines[0]
    names = sorted(name for name, value in first.x.items() if type(value) in (int, float) and name not in taken)
    if not names:
        raise ValueError(
            f"{first.path}:{first.line}: {whole[0]!r} compares the numbers of a line beside "
            f"{', '.join(map(repr, taken))}, and there are none; give some, or name the part, as in "
            "gaussian(...)@column"
        )

    def on_names(one: Kernel) -> Kernel:
        if isinstance(one, On):
            return one
        if isinstance(one, VectorKernel):
            return one.on(names)
        return one.changed({name: on_names(inner) for name, inner in one.kernels()})

    return on_names(kernel)


def _fault(attempt: Callable[[list[dict[str, Any]]], Any], objects: list[dict[str, Any]]) -> str:
    """What is wrong with these objects; nothing where nothing is."""
    try:
        attempt(objects)
    except ExampleError as error:
        return error.message
    except (TypeError, ValueError) as error:
        return str(error) or type(error).__name__
    return ""
