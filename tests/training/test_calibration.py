"""Probabilities are fitted to some of the held-out examples where there are many, the same from arrays and files."""

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from perceptive import LinearClassifier, streams
from perceptive.learners import calibration
from perceptive.streams import blocks


def test_some_of_many_examples_tell_the_same():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=400_000)
    truth = (rng.random(400_000) < 1 / (1 + np.exp(-2.5 * scores))).astype(np.int64)
    assert calibration.thinning(len(scores), 2) > 1
    assert calibration.fit_temperature(scores, truth) == pytest.approx(2.5, rel=0.03)


def test_files_are_calibrated_on_the_examples_that_arrays_are(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = np.argmax(X[:, :2] + 0.5 * rng.normal(size=(600, 2)), axis=1)
    path = tmp_path / "rows.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    monkeypatch.setattr(blocks, "BLOCK", 2_000)
    options = {"epochs": 2, "shuffle": False, "dtype": "float64", "bias": 1.0}
    options |= {"probability": True, "validation_fraction": 0.5}
    found = []
    for scores, examples in ((2**17, 2**12), (200, 10)):  # all, and some
        monkeypatch.setattr(calibration, "SCORES", scores)
        monkeypatch.setattr(calibration, "EXAMPLES", examples)
        from_file = LinearClassifier(**options).fit_stream(streams.open(path, dtype="float64"))
        from_array = LinearClassifier(**options).fit(X, y)
        assert from_file.learner_.temperature == pytest.approx(from_array.learner_.temperature, rel=1e-6)
        found.append(from_file.learner_.temperature)
    assert found[0] != found[1]
