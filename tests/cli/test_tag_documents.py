"""Taggers of texts with spans, and of raw texts, on the command line."""

import json
import subprocess
import warnings

import pytest

from command_line import perceptive, start

NOTES = [
    {"id": 7, "text": "Ada met Bob in Rome. He left.", "label": [[0, 3, "PER"], [8, 11, "PER"], [15, 19, "LOC"]]},
    {"text": "😀 Zoë sleeps in Paris.", "label": [[2, 5, "PER"], [16, 21, "LOC"]]},
]


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    """A folder with texts, and a tagger that has learned from them."""
    folder = tmp_path_factory.mktemp("notes")
    (folder / "notes.jsonl").write_text("".join(json.dumps(one) + "\n" for one in NOTES))
    (folder / "bare.jsonl").write_text("".join(json.dumps({**one, "label": []}) + "\n" for one in NOTES))
    words = ("--template", "word", "--rule", "perceptron", "--encoding", "none")  # each word has one label
    perceptive("train", folder / "notes.jsonl", "--task", "tag", *words, "-o", folder / "a.model", "--quiet")
    return folder


def test_texts_with_spans_come_out_as_they_went_in(notes):
    done = perceptive("tag", notes / "a.model", notes / "bare.jsonl")
    assert [json.loads(line) for line in done.stdout.splitlines()] == NOTES
    assert "FB1: 100.00" in perceptive("eval", notes / "a.model", notes / "notes.jsonl").stdout
    first, second, third = perceptive("tag", notes / "a.model", notes / "bare.jsonl", "--json").stdout.splitlines()
    assert json.loads(third)["offsets"][0] == [0, 1]
    assert json.loads(second)["tokens"] == ["He", "left", "."]
    spans = perceptive("tag", notes / "a.model", notes / "bare.jsonl", "--spans").stdout
    assert spans.endswith("\n\n\n2\t5\tPER\tZoë\n16\t21\tLOC\tParis\n\n")
    told = perceptive("explain", notes / "a.model", notes / "notes.jsonl", "--json").stdout.splitlines()
    assert len(told) == 3
    assert json.loads(first)["labels"] == json.loads(told[0])["labels"]


def test_brat_comes_out_as_it_went_in(notes):
    (notes / "b.txt").write_text("Ada met\nZoë.\n")
    (notes / "b.ann").write_text("")
    done = perceptive("tag", notes / "a.model", notes / "b.txt")
    assert done.stdout == "T1\tPER 0 3\tAda\nT2\tPER 8 11\tZoë\n"
    (notes / "b.ann").write_text(done.stdout)
    assert "found: 2 phrases; correct: 2" in perceptive("eval", notes / "a.model", notes / "b.ann").stdout
    done = perceptive("tag", notes / "a.model", notes / "b.txt", notes / "notes.jsonl", code=2)
    assert "of several formats (brat, doccano); tag them separately" in done.stderr
    done = perceptive("tag", notes / "a.model", notes / "b.txt", notes / "b.ann", code=2)
    assert "one text at a time" in done.stderr


def test_misaligned_spans_are_told_or_refused(notes):
    slip, model = notes / "slip.jsonl", notes / "slip.model"
    slip.write_text(json.dumps({"text": "Ada left.", "label": [[0, 2, "PER"]]}) + "\n")
    train = ("train", slip, "--task", "tag", "--template", "word", "-o", model, "--quiet")
    with warnings.catch_warnings(record=True) as raw:  # of Python, with a line of the source
        warnings.simplefilter("always")
        done = perceptive("train", slip, "--task", "tag", "-o", model, "--quiet")
    assert not raw
    said = "spans that do not begin and end at token boundaries: 1, widened to whole tokens. The first: "
    assert done.stderr.count(f"{said}{slip}:1 'Ad' (0–2, PER)") == 1
    done = perceptive(*train, "--repair", "error", code=2)
    assert f"{slip}:1: the span 'Ad' (0–2, PER) does not begin and end at token boundaries" in done.stderr
    assert "left out" in perceptive(*train, "--repair", "off").stderr
    slip.write_text('{"text": "Ada left.", "label": [[0, 2, "PER"]\n')
    assert f"{slip}:1: not JSON" in perceptive(*train, code=1).stderr


def test_eval_finds_spans_with_blanks_at_their_ends(notes):
    told = []
    for name, spans in (("sound", [[0, 3, "PER"], [14, 18, "LOC"]]), ("padded", [[0, 4, "PER"], [13, 18, "LOC"]])):
        (notes / name).write_text(json.dumps({"text": "Ada flew from Rome.", "label": spans}) + "\n")
        told.append(json.loads(perceptive("eval", notes / "a.model", notes / name, "--json").stdout))
    assert told[0]["metrics"] == told[1]["metrics"]
    assert told[0]["data"] == told[1]["data"]


