"""Templates: the language, CRF++'s files, columns derived in the core, label sets."""

import re
import unicodedata
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptive import SequenceTagger
from perceptive.features import terms
from perceptive.features.templates import PRESETS, Templates
from perceptive.learners import SequenceLearner

CRFPP = """\
# Unigram
U00:%x[-2,0]
U01:%x[-1,0]
U05:%x[-1,0]/%x[0,0]
U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U:constant

# Bigram
B
B01:%x[0,1]
"""


def features(template, sentence, t, labels=("a", "b")):
    """The features of token t: learn a mistake there and read what got weights."""
    learner = SequenceLearner(labels, template=template, hypothesis="last", constraints=None)
    y = ["a"] * len(sentence)
    y[t] = "b"
    learner.learn(sentence, y)
    return {name for name, label, _ in learner.heaviest(10_000) if label == "b"}


def test_crfpp_files_are_read_as_they_are():
    templates = Templates(CRFPP)
    assert len(templates.state) == 5
    assert templates.n_base == 2
    assert templates.bigrams
    assert templates.edge_names == ["B01:%x[0,1]"]
    assert features(CRFPP, [("He", "PRP"), ("reckons", "VBZ"), ("the", "DT")], 1) == {
        "U00:%x[-2,0] = _B-1",
        "U01:%x[-1,0] = He",
        "U05:%x[-1,0]/%x[0,0] = He / reckons",
        "U20:%x[-2,1]/%x[-1,1]/%x[0,1] = _B-1 / PRP / VBZ",
        "U:constant = ",
    }


def test_crfpp_lines_may_have_spaces():
    lines = ["U00: %x[0,0]", "U01:%x[-1,0] %x[0,0]", "Upos is %x[0,1]", "U: a constant"]
    assert features("\n".join(lines), [("He", "PRP"), ("runs", "VBZ")], 1) == {
        "U00: %x[0,0] = runs",
        "U01:%x[-1,0] %x[0,0] = He / runs",
        "Upos is %x[0,1] = VBZ",
        "U: a constant = ",
    }
    assert Templates("B01: %x[0,1]").edge_names == ["B01: %x[0,1]"]
    one, other = "U:x %x[0,0]\nU:x %x[1,0]", "U:x %x[0,0]\nU:y %x[1,0]"  # what is written is part of the name
    assert len({name for name, _ in Templates(one).state}) == 1
    assert len({name for name, _ in Templates(other).state}) == 2
    names = ["BIO[-1] & B[0]", "BIO[0] & B[0]", "BIO[1] & B[0]", "B[0] & BIO[0]"]
    assert Templates("columns BIO B\nBIO[-1:1] & B\nB & BIO").state_names == names


@pytest.mark.parametrize("line", ["U01", "U00:x", "U00:x[0,0]", "U12: word[0]", "B02:x[0,0]"])
def test_crfpp_lines_without_a_macro_are_refused(line):
    cure = f"{line[:3]}:%x[row,column], as {line[:3]}:%x[0,0]"
    with pytest.raises(ValueError, match=re.escape(f"template, line 2: {line!r} reads nothing; write {cure}")):
        Templates(f"U00:%x[0,0]\n{line}")
    assert Templates(line, reads=False).text == line  # of an older model


@pytest.mark.parametrize("line", ["B", "B01", "B01:"])
def test_pairs_of_labels_alone_are_written_as_in_crfpp(line):
    assert Templates(line).bigrams


def test_files_may_begin_with_a_byte_order_mark(tmp_path):
    (tmp_path / "bom.template").write_text("word\nin(words.txt)\n", encoding="utf-8-sig")
    (tmp_path / "words.txt").write_text("Rome\n", encoding="utf-8-sig")
    templates = Templates.of(tmp_path / "bom.template")
    assert templates.state_names[0] == "word[0]"
    assert templates.dictionaries == {"words.txt": ["Rome"]}


