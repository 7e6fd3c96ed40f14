"""`SequenceTagger` under threads, hostile files and wrong arguments."""

import json
import threading

import numpy as np
import pytest

import perceptive
from perceptive import SequenceTagger, _core, cli
from perceptive.features import terms
from perceptive.features.templates import Templates
from perceptive.learners import SequenceLearner

pytestmark = pytest.mark.core

X = [["tell", "Ziv", "William", "is", "on", "the", "way"], ["When", "will", "prof", "Cohen", "post", "the", "notes"]]
Y = [["O", "B-P", "B-P", "O", "O", "O", "O"], ["O", "O", "B-P", "I-P", "O", "O", "O"]]


def together(learn, *predictions):
    """Call predictions over and over in threads while `learn` runs; what they raised."""
    over, raised = threading.Event(), []

    def repeat(predict):
        while not over.is_set():
            try:
                predict()
            except Exception as error:
                raised.append(error)

    threads = [threading.Thread(target=repeat, args=(predict,)) for predict in predictions]
    for thread in threads:
        thread.start()
    try:
        learn()
    finally:
        over.set()
        for thread in threads:
            thread.join()
    return raised


# ---------------------------------------------------------------- threads


@pytest.mark.parametrize(
    "parameters",
    [
        {"template": "word\nword & @label[-1]\n@label[-1]"},
        {"template": "word\n@label[-1]", "segments": True, "max_segment": 3},
    ],
    ids=["pairs", "segments"],
)
def test_new_features_may_come_while_others_predict(parameters):
    """The averaged vector that predicts may be older than the model: it has no rows for what came since."""
    tagger = SequenceTagger(epochs=2, **parameters).fit(X, Y)
    learner, letters = tagger.learner_, str.maketrans("0123456789", "abcdefghij")  # digits are all alike to segments
    more = [[f"n{i}".translate(letters) for i in range(j * 40, j * 40 + 40)] for j in range(80)]
    labels = ["O", "B-P", "I-P", "B-P"] * 10

    def by(vector):
        return learner.core.predict(X + more, learner.labels, vector, _core.Forced(), 0)

    old = learner.core.average()
    before = by(old)

    def learn():
        for sentence in more:
            tagger.learn_one(sentence, labels)

    assert together(learn, lambda: tagger.predict(more[:20])) == []
    assert by(old) == before


@pytest.mark.parametrize("hypothesis", ["last", "averaged", "voted"])
def test_new_labels_may_come_while_others_predict(hypothesis):
    tagger = SequenceTagger(template="word\nshape & @label[-1]", keep="all", hypothesis=hypothesis).fit(X, Y)

    def learn():
        for i in range(20):
            tagger.learn_one(["new", "a", "b"], ["O", f"B-N{i}", f"I-N{i}"])

    def look():
        tagger.learner_.heaviest(3, "last")
        tagger.learner_.snapshot()

    raised = together(learn, lambda: tagger.predict(X * 10), look)
    assert {str(error) for error in raised} <= {"the model has changed while it was predicting; ask again"}
    assert all(type(error) is RuntimeError for error in raised)
    assert len(tagger.predict(X)) == 2
    assert "B-N19" in tagger.classes_


def test_a_model_that_changed_is_said_to_have():
    learner = SequenceLearner(template="word\nword & @label[-1]")
    learner.learn_many(X, Y)
    vector, names = learner.core.average(), list(learner.labels)
    learner.meet_labels(["B-Q"])
    for labels in (names, learner.labels):  # too few names; enough, but the vector has weights of the old labels
        with pytest.raises(RuntimeError, match="the model has changed while it was predicting; ask again"):
            learner.core.predict(X, labels, vector, _core.Forced(), 0)
    lesson = learner.dataset(X, Y, grow=False).sentences
    for ask in (learner.core.squared_norm, lambda v: learner.core.leads(lesson, v), lambda v: learner.core.state(v, 0)):
        with pytest.raises(RuntimeError, match="has changed"):
            ask(vector)


def test_a_vector_made_while_others_learn_is_made_again():
    learner = SequenceLearner(template="word\n@label[-1]", hypothesis="averaged")
    learner.learn_many(X, Y)
    old, kept = learner.vector(), dict(learner._vectors._made)
    learner.learn_many(X, Y)
    learner._vectors._made.update(kept)  # as a thread does that was late
    assert learner.vector() is not old
    assert learner.vector() is learner.vector()


