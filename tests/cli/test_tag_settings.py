"""What a tagger's files decide: its preset, its columns, and what is repaired; in every way that files may come."""

import os
import threading

import pytest

from command_line import perceptive
from perceptive import SequenceTagger, load_learner
from perceptive.data import sentence_files

NAMES = "Ada N B-PER\nByron N I-PER\nmet V O\n\nin P O\nRome N B-LOC\n. . O\n\nshe P O\nleft V O\n\n" * 20


def columns_of(text):
    """Sentences and labels of a file."""
    rows = [[line.split() for line in x.split("\n")] for x in text.strip().split("\n\n")]
    return [[(word, tag) for word, tag, _ in x] for x in rows], [[label for *_, label in x] for x in rows]


def train(*data, model, **more):
    done = perceptive("train", *data, "--task", "tag", "-o", model, "--quiet", **more)
    return load_learner(model), done.stderr


# ---------------------------------------------------------------- labels that break their scheme


@pytest.mark.parametrize("how", [(), ("--follow",)])
def test_labels_are_repaired_where_a_model_goes_on(tmp_path, how):
    files, model = tmp_path / "a.conll", tmp_path / "a.model"
    files.write_text(NAMES)
    train(files, model=model)
    files.write_text("met V O\nAda N I-PER\n\n")
    learner, said = train(files, "--continue", model, *how, model=model)
    assert f"warning: {files}:2: label 'I-PER' is not allowed here in the scheme 'bio'; they are read as" in said
    assert learner.given == "bio"
    refused = ("train", files, "--task", "tag", "-o", model, "--quiet", "--continue", model, *how, "--repair", "error")
    assert f"{files}:2: label 'I-PER' is not allowed here" in perceptive(*refused, code=1).stderr


def test_a_model_goes_on_with_options_that_agree_with_it(tmp_path):
    files, model = tmp_path / "a.conll", tmp_path / "a.model"
    files.write_text(NAMES)
    train(files, model=model)
    learner, _ = train(files, "--continue", model, "--rule", "pa1", "--encoding", "bioes", model=tmp_path / "b.model")
    assert learner.parameters.rule == "pa1"
    other = ("train", files, "--task", "tag", "-o", model, "--continue", model, "--rule", "pa", "--encoding", "bioes")
    assert "it was trained with; leave out --rule\n" in perceptive(*other, code=2).stderr


# ---------------------------------------------------------------- the preset, and what it brings


def said_of(learner):
    p = learner.parameters
    return p.rule, p.C, p.encoding, learner.templates.text


@pytest.mark.parametrize("text", [NAMES, NAMES.replace("B-PER", "PER").replace("I-PER", "PER").replace("B-LOC", "LOC")])
def test_a_pipe_gives_the_model_that_the_file_gives(tmp_path, text):
    file, fifo, model = tmp_path / "a.conll", tmp_path / "fifo", tmp_path / "a.model"
    file.write_text(text)
    train(file, model=model)
    whole = model.read_bytes()
    train("-", input=text, model=model)
    assert model.read_bytes() == whole
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_text(text))
    writer.start()
    train(fifo, model=model)
    writer.join()
    assert model.read_bytes() == whole


@pytest.mark.parametrize("template", [(), ("--template", "ner")])
def test_a_stream_takes_what_the_preset_brings(tmp_path, template):
    learner, _ = train("--follow", "-", *template, input=NAMES, model=tmp_path / "a.model")
    X, y = columns_of(NAMES)
    tagger = SequenceTagger(template="ner" if template else "auto")
    for x, labels in zip(X, y, strict=True):
        tagger.learn_one(x, labels)
    assert said_of(learner) == said_of(tagger.learner_)
    assert said_of(learner)[:3] == ("pa1", 0.03, "bioes")
    assert learner.predict_many(X) == tagger.predict(X)
    learner, _ = train("--follow", "-", *template, "--rule", "perceptron", input=NAMES, model=tmp_path / "a.model")
    assert said_of(learner)[::2] == ("perceptron", "bioes")


def test_sentences_without_names_do_not_choose_the_preset(tmp_path):
    nothing = "she P O\nleft V O\n\n"
    X, y = columns_of(nothing + NAMES)
    tagger = SequenceTagger().learn_one(X[0], y[0])
    assert said_of(tagger.learner_)[:3] == ("pa1", 0.03, "bioes")
    tagger.partial_fit(X[1:], y[1:])
    assert tagger.scheme_ == "bio"
    learner, _ = train("--follow", "-", input=nothing + NAMES, model=tmp_path / "a.model")
    assert said_of(learner) == said_of(tagger.learner_)
    file = tmp_path / "a.conll"
    file.write_text(nothing * 1001 + NAMES)
    assert said_of(train(file, model=tmp_path / "a.model")[0]) == said_of(learner)


def test_tags_that_are_written_as_segments(tmp_path):
    """Of VLSP's parts of speech each begins with B-; a name that is a whole sentence tells of no such thing."""
    file = tmp_path / "a.conll"
    file.write_text("the B-D\ndog B-N\nbarks B-V\n\n" * 40)
    learner, _ = train(file, model=tmp_path / "a.model")
    assert "suffix(1..7, norm)" in learner.templates.text
    assert learner.scheme == "bio"
    assert learner.given is None  # no encoding
    file.write_text("Ada B-PER\n")
    assert "suffix(1..5)" in train(file, model=tmp_path / "a.model")[0].templates.text