@pytest.mark.parametrize("path", ["missing.tmpl", "./missing", "some/where", "missing.txt", Path("missing")])
def test_files_that_are_not_there_are_said_to_be_missing(path):
    with pytest.raises(FileNotFoundError, match="no such file; presets are chunking, ner"):
        Templates.of(path)
    for line in ("suffix(1..2)", "pos[-1..1]", "word*0.5", "U00:%x[0,0]/%x[1,0]", "U:a.b", "y==a.b&word"):
        assert Templates.of(line).state


def test_labels_that_never_occur_are_warned_of():
    text = "word\ny==ZZ and word\n# y==QQ\ny==N and y[-1]==YY and word\n(y==N or y==WW) and word"
    tagger = SequenceTagger(template=text)
    with pytest.warns(UserWarning, match="template, line") as caught:
        tagger.fit([["a", "b"]], [["N-x", "O"]])
    said = [str(one.message) for one in caught]
    assert [one[:39] for one in said] == [
        "template, line 2: no label is 'ZZ', or ",
        "template, line 4: no label is 'YY', or ",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tagger.fit([["a", "b", "c"]], [["N", "ZZ", "YY-a"]])
        SequenceTagger(template=text).partial_fit([["a", "b"]], [["N", "O"]])  # others may come


def test_dictionaries_of_segments_need_segments():
    template = [terms.word, terms.segment_in("places", {"New York"})]
    SequenceTagger(template=template, segments=True).fit([["in", "New", "York"]], [["O", "B-X", "I-X"]])
    with pytest.raises(ValueError, match="'segment in\\(places\\)' needs segments=True"):
        SequenceTagger(template=template).fit([["in", "New", "York"]], [["O", "B-X", "I-X"]])


def test_lines_of_one_identifier_share_features():
    bag = SequenceLearner("ab", template="U:%x[-1,0]\nU:%x[1,0]", hypothesis="last")
    apart = SequenceLearner("ab", template="U0:%x[-1,0]\nU1:%x[1,0]", hypothesis="last")
    for learner in (bag, apart):
        learner.learn(["x", "z", "x"], ["a", "b", "a"])
    assert {name for name, _, _ in bag.heaviest(10)} == {"U:%x[-1,0] = x"}
    assert {name for name, _, _ in apart.heaviest(10)} == {"U0:%x[-1,0] = x", "U1:%x[1,0] = x"}


@pytest.mark.core
def test_windows_functions_and_conjunctions():
    sentence = ["Mr.", "Jean-Luc", "paid", "1993"]
    assert features("word[-1:1]", sentence, 1) == {"word[-1] = Mr.", "word[0] = Jean-Luc", "word[1] = paid"}
    assert features("word[-1..0]", sentence, 0) == {"word[-1..0] = _B-1 / Mr."}
    assert features("word[0] & shape[1]", sentence, 2) == {"word[0] & shape[1] = paid / d+"}
    assert features("prefix(1..3)\nsuffix(2)", sentence, 1) == {
        "prefix(1)[0] = J",
        "prefix(2)[0] = Je",
        "prefix(3)[0] = Jea",
        "suffix(2)[0] = uc",
    }
    assert features("prefix(2, lower)\nsuffix(3, norm)[2]", sentence, 1) == {
        "prefix(2, lower)[0] = je",
        "suffix(3, norm)[2] = 000",
    }
    assert features("lower\nnorm[2]\nshape\npattern", sentence, 1) == {
        "lower[0] = jean-luc",
        "norm[2] = 0000",
        "shape[0] = Xx+-Xx+",
        "pattern[0] = Xxxx-Xxx",
    }
    assert features("has(digit|hyphen|upper|dot)", sentence, 1) == {"has(hyphen)[0] = yes", "has(upper)[0] = yes"}
    assert features("is(capitalised|upper|number|title|punctuation)", sentence, 3) == {"is(number)[0] = yes"}
    assert features("capitalised", sentence, 2) == set()
    assert features("length", sentence, 3) == {"length[0] = 4"}
    assert features("bag(word[-1:1])", ["x", "y", "x"], 1) == {"bag(word) = x", "bag(word) = y"}
    assert features("suffix(1, pos)", [("a", "NN"), ("b", "NNS")], 1) == {"suffix(1, pos)[0] = S"}
    assert features("columns word lower\nsuffix(1, lower)", [("aB", "cD")], 0) == {"suffix(1, lower)[0] = D"}
    assert features("columns w p tag\ntag[0] & lower(tag)", [("a", "b", "C")], 0) == {"tag[0] & lower(tag)[0] = C / c"}


@pytest.mark.core
def test_dictionaries(tmp_path):
    (tmp_path / "cities.txt").write_text("Rome\nParis\n")
    (tmp_path / "t.template").write_text("in(cities.txt)\n")
    template = str(tmp_path / "t.template")
    assert features(template, ["to", "Rome"], 1) == {"in(cities.txt)[0] = yes"}
    assert features(template, ["to", "rome"], 1) == set()


@pytest.mark.core
def test_pairs_of_labels_seen_with_a_word():
    learner = SequenceLearner("ab", template="word[0] & @label[-1]", hypothesis="last")
    learner.learn(["x", "y"], ["a", "b"])
    assert {name for name, _, _ in learner.heaviest(10)} == {"word[0] & @label[-1] = y"}
    assert learner.predict(["x", "y"]) == ["a", "b"]


@pytest.mark.core
def test_label_sets_share_one_weight():
    """The features of the notes (002): one weight for B and I of what is capitalised, one for I after B of hyphens."""
    text = "(y==B or y==I) and capitalised\ny==I and y[-1]==B and hyphenated\ny==B and y[-1]==B"
    learner = SequenceLearner(["B", "I", "O"], template=text, hypothesis="last", constraints=None)
    learner.learn(["Ziv", "Jean-Luc"], ["B", "I"])  # guessed: B B
    weights = {(name, label): weight for name, label, weight in learner.heaviest(100)}
    assert weights == {
        ("y in {I} & y[-1] in {B} & has(hyphen)[0] = yes", "B → I"): 1.0,
        ("y in {B} & y[-1] in {B} = ", "B → B"): -1.0,
    }
    learner.learn(["Ziv"], ["O"])  # guessed: B
    weights = {(name, label): weight for name, label, weight in learner.heaviest(100)}
    shared = "y in {B, I} & is(capitalised)[0] = yes"
    assert weights[shared, "B"] == weights[shared, "I"] == -1.0
    assert (shared, "O") not in weights
    assert learner.core.run.radius2 == 2.0  # one coordinate each, not one a label


@pytest.mark.core
@pytest.mark.parametrize("hypothesis", ["last", "averaged", "best"])
def test_a_label_that_joins_a_set_gets_its_weight(hypothesis):
    options = {"template": "(y==B or y==I) and capitalised\nword and (y[-1]==B or y[-1]==I)", "constraints": None}
    late = SequenceLearner(["O", "B"], hypothesis=hypothesis, **options)
    early = SequenceLearner(["O", "B", "I"], hypothesis=hypothesis, **options)
    for learner in (late, early):
        for _ in range(3):
            learner.learn(["Ziv", "will"], ["B", "O"])
            learner.learn(["on", "Ada", "the"], ["O", "B", "O"])
    late.meet_labels(["I"])
    assert late.heaviest(100) == early.heaviest(100)
    assert any(label == "I" for _, label, _ in late.heaviest(100))
    assert any(label == "I → O" for _, label, _ in late.heaviest(100))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word[0]\nsufix(3)", "line 2: unknown directive 'sufix'; did you mean 'suffix'"),
        ("word[2:-2]", "line 1: 'word\\[2:-2\\]': the offsets run backwards"),
        ("word[16]", "offset 16 is too far away"),
        ("word[1:999999999999]", "offset 999999999999 is too far away"),
        ("word[-999999999999..0]", "offset -999999999999 is too far away"),
        ("columns", "columns names the columns"),
        ("columns(a)", "write columns word pos"),
        ("bag", "write bag"),
        ("@lable[-1]", "unknown directive '@lable"),
        ("@label[-3]", "only @label"),
        ("word & @label[-2]", "must be alone"),
        ("has(digits)", "has\\(digits\\): choose from digit"),
        ("prefix(0)", "give a number of characters"),
        ("prefix", "takes one argument"),
        ("in(nowhere.txt)", "no such file"),
        ("U00:%x[0]", "a macro is written"),
        ("word[0] & ", "cannot read ''"),
        ("lower(tag)", "no column 'tag'"),
        ("has(digit, lower)", "no column 'lower'"),
        ("suffix(2, shape)", "no column 'shape'"),
        ("word\ncolumns a b", "before the first template"),
        ("y==B and y==I and word", "only once"),
        ("capitalised(pos)", "capitalised takes no argument; of a column write is\\(capitalised, pos\\)"),
        ("word(pos)", "a column takes no argument"),
        ("columns word word", "line 1: columns: two are named 'word'"),
        ("columns a-b c", "line 1: column 'a-b' cannot be named"),
    ],
)
def test_a_bad_directive_is_named(text, message):
    with pytest.raises(ValueError, match=message):
        Templates(text)


