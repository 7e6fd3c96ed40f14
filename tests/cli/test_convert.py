"""`perceptive convert`: formats, schemes, and labels that are repaired."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import perceptive
from examples import examples
from perceptive.data import sentence_files
from perceptive.data.conversion import repair
from perceptive.features import schemes

ODD = """\
-DOCSTART- -X- O

New NNP I-LOC
York NNP I-LOC
Rome NNP B-LOC
# # O

# this is a comment
Ada NNP I-PER
# # B-PER

Zoë NNP B-PER
"""


@pytest.fixture
def odd(tmp_path):
    """Labels of IOB1 in columns, one of which breaks it."""
    path = tmp_path / "odd.conll"
    path.write_text(ODD)
    return path


def test_labels_are_repaired_in_place(odd, tmp_path):
    done = perceptive("convert", odd, tmp_path / "out.conll")
    assert (tmp_path / "out.conll").read_text() == ODD.replace("Zoë NNP B-PER", "Zoë NNP I-PER") + "\n"
    assert "labels that break the scheme 'iob1', repaired: 1, in 1 sentence; first: " in done.stderr
    assert f"{odd}:12 B-PER → I-PER\n" in done.stderr
    assert perceptive("convert", tmp_path / "out.conll", "-").stderr == "<stdout>: 3 sentences, 7 tokens\n"
    told = json.loads(perceptive("convert", odd, tmp_path / "out.conll", "--json").stdout)
    assert told["data"]["repaired"] == 1
    assert told["data"]["places"] == [{"place": f"{odd}:12", "was": "B-PER", "is": "I-PER"}]
    left = perceptive("convert", odd, "-", "--repair", "off")
    assert left.stdout == ODD + "\n"
    assert "left as they are: 1" in left.stderr
    done = perceptive("convert", odd, "-", "--repair", "error", code=1)
    assert f"{odd}:12: label 'B-PER' is not allowed here in the scheme 'iob1'; repair it" in done.stderr


def test_every_scheme_becomes_every_other(odd, tmp_path):
    for one in (*schemes.SCHEMES, "iob2"):
        perceptive("convert", odd, tmp_path / "a.conll", "--scheme", one)
        for other in schemes.SCHEMES:
            perceptive("convert", tmp_path / "a.conll", tmp_path / "b.conll", "--scheme", other)
            y = sentence_files.read(tmp_path / "b.conll")[1]
            assert [schemes.spans(labels, other) for labels in y] == [
                [(0, 2, "LOC"), (2, 3, "LOC")],
                [(0, 1, "PER"), (1, 2, "PER")],
                [(0, 1, "PER")],
            ]
    done = perceptive("convert", odd, "-", "--scheme", "bies", code=2)
    assert "--scheme: 'bies' is not a scheme of labels; choose one of bio, iob1, bioes" in done.stderr


def test_iob1_without_any_b_is_iob1():
    y = [["I-LOC", "I-LOC", "O", "I-PER"]]
    assert repair(y).scheme == "iob1"
    assert not repair(y).changed


SPANS = ["doccano", "prodigy", "spacy", "brat"]


@pytest.mark.parametrize("one", SPANS)
@pytest.mark.parametrize("other", SPANS)
def test_formats_of_spans_round_trip(odd, tmp_path, one, other):
    ends = {"brat": ".ann"}
    first, second = tmp_path / f"a{ends.get(one, '.jsonl')}", tmp_path / f"b{ends.get(other, '.jsonl')}"
    perceptive("convert", odd, first, "--to", one)
    perceptive("convert", first, second, "--to", other)
    back = perceptive("convert", second, "-", "--scheme", "iob1").stdout
    expected = [
        [("New", "I-LOC"), ("York", "I-LOC"), ("Rome", "B-LOC"), ("#", "O")],
        [("Ada", "I-PER"), ("#", "B-PER")],
        [("Zoë", "I-PER")],
    ]
    assert back == "".join("".join(f"{word}\t{label}\n" for word, label in some) + "\n" for some in expected)


@pytest.mark.parametrize("style", ["{0}_{1}", "{1}-{0}"])
def test_labels_in_another_style_become_those_of_a_scheme(style, tmp_path):
    wrong = "Ada {}\nKing {}\nleft O\n\n".format(style.format("B", "PER"), style.format("I", "PER"))
    (tmp_path / "a.conll").write_text(wrong)
    assert perceptive("convert", tmp_path / "a.conll", "-").stdout == wrong
    done = perceptive("convert", tmp_path / "a.conll", "-", "--scheme", "bioes").stdout
    assert done == "Ada B-PER\nKing E-PER\nleft O\n\n"


def test_the_label_that_keeps_others_from_a_scheme_is_named(tmp_path):
    (tmp_path / "a.conll").write_text("Ada B-PER\nKing I-PER\nleft O\n. X\n\n")
    said = perceptive("convert", tmp_path / "a.conll", "-", "--scheme", "bioes", code=2).stderr
    assert "most labels follow the scheme 'bio', but 'X' does not; rename it, such as to 'O'" in said


def test_treebanks(tmp_path):
    tree = tmp_path / "a.conllu"
    rows = ["1\tDon't\tdo\tAUX\t_\t_\t0\troot\t_\tSpaceAfter=No", "2\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_"]
    tree.write_text("# text = Don't!\n" + "\n".join(rows) + "\n\n")
    assert perceptive("convert", tree, "-", "--to", "conllu").stdout == tree.read_text()
    lemmas = perceptive("convert", tree, "-", "--columns", "form,lemma").stdout
    assert lemmas == "Don't\tdo\tAUX\n!\t!\tPUNCT\n\n"
    done = perceptive("convert", tree, tmp_path / "a.jsonl", code=2)
    assert "the labels mark no segments, so there are no spans to write" in done.stderr
    assert "mark no segments in any scheme" in perceptive("convert", tree, "-", "--scheme", "bio", code=2).stderr
    tree.write_text(tree.read_text().replace("AUX", "B-X").replace("PUNCT", "I-X"))
    perceptive("convert", tree, tmp_path / "a.jsonl")
    text = {"text": "Don't!", "label": [[0, 6, "X"]]}
    assert json.loads((tmp_path / "a.jsonl").read_text()) == text
    back = perceptive("convert", tmp_path / "a.jsonl", "-", "--to", "conllu").stdout
    assert back == "1\tDon't\t_\t_\t_\t_\t_\t_\t_\tNER=B-X|SpaceAfter=No\n2\t!\t_\t_\t_\t_\t_\t_\t_\tNER=I-X\n\n"
    assert "B-X" in perceptive("convert", tmp_path / "a.jsonl", "-", "--to", "conllu", "--label-column", "xpos").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["in.conll", "out", "--to", "xml"], 2, "--to xml: it must be one of conll, conllu, doccano"),
        (["in.conll", "in.conll"], 2, "is one of the files to read"),
        (["in.conll", "-", "--json"], 2, "--json reports on standard output"),
        (["in.conll", "-", "--to", "brat"], 2, "brat needs two files"),
        (["in.jsonl", "out.jsonl", "--scheme", "bio"], 2, "spans have none; leave it out"),
        (["in.jsonl", "out.ann"], 1, "in.jsonl:1: brat allows no labels with spaces, such as 'A B'; rename it"),
        (["nothing.conll", "out"], 1, "nothing.conll"),
        (["in.conll", "out", "--label-column", "7"], 1, "in.conll:1: column 7 cannot hold the label"),
    ],
)
def test_what_cannot_be_converted_is_refused(arguments, code, message, tmp_path):
    (tmp_path / "in.conll").write_text("a O\n")
    (tmp_path / "in.jsonl").write_text('{"text": "a", "label": [[0, 1, "A B"]]}\n')
    assert message in perceptive("convert", *arguments, code=code, cwd=tmp_path).stderr
    assert not list(tmp_path.glob("out*"))


def test_an_output_is_refused_before_anything_is_told(odd, tmp_path):
    for out, message in ((tmp_path, "is a folder"), (tmp_path / "no" / "a.conll", "the folder does not exist")):
        done = perceptive("convert", odd, out, code=1)
        assert message in done.stderr
        assert "repaired" not in done.stderr


@examples(60)
@given(st.lists(st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), min_size=1, max_size=6), min_size=1))
def test_repaired_labels_keep_to_their_scheme(y):
    done = repair(y)
    if done.scheme is None:
        assert done.labels == y
        return
    assert all(schemes.violation(done.scheme, labels) is None for labels in done.labels)
    assert [schemes.spans(labels, done.scheme) for labels in done.labels] == [schemes.spans(labels) for labels in y]
    changed = {(i, t) for i, t, _, _ in done.changed}
    pairs = [(i, t) for i, labels in enumerate(y) for t, label in enumerate(labels) if label != done.labels[i][t]]
    assert changed == set(pairs)


@pytest.mark.parametrize(("name", "to"), [("b.conllu", "conllu"), ("b.jsonl", "doccano"), ("b.ann", "brat")])
def test_columns_without_a_place_are_told_of(tmp_path, name, to):
    path = tmp_path / "a.conll"
    path.write_text("Ada NNP I-NP B-PER\nmet VBD O O\n\n")
    told = perceptive("convert", path, tmp_path / name).stderr
    assert f"note: {to} gets the words and the labels; 2 other columns of {path} are left out\n" in told
    assert "note" not in perceptive("convert", path, tmp_path / name, "--columns", "0").stderr
    assert "note" not in perceptive("convert", path, tmp_path / "b.conll").stderr
