"""`SequenceTagger` as a whole: the contract of an estimator for sequences, the notes' sentences, bad input."""

import inspect
import math
import threading
from dataclasses import fields, replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score

from perceptive import SequenceTagger, certify
from perceptive.features import schemes
from perceptive.learners import SequenceLearner
from perceptive.parameters import SequenceParameters, TrainingParameters
from perceptive.reference.rules import Rule
from perceptive.reference.sequence import SequencePerceptron
from tagger_data import X_TEST, Y_TEST, X, Y, sentences

pytestmark = pytest.mark.core

NOTES = ["When will prof Cohen post the notes", "tell Ziv William is on the way"]
RECORD = (
    "P.P.Wangikar , T.P. Graycar , D.A. Estell , D.S. Clark , J.S. Dordick (1993) Protein and Solvent Engineering of "
    "Subtilising BPN' in Nearly Anhydrous Organic Media J.Amer. Chem. Soc. 115, 12231-12237."
)


# ---------------------------------------------------------------- the notes


def test_the_sentences_of_the_notes():
    X = [sentence.split() for sentence in NOTES]
    y = [["O", "O", "B", "I", "O", "O", "O"], ["O", "B", "B", "O", "O", "O", "O"]]
    text = "(y==B or y==I) and capitalised\ny==B and y[-1]==B\nword[0]\nword[-1]\n@label[-1]"
    tagger = SequenceTagger(template=text, hypothesis="last", epochs=100).fit(X, y)
    assert tagger.converged_
    assert tagger.predict(X) == y
    assert tagger.scheme_ == "bio"


def test_the_bibliography_record_of_the_notes():
    record = RECORD.split()
    fields = [("Author", 13), ("Year", 1), ("Title", 12), ("Journal", 3), ("Volume", 1), ("Page", 1)]
    labels = [f"{'B' if i == 0 else 'I'}-{name}" for name, n in fields for i in range(n)]
    assert len(record) == len(labels)
    tagger = SequenceTagger(template="records", hypothesis="last", epochs=50).fit([record], [labels])
    assert tagger.predict([record]) == [labels]
    assert [kind for _, _, kind in schemes.spans(tagger.predict([record])[0])] == [name for name, _ in fields]


# ---------------------------------------------------------------- the contract


def test_parameters_are_those_of_the_learner():
    signature = inspect.signature(SequenceTagger.__init__).parameters
    declared = {f.name: f.default for cls in (SequenceParameters, TrainingParameters) for f in fields(cls)}
    own = {name: p.default for name, p in signature.items() if name not in ("self", "probability", "certify")}
    assert own == declared


def test_it_learns():
    tagger = SequenceTagger(template="ner").fit(X, Y)
    assert tagger.score(X_TEST, Y_TEST) > 0.98
    assert tagger.classes_ == ["B-ORG", "B-PER", "I-ORG", "I-PER", "O"]
    assert tagger.n_iter_ == len(tagger.mistakes_) == len(tagger.updates_)


def test_fit_forgets_and_is_the_same_each_time():
    tagger = SequenceTagger(template="ner", rule="pa1")
    first = tagger.fit(X, Y).predict_kbest(X_TEST, 3)
    assert tagger.fit(X[:10], Y[:10]).fit(X, Y).predict_kbest(X_TEST, 3) == first
    assert clone(tagger).fit(X, Y).predict_kbest(X_TEST, 3) == first


def test_prediction_changes_nothing():
    tagger = SequenceTagger(template="ner").fit(X, Y)
    before = tagger.learner_.snapshot()[0]
    tagger.predict([["unheard", "Of"]])
    tagger.predict_kbest(X_TEST, 3)
    tagger.decision_margin(X_TEST)
    after = tagger.learner_.snapshot()[0]
    assert all((before[name] == after[name]).all() for name in before)


def test_learning_many_is_learning_one_by_one():
    many, single = SequenceTagger(template="ner"), SequenceTagger(template="ner")
    many.partial_fit(X, Y)
    for x, y in zip(X, Y, strict=True):
        single.learn_one(x, y)
    assert many.classes_ == single.classes_
    assert many.predict_kbest(X_TEST, 3) == single.predict_kbest(X_TEST, 3)
    assert many.mistakes_.sum() == single.learner_.mistakes


def test_new_labels_may_come_at_any_time():
    tagger = SequenceTagger(template="ner", keep="all").partial_fit(X, Y)
    more, labels = sentences(100, seed=3, kinds=("LOC",))
    tagger.partial_fit(more, labels)
    tagger.partial_fit(more, labels)
    assert "B-LOC" in tagger.classes_
    assert tagger.score(more, labels) > 0.9
    for hypothesis in ("last", "averaged", "best", "voted"):
        assert len(tagger.predict(more, hypothesis=hypothesis)) == 100


