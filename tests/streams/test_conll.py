"""Sentences in columns: which lines are tokens, which columns are read, and in which encoding."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive.data import sentence_files
from perceptive.errors import ParameterError
from perceptive.streams import conll, conllu
from perceptive.streams.columns import Columns

TREEBANK = """\
# sent_id = a-1
# text = Vámonos al mar
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\tVMM\tMood=Imp|Number=Plur\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\tPP\tCase=Acc\t1\tobj\t_\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\tSP\t_\t5\tcase\t_\t_
4\tel\tel\tDET\tDA\t_\t5\tdet\t_\tNER=O|SpaceAfter=No
4.1\thay\thaber\tVERB\t_\t_\t_\t_\t_\t_
5\tmar\tmar\tNOUN\tNC\tNumber=Sing\t1\tobl\t_\t_

# sent_id = a-2
1\tSí\tsí\tINTJ\tI\t_\t0\troot\t_\t_
"""


@pytest.fixture
def file(tmp_path):
    def write(text, name="a.conll", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


def words(path, **options):
    return [[token[0] for token in x] for x in conll.read(path, **options)[0]]


@pytest.mark.parametrize("line", ["-DOCSTART-", "-DOCSTART- -X- -X- O", "-DOCSTART-\t-X-\tO"])
def test_marks_of_documents_are_no_tokens_and_end_sentences(file, line):
    path = file(f"{line}\nEU NNP B-ORG\nrejects VBZ O\n{line}\r\n\nPeter NNP B-PER\n")
    assert conll.read(path) == ([[("EU", "NNP"), ("rejects", "VBZ")], [("Peter", "NNP")]], [["B-ORG", "O"], ["B-PER"]])
    assert words(file("-DOCSTART-s O\n")) == [["-DOCSTART-s"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He PRP O\npaid VBD O\n# # B-NP\n5 CD I-NP\n", [["He", "paid", "#", "5"]]),
        ("# # B-NP\n5 CD I-NP\n\nIt PRP O\n", [["#", "5"], ["It"]]),
        ("#win O\nnow O\n\n# O\n\nyes O\n", [["#win", "now"], ["#"], ["yes"]]),
        ("#a O\n\n#b O\n", [["#a"], ["#b"]]),
        ("#a O\n\n#b O\n\nc O\n", [["#a"], ["#b"], ["c"]]),
        ("# made by hand\nHe PRP O\n\n# and this, too\n# # B-NP\n5 CD I-NP\n", [["He"], ["#", "5"]]),
        ("# a licence\n# of two lines in all\n\nHe PRP O\n", [["He"]]),
        ("# id 5239 domain=en\nEU _ _ B-ORG\n\n# id 5240 domain=en\nof _ _ O\n", [["EU"], ["of"]]),
        ("# id = 1\n# a = b\n# _ _ O\nEU _ _ O\n\n# id = 2\nof _ _ O\n", [["#", "EU"], ["of"]]),
        ("# a file with tabs\nNew York\tB\n#\tO\n", [["New York", "#"]]),
        ("#\tn-tv.de [2005]\n1\tEU\tO\n\n#\twelt.de [2004]\n1\tHi\tO\n\n1\ta\tO\n", [["1"], ["1"], ["1"]]),
        ("\n" * 70_000 + "He PRP O\n", [["He"]]),
        ("# only O\n", [["#"]]),
        ("", []),
    ],
)
def test_a_number_sign_is_a_comment_only_where_it_cannot_be_a_token(file, text, expected):
    assert words(file(text)) == expected


@examples(60)
@given(st.lists(st.lists(st.sampled_from(["#", "#tag", "a", "-DOCSTART", "1"]), min_size=1, max_size=4), min_size=1))
def test_tokens_of_a_corpus_without_comments_are_all_there(tmp_path_factory, corpus):
    """Where one sentence does not begin with a number sign, none is taken for a comment."""
    path = tmp_path_factory.mktemp("c") / "a.conll"
    corpus = [["a"], *corpus]
    path.write_text("\n".join("".join(f"{word} X O\n" for word in sentence) for sentence in corpus))
    assert words(path) == corpus


def test_places_are_those_of_the_tokens(file):
    places = []
    conll.read(file("# c\n\n# d\na X O\nb X O\n\n-DOCSTART- X O\nc X O\n"), places=places)
    assert [(place.of(), place.of(len(place.lines) - 1).rpartition(":")[2]) for place in places] == [
        (f"{places[0].path}:4", "5"),
        (f"{places[0].path}:8", "8"),
    ]
    places.clear()
    conll.read(file(TREEBANK), places=places)
    assert [list(place.lines) for place in places] == [[4, 5, 7, 8, 10], [13]]


@pytest.mark.parametrize("name", ["a.conllu", "a.conllu.txt"])
def test_treebanks_are_known_by_name_and_by_content(file, name):
    path = file(TREEBANK, name)
    form = [[("Vamos",), ("nos",), ("a",), ("el",), ("mar",)], [("Sí",)]]
    assert conll.read(path) == (form, [["VERB", "PRON", "ADP", "DET", "NOUN"], ["INTJ"]])
    columns = ("form", "feats", "feats.Number", "misc.NER")
    X, y = conll.read(path, "xpos", columns=columns)
    assert X[0][0] == ("Vamos", "Mood=Imp|Number=Plur", "Plur", "_")
    assert X[0][3] == ("el", "_", "_", "O")
    assert y[1] == ["I"]
    assert conll.read(path, 4, columns=["1", "upos", "xpos"]) == conll.read(path, "xpos", columns=["form", "upos"])
    assert conll.read(path, None) == (form, [])
    assert sentence_files.read(path) == conll.read(path)
    with pytest.raises(ValueError, match="columns='pos': CoNLL-U has the columns id, form"):
        conll.read(path, columns=["pos"])
    with pytest.raises(ValueError, match=r"label_column='lemma\.x'"):
        conll.read(path, "lemma.x")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2\tb", r"a\.conllu:3: 2 columns where CoNLL-U has 10, separated by tabs"),
        ("x\tb\t_\t_\t_\t_\t_\t_\t_\t_", r"a\.conllu:3: the first column is 'x'; CoNLL-U numbers tokens there"),
    ],
)
def test_broken_treebanks_are_refused_with_their_place(file, line, message):
    path = file("# c\n1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n" + line + "\n", "a.conllu")
    with pytest.raises(ValueError, match=message):
        conll.read(path)


def test_columns_are_chosen_by_number(file):
    path = file("EU NNP B-NP B-ORG\n")
    assert conll.read(path, columns=["0", "2"]) == ([[("EU", "B-NP")]], [["B-ORG"]])
    assert conll.read(path, "2", columns=["0", "1", "2"]) == ([[("EU", "NNP")]], [["B-NP"]])
    with pytest.raises(ValueError, match=r"a\.conll:1: there is no column 4: there are 4, numbered from 0"):
        conll.read(path, columns=["4"])
    with pytest.raises(ValueError, match=r"columns='form': .*a\.conll does not name its columns; say numbers"):
        conll.read(path, columns=["form"])
    with pytest.raises(ValueError, match="label_column='upos'"):
        conll.read(path, "upos")


def test_what_a_model_has_learned_of_another_kind_of_file_says_nothing(file):
    [plain] = conll.sentences(file("EU NNP\n"))
    tree, _ = conll.sentences(file(TREEBANK))
    learned = Columns(("form", "xpos"), "upos", learned=True)
    assert learned.split(plain) == ([("EU",)], ["NNP"])
    assert learned.split(tree)[0][0] == ("Vamos", "VMM")
    assert Columns(("0", "2"), 1, learned=True).split(tree)[1][0] == "VERB"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8", "utf-8-sig", "utf-16"])
def test_encodings(file, encoding):
    path = file("Italië N B-LOC\r\n\r\nzoë N B-PER\r\n", encoding=encoding)
    assert conll.read(path, encoding=encoding)[0] == [[("Italië", "N")], [("zoë", "N")]]
    assert sentence_files.read(path, encoding=encoding)[1] == [["B-LOC"], ["B-PER"]]


def test_wrong_encodings_are_refused(file):
    path = file("a X\nItalië N\n", encoding="latin-1")
    with pytest.raises(ValueError, match=r"a\.conll:2: not UTF-8 .*; convert the file, or say which encoding it has"):
        conll.read(path)
    with pytest.raises(ValueError, match=r"not UTF-8 .*; convert .*, or say which encoding it has by .*='utf-16'"):
        conll.read(file("a X\n", encoding="utf-16"))
    for name in ("klingon", "no\0name"):
        with pytest.raises(ValueError, match="is unknown; choose another, as utf-8, latin-1 or cp1252"):
            conll.read(path, encoding=name)
    for name in ("utf-32", "rot13", "base64", "idna", "undefined"):
        with pytest.raises(ValueError, match="has no ASCII in it, as utf-8, latin-1"):
            conll.read(path, encoding=name)
    with pytest.raises(ValueError, match="format='xml': it must be one of conll, conllu"):
        sentence_files.read(path, format="xml")


def test_a_label_that_says_nothing_leaves_its_entry_out():
    row = ("1", "Dogs", "dog", "NOUN", "NNS", "Number=Plur", "2", "nsubj", "_", "_")
    assert conllu.changed(row, "feats.Gender", "_")[5] == "Number=Plur"
    assert conllu.changed(row, "feats.Number", "_")[5] == "_"


@pytest.mark.parametrize("tail", ["\t", "\t\t", " ", "\t ", " \t"])
@pytest.mark.parametrize("between", ["\t", " "])
def test_blanks_at_the_end_of_every_line_are_left_out(file, tail, between):
    rows = ["Ada NNP B-PER", "left VBD O", "", "Bob NNP B-PER"]
    lines = [row.replace(" ", between) + tail * bool(row) for row in rows]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        X, y = conll.read(file("\n".join(lines) + "\n"))
    assert X == [[("Ada", "NNP"), ("left", "VBD")], [("Bob", "NNP")]]
    assert y == [["B-PER", "O"], ["B-PER"]]
    assert ["every line ends in a tab" in str(one.message) for one in said] == [True] * ("\t" in tail)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Ada\tB-PER\t\nleft\tO\n", r":2: 2 columns where line 1 has 3.*\. Line 1 ends in a tab; delete it"),
        ("Ada\tB-PER\nleft\tO\t\n", r":2: 3 columns where line 1 has 2.*\. This line ends in a tab; delete it"),
    ],
)
def test_a_line_that_ends_in_a_tab_among_others_is_told(file, text, message):
    with pytest.raises(ValueError, match=message):
        conll.read(file(text))


def test_spaces_that_may_separate_columns_beside_tabs_are_told(file):
    path = file("Ada\tNNP I-NP I-PER\nleft\tVBD I-VP O\n\nYes\tUH O O\n")
    said = "a.conll:1: tabs separate the columns, and 'NNP I-NP I-PER' is one; if spaces do so, too, write tabs in"
    with pytest.warns(UserWarning, match=said):
        assert conll.read(path)[1] == [["NNP I-NP I-PER", "VBD I-VP O"], ["UH O O"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        conll.read(file("New York\tB-LOC\nis\tO\n"))


@pytest.mark.parametrize("columns", [["1"], ["-1"], ["1", "-1"]])
def test_the_column_of_the_labels_alone_makes_no_tokens(columns, tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("Ada B-PER\nleft O\n\n")
    with pytest.raises(ParameterError, match=r"columns=.*: that is the column of the labels; name columns of the tok"):
        conll.read(path, columns=columns)
    assert conll.read(path, columns=["0", *columns]) == ([[("Ada",), ("left",)]], [["B-PER", "O"]])


@pytest.mark.parametrize(
    ("start", "cure"),
    [(b"PAR1\x15", "Parquet file; write its records as JSON"), (b"x\x9c\xeb", "spaCy's DocBin is; write a line")],
)
def test_binary_files_of_sentences_are_named(start, cure, tmp_path):
    (tmp_path / "a").write_bytes(start + bytes(range(256)))
    with pytest.raises(ValueError, match=f"a: is .*{cure}"):
        sentence_files.read(tmp_path / "a")
