"""What is said of sentences and lists that a model, or a metric, cannot make much of."""

import json

import pytest

from command_line import perceptive
from perceptive.data.documents import Slips, sentences_of
from perceptive.streams.documents import Document, Span, parse


def test_labels_of_spans_survive_columns_of_universal_dependencies(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "Ada met Bob.", "label": [[0, 3, "PER"], [8, 11, "PER"]]}\n')
    perceptive("convert", tmp_path / "a.jsonl", tmp_path / "a.conllu")
    perceptive("convert", tmp_path / "a.conllu", tmp_path / "a.conll")
    assert (tmp_path / "a.conll").read_text().split() == ["Ada", "B-PER", "met", "O", "Bob", "B-PER", ".", "O"]


def test_labels_that_the_tagger_does_not_know_are_told(tmp_path):
    (tmp_path / "pos.conll").write_text("the DT\ndog NN\n\na DT\ncat NN\n")
    (tmp_path / "other.conll").write_text("the DET\ndog NOUN\n")
    (tmp_path / "ner.conll").write_text("Ada B-PER\nleft O\n")
    perceptive("train", tmp_path / "pos.conll", "--task", "tag", "-o", tmp_path / "m", "--quiet")
    done = perceptive("eval", tmp_path / "m", tmp_path / "other.conll")
    assert "note: the model knows none of the labels: the data has 'DET', 'NOUN', the model 'DT', 'NN'" in done.stderr
    assert "the data has 'PER'" in perceptive("eval", tmp_path / "m", tmp_path / "ner.conll").stderr
    assert "note" not in perceptive("eval", tmp_path / "m", tmp_path / "pos.conll").stderr
    perceptive("train", tmp_path / "ner.conll", "--task", "tag", "-o", tmp_path / "n", "--quiet")
    (tmp_path / "strange.conll").write_text("Ada B-PER\nleft X\n")
    assert "note" not in perceptive("eval", tmp_path / "n", tmp_path / "strange.conll").stderr


def test_why_mean_average_precision_is_not_defined(tmp_path):
    (tmp_path / "a.svm").write_text("5 qid:1 1:1\n1 qid:1 2:1\n")
    perceptive("train", tmp_path / "a.svm", "--task", "rank", "-o", tmp_path / "m", "--quiet")
    shown = perceptive("eval", tmp_path / "m", tmp_path / "a.svm").stdout
    assert "MAP      not defined: every grade is above 0; candidates with grades above 0 are the relevant ones" in shown


def test_spans_that_are_none_are_called_so():
    slips = Slips()
    sentences_of(Document("Ada  left", [Span(3, 5, "PER")]), slips=slips)
    with pytest.warns(UserWarning, match="spans in which there is no token: 1, left out"):
        slips.tell("warn")
    for ends, said in (((3, 0), "ends before it begins"), ((0, 30), "does not lie within")):
        with pytest.raises(ValueError, match=said):
            parse(json.dumps({"text": "Ada left", "label": [[*ends, "PER"]]}), "a", 1)


def test_spans_under_two_keys():
    found = parse('{"text": "Ada left", "label": [], "entities": [[0, 3, "PER"]]}', "a", 1)
    assert (found.key, found.spans) == ("entities", [Span(0, 3, "PER")])
    with pytest.raises(ValueError, match="a:1: both label and entities have spans; keep one of them"):
        parse('{"text": "Ada", "label": [[0, 3, "A"]], "entities": [[0, 3, "B"]]}', "a", 1)


def test_marks_of_documents_have_as_many_columns_as_tokens(tmp_path):
    lines = ["-DOCSTART- O\n\n", *[f"{name} B-PER\nleft O\n\n" for name in ("Ada", "Bob", "Eve", "Dan") * 5]]
    (tmp_path / "a.conll").write_text("".join(lines))
    perceptive("train", tmp_path / "a.conll", "--task", "tag", "--holdout", "0.2", "-o", tmp_path / "m", "--quiet")
    for more in (["--proba"], ["--margin"], ["--proba", "--margin"]):
        shown = perceptive("tag", tmp_path / "m", tmp_path / "a.conll", *more).stdout
        assert len({len(line.split()) for line in shown.splitlines() if line}) == 1


