"""Taggers on the command line."""

import json
import subprocess

import pytest

from command_line import CHUNKS, perceptive, start
from perceptive import SequenceTagger, certify, load_learner, save
from perceptive.cli.tasks import sentences
from perceptive.learners import SequenceLearner
from perceptive.streams import conll


def test_a_tagger_from_file_to_labels(chunks):
    train, model = chunks / "train.conll", chunks / "a.model"
    done = perceptive(
        "train", train, "--task", "tag", "--template", "chunking", "--rule", "pa1", "--dev", train, "-o", model
    )
    assert "held-out F1 100.00" in done.stderr
    assert "sentences/s" in done.stderr
    table = perceptive("eval", model, train).stdout
    assert table.startswith("processed 80 tokens with 40 phrases; found: 40 phrases; correct: 40.\naccuracy: 100.00%;")
    assert "               NP: precision: 100.00%; recall: 100.00%; FB1: 100.00  20\n" in table
    assert json.loads(perceptive("eval", model, train, "--json").stdout)["metrics"]["f1"] == 100.0
    tagged = perceptive("tag", model, "-", input="the DT\ncat NN\n\n").stdout
    assert tagged == "the DT B-NP\ncat NN I-NP\n\n"
    done = perceptive("tag", model, "-", "--kbest", 2, "--margin", input="the DT\ncat NN\n")
    assert "note: --margin with --kbest: only the first sequence of each sentence has these numbers" in done.stderr
    assert "note" not in perceptive("tag", model, "-", "--kbest", 1, "--margin", input="the DT\ncat NN\n").stderr
    with_margins = done.stdout.splitlines()
    assert with_margins[0].startswith("# 1 ")
    assert with_margins[1].startswith("the DT B-NP ")
    assert float(with_margins[1].split()[3]) > 0
    assert with_margins[4].startswith("# 2 ")
    spans = perceptive("tag", model, "-", "--spans", input="the DT\ncat NN\nbarks VBZ\n").stdout
    assert spans == "0\t2\tNP\tthe cat\n2\t3\tVP\tbarks\n\n"
    told = json.loads(perceptive("tag", model, "-", "--json", "--kbest", 1, input="the DT\ncat NN\n").stdout)
    assert told["labels"] == ["B-NP", "I-NP"]
    assert "pos[0] = NN" in perceptive("inspect", model, "--top", 50).stdout
    assert json.loads(perceptive("inspect", model, "--json", "--class", "B-NP").stdout)["weights"][0]["features"]


@pytest.mark.parametrize("how", [[], ["--kbest", 2, "--margin"], ["--spans"], ["--json"]])
def test_threads_write_what_one_does(chunks, monkeypatch, how):
    monkeypatch.setattr(sentences, "BATCH", 3)
    train, model = chunks / "train.conll", chunks / "a.model"
    perceptive("train", train, "--task", "tag", "--template", "chunking", "--epochs", 2, "-o", model)
    expected = perceptive("tag", model, train, "--threads", 1, *how).stdout
    assert expected.count("\n") > 9
    for threads in (2, 7):
        assert perceptive("tag", model, train, "--threads", threads, *how).stdout == expected
    (chunks / "bad.conll").write_text("the DT\n\n" * 10 + "the\n")
    for threads in (1, 3):
        done = perceptive("tag", model, chunks / "bad.conll", "--threads", threads, code=1)
        assert "bad.conll:21" in done.stderr


