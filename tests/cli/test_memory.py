"""Training from files takes as much memory for many rows as for few.

``make memory`` tries ten million rows and shows the figures.
"""

import json
import os
import subprocess

import numpy as np
import pytest

from command_line import PERCEPTIVE

FEW, MANY = 10**5, int(os.environ.get("PERCEPTIVE_ROWS", 10**6))
MOST = 100e6  # bytes, with any number of rows
FORMATS = {
    "svmlight": ("rows.svm", "", "{label} {a}:0.{x} {b}:1\n", []),
    "csv": ("rows.csv", "label,a,x\n", "{label},c{a},0.{x}\n", ["--label", "label"]),
    "text": ("rows.txt", "", "{label}\tw{a} x{b} y{x}\n", ["--text"]),
    "lists": ("lists.svm", "", "{label} qid:{q:05} {a}:0.{x} {b}:1\n", ["--task", "rank"]),
}


def write(path, head, line, n):
    """Rows of some twenty bytes, a tenth of them with the wrong label; lists of four."""
    rng = np.random.default_rng(0)
    a, b, x = (rng.integers(*limits, FEW).tolist() for limits in ((1, 60), (100, 1100), (100, 1000)))
    labels = ((np.array(a) > 30) ^ (rng.random(FEW) < 0.1)).astype(int).tolist()
    rows = "".join(line.format(label=labels[i], a=a[i], b=b[i], x=x[i], q=i // 4) for i in range(FEW)).encode()
    with open(path, "wb") as file:
        file.write(head.encode())
        for part in range(n // FEW):
            file.write(rows.replace(b"qid:", b"qid:%d" % (part + 1)))  # no query comes back


def memory_of(folder, format, n, *options):
    """The most memory that training has had."""
    name, head, line, reading = FORMATS[format]
    write(folder / name, head, line, n)
    command = [*PERCEPTIVE, "train", name, "-o", "m", "--epochs", "2", "--certify", "--json", *reading, *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["data"]["examples"] == (n // 4 if format == "lists" else n)
    assert told["certificate"]["holds"]
    print(f"{told['memory'] / 1e6:6.1f} MB  {n:>10,} rows  {format} {' '.join(options)}")
    return told["memory"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format", "options"),
    [
        ("svmlight", []),
        ("svmlight", ["--holdout", "0.1", "--cache", "cache"]),
        ("csv", []),
        ("text", ["--holdout", "0.1"]),
        ("lists", ["--holdout", "0.1"]),
    ],
)
def test_memory_does_not_grow_with_the_rows(tmp_path, format, options):
    """From where the windows are full and every stage has its block: that takes two hundred thousand such rows."""
    filled = ["--memory", "4M", "--threads", "1"]
    few, many = (memory_of(tmp_path, format, n, *filled, *options) for n in (2 * FEW, MANY))
    assert many <= 1.1 * few


@pytest.mark.slow
@pytest.mark.parametrize("format", ["svmlight", "lists"])
def test_memory_is_bounded(tmp_path, format):
    """With all defaults, and a hold-out."""
    assert memory_of(tmp_path, format, MANY, "--holdout", "0.1") <= MOST