def test_cross_validation_and_grid_search():
    assert cross_val_score(SequenceTagger(template="ner"), X, Y, cv=KFold(3)).min() > 0.9
    grid = GridSearchCV(SequenceTagger(template="ner"), {"rule": ["perceptron", "pa1"]}, cv=KFold(2)).fit(X, Y)
    assert grid.best_score_ > 0.9


@pytest.mark.parametrize("rule", ["perceptron", "pa", "pa1", "pa2", "mira"])
@pytest.mark.parametrize("second_order", [False, True])
def test_every_rule_learns(rule, second_order):
    template = "lower[-1:1]\nshape\n@label[-1]" + ("\n@label[-2]" if second_order else "")
    tagger = SequenceTagger(template=template, rule=rule, epochs=3).fit(X, Y)
    assert tagger.score(X_TEST, Y_TEST) > 0.95


def test_the_average_touches_only_what_errs():
    tagger = SequenceTagger(template="ner", epochs=1).fit(X, Y)
    core = tagger.learner_.core
    features = 2 * 55 * 10  # two labels of all features of a sentence, generously
    assert core.touched <= 2 * features * core.updates


def test_token_kinds():
    y = [["D", "N"], ["N"]]
    for some, template in (
        ([["the", "dog"], ["dogs"]], "word"),
        ([[("the", "x"), ("dog", "y")], [("dogs", "y")]], "word\npos"),
        ([[{"w": "the"}, {"w": "dog", "n": 2.5}], [{"w": "dogs", "ok": True}]], "auto"),
        ((("the", "dog"), ("dogs",)), "word"),
        ([np.array(["the", "dog"]), np.array(["dogs"])], "word"),
    ):
        tagger = SequenceTagger(template=template, hypothesis="last").fit(some, y)
        assert tagger.predict(some) == y


def test_a_callable_gives_features():
    def features(sentence, t):
        return {"word": sentence[t].lower(), "last": t == len(sentence) - 1}

    tagger = SequenceTagger(template=features).fit(X, Y)
    assert tagger.score(X, Y) > 0.9
    names = SequenceTagger(template=lambda sentence, t: ["w=" + sentence[t], "bias"]).fit(X, Y)
    assert names.score(X, Y) > 0.9


def test_min_count_leaves_rare_features_out():
    X, y = [["a", "b"], ["a", "c"]], [["x", "y"], ["x", "y"]]
    learner = SequenceLearner(template="word", min_count=2)
    assert learner.dataset(X, y, epochs=1).sentences.features == 1
    assert SequenceLearner(template="word").dataset(X, y, epochs=1).sentences.features == 3


def test_unknown_labels_in_the_test_are_scored():
    tagger = SequenceTagger(template="ner").fit(X, Y)
    strange = [["B-XYZ" if label == "B-PER" else label for label in labels] for labels in Y_TEST]
    assert 0 < tagger.score(X_TEST, strange) < tagger.score(X_TEST, Y_TEST)


def test_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    noisy = [["O" if rng.random() < 0.3 else label for label in labels] for labels in Y]
    noisy = [schemes.convert(labels, "bio", "bio") for labels in noisy]
    tagger = SequenceTagger(template="hmm", probability=True).fit(X, noisy)
    found = tagger.predict_proba(X_TEST)
    for p, labels in zip(found, tagger.predict(X_TEST), strict=True):
        assert p.sum(axis=1) == pytest.approx(1)
        best = [tagger.classes_.index(label) for label in labels]
        assert (p[np.arange(len(best)), best] >= p.max(axis=1) - 1e-12).all()
    with pytest.raises(AttributeError, match="probability=True"):
        SequenceTagger(template="hmm").fit(X, Y).predict_proba(X)


def test_margins_agree_with_the_two_best():
    tagger = SequenceTagger(template="ner").fit(X, Y)
    margins = tagger.decision_margin(X_TEST, per="sequence")
    for margin, (best, second) in zip(margins, tagger.predict_kbest(X_TEST, 2), strict=True):
        assert margin == pytest.approx(best[1] - second[1], abs=1e-4)


def test_hypotheses_equal_the_twins():
    X, y = sentences(12, seed=5)
    tagger = SequenceTagger(template="word[0]\n@label[-1]", keep="all", shuffle=False, constraints=None, epochs=4)
    tagger.fit(X, y)
    labels = tagger.classes_
    twin = SequencePerceptron(len(labels), Rule())
    for _ in range(tagger.n_iter_):
        for x, ys in zip(X, y, strict=True):
            twin.learn([{"word": 0.0, w: 1.0} for w in x], [labels.index(label) for label in ys])
    assert tagger.learner_.mistakes == twin.mistakes
    x = X[0]
    assert tagger.predict([x], hypothesis="voted") == [[labels[i] for i in twin.vote([{w: 1.0} for w in x])]]