def test_raw_text_has_sentences_and_offsets(notes):
    text = "Ada met Zoë.\r\n\r\n😀 Bob left Rome. He left Paris.\n"
    raw = notes / "raw.txt"
    raw.write_bytes(text.encode())
    spans = perceptive("tag", notes / "a.model", "--raw", raw, "--spans").stdout
    places = [line.split("\t") for line in spans.splitlines() if line]
    assert [(kind, said) for _, _, kind, said in places] == [
        ("PER", "Ada"), ("PER", "Zoë"), ("PER", "Bob"), ("LOC", "Rome"), ("LOC", "Paris"),
    ]  # fmt: skip
    assert [text[int(start) : int(end)] for start, end, _, _ in places] == [said for *_, said in places]
    columns = perceptive("tag", notes / "a.model", "-", "--raw", input=text).stdout
    assert columns.startswith("Ada B-PER\nmet O\nZoë B-PER\n. O\n\n😀 O\n")
    assert columns.count("\n\n") == 3
    latin = ("--input-encoding", "latin-1")
    latin = perceptive("tag", notes / "a.model", "-", "--raw", *latin, input="Zoë sleeps".encode("latin-1"))
    assert latin.stdout == "Zoë B-PER\nsleeps O\n\n"
    assert "leave out --text" in perceptive("tag", notes / "a.model", "--text", "a", "--raw", code=2).stderr
    two = perceptive("tag", notes / "a.model", "--text", "Ada left. Bob left.", "--spans").stdout
    assert two == "0\t3\tPER\tAda\n\n10\t13\tPER\tBob\n\n"


