"""Sentences that nobody has labelled, or only in part: left out and counted, never learned as if nothing were there."""

import json

import pytest

from command_line import perceptive
from perceptive import load
from perceptive.data import sentence_files

ANSWERED = [
    {"text": "Ada met Bob.", "label": [[0, 3, "PER"], [8, 11, "PER"]]},
    {"text": "They met again.", "label": []},
]
WAITING = [{"text": "Ada met Grace.", "label": None}, {"text": "Grace left."}]
TRAIN = ("--task", "tag", "--template", "word", "--quiet")
WORDS = ("--task", "tag", "--template", "word", "--encoding", "none", "--rule", "perceptron")


def lines(path, records):
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def treebank(path, *sentences):
    """A file of CoNLL-U: words and their UPOS."""
    rows = [
        "\n".join(f"{i}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_" for i, (word, tag) in enumerate(tokens, 1))
        for tokens in sentences
    ]
    path.write_text("\n\n".join(rows) + "\n\n")
    return path


SPACY = [[one["text"], {} if one.get("label") is None else {"entities": one["label"]}] for one in ANSWERED + WAITING]
PRODIGY = [
    {
        "text": text,
        **({"spans": [dict(zip(("start", "end", "label"), one, strict=True)) for one in of["entities"]]} if of else {}),
    }
    for text, of in SPACY
]


@pytest.mark.parametrize("records", [ANSWERED + WAITING, SPACY, PRODIGY], ids=["doccano", "spacy", "prodigy"])
def test_texts_that_nobody_has_labelled_are_left_out_and_counted(records, tmp_path):
    path, model = lines(tmp_path / "notes.jsonl", records), tmp_path / "a.model"
    told = json.loads(perceptive("train", path, *TRAIN, "-o", model, "--json").stdout)
    assert (told["data"]["examples"], told["data"]["unanswered"]) == (2, 2)
    assert told["data"]["tokens"] == 8
    assert "without answer" in perceptive("train", path, *WORDS, "-o", model).stdout
    alone = lines(tmp_path / "alone.jsonl", records[:2])
    perceptive("train", alone, *WORDS, "--quiet", "-o", tmp_path / "b.model")
    assert model.read_bytes() == (tmp_path / "b.model").read_bytes()
    told = json.loads(perceptive("eval", model, path, "--json").stdout)
    assert (told["data"]["examples"], told["data"]["unanswered"]) == (2, 2)
    shown, before = (perceptive("eval", model, file).stdout for file in (path, alone))
    assert shown == before + "without answer: 2 sentences\n"
    for command in ("certify", "inspect"):
        options = (model, path) if command == "certify" else (model,)
        assert (
            perceptive(command, *options).stdout
            == perceptive(command, *[alone if o == path else o for o in options]).stdout
        )
    assert sentence_files.read(path) == sentence_files.read(alone)
    assert len(perceptive("tag", model, path).stdout.splitlines()) == 4


def test_null_beside_a_key_that_says_the_spans(tmp_path):
    path = lines(tmp_path / "a.jsonl", [{"text": "Ada left", "label": None, "entities": [[0, 3, "PER"]]}])
    assert sentence_files.read(path)[1] == [["B-PER", "O"]]


def test_where_nobody_has_labelled_any_text_that_is_said(tmp_path):
    path, model = lines(tmp_path / "a.jsonl", WAITING), tmp_path / "a.model"
    said = 'the texts have no labels (unlabelled sentences: 2); write spans as "label": [[start, end, label], …]'
    assert said in perceptive("train", path, *TRAIN, "-o", model, code=1).stderr
    with pytest.raises(ValueError, match="the texts have no labels"):
        sentence_files.read(path)
    perceptive("train", lines(tmp_path / "b.jsonl", ANSWERED), *TRAIN, "-o", model)
    for command in ("eval", "certify"):
        assert said in perceptive(command, model, path, code=1).stderr
    follow = ("train", path, "--task", "tag", "--follow", "-o", tmp_path / "c.model")
    assert "no sentences with answers have arrived" in perceptive(*follow, code=1).stderr