def test_presets_are_sound():
    for name in PRESETS:
        templates = Templates.of(name)
        assert templates.state
        assert templates.bigrams
    with pytest.raises(TypeError, match="give one of chunking"):
        Templates.of(3)


@pytest.mark.core
def test_endings_count_in_upper_case_for_parts_of_speech():
    X = [["they", "like", "singing"], ["we", "hate", "running"], ["they", "like", "songs"], ["we", "hate", "runs"]]
    y = [["PRP", "VBP", "VBG"], ["PRP", "VBP", "VBG"], ["PRP", "VBP", "NNS"], ["PRP", "VBP", "NNS"]]
    tagger = SequenceTagger(template="pos").fit(X, y)
    assert tagger.predict([["THEY", "HATE", "DANCING"], ["WE", "LIKE", "BELLS"]]) == [y[0], y[2]]


@pytest.mark.core
@given(st.text(st.characters(exclude_categories=["Cs", "Cn"]), min_size=1, max_size=8))
def test_the_core_knows_characters_as_python_does(word):
    lowered = "".join(c.lower()[0] for c in word)  # one character to one

    def mark(c):
        kind = unicodedata.category(c)
        return "X" if kind in ("Lu", "Lt") else "d" if kind == "Nd" else "x" if kind[0] in "LM" else c

    found = features("lower\npattern\nprefix(1)\nsuffix(1)\nsuffix(1..8, lower)", [word], 0)
    if unicodedata.unidata_version == "14.0.0":  # the version of the core's tables
        assert f"lower[0] = {lowered}" in found
        assert {f"suffix({n}, lower)[0] = {lowered[-n:]}" for n in range(1, len(word) + 1)} <= found
        assert f"pattern[0] = {''.join(map(mark, word))}" in found
    assert {f"prefix(1)[0] = {word[0]}", f"suffix(1)[0] = {word[-1]}"} <= found


@pytest.mark.core
def test_a_scale_is_the_value_of_features():
    learner = SequenceLearner("ab", template="word * 0.5\nword[-1]", hypothesis="last")
    learner.learn(["x", "y"], ["a", "b"])
    weights = {(name, label): weight for name, label, weight in learner.heaviest(10)}
    assert weights["word[0] = y", "b"] == 0.5
    assert weights["word[-1] = x", "b"] == 1.0
    assert learner.core.run.radius2 == 2 * 0.5**2 + 2
    [(_, score)] = learner.k_best([["x", "y"]], 1)[0]
    assert score == 0.5 * 0.5 + 1.0
    with pytest.raises(ValueError, match="cannot have the value 0"):
        Templates("word * 0")
    with pytest.raises(ValueError, match="cannot be scaled"):
        Templates("word & @label[-1] * 2")


def test_an_unknown_word_may_be_meant_as_a_preset():
    with pytest.raises(ValueError, match=r"unknown directive 'chunk'; .*; presets are chunking, ner, pos"):
        Templates.of("chunk")
    with pytest.raises(ValueError, match=r"did you mean 'suffix'\?$"):
        Templates.of("sufix(3)")
