"""A model knows its columns and its format."""

import json

import pytest

from command_line import perceptive

ROWS = [{"size": i % 7, "colour": ["red", "blue"][i % 2], "label": ["yes", "no"][i % 2]} for i in range(40)]


def write(folder, name, rows):
    path = folder / name
    if name.endswith((".jsonl", ".js")):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif name.endswith((".parquet", ".pq")):
        pd = pytest.importorskip("pandas")
        pd.DataFrame(rows).to_parquet(path)
    else:
        delimiter = "\t" if name.endswith(".tsv") else ","
        lines = [delimiter.join(map(str, row.values())) for row in rows]
        path.write_text("\n".join([delimiter.join(rows[0]), *lines]) + "\n")
    return path


NAMES = ["t.csv", "t.tsv", "t.parquet", "t.jsonl", "t.pq", "t.js"]


@pytest.mark.parametrize("trained", ["t.csv", "t.tsv", "t.parquet", "t.jsonl"])
def test_tables_of_every_format_are_read(trained, tmp_path):
    """Extension and first bytes stand above the format that the model remembers; features are the same."""
    model = tmp_path / "m"
    perceptive("train", write(tmp_path, trained, ROWS), "-o", model, "--quiet", "--epochs", 5)
    expected = perceptive("predict", model, tmp_path / trained, "--scores").stdout
    for name in NAMES:
        path = write(tmp_path, name, ROWS)
        assert perceptive("predict", model, path, "--scores").stdout == expected, name
        told = json.loads(perceptive("eval", model, path, "--json").stdout)
        assert told["metrics"]["accuracy"] == 1.0
    text = write(tmp_path, "t.csv", ROWS).read_text()
    if trained.endswith("csv"):
        assert perceptive("predict", model, "-", "--scores", input=text).stdout == expected


def test_a_text_model_reads_tables_and_json(tmp_path):
    texts = [{"label": ["spam", "ham"][i % 2], "text": ["win money", "see you"][i % 2]} for i in range(10)]
    path = tmp_path / "mail.tsv"
    path.write_text("".join(f"{row['label']}\t{row['text']}\n" for row in texts))
    perceptive("train", path, "--text", "-o", tmp_path / "m", "--quiet")
    expected = perceptive("predict", tmp_path / "m", path, "--scores").stdout
    for name in ("t.csv", "t.parquet", "t.jsonl"):
        assert perceptive("predict", tmp_path / "m", write(tmp_path, name, texts), "--scores").stdout == expected
    said = perceptive("predict", tmp_path / "m", write(tmp_path, "t.csv", ROWS), code=1).stderr
    assert "call the column or key of the text 'text'" in said
    told = perceptive("predict", tmp_path / "m", "-", "--unlabelled", input="xyzzy\n")
    assert told.stdout.strip() in ("spam", "ham")
    assert "the model knows none of the features" in told.stderr


@pytest.mark.parametrize("name", ["rows.svm", "rows.txt", "rows"])
def test_svmlight_is_never_read_as_a_table(name, tmp_path):
    perceptive("train", write(tmp_path, "t.csv", ROWS), "-o", tmp_path / "m", "--quiet")
    (tmp_path / name).write_text("1 1:0.5 3:2\n-1 2:1\n1 3:1\n")
    for command in ("predict", "eval"):
        said = perceptive(command, tmp_path / "m", tmp_path / name, code=1).stderr
        assert "the model has learned from csv files, and cannot read svmlight; give csv, arrow or json files" in said


def test_a_column_of_numbers_is_a_table(tmp_path):
    rows = [{"x": i % 2, "label": i % 2} for i in range(20)]
    perceptive("train", write(tmp_path, "t.csv", rows), "-o", tmp_path / "m", "--quiet")
    assert perceptive("predict", tmp_path / "m", "-", input="x\n1\n0\n").stdout == "1\n0\n"


@pytest.mark.parametrize("kernel", [[], ["--kernel", "poly(2)"]])
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_columns_that_are_missing(name, kernel, tmp_path):
    rows = [{**row, "zip": i % 3, "junk": 1} for i, row in enumerate(ROWS)]
    options = ["--categorical", "zip", "--ignore", "junk"] if name == "t.csv" else []
    perceptive("train", write(tmp_path, name, rows), "-o", tmp_path / "m", "--quiet", *options, *kernel)
    path = write(tmp_path, "some" + name, [{"size": 1, "colour": "red"}])
    for command in ("predict", "explain"):
        told = perceptive(command, tmp_path / "m", path)
        assert "lacks columns that the model has learned from: zip" in told.stderr
        assert ("junk" in told.stderr) == (name != "t.csv")
    path = write(tmp_path, "none" + name, [{"length": 1, "label": "yes"}])
    for command in ("predict", "eval"):
        said = perceptive(command, tmp_path / "m", path, code=1).stderr
        assert f"none{name}: the data has none of the columns that the model learned from, 'size'" in said


def test_features_that_are_all_new(tmp_path):
    (tmp_path / "t.svm").write_text("1 1:1 2:1\n0 3:1\n" * 10)
    perceptive("train", tmp_path / "t.svm", "-o", tmp_path / "m", "--quiet")
    (tmp_path / "new.svm").write_text("1 7:1\n0 9:1\n")
    assert "knows none of the features" in perceptive("predict", tmp_path / "m", tmp_path / "new.svm", code=1).stderr
    (tmp_path / "new.svm").write_text("1 7:1\n0 1:1 9:1\n0\n")
    assert len(perceptive("predict", tmp_path / "m", tmp_path / "new.svm").stdout.splitlines()) == 3
    (tmp_path / "t.vw").write_text("1 | a b\n-1 | c d\n" * 10)
    perceptive("train", tmp_path / "t.vw", "-o", tmp_path / "m", "--quiet")
    (tmp_path / "new.vw").write_text("1 | x y\n-1 | z\n")
    assert "knows none of the features" in perceptive("eval", tmp_path / "m", tmp_path / "new.vw", code=1).stderr


def test_frames_without_the_columns(tmp_path):
    pd = pytest.importorskip("pandas")
    from perceptive import load

    perceptive("train", write(tmp_path, "t.csv", ROWS), "-o", tmp_path / "m", "--quiet")
    clf = load(tmp_path / "m")
    with pytest.warns(UserWarning, match="X lacks columns that the model has learned from: 'colour'"):
        clf.predict(pd.DataFrame({"size": [1]}))
    with pytest.raises(
        ValueError, match="the data has none of the columns that the model learned from, 'size', 'colour'"
    ):
        clf.predict(pd.DataFrame({"length": [1]}))
