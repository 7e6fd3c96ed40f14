"""Data frames with columns of words go straight into an estimator."""

import copy
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone

import perceptive
from command_line import perceptive as command
from perceptive import LinearClassifier, LinearRanker
from perceptive.errors import ScaleWarning

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
    how = {"categorical": ("zip",), "scale": "standard", "dtype": "float32"}
    X, y = perceptive.streams.load(tmp_path / "t.csv", **how)
    assert y.tolist() == Y.tolist()
    np.testing.assert_allclose(clf.learner_.scores(X), clf.decision_function(FRAME), rtol=1e-5)
    read = command("predict", tmp_path / "m", tmp_path / "t.csv")
    assert read.stdout.split() == clf.predict(FRAME).tolist()


YEARS = pd.DataFrame({"colour": rng.choice(["red", "blue", "green"], 600), "year": rng.integers(1950, 2021, 600)})
BY_COLOUR = np.where(YEARS["colour"] == "red", "a", "b")


@pytest.mark.parametrize("parameters", [{}, {"bits": 18}, {"validation_fraction": 0.2}])
@pytest.mark.parametrize("kind", [pd.DataFrame, pa.Table.from_pandas], ids=["pandas", "arrow"])
def test_numbers_beside_words_are_scaled_as_those_of_files_are(kind, parameters, tmp_path):
    frame = kind(YEARS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = LinearClassifier(**parameters).fit(frame, BY_COLOUR)
    YEARS.assign(label=BY_COLOUR).to_csv(tmp_path / "t.csv", index=False)
    of_file = LinearClassifier().fit_stream(tmp_path / "t.csv")
    assert clf.learner_.space.table.scaling == of_file.learner_.space.format.scaling
    perceptive.save(clf, tmp_path / "m")
    rows = YEARS.to_dict("records")
    for one in (clf, perceptive.load(tmp_path / "m"), copy.deepcopy(clf)):
        assert one.score(frame, BY_COLOUR) == one.score(rows, BY_COLOUR) == 1.0
        assert [one.predict_one(row) for row in rows[:20]] == BY_COLOUR[:20].tolist()
        assert one.explain(rows[0]).parts[-1].value == pytest.approx(
            (rows[0]["year"] - YEARS.year.mean()) / YEARS.year.std(ddof=0)
        )
    again = clone(clf).fit(frame, BY_COLOUR).partial_fit(frame[:50], BY_COLOUR[:50]).learn_one(rows[50], BY_COLOUR[50])
    clf.partial_fit(rows[:50], BY_COLOUR[:50]).learn_one(rows[50], BY_COLOUR[50])
    assert clf.decision_function(frame).tolist() == again.decision_function(frame).tolist()
    assert clf.learner_.space.table.scaling == of_file.learner_.space.format.scaling


def test_what_goes_on_from_a_frame_keeps_its_scaling():
    clf = LinearClassifier(warm_start=True).fit(YEARS, BY_COLOUR)
    before = clf.learner_.space.table
    clf.fit(YEARS[:300], BY_COLOUR[:300])
    assert clf.learner_.space.table == before
    clf.set_params(warm_start=False).fit(YEARS[:300], BY_COLOUR[:300])
    assert clf.learner_.space.table != before


def test_numbers_beside_words_of_rankers():
    qid, y = np.arange(600) // 6, (BY_COLOUR == "a").astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LinearRanker().fit(YEARS, y, qid).score(YEARS, y, qid) == 1.0


def test_what_comes_bit_by_bit_or_as_dicts_is_taken_as_it_is():
    rows = YEARS.to_dict("records")
    cure = "column 'year' is 1,98. times as large as column 'colour' .* or give a data frame to fit"
    for learn, examples in ((LinearClassifier().fit, rows), (LinearClassifier().partial_fit, rows),
                            (LinearClassifier().partial_fit, YEARS)):  # fmt: skip
        with pytest.warns(ScaleWarning, match=cure) as told:
            clf = learn(examples, BY_COLOUR)
        assert [one.filename for one in told] == [__file__]
        assert clf.learner_.space.table is None or clf.learner_.space.table.scaling is None
    with pytest.warns(ScaleWarning, match="DictVectorizer"):
        LinearClassifier().fit(YEARS.assign(colour=np.arange(600) % 2).to_dict("records"), BY_COLOUR)


def test_codes_of_which_some_are_numbers_are_words():
    codes = [100, 101, "V10", "V11"] * 20
    with pytest.warns(UserWarning, match="column 'code' has numbers and words, such as 'V10'"):
        clf = LinearClassifier().fit(pd.DataFrame({"code": codes}), [0, 1, 0, 1] * 20)
    assert clf.learner_.space.vocabulary.names() == ["code=100", "code=101", "code=V10", "code=V11"]


def test_an_index_that_was_written_to_a_file_is_left_out():
    frame = YEARS.rename_axis(None).reset_index().rename(columns={"index": "Unnamed: 0"})
    said = "column 'Unnamed: 0' numbers or names the rows"
    with pytest.warns(UserWarning, match=f"{said}, and is left out; rename it to keep it"):
        clf = LinearClassifier().fit(frame, BY_COLOUR)
    clf.partial_fit(frame, BY_COLOUR)
    assert "Unnamed: 0" not in clf.learner_.space.vocabulary
    with pytest.warns(UserWarning, match=f"{said}; drop it"):
        LinearClassifier().fit(frame[["Unnamed: 0", "year"]], BY_COLOUR)


@pytest.mark.parametrize(
    "as_given", [lambda frame: frame, lambda frame: frame.to_dict("records")], ids=["frame", "dicts"]
)
def test_texts_that_are_taken_for_words_are_told_of(as_given):
    frame = pd.DataFrame({"body": [f"the text of row {i}" for i in range(40)], "kind": ["a b c", "d e f"] * 20})
    said = "column 'body' has a different text .*fit_stream.streams.open.path, text_column='body'.* or HashedText"
    with pytest.warns(UserWarning, match=said):
        LinearClassifier().fit(as_given(frame), [0, 1] * 20)


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
    with pytest.raises(ValueError, match="none of the columns that the model learned from, 'size'"):
        clf.predict(FRAME.rename(columns=str.upper))
    with pytest.warns(UserWarning, match="X lacks columns that the model has learned from: 'shape'"):
        clf.predict(FRAME.drop(columns="shape"))
    assert (clf.predict(FRAME[FRAME.columns[::-1]]) == clf.predict(FRAME)).all()


@pytest.mark.parametrize("columns", [["size", "colour"], ["size"]])
def test_columns_of_one_name_are_refused(columns):
    frame = FRAME[[*columns, "size"]]
    with pytest.raises(ValueError, match="Expected unique column names, got 'size' 2 times"):
        LinearClassifier().fit(frame, Y)
