"""Files of another kind than was asked for: what is said names the cause, and the cure."""

import json

import pandas as pd
import pytest

from command_line import perceptive

TAG = ("--task", "tag", "--template", "word", "--quiet")
NOTE = {"text": "Ada met Bob.", "label": [[0, 3, "PER"]]}
TOKENS = {"id": "0", "tokens": ["Ada", "left"], "ner_tags": ["B-PER", "O"]}
KAGGLE = "Sentence #,Word,POS,Tag\nSentence: 1,Thousands,NNS,O\n,of,IN,O\n,Iranians,NNS,B-gpe\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("d.json", json.dumps([NOTE, NOTE]), "d.json:1: is one JSON array; write a record a line, as jq -c '.[]' does"),
        ("d.json", json.dumps([NOTE], indent=1), "d.json:1: is one JSON array; write a record a line"),
        ("d.json", "[" + json.dumps(NOTE) + ",\n" + json.dumps(NOTE) + "]\n", "d.json:1: is one JSON array"),
        ("unnamed", json.dumps([NOTE, NOTE]), "unnamed:1: is one JSON array"),
        ("d.json", json.dumps([{"id": 1, "data": NOTE, "annotations": []}]), "is one JSON array"),
        (
            "d.jsonl",
            json.dumps({"id": 1, "data": NOTE, "annotations": []}),
            'there is no text, but "id", "data", "annotations"; write text, and its spans as one of label, labels',
        ),
        (
            "d.jsonl",
            json.dumps({**TOKENS, "ner_tags": [1, 0]}),
            "d.jsonl:1: ner_tags has the number 1 for a label; write its name: in a dataset of Hugging Face, names = ",
        ),
        ("unnamed", json.dumps({**TOKENS, "ner_tags": ["O"]}), "the record has 2 tokens, but ner_tags has 1; give"),
        ("d.jsonl", json.dumps({**TOKENS, "ner_tags": "O"}), "d.jsonl:1: ner_tags is no list; write {"),
        ("d.jsonl", json.dumps(TOKENS) + '\n{"tokens": [1]}', "d.jsonl:2: there is no list of tokens, all strings"),
        (
            "d.txt",
            "Ada,B-PER\nleft,O\n\nYes,O\n",
            "there is one only; give tokens and labels. If commas separate the columns, write tabs instead",
        ),
        (
            "d.csv",
            KAGGLE,
            "d.csv:3: 1 column where line 1 has 2; give every token the same columns. If commas separate the columns",
        ),
        (
            "d.csv",
            "text,label\nhello there,a\nmore words,b\n",
            "d.csv:2: 2 columns where line 1 has 1; give every token the same columns. If commas separate the columns",
        ),
        ("d.conll", "Ada B-PER\rleft O\r\rYes O\r", "d.conll: lines end with a carriage return; convert it, as tr"),
    ],
)
def test_files_that_are_no_sentences_in_columns(name, text, said, tmp_path):
    (tmp_path / name).write_bytes(text.encode())
    assert said in perceptive("train", tmp_path / name, *TAG, "-o", tmp_path / "m", code=1).stderr


def test_a_text_of_brat_without_its_spans(tmp_path):
    (tmp_path / "a.txt").write_text("Ada left.\n")
    (tmp_path / "a.ann").write_text("T1\tPER 0 3\tAda\n")
    for text in ("Rome\n", "Rome burns.\nYes.\n"):
        (tmp_path / "b.txt").write_text(text)
        done = perceptive("train", f"{tmp_path}/*.txt", *TAG, "-o", tmp_path / "m", code=1)
        said = f". If it is a text of brat, write its spans into {tmp_path / 'b.ann'}, which is empty if it has none"
        assert said in done.stderr
    told = perceptive("train", f"{tmp_path}/*.txt", *TAG, "--format", "brat", "-o", tmp_path / "m", "--json").stdout
    assert json.loads(told)["data"]["unanswered"] == 2
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone/c.txt").write_text("Rome\n")
    assert (
        "text of brat" not in perceptive("train", tmp_path / "alone/c.txt", *TAG, "-o", tmp_path / "m", code=1).stderr
    )


