"""JSON lines of tokens and labels, as datasets of Hugging Face are written."""

import json

import pytest

from command_line import perceptive
from perceptive import SequenceTagger, load
from perceptive.data.sentence_files import read

SENTENCES = [(["EU", "rejects", "calls"], ["B-ORG", "O", "O"]), (["Ada", "met", "EU"], ["B-PER", "O", "B-ORG"])] * 10


def write(path, key="ner_tags", **more):
    lines = [json.dumps({"id": "1", "tokens": x, key: y, **more}) for x, y in SENTENCES]
    path.write_text("\n".join(lines) + "\n")
    return path


def columns(path):
    path.write_text("".join("".join(f"{a}\t{b}\n" for a, b in zip(*one, strict=True)) + "\n" for one in SENTENCES))
    return path


@pytest.mark.parametrize("key", ["ner_tags", "tags", "labels", "pos_tags"])
def test_they_are_the_sentences_of_a_file_in_columns(key, tmp_path):
    path, same = write(tmp_path / "t.jsonl", key), columns(tmp_path / "t.conll")
    assert read(path) == read(same)
    for name in ("t.jsonl", "t.conll"):
        perceptive("train", tmp_path / name, "--task", "tag", "--quiet", "-o", tmp_path / f"{name}.model")
    one, other = (load(tmp_path / f"{name}.model") for name in ("t.jsonl", "t.conll"))
    assert one.learner_.fingerprint == other.learner_.fingerprint
    told = [perceptive("eval", tmp_path / "t.jsonl.model", file).stdout for file in (path, same)]
    assert "FB1: 100.00" in told[0] == told[1]
    assert perceptive("tag", tmp_path / "t.jsonl.model", path).stdout == path.read_text()


def test_the_key_of_the_labels_is_chosen_and_remembered(tmp_path):
    path = write(tmp_path / "t.jsonl", chunk_tags=["X", "Y", "Z"])
    perceptive("train", path, "--task", "tag", "--label-column", "chunk_tags", "--quiet", "-o", tmp_path / "m")
    assert sorted(load(tmp_path / "m").classes_) == ["X", "Y", "Z"]
    assert "accuracy: 100.00%" in perceptive("eval", tmp_path / "m", path).stdout


def test_what_is_tagged_needs_no_labels_and_is_read_back(tmp_path):
    perceptive("train", write(tmp_path / "t.jsonl"), "--task", "tag", "--quiet", "-o", tmp_path / "m")
    for tags in ({}, {"ner_tags": [3, 0]}, {"ner_tags": None}):
        (tmp_path / "new.jsonl").write_text(json.dumps({"tokens": ["Ada", "met"], **tags}) + "\n")
        done = perceptive("tag", tmp_path / "m", tmp_path / "new.jsonl", "--json").stdout
        (tmp_path / "back.jsonl").write_text(done)
        assert read(tmp_path / "back.jsonl") == ([[("Ada",), ("met",)]], [["B-PER", "O"]])
    perceptive("convert", tmp_path / "t.jsonl", tmp_path / "t.conll")
    assert read(tmp_path / "t.conll") == read(tmp_path / "t.jsonl")


def test_they_are_written_as_they_came_with_the_labels_found(tmp_path):
    path, model, new = write(tmp_path / "t.jsonl"), tmp_path / "m", tmp_path / "new.jsonl"
    perceptive("train", path, "--task", "tag", "--holdout", "0.2", "--quiet", "-o", model)

    def tagged(record, *how):
        new.write_text(json.dumps(record) + "\n")
        return [json.loads(line) for line in perceptive("tag", model, new, *how).stdout.splitlines()]

    told = {"id": "Ä", "tokens": ["Ada", "met"], "about": {"n": [1]}}
    right = ["B-PER", "O"]
    for tags in ({"ner_tags": [3, 0]}, {"tags": ["O", "O"]}, {"pos_tags": None}):
        [key] = tags
        assert tagged({**told, **tags}) == [{**told, key: right}]
    assert list(tagged({"ner_tags": [], **told})[0]) == ["ner_tags", "id", "tokens", "about"]
    assert tagged(told) == [{**told, "labels": right}]
    assert "Ä" in perceptive("tag", model, new).stdout
    assert tagged(told, "--label-column", "mine") == [{**told, "mine": right}]
    [sure] = tagged(told, "--margin", "--proba")
    assert sure.keys() - told.keys() == {"labels", "margin", "probability"}
    best = tagged(told, "--kbest", "2")
    assert best[0]["labels"] == right
    assert best[0]["score"] > best[1]["score"]
    assert perceptive("tag", model, new, "--spans").stdout == "0\t1\tPER\tAda\n\n"
    told = perceptive("tag", model, path, columns(tmp_path / "t.conll"), code=2).stderr
    assert "the files are of several formats (conll, tokens); tag them separately" in told


def test_their_weights(tmp_path):
    path = write(tmp_path / "t.jsonl", importance=0.5)
    done = perceptive("train", path, "--task", "tag", "--weight", "importance", "--quiet", "-o", tmp_path / "m", code=0)
    assert done.stderr == ""
    path.write_text(path.read_text().replace("0.5", '"x"', 1))
    done = perceptive("train", path, "--task", "tag", "--weight", "importance", "-o", tmp_path / "m", code=1)
    assert "t.jsonl:1: importance is 'x'; a weight is a finite number" in done.stderr


def test_the_columns_of_a_dataset_are_sentences_and_labels():
    X, y = ([one[i] for one in SENTENCES] for i in (0, 1))
    assert SequenceTagger().fit(X, y).score(X, y) == 1.0


def test_columns_that_they_do_not_have_are_refused(tmp_path):
    path, notes = write(tmp_path / "t.jsonl", pos_tags=["N", "V", "N"]), tmp_path / "notes.jsonl"
    notes.write_text('{"text": "Ada met EU", "label": [[0, 3, "PER"]]}\n')
    train = ("--task", "tag", "--quiet", "-o", tmp_path / "m")
    for file, asked in ((path, "tokens,pos_tags"), (path, "0,1"), (notes, "0,1")):
        told = perceptive("train", file, *train, "--columns", asked, code=2).stderr
        assert f"--columns {asked}: {file} has words, and no other columns; leave it out" in told
    perceptive("train", path, *train, "--columns", "0")
    assert "has words" in perceptive("tag", tmp_path / "m", path, "--columns", "0,1", code=2).stderr


def test_the_key_of_the_labels_may_be_named_where_they_are_tagged(tmp_path):
    path = write(tmp_path / "t.jsonl")
    perceptive("train", path, "--task", "tag", "--quiet", "-o", tmp_path / "m")
    told = [perceptive("tag", tmp_path / "m", path, *how).stdout for how in ((), ("--label-column", "ner_tags"))]
    assert told[0] == told[1]
    missing = ("train", path, "--task", "tag", "-o", tmp_path / "x", "--label-column", "names")
    told = perceptive(*missing, code=2).stderr
    assert "no record has labels under the key 'names'; name the one that has them with --label-column" in told