def test_threads_may_unpack_a_model_at_once(tmp_path):
    """A pruned file stays packed for 50,000 tokens; then the first thread to see it unpacks it under the others."""
    tagger = SequenceTagger(template="word\n@label[-1]", epochs=2).fit(X, Y).prune()
    perceptive.save(tagger, tmp_path / "a.model")
    loaded, sentences = perceptive.load(tmp_path / "a.model"), X * 1100
    expected, found = tagger.predict(X) * 1100, [None] * 4

    def predict(i):
        if i == 3:
            loaded.learner_.heaviest(5)  # unpacks too
        found[i] = loaded.predict(sentences)

    threads = [threading.Thread(target=predict, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 4 * sum(map(len, sentences)) > 60_000
    assert found == [expected] * 4


# ---------------------------------------------------------------- templates


def test_templates_may_be_shared():
    shared = Templates("word\n@label[-1]")
    plain = SequenceTagger(template=shared).fit(X, Y)
    before = plain.predict(X)
    SequenceTagger(template=shared, segments=True).fit(X, Y)
    assert plain.prune().predict(X) == before
    assert plain.learner_.templates.derived == shared.derived == []


def test_a_restore_that_fails_changes_nothing():
    learner = SequenceLearner(template="hmm")
    learner.learn_many(X, Y)
    before = learner.predict_many(X)
    with pytest.raises(ValueError, match="no array"):
        learner.restore(({}, 0))
    assert learner.predict_many(X) == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word\nword[-15:15] & word[-15:15] & word[-15:15]", "line 2: 29,791 templates in a line; at most 1,000"),
        ("\n".join(f"{name}[-15:15] & word[-15:15]" for name in ("lower", "norm", "shape", "pattern", "length")
                   for _ in range(3)), "line 11: more than 10,000 templates"),
        ("word\ncol(10000)", "line 2: column 10000: the last that can be read is 9999"),
        ("lower(col 10000)", "line 1: column 10000"),
        ("U00:%x[0,10000]", "line 1: column 10000"),
        ("bag(@label[-1])", "line 1: .*a bag needs at least one term"),
    ],
)  # fmt: skip
def test_templates_have_limits(text, message):
    with pytest.raises(ValueError, match=message):
        Templates(text)


@pytest.mark.parametrize("text", ["# nothing\n", "columns word pos\n"])
def test_templates_that_read_nothing_are_refused(text):
    with pytest.raises(ValueError, match="there are no templates; write at least one"):
        SequenceTagger(template=text).fit(X, Y)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: terms.in_("cities", "Rome"), "the words are a str; give a set"),
        (lambda: terms.in_("c", [1]), "1 is not an entry; give strings"),
        (lambda: terms.in_(3), "give its name as a string"),
        (lambda: terms.prefix(1.5), "a number of characters is a whole number"),
        (lambda: terms.prefix("3"), "a number of characters is a whole number"),
        (lambda: terms.word[1.5], "an offset is a whole number"),
        (lambda: terms.word["a":2], "an offset is a whole number"),
        (lambda: terms.column(True), "column True: give its name"),
        (lambda: terms.column(1.5), "column 1.5: give its name"),
        (lambda: terms.bag("word"), "give a template"),
        (lambda: terms.y.is_in(3), "give labels as strings"),
    ],
)
def test_terms_of_wrong_types_are_refused(make, message):
    with pytest.raises(TypeError, match=message):
        make()


def test_a_bag_of_labels_is_refused():
    with pytest.raises(ValueError, match="a bag needs at least one term"):
        terms.bag(terms.label[-1])


def test_files_that_are_no_text_are_named(tmp_path):
    for name in ("a.template", "words.txt"):
        (tmp_path / name).write_bytes(b"word\n\xff\xfe")
    with pytest.raises(ValueError, match=r"a\.template: byte 5 is not UTF-8"):
        SequenceTagger(template=tmp_path / "a.template").fit(X, Y)
    with pytest.raises(ValueError, match=r"words\.txt\): byte 5 is not UTF-8"):
        SequenceTagger(template=f"in({tmp_path / 'words.txt'})\nword").fit(X, Y)


# ---------------------------------------------------------------- arguments


def test_learning_rates_fit_the_weights():
    for rate in (1e-40, 1e39):
        with pytest.raises(ValueError, match="learning_rate"):
            SequenceTagger(template="hmm", learning_rate=rate).fit(X, Y)


def test_scores_that_are_not_finite_are_told():
    cheap = [[(word, {}) for word in x] for x in X]
    tagger = SequenceTagger(template="hmm", hypothesis="last", learning_rate=1e30).fit(cheap, Y)
    dear = [("w", {"a": 3e38}), ("w", {"a": 3e38})]
    tagger.learn_one(dear, ["O", "B-P"])
    tagger.learn_one(dear, ["B-P", "B-P"])
    with pytest.raises(ValueError, match="sentence 1: no labels have a finite score"):
        tagger.predict_kbest([cheap[0], dear], 2)


def test_classes_of_a_call_that_fails_are_not_kept():
    tagger = SequenceTagger(template="hmm").partial_fit(X, Y, classes=["B-L", "I-P"])
    assert tagger.classes_ == ["B-L", "B-P", "I-P", "O"]
    with pytest.raises(ValueError, match="labels"):
        tagger.partial_fit(X, [Y[0], Y[1][:-1]], classes=["B-NEW"])
    assert tagger.classes_ == ["B-L", "B-P", "I-P", "O"]


