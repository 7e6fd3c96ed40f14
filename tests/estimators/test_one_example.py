"""Methods that take one example refuse several, and match the columns of a row by name."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import perceptive
from perceptive import JointClassifier, KernelClassifier, KernelRanker, LinearClassifier, LinearRanker, SequenceTagger
from perceptive.learners import LinearLearner

X, y = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, 0.0]]), [0, 1, 0]
DICTS = [{"a": 1.0}, {"b": 1.0}]
SEVERAL = "one example, but there are 3 rows"


@pytest.mark.parametrize("make", [LinearClassifier, lambda: KernelClassifier(kernel="linear")])
def test_several_rows_are_refused(make):
    model = make().fit(X, y)
    for rows in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match=SEVERAL):
            model.explain(rows)
    with pytest.raises(ValueError, match=SEVERAL):
        model.predict_one(sp.csr_array(X))
    assert model.predict_one(sp.csr_array(X[:1])) == model.predict_one(X[0]) == 0
    assert model.explain(X[:1]).score == model.explain(X[0]).score


def test_the_only_row_of_a_matrix_is_an_example_of_a_function():
    model = KernelClassifier(kernel=lambda a, b: float(a @ b)).fit(X, y)
    assert model.predict_one(X[:1]) == model.predict_one(X[0])
    assert model.explain(X[:1]).score == model.explain(X[0]).score


@pytest.mark.parametrize("make", [LinearClassifier, lambda: KernelClassifier(kernel="linear")])
def test_the_only_row_of_a_matrix_is_an_example(make):
    model = make().fit(X, y)
    for ask in (model.predict_one, lambda rows: model.learn_one(rows, 0)):
        with pytest.raises(ValueError, match=SEVERAL):
            ask(X)
    assert model.predict_one(X[:1]) == model.predict_one(X[0])
    assert model.learn_one(X[:1], 0).predict_one(X[:1]) == 0


@pytest.mark.parametrize("make", [LinearClassifier, lambda: KernelClassifier(kernel="linear")])
@pytest.mark.parametrize("colours", [[1.0, 2.0, 3.0], ["red", "blue", "red"]], ids=["numbers", "words"])
def test_the_only_row_of_a_frame_and_the_only_dict_of_a_list_are_examples(make, colours):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"u": X[:, 0], "colour": colours})
    model = make().fit(frame, y)
    first = frame.to_dict("records")[0]
    for one in (frame[:1], frame[["colour", "u"]][:1], frame.iloc[0], [first], first):
        assert model.predict_one(one) == model.predict(frame)[0]
        assert model.explain(one).score == model.explain(first).score
        assert make().fit(frame, y).learn_one(one, 1).predict_one(first) in (0, 1)
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(frame[:1])
    assert model.learn_one(table, 0).predict_one(table) == model.predict_one(first)
    with pytest.raises(ValueError, match=SEVERAL):
        model.predict_one(frame)


def test_several_rows_are_refused_by_linear_learners():
    learner = LinearLearner(classes=[0, 1])
    learner.learn_many(X, y)
    with pytest.raises(ValueError, match=SEVERAL):
        learner.score(X)


def test_several_dicts_are_refused():
    model = LinearClassifier().fit(DICTS, [0, 1])
    ranker = LinearRanker().fit([DICTS], [0])
    for ask in (model.predict_one, model.explain, ranker.explain):
        with pytest.raises(ValueError, match="there are 2 rows"):
            ask(DICTS)
    assert model.explain(DICTS[:1]).score == model.explain(DICTS[0]).score


@pytest.mark.parametrize("make", [LinearClassifier, lambda: KernelClassifier(kernel="linear")])
def test_columns_of_a_row_are_matched_by_name(make):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["u", "v"])
    model = make().fit(frame, y)
    score = model.explain(X[0]).score
    row = frame.iloc[0]
    for one in (row, row[["v", "u"]], frame.iloc[[0]], frame.iloc[[0]][["v", "u"]], {"v": 2.0, "u": 1.0}):
        assert model.explain(one).score == score
    assert model.explain(pd.Series([1.0, 2.0])).score == score  # without names, in order
    turned = make().fit(pd.DataFrame([[0.0, 3.0], [3.0, 0.0]], columns=["u", "v"]), [0, 1])
    assert turned.predict_one(pd.Series({"v": 3.0, "u": 0.0})) == 0


@pytest.mark.parametrize("make", [LinearClassifier, KernelClassifier])
@pytest.mark.parametrize("colours", [[1.0, 2.0, 3.0], ["red", "blue", "red"]], ids=["numbers", "words"])
def test_probabilities_of_one_example_are_those_of_many(make, colours):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"u": X[:, 0], "colour": colours})
    model = make(hypothesis="voted", epochs=3).fit(frame, y)
    turned = frame[["colour", "u"]]
    for i, row in enumerate(model.predict_proba(frame)):
        for one in (frame.iloc[i], turned.iloc[i], frame[i : i + 1], turned[i : i + 1], turned.to_dict("records")[i]):
            assert [*model.predict_proba_one(one).values()] == pytest.approx(row)


STREAMS = {
    LinearClassifier: (DICTS[0], 0),
    KernelClassifier: (X[0], 0),
    LinearRanker: (DICTS, 1),
    KernelRanker: (X, 1),
    SequenceTagger: (["the", "dog"], ["D", "N"]),
    JointClassifier: ("u", "b"),
}


@pytest.mark.parametrize("kind", STREAMS)
def test_a_stream_may_begin_with_a_question(kind):
    x, answer = STREAMS[kind]
    model = kind(lambda x, t: {f"{x}={t}": 1.0}, ["a", "b"]) if kind is JointClassifier else kind()
    assert model.predict_one(x) is None
    assert model.learn_one(x, answer).predict_one(x) == answer


def frame_of_numbers():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
    return frame, np.where(frame.a - 2 * frame.c > 0, "p", "n")


@pytest.mark.parametrize(
    "one",
    [
        lambda frame, i: frame[i : i + 1],
        lambda frame, i: frame.iloc[i],
        lambda frame, i: pa.Table.from_pandas(frame[i : i + 1], preserve_index=False),
    ],
)
@pytest.mark.parametrize("estimator", [LinearClassifier, KernelClassifier])
def test_a_stream_that_begins_with_rows_of_a_frame_matches_columns_by_name(estimator, one, tmp_path):
    frame, labels = frame_of_numbers()
    turned, model = frame[["c", "b", "a"]], estimator()
    for i in range(60):
        model.learn_one(one(frame if i < 30 else turned, i), labels[i])
    expected = model.predict(frame)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert (expected == labels).mean() > 0.8
    assert (model.predict(turned) == expected).all()
    assert model.predict_one(one(turned, 0)) == model.predict_one(frame.iloc[0].to_dict()) == expected[0]
    perceptive.save(model, tmp_path / "m")
    assert (perceptive.load(tmp_path / "m").predict(turned) == expected).all()


@pytest.mark.parametrize("estimator", [LinearRanker, KernelRanker])
def test_a_ranker_that_begins_with_a_frame_matches_columns_by_name(estimator):
    frame, _ = frame_of_numbers()
    lists, model = [frame[i : i + 6] for i in range(0, 60, 6)], estimator()
    for one in lists:
        model.learn(one, int(np.argmax(one.a - one.c)))
    assert [model.rank(one[["c", "a", "b"]]) for one in lists] == [model.rank(one) for one in lists]


@pytest.mark.parametrize("estimator", [LinearClassifier, KernelClassifier, LinearRanker, KernelRanker])
def test_a_stream_refuses_two_columns_of_one_name(estimator):
    """As `fit` does; nothing is learned."""
    model, frame = estimator(), pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    with pytest.raises(ValueError, match="'a' 2 times; rename"):
        model.learn_one(frame, 0)
    assert not hasattr(model, "learner_")


def test_columns_without_names_have_none():
    model = LinearClassifier().learn_one(pd.DataFrame([[1.0, 2.0]]), 1).learn_one(pd.Series([1.0, 0.0]), 0)
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(LinearClassifier().learn_one({"a": 1}, 1), "feature_names_in_")
