"""Pipelines of `HashedText` and an estimator are saved and loaded."""

import json

import numpy as np
import pytest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import perceptive
from command_line import perceptive as run
from perceptive import HashedText, KernelClassifier, LinearClassifier, model_file
from perceptive.model_file import ModelFileError

TEXTS = ["Free entry: WIN a prize!", "win cash now", "See you at home?", "I'm home, see you"] * 5
Y = ["spam", "spam", "ham", "ham"] * 5


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ({}, LinearClassifier()),
        (
            {"words": (1, 2), "chars": (3, 4), "idf": True, "weighting": "log-tf", "seed": 7},
            LinearClassifier(keep="all"),
        ),
        ({"bits": 12, "remember_names": True, "normalize": False}, LinearClassifier(probability=True)),
        ({"bits": 12, "signed": False}, KernelClassifier(kernel="linear")),
    ],
    ids=["plain", "idf", "names", "kernel"],
)
def test_a_pipeline_comes_back(text, model, tmp_path):
    pipeline = Pipeline([("words", HashedText(**text)), ("clf", model)]).fit(TEXTS, Y)
    path = tmp_path / "m"
    perceptive.save(pipeline, path)
    again = perceptive.load(path)
    assert isinstance(again, Pipeline)
    assert str(again) == str(pipeline)
    np.testing.assert_array_equal(again.decision_function(TEXTS), pipeline.decision_function(TEXTS))
    perceptive.save(again, tmp_path / "twice")
    assert (tmp_path / "twice").read_bytes() == path.read_bytes()
    if text.get("remember_names"):
        column = again[0].transform(["win"]).indices[0]
        assert again[0].features_.names(column) == pipeline[0].features_.names(column) == ["win"]
    if text.get("signed", True):
        (tmp_path / "t.txt").write_text("".join(f"{one}\n" for one in TEXTS))
        lines = run("predict", path, tmp_path / "t.txt", "--unlabelled", "--json").stdout.splitlines()
        told = [json.loads(line) for line in lines]
        assert [one["label"] for one in told] == pipeline.predict(TEXTS).tolist()
        np.testing.assert_allclose([one["score"] for one in told], pipeline.decision_function(TEXTS), rtol=1e-4)


def test_other_pipelines_are_refused(tmp_path):
    with pytest.raises(TypeError, match="cannot save the pipeline StandardScaler → LinearClassifier"):
        perceptive.save(make_pipeline(StandardScaler(), LinearClassifier()), tmp_path / "m")
    with pytest.raises(ValueError, match="has not learned anything"):
        perceptive.save(make_pipeline(HashedText(), LinearClassifier()), tmp_path / "m")


@pytest.mark.parametrize(
    "lie",
    [
        lambda meta: meta.update(kind="Pipeline"),
        lambda meta: meta.update(kind="nothing"),
        lambda meta: meta["text"].update(bits=99),
        lambda meta: meta["text"].pop("words"),
        lambda meta: meta.update(steps=["one"]),
        lambda meta: meta["model"].update(problems=7),
        lambda meta: meta.pop("model"),
    ],
)
def test_files_that_lie_are_refused(lie, tmp_path):
    path = tmp_path / "m"
    perceptive.save(make_pipeline(HashedText(bits=10), LinearClassifier()).fit(TEXTS, Y), path)
    kind, meta, arrays = model_file.read(path)
    lie(meta)
    model_file.write(path, kind, meta, {name: np.array(array) for name, array in arrays.items() if name != "crc"})
    for load in (perceptive.load, perceptive.load_learner):
        with pytest.raises(ModelFileError, match="does not fit together"):
            load(path)