@pytest.mark.parametrize("name", ["a.csv", "a.svm", "a.vw", "a.jsonl", "a.tsv", "unnamed"])
def test_utf_16_and_the_line_ends_of_an_old_mac(name, tmp_path):
    path, train = tmp_path / name, ("train", tmp_path / name, "-o", tmp_path / "m")
    text = "colour,label\nred,1\nblue,2\nred,1\n"
    path.write_bytes(text.encode("utf-16"))
    said = f"{path}: is UTF-16; convert it, as iconv -f UTF-16 -t UTF-8 does"
    assert said in perceptive(*train, code=1).stderr
    path.write_bytes(text.replace("\n", "\r").encode())
    said = rf"{path}: lines end with a carriage return; convert it, as tr '\r' '\n' does"
    assert said in perceptive(*train, code=1).stderr
    path.write_bytes(text.replace("\n", "\r").encode("utf-16"))
    assert "is UTF-16" in perceptive(*train, code=1).stderr


def test_a_class_that_is_taken_for_missing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("size,label\n1,yes\n2,NA\n3,yes\n4,NA\n")
    said = "; 2 labels were taken as missing (empty, NA, NaN or null): a class needs another name"
    for kernel in ((), ("--kernel", "linear")):
        done = perceptive("train", path, "-o", tmp_path / "m", *kernel, code=1)
        assert "all examples have the label 'yes': a classifier needs at least two classes" + said in done.stderr
    path.write_text("size,label\n1,yes\n3,yes\n")
    assert "taken as missing" not in perceptive("train", path, "-o", tmp_path / "m", code=1).stderr


def test_texts_without_labels_are_told_of_the_option(tmp_path):
    path, bare = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_text("spam\tbuy it now\nham\tsee you\nspam\tbuy it\n")
    bare.write_text("buy it\n")
    perceptive("train", path, "--quiet", "-o", tmp_path / "m")
    done = perceptive("predict", tmp_path / "m", bare, code=1)
    assert "such lines out, and --unlabelled reads texts without labels" in done.stderr
    assert perceptive("predict", tmp_path / "m", bare, "--unlabelled").stdout == "spam\n"
    assert "--unlabelled" not in perceptive("train", bare, "--text", "-o", tmp_path / "n", code=1).stderr


def test_lists_of_candidates_are_told_of_the_ranker(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"candidates": [{"a": 1}, {"b": 1}], "best": 0}\n')
    done = perceptive("train", path, "-o", tmp_path / "m", code=2)
    assert "no key 'label'" in done.stderr
    assert "learn a ranker (--task rank)" in done.stderr
    perceptive("train", path, "-o", tmp_path / "m", "--task", "rank", "--quiet")


@pytest.mark.parametrize("end", ["csv", "parquet", "jsonl"])
def test_another_table_is_told_by_its_columns(end, tmp_path):
    trained, other = tmp_path / "a.csv", tmp_path / f"b.{end}"
    trained.write_text("size,label\n1,a\n2,b\n")
    perceptive("train", trained, "-o", tmp_path / "m", "--quiet")
    frame = pd.DataFrame({"length": [1.0, 2.0], "colour": ["red", "blue"]})
    if end == "jsonl":
        frame.to_json(other, orient="records", lines=True)
    else:
        frame.to_parquet(other) if end == "parquet" else frame.to_csv(other, index=False)
    for command in ("predict", "eval", "explain"):
        said = perceptive(command, tmp_path / "m", other, code=1).stderr
        assert "none of the columns that the model learned from, 'size'; there are 'colour', 'length'" in said


def test_grades_for_which_ndcg_is_not_defined(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("-1 qid:1 1:1\n1 qid:1 2:1\n-1 qid:2 1:1\n2 qid:2 2:1\n")
    perceptive("train", path, "--task", "rank", "--quiet", "-o", tmp_path / "m")
    shown = perceptive("eval", tmp_path / "m", path).stdout
    assert "not defined for negative grades; add a number to all of them, so that the lowest is 0" in shown
    path.write_text("1 qid:1 1:1\n1 qid:1 2:1\n")
    shown = perceptive("eval", tmp_path / "m", path).stdout
    assert "not defined: no list has a candidate that is better than another" in shown


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("1 1:1e20\n-1 1:1e20 2:1e20\n", ()),
        ("1 qid:1 1:3e38\n0 qid:1 1:-3e38\n1 qid:2 1:-3e38\n0 qid:2 1:3e38\n", ("--task", "rank")),
    ],
)
def test_data_that_overflow_are_no_wrong_usage(text, how, tmp_path):
    path = tmp_path / "a.svm"
    path.write_text(text)
    done = perceptive("train", path, "--rule", "perceptron", "-o", tmp_path / "m", *how, code=1)
    assert "the weights have overflowed; rescale the features, or use --dtype float64" in done.stderr
    assert "--help" not in done.stderr
