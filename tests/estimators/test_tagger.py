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
from perceptive.estimators.tagger import OPEN
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
    assert own == {**declared, **dict.fromkeys(OPEN, "auto")}


def test_it_learns():
    tagger = SequenceTagger(template="ner").fit(X, Y)
    assert tagger.score(X_TEST, Y_TEST) > 0.98
    assert tagger.classes_ == ["B-ORG", "B-PER", "I-ORG", "I-PER", "O"]
    assert tagger.n_iter_ == len(tagger.mistakes_) == len(tagger.updates_)


@pytest.mark.once
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
    tagger = SequenceTagger(template="ner", keep="all").partial_fit(X[:80], Y[:80])
    more, labels = sentences(60, seed=3, kinds=("LOC",))
    tagger.partial_fit(more, labels)
    tagger.partial_fit(more, labels)
    assert "B-LOC" in tagger.classes_
    assert tagger.score(more, labels) > 0.9
    for hypothesis in ("last", "averaged", "best", "voted"):
        assert len(tagger.predict(more, hypothesis=hypothesis)) == 60


def test_weights_of_sentences():
    X, y = [["a"], ["a"], ["b"]], [["O"], ["I"], ["O"]]
    tagger = SequenceTagger(template="word", constraints=None, rule="pa1", C=0.1, epochs=5, certify=True)
    assert tagger.fit(X, y, [1.0, 9.0, 1.0]).predict([["a"]]) == [["I"]]
    assert tagger.fit(X, y, [9.0, 1.0, 1.0]).predict([["a"]]) == [["O"]]
    tagger.fit(X, y, [0.0, 1.0, 1.0])
    assert tagger.predict([["a"]]) == [["I"]]
    assert tagger.learner_.rounds % 2 == 0
    perceptron = tagger.set_params(rule="perceptron").fit(X, y, [2.0, 0.0, 0.5])
    assert perceptron.certificate_.holds
    assert not perceptron.certificate_.hypothetical
    assert not perceptron.certificate(X, y, [2.0, 0.0, 0.5]).hypothetical
    assert perceptron.certificate(X, y).hypothetical
    again = SequenceTagger(template="word", constraints=None, rule="perceptron")
    again.partial_fit(X, y, sample_weight=[2.0, 0.0, 0.5])
    assert again.learner_.rounds == 2
    with pytest.raises(ValueError, match=r"weights other than 0 and 1 do not go with rule='mira'"):
        tagger.set_params(rule="mira").fit(X, y, [2.0, 1.0, 1.0])


@pytest.mark.once
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
    assert core.run.touched <= 2 * features * core.run.updates


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
    with pytest.raises(ValueError, match="probability=True"):
        SequenceTagger(template="hmm").fit(X, Y).predict_proba(X)


def test_margins_agree_with_the_two_best():
    tagger = SequenceTagger(template="ner").fit(X, Y)
    margins = tagger.decision_margin(X_TEST, per="sequence")
    for margin, (best, second) in zip(margins, tagger.predict_kbest(X_TEST, 2), strict=True):
        assert margin == pytest.approx(best[1] - second[1], abs=1e-4)


def test_hypotheses_equal_the_twins():
    X, y = ([one[:5] for one in part] for part in sentences(12, seed=5))  # short: the twin looks at all paths
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
    assert certificate.radius == pytest.approx(math.sqrt(tagger.learner_.core.run.radius2))
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
