"""Columns that a model did not learn from, numbers that JSON has as strings, and values that are taken for others."""

import pytest

import perceptive as library
from command_line import perceptive
from perceptive.cli import main
from perceptive.streams import blocks

REVIEWS = (
    "label,body\ngood,great price and fast\nbad,slow and broken\ngood,nice price indeed\n"
    "bad,broken on arrival\ngood,the price was fair\nbad,slow slow slow\n"
)
NEW = "label,price,body\nbad,250,slow and broken\ngood,250,nice and fast\nbad,250,broken on arrival\n"
LINES = '{"label":"bad","price":250,"body":"slow and broken"}\n{"label":"good","price":250,"body":"nice and fast"}\n'


@pytest.mark.parametrize(("name", "text"), [("te.csv", NEW), ("te.jsonl", LINES)])
def test_a_column_never_learned_is_no_word_of_the_text(name, text, tmp_path):
    (tmp_path / "tr.csv").write_text(REVIEWS)
    (tmp_path / name).write_text(text)
    perceptive("train", "tr.csv", "--text-column", "body", "-o", "m", "--quiet", cwd=tmp_path)
    assert "accuracy  100.00%" in perceptive("eval", "m", name, cwd=tmp_path).stdout
    assert "price" not in perceptive("explain", "m", name, cwd=tmp_path).stdout
    model = library.load(str(tmp_path / "m"))
    rows = [{"body": "slow and broken"}, {"body": "nice and fast"}]
    more = [{**row, "price": 250} for row in rows]
    assert model.decision_function(more).tolist() == model.decision_function(rows).tolist()


def test_a_column_learned_later_is_read(tmp_path):
    (tmp_path / "a.csv").write_text("label,x\na,1\nb,-1\na,2\nb,-2\n")
    perceptive("train", "a.csv", "-o", "m", "--quiet", cwd=tmp_path)
    model = library.load(str(tmp_path / "m"))
    for _ in range(5):
        model.partial_fit([{"x": 0, "y": 5}, {"x": 0, "y": -5}], ["a", "b"])
    assert model.predict([{"x": 0, "y": 5}, {"x": 0, "y": -5}]).tolist() == ["a", "b"]


def test_numbers_as_strings_of_json(tmp_path):
    (tmp_path / "a.csv").write_text("size,label\n1,lo\n2,lo\n30,hi\n37,hi\n3,lo\n33,hi\n")
    (tmp_path / "numbers.jsonl").write_text('{"size":37,"label":"hi"}\n{"size":2,"label":"lo"}\n{"label":"lo"}\n')
    (tmp_path / "words.jsonl").write_text(
        '{"size":"37","label":"hi"}\n{"size":"2","label":"lo"}\n{"size":"NA","label":"lo"}\n'
    )
    perceptive("train", "a.csv", "-o", "m", "--quiet", cwd=tmp_path)
    found = [
        perceptive("predict", "m", name, "--scores", cwd=tmp_path).stdout for name in ("numbers.jsonl", "words.jsonl")
    ]
    assert found[0] == found[1]
    assert found[0].startswith("hi")


@pytest.mark.parametrize(
    ("name", "text", "options", "said"),
    [
        ("a.csv", b"place,n\nNA,3\nEU,8\nNA,3\nEU,6\nAS,1\n", ["--label", "place"],
         "a.csv:2:1: the label 'NA' is taken as missing (byte 8); 2 lines have such a label, and count as unlabelled;"),
        ("a.txt", b"yes\tcaf\xe9 cr\xe8me\nno\tth\xe9 noir\n", ["--text"],
         r"a.txt:1:8: the byte '\xe9' is not UTF-8 (byte 7); 2 lines have such bytes, and lose letters; convert the"),
        ("a.csv", b"drink,label\ntea,1\ncaf\xe9,2\n", [], r"a.csv:3:4: the byte '\xe9' is not UTF-8"),
        ("a.csv", b"n,label\n1,007\n2,7\n3,8\n", [], "a.csv:3:3: the label '7' is taken as a number"),
        ("a.csv", b"n,label\n1,100\n2,1E2\n3,8\n", [], "a.csv:3:3: the label '1E2' is taken as a number"),
    ],
)  # fmt: skip
def test_values_that_are_taken_for_others_are_told_of(name, text, options, said, tmp_path):
    (tmp_path / name).write_bytes(text)
    assert f"note: {said}" in perceptive("train", name, *options, "-o", "m", "--quiet", cwd=tmp_path).stderr


@pytest.mark.parametrize("options", [[], ["--kernel", "linear"]])
def test_codes_are_told_of_across_blocks_and_files(tmp_path, capsys, monkeypatch, options):
    monkeypatch.setattr(blocks, "BLOCK", 16)
    (tmp_path / "a.csv").write_text("n,label\n" + "1,007\n2,8\n" * 9)
    (tmp_path / "b.csv").write_text("n,label\n" + "1,7\n2,8\n" * 9)
    both = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    assert main(["train", *both, "-o", str(tmp_path / "m"), "--quiet", *options]) == 0
    said = "b.csv: the label '7' is taken as a number; 9 lines have a label that is written differently elsewhere"
    assert said in capsys.readouterr().err
    assert main(["train", *both[:1], "-o", str(tmp_path / "m"), "--quiet", *options]) == 0
    assert "note" not in capsys.readouterr().err


def test_numbers_that_are_codes_once_are_not_told_of(tmp_path):
    (tmp_path / "a.csv").write_text("n,label\n1,007\n2,1.0\n3,1\n1,007\n")
    assert "note" not in perceptive("train", "a.csv", "-o", "m", "--quiet", cwd=tmp_path).stderr


def test_a_number_beyond_all_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,label\n1e400,2,x\n-inf,4,y\n")
    done = perceptive("train", "a.csv", "-o", "m", cwd=tmp_path, code=1)
    assert "a.csv:2:1: value '1e400' is too large for float32; rescale" in done.stderr
