"""Labels that NumPy would round, or make one of, in Python."""

import numpy as np
import pandas as pd
import pytest

from perceptive import KernelClassifier, LinearClassifier, load, save

X = np.array([[1.0, 0.0], [0.0, 1.0]] * 4)
PAIRS = [(2**53 + 1, 2**53), (2**63 + 1, 2**63), (2**63 + 1, -1), (2**63, -1), (2**70 + 1, 2**70)]


def arrays(pair):
    labels = list(pair) * 4
    yield labels
    yield np.array(labels, dtype=object)
    for kind in (np.int64, np.uint64):
        if all(np.iinfo(kind).min <= label <= np.iinfo(kind).max for label in pair):
            yield np.array(labels, dtype=kind)
            yield pd.array(labels, dtype=kind.__name__.replace("i", "I").replace("uI", "UI"))


@pytest.mark.parametrize("estimator", [LinearClassifier, KernelClassifier])
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_whole_numbers_stay_apart(estimator, pair, learn, tmp_path):
    for y in arrays(pair):
        model = getattr(estimator(), learn)(X, y)
        save(model, tmp_path / "m")
        for one in (model, load(tmp_path / "m")):
            assert [int(label) for label in one.predict(X[:2])] == list(pair)


@pytest.mark.parametrize("pair", PAIRS)
def test_whole_numbers_of_a_stream_stay_apart(pair, tmp_path):
    model = LinearClassifier()
    for x, label in zip([{"a": 1.0}, {"b": 1.0}] * 4, list(pair) * 4, strict=True):
        model.learn_one(x, label)
    save(model, tmp_path / "m")
    for one in (model, load(tmp_path / "m")):
        assert [one.predict_one({name: 1.0}) for name in "ab"] == list(pair)


@pytest.mark.parametrize("estimator", [LinearClassifier(), KernelClassifier()], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_strings_beside_other_labels_are_refused(estimator, method):
    for y, message in (
        ([1, "1", "x", "x"] * 2, "mixes labels"),
        (("x", 1.0) * 4, "mixes labels"),
        (["x", float("nan")] * 4, "missing labels"),
        (["x", None] * 4, "missing labels"),
    ):
        with pytest.raises(ValueError, match=message):
            getattr(estimator, method)(X, y)
