"""Taggers of texts with spans, and of raw texts, on the command line."""

import json
import subprocess

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
    assert "of several formats (brat, doccano); tag them apart" in done.stderr
    done = perceptive("tag", notes / "a.model", notes / "b.txt", notes / "b.ann", code=2)
    assert "one text at a time" in done.stderr


def test_misaligned_spans_are_told_or_refused(notes):
    slip, model = notes / "slip.jsonl", notes / "slip.model"
    slip.write_text(json.dumps({"text": "Ada left.", "label": [[0, 2, "PER"]]}) + "\n")
    train = ("train", slip, "--task", "tag", "--template", "word", "-o", model, "--quiet")
    done = perceptive(*train)
    said = "spans that do not begin and end where tokens do: 1, widened to whole tokens. The first: "
    assert done.stderr.count(f"{said}{slip}:1 'Ad' (0–2, PER)") == 1
    done = perceptive(*train, "--repair", "error", code=2)
    assert f"{slip}:1: the span 'Ad' (0–2, PER) does not begin and end where tokens do" in done.stderr
    assert "left out" in perceptive(*train, "--repair", "off").stderr
    slip.write_text('{"text": "Ada left.", "label": [[0, 2, "PER"]\n')
    assert f"{slip}:1: not JSON" in perceptive(*train, code=1).stderr


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
