"""Fuzz the files that perceptive reads back: models, checkpoints and caches.

Each input is a sound file of some kind with a few of its fields or arrays changed, and a sound checksum. Opening it
raises ``ModelFileError``, or succeeds; what was opened then predicts, or is trained to its end, and may raise
``ValueError`` only. A crash, a hang, more than 512 MB, or any other exception is a failure.

    python fuzz/models.py --runs 100000 --seed 1      fuzz; prints how to have each failure again
    python fuzz/models.py --seed 1 --only 4711        one input, in this process, with its traceback

The seed and the number of an input say all: not the number of processes, nor what ran before.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # processes are forked
sys.path.insert(0, str(Path(__file__).resolve().parent))

import specimens as zoo
from mutations import Contents, places, value_at

MEMORY = 512 << 20  # bytes beyond what a process has before its first input
CPU_SECONDS = 5  # of one input
SECONDS = 120  # and by the clock: whoever sleeps uses no processor
PART = 500  # inputs of one process
WIDE = 2**24  # columns: weights of more may take more memory than that, as those of a model that was trained on them do


class Fuzzer:
    """Inputs by number.

    Parameters
    ----------
    seed : int
    folder : path
        Where files may be written.
    like : str
        Only files whose name has this in it.
    """

    def __init__(self, seed: int, folder: str, like: str = "") -> None:
        self.seed, self.folder = seed, folder
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.specimens = zoo.specimens(folder, like)
        self.others: dict[str, list[dict[str, Any]]] = {}
        for one in self.specimens:
            self.others.setdefault(one.kind, []).append(one.meta)

    def make(self, number: int, path: str) -> tuple[zoo.Specimen, Contents]:
        """Write an input to a path; gives what it was made of, and what became of it."""
        rng = random.Random(f"{self.seed}/{number}")
        one = rng.choice(self.specimens)
        contents = Contents(one.meta, one.arrays, self.others[one.kind])
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            contents.mutate(rng)
        try:
            one.write(path, one.kind, contents.meta, contents.arrays)
        except (ValueError, TypeError, AttributeError) as error:  # no such file can be: a sound one is
            contents.said.append(f"not written: {error}")
            one.write(path, one.kind, one.meta, one.arrays)
        if rng.random() < 0.03:
            contents.said.append(_damage(path, rng))
        return one, contents

    def play(self, number: int, path: str) -> str | None:
        """Make an input, open it and use it; gives what went wrong."""
        one, contents = self.make(number, path)
        stage = "opened"
        try:
            model = one.open(path)
            stage = "used"
            one.use(model)
        except one.refusal as error:
            wrong = _memory(error, contents)
        except ValueError as error:
            # A function that nobody gave is the user's to give: no file holds them.
            missing = type(error).__name__ == "MissingFunction"
            wrong = None if stage == "used" or missing else _told(error)
            wrong = wrong or _memory(error, contents)
        except (AttributeError, TypeError) as error:
            # scikit-learn's way to say that an estimator with these parameters has no such method or other examples.
            by_contract = ("_available_if", "X must hold numbers")
            wrong = None if stage == "used" and any(said in _told(error) for said in by_contract) else _told(error)
        except BaseException as error:
            wrong = _told(error)
        else:
            wrong = None
        return None if wrong is None else f"{one.name} [{'; '.join(contents.said)}], {stage}: {wrong}"

    def recipe(self, number: int) -> str:
        """What an input is made of."""
        one, contents = self.make(number, os.path.join(self.folder, "recipe"))
        return f"{one.name} [{'; '.join(contents.said)}]"


def _told(error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:200]} ({Path(frame.filename).name}:{frame.lineno})"


def _memory(error: BaseException, contents: Contents) -> str | None:
    wide = any(
        place[-1] == "n_features" and isinstance(columns := value_at(contents.meta, place), int) and columns > WIDE
        for place in places(contents.meta)
    )
    return f"too much memory: {error}" if "more memory" in str(error) and not wide else None


def _damage(path: str, rng: random.Random) -> str:
    """Cut a file, or change a byte of it; the checksums of a model are set again where they are found."""
    content = bytearray(Path(path).read_bytes())
    if rng.random() < 0.3:
        at = rng.randrange(len(content))
        Path(path).write_bytes(content[:at])
        return f"cut at {at}"
    at = rng.randrange(len(content))
    content[at] = rng.randrange(256)
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, IndexError):
        begin = 8 + int.from_bytes(content[:8], "little")
        first, last = json.loads(content[8:begin])["crc32"]["data_offsets"]
        content[begin + first : begin + last] = bytes(last - first)
        sums = (zlib.crc32(content[:begin]), zlib.crc32(content[begin:]))
        content[begin + first : begin + last] = b"".join(one.to_bytes(4, "little") for one in sums)
    Path(path).write_bytes(content)
    return f"byte {at} = {content[at]}"


# ---------------------------------------------------------------- processes


def child(fuzzer: Fuzzer, numbers: list[int], pipe: int) -> None:
    """Play inputs; writes the number of each before it begins, and behind it what went wrong."""
    os.fsync = lambda file: None  # type: ignore[assignment, misc]  # what is lost with the machine is no loss here
    folder = tempfile.mkdtemp(dir=fuzzer.folder)
    os.chdir(folder)
    zoo.running.write_files(Path(folder))
    errors = os.dup(2)
    faulthandler.enable(errors)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    warnings.simplefilter("ignore")
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY  # a sanitized process has reserved terabytes
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in numbers:
        os.write(pipe, f"{number}\n".encode())
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        signal.alarm(SECONDS)
        wrong = fuzzer.play(number, os.path.join(folder, "input"))
        if wrong is not None:
            os.write(pipe, json.dumps([number, wrong]).encode() + b"\n")


def fuzz(fuzzer: Fuzzer, numbers: list[int], jobs: int) -> list[tuple[int, str]]:
    """Play inputs in processes of their own; gives the failures."""
    parts = [numbers[i : i + PART] for i in range(0, len(numbers), PART)][::-1]
    running: dict[int, tuple[Any, list[int]]] = {}
    failures: list[tuple[int, str]] = []
    while parts or running:
        while parts and len(running) < jobs:
            part = parts.pop()
            reading, writing = os.pipe()
            process = os.fork()
            if process == 0:
                os.close(reading)
                try:
                    child(fuzzer, part, writing)
                    os._exit(0)
                except BaseException:
                    traceback.print_exc()
                    os._exit(1)
            os.close(writing)
            running[process] = (os.fdopen(reading, encoding="utf-8"), part)
        process, (pipe, part) = next(iter(running.items()))
        lines = pipe.read().splitlines()  # until the process ends
        _, status = os.waitpid(process, 0)
        del running[process]
        pipe.close()
        begun = [int(line) for line in lines if not line.startswith("[")]
        failures += [tuple(json.loads(line)) for line in lines if line.startswith("[")]
        if status != 0 and not begun:
            raise RuntimeError("a process died before its first input")
        if status != 0:
            how = os.waitstatus_to_exitcode(status)
            what = f"died of {signal.Signals(-how).name}" if how < 0 else f"exit code {how}"
            what = f"did not end within {CPU_SECONDS} s" if -how in (signal.SIGPROF, signal.SIGALRM) else what
            failures.append((begun[-1], f"{fuzzer.recipe(begun[-1])}: {what}"))
            rest = part[len(begun) :]
            if rest:
                parts.append(rest)
    return sorted(failures)


def main(arguments: list[str] | None = None) -> int:
    """Fuzz; returns 1 where there were failures."""
    parser = argparse.ArgumentParser(description="fuzz model files, checkpoints and caches")
    parser.add_argument("--runs", type=int, default=2000, help="how many inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes at a time")
    parser.add_argument("--show", type=int, default=20, help="failures to print")
    parser.add_argument("--like", default="", help="only files whose name has this in it")
    parser.add_argument("--only", type=int, help="the number of one input, to be played in this process")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="perceptive-fuzz-") as folder:
        begin = time.monotonic()
        fuzzer = Fuzzer(options.seed, folder, options.like)
        if options.only is not None:
            path = os.path.join(folder, "input")
            one, contents = fuzzer.make(options.only, path)
            print(f"{one.name} [{'; '.join(contents.said)}]")
            os.chdir(folder)
            zoo.running.write_files(Path(folder))
            one.use(one.open(path))
            return 0
        failures = fuzz(fuzzer, list(range(options.runs)), options.jobs)
    like = f" --like {options.like!r}" if options.like else ""
    for number, what in failures[: options.show]:
        print(f"FAILED --seed {options.seed}{like} --only {number}: {what}")
    print(
        f"{options.runs} inputs of {len(fuzzer.specimens)} files, seed {options.seed}: {len(failures)} failures, "
        f"{time.monotonic() - begin:.0f} s"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