# ---------------------------------------------------------------- columns


def test_presets_read_all_columns_of_a_token(tmp_path):
    file, model = tmp_path / "a.conll", tmp_path / "a.model"
    file.write_text(NAMES)
    learner, said = train(file, model=model)
    assert "col(1)[-1:1]" in learner.templates.text
    assert not said
    assert learner.templates.n_base == 2
    told = perceptive("tag", model, "--text", "Ada Byron met", code=1).stderr
    assert "the templates read 2; " in told
    assert "(for raw text: words alone, 'perceptive train --columns 0')" in told
    learner, _ = train(file, "--columns", "0", model=model)
    assert "col(1)" not in learner.templates.text
    assert perceptive("tag", model, "--text", "Ada Byron met", "--spans").stdout.startswith("0\t9\tPER\tAda")
    X, y = columns_of(NAMES)
    tags = [[token[1] for token in x] for x in X]
    pairs = [[(word, label) for (word, _), label in zip(*one, strict=True)] for one in zip(X, y, strict=True)]
    further = SequenceTagger().fit(pairs, tags)
    assert "norm[0] & col(1)[0]" in further.learner_.templates.text
    words = SequenceTagger(template="ner").fit([[word for word, _ in x] for x in X], y)
    assert "col(1)" not in words.learner_.templates.text
    with pytest.raises(ValueError, match="the templates read 2; give them, or train with fewer columns or other"):
        SequenceTagger().fit(X, y).predict([["Ada"]])


def test_columns_that_are_named_and_not_read_are_told(tmp_path):
    file, model = tmp_path / "a.conll", tmp_path / "a.model"
    file.write_text(NAMES)
    note = "note: the templates read the first 1 of 2 columns of a token; the others are not used"
    for how in ((), ("--follow",)):
        assert note in train(file, "--columns", "0,1", "--template", "hmm", *how, model=model)[1]
        assert "note" not in train(file, "--columns", "0,1", *how, model=model)[1]
        assert "note" not in train(file, "--template", "hmm", *how, model=model)[1]


@pytest.mark.parametrize("begin", [0, 1, 7])
def test_a_column_that_counts_tokens_is_left_out(tmp_path, begin):
    sentences = NAMES.strip().split("\n\n")
    counted = ("\n".join(f"{t} {line}" for t, line in enumerate(x.split("\n"), begin)) for x in sentences)
    file, plain, model = tmp_path / "a.conll", tmp_path / "b.conll", tmp_path / "a.model"
    file.write_text("\n\n".join(counted) + "\n")
    plain.write_text(NAMES)
    learner, said = train(file, model=model)
    assert f"warning: {file}: column 0 counts the tokens, and is left out" in said
    assert learner.columns == ("1", "2")
    assert learner.core.fingerprint == train(plain, model=tmp_path / "b.model")[0].core.fingerprint
    assert "FB1: 100.00" in perceptive("eval", model, file).stdout
    assert perceptive("tag", model, file).stdout.startswith(f"{begin} Ada N B-PER B-PER\n")
    followed, said = train("--follow", file, model=tmp_path / "c.model")
    assert followed.columns == ("1", "2")
    assert "column 0 counts" in said
    with pytest.warns(UserWarning, match="column 0 counts the tokens"):
        assert sentence_files.read(file)[0][0] == [("Ada", "N"), ("Byron", "N"), ("met", "V")]
    learner, said = train(file, "--columns", "0,1,2", model=model)
    assert "counts" not in said
    assert learner.templates.n_base == 3


def test_a_file_without_empty_lines_is_told(tmp_path):
    file = tmp_path / "a.conll"
    file.write_text(NAMES.replace("\n\n", "\n") * 12)
    said = train(file, model=tmp_path / "a.model")[1]
    assert f"warning: {file}:1: a sentence of 1,920 tokens; separate sentences by an empty line" in said


def test_tabs_and_spaces_that_are_mixed_are_told(tmp_path):
    file = tmp_path / "a.conll"
    file.write_text("Ada\tN\tB-PER\nleft V O\n")
    said = perceptive("train", file, "--task", "tag", "-o", tmp_path / "a.model", code=1).stderr
    assert f"{file}:2: 1 column where line 1 has 3" in said
    assert "This line has spaces where line 1 has tabs; write the same in all" in said


def test_one_sentence_instead_of_many_is_told():
    X, y = columns_of(NAMES)
    tagger = SequenceTagger().fit(X, y)
    with pytest.raises(ValueError, match="it is a token, a tuple of strings; give a list of sentences"):
        tagger.predict(X[0])
    assert tagger.predict([tuple(X[0])]) == tagger.predict([X[0]])
    features = [[{"word": word} for word, _ in x] for x in X]
    tagger = SequenceTagger().fit(features, y)
    with pytest.raises(TypeError, match="got a value of type 'dict'; give a list of sentences"):
        tagger.predict(features[0])
    with pytest.raises(TypeError, match="got a value of type 'str'; give a list of sentences"):
        SequenceTagger().fit([[word for word, _ in x] for x in X], y).predict(["Ada", "left"])
