"""What is said where a file, a key or a column is not what was meant: the cure comes with it."""

import json

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
