"""A label of a table means the same in every kind of file, whatever a model has learned from."""

import json

import numpy as np
import pytest

from perceptive import LinearClassifier, load, save, streams
from perceptive.cli import main
from perceptive.streams import FileFormat
from test_values import write

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

N = 24
FILES = ("csv", "jsonl", "parquet")
MOMENTS = pd.to_datetime(["2020-01-01 12:00:00", "2020-01-02 00:00:00", "2020-01-01 12:00:00.5"], format="ISO8601")
LABELS = {  # each kind has three values
    "int": [3, 7, -1],
    "float": [0.5, 2.0, -1.5],
    "word": ["ham", "spam", "dark meat"],
    "boolean": [True, False, True],
    "digits": ["1", "2", "10"],
    "code": ["07", "08", "10"],
    "words and digits": ["1", "2", "none"],
    "blanks": ["Debian Science Maintainers ", " b", "c"],
    "moment": MOMENTS,
    "day": MOMENTS.date,
    "category": pd.Categorical(["a", "b", "c"]),
    "categorical digits": pd.Categorical(["1", "2", "3"]),
    "categorical int": pd.Categorical([1, 2, 3]),
    "NA": ["NA", "red", "blue"],
    "null": ["null", "nan", "red"],
    "infinite": ["inf", "-Infinity", "1e999"],
    "long": ["9007199254740993", "9007199254740992", "1"],
    "empty": ["", "red", "blue"],
}


def table(kind):
    which = np.arange(N) % 3
    frame = pd.DataFrame({"v": which * 1.5 - 1.5, "beside": np.array(["a", "b", "c"])[which]})
    frame["label"] = pd.Series(LABELS[kind]).iloc[which].reset_index(drop=True)
    return frame


