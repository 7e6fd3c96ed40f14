"""Data frames with columns of words go straight into an estimator."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import perceptive
from perceptive import LinearClassifier

rng = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "size": rng.normal(size=80).round(3),
        "colour": pd.Categorical(rng.choice(["red", "blue"], 80)),
        "shape": rng.choice(["round", None], 80),
        "zip": pd.Categorical(rng.integers(0, 5, 80)),
    }
)
Y = np.where(FRAME["size"] + (FRAME["colour"] == "red") > 0.5, "yes", "no")


@pytest.mark.parametrize("frame", [FRAME, pa.Table.from_pandas(FRAME.astype({"zip": str}))], ids=["pandas", "arrow"])
@pytest.mark.parametrize("parameters", [{}, {"bits": 18}])
def test_words(frame, parameters, tmp_path):
    clf = LinearClassifier(epochs=20, **parameters).fit(frame, Y)
    assert clf.score(frame, Y) > 0.9
    if not parameters:
        names = set(clf.learner_.space.vocabulary.names())
        assert {"size", "colour=red", "colour=blue", "shape=round", "zip=0"} <= names
        assert not {"zip", "shape", "colour", "shape=nan", "shape=None"} & names
    perceptive.save(clf, tmp_path / "m")
    again = perceptive.load(tmp_path / "m")
    assert again.predict(frame).tolist() == clf.predict(frame).tolist()
    clf.partial_fit(frame, Y)
    held = LinearClassifier(probability=True, validation_fraction=0.2, **parameters).fit(frame, Y)
    assert held.predict_proba(frame).shape == (80, 2)


def test_the_features_are_those_of_a_csv_file(tmp_path):
    clf = LinearClassifier(epochs=5, bits=20, dtype="float32").fit(FRAME, Y)
    perceptive.save(clf, tmp_path / "m")
    FRAME.assign(label=Y).astype({"zip": "int"}).to_csv(tmp_path / "t.csv", index=False)
    X, y = perceptive.streams.load(tmp_path / "t.csv", categorical=("zip",), dtype="float32")
    assert y.tolist() == Y.tolist()
    np.testing.assert_allclose(clf.learner_.scores(X), clf.decision_function(FRAME), rtol=1e-5)


def test_frames_of_numbers_stay_as_they_are():
    clf = LinearClassifier().fit(FRAME[["size"]].assign(flag=FRAME["size"] > 0), Y)
    assert clf.feature_names_in_.tolist() == ["size", "flag"]
    assert clf.coef_.shape == (1, 2)


def test_dates_are_words_as_in_a_csv_file():
    frame = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=2), "size": [1.0, 2.0]})
    names = LinearClassifier().fit(frame, [0, 1]).learner_.space.vocabulary.names()
    assert names == ["day=2020-01-01", "size", "day=2020-01-02"]


def test_other_columns_are_refused():
    clf = LinearClassifier().fit(FRAME, Y)
    assert clf.feature_names_in_.tolist() == list(FRAME.columns)
    with pytest.raises(ValueError, match="none of the columns that the model has learned from, 'size'"):
        clf.predict(FRAME.rename(columns=str.upper))
    with pytest.warns(UserWarning, match="X lacks columns that the model has learned from: 'shape'"):
        clf.predict(FRAME.drop(columns="shape"))
    assert (clf.predict(FRAME[FRAME.columns[::-1]]) == clf.predict(FRAME)).all()


@pytest.mark.parametrize("columns", [["size", "colour"], ["size"]])
def test_columns_of_one_name_are_refused(columns):
    frame = FRAME[[*columns, "size"]]
    with pytest.raises(ValueError, match="Expected unique column names, got 'size' 2 times"):
        LinearClassifier().fit(frame, Y)
