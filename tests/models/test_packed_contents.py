"""Models with more labels or arrays than a header has room for are saved and read like others."""

import json

import numpy as np
import pytest

import perceptive
from perceptive import model_file
from perceptive.errors import NotWritten
from perceptive.learners import LinearLearner
from perceptive.model_file import ModelFileError
from perceptive.packed_contents import CONTENTS, DATA
from perceptive.parameters import TrainingParameters
from perceptive.training.checkpoint import Checkpoint
from perceptive.training.loop import Run


@pytest.fixture
def short_header(monkeypatch):
    monkeypatch.setattr(model_file, "MAX_HEADER", 1 << 16)


def test_more_labels_than_a_header_holds(short_header, tmp_path):
    labels = [f"label {i}" for i in range(10_000)]
    learner = LinearLearner(classes=labels)
    learner.learn_many([[1.0, 2.0], [2.0, 1.0]], labels[:2])
    perceptive.save(learner, tmp_path / "model")
    for mmap in (False, True):
        again = perceptive.load(tmp_path / "model", mmap=mmap).learner_
        assert again.classes == labels
        assert again.predict_many([[2.0, 1.0]]) == learner.predict_many([[2.0, 1.0]])


def test_more_problems_than_a_header_holds(short_header, tmp_path):
    n = 20
    learner = LinearLearner(classes=list(range(n)), multiclass="ovo")
    X = np.random.default_rng(0).normal(size=(n, 3))
    learner.learn_many(X, list(range(n)))
    perceptive.save(learner, tmp_path / "model")
    again = perceptive.load(tmp_path / "model").learner_
    assert str(again.state().meta) == str(learner.state().meta)
    assert again.predict_many(X) == learner.predict_many(X)


def test_problems_that_no_file_holds_are_refused_in_time():
    with pytest.raises(ValueError, match="multiclass='ovo' makes 79,800 problems of 400 classes, more than 50,000"):
        LinearLearner(classes=list(range(400)), multiclass="ovo")


def packed(path):
    arrays = {
        "b": np.array([True, False, True]),
        "w": np.arange(6.0).reshape(2, 3),
        "empty": np.zeros((0, 4), np.int32),
    }
    model_file.write(path, "toy", {"many": ["y" * 1000] * 5000, "nan": float("nan")}, arrays)
    return arrays


def test_arrays_and_values_come_back(tmp_path):
    arrays = packed(tmp_path / "toy")
    kind, meta, found = model_file.read(tmp_path / "toy")
    assert kind == "toy"
    assert meta["many"] == ["y" * 1000] * 5000
    assert np.isnan(meta["nan"])
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert (found[name] == array).all()
        assert not found[name].flags.writeable
    assert list(found) == list(arrays)


@pytest.mark.parametrize(
    "entry",
    [
        {"w": ["F64", [3, 3]]}, {"w": ["F64", [1, 3]]}, {"w": ["F99", [2, 3]]}, {"w": [3, [2, 3]]}, {"w": ["F64", 6]},
        {"w": ["F64", [-2, 3]]}, {"w": ["F64", [2**62, 3]]}, {"w": "F64"}, {"b": ["U8", [300]]}, [], None,
        {"empty": ["BOOL", [24]]},
    ],
    ids=str,
)  # fmt: skip
def test_contents_that_do_not_fit_together_are_refused(entry, tmp_path, monkeypatch):
    packed(tmp_path / "toy")
    real = model_file.unpack

    def forged(arrays, *how):
        contents = json.loads(arrays[CONTENTS].tobytes())
        contents["arrays"] = {**contents["arrays"], **entry} if isinstance(entry, dict) else entry
        text = json.dumps(contents).encode()
        return real({CONTENTS: np.frombuffer(text, np.uint8), DATA: arrays[DATA]}, *how)

    monkeypatch.setattr(model_file, "unpack", forged)
    with pytest.raises(ModelFileError, match="the file is damaged"):
        model_file.read(tmp_path / "toy")


def test_a_checkpoint_that_no_file_holds_is_warned_of(tmp_path, monkeypatch):
    learner = LinearLearner(classes=["a" * 1000, "b"])
    monkeypatch.setattr("perceptive.packed_contents.MOST", 100)
    monkeypatch.setattr(model_file, "MAX_HEADER", 500)
    warned = pytest.warns(NotWritten, match=r"checkpoint: cannot be written: .*; going on without this checkpoint")
    with Checkpoint(tmp_path / "checkpoint", {}, every=0.0) as checkpoint, warned:
        checkpoint.after_chunk(Run.of(learner, TrainingParameters()), None)
