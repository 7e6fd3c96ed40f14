"""Lists of JSON lines may have a weight, which counts as ``sample_weight`` does for lists in memory."""

import json

import numpy as np
import pytest

from perceptive import LinearRanker, streams
from perceptive.cli import main
from perceptive.learners.ranking import RankingLearner
from perceptive.models.registry import load_learner
from perceptive.parameters import TrainingParameters
from perceptive.streams import blocks
from perceptive.streams.lists import read_lists
from perceptive.training.blocks import ListBlocks
from perceptive.training.loop import Run, train
from perceptive.training.source import FileSource

pytestmark = pytest.mark.core
OPTIONS = ("--task", "rank", "--scale", "none", "--hypothesis", "last", "--epochs", "3", "--quiet")


@pytest.fixture
def weighed(tmp_path):
    """60 lists with answers that contradict each other, in memory and in a file."""
    rng = np.random.default_rng(0)
    lists = [[{"a": float(x), "b": float(y)} for x, y in rng.integers(1, 9, (3, 2))] for _ in range(60)]
    best, weights = rng.integers(0, 3, 60).tolist(), rng.choice([0.0, 0.25, 1.0, 3.0], 60).tolist()
    path = tmp_path / "lists.jsonl"

    def write(key="weight", weights=weights):
        told = zip(lists, best, weights, strict=True)
        path.write_text("".join(json.dumps({"candidates": x, "best": b, key: w}) + "\n" for x, b, w in told))
        return path

    return lists, best, np.array(weights), write


def learned(model):
    learner = load_learner(str(model))
    return learner, learner.vector.vector("last")[0][:, 0]


@pytest.mark.parametrize("memory", [[], ["--memory", "20000", "--no-shuffle"]])
@pytest.mark.parametrize("key", ["weight", "importance"])
def test_weights_count_as_in_memory(tmp_path, weighed, key, memory, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 2000)
    lists, best, weights, write = weighed
    named = [] if key == "weight" else ["--weight", key]
    model, path = tmp_path / "m", str(write(key))
    how = {"epochs": 3, "hypothesis": "last", "shuffle": not memory}
    expected = LinearRanker(bits=20, **how).fit(lists, best, sample_weight=weights)
    for kept in ([], ["--cache", str(tmp_path / "cache")], ["--cache", str(tmp_path / "cache")]):
        assert main(["train", path, *OPTIONS, *named, *memory, *kept, "-o", str(model)]) == 0
        learner, v = learned(model)
        assert learner.updates == expected.learner_.updates
        np.testing.assert_allclose(v[v != 0], expected.coef_[expected.coef_ != 0], rtol=1e-5)
    plain = LinearRanker(bits=20, **how).fit(lists, best)
    assert plain.learner_.updates != expected.learner_.updates
    monkeypatch.undo()
    assert main(["certify", str(model), path]) == 0
    assert main(["train", path, *OPTIONS, "--continue", str(model), "-o", str(model)]) == 0
    assert learned(model)[0].space.format.list_weight == (None if key == "weight" else key)


@pytest.mark.parametrize("kernel", ["linear", "linear@a + linear@b"])
def test_kernel_rankers_take_weights(tmp_path, weighed, kernel):
    *_, weights, write = weighed
    losses = []
    for key, told in (("weight", weights.tolist()), ("w", weights.tolist()), ("weight", [1.0] * 60)):
        named = [] if key == "weight" else ["--weight", key]
        path, model = str(write(key, told)), str(tmp_path / "m")
        options = [o for o in OPTIONS if o not in ("--scale", "none")] if "@" in kernel else OPTIONS
        assert main(["train", path, *options, "--kernel", kernel, *named, "-o", model]) == 0
        losses.append(load_learner(model).loss)
        assert main(["certify", model, path, *named]) == 0
    assert losses[0] == losses[1] != losses[2]


def test_hold_outs_and_shards_keep_the_weights(tmp_path, weighed):
    *_, weights, write = weighed
    stream = streams.open(write(), lists=True, bits=8)
    [whole] = read_lists(stream)
    np.testing.assert_array_equal(whole.weights, weights)
    kind = ListBlocks()
    np.testing.assert_array_equal(kind.from_cache(kind.for_cache(whole)).weights, weights)
    np.testing.assert_array_equal(whole.take(np.array([5, 2])).weights, weights[[5, 2]])
    plain = streams.open(write(weights=[1.0] * 60), lists=True, bits=8)
    [part] = read_lists(plain)
    assert part.weights is None is kind.from_cache(kind.for_cache(part)).weights
    joined = kind.join([part, whole], stream.dtype)
    np.testing.assert_array_equal(joined.weights, [*[1.0] * 60, *weights])
    np.testing.assert_array_equal(kind.from_cache(kind.for_cache(joined)).weights, joined.weights)
    learner, stream = RankingLearner(bits=8), streams.open(write(), lists=True, bits=8)
    with FileSource(stream, kind, epochs=2, holdout=0.5) as source:
        train(Run.of(learner, TrainingParameters(epochs=2, validation_fraction=0.5)), source)
        found = np.concatenate([part.weights for part in source.split.held_out()])
    assert 0 < len(found) < 60
    assert {*found.tolist()} == {*weights.tolist()}


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        (-1, "the weight is negative; give 0 or more"),
        ("2", "the weight must be a number, 0 or more"),
        ([1], "the weight must be a number, 0 or more"),
    ],
)
def test_weights_that_are_none(tmp_path, capsys, weight, said):
    path = tmp_path / "l.jsonl"
    path.write_text(json.dumps({"candidates": [{"a": 1}, {"a": 2}], "best": 0, "weight": weight}) + "\n")
    assert main(["train", str(path), "--task", "rank", "-o", str(tmp_path / "m")]) != 0
    assert f"l.jsonl:1: {said}" in capsys.readouterr().err


def test_svmlight_has_no_place_for_weights(tmp_path, capsys):
    (tmp_path / "l.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    assert main(["train", str(tmp_path / "l.svm"), "--task", "rank", "--weight", "w", "-o", str(tmp_path / "m")]) != 0
    assert "svmlight files have no place for the weights of lists; give JSON lines" in capsys.readouterr().err


def test_lists_that_all_weigh_nothing(tmp_path, capsys, weighed):
    *_, write = weighed
    path = str(write(weights=[0.0] * 60))
    assert main(["train", path, *OPTIONS, "-o", str(tmp_path / "m")]) != 0
    assert "or all of these lists have weight 0; check" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()
