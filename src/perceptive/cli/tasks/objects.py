"""JSON lines as examples of kernels: every line is an object, the kernel names its parts, the label is beside."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from perceptive.errors import ExampleError, UsageError
from perceptive.kernels import Kernel
from perceptive.kernels.examples import check_alike
from perceptive.kernels.vectors import VectorKernel
from perceptive.kernels.views import On
from perceptive.streams.blocks import expand, shown
from perceptive.streams.guessing import by_name
from perceptive.streams.json_lines import Line, read_json_lines, sound
from perceptive.streams.parsing import Log
from perceptive.streams.values import is_missing

LABEL = "label"
JSON_ONLY = "kernels of strings, trees and parts take JSON lines, not {}"
CONVERT = ", as pandas.read_csv(path).to_json(out, orient='records', lines=True) does"


class Found(NamedTuple):
    """An object, its label (None where there is none), and the number of its file."""

    x: dict[str, Any]
    label: Any
    file: int


def object_files(options: argparse.Namespace) -> list[str]:
    """The files, which must be JSON lines."""
    if options.format not in (None, "json", "jsonl"):
        raise UsageError(JSON_ONLY.format(options.format))
    files = expand(options.data)
    for path in files:
        kind = by_name(path) if options.format is None else None
        if kind not in (None, "json"):
            raise UsageError(
                f"{shown(path)}: {JSON_ONLY.format(kind)}; write an object a line{CONVERT * (kind == 'csv')}"
            )
    return files


class Objects:
    """The objects of files; where they are to be ``labelled``, one without a label is broken."""

    def __init__(self, options: argparse.Namespace, labelled: bool) -> None:
        self.files, self.log = object_files(options), Log()
        self.skip, self.labelled = options.on_error == "skip", labelled

    def __iter__(self) -> Iterator[Line]:
        return filter(None, self.lines())

    def lines(self) -> Iterator[Line | None]:
        """What each line holds; None where that is no object."""
        for file, path in enumerate(self.files):
            for lines in read_json_lines(path, self.log, self.skip, partial(self._read, file), blank=True):
                yield from lines

    def sound(self, lines: list[Line], attempt: Callable[[list[dict[str, Any]]], Any]) -> tuple[list[Found], Any]:
        """Those that ``attempt`` takes, and what it makes of them; there is a complaint about the others."""

        def tried(found: list[Found]) -> Any:
            try:
                return attempt([one.x for one in found])
            except ExampleError as error:
                raise ValueError(error.message) from error

        kept, made = sound(lines, tried, self.log, self.skip)
        return [one.value for one in kept], made

    def _read(self, file: int, found: Any, place: str) -> Found:
        if not isinstance(found, dict):
            raise ValueError(f'this is not a JSON object; write {{"text": …, "{LABEL}": …}}')
        if LABEL not in found and self.labelled:
            raise ValueError(f"an object without {LABEL!r}: {str(found)[:60]}")
        label = found.pop(LABEL, None)
        if label is None and not self.labelled:
            return Found(found, None, file)
        if not isinstance(label, str | int | float) or is_missing(label):
            raise ValueError(f"{str(label)[:60]} cannot be a label; give a string, a number, true or false")
        return Found(found, label, file)


def try_objects(kernel: Kernel, learner: Any, dtype: str, X: list[Any]) -> None:
    """Raise where a kernel does not take objects as a learner wants them, or not beside its supports."""
    prepared = kernel.resolved(X).prepare(X, np.dtype(dtype))
    if learner is not None and learner.dual is not None and learner.dual.supports is not None:
        check_alike(learner.dual.supports, prepared)


def with_numbers(kernel: Kernel, lines: list[Line]) -> Kernel:
    """The kernel, in which kernels of vectors without "@" compare the numbers that the first line has."""
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
    names = sorted(name for name, value in first.value.x.items() if type(value) in (int, float) and name not in taken)
    if not names:
        raise ValueError(
            f"{first.place}: {whole[0]!r} compares the numbers of a line other than "
            f"{', '.join(map(repr, taken))}, but there are none; give some, or name the part, as in "
            "gaussian(...)@column"
        )

    def on_names(one: Kernel) -> Kernel:
        if isinstance(one, On):
            return one
        if isinstance(one, VectorKernel):
            return one.on(names)
        return one.changed({name: on_names(inner) for name, inner in one.kernels()})

    return on_names(kernel)
