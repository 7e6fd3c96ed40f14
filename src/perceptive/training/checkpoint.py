"""`Checkpoint`: saves a training run from time to time, so that it can be resumed bit for bit."""

from __future__ import annotations

import copy
import json
import os
import time
import warnings
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Self

from perceptive import model_file
from perceptive.data.dataset import Dataset
from perceptive.errors import NotWritten, told
from perceptive.file_lock import FileLock
from perceptive.model_file import ModelFileError
from perceptive.models.fields import check_checkpoint
from perceptive.models.registry import FAULTS, from_state
from perceptive.parameters import TrainingParameters
from perceptive.state import State, below
from perceptive.training.loop import History, Run

KIND = "Checkpoint"
VERSION = 6
COUNTS = ("epoch", "block", "chunk", "best_epoch", "rounds_before")


class Checkpoint:
    """A file with the state of a run. Only one run at a time may use it, from `resume` or `save` until `close`.

    Parameters
    ----------
    path : path
    made_from : dict
        The data and options of the run; a checkpoint with different ones is refused.
    every : float
        Seconds between two checkpoints.
    replaced : str or None
        The part of ``made_from`` about a file that the run itself replaces at its end: this part may differ.

    Attributes
    ----------
    differs : bool
        Whether that part was different when the run was resumed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        made_from: dict[str, Any],
        every: float = 60.0,
        replaced: str | None = None,
    ) -> None:
        self.path, self.every, self.replaced = os.fspath(path), every, replaced
        self.made_from = json.loads(json.dumps(made_from))
        self.differs = False
        self._best: State | None = None
        self._last = time.monotonic()
        self._lock: FileLock | None = None
        self._failed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def after_chunk(self, run: Run, dataset: Dataset | None) -> None:
        """Save the run if it is time; if saving fails, the run continues.

        A dataset is given in the middle of a block.
        """
        if time.monotonic() - self._last < self.every:
            return
        try:
            self.save(run, dataset)
            self._failed = False
        except (OSError, ModelFileError) as error:
            if not self._failed:  # once for all that fail in a row
                how = f"going on without this checkpoint; the next is tried after {self.every:g} s"
                warnings.warn(
                    NotWritten(f"{told(error) if isinstance(error, OSError) else error}; {how}"), stacklevel=2
                )
            self._failed = True
        self._last = time.monotonic()

    def new_best(self, learner: Any) -> None:
        """Keep the learner with the best held-out score so far."""
        meta, arrays = learner.state()  # the arrays may be those that it learns with
        self._best = State(copy.deepcopy(meta), {name: array.copy() for name, array in arrays.items()})

    def save(self, run: Run, dataset: Dataset | None = None) -> None:
        """Save the run."""
        lock = self._hold()
        parts = {"learner": run.learner.state(), "best": self._best}
        parts["dataset"] = None if dataset is None else dataset.snapshot()
        meta: dict[str, Any] = {
            "version": VERSION,
            "made_from": self.made_from,
            "kind": type(run.learner).__name__,
            "training": asdict(run.training),
            "history": run.history.meta(),
            "before": list(run.before),
            "streamed": run.streamed,
            **{name: getattr(run, name) for name in COUNTS},
            **{name: None if state is None else state.meta for name, state in parts.items()},
        }
        arrays: dict[str, Any] = {}
        for name, state in parts.items():
            arrays |= {} if state is None else state.within(f"{name}/").arrays
        model_file.write(self.path, KIND, meta, arrays, lock)

    def resume(self, functions: Any = None) -> Run | None:
        """Return the saved run; None if there is no file.

        Raises
        ------
        BlockingIOError
            If another run uses it.
        ModelFileError
            If the file is not a valid checkpoint, or has different data or options.
        """
        if self._hold().empty:
            return None
        try:
            return self._read(functions)
        except BaseException:
            self.close()
            raise

    def _hold(self) -> FileLock:
        """Keep other runs away."""
        if self._lock is None:
            self._lock = FileLock(self.path, "checkpoint")
        return self._lock

    def _read(self, functions: Any) -> Run:
        kind, meta, arrays = model_file.read(self.path)
        if kind != KIND:
            raise ModelFileError(f"{self.path}: holds a {kind!r}, not a checkpoint; give another --checkpoint")
        if meta.get("version") != VERSION:
            raise ModelFileError(
                f"{self.path}: a checkpoint of another version of perceptive; delete it to start again"
            )
        try:
            return self._resumed(meta, arrays, functions)
        except ModelFileError:
            raise
        except FAULTS as error:
            raise ModelFileError(f"{self.path}: the checkpoint does not fit together ({error}); delete it") from None

    def _resumed(self, meta: dict[str, Any], arrays: dict[str, Any], functions: Any) -> Run:
        check_checkpoint(meta)
        there, here = meta["made_from"], self.made_from
        others = [name for name in {**here, **there} if there.get(name) != here.get(name)]
        self.differs = self.replaced in others
        if wrong := [name for name in others if name != self.replaced]:
            raise ModelFileError(
                f"{self.path}: was made with different {' and '.join(wrong)}; "
                "give the same as then, or delete it to start again"
            )

        def part(name: str) -> State | None:
            return None if meta[name] is None else State(meta[name], below(arrays, f"{name}/"))

        learner, best = State(meta["learner"], below(arrays, "learner/")), part("best")
        history = History.from_meta(meta["history"])
        if not meta["best_epoch"] <= meta["epoch"] <= history.epochs:
            raise ValueError(f"epoch {meta['epoch']} does not follow the {history.epochs} epochs of its history")
        mistakes, updates, loss = meta["before"]
        counts: dict[str, Any] = {name: meta[name] for name in COUNTS}
        run = Run(
            from_state(meta["kind"], learner, functions),
            TrainingParameters(**meta["training"]),
            history,
            before=(mistakes, updates, float(loss)),
            dataset_state=part("dataset"),
            streamed=meta["streamed"],
            **counts,
        )
        if best is not None:
            self._best = best
            run.best = from_state(meta["kind"], best, functions).snapshot()
        return run

    def remove(self) -> None:
        """End the run, and remove the file."""
        with suppress(FileNotFoundError):
            os.unlink(os.path.realpath(self.path))
        self.close()

    def close(self) -> None:
        """Let other runs use it."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None
