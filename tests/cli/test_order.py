"""The order of files, and of the lines in a file, does not decide the model."""

import errno
import functools
import gzip
import json

import numpy as np
import pytest

from command_line import perceptive
from perceptive import LinearClassifier, streams
from perceptive.cli.console import Bar
from perceptive.cli.options import amount, duration
from perceptive.models.registry import load_learner
from perceptive.streams import blocks
from perceptive.streams.cache import Cache
from perceptive.training.checkpoint import Checkpoint

SMALL = "60000"  # bytes of memory: a fraction of the examples
WORDS, LENGTH = 300, 12


@functools.cache
def lines_of(n, classes, seed):
    """Texts of words that some classes like more than others."""
    rng, tastes = np.random.default_rng(seed), np.random.default_rng(0).dirichlet(np.full(WORDS, 0.3), classes)
    lines = []
    for label in rng.integers(classes, size=n).tolist():
        words = rng.choice(WORDS, LENGTH, p=0.4 * tastes[label] + 0.6 / WORDS)
        lines.append((label, f"c{label}\t{' '.join(f'w{word}' for word in words)}\n"))
    return lines


@pytest.fixture(scope="module", params=[2, 5])
def folder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("order")
    lines = lines_of(4000, request.param, seed=1)
    (folder / "shuffled.tsv").write_text("".join(line for _, line in lines))
    (folder / "sorted.tsv").write_text("".join(line for _, line in sorted(lines)))
    for label in range(request.param):
        (folder / f"class{label}.tsv").write_text("".join(line for one, line in lines if one == label))
    (folder / "test.tsv").write_text("".join(line for _, line in lines_of(1500, request.param, seed=2)))
    X, y = streams.load(folder / "shuffled.tsv", format="text", dtype="float32", bits=12)
    X_test, y_test = streams.load(folder / "test.tsv", format="text", dtype="float32", bits=12)
    for epochs in (1, 10):
        score = LinearClassifier(epochs=epochs).fit(X, y).score(X_test, y_test)
        (folder / f"fit{epochs}").write_text(str(score))
    return folder


def accuracy(folder, *options):
    plain = ["--rule", "perceptron", "--words", "1", "--no-idf"]  # as Python has them
    perceptive("train", *options, "--text", *plain, "--bits", 12, "-o", "m", "--quiet", cwd=folder)
    return json.loads(perceptive("eval", "m", "test.tsv", "--json", cwd=folder).stdout)["metrics"]["accuracy"]


@pytest.mark.parametrize("files", ["shuffled.tsv", "sorted.tsv", "class*.tsv"])
@pytest.mark.parametrize("epochs", [1, 10])
@pytest.mark.parametrize("memory", ["32M", SMALL])
def test_any_order_gives_what_fit_gives(folder, monkeypatch, files, epochs, memory):
    monkeypatch.setattr(blocks, "BLOCK", 8000)  # bytes of a file that has 200,000
    expected = float((folder / f"fit{epochs}").read_text())
    found = accuracy(folder, files, "--epochs", epochs, "--memory", memory)
    assert found > expected - (0.025 if epochs == 1 else 0.02)


def test_files_of_one_class_each_share_small_windows(folder):
    """Blocks of the cache are as small as windows ask for, too."""
    expected = float((folder / "fit10").read_text())
    assert accuracy(folder, "class*.tsv", "--epochs", 10, "--memory", SMALL) > expected - 0.02


@pytest.mark.parametrize("cached", [True, False])
def test_packed_files_of_one_class_each_are_mixed(folder, monkeypatch, cached):
    """By the cache; where there can be none, they take turns within a window, in blocks as small as that asks for."""

    def full(*_):
        raise OSError(errno.ENOSPC, "cannot be written")

    if not cached:
        monkeypatch.setattr(Cache, "append", full)
    for path in folder.glob("class*.tsv"):
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    expected = float((folder / "fit1").read_text())
    assert accuracy(folder, "class*.tsv.gz", "--epochs", 1, "--memory", SMALL) > expected - 0.025


