"""What is said where a file, a key or a column is not what was meant: the cure comes with it."""

import json

import pandas as pd
import pytest

from command_line import perceptive
from perceptive.games import PerceptronGame

NOTE = {"text": "Ada met Bob.", "label": [[0, 3, "PER"]]}


def test_texts_with_spans_are_for_taggers(tmp_path):
    (tmp_path / "d.jsonl").write_text((json.dumps(NOTE) + "\n") * 4)
    done = perceptive("train", tmp_path / "d.jsonl", "-o", tmp_path / "m", code=1)
    assert "d.jsonl: 'label' is a list, as texts with spans have it; train a tagger, --task tag" in done.stderr


def test_a_key_to_leave_out_that_is_not_there(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"size": 1, "at": {"x": 1}, "label": "a"}\n{"size": 2, "label": "b"}\n' * 5)
    done = perceptive("train", path, "--ignore", "sise", "-o", tmp_path / "m")
    assert "--ignore: the first lines have no 'sise', but 'size', 'at', 'label'; check it" in done.stderr
    assert "--ignore:" not in perceptive("train", path, "--ignore", "at", "-o", tmp_path / "m").stderr


def test_kernels_of_parts_do_not_take_tables(tmp_path):
    (tmp_path / "t.csv").write_text("text,label\nred ball,a\nblue sky,b\n")
    for more in ((), ("--task", "classify")):
        done = perceptive(
            "train", tmp_path / "t.csv", "--kernel", "spectrum(2)@text", *more, "-o", tmp_path / "m", code=2
        )
        assert "t.csv: kernels of strings, trees and parts take JSON lines, not csv; write an object a" in done.stderr


def test_the_last_column_is_called_so(tmp_path):
    (tmp_path / "t.conll").write_text("Ada\nleft\n\n")
    done = perceptive("train", tmp_path / "t.conll", "--task", "tag", "-o", tmp_path / "m", code=1)
    assert "t.conll:1: the last column cannot hold the label: there is one only" in done.stderr


def test_a_game_says_how_it_stands():
    game = PerceptronGame(u=[0, 1], margin=0.5, radius=2)
    game.round([1, 0.5], 1)
    assert repr(game) == "<PerceptronGame: γ = 0.5, R = 2, rounds 1, mistakes 1 of 16 at most>"


@pytest.mark.parametrize("tags", [["B-PER", "O"], [1, 0]])
def test_lines_of_tokens_name_the_tagger(tags, tmp_path):
    (tmp_path / "d.jsonl").write_text(json.dumps({"id": "3", "tokens": ["Ada", "left"], "ner_tags": tags}) + "\n")
    done = perceptive("train", "d.jsonl", "-o", "m", cwd=tmp_path, code=1)
    assert "d.jsonl: lines of tokens with a label for each ('ner_tags') are for taggers; give --task tag" in done.stderr
    labelled = [{"tokens": ["good", "film"], "tags": ["x", "y"], "label": y} for y in "ab"]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(one) + "\n" for one in labelled))
    perceptive("train", "d.jsonl", "-o", "m", "--quiet", cwd=tmp_path)


def write_table(folder, name, frame):
    if name == "d.csv":
        frame.to_csv(folder / name, index=False)
    elif name == "d.jsonl":
        frame.to_json(folder / name, orient="records", lines=True)
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(folder / name)


@pytest.mark.parametrize("name", ["d.csv", "d.jsonl", "d.parquet"])
def test_the_label_and_the_weight_cannot_be_left_out(name, tmp_path):
    write_table(tmp_path, name, pd.DataFrame({"label": ["a", "b"], "x": [1, 2], "w": [1, 2]}))
    for how in ([], ["--kernel", "linear"]):
        done = perceptive("train", name, "--ignore", "label", *how, "-o", "m", cwd=tmp_path, code=2)
        assert "--ignore: 'label' is the label, which training needs; leave it out of this list" in done.stderr
    done = perceptive("train", name, "--ignore", "w", "--weight", "w", "-o", "m", cwd=tmp_path, code=2)
    assert "or name another with --weight" in done.stderr


@pytest.mark.parametrize("name", ["d.csv", "d.jsonl", "d.parquet"])
def test_a_column_has_one_role(name, tmp_path):
    write_table(tmp_path, name, pd.DataFrame({"label": [1, 2], "t": ["good", "bad"], "w": [1, 2]}))
    for given, said in (
        (["--weight", "label"], "--weight: 'label' is the label, and cannot be the weight too"),
        (["--text-column", "label"], "--text-column: 'label' is the label, and cannot be the text too"),
        (["--text-column", "w", "--weight", "w"], "--text-column: 'w' is the weight, and cannot be the text too"),
        (["--text-column", "t", "--ignore", "t"], "--ignore: 't' is the text, which training needs"),
    ):
        assert said in perceptive("train", name, *given, "-o", "m", cwd=tmp_path, code=2).stderr
    perceptive("train", name, "--text-column", "t", "--weight", "w", "-o", "m", cwd=tmp_path)


def test_the_weight_of_json_lines_can_be_left_out(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"label": "a", "x": 1, "weight": 0}\n{"label": "b", "x": 2, "weight": 0}\n')
    assert "all examples have weight 0" in perceptive("train", "d.jsonl", "-o", "m", cwd=tmp_path, code=1).stderr
    perceptive("train", "d.jsonl", "--ignore", "weight", "-o", "m", cwd=tmp_path)