def test_a_tagger_is_certified(chunks):
    train, other, model = chunks / "train.conll", chunks / "other.conll", chunks / "a.model"
    other.write_text(CHUNKS)
    learn = ("train", train, "--task", "tag", "--template", "chunking", "-o", model, "--quiet")
    perceptive(*learn, "--rule", "perceptron")
    told = json.loads(perceptive("certify", model, train, "--json").stdout)["certificate"]
    assert told["holds"]
    assert not told["hypothetical"]
    assert 0 < told["updates"] <= told["bound"]
    X, y = conll.read(train)
    expected = certify(load_learner(model), X, y)
    assert (told["bound"], told["text"]) == (expected.bound, str(expected))
    assert perceptive("certify", model, train).stdout == f"{expected}\n"
    assert json.loads(perceptive("certify", model, other, "--json").stdout)["certificate"]["hypothetical"]
    perceptive(*learn, "--rule", "pa1")
    assert "no bound is known" in perceptive("certify", model, train).stdout
    assert "cannot hold the label" in perceptive("certify", model, train, "--label-column", 3, code=1).stderr
    other.write_text("the DT B-NEW\n")
    assert "other.conll:1: the learner has never seen" in perceptive("certify", model, other, code=1).stderr
    for command in ("certify", "eval"):
        done = perceptive(command, model, train, "--on-error", "skip", "--threads", 2, code=2)
        assert "--on-error, --threads do not go with taggers" in done.stderr


def test_training_certifies_a_tagger(chunks):
    train, model = chunks / "train.conll", chunks / "a.model"
    plain = ("--rule", "perceptron", "--encoding", "none", "--template", "ner")
    learn = ("train", train, "--task", "tag", *plain, "--certify", "-o", model)
    told = json.loads(perceptive(*learn, "--json", "--prune", 0).stdout)["certificate"]
    X, y = conll.read(train)
    notes = SequenceTagger(template="ner", rule="perceptron", encoding=None, certify=True)
    expected = notes.fit(X, y).certificate_
    assert (told["bound"], told["text"]) == (expected.bound, str(expected))
    assert str(expected) in perceptive(*learn).stdout
    assert "certificate" not in perceptive(*learn[:-3], "-o", model).stdout
    assert "also those of earlier training" in perceptive(*learn, "--continue", model, code=2).stderr


def test_a_holdout_that_holds_nothing_is_refused(chunks):
    learn = ("train", chunks / "train.conll", "--task", "tag", "-o", chunks / "a.model", "--quiet")
    done = perceptive(*learn, "--holdout", 0.001, code=2)
    assert "--holdout 0.001 holds out none of 11 sentences: the first of each file" in done.stderr
    perceptive(*learn, "--holdout", 0.1)


def test_tagged_columns_are_separated_as_they_were(tmp_path):
    (tmp_path / "tabs.conll").write_text("New York\tN\nis\tV\n\nhere\tA\n\n")
    (tmp_path / "spaces.conll").write_text("here  N\nis V\n\nhere A\n\n")
    model = tmp_path / "a.model"
    perceptive("train", tmp_path / "tabs.conll", "--task", "tag", "--template", "word", "-o", model, "--quiet")
    expected = {"tabs": "New York\tN\tN\nis\tV\tV\n\nhere\tA\tA\n\n", "spaces": "here N A\nis V V\n\nhere A A\n\n"}
    for name, lines in expected.items():
        done = perceptive("tag", model, tmp_path / f"{name}.conll", "-o", tmp_path / "out.conll")
        assert (tmp_path / "out.conll").read_text() == lines, done
        (again, _), (before, _) = conll.read(tmp_path / "out.conll"), conll.read(tmp_path / f"{name}.conll", None)
        assert again == before
    both = perceptive("tag", model, tmp_path / "tabs.conll", tmp_path / "spaces.conll").stdout
    assert both == expected["tabs"] + expected["spaces"].replace(" ", "\t")
    done = perceptive("tag", model, tmp_path / "spaces.conll", tmp_path / "tabs.conll", code=1)
    assert "tabs.conll:1: a column is empty or has spaces in it" in done.stderr


def test_labels_with_spaces_are_separated_by_tabs(tmp_path):
    (tmp_path / "train.conll").write_text("Rome\tproper noun\nis\tverb\n")
    model = tmp_path / "a.model"
    perceptive("train", tmp_path / "train.conll", "--task", "tag", "--template", "word", "-o", model, "--quiet")
    assert perceptive("tag", model, "-", input="Rome x\n").stdout == "Rome\tx\tproper noun\n\n"
    assert perceptive("tag", model, "--text", "Rome").stdout == "Rome\tproper noun\n\n"


