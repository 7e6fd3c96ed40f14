"""Commands, run in this process or in one of their own; and files to run them on."""

import io
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from perceptive.cli import main

PERCEPTIVE = [sys.executable, "-m", "perceptive"]


@dataclass
class Done:
    """What a command wrote, and how it ended."""

    stdout: str
    stderr: str
    returncode: int


def perceptive(*arguments, input=None, stdin=None, code=0, cwd=None):
    """Run a command in this process, with streams that have file descriptors; checks how it ends."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with _streams(out, err, input, stdin), _in(cwd), warnings.catch_warnings():
            try:
                returned = main([str(argument) for argument in arguments])
            except SystemExit as stop:
                returned = stop.code
            finally:
                out.flush()
        for stream in (out, err):
            stream.seek(0)
        done = Done(out.read(), err.read(), returned)
    assert "Traceback" not in done.stderr
    assert code is None or done.returncode == code, (done.stdout, done.stderr)
    return done


@contextmanager
def _streams(out, err, input, stdin):
    before = sys.stdin, sys.stdout, sys.stderr
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    environment = dict(os.environ)
    text = input.encode() if isinstance(input, str) else input or b""
    sys.stdin = stdin if stdin is not None else io.TextIOWrapper(io.BufferedReader(io.BytesIO(text)))
    sys.stdout, sys.stderr = out, err
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        assert {number: signal.getsignal(number) for number in handlers} == handlers
        assert dict(os.environ) == environment


@contextmanager
def _in(folder):
    before = os.getcwd()
    os.chdir(before if folder is None else folder)
    try:
        yield
    finally:
        os.chdir(before)


def process(*arguments, input=None, code=0, **options):
    """Run a command in a process of its own."""
    command = [*PERCEPTIVE, *map(str, arguments)]
    text = isinstance(input, str | None)
    done = subprocess.run(command, input=input, capture_output=True, text=text, **options)
    assert "Traceback" not in (done.stderr if isinstance(done.stderr, str) else done.stderr.decode())
    assert done.returncode == code, (done.stdout, done.stderr)
    return done


def start(*arguments, **options):
    """Start a command in a process of its own."""
    return subprocess.Popen([*PERCEPTIVE, *map(str, arguments)], **options)


def write_rows(path, n=300, d=30, classes=2, seed=0):
    """Rows that a line nearly separates, as svmlight."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, 0.3, "csr", random_state=seed)
    y = (X @ np.random.default_rng(7).normal(size=(d, classes))).argmax(axis=1)
    y[rng.random(n) < 0.05] = 0
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return X, y


def write_lists(path, n=40, d=5, seed=0):
    """Lists whose best candidate a line nearly finds, as svmlight."""
    rng = np.random.default_rng(seed)
    w, lines = np.random.default_rng(7).normal(size=d), []
    for query in range(n):
        X = rng.normal(size=(rng.integers(2, 6), d))
        best = int(np.argmax(X @ w + rng.normal(size=len(X), scale=0.3)))
        for j, x in enumerate(X):
            entries = " ".join(f"{i + 1}:{value:.9g}" for i, value in enumerate(x))
            lines.append(f"{int(j == best)} qid:{query + 1} {entries}\n")
    path.write_text("".join(lines))


CHUNKS = """\
the DT B-NP
dog NN I-NP
barks VBZ B-VP

a DT B-NP
big JJ I-NP
cat NN I-NP
sleeps VBZ B-VP
. . O
"""


def write_sentences(path, n=60, seed=0):
    """Sentences of chunks that come in all orders, in columns."""
    rng = np.random.default_rng(seed)
    words = [("the", "DT", "B-NP"), ("dog", "NN", "I-NP"), ("barks", "VB", "B-VP"), ("loudly", "RB", "O")]
    sentences = []
    for _ in range(n):
        chosen = [words[i] for i in rng.integers(0, 4, size=rng.integers(2, 8))]
        tagged, before = [], "O"
        for word, tag, label in chosen:
            label = "B-NP" if label == "I-NP" and before not in ("B-NP", "I-NP") else label
            tagged.append(f"{word} {tag} {label}\n")
            before = label
        sentences.append("".join(tagged))
    path.write_text("\n".join(sentences) + "\n")
