"""Wall time, CPU time and peak memory of whole processes, taken in turns so that a noisy moment meets them all."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

BUDGET = 60.0  # seconds after which a command is not repeated
Command = Sequence[str]


@dataclass
class Processes:
    """The repetitions of one command."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)  # bytes, the peak

    @property
    def seconds(self) -> float:
        """The median wall time."""
        return median(self.wall)

    @property
    def cpu_seconds(self) -> float:
        """The median CPU time, over all threads."""
        return median(self.cpu)


# A process inherits the peak of the one it was forked from: so a small one forks.
LAUNCHER = """
import os, subprocess, sys, time
began = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run(command: Command) -> tuple[float, float, int]:
    """Run a command, which must succeed."""
    done = subprocess.run([sys.executable, "-S", "-c", LAUNCHER, *command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    wall, cpu, memory = done.stdout.split()
    return float(wall), float(cpu), int(memory)


def interleave(
    commands: Mapping[str, Command], repetitions: int, before: Callable[[], None] = lambda: None
) -> dict[str, Processes]:
    """Run every command so many times, all of them before any of them again."""
    results = {name: Processes() for name in commands}
    for _ in range(repetitions):
        for name, command in commands.items():
            mine = results[name]
            if sum(mine.wall) > BUDGET:
                continue
            before()
            wall, cpu, memory = run(command)
            mine.wall.append(wall)
            mine.cpu.append(cpu)
            mine.memory.append(memory)
    return results


def ratio(a: Processes, b: Processes) -> float:
    """Median of a's wall time over b's, repetition by repetition."""
    return median(x / y for x, y in zip(a.wall, b.wall, strict=False))
