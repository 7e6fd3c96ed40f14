"""Files that are likely to be misread are told of."""

import bz2
import io
import json
import lzma
import zipfile

import pandas as pd
import pytest

from command_line import perceptive


@pytest.mark.parametrize(
    ("name", "text", "options", "said"),
    [
        ("a.tsv", "label\ttext\npos\tgood\nneg\tbad\n", ["--text"], "a.tsv: the first line looks like a header, but"),
        ("a.csv", "x;y\n1,5;a\n-2,25;b\n", ["--label", "y"],
         "a.csv: the numbers of column 'x' have a decimal comma, such as 1,5, and are read as words; write them"),
        ("a.csv", "x,y\n10%,a\n20.5 %,b\n", ["--label", "y"],
         "a.csv: the numbers of column 'x' have a sign or a unit, such as 10%, and are read as words; write the num"),
        ("a.csv", "x;y\n$5;a\n$1,200.50;b\n", ["--label", "y"], "a.csv: the numbers of column 'x' have a sign or a"),
        ("a.csv", "x,y\n1,yes\n2,no\n3,Yes\n", ["--label", "y"],
         "the labels 'Yes' and 'yes' differ only in capitals or blanks, and are two classes; if they are one, write"),
        ("a.csv", "x,y\n1,a b\n2,no\n3,a  b\n", ["--label", "y", "--kernel", "linear"],
         "the labels 'a  b' and 'a b' differ only in capitals or blanks"),
        ("a.csv", "x,y\n" + "".join(f"{i % 7},{i}.0\n" for i in range(40)), ["--label", "y"],
         "this looks like regression: the labels of 40 examples are 40 different numbers; name the column of the cl"),
        ("a.tsv", "".join(f"text number {i}\tpos\n" for i in range(40)), ["--text"],
         "40 examples have 40 different labels, such as 'text number 0': hardly any occurs twice; check which column"),
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
        ("a.csv", "x,y\n1%,a\nlow,A\nlow,b\n", ["--label", "y"]),  # letters may be told apart
        ("a.tsv", "".join(f"c{i % 12}\tw{i % 12}\n" for i in range(40)), ["--text"]),
        ("a.csv", 'x,y\n"a\n', ["--label", "y", "--on-error", "skip", "--classes", "a,b"]),
    ],
)
def test_what_is_not_odd_passes_in_silence(name, text, options, tmp_path):
    (tmp_path / name).write_text(text)
    done = perceptive("train", name, *options, "-o", "m", "--quiet", cwd=tmp_path, code=None)
    assert "note:" not in done.stderr


@pytest.mark.parametrize("mark", "|:")
def test_another_delimiter_is_told(mark, tmp_path):
    (tmp_path / "a.csv").write_text("x,label\n1,a\n2,b\n".replace(",", mark))
    done = perceptive("train", "a.csv", "-o", "m", cwd=tmp_path, code=2)
    assert f"no column 'label' for the label; there are 'x{mark}label'; give --delimiter {mark}\n" in done.stderr
    perceptive("train", "a.csv", "-o", "m", "--delimiter", mark, "--quiet", cwd=tmp_path)


def test_a_table_without_a_header(tmp_path):
    (tmp_path / "a.csv").write_text("1.5,2,a\n2.5,3,b\n")
    done = perceptive("train", "a.csv", "-o", "m", cwd=tmp_path, code=2)
    assert "there are '1.5', '2', 'a' (the first line must name the columns); say which with --label" in done.stderr


