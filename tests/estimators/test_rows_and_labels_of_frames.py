"""Rows of frames one by one, frames without rows, and labels that cannot be classes."""

import datetime

import numpy as np
import pytest

from perceptive import KernelClassifier, LinearClassifier, LinearRanker

pd = pytest.importorskip("pandas")

FRAME, Y = pd.DataFrame({"colour": ["red", "blue"] * 8, "size": [1.0, 2.0] * 8}), ["a", "b"] * 8


def models(folder):
    (folder / "t.csv").write_text("colour,size,label\n" + "red,1,a\nblue,2,b\n" * 8)
    (folder / "t.jsonl").write_text(FRAME.assign(label=Y).to_json(orient="records", lines=True))
    yield LinearClassifier(epochs=5).fit(FRAME, Y)
    yield LinearClassifier(epochs=5, bits=10).fit(FRAME, Y)
    for name in ("t.csv", "t.jsonl"):
        yield LinearClassifier(epochs=5).fit_stream(folder / name)


def test_a_row_of_a_frame_is_an_example(tmp_path):
    for model in models(tmp_path):
        assert [model.predict_one(FRAME.iloc[i]) for i in range(2)] == ["a", "b"]
        assert model.learn_one(FRAME.iloc[0], "a").predict_one(FRAME.iloc[0]) == "a"
    numbers = pd.DataFrame({"x": [1.0, -1.0] * 8, "y": [0.0, 1.0] * 8})
    model = LinearClassifier(epochs=5).fit(numbers.to_numpy(), Y)
    assert [model.predict_one(numbers.iloc[i]) for i in range(2)] == ["a", "b"]


@pytest.mark.parametrize("bits", [None, 10])
def test_a_frame_is_a_list_of_candidates(bits):
    ranker = LinearRanker(epochs=5, bits=bits).fit(FRAME, [1, 0] * 8, qid=np.arange(16) // 2)
    dicts = FRAME[:2].to_dict("records")
    assert ranker.rank(FRAME[:2]) == ranker.rank(dicts)
    assert ranker.find_best(FRAME[1:3]) == 1
    assert ranker.learn_one(FRAME[:2], 0).rank(FRAME[:2]) == ranker.rank(dicts)


def test_a_frame_without_rows_has_no_predictions(tmp_path):
    for model in models(tmp_path):
        assert model.predict(FRAME[:0]).tolist() == []


@pytest.mark.parametrize("value", [[1, 2], (1, 2), {"a": 1}, {1}, np.ones(2)], ids=repr)
@pytest.mark.parametrize("estimator", [LinearClassifier, KernelClassifier])
def test_columns_of_lists_are_named(estimator, value):
    frame = pd.DataFrame({"size": [1.0, 2.0], "parts": [value] * 2})
    with pytest.raises(ValueError, match=f"row 0: feature 'parts' is a {type(value).__name__}; give a number"):
        estimator().fit(frame, ["a", "b"])


@pytest.mark.parametrize("label", [datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), b"x", (1, 2)])
@pytest.mark.parametrize("estimator", [LinearClassifier, KernelClassifier])
def test_labels_that_cannot_be_classes(estimator, label):
    said = "cannot be a class; give numbers, strings or booleans"
    y = np.empty(2, object)
    y[:] = [label, "b"]
    for call in (
        lambda: estimator().fit([[1.0], [2.0]], y),
        lambda: estimator().fit([[1.0], [2.0]], list(y)),
        lambda: estimator().partial_fit([[1.0], [2.0]], list(y)),
        lambda: estimator().fit([[1.0], [2.0]], ["a", "b"]).learn_one([1.0], label),
    ):
        with pytest.raises(ValueError, match=said):
            call()
    if estimator is LinearClassifier:
        with pytest.raises(ValueError, match=said):
            LinearClassifier().learn_one({"a": 1.0}, label)


def test_rows_for_a_model_of_json_lines(tmp_path):
    *_, model = models(tmp_path)
    for row in (["red", 1.0], [2.0, 1.0]):
        with pytest.raises(ValueError, match="JSON lines, whose keys 'colour', 'size' have no order: give dicts"):
            model.predict([row])


@pytest.mark.parametrize("estimator", [LinearClassifier, KernelClassifier])
def test_labels_of_nullable_types_keep_their_kind(estimator):
    for kind, labels in (("Int64", [1, 2]), ("UInt8", [1, 2]), ("boolean", [True, False])):
        for y in (pd.array(labels, dtype=kind), pd.Series(labels, dtype=kind)):
            model = estimator().fit([[1.0], [-1.0]], y)
            assert model.classes_.dtype == y.dtype.numpy_dtype
            assert model.predict([[1.0], [-1.0]]).tolist() == labels
        with pytest.raises(ValueError, match="y contains missing labels; drop such examples"):
            estimator().fit([[1.0], [-1.0], [0.0]], pd.array([*labels, None], dtype=kind))


@pytest.mark.parametrize("estimator", [LinearClassifier, KernelClassifier])
@pytest.mark.parametrize("label", [np.nan, np.inf])
@pytest.mark.filterwarnings("error")
def test_labels_that_are_not_finite(estimator, label):
    for y in ([0.0, label], np.array([0.0, label]), pd.Series([0.0, label])):
        with pytest.raises(ValueError, match="y contains NaN or inf; drop such examples"):
            estimator().fit([[1.0], [2.0]], y)
