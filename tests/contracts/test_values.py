"""A value of a table means the same in every kind of input, whatever a model has learned from."""

import datetime
import warnings

import numpy as np
import pytest

from perceptive import HashedText, KernelClassifier, LinearClassifier, load, save, streams
from perceptive.cli import main
from perceptive.data.raw import read_raw
from perceptive.features.hashing import HashKernel
from perceptive.streams import FileFormat

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

N = 24
DAY = datetime.datetime(2020, 1, 1)
VALUES = {  # each kind has two values, and the label says which
    "bool": [True, False],
    "int": [3, 7],
    "float": [0.25, -1.5],
    "categorical int": pd.Categorical([1, 2]),
    "categorical str": pd.Categorical(["x", "y"]),
    "date": [DAY.date(), datetime.date(2021, 5, 31)],
    "datetime": pd.to_datetime(["2020-01-01 00:00:00", "2020-01-01 12:30:00.500"], format="ISO8601"),
    "days": pd.to_datetime(["2020-01-01", "2021-05-31"]),
    "string": ["red", "dark blue"],
    "number-like string": ["01", "2"],
    "missing": [None, "red"],
    "missing number": [np.nan, 3.0],
    "NA": ["NA", "red"],
    "empty": ["", "red"],
    "spaces": [" red", "blue "],
}
FILES = ("csv", "jsonl", "parquet")