def test_wrong_arguments_of_predictions_are_told():
    tagger = SequenceTagger(template="hmm").fit(X, Y)
    with pytest.raises(ValueError, match="k=1180591620717411303424: it must be a whole number"):
        tagger.predict_kbest(X, 2**70)
    with pytest.raises(ValueError, match=r"forced, sentence 0, token 0: \[1\] is not one of the labels"):
        tagger.predict([["a"]], forced=[[[1]]])


def test_a_recognised_scheme_outlives_a_file(tmp_path):
    perceptive.save(SequenceTagger(template="hmm", repair="error").fit(X, Y), tmp_path / "a.model")
    with pytest.raises(ValueError, match="is not allowed here in the scheme 'bio'"):
        perceptive.load(tmp_path / "a.model").learn_one(["a", "b"], ["O", "I-P"])


# ---------------------------------------------------------------- commands


@pytest.fixture
def columns(tmp_path):
    text = "\n\n".join("\n".join(map(" ".join, zip(x, y, strict=True))) for x, y in zip(X, Y, strict=True))
    (tmp_path / "train.conll").write_text(text + "\n")
    return tmp_path


def said(capsys, *arguments, code=1):
    assert cli.main([str(argument) for argument in arguments]) == code
    out, err = capsys.readouterr()
    return err if code else out


def test_what_cannot_be_done_is_told_before_training(columns, capsys):
    train = ("train", columns / "train.conll", "--task", "tag", "--template", "hmm", "-o")
    err = said(capsys, *train, columns / "nowhere" / "a.model")
    assert "the folder does not exist" in err
    assert "pass 1" not in err
    for threshold in ("nan", "-1"):
        err = said(capsys, *train, columns / "a.model", f"--prune={threshold}", code=2)
        assert "is not a number ≥ 0" in err
        assert "pass 1" not in err
    assert "would be lost" in said(capsys, *train, columns / "train.conll", code=2)


def test_types_that_are_only_predicted_are_counted(columns, capsys):
    said(capsys, "train", columns / "train.conll", "--task", "tag", "--template", "hmm", "--quiet",
         "-o", columns / "a.model", code=0)  # fmt: skip
    (columns / "test.conll").write_text("Ziv O\n\nCohen B-L\n")
    told = json.loads(said(capsys, "eval", columns / "a.model", columns / "test.conll", "--json", code=0))
    assert sorted(told["types"]) == ["L", "P"]
    assert told["types"]["P"]["phrases"] == told["types"]["P"]["correct"] == 0
    assert told["types"]["P"]["found"] == told["metrics"]["found"] >= 1
    assert told["types"]["L"]["phrases"] == told["metrics"]["phrases"] == 1


def test_memory_is_saved_by_bits_only_where_features_are_hashed():
    for options, hint in (("--task=tag", False), ("--kernel=linear", False), ("--task=rank", True), ("", True)):
        arguments = ["train", "data", "-o", "model", *filter(None, [options])]
        told = cli._message(MemoryError(), cli.parser(arguments).parse_args(arguments))
        assert ("--bits" in told) is hint
    assert "--bits" not in cli._message(MemoryError())


def test_wrong_thresholds_and_probabilities_are_refused():
    tagger = SequenceTagger(template="hmm").fit(X, Y)
    for threshold in ("a", None, True, -1, float("nan"), [1]):
        with pytest.raises(ValueError, match=r"threshold=.*must be a number ≥ 0"):
            tagger.prune(threshold)
    assert tagger.prune(np.float32(0.5)).predict(X)
    for probability in ("x", 1, None, 0.5):
        with pytest.raises(ValueError, match=r"probability=.*choose True or False"):
            SequenceTagger(template="hmm", probability=probability).fit(X, Y)


def test_tokens_of_a_sentence_have_the_same_columns():
    tagger = SequenceTagger(template="ner")
    three, one = ("a", "x", "y"), ("b",)
    for sentences, message in (
        ([[three, one]], "sentence 0, token 1: it has 1 column, but those before it have 3; give every"),
        ([["b", three]], "sentence 0, token 1: it has 3 columns, but those before it have 1"),
        ([["b", "c"], [one, one], ["b", {"word": 1.0}]], "sentence 2, token 1: it is a dict, but those before"),
        ([[{"word": 1.0}, "b"]], "sentence 0, token 1: it is not a dict, but those before it are; give all"),
    ):
        y = [["O", "B-X"]] * len(sentences)
        with pytest.raises(ValueError, match=message):
            tagger.fit(sentences, y)
        fitted = SequenceTagger(template="ner").fit([["b", "c"]], y[:1])
        said = "its tokens have features, but the tagger learned from columns" if "not a dict" in message else message
        for predict in (fitted.predict, fitted.decision_margin):
            with pytest.raises(ValueError, match=said):
                predict(sentences)
    with pytest.raises(ValueError, match="sentence 1, token 0: it has 1 column, but those before it have 3"):
        tagger.fit([[three], [one]], [["O"], ["O"]])
    fitted = SequenceTagger(template="ner").fit([["b", ("c",)]], [["O", "O"]])
    assert fitted.predict([[three], [one]]) == [["O"], ["O"]]  # what is not read may be there or not
