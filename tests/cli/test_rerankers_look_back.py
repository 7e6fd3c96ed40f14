"""Rerankers read files as one text, whatever the blocks, the threads and the options."""

import json

import numpy as np
import pytest

import perceptive
from command_line import perceptive as run


def news(n, seed):
    """Texts of two sentences: only the first tells whether its name is a person or a place."""
    rng, lines, words = np.random.default_rng(seed), [], []
    for _ in range(n):
        name, person = f"Name{rng.integers(10**6)}", rng.integers(2)
        label, clue = ("B-PER", "says") if person else ("B-LOC", "lies")
        for some in ([(name, label), (clue, "O"), ("here", "O")], [("again", "O"), (name, label), ("is", "O")]):
            lines += [*(f"{word} {mine}" for word, mine in some), ""]
            words.append([word for word, _ in some])
    return "\n".join(lines) + "\n", words


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    where = tmp_path_factory.mktemp("news")
    for name, n in (("train", 200), ("test", 150)):
        text, words = news(n, n)
        (where / name).write_text(text)
    (where / "words").write_text("\n\n".join("\n".join(one) for one in words) + "\n\n")
    base = ("--template", "word[1]\nshape\n@label[-1]", "--epochs", "5", "--quiet")
    run("train", where / "train", "--task", "tag", *base, "-o", where / "base")
    for name, more in (("m", ()), ("alone", ("--lookback", "0"))):
        run(*rerank(where), "--base", where / "base", *more, "--quiet", "-o", where / name)
    return where


def test_files_are_read_as_one_text(files):
    words = (files / "words").read_text()
    expected = perceptive.load(files / "m").predict([one.split("\n") for one in words.strip().split("\n\n")])
    assert f1(files, "m") == 100.0
    for more in ((), ("--threads", "3"), ("--kbest", "1")):
        assert labels(run("tag", files / "m", files / "words", *more).stdout) == expected
    assert labels(run("tag", files / "m", "-", input=words).stdout) == expected
    told = run("explain", files / "m", files / "words", "--json").stdout.splitlines()
    assert [json.loads(line)["label"] for line in told] == expected


def test_each_sentence_may_be_read_by_itself(files):
    assert f1(files, "alone") < 80.0
    for more in (("--continue", files / "m", "--lookback", "5"), ("--base", files / "base", "--lookback", "-1")):
        assert "--lookback" in run(*rerank(files), *more, "-o", files / "x", code=2).stderr


def rerank(where):
    return "train", where / "train", "--task", "rerank"


def labels(text):
    """Those that ``tag`` wrote behind the words, sentence by sentence."""
    lines = [line for line in text.split("\n") if not line.startswith("# ")]
    return [[row.split()[-1] for row in one.split("\n")] for one in "\n".join(lines).strip("\n").split("\n\n")]


def f1(files, model):
    return json.loads(run("eval", files / model, files / "test", "--json").stdout)["metrics"]["f1"]