def test_thinned_voters_are_the_longest_survivors():
    whole = SequenceTagger(template="ner", hypothesis="voted").fit(X, Y)
    thin = SequenceTagger(template="ner", hypothesis="voted", max_voters=5).fit(X, Y)
    survival = thin.learner_.core.survival
    longest = sorted(whole.learner_.core.survival[:-1], reverse=True)[:5]
    assert sorted(survival[:-1], reverse=True)[:5] == longest
    assert thin.score(X_TEST, Y_TEST) > 0.9


def test_early_stopping_goes_back_to_the_best_pass():
    tagger = SequenceTagger(template="hmm", validation_fraction=0.2, patience=2, epochs=30).fit(X, Y)
    assert len(tagger.held_out_) == tagger.n_iter_
    assert tagger.n_iter_ - 1 - int(np.argmax(tagger.held_out_)) <= 2


def test_predictions_of_a_cross_validation_are_put_together():
    tagger = SequenceTagger(template="hmm")
    for x, y in ((X, Y), ([["a", "b"], ["b", "a"], ["a", "a"]], [["A", "B"], ["B", "A"], ["A", "A"]])):
        found = cross_val_predict(tagger, x, y, cv=KFold(2, shuffle=True, random_state=0))
        assert found.shape == (len(x),)
        for taught, held in KFold(2, shuffle=True, random_state=0).split(x):
            tagger.fit([x[i] for i in taught], [y[i] for i in taught])
            assert found[held].tolist() == tagger.predict([x[i] for i in held])


def test_the_certificate_holds():
    X, y = sentences(60, seed=2)
    tagger = SequenceTagger(template="word[-1:0]\n@label[-1]", epochs=40).fit(X, y)
    certificate = certify(tagger.learner_, X, y)
    assert certificate.holds
    assert certificate.separable == tagger.converged_ is True
    assert not certificate.hypothetical
    assert certificate.radius == pytest.approx(math.sqrt(tagger.learner_.core.radius2))
    other = certify(tagger.learner_, X[:30], y[:30])
    assert other.hypothetical
    for bound in (other.bound, 1e9):  # also where it says nothing
        assert str(replace(other, bound=bound)).startswith("On data other than the run's: ")
    pa = SequenceTagger(template="hmm", rule="pa1").fit(X, y)
    assert certify(pa.learner_, X, y).bound == math.inf


def test_threads_may_predict_at_once():
    tagger = SequenceTagger(template="ner").fit(X, Y)
    expected = tagger.predict(X_TEST)
    found = [None] * 4
    threads = [threading.Thread(target=lambda i=i: found.__setitem__(i, tagger.predict(X_TEST))) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        ([["a"], []], [["x"], []], ValueError, "sentence 1: it is empty"),
        ([], [], ValueError, "no sentences"),
        ([["a", "b"]], [["x"]], ValueError, "sentence 0: it has 2 tokens, but 1 labels"),
        ([["a"]], [["x"], ["y"]], ValueError, "X has 1 sentences, but y has 2"),
        (["a b"], [["x", "y"]], TypeError, "sentence 0: got a value of type 'str'"),
        ("ab", "xy", TypeError, "must come in a list"),
        ([[3]], [["x"]], TypeError, "sentence 0, token 0: got a value of type 'int'"),
        ([[("a", 3)]], [["x"]], TypeError, "sentence 0, token 0: a column is of type 'int'"),
        ([[("a",)]], [["x"]], ValueError, "sentence 0, token 0: it has 1 column, but the templates read 2"),
        ([["\ud800"]], [["x"]], ValueError, "UTF-8"),
        ([[{"f": float("nan")}]], [["x"]], ValueError, "sentence 0, token 0: a feature is neither"),
        ([[{"f": [1]}]], [["x"]], ValueError, "neither a finite number nor a string"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_learned(X, y, error, message):
    template = "word\npos" if "column" in message else "word"
    tagger = SequenceTagger(template=template)
    good = [[("a", "b"), ("c", "d")]] if "column" in message else [["a", "c"]]
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
    with pytest.raises(ValueError, match="none of the labels"):
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
    with pytest.raises(ValueError, match=r"sentence 0, token 1: .* never met the label 'N'"):
        certify(learner, [["a", "b"]], [["O", "N"]])
    with pytest.raises(ValueError, match="sentence 0, token 1: label 'I-PER' may not stand"):
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
        with pytest.raises(ValueError, match=f"^sentence {bad}, token 1: label 'I-X' may not stand here"):
            SequenceTagger(template="hmm", constraints="bio", **options).fit(X, wrong)


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