def test_what_is_converted_still_waits_for_its_labels(tmp_path):
    path = lines(tmp_path / "a.jsonl", ANSWERED + WAITING)
    for to, bare in (("doccano", {}), ("prodigy", {}), ("spacy", [])):
        out = tmp_path / f"{to}.jsonl"
        perceptive("convert", path, out, "--to", to)
        third = json.loads(out.read_text().splitlines()[2])
        assert third == (["Ada met Grace.", {}] if bare == [] else {"text": "Ada met Grace."})
        assert sentence_files.read(out) == sentence_files.read(path)
    for out in ("a.conll", "a.conllu", "a.ann"):
        done = perceptive("convert", path, tmp_path / out)
        assert "left out, since they have no labels: 2 of 4; label them first" in done.stderr
        assert "Grace" not in (tmp_path / out).with_suffix(".txt" if out == "a.ann" else f".{out[2:]}").read_text()
    bare = lines(tmp_path / "bare.jsonl", WAITING)
    assert perceptive("convert", bare, "-").stdout.startswith("Ada\t_\nmet\t_\nGrace\t_\n.\t_\n\n")
    (tmp_path / "bare.conll").write_text("Ada\t_\nleft\t_\n")
    said = "the column -1 has no labels: every label is _; name the label column with --label-column"
    assert said in perceptive("train", tmp_path / "bare.conll", *TRAIN, "-o", tmp_path / "m", code=2).stderr


def test_a_column_of_a_treebank_without_labels_is_refused_wherever_it_is_read(tmp_path):
    good = treebank(tmp_path / "a.conllu", [("Ada", "PROPN"), ("left", "VERB")], [("Yes", "INTJ")])
    bad, model = treebank(tmp_path / "b.conllu", [("Ada", "_"), ("left", "_")], [("Yes", "_")]), tmp_path / "a.model"
    perceptive("train", good, *TRAIN, "-o", model)
    said = "the column upos has no labels: every label is _; name the label column with --label-column"
    for command in (("train", bad, *TRAIN, "-o", tmp_path / "m"), ("eval", model, bad), ("certify", model, bad)):
        assert said in perceptive(*command, code=2).stderr
    xpos = ("train", good, *TRAIN, "--label-column", "xpos", "-o", tmp_path / "m")
    assert "the column xpos has no labels" in perceptive(*xpos, code=2).stderr
    with pytest.raises(ValueError, match="the column upos has no labels: every label is _"):
        sentence_files.read(bad)
    assert len(perceptive("tag", model, bad).stdout.split()) == 30
    assert perceptive("convert", bad, "-").stdout == "Ada\t_\nleft\t_\n\nYes\t_\n\n"


def test_labels_that_are_not_known_are_free_and_no_class(tmp_path):
    some = treebank(
        tmp_path / "a.conllu", [("Ada", "PROPN"), ("left", "_")], [("Yes", "_")], [("Bob", "PROPN"), ("sat", "VERB")]
    )
    model = tmp_path / "a.model"
    assert sentence_files.read(some)[1] == [["PROPN", None], ["PROPN", "VERB"]]
    told = json.loads(perceptive("train", some, *TRAIN, "-o", model, "--json").stdout)
    assert (told["data"]["examples"], told["data"]["unanswered"]) == (2, 1)
    assert sorted(load(model).classes_) == ["PROPN", "VERB"]
    told = json.loads(perceptive("eval", model, some, "--json").stdout)
    assert told["data"]["tokens"] == 3
    rerank = ("train", some, some, "--task", "rerank", "--base", model, "--folds", "2", "-o", tmp_path / "r", "--json")
    assert json.loads(perceptive(*rerank).stdout)["data"]["unanswered"] == 2
    perceptive("eval", tmp_path / "r", some)


def test_an_entry_that_a_token_does_not_have_is_a_label(tmp_path):
    """``feats.Case`` of a verb is ``_`` because verbs have none."""
    path = tmp_path / "a.conllu"
    path.write_text(
        "1\tShe\t_\t_\t_\tCase=Nom\t_\t_\t_\t_\n2\tleft\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\tYes\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    )
    assert sentence_files.read(path, label="feats.Case")[1] == [["Nom", "_"], ["_"]]