@pytest.mark.parametrize("weights", ["malign=2", "benign=1,malign=2"])
def test_a_weight_of_no_class_is_refused(weights, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,benign\n2,malignant\n")
    done = perceptive("train", "a.csv", "--label", "y", "--class-weight", weights, "-o", "m", cwd=tmp_path, code=2)
    assert "no example has the label 'malign', but 'benign', 'malignant'; check --class-weight" in done.stderr
    assert not (tmp_path / "m").exists()


def test_json_lines_without_the_label(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"x": 1, "kind": "a"}\n{"x": 2, "kind": "b"}\n')
    done = perceptive("train", "a.jsonl", "-o", "m", cwd=tmp_path, code=2)
    assert "there is no key 'label' for the label; there are 'x', 'kind'; say which with --label" in done.stderr


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('n,label\n"1,234",a\n"12,345",b\n',
         "a.csv: the numbers of column 'n' have a comma, such as 1,234, and are read as words; write thousands "),
        ("desc,label\n" + "".join(f"the text of number {i},{'ab'[i % 2]}\n" for i in range(20)),
         "a.csv: column 'desc' has a different text in nearly every row, each read as one category; read it as text "),
    ],
)  # fmt: skip
def test_columns_that_are_misread(text, said, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    assert f"note: {said}" in perceptive("train", "a.csv", "-o", "m", "--quiet", cwd=tmp_path).stderr


def test_files_with_other_columns(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,label\n1,2,x\n3,1,y\n")
    (tmp_path / "b.csv").write_text("a,B,label\n1,2,x\n3,1,y\n")
    done = perceptive("train", "a.csv", "b.csv", "-o", "m", "--quiet", cwd=tmp_path)
    assert "note: b.csv: lacks 'b' and has 'B', unlike the files before it; give the same" in done.stderr
    (tmp_path / "b.csv").write_text("label,b,a\nx,2,1\n")
    assert "note" not in perceptive("train", "a.csv", "b.csv", "-o", "m", "--quiet", cwd=tmp_path).stderr


def test_tables_that_are_followed_are_not_scaled(tmp_path):
    table = "x,label\n1,a\n2,b\n"
    common = ["train", "--follow", "-", "--format", "csv", "-o", tmp_path / "m", "--quiet"]
    told = "note: numbers are not scaled, since that needs a pass over the data first; to scale them"
    assert told in perceptive(*common, input=table).stderr
    assert told not in perceptive(*common, "--scale", "none", input=table).stderr


@pytest.mark.parametrize(
    ("line", "options", "note"),
    [
        ({"x": 1, "label": "a"}, [], True),
        ({"text": "one two", "label": "a"}, [], False),
        ({"candidates": [{"x": 1}, {"x": 2}], "best": 0}, ["--task", "rank"], True),
        ({"candidates": [{"text": "one"}, {"text": "two"}], "best": 0}, ["--task", "rank"], False),
    ],
)
def test_so_it_is_said_of_json_and_of_lists(tmp_path, line, options, note):
    common = ["train", "--follow", "-", "--format", "json", "-o", tmp_path / "m", "--quiet", *options]
    done = perceptive(*common, input=json.dumps(line) + "\n")
    assert ("note: numbers are not scaled" in done.stderr) == note


def test_tables_without_the_label(tmp_path):
    (tmp_path / "a.csv").write_text("x,kind\n1,a\n2,b\n")
    (tmp_path / "b.csv").write_text("x,sort\n1,a\n2,b\n")
    perceptive("train", "a.csv", "--label", "kind", "-o", "m", "--quiet", "--epochs", 2, cwd=tmp_path)
    for command in ("eval", "certify"):
        done = perceptive(command, "m", "b.csv", cwd=tmp_path, code=1)
        assert "there is no column 'kind' for the label; there are 'x', 'sort'; rename the one that is" in done.stderr


def test_certify_tells_of_a_part_that_may_have_been_held_out_and_of_weights(tmp_path):
    (tmp_path / "a.csv").write_text("x,label\n" + "".join(f"{i},{'ab'[i > 9]}\n" for i in range(20)))
    perceptive("train", "a.csv", "-o", "m", "--quiet", "--holdout", 0.2, cwd=tmp_path)
    assert "if part of them was held out" in perceptive("certify", "m", "a.csv", cwd=tmp_path).stderr
    for how in ([], ["--epochs", 1], ["--kernel", "linear"]):
        perceptive("train", "a.csv", "-o", "m", "--quiet", "--class-weight", "a=2", *how, cwd=tmp_path)
        said = perceptive("certify", "m", "a.csv", cwd=tmp_path).stderr
        assert "if classes had weights (--class-weight), train with --certify" in said
    perceptive("train", "a.csv", "-o", "m", "--quiet", cwd=tmp_path)
    assert "held out" not in perceptive("certify", "m", "a.csv", cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--every", "5s"], "--every has no effect without --checkpoint"),
        (["--time-limit", "5s"], "--time-limit has no effect without --cluster"),
        (["--kernel", "poly(2)", "--forget", "oldest"], "--forget has no effect without --budget"),
        (["--max-voters", "3"], "--max-voters has no effect without --keep all, or --hypothesis best"),
        (["--multiclass", "ovr", "--reference", "c"], "--reference c is not one of the classes ['a', 'b']"),
    ],
)
def test_options_that_need_others(options, said, tmp_path):
    (tmp_path / "a.csv").write_text("x,label\n1,a\n2,b\n")
    assert said in perceptive("train", "a.csv", "-o", "m", *options, cwd=tmp_path, code=2).stderr


def test_options_that_have_the_others(tmp_path):
    (tmp_path / "a.csv").write_text("x,label\n1,a\n2,b\n3,c\n")
    for options in (["--max-voters", "3", "--hypothesis", "voted"], ["--multiclass", "ovr", "--reference", "c"]):
        perceptive("train", "a.csv", "-o", "m", *options, "--quiet", cwd=tmp_path)


def test_no_such_class(tmp_path):
    (tmp_path / "a.csv").write_text("x,label\n1,a\n2,b\n")
    perceptive("train", "a.csv", "-o", "m", "--quiet", cwd=tmp_path)
    for command in (["explain", "m", "a.csv"], ["inspect", "m"]):
        assert "no class 'c'" in perceptive(*command, "--class", "c", cwd=tmp_path, code=2).stderr


@pytest.mark.parametrize("options", [[], ["--kernel", "linear"], ["--follow"]])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_what_is_lacking_is_cured_by_what_the_run_takes(tmp_path, options, form):
    """A new model takes --label; one that goes on refuses it, so that the table is to be changed."""
    for name, label in (("a", "label"), ("b", "kind")):
        table = pd.DataFrame({"x": [1, 2, 3], label: ["u", "v", "u"]})
        if form == "csv":
            table.to_csv(tmp_path / f"{name}.csv", index=False)
        else:
            table.to_json(tmp_path / f"{name}.jsonl", orient="records", lines=True)
    what = "column" if form == "csv" else "key"
    lacks = f"there is no {what} 'label' for the label; there are 'x', 'kind'; "
    done = perceptive("train", f"b.{form}", "-o", "m", "--quiet", *options, cwd=tmp_path, code=2)
    assert lacks + "say which with --label, or rename it" in done.stderr
    perceptive("train", f"a.{form}", "-o", "m", "--quiet", *options, cwd=tmp_path)
    follow = [one for one in options if one == "--follow"]
    done = perceptive("train", f"b.{form}", "--continue", "m", "-o", "n", "--quiet", *follow, cwd=tmp_path, code=1)
    assert lacks + "rename the one that is meant" in done.stderr


def test_texts_are_suggested_where_lines_have_tabs(tmp_path):
    (tmp_path / "a.tsv").write_text("spam\tbuy now\nham\thello\n")
    done = perceptive("train", "a.tsv", "-o", "m", cwd=tmp_path, code=2)
    assert "say which with --label, or give --format text where lines are label TAB text" in done.stderr


@pytest.mark.parametrize(
    ("learned", "strange", "options"),
    [
        ("1 1:1\n0 2:1\n", "1 8:1\n0 9:1\n", []),
        ("1 1:1\n0 2:1\n", "1 8:1\n0 9:1\n", ["--kernel", "linear"]),
        ("1 qid:1 1:1\n0 qid:1 2:1\n", "1 qid:1 8:1\n0 qid:1 9:1\n", ["--task", "rank"]),
        ("1 qid:1 1:1\n0 qid:1 2:1\n", "1 qid:1 8:1\n0 qid:1 9:1\n", ["--task", "rank", "--kernel", "linear"]),
    ],
)
def test_features_that_no_model_knows_are_refused(tmp_path, learned, strange, options):
    (tmp_path / "a.svm").write_text(learned)
    (tmp_path / "b.svm").write_text(strange)
    perceptive("train", "a.svm", "-o", "m", "--quiet", *options, cwd=tmp_path)
    for command in ("rank" if "rank" in options else "predict", "eval"):
        done = perceptive(command, "m", "b.svm", cwd=tmp_path, code=1)
        assert "b.svm: the model knows none of the features; check that it was trained on such files" in done.stderr


def test_lists_with_none_of_the_columns_are_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"candidates": [{"x": 1, "y": 2}, {"x": 2}], "best": 0}\n')
    (tmp_path / "b.jsonl").write_text('{"candidates": [{"u": 1}, {"v": 2}], "best": 0}\n')
    (tmp_path / "c.jsonl").write_text('{"candidates": [{"x": 1}, {"x": 2}], "best": 0}\n')
    perceptive("train", "a.jsonl", "--task", "rank", "-o", "m", "--quiet", cwd=tmp_path)
    done = perceptive("rank", "m", "b.jsonl", cwd=tmp_path, code=1)
    assert "b.jsonl: the data has none of the columns that the model learned from, 'x', 'y'" in done.stderr
    done = perceptive("rank", "m", "c.jsonl", cwd=tmp_path)
    assert "warning: c.jsonl lacks columns that the model has learned from: y" in done.stderr


