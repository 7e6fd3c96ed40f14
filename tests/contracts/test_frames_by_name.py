"""Frames and dicts mean the same to linear and kernel models, whatever library they come from."""

import warnings

import numpy as np
import pytest

from command_line import perceptive
from perceptive import HashedFeatures, KernelClassifier, KernelRanker, LinearClassifier, LinearRanker, load, save

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

N = 40
RANDOM = np.random.default_rng(0)
SIZE, RED = RANDOM.integers(0, 1000, N), RANDOM.integers(0, 2, N)
WORDS = pd.DataFrame({"size": SIZE, "colour": np.where(RED, "red", "blue")})
NUMBERS = pd.DataFrame({"size": SIZE / 1000, "red": RED, "other": RANDOM.random(N)})
Y, QUERIES = np.where((SIZE > 500) ^ (RED == 1), "a", "b"), np.repeat(np.arange(N // 4), 4)
CLASSIFIERS = [LinearClassifier(), KernelClassifier(), KernelClassifier(kernel="gaussian(gamma=1.0)")]
RANKERS = [LinearRanker(), KernelRanker(), KernelRanker(kernel="gaussian(gamma=1.0)")]


def forms(frame):
    return {"frame": frame, "table": pa.Table.from_pandas(frame), "dicts": frame.to_dict("records")}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
@pytest.mark.parametrize("frame", [WORDS, NUMBERS], ids=["words", "numbers"])
@pytest.mark.parametrize("source", ["frame", "table"])
def test_a_model_of_a_frame_reads_all_forms_alike(model, frame, source, tmp_path):
    model.fit(forms(frame)[source], Y)
    expected = model.decision_function(frame)
    save(model, tmp_path / "m")
    for one in (model, load(tmp_path / "m")):
        for form in (*forms(frame).values(), frame[frame.columns[::-1]], frame.assign(more=1.0)):
            assert np.allclose(one.decision_function(form), expected, rtol=1e-6, atol=1e-9)
        assert [one.predict_one(row) for row in frame.to_dict("records")] == one.predict(frame).tolist()
    assert (np.array(model.predict(frame)) == Y).mean() > 0.5


def test_words_are_separated_by_a_kernel():
    model = KernelClassifier(kernel="gaussian(gamma=1.0)", epochs=30).fit(WORDS, Y)
    assert model.score(WORDS, Y) > 0.9 > LinearClassifier(epochs=30).fit(WORDS, Y).score(WORDS, Y)
    table = model.learner_.space.table
    assert table.scaling.names == ("size",)


def test_a_kernel_of_a_frame_reads_the_same_table_from_files(tmp_path):
    model = KernelClassifier(kernel="gaussian(gamma=1.0)", epochs=5).fit(WORDS, Y)
    save(model, tmp_path / "m")
    WORDS.to_csv(tmp_path / "t.csv", index=False)
    WORDS.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    for name in ("t.csv", "t.jsonl"):
        done = perceptive("predict", tmp_path / "m", tmp_path / name)
        assert done.stdout.split() == model.predict(WORDS).tolist()


@pytest.mark.parametrize("model", CLASSIFIERS[1:], ids=repr)
def test_kernels_learn_from_dicts_with_names_that_come_later(model, tmp_path):
    rows = [{"red": 1, "word": "x"}, {"blue": 2.0}, {"green": 1, "word": "y"}, {"blue": 1}]
    labels = ["a", "b", "a", "b"]
    model = type(model)(**model.get_params()).fit(rows[:2], labels[:2])
    model.partial_fit(rows, labels).learn_one({"pink": 1.0}, "c")
    assert model.predict([*rows, {"pink": 1.0}]).tolist() == [*labels, "c"]
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").predict_one({"pink": 1.0}) == "c"
    with pytest.raises(ValueError, match="trained on dicts of named features; give a list of dicts"):
        model.predict(np.ones((2, 3)))
    of_rows = type(model)().fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="X holds dicts, but this model was trained on columns"):
        of_rows.predict(rows)


@pytest.mark.parametrize("model", RANKERS, ids=repr)
@pytest.mark.parametrize("frame", [WORDS.assign(size=SIZE / 1000), NUMBERS], ids=["words", "numbers"])
def test_rankers_read_frames_and_dicts(model, frame, tmp_path):
    model.fit(frame, (Y == "a") * 1, QUERIES)
    expected = model.decision_function(frame, QUERIES)
    save(model, tmp_path / "m")
    for one in (model, load(tmp_path / "m")):
        for form in (*forms(frame).values(), frame[frame.columns[::-1]]):
            assert np.allclose(one.decision_function(form, QUERIES), expected, rtol=1e-6, atol=1e-9)
    assert model.score(frame, (Y == "a") * 1, QUERIES) > 0.5


def test_kernel_rankers_take_lists_of_dicts():
    lists = [[{"w": "x", "n": 1.0}, {"w": "y"}], [{"w": "y"}, {"w": "x"}]]
    ranker = KernelRanker().fit(lists, [0, 1])
    assert ranker.predict(lists).tolist() == [0, 1]
    assert ranker.find_best(lists[1]) == 1


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_missing_numbers_are_refused_in_every_frame(model):
    frame = NUMBERS.assign(other=[np.nan, *NUMBERS["other"][1:]])
    for form in (frame, pa.Table.from_pandas(frame)):
        with pytest.raises(ValueError, match="NaN"):
            model.fit(form, Y)
    model.fit(NUMBERS, Y)
    with pytest.raises(ValueError, match="NaN"):
        model.predict([{"size": None, "red": 1.0}])


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_missing_columns_are_named(model):
    model.fit(NUMBERS, Y)
    with pytest.raises(ValueError, match="now missing:\n- red"):
        model.predict(NUMBERS[["size", "other"]])
    with pytest.raises(ValueError, match="none of the columns that the model learned from, 'size', 'red', 'other'"):
        model.predict([{"colour": 1.0}])
    with pytest.raises(ValueError, match="row 1: 'red' is 'yes'; the model has learned from numbers"):
        model.predict([{"red": 1}, {"red": "yes"}])


def test_hashed_features_read_frames_as_classifiers_do():
    hashed = HashedFeatures(bits=12, remember_names=True)
    rows = hashed.fit_transform(WORDS)
    assert {name for names in hashed.kernel_.remembered().values() for name in names} == {
        "size", "colour=red", "colour=blue",
    }  # fmt: skip
    for form in (*forms(WORDS).values(), WORDS[["colour", "size"]]):
        assert abs(hashed.transform(form) - rows).max() < 1e-12
    assert abs(rows).max() < 5
    expected = hashed.fit_transform(NUMBERS)
    assert abs(hashed.transform(NUMBERS[["other", "red", "size"]]) - expected).max() == 0
