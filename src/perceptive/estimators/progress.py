"""A progress bar that shows itself only where training takes longer than a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[int], None]


@contextmanager
def progress_bar(wanted: bool, total: int, run: Any) -> Iterator[Report | None]:
    """Yield a function to be called with the number of examples just played, or None; a total of 0 is not known.

    ``run``, or a learner, tells the mistakes so far.
    """
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

    done = 0

    def report(played: int) -> None:
        nonlocal done
        done += played
        if not bar.live.is_started and time.monotonic() - began > 1.0:
            bar.start()
        learner = getattr(run, "learner", run)
        bar.update(task, completed=done, rate=learner.mistakes / max(1, learner.rounds))

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()
