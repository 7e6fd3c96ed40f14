"""One table over all tasks: time, memory and accuracy beside every rival, from one run. `make rivals`.

Each learner trains and is scored in a process of its own. CPU seconds are those of training alone, with its own way of
preparing the data; the peak is that of the whole process. The processes take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from statistics import mean, median

os.environ.update(dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1"))

from machine import machine
from report import Table, show, write
from rival_jobs import JOBS, Score

LAUNCHER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
out = process.stdout.read().decode()
_, status, usage = os.wait4(process.pid, 0)
print(out.strip().splitlines()[-1] if out.strip() else "", usage.ru_maxrss * 1024, sep="\\n")
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run(task: str, name: str) -> tuple[float, Score, int]:
    """CPU seconds, score and peak bytes of a learner in a process of its own."""
    command = [sys.executable, "-S", "-c", LAUNCHER, sys.executable, __file__, "--job", task, name]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name} failed on {task}:\n{done.stderr}")
    told, memory = done.stdout.split("\n")[:2]
    return (*json.loads(told), int(memory))


def main() -> None:
    """Measure all, or be one of the processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write the table into README.md")
    parser.add_argument("--job", nargs=2, metavar=("TASK", "NAME"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        task, name = options.job
        print(json.dumps(JOBS[task][name]()))
        return
    found: dict[tuple[str, str], list[tuple[float, Score, int]]] = {}
    for _ in range(options.repetitions):
        for task, learners in JOBS.items():
            for name in learners:
                found.setdefault((task, name), []).append(run(task, name))
                print(f"  {task}: {name}", flush=True)
    tables = []
    for task, learners in JOBS.items():
        first = [seconds for seconds, _, _ in found[task, next(iter(learners))]]
        table = Table(task, ["", "train, CPU s", "beside ours", "peak, MB", "score, %"])
        for name in learners:
            runs = found[task, name]
            seconds = [one[0] for one in runs]
            beside = median(a / b for a, b in zip(seconds, first, strict=True))
            peak, score = max(one[2] for one in runs) / 1e6, mean(one[1] for one in runs)
            table.rows.append((name, f"{median(seconds):.2f}", f"{beside:.2f} ×", f"{peak:.0f}", f"{score:.2f}"))
        tables.append(table)
    show(tables, [])
    if options.write:
        rivals = "scikit-learn", "liblinear-official", "river", "vowpalwabbit", "fasttext-numpy2-wheel"
        more = "python-crfsuite", "nltk", "libsvm-official", "xgboost"
        write("rivals", tables, [], machine("one core", "perceptive", "numpy", *rivals, *more))


if __name__ == "__main__":
    main()
