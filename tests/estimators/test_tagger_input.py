"""What taggers take and refuse."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from perceptive import Reranker, SequenceTagger, certify
from perceptive.learners import SequenceLearner
from tagger_data import X_TEST, X, Y, sentences

pytestmark = pytest.mark.core


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        ([["a"], []], [["x"], []], ValueError, "sentence 1: it is empty"),
        ([], [], ValueError, "no sentences"),
        ([["a", "b"]], [["x"]], ValueError, "sentence 0: it has 2 tokens, but 1 label; "),
        ([["a"]], [["x"], ["y"]], ValueError, "X has 1 sentences, but y has 2"),
        (["a b"], [["x", "y"]], TypeError, "sentence 0: got a value of type 'str'"),
        ("ab", "xy", TypeError, "must come in a list"),
        ([[3]], [["x"]], TypeError, "sentence 0, token 0: got a value of type 'int'"),
        ([[("a", 3)]], [["x"]], TypeError, "sentence 0, token 0: a column is of type 'int'"),
        ([[("a",)]], [["x"]], ValueError, "sentence 0, token 0: it has 1 column, but the templates read 2"),
        ([["\ud800"]], [["x"]], ValueError, "UTF-8"),
        ([[{"f": float("nan")}]], [["x"]], ValueError, "sentence 0, token 0: the feature .f. is neither"),
        ([[{"f": [1]}]], [["x"]], ValueError, "neither a finite number nor a string"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_learned(X, y, error, message):
    template = "word\npos" if "column" in message else "word"
    tagger = SequenceTagger(template=template)
    good = [[("a", "b"), ("c", "d")]] if "column" in message else [["a", "c"]]
    good = [[{"f": 1.0}, {"f": 2.0}]] if "neither" in message else good
    tagger.fit(good, [["x", "y"]])
    before = tagger.learner_.snapshot()[0]
    with pytest.raises(error, match=message):
        tagger.partial_fit(X, y)
    after = tagger.learner_.snapshot()[0]
    assert all(np.array_equal(before[name], after[name]) for name in ("state.weight", "edge.weight", "run"))
    with pytest.raises(error, match=message):
        clone(tagger).fit(X, y)


def test_unfitted_and_wrong_parameters():
    with pytest.raises(ValueError, match="fit"):
        SequenceTagger().predict([["a"]])
    for parameters in ({"rule": "arow"}, {"C": -1}, {"beam": -1}, {"k": 0}, {"margin": 1.0, "rule": "pa1"}):
        with pytest.raises(ValueError, match=r"must be|goes with"):
            SequenceTagger(**parameters).fit(X, Y)
    with pytest.raises(ValueError, match="keep='all'"):
        SequenceTagger(template="hmm").fit(X, Y).predict(X, hypothesis="voted")
    with pytest.raises(ValueError, match="not one of the labels"):
        SequenceTagger(template="hmm").fit(X, Y).predict([["a"]], forced=[["B-NIX"]])


def test_an_empty_sentence_has_no_labels():
    tagger = SequenceTagger(template="hmm").fit(X, Y)
    assert tagger.predict([[], ["tell"]]) == [[], ["O"]]
    assert tagger.predict_kbest([[]], 3) == [[([], 0.0)]]
    assert tagger.predict([]) == []


def test_one_token_of_a_megabyte():
    word = "x" * 10**6
    tagger = SequenceTagger(template="ner").fit([[word, "b"]], [["O", "B-X"]])
    assert tagger.predict([[word, "b"]])[0][1] in ("O", "B-X")


@pytest.mark.once
def test_a_sentence_of_100_000_tokens():
    x, y = X * 70, Y * 70
    x, y = [word for one in x for word in one][:100_000], [label for one in y for label in one][:100_000]
    tagger = SequenceTagger(template="ner").fit(X, Y)
    predicted = tagger.predict([x])[0]
    assert np.mean([a == b for a, b in zip(predicted, y, strict=True)]) > 0.98
    assert tagger.predict_kbest([x[:1000]], 2)[0][0][0] == tagger.predict([x[:1000]])[0]
    tagger.learn_one(x, y)


def test_classes_may_be_told_before_the_templates_are_chosen():
    tagger, labels = SequenceTagger(), ["D", "N", "V"]
    for _ in range(10):
        tagger.partial_fit([["a", "b", "c"]], [labels], classes=labels)
    assert tagger.predict([["a", "b", "c"]]) == [labels]


def test_a_call_that_fails_changes_nothing():
    tagger = SequenceTagger(template="chunking").partial_fit([[("a", "N"), ("b", "V")]], [["O", "O"]])
    with pytest.raises(ValueError, match="column"):
        tagger.partial_fit([[("a",), ("b",)]], [["B-X", "I-X"]])
    assert (tagger.classes_, tagger.scheme_) == (["O"], None)
    tagger = SequenceTagger()
    with pytest.raises(ValueError, match="column"):
        tagger.partial_fit([[("a", "N"), ("b",)]], [["N", "V"]])
    assert tagger.partial_fit([["a", "b"]], [["D", "E"]]).classes_ == ["D", "E"]


def test_every_sentence_is_checked_before_some_are_held_out():
    X, y = [["a", "b"]] * 20, [["N", "V"]] * 20
    for bad in range(20):
        labels = [*y[:bad], ["N"], *y[bad + 1 :]]
        with pytest.raises(ValueError, match=f"sentence {bad}: it has 2 tokens"):
            SequenceTagger(template="hmm", validation_fraction=0.2).fit(X, labels)


def test_partial_fit_takes_iterators():
    tagger = SequenceTagger(template="hmm").partial_fit(iter([["a", "b"]]), iter([["N", "V"]]))
    assert tagger.predict([["a", "b"]], hypothesis="last") == [["N", "V"]]


def test_probabilities_without_scores_are_refused_at_once():
    tagger = SequenceTagger(template="hmm", probability=True, hypothesis="voted")
    with pytest.raises(ValueError, match="probability=True"):
        tagger.fit(*sentences(20))
    assert not hasattr(tagger, "learner_")


@pytest.mark.parametrize("options", [{}, {"validation_fraction": 0.2}, {"probability": True, "min_count": 2}])
def test_a_tagger_certifies_its_run(options):
    X, y = sentences(40)
    tagger = SequenceTagger(template="word[-1:1]\n@label[-1]", certify=True, **options).fit(X, y)
    certificate = tagger.certificate_
    assert certificate.holds
    assert not certificate.hypothetical
    assert certificate.updates == tagger.learner_.updates
    assert tagger.certificate(X, y).hypothetical == bool(options)  # some were held out
    assert tagger.certificate(X, y).updates == certificate.updates
    tagger.learn_one(X[0], y[0])
    assert not hasattr(tagger, "certificate_")
    assert not hasattr(tagger.fit(X, y).partial_fit(X, y), "certificate_")
    assert not hasattr(tagger.set_params(certify=False).fit(X, y), "certificate_")


def test_certify_leaves_the_learner_as_it_is():
    X, y = sentences(10)
    learner = SequenceLearner(template="hmm")
    learner.learn_many(X, y)
    labels, scheme = list(learner.labels), learner.scheme
    certify(learner, X, y)
    with pytest.raises(ValueError, match=r"sentence 0, token 1: .* never seen the label 'N'"):
        certify(learner, [["a", "b"]], [["O", "N"]])
    with pytest.raises(ValueError, match="sentence 0, token 1: label 'I-PER' is not allowed"):
        certify(learner, [["a", "b"]], [["O", "I-PER"]])
    assert (learner.labels, learner.scheme) == (labels, scheme)


# ---------------------------------------------------------------- where it went wrong


@pytest.mark.parametrize("options", [{"validation_fraction": 0.3}, {"probability": True}])
def test_errors_number_sentences_as_they_were_given(options):
    X, y = [["a", "b"] for _ in range(20)], [["B-X", "I-X"] for _ in range(20)]
    for bad in range(20):
        strange = [*X[:bad], ["a", 3], *X[bad + 1 :]]
        tagger = SequenceTagger(template="hmm", **options)
        with pytest.raises(TypeError, match=f"^sentence {bad}, token 1: got a value of type 'int'"):
            tagger.fit(strange, y)
        assert not hasattr(tagger, "learner_")
        wrong = [*y[:bad], ["O", "I-X"], *y[bad + 1 :]]
        with pytest.raises(ValueError, match=f"^sentence {bad}, token 1: label 'I-X' is not allowed here"):
            SequenceTagger(template="hmm", constraints="bio", repair="error", **options).fit(X, wrong)


@pytest.mark.parametrize(
    ("X", "y", "options", "error", "message"),
    [
        ([["a"]], [[["x"]]], {}, ValueError, "sentence 0, token 0: .* cannot be a label"),
        ([["a", "b"]], [["x", float("nan")]], {}, ValueError, "sentence 0, token 1: nan cannot be a label"),
        ([["a", "b"]], [[None, None]], {}, ValueError, "all are None"),
        ([["a"]], [["x"]], {"template": lambda x, t: 3}, TypeError, "token 0: the template's function gave a int"),
        ([["a"]], [["x"]], {"template": lambda x, t: "abc"}, TypeError, "gave a str"),
    ],
)
def test_what_no_tagger_can_learn_is_said(X, y, options, error, message):
    with pytest.raises(error, match=message):
        SequenceTagger(**{"template": "hmm", **options}).fit(X, y)


def test_numbers_that_are_none_are_refused():
    tagger = SequenceTagger(template="hmm").fit(X, Y)
    for k in (0, -1, 2.5, "3", True):
        with pytest.raises(ValueError, match="whole number"):
            tagger.predict_kbest(X, k)
    with pytest.raises(ValueError, match=r"X has 200 sentences, but y has 1"):
        tagger.score(X, Y[:1])


def test_what_a_beam_says_is_of_one_path():
    tagger = SequenceTagger(template="word[1]\n@label[-1]", encoding="bioes", beam=2, epochs=1, probability=True).fit(
        X, Y
    )
    whole = tagger.learner_.parameters
    differ = 0
    for x, labels, probable in zip(X_TEST, tagger.predict(X_TEST), tagger.predict_proba(X_TEST), strict=True):
        assert tagger.predict_kbest([x], 3)[0][0][0] == labels
        assert [tagger.classes_[y] for y in probable.argmax(axis=1)] == labels
        tagger.learner_.parameters = replace(whole, beam=0)
        differ += tagger.predict([x])[0] != labels
        tagger.learner_.parameters = whole
    assert differ  # else the beam is too wide to tell


def test_generators_are_taken_as_lists():
    X, y = [["Ann", "left"], ["we", "left"]], [["B-P", "O"], ["O", "O"]]
    expected = SequenceTagger().fit(X, y).predict(X)
    assert SequenceTagger().fit((iter(x) for x in X), (iter(labels) for labels in y)).predict(X) == expected
    one = SequenceTagger().partial_fit((x for x in X), (labels for labels in y)).learn_one(iter(X[0]), iter(y[0]))
    assert one.predict(iter(X))[0] == y[0]


def test_a_column_that_counts_the_tokens_is_told_as_in_files():
    X = [[(str(t), word) for t, word in enumerate(["the", "dog", "barks"], 1)] for _ in range(5)]
    y = [["D", "N", "V"]] * 5
    with pytest.warns(UserWarning, match="column 0 counts the tokens"):
        SequenceTagger(template="word").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SequenceTagger(template="word").fit([[("7", "km"), ("7", "h"), ("8", "m")]] * 5, y)


def test_what_was_never_met_is_told_in_labels_of_the_user():
    """Within, labels are BIOES: I-PER there is not the I-PER that was given and is known."""
    tagger = SequenceTagger(template="ner").fit([["Ada", "Byron", "met"]], [["B-PER", "I-PER", "O"]])
    for y, said in (
        (
            ["B-PER", "I-PER", "I-PER"],
            "token 1: the learner has never seen a segment 'PER' of three or more tokens; leave out",
        ),
        (["B-PER", "O", "O"], "token 0: the learner has never seen a segment 'PER' of one token; leave out"),
        (["O", "B-LOC", "O"], "token 1: the learner has never seen the label 'B-LOC'; leave out"),
    ):
        with pytest.raises(ValueError, match=said):
            certify(tagger, [["Ada", "King", "Byron"]], [y])


@pytest.mark.parametrize("token", [None, 3, 2.5])
@pytest.mark.parametrize("template", ["auto", "ner", "hmm"])
def test_tokens_that_are_no_strings(token, template):
    with pytest.raises(TypeError, match=r"sentence 0, token 0: .*give a string, a tuple of columns or a dict"):
        SequenceTagger(template=template).fit([[token, "a"]], [["O", "X"]])


def test_weights_that_are_all_0():
    words, labels = sentences(6)
    nothing = [0.0] * len(words)
    for estimator in (SequenceTagger(), Reranker()):
        with pytest.raises(ValueError, match="all examples have weight 0: there is nothing to learn"):
            estimator.fit(words, labels, sample_weight=nothing)
    tagger = SequenceTagger(template="hmm").fit(words, labels)
    before = tagger.learner_.updates
    assert tagger.partial_fit(words, labels, sample_weight=nothing).learner_.updates == before  # a batch among many