def test_comments_that_look_like_tokens_are_told(tmp_path):
    names = "Ada NNP B-PER\nmet VBD O\n\n"
    (tmp_path / "a.conll").write_text(names * 2 + "# id 7\n" + names)
    told = perceptive("train", tmp_path / "a.conll", "--task", "tag", "-o", tmp_path / "m", "--quiet").stderr
    assert "a.conll:7: read as a token '#' with the label '7', which no other token has (1 such lines)" in told
    (tmp_path / "a.conll").write_text(names * 2 + "# NN O\n" + names)
    assert not perceptive("train", tmp_path / "a.conll", "--task", "tag", "-o", tmp_path / "m", "--quiet").stderr


def test_more_columns_than_were_learned_from(tmp_path):
    """Of what `tag` has written the last column are its own labels, which are always right."""
    (tmp_path / "a.conll").write_text("Ada B-PER\nmet O\nBob B-PER\n\n" * 3)
    (tmp_path / "b.conll").write_text("Ada O\nmet B-PER\nBob B-PER\n\n")
    perceptive("train", tmp_path / "a.conll", "--task", "tag", "-o", tmp_path / "m", "--quiet")
    (tmp_path / "c.conll").write_text(perceptive("tag", tmp_path / "m", tmp_path / "b.conll").stdout)
    done = perceptive("eval", tmp_path / "m", tmp_path / "c.conll")
    said = "the data have 3 columns, the model has learned from 2; column 2 is taken for the labels; --label-column"
    assert "FB1: 100.00" in done.stdout
    assert said in done.stderr
    done = perceptive("eval", tmp_path / "m", tmp_path / "c.conll", "--label-column", "1")
    assert "FB1: 100.00" not in done.stdout.splitlines()[1]
    assert not done.stderr
    assert not perceptive("eval", tmp_path / "m", tmp_path / "b.conll").stderr


@pytest.mark.parametrize("template", ["ner", "word"])
def test_raw_text_that_is_read_as_columns(tmp_path, template):
    (tmp_path / "a.conll").write_text("Ada B-PER\nmet O\nBob B-PER\n\n" * 3)
    perceptive("train", "a.conll", "--task", "tag", "-o", "m", "--quiet", "--template", template, cwd=tmp_path)
    assert not perceptive("tag", "m", "a.conll", cwd=tmp_path).stderr
    texts = {"Ada met Bob .\n": "4 columns, but the model reads only the first", "Ada left\n": "none of the model's"}
    for text, said in texts.items():
        (tmp_path / "raw.txt").write_text(text)
        told = perceptive("tag", "m", "raw.txt", cwd=tmp_path).stderr
        assert said in told
        assert told.endswith("if the files are raw text, give --raw\n")
        assert "give --format raw" in perceptive("explain", "m", "raw.txt", cwd=tmp_path).stderr
        assert not perceptive("tag", "m", "raw.txt", "--raw", cwd=tmp_path).stderr
        assert not perceptive("tag", "m", "raw.txt", "--label-column", "-1", cwd=tmp_path).stderr
    (tmp_path / "a.conllu").write_text("1\tAda\t_\tPROPN" + "\t_" * 6 + "\n2\tleft\t_\tVERB" + "\t_" * 6 + "\n\n")
    perceptive("train", "a.conllu", "--task", "tag", "-o", "u", "--quiet", "--template", template, cwd=tmp_path)
    (tmp_path / "raw.txt").write_text("Ada met Bob .\n")
    told = perceptive("tag", "u", "raw.txt", cwd=tmp_path).stderr
    assert "4 columns, but the model reads only the first; if the files are raw text, give --raw" in told
    perceptive("train", "a.conll", "--task", "tag", "-o", "w", "--quiet", "--columns", "0", cwd=tmp_path)
    (tmp_path / "raw.txt").write_text("Ada met Mr. Bob.\nBob left Ada “alone.”\n")
    told = perceptive("tag", "w", "raw.txt", cwd=tmp_path).stderr
    assert "'Bob.' is in the last column, as at the end of a sentence; if the files are raw text, give --raw" in told
    (tmp_path / "b.conll").write_text("Mr. Adj\nBob N\n. .\n")  # no labels
    assert not perceptive("tag", "w", "b.conll", cwd=tmp_path).stderr
    (tmp_path / "raw.txt").write_text("Ada met Bob .\nBob left .\n")
    told = perceptive("tag", "m", "raw.txt", code=1, cwd=tmp_path).stderr
    assert "give every token the same columns (for raw text: --format raw)" in told
