"""What people see: a progress bar after the first second, tables, sizes in words, and labels in lines."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from perceptive.streams.blocks import STDIN
from perceptive.streams.remote import is_url

if TYPE_CHECKING:
    from perceptive.cli.tasks import Opened
    from perceptive.streams.parsing import Log

PATIENCE = 1.0  # seconds without a bar
MOST_EPOCHS = 12  # are shown; of more the first and the last few
FEW_EPOCHS = 3


class Bar:
    """Bytes read of so many, examples a second, and the rate of mistakes so far."""

    def __init__(self, files: Sequence[str], epochs: int, wanted: bool) -> None:
        sizes = [None if path == STDIN or is_url(path) else os.path.getsize(path) for path in files]
        packed = any(path.endswith((".gz", ".zst")) for path in files)
        self.size = None if packed or None in sizes else sum(size or 0 for size in sizes)
        self.expect(epochs)
        self.began = time.monotonic()
        self.wanted = wanted and sys.stderr.isatty()
        self._shown: Any = None

    def expect(self, epochs: int) -> None:
        """Note that the files are read so often, in the end."""
        self.total = None if self.size is None else self.size * epochs

    def update(self, done: float, examples: int, mistakes: int | None = None) -> None:
        """Show how far it is; ``done`` in bytes."""
        seconds = time.monotonic() - self.began
        if not self.wanted or seconds < PATIENCE:
            return
        if self._shown is None:
            self._show()
        rate = "" if mistakes is None else f", {mistakes / max(1, examples):.1%} mistakes"
        text = f"{examples / seconds:,.0f} examples/s{rate}"
        self._shown.update(0, completed=done, total=self.total, text=text)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        self._shown = Progress(
            BarColumn(), DownloadColumn(), TextColumn("{task.fields[text]}"), TimeRemainingColumn(),
            console=Console(stderr=True), transient=True,
        )  # fmt: skip
        self._shown.add_task("", total=self.total, text="")
        self._shown.start()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._shown is not None:
            self._shown.stop()  # taken away, whatever happens


def watched(opened: Opened, wanted: bool) -> Iterator[Any]:
    """The parts of files, under a bar."""
    with Bar(opened.files, 1, wanted) as bar:
        done = 0
        for n, part in opened.parts:
            done += n
            bar.update(opened.log.bytes, done)
            yield part


def tell_log(log: Log) -> None:
    """What was skipped, and what is odd."""
    for said in [*(f"skipped: {one}" for one in log.complaints), *(f"note: {one}" for one in log.remarks.values())]:
        print(said, file=sys.stderr)


def table(rows: Sequence[Sequence[Any]], header: Sequence[str] | None = None) -> str:
    """Columns of text: the first to the left, the others to the right.

    >>> print(table([["ham", 0.5], ["spam", 12]], ["class", "n"]))
    class    n
    ham    0.5
    spam    12
    """
    cells = [[in_line(cell) for cell in row] for row in ([header] if header else []) + list(rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    return "\n".join(line.rstrip() for line in lines)


def pairs(rows: Sequence[tuple[str, Any]]) -> str:
    """Names and values, one pair a line."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name.ljust(width)}  {value}" for name, value in rows)


def of_epochs(values: Sequence[float], form: str = ",", converged: bool = False) -> str:
    """A number of each epoch; of many epochs the first and the last few.

    >>> of_epochs([5657, 12, 0], converged=True)
    '5,657 12 0 (converged)'
    >>> of_epochs([0.5, *[0.75] * 1998, 0.875], ".1%")
    '50.0% 75.0% 75.0% … 75.0% 75.0% 87.5% (2,000 epochs)'
    """
    shown = [format(value, form) for value in values]
    remarks = ["converged"] if converged else []
    if len(shown) > MOST_EPOCHS:
        shown[FEW_EPOCHS:-FEW_EPOCHS] = ["…"]
        remarks.insert(0, f"{len(values):,} epochs")
    return " ".join(shown) + (f" ({', '.join(remarks)})" if remarks else "")


def size(n_bytes: float) -> str:
    """A number of bytes in words.

    >>> size(548_275_149)
    '548 MB'
    """
    for unit in ("B", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}" if unit != "B" else f"{n_bytes:.0f} B"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"


def breaks_line(label: Any) -> bool:
    """Whether a label has a tab or a line break in it."""
    text = str(label)
    return "\t" in text or "".join(text.splitlines()) != text


def in_line(label: Any) -> str:
    r"""A label as one field of a line.

    One that would break the line, or that begins with a quote, is written as JSON has strings.

    >>> print(in_line("spam"), in_line(-1), in_line("two\nlines"), in_line('"quoted"'))
    spam -1 "two\nlines" "\"quoted\""
    """
    text = str(label)
    return json.dumps(text) if breaks_line(text) or text.startswith('"') else text
