"""The one hold-out: by its definition, in any parts, the same from arrays and files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from perceptive import streams
from perceptive.data.labels import Labels
from perceptive.training.blocks import RowBlocks
from perceptive.training.holdout import Choices, HoldOut
from perceptive.training.source import FileSource

labels = st.lists(st.sampled_from(["a", "b", 3]), min_size=1, max_size=200)


@given(labels, st.sampled_from([0.1, 0.2, 0.25, 0.5]), st.integers(0, 5))
def test_each_run_of_a_class_gives_one(y, fraction, seed):
    """After the first example of a class, each run of 1/f gives exactly one; an unfinished one at most one."""
    held = HoldOut(fraction, seed).choose(Labels.of(y))
    length = round(1 / fraction)
    for label in set(y):
        mine = held[[i for i, one in enumerate(y) if one == label]]
        assert not mine[0]
        runs = [mine[1 + begin : 1 + begin + length] for begin in range(0, len(mine) - 1, length)]
        assert all(run.sum() == 1 for run in runs if len(run) == length)
        assert all(run.sum() <= 1 for run in runs)


@given(labels, st.lists(st.integers(1, 60), max_size=8), st.floats(0.01, 0.9), st.integers(0, 3))
def test_parts_are_decided_as_the_whole(y, sizes, fraction, seed):
    whole = HoldOut(fraction, seed).choose(Labels.of(y))
    again, parts, begin = HoldOut(fraction, seed), [], 0
    for size in [*sizes, len(y)]:
        if begin < len(y):
            parts.append(again.choose(Labels.of(y[begin : begin + size])))
            begin += size
    assert np.concatenate(parts).tolist() == whole.tolist()


def test_the_share_the_seed_and_the_label_count():
    y = Labels.of(["a"] * 100_000)
    for fraction in (0.03, 0.1, 0.3, 0.7):
        assert HoldOut(fraction, 0).choose(y).mean() == pytest.approx(fraction, abs=1e-4)
    first = HoldOut(0.1, 0).choose(y)
    assert (first != HoldOut(0.1, 1).choose(y)).any()
    assert (first != HoldOut(0.1, 0).choose(Labels.of(["b"] * 100_000))).any()


def test_whole_numbers_are_one_label_however_they_are_written():
    y = np.array([1, -1] * 50)
    held = HoldOut(0.1, 0).choose(Labels.of(y)).tolist()
    for same in (y.astype(float), y.astype(np.float32), y.astype(float).tolist(), y.astype(object)):
        assert HoldOut(0.1, 0).choose(Labels.of(same)).tolist() == held
    halves = Labels.of(y + 0.5)
    assert HoldOut(0.1, 0).choose(halves).tolist() != HoldOut(0.1, 0).choose(Labels.of(y + 1)).tolist()


def test_another_file_begins_anew():
    holdout, y = HoldOut(0.5, 0), Labels.of(["a"] * 7)
    first = holdout.choose(y)
    holdout.next_file()
    assert holdout.choose(y).tolist() == first.tolist()


def test_files_hold_out_what_arrays_do(tmp_path):
    rng = np.random.default_rng(0)
    X, y = np.arange(1.0, 301.0)[:, None], rng.integers(3, size=300)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    held = HoldOut(0.2, 7).choose(Labels.of(y))
    for _ in range(2):  # parsed, then from the cache
        stream = streams.open(tmp_path / "a.svm", threads=3)
        with FileSource(stream, RowBlocks(), holdout=0.2, seed=7, cache=str(tmp_path / "c")) as source:
            source.prepare()
            found = np.concatenate([block.data for block in source.split.held_out()])
        assert found.tolist() == X[held, 0].tolist()


@given(st.lists(st.lists(st.booleans(), max_size=30), max_size=6), st.randoms())
def test_choices_are_read_as_they_were_made(blocks, random):
    choices = Choices()
    for held in blocks:
        choices.append(np.array(held, bool))
    for number in random.sample(range(len(blocks)), len(blocks)):
        assert choices.read(number).tolist() == blocks[number]
    choices.close()
