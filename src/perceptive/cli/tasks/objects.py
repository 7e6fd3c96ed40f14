"""JSON lines as examples of kernels: every line is an object, the kernel names its parts, the label is beside."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from perceptive.cli.paths import expand_there
from perceptive.cli.tasks.rows import labels_told
from perceptive.errors import ExampleError, UsageError
from perceptive.kernels import Kernel
from perceptive.kernels.examples import check_alike
from perceptive.kernels.vectors import VectorKernel
from perceptive.kernels.views import On
from perceptive.streams.blocks import shown
from perceptive.streams.file_format import FileFormat
from perceptive.streams.guessing import by_name
from perceptive.streams.json_lines import Line, read_json_lines, sound
from perceptive.streams.label_reading import reading_for
from perceptive.streams.parsing import Log
from perceptive.streams.values import is_missing

LABEL = "label"
JSON_ONLY = "kernels of strings, trees and parts take JSON lines, not {}"
CONVERT = ", as pandas.read_csv(path).to_json(out, orient='records', lines=True) does"


LabelReader = Callable[[Any], tuple[Any, list[tuple[str, str]]]]  # of a label, and what is odd about it


class Found(NamedTuple):
    """An object, its label (None where there is none), and the number of its file."""

    x: dict[str, Any]
    label: Any
    file: int


def object_files(options: argparse.Namespace) -> list[str]:
    """Return the files; raise if they are not JSON lines."""
    if options.format not in (None, "json", "jsonl"):
        raise UsageError(JSON_ONLY.format(options.format))
    files = expand_there(options.data)
    for path in files:
        kind = by_name(path) if options.format is None else None
        if kind not in (None, "json"):
            raise UsageError(
                f"{shown(path)}: {JSON_ONLY.format(kind)}; write an object a line{CONVERT * (kind == 'csv')}"
            )
    return files


class Objects:
    """The objects of files; their labels are read as the learner, or a new one, reads them."""

    def __init__(self, options: argparse.Namespace, learner: Any) -> None:
        self.files, self.log = object_files(options), Log()
        self.skip, self.label_of = options.on_error == "skip", _label_reader(options, learner)

    def __iter__(self) -> Iterator[Line]:
        return filter(None, self.lines())

    def lines(self) -> Iterator[Line | None]:
        """Yield what each line holds; None for a line without an object."""
        for file, path in enumerate(self.files):
            for lines in read_json_lines(path, self.log, self.skip, partial(self._read, file), blank=True):
                yield from lines

    def sound(self, lines: list[Line], attempt: Callable[[list[dict[str, Any]]], Any]) -> tuple[list[Found], Any]:
        """Return the objects that ``attempt`` accepts, and its result; complain about the others."""

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
        given = found.pop(LABEL, None)
        if is_missing(given):
            return Found(found, None, file)
        if not isinstance(given, str | int | float):
            raise ValueError(f"{str(given)[:60]} cannot be a label; give a string, a number, true or false")
        label, odd = self.label_of(given)
        for kind, said in odd:
            self.log.note_odd(kind, 1, f"{place}: {said}")
        return Found(found, label, file)


def _label_reader(options: argparse.Namespace, learner: Any) -> LabelReader:
    """Return what reads labels: as in tables, unless that would change the classes of a model of an earlier build."""
    reading = labels_told(options) if learner is None else reading_for(learner.classes)
    parser = FileFormat(name="json", labels=reading, bits=1).parser()

    def read(label: Any) -> tuple[Any, list[tuple[str, str]]]:
        labels, *_, odd, _, _, _, complaints, _ = parser.parse(json.dumps({LABEL: label}).encode(), True, False)
        for _, _, _, said in complaints:
            raise ValueError(said)
        return labels[0] if labels else None, [(kind, said) for kind, _, (*_, said) in odd]

    classes = () if learner is None else learner.classes
    return read if all(_same(one, read(one)[0]) for one in classes) else lambda label: (label, [])


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def try_objects(kernel: Kernel, learner: Any, dtype: str, X: list[Any]) -> None:
    """Raise if a kernel cannot compare these objects, or not with the supports of the learner."""
    prepared = kernel.resolved(X).prepare(X, np.dtype(dtype))
    if learner is not None and learner.dual is not None and learner.dual.supports is not None:
        check_alike(learner.dual.supports, prepared)


def with_numbers(kernel: Kernel, lines: list[Line]) -> Kernel:
    """Return the kernel; in it, kernels of vectors without "@" compare the numbers that the first line has."""
    taken: list[Any] = []
    whole: list[Kernel] = []  # that compare whole lines
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