def run(capsys, *words):
    assert main([str(word) for word in words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("source", FILES)
@pytest.mark.parametrize("kind", [kind for kind in LABELS if kind != "null"])
def test_a_model_of_one_kind_of_file_is_evaluated_on_all_of_them(kind, source, tmp_path, capsys):
    frame, model = table(kind), tmp_path / "m"
    run(capsys, "train", write(frame, tmp_path / f"old.{source}"), "-o", model, "--epochs", 10)
    classes = load(model).classes_.tolist()
    for target in FILES:
        new = write(frame, tmp_path / f"new.{target}")
        told = json.loads(run(capsys, "eval", model, new, "--json"))
        assert told["metrics"]["accuracy"] == 1.0, (target, told)
        assert told["data"]["examples"] == N - (kind in ("NA", "empty")) * N // 3
        run(capsys, "train", new, "--continue", model, "-o", tmp_path / "more")
        assert load(tmp_path / "more").classes_.tolist() == classes, target


@pytest.mark.parametrize("source", FILES)
def test_labels_are_missing_as_values_are(source, tmp_path):
    _, y = streams.load(write(table("null"), tmp_path / f"t.{source}"))
    assert y.tolist() == [None, None, "red"] * (N // 3)
    _, y = streams.load(write(table("moment"), tmp_path / f"t.{source}"))
    assert y.tolist()[:3] == ["2020-01-01 12:00:00", "2020-01-02", "2020-01-01 12:00:00.5"]


def test_types_of_labels_are_believed(tmp_path):
    expected = {"csv": [7, 8, 10], "jsonl": ["07", "08", "10"], "parquet": ["07", "08", "10"]}
    for kind, labels in expected.items():
        _, y = streams.load(write(table("code"), tmp_path / f"t.{kind}"))
        assert y.tolist()[:3] == labels
    for kind in FILES:
        _, y = streams.load(tmp_path / f"t.{kind}", categorical=("label",))
        assert y.tolist()[:3] == ["07", "08", "10"]


@pytest.mark.parametrize("source", FILES)
def test_codes_that_are_one_number_can_be_kept_apart(source, tmp_path, capsys):
    frame = table("code").assign(label=["007", "7", "1e3"] * (N // 3))
    path, model = write(frame, tmp_path / f"t.{source}"), tmp_path / "m"
    for how in (["--categorical", "label"], ["--classes", "007,7,1e3"]):
        run(capsys, "train", path, "-o", model, "--epochs", 10, *how)
        assert sorted(load(model).classes_.tolist()) == ["007", "1e3", "7"]
        assert json.loads(run(capsys, "eval", model, path, "--json"))["metrics"]["accuracy"] == 1.0
        for target in FILES:
            new = write(frame, tmp_path / f"new.{target}")
            assert json.loads(run(capsys, "eval", model, new, "--json"))["metrics"]["accuracy"] == 1.0


def test_one_number_in_two_spellings_is_noted_with_the_cure(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,label\n" + "1,007\n2,7\n3,8\n" * 4)
    assert main(["train", str(tmp_path / "t.csv"), "-o", str(tmp_path / "m")]) == 0
    assert "name the column of the label in --categorical" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("source", FILES)
@pytest.mark.parametrize("option", ["--class-weight=1=2,2=0.5", "--classes=1,2,10"])
def test_labels_that_options_name_are_those_of_the_files(source, option, tmp_path, capsys):
    path = write(table("digits"), tmp_path / f"t.{source}")
    run(capsys, "train", path, "-o", tmp_path / "m", "--epochs", 10, option)
    assert load(tmp_path / "m").classes_.tolist() == [1, 2, 10]
    assert json.loads(run(capsys, "eval", tmp_path / "m", path, "--json"))["metrics"]["accuracy"] == 1.0


def test_texts_and_tables_have_the_same_labels(tmp_path, capsys):
    """Labels of text files are words; a table has them as numbers."""
    (tmp_path / "t.txt").write_text("1\tspam spam\n0\tham eggs\n" * 9)
    (tmp_path / "t.csv").write_text("text,label\n" + "spam spam,1\nham eggs,0\n" * 9)
    (tmp_path / "t.jsonl").write_text('{"text": "spam spam", "label": 1}\n{"text": "ham eggs", "label": "0"}\n' * 9)
    run(capsys, "train", "--text", tmp_path / "t.txt", "-o", tmp_path / "m", "--epochs", 5)
    for name in ("t.txt", "t.csv", "t.jsonl"):
        assert json.loads(run(capsys, "eval", tmp_path / "m", tmp_path / name, "--json"))["metrics"]["accuracy"] == 1.0


@pytest.mark.parametrize("source", FILES)
def test_models_from_before_read_the_labels_of_their_files_as_they_did(source, tmp_path, capsys):
    """A model file without ``labels`` has the rules of each format in its day."""
    frame = table("int").assign(label=["Debian Science Maintainers ", "NA", "07"] * (N // 3))
    path = write(frame, tmp_path / f"t.{source}")
    meta = FileFormat(name={"jsonl": "json", "parquet": "arrow"}.get(source, source)).to_meta()
    assert meta.pop("labels") == "typed"
    before = FileFormat.from_meta(meta)
    assert (before.labels, "labels" in before.to_meta()) == (None, False)
    _, y = streams.load(path, format=before)
    blanks = "Debian Science Maintainers" + " " * (source != "csv")
    assert y.tolist()[:3] == [blanks, "NA", "07"] if source == "jsonl" else [blanks, None, 7]


def test_labels_given_in_python_stay_what_they_are(tmp_path):
    frame = table("code")
    for y in (["07 ", "NA", "inf"] * 8, [1, -1, 3] * 8):
        model = LinearClassifier(epochs=5).fit(frame[["v", "beside"]], y)
        assert {*model.classes_.tolist()} == {*y}
        save(model, tmp_path / "m")
        assert {*load(tmp_path / "m").predict(frame[["v", "beside"]]).tolist()} == {*y}
