"""Files that are likely to be misread are told of."""

import bz2
import io
import lzma
import zipfile

import pandas as pd
import pytest

from command_line import perceptive


@pytest.mark.parametrize(
    ("name", "text", "options", "said"),
    [
        ("a.tsv", "label\ttext\npos\tgood\nneg\tbad\n", ["--text"], "a.tsv: the first line looks like a header, and"),
        ("a.csv", "x;y\n1,5;a\n-2,25;b\n", ["--label", "y"],
         "a.csv: the numbers of column 'x' have a comma for a point, such as 1,5, and are read as words; write them"),
        ("a.csv", "x,y\n" + "".join(f"{i % 7},{i}.0\n" for i in range(40)), ["--label", "y"],
         "this looks like regression: the labels of 40 examples are 40 different numbers; name the column of the cl"),
        ("a.tsv", "".join(f"text number {i}\tpos\n" for i in range(40)), ["--text"],
         "40 examples have 40 different labels, such as 'text number 0': hardly one is met twice; check which column"),
    ],
)  # fmt: skip
def test_what_is_odd_is_noted(name, text, options, said, tmp_path):
    (tmp_path / name).write_text(text)
    done = perceptive("train", name, *options, "-o", "m", "--quiet", cwd=tmp_path)
    assert f"note: {said}" in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("a.tsv", "label\tgood text\nneg\tbad\n", ["--text"]),
        ("a.csv", 'x;n;y\n1,5;1;a\n2;2;b\n"1,5";;a\n', ["--label", "y"]),  # a list of numbers, perhaps
        ("a.csv", "x,y\n" + "".join(f"{i % 7},{i % 12}\n" for i in range(40)), ["--label", "y"]),
        ("a.tsv", "".join(f"c{i % 12}\tw{i % 12}\n" for i in range(40)), ["--text"]),
        ("a.csv", 'x,y\n"a\n', ["--label", "y", "--on-error", "skip", "--classes", "a,b"]),
    ],
)
def test_what_is_not_odd_passes_in_silence(name, text, options, tmp_path):
    (tmp_path / name).write_text(text)
    done = perceptive("train", name, *options, "-o", "m", "--quiet", cwd=tmp_path, code=None)
    assert "note:" not in done.stderr


def test_a_table_without_a_header(tmp_path):
    (tmp_path / "a.csv").write_text("1.5,2,a\n2.5,3,b\n")
    done = perceptive("train", "a.csv", "-o", "m", cwd=tmp_path, code=2)
    assert "but '1.5', '2', 'a' (the first line must name the columns); say which with --label" in done.stderr


@pytest.mark.parametrize("weights", ["malign=2", "benign=1,malign=2"])
def test_a_weight_of_no_class_is_refused(weights, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,benign\n2,malignant\n")
    done = perceptive("train", "a.csv", "--label", "y", "--class-weight", weights, "-o", "m", cwd=tmp_path, code=2)
    assert "no example has the label 'malign', but 'benign', 'malignant'; check --class-weight" in done.stderr
    assert not (tmp_path / "m").exists()


def test_json_lines_without_the_label(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"x": 1, "kind": "a"}\n{"x": 2, "kind": "b"}\n')
    done = perceptive("train", "a.jsonl", "-o", "m", cwd=tmp_path, code=2)
    assert "there is no key 'label' for the label but 'x', 'kind'; say which with --label" in done.stderr


def zipped(text):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.csv", text)
    return file.getvalue()


@pytest.mark.parametrize(
    ("pack", "said"),
    [
        (zipped, "a zip archive, as Excel's files are"),
        (bz2.compress, "packed by bzip2"),
        (lambda data: bz2.compress(data, 1), "packed by bzip2"),
        (lzma.compress, "packed by xz"),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_archives_are_told_by_their_first_bytes(pack, said, name, tmp_path):
    (tmp_path / name).write_bytes(pack(b"x,y\n1,a\n2,b\n"))
    done = perceptive("train", name, "--label", "y", "-o", "m", cwd=tmp_path, code=1)
    assert f"{name}: is {said}; unpack it, or save it as text" in done.stderr


def test_so_is_parquet_whatever_its_name_says(tmp_path):
    pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}).to_parquet(tmp_path / "a.csv")
    perceptive("train", "a.csv", "--label", "y", "-o", "m", "--quiet", cwd=tmp_path)
    assert perceptive("predict", "m", "a.csv", cwd=tmp_path).stdout == "a\nb\n"
