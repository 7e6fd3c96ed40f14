"""Training from files takes as much memory for many rows as for few.

``make memory`` tries ten million rows and shows the figures.
"""

import functools
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from command_line import PERCEPTIVE

FEW, MANY = 2 * 10**5, int(os.environ.get("PERCEPTIVE_ROWS", 10**6))
SOME = [FEW, FEW * 3 // 2, 2 * FEW]  # windows are fuller with some numbers of rows than with others
MOST = 44e6  # bytes beyond those of two rows, with any number of rows
PART = 10**4  # rows, which are written again and again
FORMATS = {
    "svmlight": ("rows.svm", "", "{label} {a}:0.{x} {b}:1\n", []),
    "csv": ("rows.csv", "label,a,x\n", "{label},c{a},0.{x}\n", ["--label", "label"]),
    "text": ("rows.txt", "", "{label}\tw{a} x{b} y{x}\n", ["--text"]),
    "words": ("words.txt", "", "", ["--text"]),
    "lists": ("lists.svm", "", "{label} qid:{q:05} {a}:0.{x} {b}:1\n", ["--task", "rank"]),
}
WIDE = "".join(f" {2000 + i}:1" for i in range(24))  # 200,000 such rows are more than what --memory, 32 MB, holds
SMALL = ["--memory", "2M", "--threads", "1"]  # a window that 200,000 narrow rows fill, and what is held out of them


def write(path, head, line, n):
    """Rows of some twenty bytes, a tenth of them with the wrong label; lists of four."""
    rng = np.random.default_rng(0)
    a, b, x = (rng.integers(*limits, PART).tolist() for limits in ((1, 60), (100, 1100), (100, 1000)))
    labels = ((np.array(a) > 30) ^ (rng.random(PART) < 0.1)).astype(int).tolist()
    rows = "".join(line.format(label=labels[i], a=a[i], b=b[i], x=x[i], q=i // 4) for i in range(PART)).encode()
    with open(path, "wb") as file:
        file.write(head.encode())
        for part in range(n // PART):
            file.write(rows.replace(b"qid:", b"qid:%d" % (part + 1)))  # no query comes back


def write_words(path, n):
    """Texts of ten to fifteen words, drawn from many by Zipf's law: they and their pairs fill all columns."""
    rng = np.random.default_rng(0)
    words, share = [f"w{i:x}" for i in range(200_000)], np.cumsum(1 / np.arange(1, 200_001))
    drawn = np.searchsorted(share / share[-1], rng.random((6 * PART, 15))).tolist()
    lengths, labels = rng.integers(10, 16, 6 * PART).tolist(), rng.integers(2, size=6 * PART).tolist()
    rows = "".join(
        f"{label}\t{' '.join([words[i] for i in text[:length]])}\n"
        for text, length, label in zip(drawn, lengths, labels, strict=True)
    )
    path.write_text(rows * (n // (6 * PART)))


def trained(folder, name, *options):
    """What training tells."""
    command = [*PERCEPTIVE, "train", name, "-o", "m", "--certify", "--json", *options]
    return json.loads(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout)


@functools.cache
def most():
    """The limit on this machine: interpreter and libraries take 56 MB on one, 61 on another."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "two.txt").write_text("1\tgood day\n0\tbad day\n")
        return MOST + trained(folder, "two.txt", "--text")["memory"]


def memory_of(folder, format, n, *options, wide=""):
    """The most memory that training has had."""
    name, head, line, reading = FORMATS[format]
    if format == "words":
        write_words(folder / name, n)
    else:
        write(folder / name, head, line.replace("\n", f"{wide}\n"), n)
    told = trained(folder, name, *reading, *options)
    assert told["data"]["examples"] == (n // 4 if format == "lists" else n)
    assert told["certificate"]["holds"]
    print(f"{told['memory'] / 1e6:6.1f} MB  {n:>10,} rows  {format} {' '.join(options)}")
    return told["memory"]


def hold_flat(folder, format, few, many, *options, wide="", slack=1.1):
    """Many rows take what few take at most, however the threads happen to run and blocks fill a window."""
    of_many = memory_of(folder, format, many, *options, wide=wide)
    assert of_many <= most()
    assert any(of_many <= slack * memory_of(folder, format, n, *options, wide=wide) for n in few)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["svmlight", "lists"])
def test_memory_does_not_grow_with_the_rows(tmp_path, format):
    """With all defaults but the epochs; the rows are so wide that few of them, too, are more than a window holds."""
    hold_flat(tmp_path, format, SOME, MANY, "--epochs", "3", wide=WIDE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format", "options", "part"),
    [
        ("svmlight", ["--holdout", "0.1", "--cache", "cache"], 1),
        ("csv", [], 2),
        ("text", ["--holdout", "0.1"], 2),
        ("lists", ["--holdout", "0.1"], 1),
    ],
)
def test_memory_does_not_grow_behind_a_small_window(tmp_path, format, options, part):
    few, many = [n // part for n in SOME], MANY // 2 // part
    hold_flat(tmp_path, format, few, many, *SMALL, "--epochs", "2", *options, slack=1.15)


@pytest.mark.slow
def test_memory_does_not_grow_by_a_few_bytes_a_row(tmp_path):
    """Without a hold-out windows are of one size, and eight bytes a row would show."""
    hold_flat(tmp_path, "svmlight", [FEW], MANY, *SMALL, "--epochs", "2", slack=1.05)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["svmlight", "lists"])
def test_memory_is_bounded(tmp_path, format):
    """With all defaults, two epochs and a hold-out."""
    assert memory_of(tmp_path, format, MANY // 2, "--epochs", "2", "--holdout", "0.1") <= most()


@pytest.mark.slow
def test_memory_of_texts_is_bounded(tmp_path):
    """With all defaults but the epochs; of so many rows two windows have five blocks each, and none has more."""
    assert any(memory_of(tmp_path, "words", 36 * PART, "--epochs", "3") <= most() for _ in range(3))  # 42 to 44 MB more
