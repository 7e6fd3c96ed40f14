"""Lists of files with broken lines, and where they end."""

import json
import subprocess
import sys

import numpy as np
import pytest

from perceptive import streams
from test_list_files import read, run

pytestmark = pytest.mark.core


def test_lists_end_with_their_file(tmp_path):
    one, two = tmp_path / "1.svm", tmp_path / "2.svm"
    one.write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    two.write_text("0 qid:1 1:1\n1 qid:1 2:1\n0 qid:1 3:1\n")
    names, sizes, stream = read(one, two)
    assert (names, sizes) == ([1, 1], [2, 3])
    assert not stream.log.remarks


def test_a_query_that_comes_back_is_told(tmp_path, capsys):
    path = tmp_path / "back.svm"
    path.write_text(
        "1 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:1\n# so\n\n0 qid:2 2:1\n1 qid:1 1:1\n0 qid:1 3:1\n1 qid:2 1:1\n"
    )
    names, sizes, _ = read(path)
    assert (names, sizes) == ([1, 2, 1, 2], [2, 2, 2, 1])
    code, _, err = run(capsys, "train", path, "--task", "rank", "-o", tmp_path / "m.model")
    assert code == 0, err
    assert err.count("query 1 comes back on line 7, as another list") == 1
    assert "query 2" not in err
    with open(path, "rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "perceptive", "eval", str(tmp_path / "m.model"), "-"],
            stdin=file,
            capture_output=True,
        )
    assert b"query 1 comes back by line 9" in done.stderr  # a pipe cannot be looked at again


@pytest.mark.parametrize(
    ("broken", "kept"),
    [
        ("1 qid:2 1:x", [1, 3]),
        ("1 qid:2 1:x\n" * 40 + "# more\n\n" + "1 qid:2 1:y", [1, 3]),
        ("1 qid:9 1:x", [1, 2, 2, 3]),  # a list of its own stands between
        ("nonsense", [1, 3]),
        ("nonsense\n" * 50 + "nonsense", [1, 3]),
    ],
)
@pytest.mark.parametrize("block", [12, 40, 60, 1 << 20])
def test_a_list_with_a_broken_line_is_left_out(tmp_path, capsys, monkeypatch, broken, kept, block):
    from perceptive.streams import blocks

    path, model = tmp_path / "broken.svm", tmp_path / "m.model"
    ends = ("1 qid:1 1:1\n0 qid:1 2:1\n", "0 qid:3 1:1\n1 qid:3 2:1\n")
    path.write_text(f"{ends[0]}1 qid:2 1:1\n0 qid:2 2:1\n{broken}\n0 qid:2 3:1\n{ends[1]}")
    (tmp_path / "sound.svm").write_text("".join(ends))
    with pytest.raises(ValueError, match=r"broken.svm:5:"):
        read(path)
    monkeypatch.setattr(blocks, "BLOCK", block)
    names, _, stream = read(path, on_error="skip")
    assert names == kept
    assert stream.log.skipped == 1
    assert stream.log.complaints[0].startswith(f"{path}:5:")
    assert run(capsys, "train", tmp_path / "sound.svm", "--task", "rank", "-o", model)[0] == 0
    code, out, err = run(capsys, "rank", model, path, "--on-error", "skip")
    assert code == 0
    assert "skipped: " in err
    lines = out.split("\n")[:-1]
    assert [bool(line) for line in lines] == (
        [True, False, True] if len(kept) == 2 else [True, True, False, True, True]
    )