def test_raw_lines_are_tagged_as_they_come(notes):
    """As a process: `tail -f log | perceptive tag MODEL - --raw --spans`."""
    tagging = start(
        "tag", notes / "a.model", "-", "--raw", "--spans", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        for at in (0, 10):
            tagging.stdin.write("Ada left.\n")
            tagging.stdin.flush()
            assert [tagging.stdout.readline() for _ in range(2)] == [f"{at}\t{at + 3}\tPER\tAda\n", "\n"]
        assert tagging.communicate("", timeout=60)[0] == ""
    finally:
        tagging.kill()
    assert tagging.returncode == 0


def test_eval_scores_what_tag_finds(tmp_path):
    """A sentence ends within the span, and `tag` is not told of it."""
    path, model = tmp_path / "a.jsonl", tmp_path / "a.model"
    path.write_text(json.dumps({"text": "I like Yahoo! Inc. a lot", "label": [[7, 18, "ORG"]]}) + "\n")
    perceptive("train", path, "--task", "tag", "-o", model, "--quiet")
    found = json.loads(perceptive("tag", model, path).stdout)["label"]
    metrics = json.loads(perceptive("eval", model, path, "--json").stdout)["metrics"]
    assert [7, 18, "ORG"] not in found
    assert (metrics["phrases"], metrics["found"], metrics["correct"]) == (1, len(found), 0)


@pytest.mark.parametrize(
    ("records", "format"),
    [
        ([{"text": "Ada met"}], ("--format", "prodigy")),
        ([{"text": "Ada met", "spans": []}, {"text": "Bob met"}], ()),
        ([{"text": "Ada met", "entities": [{"start_offset": 0, "end_offset": 3, "label": "PER"}]}], ()),
        ([{"text": "Ada met", "labels": []}], ()),
        ([{"text": "Ada met", "ents": [{"start": 0, "end": 3, "label": "X"}], "answer": "reject"}], ()),
    ],
)
def test_records_keep_their_format_and_key(records, format, notes):
    path = notes / "kept.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    done = perceptive("tag", notes / "a.model", path, *format)
    key = next((key for key in records[0] if key not in ("text", "answer")), "spans")
    given = records[0].get(key)
    names = [name for name in given[0] if name != "label"] if given else ["start", "end"]
    span = [0, 3, "PER"] if key == "labels" else {names[0]: 0, names[1]: 3, "label": "PER"}
    assert [json.loads(line) for line in done.stdout.splitlines()] == [{**one, key: [span]} for one in records]


def test_probabilities_stand_beside_the_spans(notes):
    train, model = ("train", notes / "notes.jsonl", "--task", "tag", "--template", "word"), notes / "sure.model"
    perceptive(*train, "--dev", notes / "notes.jsonl", "-o", model, "--quiet")
    first = json.loads(perceptive("tag", model, notes / "notes.jsonl", "--proba").stdout.splitlines()[0])
    assert len(first["probabilities"]) == len(first["label"]) == 3
    assert all(0 < one <= 1 for one in first["probabilities"])
    (notes / "c.txt").write_text("Ada left.")
    (notes / "c.ann").write_text("")
    done = perceptive("tag", model, notes / "c.ann", "--proba", code=2)
    assert "brat has no place for probabilities; ask for --json or --spans" in done.stderr
    done = perceptive("tag", notes / "a.model", notes / "notes.jsonl", "--proba", code=2)
    assert "--proba needs a tagger that was trained with --holdout or --dev" in done.stderr


def test_answers_that_are_not_accepted_are_not_converted(notes):
    path, out = notes / "asked.jsonl", notes / "accepted.jsonl"
    record = {"text": "Ada met", "spans": [{"start": 0, "end": 3, "label": "PER"}], "answer": "accept"}
    path.write_text(json.dumps(record) + "\n" + json.dumps({**record, "answer": "ignore"}) + "\n")
    done = perceptive("convert", path, out)
    assert 'texts whose "answer" is "reject" or "ignore": 1, passed over' in done.stderr
    assert json.loads(out.read_text()) == record
    assert len(perceptive("tag", notes / "a.model", path).stdout.splitlines()) == 2


def test_segments_go_into_their_own_column_of_a_treebank(notes):
    path = notes / "a.conllu"
    path.write_text("1\tAda\t_\tPROPN\t_\t_\t_\t_\t_\t_\n2\tmet\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n")
    done = perceptive("tag", notes / "a.model", path)
    lines = [line.split("\t") for line in done.stdout.splitlines() if line]
    assert [(line[3], line[9]) for line in lines] == [("PROPN", "NER=B-PER"), ("VERB", "NER=O")]
    refused = perceptive("eval", notes / "a.model", path, code=2).stderr
    assert "the column misc.NER has no labels: every label is _; name the label column with --label-column" in refused
    path.write_text(done.stdout)
    assert "FB1: 100.00" in perceptive("eval", notes / "a.model", path).stdout


def test_labels_that_keep_to_no_scheme_are_told_with_a_cure(notes):
    path, model = notes / "broken.conll", notes / "broken.model"
    path.write_text("Ada I-PER\nmet B-LOC\n\nBob E-PER\nleft B-PER\n")
    perceptive("train", path, "--task", "tag", "--template", "word", "--repair", "off", "-o", model, "--quiet")
    done = perceptive("tag", model, path, "--spans", code=2)
    assert "keep to no scheme of segments; train it again with what perceptive convert makes of its" in done.stderr


def test_spans_are_scored_by_their_own_offsets(notes):
    path = notes / "based.jsonl"
    path.write_text(
        json.dumps({"text": "Ada-based Bob left Rome.", "label": [[0, 3, "PER"], [10, 13, "PER"], [19, 23, "LOC"]]})
        + "\n"
    )
    model = notes / "based.model"
    perceptive("train", path, "--task", "tag", "-o", model, "--quiet")
    found = json.loads(perceptive("tag", model, path).stdout)["label"]
    done = perceptive("eval", model, path, "--json")
    told = json.loads(done.stdout)
    metrics = told["metrics"]
    assert found == [[0, 9, "PER"], [10, 13, "PER"], [19, 23, "LOC"]]  # what is written is what is scored
    assert (metrics["phrases"], metrics["found"], metrics["correct"], told["unreachable"]) == (3, 3, 2, 1)
    assert "note: spans are scored by their places in the text; 1 of 3 do not begin and end" in done.stderr
    assert "found: 3 phrases; correct: 2." in perceptive("eval", model, path).stdout
    columns = notes / "based.conll"  # files in columns beside it are scored by their tokens
    columns.write_text("Bob B-PER\nleft O\n\n")
    both = json.loads(perceptive("eval", model, path, columns, "--json").stdout)["metrics"]
    assert (both["phrases"], both["correct"]) == (4, 3)


def test_models_of_earlier_builds_keep_their_tokens(notes):
    from perceptive.data.documents import predict_spans
    from perceptive.learners import SequenceLearner
    from perceptive.state import State

    learner = SequenceLearner(template=["word"])
    learner.learn_many([["Ada", "left"]], [["B-PER", "O"]])
    state = learner.state()
    assert state.meta["tokeniser"] == "possessive"
    assert "Ada" in [one.text for one in predict_spans(learner, "Ada's")]
    old = SequenceLearner.from_state(State({k: v for k, v in state.meta.items() if k != "tokeniser"}, state.arrays))
    assert old.tokeniser == old.state().meta["tokeniser"] == "whole"
    assert "Ada" not in [one.text for one in predict_spans(old, "Ada's")]