def test_errors_speak_of_options(chunks):
    learn = ("train", chunks / "train.conll", "--task", "tag", "-o", chunks / "a.model", "--quiet")
    (chunks / "long.conll").write_text("a B-X\nb I-X\nc I-X\n")
    (chunks / "odd.conll").write_text("a B-X\nb I-Y\n")
    long, odd = (("train", chunks / f"{name}.conll", *learn[2:]) for name in ("long", "odd"))
    for arguments, message in (
        ((*learn, "--holdout", 1.5), "--holdout 1.5: it must be"),
        ((*learn, "--max-segment", 3), "--max-segment needs --segments"),
        ((*long, "--segments", "--max-segment", 2), "is longer than 2; set --max-segment 3\n"),
        ((*odd, "--constraints", "bio", "--encoding", "none"), "turn the constraints off (--constraints none)"),
        ((*odd, "--constraints", "bio"), "as 'perceptive convert --scheme bio' does, or choose --encoding none"),
        ((*learn, "--template", chunks / "no.tmpl"), "no.tmpl: no such file; presets are chunking"),
    ):
        in_the_data = arguments[1] != learn[1] or "--template" in arguments
        assert message in perceptive(*arguments, code=1 if in_the_data else 2).stderr
    assert "(--constraints none)" in perceptive(*odd).stderr


def test_a_class_of_an_encoded_tagger_is_inspected_by_its_own_name(tmp_path):
    (tmp_path / "train.conll").write_text("it O\nRome B-N\n\nNew B-N\nYork I-N\n")
    model = tmp_path / "a.model"
    perceptive("train", tmp_path / "train.conll", "--task", "tag", "--encoding", "bioes", "-o", model, "--quiet")
    told = json.loads(perceptive("inspect", model, "--json", "--top", 1000, "--class", "B-N").stdout)
    labels = {one["class"] for one in told["weights"][0]["features"]}
    assert {"B-N", "S-N"} <= labels
    assert all({"B-N", "S-N"} & set(label.split(" → ")) for label in labels)
    done = perceptive("inspect", model, "--class", "X", code=2)
    assert "no class 'X'; there are B-N, I-N, O" in done.stderr


def test_a_tagger_of_raw_text(chunks):
    words = "\n".join(" ".join([line.split()[0], line.split()[2]]) if line else "" for line in CHUNKS.splitlines())
    (chunks / "words.conll").write_text((words + "\n\n") * 10)
    perceptive(
        "train", chunks / "words.conll", "--task", "tag", "--template", "ner", "-o", chunks / "a.model", "--quiet"
    )
    done = perceptive("tag", chunks / "a.model", "--text", "the big  cat sleeps.", "--spans")
    assert done.stdout == "0\t12\tNP\tthe big cat\n13\t19\tVP\tsleeps\n\n"
    perceptive("tag", chunks / "a.model", "--text", "", code=0)
    perceptive("tag", chunks / "a.model", code=2)
    more = perceptive(
        "train", chunks / "words.conll", "--task", "tag", "--continue", chunks / "a.model", "-o", chunks / "b.model",
        "--json", "--epochs", 1,
    )  # fmt: skip
    assert json.loads(more.stdout)["training"]["mistakes"] == [0]


def test_taggers_say_what_is_wrong(chunks, model):
    train = chunks / "train.conll"
    (chunks / "bad.conll").write_text("the DT B-NP\ndog NN\n")
    done = perceptive("train", chunks / "bad.conll", "--task", "tag", "-o", chunks / "x.model", code=1)
    assert "bad.conll:2: 2 columns where line 1 has 3" in done.stderr
    (chunks / "t.template").write_text("word\nsufix(3)\n")
    done = perceptive("train", train, "--task", "tag", "--template", chunks / "t.template", "-o", "x", code=1)
    assert "t.template, line 2: unknown directive 'sufix'" in done.stderr
    done = perceptive("train", train, "--task", "tag", "--bits", 3, "-o", "x", code=2)
    assert "--bits does not go with --task tag" in done.stderr
    done = perceptive("train", train, "--template", "ner", "-o", "x", code=2)
    assert "--template does not go with --task classify; it is for --task tag" in done.stderr
    assert "is a classifier" in perceptive("tag", model, train, code=2).stderr
    perceptive("train", train, "--task", "tag", "--quiet", "-o", chunks / "t.model")
    assert "use perceptive tag" in perceptive("predict", chunks / "t.model", train, code=2).stderr
    assert "but the templates read 2" in perceptive("tag", chunks / "t.model", "-", input="the\n", code=1).stderr
    assert not (chunks / "x.model").exists()


