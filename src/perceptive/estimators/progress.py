"""A progress bar that shows itself only where training takes longer than a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[int, int], None]


@contextmanager
def progress_bar(wanted: bool, total: int) -> Iterator[Report | None]:
    """Yield a function to be called with (examples played, mistakes so far), or None."""
    if not wanted:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    began = time.monotonic()
    bar = Progress(
        TextColumn("training"),
        BarColumn(),
        TextColumn("{task.completed:,} examples, {task.fields[rate]:.1%} mistakes"),
        TimeRemainingColumn(),
        transient=True,
    )
    task = bar.add_task("", total=total, rate=0.0)

    def report(played: int, mistakes: int) -> None:
        if not bar.live.is_started and time.monotonic() - began > 1.0:
            bar.start()
        bar.update(task, completed=played, rate=mistakes / max(1, played))

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()
