"""Columns of tables that are no plain features: an index, texts, codes of which some are numbers, what is missing."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import perceptive
from command_line import perceptive as command
from perceptive import LinearClassifier, streams

rng = np.random.default_rng(3)
CODES = pd.DataFrame({"code": rng.choice([*map(str, range(100, 130)), "V10", "V11", "280b"], 600)})
OF_CODE = dict(zip(sorted(set(CODES.code)), rng.permutation(33) % 2, strict=True))
CODES["label"] = ["ab"[OF_CODE[code]] for code in CODES.code]
TEXTS = pd.DataFrame(
    {"body": [f"row {i} is {'good' if i % 2 else 'bad'}" for i in range(60)], "label": ["n", "y"] * 30}
)
FORMATS = ("csv", "tsv", "jsonl", "parquet")


def write(frame, path):
    """A file of a table, whose end says the format; numbers that a string holds are numbers in JSON."""
    end = path.suffix[1:]
    if end in ("csv", "tsv"):
        frame.to_csv(path, index=False, sep="\t" if end == "tsv" else ",")
    elif end == "parquet":
        frame.to_parquet(path)
    else:
        rows = [{k: int(v) if v.isdigit() else v for k, v in row.items()} for row in frame.to_dict("records")]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def accuracy(model, data, *options):
    return json.loads(command("eval", model, data, "--json", *options).stdout)["metrics"]["accuracy"]


@pytest.mark.parametrize("options", [[], ["--scale", "none"], ["--kernel", "linear"]], ids=["", "none", "kernel"])
@pytest.mark.parametrize("end", ["csv", "tsv", "jsonl"])
def test_codes_of_which_some_are_numbers_are_words(end, options, tmp_path):
    path = write(CODES, tmp_path / f"t.{end}")
    done = command("train", path, "-o", tmp_path / "m", "--epochs", "20", "--quiet", *options)
    assert done.stderr.startswith("note: column 'code' has numbers and words, such as ")
    assert "as if it were declared categorical; to read numbers, leave the words out" in done.stderr
    for other in FORMATS:
        assert accuracy(tmp_path / "m", write(CODES, tmp_path / f"o.{other}")) == 1.0


def test_a_column_of_numbers_keeps_them_beside_a_mark_or_a_slip(tmp_path):
    for others in (["?"] * 30, ["1O", "2O"]):  # a single word; rare ones
        values = [*map(str, range(300)), *others]
        frame = pd.DataFrame({"x": values, "label": ["a", "b"] * (len(values) // 2)})
        clf = LinearClassifier(epochs=1).fit_stream(write(frame, tmp_path / "t.csv"))
        assert clf.learner_.space.format.words == ()
        assert "x" in clf.learner_.space.format.scaling.names
    frame = frame.assign(x=["0", "1x", "2x"] + ["0"] * (len(frame) - 3))  # of which two are not rare
    assert LinearClassifier(epochs=1).fit_stream(write(frame[:150], tmp_path / "t.csv")).learner_.space.format.words


def test_standard_input_has_such_columns_too(tmp_path):
    done = command("train", "-", "-o", tmp_path / "m", "--quiet", input=CODES.to_csv(index=False))
    assert "note: column 'code' has numbers and words" in done.stderr


@pytest.mark.parametrize("options", [[], ["--kernel", "linear"]], ids=["linear", "kernel"])
@pytest.mark.parametrize("end", FORMATS)
def test_texts_that_are_taken_for_words_are_told_of(end, options, tmp_path):
    path = write(TEXTS, tmp_path / f"t.{end}")
    done = command("train", path, "-o", tmp_path / "m", "--quiet", *options)
    said = "column 'body' has a different text in nearly every row, each read as one category; read it as text with"
    assert f"t.{end}: {said} --text-column body" in done.stderr
    done = command("train", path, "--text-column", "body", "-o", tmp_path / "m", "--quiet", *options)
    assert "column 'body'" not in done.stderr


def test_the_option_that_is_named_can_be_copied_into_a_shell(tmp_path):
    rows = "".join(f'"this is the text {i}",{i % 2}\n' for i in range(40))
    (tmp_path / "t.csv").write_text('"Message, full",label\n' + rows)
    done = command("train", tmp_path / "t.csv", "-o", tmp_path / "m", "--quiet")
    assert "--text-column 'Message, full' (Python" in done.stderr


def test_texts_of_candidates_are_told_of(tmp_path):
    lists = [
        {"candidates": [{"body": f"this is text {i}"}, {"body": f"that is text {i}"}], "best": 0} for i in range(9)
    ]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lists))
    done = command("train", tmp_path / "t.jsonl", "--task", "rank", "-o", tmp_path / "m", "--quiet")
    assert "column 'body' has a different text in nearly every row" in done.stderr


def test_fit_stream_warns_of_them(tmp_path):
    path = write(TEXTS, tmp_path / "t.parquet")
    with pytest.warns(UserWarning, match="column 'body' has a different text"):
        LinearClassifier().fit_stream(path)
    assert LinearClassifier().fit_stream(streams.open(path, text_column="body")).score(TEXTS, TEXTS.label) == 1.0


@pytest.mark.parametrize(("end", "what"), [("parquet", "a Parquet or Arrow file"), ("jsonl", "a file of JSON lines")])
def test_tables_are_not_lines_of_text(end, what, tmp_path):
    path = write(TEXTS, tmp_path / f"t.{end}")
    done = command("train", path, "--text", "-o", tmp_path / "m", code=2)
    said = f"t.{end}: is {what}, and not labelled text; read it as a table, and name the column of the texts by"
    assert f"{said} --text-column" in done.stderr
    with pytest.raises(ValueError, match=f"{said} text_column"):
        LinearClassifier().fit_stream(streams.open(path, format="text"))


def test_a_parquet_file_is_no_csv(tmp_path):
    done = command("train", write(TEXTS, tmp_path / "t.parquet"), "--format", "csv", "-o", tmp_path / "m", code=2)
    assert "t.parquet: is a Parquet or Arrow file, and not csv; give --format" in done.stderr


@pytest.mark.parametrize("index", [range(60), range(1, 61), rng.permutation(60), [f"row {i}" for i in range(60)]])
@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_an_index_is_left_out(end, index, tmp_path):
    frame, plain, named = TEXTS.set_index(pd.Index(index)), tmp_path / f"plain.{end}", tmp_path / f"t.{end}"
    write(TEXTS, plain)
    frame.to_csv(named) if end == "csv" else pa.parquet.write_table(
        pa.Table.from_pandas(frame, preserve_index=True), named
    )
    called = "the column without a name" if end == "csv" else "column '__index_level_0__'"
    how = ["--label", "label", "-o", tmp_path / "m", "--quiet"]
    done = command("train", named, *how)
    assert f"note: {named}: {called} numbers or names the rows, and is left out; rename it to keep it" in done.stderr
    model = perceptive.load(tmp_path / "m")
    assert model.learner_.space.header == ("body",)
    assert model.predict(TEXTS).tolist() == model.predict(frame).tolist() == model.predict(frame.reset_index()).tolist()
    for other in (plain, named, write(TEXTS, tmp_path / "o.jsonl")):  # which need not have it
        done = command("eval", tmp_path / "m", other)
        assert done.stderr == ""
    assert command("train", plain, *how, "--continue", tmp_path / "m").stderr == ""


def test_what_has_no_name_and_is_no_index_is_a_feature(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",x,label\n" + "".join(f"{i % 5},{i * 7 % 3},{'ab'[i % 5 > 2]}\n" for i in range(60)))
    assert command("train", path, "-o", tmp_path / "m", "--quiet").stderr == ""
    assert "\n''" in command("inspect", tmp_path / "m").stdout
    (tmp_path / "o.csv").write_text("x,label\n1,a\n")
    lacks = "o.csv lacks columns that the model has learned from: ''"
    assert lacks in command("predict", tmp_path / "m", tmp_path / "o.csv").stderr
    assert command("train", path, "-o", tmp_path / "m", "--ignore", "", "--quiet").stderr == ""
    assert perceptive.load(tmp_path / "m").learner_.space.header == ("x",)


@pytest.mark.parametrize("value", [str, int])
def test_what_has_no_name_is_the_same_feature_in_json_lines(value, tmp_path):
    frame = pd.DataFrame({"": [value(i % 3) for i in range(60)], "x": [i * 7 % 5 for i in range(60)]})
    frame["label"] = ["ab"[i % 3 == 0] for i in range(60)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    command("train", tmp_path / "t.csv", "--categorical", "", "-o", tmp_path / "m", "--quiet")
    outputs = {command("predict", tmp_path / "m", tmp_path / f"t.{one}", "--scores").stdout for one in ("csv", "jsonl")}
    assert len(outputs) == 1
    assert [line.split("\t")[0] for line in outputs.pop().splitlines()] == frame.label.tolist()


def test_what_is_missing_in_a_frame_is_missing_for_models_of_json_lines(tmp_path):
    frame = pd.DataFrame({"x": np.where(np.arange(60) % 2, np.nan, 1.5), "c": ["u", "v", None] * 20})
    frame["label"] = np.where(frame.x.isna(), "gone", "there")
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    command("train", tmp_path / "t.jsonl", "--missing", "indicator", "-o", tmp_path / "m", "--quiet")
    model = perceptive.load(tmp_path / "m")
    rows = model.decision_function(frame.to_dict("records"))
    for examples in (frame, pa.Table.from_pandas(frame)):
        assert model.decision_function(examples).tolist() == rows.tolist()
        assert model.score(examples, frame.label) == 1.0