def test_a_skipped_list_of_json_has_its_line(tmp_path, capsys):
    good = json.dumps({"candidates": [{"a": 1}, {"b": 1}], "best": 1})
    broken = json.dumps({"candidates": [{"a": 1}, {"b": float("nan")}], "best": 1})
    path, model = tmp_path / "some.jsonl", tmp_path / "m.model"
    path.write_text("\n".join(["{", good, broken, "[]", good, "{"]) + "\n")
    assert run(capsys, "train", path, "--task", "rank", "-o", model, "--on-error", "skip", "--bits", 8)[0] == 0
    _, out, _ = run(capsys, "rank", model, path, "--on-error", "skip")
    assert [bool(line) for line in out.split("\n")[:-1]] == [False, True, False, False, True, False]
    _, out, _ = run(capsys, "rank", model, path, "--on-error", "skip", "--json")
    assert [json.loads(line) is None for line in out.splitlines()] == [True, False, True, True, False, True]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"candidates": [{"a": 1}, {"b": 1}], "grades": [1, ' + "9" * 400 + "]}", "must be a list of 2 numbers"),
        ('{"candidates": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"candidates": [{"a": 1}, {"b": 1}], "grades": [-1e308, 1e308]}', "differ by more than any number"),
        ('{"candidates": [{"a": 1}, {"b": 1}], "grades": [0, 1], "best": 0}', 'both "best" and "grades"'),
    ],
)
def test_bad_lines_of_json_have_their_place(tmp_path, line, message):
    path = tmp_path / "bad.jsonl"
    good = json.dumps({"candidates": [{"a": 1}, {"b": 1}], "best": 1, "qid": 5})
    path.write_text(f"{good}\n{line}\n")
    with pytest.raises(ValueError, match=rf"bad.jsonl:2: .*{message}"):
        read(path)
    names, _, stream = read(path, on_error="skip")
    assert (names, stream.log.skipped) == ([5], 1)


def test_unknown_keys_are_named(tmp_path):
    path = tmp_path / "keys.jsonl"
    path.write_text('{"candidates": [{"a": 1}], "grade": [1]}\n' * 3)
    _, _, stream = read(path)
    said = f'{path}:1: "grade": ignored; a list has only candidates, best, grades, qid, weight'
    assert list(stream.log.remarks.values()) == [said]


def test_a_feature_may_be_called_label(tmp_path):
    path = tmp_path / "label.jsonl"
    path.write_text('{"candidates": [{"label": 2, "a": 1}, {"label": "x"}], "best": 0}\n')
    from perceptive.streams.lists import read_lists

    [part] = read_lists(streams.open(path, bits=16))
    assert np.diff(part.examples.indptr).tolist() == [2, 1]


def test_certify_leaves_out_features_that_were_never_met(tmp_path, capsys):
    (tmp_path / "a.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    (tmp_path / "b.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1 7:1\n")
    model = tmp_path / "m.model"
    assert run(capsys, "train", tmp_path / "a.svm", "--task", "rank", "-o", model)[0] == 0
    code, out, err = run(capsys, "certify", model, tmp_path / "b.svm", "--json")
    assert code == 0, err
    assert json.loads(out)["certificate"]["updates"] == 1


def test_weights_that_have_overflowed_are_not_saved(tmp_path, capsys):
    path, model = tmp_path / "huge.svm", tmp_path / "m.model"
    path.write_text("1 qid:1 1:3e38\n0 qid:1 1:-3e38\n1 qid:2 1:-3e38\n0 qid:2 1:3e38\n")
    code, _, err = run(capsys, "train", path, "--task", "rank", "-o", model, "--dtype", "float32")
    assert code != 0
    assert "the weights have overflowed" in err
    assert not model.exists()


@pytest.mark.parametrize("block", [12, 25, 1 << 20])
def test_a_line_of_nobody_spoils_both_neighbours(tmp_path, monkeypatch, block):
    from perceptive.streams import blocks

    path = tmp_path / "between.svm"
    text = "".join(f"1 qid:{q} 1:1\n0 qid:{q} 2:1\n" for q in range(4))
    path.write_text(f"so\n{text[:48]}so\n{text[48:]}so\n")
    monkeypatch.setattr(blocks, "BLOCK", block)
    names, sizes, stream = read(path, on_error="skip")
    assert (names, sizes, stream.log.skipped) == ([], [], 4)