def table(kind):
    """The frame; a column beside the value keeps rows from being empty."""
    which = np.arange(N) % 3 % 2
    frame = pd.DataFrame({"v": pd.Series(VALUES[kind]).iloc[which].reset_index(drop=True)})
    frame["beside"] = ["a", "b"] * (N // 2)
    return frame, np.where(which, "yes", "no")


def rows_of(frame):
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


def write(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True, date_format="iso")
    else:
        frame.to_parquet(path)
    return path


def predicted(model, frame, folder):
    """What a model says of a table, in every kind of input that it takes."""
    said = {"frame": model.predict(frame).tolist(), "dicts": model.predict(rows_of(frame)).tolist()}
    said["one by one"] = [model.predict_one(row) for row in rows_of(frame)]
    if model.learner_.space.format is None:
        return said
    said["table"] = model.predict(pa.Table.from_pandas(frame)).tolist()
    if model.learner_.space.format.name != "json":
        said["rows"] = model.predict([list(row) for row in frame.itertuples(index=False, name=None)]).tolist()
    save(model, folder / "m")
    for kind in FILES:
        path, out = write(frame, folder / f"new.{kind}"), folder / "said"
        assert main(["predict", str(folder / "m"), str(path), "-o", str(out)]) == 0
        said[kind] = out.read_text().split()
    return said


@pytest.mark.parametrize("source", [*FILES, "frame"])
@pytest.mark.parametrize("kind", VALUES)
def test_a_value_means_the_same_in_every_kind_of_input(kind, source, tmp_path):
    frame, y = table(kind)
    model = LinearClassifier(epochs=10)
    if source in FILES:
        model.fit_stream(write(frame.assign(label=y), tmp_path / f"old.{source}"))
    else:
        model.fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind_of_input, labels in predicted(model, frame, tmp_path).items():
            assert labels == y.tolist(), kind_of_input


@pytest.mark.parametrize("kind", ["bool", "int", "float", "categorical int", "string", "number-like string"])
def test_dicts_that_are_no_table_are_read_alike_too(kind, tmp_path):
    """There a boolean is a number, as for scikit-learn's `DictVectorizer`."""
    frame, y = table(kind)
    model = LinearClassifier(epochs=10).fit(rows_of(frame), y)
    assert all(labels == y.tolist() for labels in predicted(model, frame, tmp_path).values())
    assert ("v" in model.learner_.space.vocabulary) == (kind in ("bool", "int", "float", "categorical int"))


def test_booleans_are_words_however_they_are_written(tmp_path):
    """R writes TRUE, pandas True, JSON true; the label is the word that a typed boolean is, or the one of the file."""
    rows = "".join(f"{b},{b}\n" for b in ["TRUE", "FALSE"] * 9)
    (tmp_path / "r.csv").write_text("b,label\n" + rows)
    (tmp_path / "j.jsonl").write_text('{"b": true, "label": true}\n{"b": false, "label": false}\n' * 9)
    pd.DataFrame({"b": [True, False] * 9, "label": [True, False] * 9}).to_parquet(tmp_path / "p.parquet")
    expected = {"r.csv": ["TRUE", "FALSE"], "j.jsonl": ["True", "False"], "p.parquet": ["True", "False"]}
    for name, labels in expected.items():
        model = LinearClassifier(epochs=5).fit_stream(tmp_path / name)
        assert model.predict([{"b": True}, {"b": "false"}]).tolist() == labels
        assert model.learner_.space.names.names(_bucket("b=True", model)) == ["b=True"]


def _bucket(name, model):
    return HashKernel(model.learner_.space.format.bits).hash([name], grow=False)[0][0]


@pytest.mark.parametrize("source", FILES)
def test_models_from_before_read_as_they_did(source, tmp_path):
    """A model file without ``words`` has the meaning of each format in its day."""
    frame, y = table("bool")
    model = LinearClassifier(epochs=10).fit_stream(write(frame.assign(label=y), tmp_path / f"t.{source}"))
    meta = model.learner_.space.format.to_meta()
    assert meta["words"] == (["beside"] if source == "parquet" else [])
    del meta["words"]
    old = FileFormat.from_meta(meta)
    assert (old.words, old.numerals, "words" in old.to_meta()) == (None, False, False)
    name = {"csv": "v=true", "jsonl": "v", "parquet": "v=true"}[source]
    rows = {"csv": [{"v": "true"}], "jsonl": [{"v": True}], "parquet": [{"v": True}]}[source]
    found = read_raw(rows, old, None, ("v", "beside"), np.float64)
    assert found.indices.tolist() == [HashKernel(old.bits).hash([name], grow=False)[0][0]]


def test_a_frame_model_reads_dicts_as_rows_of_its_table(tmp_path):
    """None and NaN are missing, categories stay names, and all of it survives a file."""
    frame = pd.DataFrame({"zip": pd.Categorical([101, 102] * 8), "size": [1.0, 2.0] * 8, "day": [DAY, None] * 8})
    model = LinearClassifier(epochs=5).fit(frame, ["a", "b"] * 8)
    assert (model.n_features_in_, model.learner_.space.table.words) == (3, ("zip",))
    save(model, tmp_path / "m")
    for one in (model, load(tmp_path / "m")):
        assert one.n_features_in_ == 3
        rows = [{"zip": 101, "size": np.nan, "day": pd.Timestamp(DAY)}, {"zip": 102, "size": None, "day": pd.NaT}]
        assert one.predict(rows).tolist() == ["a", "b"] == [one.predict_one(row) for row in rows]
        parts = {part.name for part in one.explain(rows[0]).parts}
        assert parts == {"zip=101", "day=2020-01-01"}
        one.learn_one(rows[0], "a")
        assert "zip" not in one.learner_.space.vocabulary


@pytest.mark.parametrize("estimator", [LinearClassifier(), KernelClassifier()])
def test_arrays_of_dates_are_no_numbers(estimator):
    X = np.array([["2020-01-01"], ["2021-01-01"]], "datetime64[ns]")
    with pytest.raises(ValueError, match="X holds dates or times; give numbers, the days since some day"):
        estimator.fit(X, [0, 1])
    with pytest.raises(ValueError, match="X holds dates or times"):
        estimator.fit(X.astype("datetime64[D]") - np.datetime64("2020-01-01"), [0, 1])


def test_a_column_of_texts_in_a_frame_is_a_list_of_texts():
    texts, y = ["spam spam", "ham", "spam", "ham eggs"], [1, 0, 1, 0]
    for frame in (pd.DataFrame({"body": texts}), pa.table({"body": texts})):
        assert (HashedText().fit_transform(frame) != HashedText().fit_transform(texts)).nnz == 0
        assert (HashedText(idf=True).fit_transform(frame) != HashedText(idf=True).fit_transform(texts)).nnz == 0
        model = KernelClassifier(kernel="spectrum(2)").fit(frame, y)
        assert model.decision_function(frame).tolist() == (
            KernelClassifier(kernel="spectrum(2)").fit(texts, y).decision_function(texts).tolist()
        )
    with pytest.raises(ValueError, match=r"a data frame was given for texts.*; give one, X\['text'\]"):
        HashedText().fit_transform(pd.DataFrame({"body": texts, "size": y}))


def test_json_lines_have_columns_of_words(tmp_path):
    """Those that `categorical=` names, and those in which strings are all that reads as a number."""
    path = tmp_path / "t.jsonl"
    rows = ('{"kind": 1, "zip": "01", "age": 31, "label": "a"}', '{"kind": 2, "zip": "x", "age": "32", "label": "b"}')
    path.write_text("\n".join(rows * 4))
    model = LinearClassifier().fit_stream(streams.open(path, categorical=("kind",)))
    assert model.learner_.space.format.words == ("zip",)
    parts = model.explain({"kind": 1, "zip": "01", "age": "31"}).parts
    assert {part.name for part in parts} == {"kind=1", "zip=01", "age"}