def test_numbers_that_begin_with_zeros_may_be_codes(tmp_path):
    rows = [f"{i % 30:03},{i},{'ab'[i % 30 > 9]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["family,size,label", *rows, "136A,1,a"]) + "\n")
    said = "t.csv: the numbers of column 'family' begin with zeros, such as 000; if they are codes, read them as words"
    assert f"note: {said} with --categorical family" in perceptive("train", "t.csv", "-o", "m", cwd=tmp_path).stderr
    for how in (["--categorical", "family"], ["--ignore", "family"]):
        assert "zeros" not in perceptive("train", "t.csv", *how, "-o", "m", cwd=tmp_path).stderr
    (tmp_path / "u.csv").write_text("x,y,label\n0,0.5,a\n10,00.5,b\n0,-0.25,a\n")
    assert "zeros" not in perceptive("train", "u.csv", "-o", "m", cwd=tmp_path).stderr


def test_texts_that_are_one_word_each_need_parts_of_words(tmp_path):
    names = [f"{a}{b}{c}" for a in "BDKLM" for b in "aeo" for c in ("ra", "lin")]
    rows = [("fm"[name.endswith("n")], name) for name in names]
    (tmp_path / "t.tsv").write_text("".join(f"{label}\t{name}\n" for label, name in rows))
    (tmp_path / "f.txt").write_text("".join(f"__label__{label} {name}\n" for label, name in rows))
    (tmp_path / "t.csv").write_text("label,name\n" + "".join(f"{label},{name}\n" for label, name in rows))
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"label": a, "text": b}) + "\n" for a, b in rows))
    for name, how in (("t.tsv", ["--text"]), ("f.txt", []), ("t.csv", ["--text-column", "name"]), ("t.jsonl", [])):
        done = perceptive("train", name, *how, "-o", "m", cwd=tmp_path)
        assert f"note: {name}: nearly every text is one word, which no other text has; learn from parts" in done.stderr
        done = perceptive("train", name, *how, "--chars", "2-4", "-o", "m", cwd=tmp_path)
        assert "one word" not in done.stderr
        assert "100.00%" in perceptive("eval", "m", name, cwd=tmp_path).stdout
        assert "one word" not in perceptive("train", name, "--continue", "m", "-o", "m", cwd=tmp_path).stderr
    (tmp_path / "z.tsv").write_text("".join(f"{'ab'[i % 2]}\t{chr(0x4E00 + i)}{chr(0x5000 + i)}\n" for i in range(40)))
    assert "one word" not in perceptive("train", "z.tsv", "--text", "-o", "m", cwd=tmp_path).stderr
