"""A model that goes on learning: what it has learned is never thrown away."""

import json

import numpy as np
import pytest

from command_line import perceptive
from perceptive import LinearClassifier, load_learner


@pytest.fixture
def unknown(data):
    """Rows of a class that was never met."""
    path = data / "unknown.svm"
    path.write_text((data / "test.svm").read_text().replace("\n1 ", "\n2 "))
    return path


@pytest.mark.parametrize("options", [(), ("--kernel", "linear", "--features", "30"), ("--multiclass", "ovr")])
def test_a_new_class_is_welcome(data, unknown, options):
    """Two classes are one problem where the data have no others; a third one makes them compete."""
    model = data / "a.model"
    perceptive("train", data / "train.svm", "-o", model, "--epochs", 3, "--quiet", *options)
    assert load_learner(model).binary
    perceptive("train", unknown, "--continue", model, "-o", model, "--epochs", 3, "--quiet")
    assert load_learner(model).classes == [0, 1, 2]
    perceptive("train", data / "train.svm", "--continue", model, "-o", model, "--epochs", 1, "--quiet")
    told = json.loads(perceptive("eval", model, unknown, "--json").stdout)
    assert [one["label"] for one in told["classes"]] == [0, 1, 2]
    assert told["metrics"]["accuracy"] > 0.5


def test_announced_classes_are_all_and_the_model_stays(data, unknown):
    model = data / "a.model"
    perceptive("train", data / "train.svm", "-o", model, "--epochs", 3, "--quiet", "--classes", "0,1")
    before = model.read_bytes()
    done = perceptive("train", unknown, "--continue", model, "-o", model, "--epochs", 1, code=1)
    assert "label 2 is not one of the classes [0, 1], which were announced as all" in done.stderr
    assert model.read_bytes() == before


def test_a_class_comes_after_files_in_python(data):
    clf = LinearClassifier(epochs=2).fit_stream(data / "train.svm")
    clf.partial_fit(np.ones((1, clf.n_features_in_)), [7])
    assert clf.classes_.tolist() == [0, 1, 7]


def test_following_goes_on_with_a_new_class(data):
    model, out = data / "a.model", data / "b.model"
    perceptive("train", data / "train.svm", "-o", model, "--epochs", 2, "--quiet")
    (data / "new.svm").write_text("7 3:1\n" * 5)
    perceptive("train", data / "new.svm", "--follow", "--continue", model, "-o", out)
    assert load_learner(out).classes == [0, 1, 7]


def test_following_keeps_what_came_before_a_new_class(data, monkeypatch):
    model, out = data / "a.model", data / "b.model"
    perceptive("train", data / "train.svm", "-o", model, "--epochs", 2, "--quiet", "--classes", "0,1")
    lines = (data / "test.svm").read_text().splitlines(keepends=True)[:50]
    (data / "new.svm").write_text("".join(lines) + "7 3:1\n")
    done = perceptive("train", data / "new.svm", "--follow", "--continue", model, "-o", out, code=1)
    assert "label 7 is not one of the classes" in done.stderr
    assert load_learner(out).rounds >= load_learner(model).rounds


def test_notes_are_told_where_no_list_has_an_answer(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"candidates": ["ab", "cd"], "label": 1}) + "\n")
    for task in (("train", path, "-o", tmp_path / "m"),):
        done = perceptive(*task, "--task", "rank", "--kernel", "spectrum(2)", code=1)
        assert '"label"' in done.stderr
        assert "there are no lists with answers" in done.stderr