def test_tables_sorted_by_another_column_are_mixed_in_one_epoch(tmp_path):
    """One for each class; and a cache that is kept changes nothing."""
    rng = np.random.default_rng(0)
    rows = sorted((x, "ab"[int(x + 3 * z > 0)], z) for x, z in rng.normal(size=(4000, 2)).tolist())
    for label in "ab":
        lines = [f'"{one}",{x},{z}\n' for x, one, z in rows[::2] if one == label]
        (tmp_path / f"{label}.csv").write_text("label,x,z\n" + "".join(lines))
    (tmp_path / "test.csv").write_text("label,x,z\n" + "".join(f"{one},{x},{z}\n" for x, one, z in rows[1::2]))
    command, found = ["train", "a.csv", "b.csv", "--label", "label", "--epochs", 1, "--memory", 20_000], []
    for options in (["--cache", "kept"], []):
        perceptive(*command, "-o", "m", *options, cwd=tmp_path)
        found.append(load_learner(tmp_path / "m").vectors[()].vector("last")[0])
    assert np.array_equal(*found)
    done = json.loads(perceptive("eval", "m", "test.csv", "--json", cwd=tmp_path).stdout)
    assert done["metrics"]["accuracy"] > 0.97


def test_two_labels_are_one_problem_also_where_they_come_late(tmp_path):
    for name, text in (("a.svm", "1 1:1\n" * 9), ("b.svm", "0 2:1\n" * 9)):
        (tmp_path / name).write_text(text)
    for epochs in (1, 2):
        perceptive("train", "a.svm", "b.svm", "-o", "m", "--epochs", epochs, "--quiet", cwd=tmp_path)
        assert load_learner(tmp_path / "m").binary
        text = "1 1:1\n" * 9 + "0 2:1\n" * 9
        perceptive(
            "train", "-", "--format", "svmlight", "--epochs", epochs, "-o", "m", "--quiet", cwd=tmp_path, input=text
        )
        assert load_learner(tmp_path / "m").binary


def text_in(order):
    lines = [line for _, line in lines_of(4000, 2, seed=1)]
    if order == "sorted":
        lines.sort()
    if order == "in turns":  # 300 of one label, 20 of the other, 300, 20, …: a run passes half a window
        some, others = (sorted(line for line in lines if line.startswith(label))[:1000] for label in ("c0", "c1"))
        lines = [line for i in range(10) for line in 3 * some[100 * i : 100 * i + 100] + others[20 * i : 20 * i + 20]]
    return "".join(lines)


@pytest.mark.parametrize(
    ("order", "options", "warned"),
    [
        ("sorted", ["--epochs", 1, "--memory", SMALL], True),
        ("shuffled", ["--epochs", 1, "--memory", SMALL], False),
        ("in turns", ["--epochs", 1, "--memory", SMALL], False),
        ("sorted", ["--epochs", 2, "--memory", SMALL], False),
        ("sorted", ["--epochs", 1], False),
        ("sorted", ["--epochs", 1, "--memory", SMALL, "--no-shuffle"], False),
    ],
)
def test_where_the_order_still_matters_the_run_says_so(tmp_path, monkeypatch, order, options, warned):
    monkeypatch.setattr(blocks, "BLOCK", 8000)
    done = perceptive("train", "-", "--text", "-o", "m", "--quiet", *options, cwd=tmp_path, input=text_in(order))
    assert ("examples in a row have the label 'c" in done.stderr) == warned
    assert ("shuffle the lines, train for several epochs, or allow more memory" in done.stderr) == warned
    in_windows = options == ["--epochs", 1, "--memory", SMALL]
    assert ("if it is sorted, shuffle it, give a file instead of a pipe" in done.stderr) == (in_windows and not warned)


def test_a_pipe_of_many_labels_in_runs_is_told_of(tmp_path):
    """Also where no run fills half a window."""
    lines = sorted(line for _, line in lines_of(4000, 40, seed=1))
    command = ["train", "-", "--text", "-o", "m", "--quiet", "--epochs", 1, "--memory", "300k"]
    assert "examples in a row have the label" in perceptive(*command, cwd=tmp_path, input="".join(lines)).stderr
    np.random.default_rng(0).shuffle(lines)
    assert "examples in a row" not in perceptive(*command, cwd=tmp_path, input="".join(lines)).stderr