def test_the_label_column_of_a_tagger(tmp_path):
    (tmp_path / "first.conll").write_text("D the DT\nN cat NN\n\nN dog NN\n")
    (tmp_path / "empty.conll").write_text("\n")
    model = tmp_path / "a.model"
    train = ("train", tmp_path / "first.conll", "--task", "tag", "--label-column", 0, "-o", model, "--quiet")
    perceptive(*train)
    told = json.loads(perceptive("eval", model, tmp_path / "first.conll", "--label-column", 0, "--json").stdout)
    assert told["metrics"]["accuracy"] == 100.0
    tagged = perceptive("tag", model, tmp_path / "first.conll", "--label-column", 0).stdout
    assert tagged == "D the DT D\nN cat NN N\n\nN dog NN N\n\n"
    told = perceptive("tag", model, "-", "--label-column", 0, "--json", input="D the DT\n").stdout
    assert json.loads(told)["tokens"] == ["the"]
    assert (
        "cannot hold the label"
        in perceptive("tag", model, tmp_path / "first.conll", "--label-column", 3, code=1).stderr
    )
    assert "empty.conll: there are no sentences" in perceptive(*train, "--dev", tmp_path / "empty.conll", code=1).stderr
    assert "cannot be pruned" in perceptive(*train, "--keep", "all", "--prune", 0.1, code=2).stderr


@pytest.mark.slow
def test_a_tagger_remembers_its_label_column(tmp_path):
    labelled, bare, wide = tmp_path / "first.conll", tmp_path / "bare.conll", tmp_path / "wide.conll"
    labelled.write_text("D the DT\nN cat NN\n\nN dog NN\n")
    bare.write_text("the DT\ncat NN\n")
    wide.write_text("D the DT x\nN cat NN x\n")
    model = tmp_path / "a.model"
    perceptive("train", labelled, "--task", "tag", "--label-column", 0, "-o", model, "--quiet")
    assert json.loads(perceptive("eval", model, labelled, "--json").stdout)["metrics"]["accuracy"] == 100.0
    assert json.loads(perceptive("inspect", model, "--json").stdout)["learner"]["label_column"] == 0
    assert perceptive("tag", model, labelled).stdout == "D the DT D\nN cat NN N\n\nN dog NN N\n\n"
    assert perceptive("tag", model, bare).stdout == "the DT D\ncat NN N\n\n"
    assert "wide.conll:1: 4 columns, but the model has learned from 3" in perceptive("tag", model, wide, code=1).stderr
    assert perceptive("tag", model, wide, "--label-column", 0).stdout == "D the DT x D\nN cat NN x N\n\n"
    perceptive("train", labelled, "--task", "tag", "--continue", model, "-o", tmp_path / "b.model", "--quiet")
    assert (
        json.loads(perceptive("eval", tmp_path / "b.model", labelled, "--json").stdout)["metrics"]["accuracy"] == 100.0
    )
    words = tmp_path / "words.conll"  # the last column of a model of words
    words.write_text("the D\ncat N\n")
    perceptive("train", words, "--task", "tag", "-o", model, "--quiet")
    assert perceptive("tag", model, "-", input="the\ncat\n").stdout == "the D\ncat N\n\n"
    assert perceptive("tag", model, words).stdout == "the D D\ncat N N\n\n"
    assert perceptive("tag", model, "--text", "the cat").stdout == "the D\ncat N\n\n"


