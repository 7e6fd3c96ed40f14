"""Texts with spans: doccano, Prodigy, spaCy and brat; how spans become labels, and the other way."""

import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive import SequenceTagger
from perceptive.data import sentence_files
from perceptive.data.documents import bare_sentences, sentences_of, spans_of
from perceptive.features.sentence_ends import split_sentences
from perceptive.features.tokens import tokenise
from perceptive.streams.documents import Document, Span, as_line, parse

TEXT = "Zoë 😀 met Ada. She left."
SPANS = [Span(0, 3, "PER"), Span(10, 13, "PER")]
LINES = {
    "doccano": {"text": TEXT, "label": [[0, 3, "PER"], [10, 13, "PER"]], "id": 7},
    "prodigy": {
        "text": TEXT,
        "spans": [{"start": 0, "end": 3, "label": "PER"}, {"start": 10, "end": 13, "label": "PER"}],
    },
    "spacy": [TEXT, {"entities": [[0, 3, "PER"], [10, 13, "PER"]]}],
}
LABELS = [["B-PER", "O", "O", "B-PER", "O"], ["O", "O", "O"]]
texts = st.text(st.sampled_from("aZé.!? \n\u0301\u200d👩🚀🇳🇱़क'-1,@:/"), max_size=30)


@pytest.mark.parametrize("format", LINES)
def test_formats_say_the_same(format, tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text("\n" + json.dumps(LINES[format]) + "\r\n", encoding="utf-8-sig")
    document = parse(json.dumps(LINES[format]), "a", 1)
    assert (document.format, document.spans) == (format, SPANS)
    assert json.loads(as_line(document, format)) == LINES[format]
    for other in LINES:
        assert parse(as_line(document, other), "a", 1).spans == SPANS
    X, y = sentence_files.read(path)
    assert X[1] == [("She",), ("left",), (".",)]
    assert y == LABELS
    (tmp_path / "unnamed").write_bytes(path.read_bytes())
    assert sentence_files.read(tmp_path / "unnamed") == (X, y)


def test_other_ways_to_write_spans():
    of_objects = [{"id": 1, "start_offset": 0, "end_offset": 3, "label": "PER"}]
    for record in (
        {"text": "Zoë", "labels": [[0, 3, "PER"]]},
        {"text": "Zoë", "entities": of_objects, "relations": []},
    ):
        assert parse(json.dumps(record), "a", 1).spans == [Span(0, 3, "PER")]
    assert parse('{"text": "Zoë"}', "a", 1).spans is None


def test_tokens_of_prodigy_are_kept():
    tokens = [{"text": "New York", "start": 0, "end": 8, "id": 0}, {"text": "!", "start": 8, "end": 9, "id": 1}]
    document = parse(json.dumps({"text": "New York!", "tokens": tokens, "spans": []}), "a", 1)
    [sentence] = sentences_of(document)
    assert sentence.rows == [("New York",), ("!",)]
    assert json.loads(as_line(document, "prodigy"))["tokens"] == tokens
    tokens = [{"start": 0, "end": 3}, {"start": 3, "end": 5}, {"start": 5, "end": 8}]  # one of white space alone
    document = parse(json.dumps({"text": "Ada \nx\ny ", "tokens": tokens}), "a", 1)
    [one, two] = sentences_of(document)
    assert (one.rows, two.rows, two.cells) == ([("Ada",)], [("x\ny",)], [("x y",)])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a"', r"notes\.jsonl:2: not JSON \(Expecting ',' delimiter\); write a record a line"),
        ("[" * 100_000, r"notes\.jsonl:2: (nested too deeply|not JSON)"),
        ("[\n", "is one JSON array; write a record a line, as jq"),
        ('[["a", {}], ["b", {}]]', "is one JSON array; write a record a line, as jq"),
        ('{"label": []}', 'there is no text, but "label"; write text, and its spans as one of label,'),
        (
            '{"words": ["a", "b"], "labels": ["X", "Y"]}',
            'if "words" has the tokens, call it tokens, and their labels tags',
        ),
        ('{"text": 3}', "there is no text: 3 is no string; write one"),
        ("7", "there is no text; write an object with text and label"),
        ('{"text": "a", "label": "spam"}', '"spam" is no list of spans; write'),
        ('{"text": "a", "label": [[0, 1]]}', r"\[0, 1\] is no span; write \[start, end, label\]"),
        ('{"text": "a", "label": [[0, 2, "X"]]}', r"does not lie within the text, which has 1 characters; count code"),
        ('{"text": "a", "label": [[-1, 1, "X"]]}', "does not lie within the text"),
        ('{"text": "a", "label": [[1, 0, "X"]]}', "ends before it begins"),
        ('{"text": "a", "label": [[2, 2, "X"]]}', "does not lie within the text"),
        ('{"text": "a", "label": [[0.0, 1, "X"]]}', "has no whole numbers as its ends"),
        ('{"text": "a", "label": [[true, 1, "X"]]}', "has no whole numbers as its ends"),
        ('{"text": "a", "label": [[0, 1, ""]]}', "has no label in one line; name it"),
        ('{"text": "a", "label": [[0, 1, "A\\nB"]]}', "has no label in one line; name it"),
        ('{"text": "a", "spans": [{"start": 0}]}', "has no whole numbers"),
        (
            '{"text": "ab", "tokens": [{"start": 1, "end": 2}, {"start": 0, "end": 1}]}',
            "is not a token after the previous",
        ),
        ('{"text": "ab", "tokens": 3}', "3 is not a token after the previous ones"),
        ('{"text": "a\\ud800"}', "character 1 is half of a surrogate pair"),
        ('{"text": "a", "label": [[0, ' + "9" * 5000 + ', "X"]]}', r"notes\.jsonl:2: (not JSON|the span)"),
    ],
)
def test_broken_lines_are_refused_with_their_place(line, message, tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text('{"text": "fine"}\n' + line + "\n")
    with pytest.raises(ValueError, match=message):
        sentence_files.read(path)


@pytest.mark.parametrize(
    ("spans", "labels", "said"),
    [
        ([(1, 3, "X")], ["B-X", "O", "O"], "spans that do not begin and end at token boundaries: 1, widened"),
        ([(0, 5, "X")], ["B-X", "I-X", "O"], "at token boundaries: 1, widened"),
        ([(3, 4, "X")], ["O", "O", "O"], "in which there is no token: 1, left out"),
        (
            [(0, 8, "X"), (4, 8, "Y")],
            ["B-X", "I-X", "O"],
            "spans that overlap an earlier or longer one: 1, left out",
        ),
        ([(0, 3, "X"), (0, 8, "Y")], ["B-Y", "I-Y", "O"], "spans that overlap"),
        ([(0, 3, "X"), (6, 6, "Y"), (9, 9, "Y")], ["B-X", "O", "O"], "spans without any character: 2, left out"),
    ],
)
def test_spans_that_tokens_cannot_tell(spans, labels, said, tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text(json.dumps({"text": "Zoë left!", "label": spans}) + "\n")
    with pytest.warns(UserWarning, match=said) as told:
        assert sentence_files.read(path)[1] == [labels]
    assert str(path) + ":1 '" in str(told[0].message)
    with pytest.raises(ValueError, match=r"notes\.jsonl:1: the span .*, or choose repair='warn'"):
        sentence_files.read(path, repair="error")
    with pytest.warns(UserWarning, match="left out"):
        sentence_files.read(path, repair="off")


def test_blanks_at_the_ends_of_spans_are_trimmed(tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text(json.dumps({"text": "Zoë left!", "label": [[0, 4, "X"], [3, 8, "Y"]]}) + "\n")
    for repair in ("warn", "off"):
        with pytest.warns(UserWarning, match=r"blank: 2, trimmed\. The first: .*:1 'Zoë' \(0–4, X\)") as told:
            assert sentence_files.read(path, repair=repair)[1] == [["B-X", "B-Y", "O"]]
        assert "widened" not in str(told[0].message)
    with pytest.raises(ValueError, match=r"the span 'Zoë ' \(0–4, X\) begins or ends with a blank; trim it, or choose"):
        sentence_files.read(path, repair="error")
    tokens = [{"start": 0, "end": 4}, {"start": 4, "end": 9}]
    path.write_text(json.dumps({"text": "Zoë left!", "tokens": tokens, "spans": [{**tokens[0], "label": "X"}]}) + "\n")
    assert sentence_files.read(path, repair="error")[1] == [["B-X", "O"]]


def test_brat(tmp_path):
    text, spans = tmp_path / "notes.txt", tmp_path / "notes.ann"
    text.write_bytes("Zoë 😀 met\r\nAda.\r\nShe left.".encode())
    two = "T1\tPER 0 3\tZoë\nT2\tPER 11 14\tAda\n"
    spans.write_text(two + "R1\tmet Arg1:T1 Arg2:T2\n#1\tNote T1\thm\nT3\tX 0 3;6 9\tZoë met\n")
    with pytest.warns(UserWarning, match=r"spans in several pieces: 1, left out\. The first: .*:1 'Zoë 😀 met'"):
        X, y = sentence_files.read(spans)
    assert X == [[("Zoë",), ("😀",), ("met",)], [("Ada",), (".",)], [("She",), ("left",), (".",)]]
    assert y == [["B-PER", "O", "O"], ["B-PER", "O"], ["O", "O", "O"]]
    spans.write_text(two)
    assert sentence_files.read(text) == sentence_files.read(spans)
    for line, message in (
        ("T1\tPER 0 3\tAda", r"notes\.ann:1: the span is 'Ada', but the text has 'Zoë' there"),
        ("T1\tPER 0 300\tAda", r"notes\.ann:1: the span \[0, 300, \"PER\"\] does not lie within the text"),
        ("T1 PER 0 3", r"notes\.ann:1: 'T1 PER 0 3' is no span; write T1, a tab"),
        ("hello", "is no span"),
    ):
        spans.write_text(line + "\n")
        with pytest.raises(ValueError, match=message):
            sentence_files.read(text)
    text.unlink()
    with pytest.raises(ValueError, match=r"there is no .*notes\.txt with its text; put it there"):
        sentence_files.read(spans)


@examples(150)
@given(texts)
def test_offsets_are_exact(text):
    """Whatever a text has in it: emoji, combining marks, line breaks."""
    tokens = tokenise(text)
    assert all(text[token.start : token.end] == token for token in tokens)
    assert [token for some in split_sentences(text) for token in some] == tokens
    spans = [Span(tokens[i].start, tokens[min(i + 1, len(tokens) - 1)].end, "X") for i in range(0, len(tokens), 3)]
    document = Document(text, spans)
    told = [
        span
        for sentence in sentences_of(document, "error")
        for span in spans_of([token for (token,) in sentence.rows], sentence.labels, "bio")
    ]
    assert told == spans
    for format in LINES:
        again = parse(as_line(document, format), "a", 1)
        assert (again.text, again.spans) == (text, spans)


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("Ada left. She ran.", 2),
        ("Dr. Ada left. J. Smith ran.", 2),
        ("It cost 3.5 euros. really", 1),
        ("“Why?” She ran.", 2),
        ("He (Ada.) ran! Now", 2),
        ('He said " no . "', 1),
        ('He said "no." He ran.', 2),
        ('He ran . " No " , he said .', 2),
        ("( He ran . ) J . Smith ran .", 2),
        ("See No. 5 and art. 3. No. Really.", 3),
        ("One\nTwo\r\n\r\nThree", 3),
        ("你好。再见！好", 3),
        ("", 0),
        (" \n ", 0),
    ],
)
def test_sentences_end(text, n):
    assert len(split_sentences(text)) == n


def test_a_tagger_finds_spans_in_a_text():
    X, y = zip(*((s.rows, s.labels) for s in sentences_of(Document(TEXT, SPANS))), strict=True)
    tagger = SequenceTagger(template="word").fit([*X] * 3, [*y] * 3)
    text = "😀 Ada met\nZoë."
    found = tagger.predict_spans(text)
    assert [(span.label, span.text) for span in found] == [("PER", "Ada"), ("PER", "Zoë")]
    assert all(text[span.start : span.end] == span.text for span in found)
    assert tagger.predict_spans("") == []
    with pytest.raises(TypeError, match="text is of type 'list'; give one string"):
        tagger.predict_spans([text])
    with pytest.raises(ValueError, match="do not mark segments"):
        SequenceTagger(template="word").fit([["a"]], [["DT"]]).predict_spans("a")


def test_sentences_without_labels_end_where_the_text_says():
    document = Document("Ada left. She ran.", [Span(0, 13, "X")])
    assert [len(one.rows) for one in bare_sentences(document)] == [3, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [len(one.rows) for one in sentences_of(document)] == [6]


def test_spans_of_brat_are_told_with_their_line(tmp_path):
    (tmp_path / "a.txt").write_text("Ada left.\nZoë left.\n")
    spans = tmp_path / "a.ann"
    spans.write_text("T1\tPER 10 12\tZo\nT2\tPER 10 13;15 18\tZoë eft\n")
    with pytest.warns(UserWarning, match=r"a\.txt:2 'Zoë left' \(10–18, PER\), .*a\.txt:2 'Zo' \(10–12, PER\)"):
        _, y = sentence_files.read(spans)
    assert y == [["O", "O", "O"], ["B-PER", "O", "O"]]
    with pytest.raises(ValueError, match=r"a\.txt:2: the span 'Zoë left' .* is in several pieces; leave it out"):
        sentence_files.read(spans, repair="error")


def test_brat_cuts_spans_at_line_breaks(tmp_path):
    (tmp_path / "a.txt").write_text("Ada\nByron left.\n")
    (tmp_path / "a.ann").write_text("T1\tPER 0 3;4 9\tAda Byron\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sentence_files.read(tmp_path / "a.ann", repair="error")[1] == [["B-PER", "I-PER", "O", "O"]]


def test_answers_that_are_not_accepted_are_passed_over(tmp_path):
    path = tmp_path / "a.jsonl"
    span = {"start": 0, "end": 3, "label": "PER"}
    answers = ("accept", "reject", None, "ignore")
    records = [{"text": "Ada left", "spans": [span]} | ({"answer": one} if one else {}) for one in answers]
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    with pytest.warns(UserWarning, match='texts whose "answer" is "reject" or "ignore": 2, passed over'):
        assert sentence_files.read(path)[1] == [["B-PER", "O"]] * 2


def test_texts_without_any_span_are_told(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "Ada left", "Label": [[0, 3, "PER"]]}\n')
    with pytest.raises(ValueError, match=r'the texts have no labels .*; write spans as "label"'):
        sentence_files.read(path)
    path.write_text('{"text": "Ada left", "label": []}\n')
    with pytest.warns(UserWarning, match='no text has a span, so all tokens are "O"; write spans as "label"'):
        sentence_files.read(path)
    path.write_text('{"text": "Ada left", "ents": [{"start": 0, "end": 3, "label": "PER"}]}\n')
    assert sentence_files.read(path)[1] == [["B-PER", "O"]]


def test_what_prodigy_has_accepted_without_spans_is_answered():
    assert parse('{"text": "Ada met Grace.", "answer": "accept"}', "p.jsonl", 1).spans == []
    assert not parse('{"text": "Ada met Grace."}', "p.jsonl", 1).answered