@pytest.mark.parametrize("epochs", [1, 2])
@pytest.mark.parametrize("memory", ["32M", "1M"])
def test_progress_never_passes_the_end(tmp_path, monkeypatch, epochs, memory):
    """Also where it turns out late that the cache is needed."""
    found = []
    monkeypatch.setattr(Bar, "update", lambda self, done, *_: found.append(done / self.total))
    (tmp_path / "a.tsv").write_text(
        "".join(f"c{i // 2000}\tw{i} w{i % 7} w{i % 11} w{i % 13}\n" for i in range(60_000))
    )
    command = ["train", "a.tsv", "--text", "--rule", "perceptron", "-o", "m", "--quiet"]
    perceptive(*command, "--epochs", epochs, "--memory", memory, cwd=tmp_path)
    assert max(found) <= 1.0
    assert found[-1] == pytest.approx(1.0, abs=0.1)


def test_long_stretches_without_a_label_are_counted(tmp_path):
    labels = ["a", "b"] * 50 + [""] * 20_000 + ["a", "b"] * 50
    (tmp_path / "a.csv").write_text("label,x\n" + "".join(f"{label},{i}\n" for i, label in enumerate(labels)))
    for epochs in (1, 2):
        done = perceptive("train", "a.csv", "-o", "m", "--epochs", epochs, "--memory", SMALL, "--json", cwd=tmp_path)
        assert json.loads(done.stdout)["data"] == {"examples": 200, "skipped": 0, "unanswered": 20_000}


@pytest.mark.parametrize("epochs", [1, 3])
def test_without_shuffling_the_order_is_kept(tmp_path, monkeypatch, epochs):
    monkeypatch.setattr(blocks, "BLOCK", 4000)
    rng = np.random.default_rng(0)
    text = "".join(f"{rng.integers(2)} {rng.integers(1, 20)}:1 {rng.integers(20, 40)}:1\n" for _ in range(2000))
    (tmp_path / "a.svm").write_text(text)
    X, y = streams.load(tmp_path / "a.svm", dtype="float32")
    expected = LinearClassifier(epochs=epochs, shuffle=False, bias=1.0).fit(X, y)
    for memory in ("32M", SMALL):
        command = [
            "train",
            "a.svm",
            "-o",
            "m",
            "--no-shuffle",
            "--rule",
            "perceptron",
            "--bias",
            1,
            "--epochs",
            epochs,
            "--quiet",
            "--memory",
            memory,
        ]
        perceptive(*command, cwd=tmp_path)
        found = load_learner(tmp_path / "m")
        assert found.mistakes == expected.learner_.mistakes
        for mine, theirs in zip(*(one.vectors[()].vector("last") for one in (found, expected.learner_)), strict=True):
            assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("pipe", [False, True])
@pytest.mark.parametrize("epochs", [1, 2])
def test_a_run_that_is_broken_off_is_resumed_bit_for_bit(tmp_path, monkeypatch, pipe, epochs):
    """Whatever the threads; a pipe is given again, from its start."""
    monkeypatch.setattr(blocks, "BLOCK", 8000)
    text = "".join(line for _, line in sorted(lines_of(4000, 2, seed=1)[:3000]))
    (tmp_path / "a.tsv").write_text(text)
    command = ["train", "-" if pipe else "a.tsv", "--text", "--bits", 10, "--epochs", epochs, "--memory", SMALL]
    command += ["--quiet", "--hypothesis", "last"]
    given = {"cwd": tmp_path, "input": text if pipe else None}
    perceptive(*command, "-o", "whole", "--threads", 2, **given)
    blocks_played = 0

    def after_chunk(self, run, dataset):
        nonlocal blocks_played
        blocks_played += 1
        if blocks_played == 3:
            self.save(run, dataset)
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "after_chunk", after_chunk)
    resume = [*command, "-o", "resumed", "--checkpoint", "point", "--threads", 1]
    perceptive(*resume, code=130, **given)
    perceptive(*resume, **given)
    assert blocks_played > 4
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


def test_memory_is_an_amount(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n0 2:1\n")
    done = perceptive("train", "a.svm", "-o", "m", "--memory", "much", cwd=tmp_path, code=2)
    assert "'much' is not an amount of memory; write 5000, 64k, 32M or 2G" in done.stderr
    assert [amount(one) for one in ("64", "64B", "1k", "1kB", "1MiB", "2GB")] == [64, 64, 1024, 1024, 2**20, 2**31]
    assert [duration(one) for one in ("90", "100ms", "1.5m")] == [90.0, 0.1, 90.0]
    done = perceptive("train", "--follow", "a.svm", "-o", "m", "--memory", "1M", cwd=tmp_path, code=None)
    assert done.returncode
    assert "--memory: not with --follow" in done.stderr