@pytest.mark.slow
def test_what_is_wrong_with_a_sentence_is_told_by_file_and_line(tmp_path):
    good, bad = tmp_path / "good.conll", tmp_path / "bad.conll"
    good.write_text("the DT B-NP\ndog NN I-NP\n\n\nbarks VBZ B-VP\n\n" * 10)
    model = tmp_path / "a.model"

    def told(*options, **more):
        return perceptive(*options, code=1, **more).stderr

    plain = ("--encoding", "none", "--min-count", 1)
    train = ("train", good, bad, "--task", "tag", "--template", "chunking", *plain, "-o", model, "--quiet")
    bad.write_text("\nthe DT B-NP\n\ncat NN B-NP\nsleeps VBZ I-VP\n")
    misfit = "bad.conll:5: label 'I-VP' is not allowed here in the scheme 'bio'"
    assert misfit in told(*train, "--constraints", "bio", "--repair", "error")
    assert misfit in told(*train, "--repair", "error")
    done = perceptive(*train)
    assert f"warning: {bad}" in done.stderr
    assert f"{misfit}; they are read as conlleval reads them. Repair them, as 'perceptive convert'" in done.stderr
    assert load_learner(model).scheme == "bio"
    done = perceptive(*train, "--repair", "off")
    assert f"{misfit}, so predictions follow no scheme" in done.stderr
    assert load_learner(model).scheme is None
    perceptive(*train, "--encoding", "bioes")
    assert load_learner(model).given == "bio"
    assert misfit in told(*train, "--constraints", "bio", "--encoding", "bioes", "--repair", "off")
    segments = ("--segments", "--template", "records")
    assert told(*train, *segments, "--repair", "off").rstrip().endswith("as 'perceptive convert --scheme bio' does")
    bad.write_text("\n\ncat NN B-NP\nand CC I-NP\ndog NN I-NP\n")
    assert "bad.conll:3: the segment 'NP' of tokens 0 to 2 is longer than 2; set --max-segment 3" in told(
        *train, *segments, "--max-segment", 2
    )
    bad.write_text("the B-NP\n\ncat B-NP\n")
    assert "bad.conll:1: it has 1 column, but those before it have 2" in told(*train)
    held = ("train", good, "--task", "tag", "--template", "chunking", "-o", model, "--quiet")
    model.unlink()
    assert "bad.conll:1: it has 1 column" in told(*held, "--dev", bad)
    assert not model.exists()
    assert "bad.conll:1: it has 1 column" in told(*train, "--holdout", 0.1)
    bad.write_text("the\tDT\tB-NP\n\n\tNN\t\n")
    assert "bad.conll:3: the label is missing" in told(*train)
    perceptive(*held)
    assert "<stdin>:2: it has 1 column" in told("tag", model, "-", input="\nthe\n")
    bad.write_text("the B-NP\n")
    assert "bad.conll:1: it has 1 column" in told("eval", model, bad)
    bad.write_text("the\n")
    assert "bad.conll:1: the last column cannot hold the label: there is one only" in told("eval", model, bad)
    assert "bad.conll:1: it has 1 column" in told("tag", model, bad)


def test_labels_that_would_break_lines_are_refused(tmp_path):
    learner = SequenceLearner(template="word\n@label[-1]")
    learner.learn_many([["a", "b"]] * 3, [["x\ny", "z"]] * 3)
    save(learner, tmp_path / "m")
    (tmp_path / "s.conll").write_text("a\nb\n\n")
    done = perceptive("tag", tmp_path / "m", tmp_path / "s.conll", code=2)
    assert "the label 'x\\ny' would break the lines of the output; ask for --json" in done.stderr
    told = json.loads(perceptive("tag", tmp_path / "m", tmp_path / "s.conll", "--json").stdout)
    assert told["labels"] == ["x\ny", "z"]


TREEBANK = """\
# text = dogs bark
1\tdogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\tSpaceAfter=No
1.1\tx\t_\t_\t_\t_\t_\t_\t_\t_
2-2\tbark\t_\t_\t_\t_\t_\t_\t_\t_
2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_

"""


