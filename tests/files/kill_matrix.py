"""Runs that are killed at random moments and resumed, over everything that goes with a checkpoint.

``make kill-matrix KILLS=200`` kills 200 times, tests/files/test_kills.py less often. Each run must end with bit for bit
the model of a run that was left alone, and leave nothing behind.
"""

import itertools
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from command_line import write_lists, write_rows, write_sentences
from processes import Process, finished

EVERY = ["--checkpoint", "point", "--every", "0s", "--quiet"]
PATIENCE = 30.0  # seconds until something must have happened


def cases():
    """Names of runs, and their options: all that goes together."""
    for cache, holdout, names, goes_on, epochs in itertools.product(
        (0, 1), (0, 1), (0, 1), ("", "other", "same"), (1, 4)
    ):
        options = ["rows.svm", "--bits", "7", "--epochs", epochs]
        yield _named("classify", options, cache, holdout, goes_on, epochs, ["--invert-hash"] if names else [])
    for cache, holdout, goes_on, epochs in itertools.product((0, 1), (0, 1), ("", "other", "same"), (1, 4)):
        yield _named("rank", ["lists.svm", "--task", "rank", "--epochs", epochs], cache, holdout, goes_on, epochs)
    for holdout, goes_on in itertools.product((0, 1), ("", "other", "same")):
        yield _named("kernel", ["few.svm", "--kernel", "poly(2)", "--epochs", 4], 0, holdout, goes_on, 4)
        options = ["lists.svm", "--task", "rank", "--kernel", "poly(2)", "--epochs", 4]
        yield _named("kernel-rank", options, 0, holdout, goes_on, 4)
        options = ["sentences.conll", "--task", "tag", "--epochs", 4]
        yield _named("tag", options, 0, holdout, goes_on, 4)
    yield "rerank", ["sentences.conll", "--task", "rerank", "--base", "tag.model", "--folds", 2, "--candidates", 3]


def _named(task, options, cache, holdout, goes_on, epochs, more=()):
    words = [task, *["cache"] * cache, *["holdout"] * holdout, *(word.lstrip("-") for word in more)]
    options = [*options, *["--cache", "kept.cache"][: 2 * cache], *["--holdout", "0.2"][: 2 * holdout], *more]
    if goes_on:
        base = "names" if "--invert-hash" in more else task
        begun = ("--bits", "7", "--kernel", "poly(2)")
        options = [*(word for word in options if word not in begun), "--continue", f"{base}.model"]
        words.append(f"continue-{goes_on}")
    return "-".join([*words, str(epochs)]), options


def prepare(folder):
    """Data of every kind, and models that go on."""
    write_rows(folder / "rows.svm", n=400)
    write_rows(folder / "few.svm", n=150)
    write_lists(folder / "lists.svm", n=60)
    write_sentences(folder / "sentences.conll", n=60)
    first = ["--epochs", 1, "--quiet"]
    for name, options in {
        "classify": ["rows.svm", "--bits", 7],
        "names": ["rows.svm", "--bits", 7, "--invert-hash"],
        "rank": ["lists.svm", "--task", "rank"],
        "kernel": ["few.svm", "--kernel", "poly(2)"],
        "kernel-rank": ["lists.svm", "--task", "rank", "--kernel", "poly(2)"],
        "tag": ["sentences.conll", "--task", "tag"],
    }.items():
        code, said = finished(["train", *options, *first, "-o", f"{name}.model"], folder)
        assert code == 0, said


class Trial:
    """A run of a case in a folder of its own.

    Parameters
    ----------
    data : Path
        What `prepare` made.
    options : list
        Of the case.
    """

    def __init__(self, data, options):
        self.folder = Path(tempfile.mkdtemp())
        shutil.copytree(data, self.folder, dirs_exist_ok=True)
        base = options[options.index("--continue") + 1] if "--continue" in options else None
        self.output = self.folder / (base if base else "made.model")
        if base and "same" not in options:
            self.output = self.folder / "made.model"
        self.before = self.output.read_bytes() if self.output.exists() else None
        self.command = ["train", *(word for word in options if word != "same"), "-o", self.output.name]
        self.there = {
            *os.listdir(self.folder),
            self.output.name,
            "said",
            *(["kept.cache"] if "--cache" in options else []),
        }

    def left_alone(self):
        """The model of a run that nobody disturbs."""
        code, said = finished([*self.command, "--quiet"], self.folder)
        assert code == 0, said
        return self.output.read_bytes()

    def killed(self, chance):
        """Start or resume the run, and kill it at some moment; whether it was still alive then."""
        process = Process([*self.command, *EVERY], self.folder)
        seen, last, wanted = 0, None, chance.choice([0, 0, 1, 2, 3, 5, 8, 13, 21, 34])
        until = time.monotonic() + PATIENCE
        while process.poll() is None and seen <= wanted and time.monotonic() < until:
            now = self._stands()
            seen += now != last
            last = now
        time.sleep(chance.choice([0, 0.0005, 0.002, 0.005]))
        code = process.kill()
        assert code in (0, -9), process.said.read_text()
        return code == -9

    def _stands(self):
        """What tells that the run has made a step: a new checkpoint, or more of a cache."""
        found = []
        for entry in os.scandir(self.folder):
            if entry.name in ("point", "kept.cache", self.output.name) or entry.name.endswith(".tmp"):
                with suppress(FileNotFoundError):
                    found.append((entry.name, entry.inode(), entry.stat().st_size))
        return sorted(found)

    @property
    def ended(self):
        """Whether a run that was killed had already saved its model and removed its checkpoint."""
        made = self.output.read_bytes() if self.output.exists() else None
        return made != self.before and not (self.folder / "point").exists()

    def resumed(self):
        """The model when the run is let go to its end, which leaves nothing else behind."""
        if not self.ended:
            code, said = finished([*self.command, *EVERY], self.folder)
            assert code == 0, said
            assert {*os.listdir(self.folder)} == self.there
        return self.output.read_bytes()


def run(kills, seed=0, tell=lambda line: None):
    """Kill so many times; returns how often each case was."""
    chance, done = random.Random(seed), Counter()
    with tempfile.TemporaryDirectory() as made:
        data, whole = Path(made), {}
        prepare(data)
        rest = []
        while sum(done.values()) < kills:
            rest = rest or chance.sample(known := list(cases()), len(known))
            name, options = rest.pop()
            options = [*options, "same"] if "continue-same" in name else options
            if name not in whole:
                trial = Trial(data, options)
                whole[name] = trial.left_alone()
                shutil.rmtree(trial.folder)
            trial, times = Trial(data, options), 0
            while times < 3 and not trial.ended and sum(done.values()) < kills and trial.killed(chance):
                times += 1
                done[name] += 1
            assert trial.resumed() == whole[name], f"{name}: another model after {times} kills ({trial.folder})"
            shutil.rmtree(trial.folder)
            tell(f"{sum(done.values()):4}  {name}: killed {times} times, the same model")
    return done


if __name__ == "__main__":
    counted = run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, lambda line: print(line, flush=True))
    print(f"{sum(counted.values())} kills of {len(counted)} kinds of run: every model bit for bit the same")
