"""Vowpal Wabbit, over rows in memory: written to its cache first, then learned from, which its clock does not count."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

NAME = "Vowpal Wabbit"
VW = (sys.executable, "-m", "vowpalwabbit", "--quiet")
LEARN = ("--loss_function", "hinge", "-b", "20", "--holdout_off")


def write_rows(path: Path, X: Any, y: Any) -> None:
    """Rows as its text; labels 0 and 1 are −1 and 1."""
    with path.open("w") as out:
        for i in range(X.shape[0]):
            begin, end = X.indptr[i], X.indptr[i + 1]
            entries = zip(X.indices[begin:end], X.data[begin:end], strict=True)
            out.write(f"{2 * int(y[i]) - 1} | " + " ".join(f"{j}:{value:g}" for j, value in entries) + "\n")


class Learned:
    """It learns from a cache of the rows: a thread reads, and one learns."""

    def __init__(self, folder: Path, X: Any, y: Any, test_X: Any, test_y: Any) -> None:
        self.folder, self.test_y = folder, test_y
        write_rows(folder / "train.vw", X, y)
        write_rows(folder / "test.vw", test_X, test_y)
        self._run("-d", "train.vw", "--cache_file", "train.cache", "-k", *LEARN, "-f", "none.model")

    def _run(self, *arguments: str) -> float:
        began = time.perf_counter()
        subprocess.run([*VW, *arguments], cwd=self.folder, check=True)
        return time.perf_counter() - began

    def after(self, passes: int) -> tuple[float, float]:
        """Seconds of so many passes, a process that does nothing else taken off, and the accuracy in per cent."""
        idle = self._run("-d", "/dev/null", *LEARN)
        spent = self._run("--cache_file", "train.cache", "--passes", str(passes), *LEARN, "-f", "rows.model")
        self._run("-d", "test.vw", "-t", "-i", "rows.model", "-p", "said.txt")
        said = np.loadtxt(self.folder / "said.txt") > 0
        return max(0.0, spent - idle), 100 * float(np.mean(said == (np.asarray(self.test_y) > 0)))