def test_a_treebank_goes_in_and_comes_out(tmp_path):
    train, model = tmp_path / "train.conllu", tmp_path / "a.model"
    train.write_text(TREEBANK * 5)
    chosen = ("--columns", "form,upos", "--label-column", "upos")
    perceptive("train", train, "--task", "tag", *chosen, "-o", model, "--quiet")
    assert (load_learner(model).columns, load_learner(model).label_column) == (("form", "upos"), "upos")
    bare = tmp_path / "bare.conllu"
    bare.write_text(TREEBANK.replace("NOUN", "_").replace("VERB", "_"))
    assert perceptive("tag", model, bare).stdout == TREEBANK
    lemmas = perceptive("tag", model, "-", "--columns", "lemma", "--json", input=TREEBANK).stdout
    assert json.loads(lemmas)["tokens"] == ["dog", "bark"]
    assert "misc.Margin" not in perceptive("tag", model, bare, "--kbest", 1).stdout
    assert "|SpaceAfter=No" in perceptive("tag", model, bare, "--margin").stdout
    assert perceptive("eval", model, train, "--label-column", "xpos").stdout.startswith("processed 10 tokens")
    assert json.loads(perceptive("tag", model, bare, "--json").stdout)["tokens"] == ["dogs", "bark"]
    assert perceptive("tag", model, "-", input="dogs\nbark\n").stdout == "dogs NOUN\nbark VERB\n\n"  # and plain columns
    done = perceptive("tag", model, bare, "--columns", "word", code=2)
    assert "--columns word: CoNLL-U has the columns id, form, lemma" in done.stderr


def test_marks_of_documents_comments_and_encodings_go_through(tmp_path):
    train, model = tmp_path / "train.txt", tmp_path / "a.model"
    text = "-DOCSTART- -X- O\n\n# not a token at all\nzoë NNP B-PER\nsleeps VBZ O\n\n"
    train.write_bytes((text * 5).replace("\n", "\r\n").encode("latin-1"))
    latin = ("--input-encoding", "latin-1")
    learn = ("train", train, "--task", "tag", "-o", model)
    assert "train.txt:4: not UTF-8" in perceptive(*learn, code=1).stderr
    told = json.loads(perceptive(*learn, *latin, "--columns", "0,2", "--label-column", 2, "--json").stdout)
    assert told["data"]["tokens"] == 10
    bare = text.replace("VBZ O", "VBZ").replace("B-PER", "").replace("NNP ", "NNP")
    tagged = "-DOCSTART- -X- O O\n\n# not a token at all\nzoë NNP B-PER\nsleeps VBZ O\n\n"
    assert perceptive("tag", model, "-", *latin, input=bare.encode("latin-1")).stdout == tagged
    assert perceptive("eval", model, train, *latin).stdout.startswith("processed 10 tokens with 5 phrases; found: 5")
    explained = perceptive("explain", model, train, *latin, "--json").stdout.splitlines()[0]
    assert json.loads(explained)["tokens"] == ["zoë", "sleeps"]
    done = perceptive("tag", model, train, "--input-encoding", "utf-32", code=2)
    assert "--input-encoding: 'utf-32' has no ASCII in it" in done.stderr
    done = perceptive("tag", model, train, "--input-encoding", "foo", code=2)
    assert "--input-encoding: the encoding 'foo' is unknown; choose another" in done.stderr
    train.write_bytes(train.read_text("latin-1").encode("utf-16"))
    wide = perceptive("tag", model, train, "--input-encoding", "utf-16", "--columns", "0,1")
    assert "zoë" in wide.stdout
    done = perceptive("eval", model, train, code=1)
    assert "say which encoding it has by --input-encoding utf-16" in done.stderr


def test_standard_input_is_tagged_as_it_comes(chunks):
    """As a process: the first sentence is answered before the second is asked."""
    model = chunks / "a.model"
    perceptive("train", chunks / "train.conll", "--task", "tag", "-o", model, "--quiet", "--epochs", 2)
    tagging = start("tag", model, "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(2):
            tagging.stdin.write("the DT\ncat NN\n\n")
            tagging.stdin.flush()
            assert [tagging.stdout.readline() for _ in range(3)] == ["the DT B-NP\n", "cat NN I-NP\n", "\n"]
        rest, _ = tagging.communicate("barks VBZ\n", timeout=60)
        assert rest == "barks VBZ B-VP\n\n"
    finally:
        tagging.kill()
    assert tagging.returncode == 0
