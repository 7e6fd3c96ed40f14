"""`SequenceTagger` as a whole: the contract of an estimator for sequences, the notes' sentences, bad input."""

import copy
import inspect
import itertools
import math
import pickle
import threading
import time
import warnings
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import perceptive
from perceptive import SequenceTagger, _core, certify, model_file
from perceptive.conlleval import evaluate, segments
from perceptive.features import schemes
from perceptive.features.terms import segment_in
from perceptive.learners import SequenceLearner
from perceptive.model_file import ModelFileError
from perceptive.parameters import SequenceParameters, TrainingParameters
from perceptive.reference.rules import Rule
from perceptive.reference.sequence import SequencePerceptron
from perceptive.reference.viterbi import all_paths
from perceptive.streams import conll

pytestmark = pytest.mark.core

NOTES = ["When will prof Cohen post the notes", "tell Ziv William is on the way"]
RECORD = (
    "P.P.Wangikar , T.P. Graycar , D.A. Estell , D.S. Clark , J.S. Dordick (1993) Protein and Solvent Engineering of "
    "Subtilising BPN' in Nearly Anhydrous Organic Media J.Amer. Chem. Soc. 115, 12231-12237."
)
NAMES = ["Ziv", "William", "Cohen", "Ada", "Grace"]
WORDS = ["tell", "will", "post", "the", "notes", "is", "on", "way", "when"]


def sentences(n, seed=0, kinds=("PER",)):
    """Sentences in which a capitalised word begins a name, and "prof" one that goes on."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words, labels = [], []
        while len(words) < 7:
            if rng.random() < 0.3:
                kind = str(rng.choice(kinds))
                parts = [kind.lower(), *rng.choice(NAMES, rng.integers(1, 3)).tolist()]
                words += parts
                labels += [f"B-{kind}"] + [f"I-{kind}"] * (len(parts) - 1)
            else:
                words.append(str(rng.choice(WORDS)))
                labels.append("O")
        X.append(words)
        y.append(labels)
    return X, y


X, Y = sentences(200, kinds=("PER", "ORG"))
X_TEST, Y_TEST = sentences(50, seed=1, kinds=("PER", "ORG"))


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
    own = {name: p.default for name, p in signature.items() if name not in ("self", "probability")}
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
    before = tagger.learner_.snapshot()
    tagger.predict([["unheard", "Of"]])
    tagger.predict_kbest(X_TEST, 3)
    tagger.decision_margin(X_TEST)
    after = tagger.learner_.snapshot()
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
    for X, template in (
        ([["the", "dog"], ["dogs"]], "word"),
        ([[("the", "x"), ("dog", "y")], [("dogs", "y")]], "word\npos"),
        ([[{"w": "the"}, {"w": "dog", "n": 2.5}], [{"w": "dogs", "ok": True}]], "auto"),
        ((("the", "dog"), ("dogs",)), "word"),
        ([np.array(["the", "dog"]), np.array(["dogs"])], "word"),
    ):
        tagger = SequenceTagger(template=template, hypothesis="last").fit(X, y)
        assert tagger.predict(X) == y


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
    assert learner.prepare(X, y, first=True).features == 1
    assert SequenceLearner(template="word").prepare(X, y, first=True).features == 3


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


def test_the_certificate_holds():
    X, y = sentences(60, seed=2)
    tagger = SequenceTagger(template="word[-1:0]\n@label[-1]", epochs=40).fit(X, y)
    certificate = certify(tagger.learner_, X, y)
    assert certificate.holds
    assert certificate.separable == tagger.converged_ is True
    assert not certificate.hypothetical
    assert certificate.radius == pytest.approx(math.sqrt(tagger.learner_.core.radius2))
    assert certify(tagger.learner_, X[:30], y[:30]).hypothetical
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


# ---------------------------------------------------------------- schemes


@pytest.mark.parametrize("scheme", ["bio", "iob1", "bioes"])
def test_schemes_are_recognised_and_kept(scheme):
    y = [schemes.convert(labels, "bio", scheme) for labels in Y]
    assert [schemes.convert(labels, scheme, "bio") for labels in y] == Y
    rng = np.random.default_rng(0)
    tagger = SequenceTagger(template="hmm", epochs=2).fit(X, y)
    assert tagger.scheme_ == scheme
    noise = [[str(word) for word in rng.choice(NAMES + WORDS + ["per", "org"], n)] for n in rng.integers(1, 9, 300)]
    for hypothesis in ("averaged", "last"):
        assert all(schemes.violation(scheme, p) is None for p in tagger.predict(noise, hypothesis=hypothesis))
    for paths in tagger.predict_kbest(noise[:50], 4):
        assert all(schemes.violation(scheme, labels) is None for labels, _ in paths)
    free = SequenceTagger(template="hmm", epochs=2, constraints=None).fit(X, y)
    assert free.scheme_ is None


def test_other_labels_are_free():
    assert SequenceTagger(template="word").fit([["a", "b"]], [["DT", "NN"]]).scheme_ is None


def test_a_wanted_scheme_is_enforced_on_the_training_data():
    with pytest.raises(ValueError, match="sentence 0, token 1: label 'I-NP' may not stand here"):
        SequenceTagger(template="word", constraints="bio").fit([["a", "b"]], [["O", "I-NP"]])


def test_free_labels_and_forced_labels():
    rng = np.random.default_rng(1)
    some = [[label if rng.random() < 0.7 else None for label in labels] for labels in Y]
    tagger = SequenceTagger(template="ner").fit(X, some)
    assert tagger.score(X_TEST, Y_TEST) > 0.9
    forced = [["B-ORG", *[None] * (len(x) - 1)] for x in X_TEST]
    assert all(labels[0] == "B-ORG" for labels in tagger.predict(X_TEST, forced=forced))
    assert all(p[0][0][0] == "B-ORG" for p in tagger.predict_kbest(X_TEST, 2, forced=forced))


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    "parameters",
    [
        {"template": "ner"},
        {"template": "lower\n@label[-2]", "rule": "pa1"},
        {"template": "y==B and capitalised\nword & @label[-1]\n@label[-1]", "hypothesis": "voted", "max_voters": 20},
        {"template": "hmm", "keep": "all", "probability": True},
    ],
)
def test_a_model_file_holds_everything(parameters, tmp_path):
    tagger = SequenceTagger(**parameters).fit(X, Y)
    perceptive.save(tagger, tmp_path / "a.model")
    loaded = perceptive.load(tmp_path / "a.model")
    assert loaded.get_params() == tagger.get_params()
    assert loaded.predict(X_TEST) == tagger.predict(X_TEST)
    assert certify(loaded.learner_, X, Y) == certify(tagger.learner_, X, Y)
    for one in (tagger, loaded):
        one.partial_fit(X_TEST, Y_TEST)  # goes on learning in the same way
    assert loaded.predict(X) == tagger.predict(X)
    assert loaded.learner_.mistakes == tagger.learner_.mistakes
    perceptive.save(tagger.learner_, tmp_path / "b.model")
    assert perceptive.load(tmp_path / "b.model").predict_many(X) == tagger.predict(X)


def test_dictionaries_travel_with_the_model(tmp_path):
    (tmp_path / "names.txt").write_text("\n".join(NAMES))
    (tmp_path / "t.template").write_text("in(names.txt)\n@label[-1]\n")
    tagger = SequenceTagger(template=tmp_path / "t.template").fit(X, Y)
    perceptive.save(tagger, tmp_path / "a.model")
    (tmp_path / "names.txt").unlink()
    assert perceptive.load(tmp_path / "a.model").predict(X_TEST) == tagger.predict(X_TEST)


def test_pruning_keeps_the_predictions(tmp_path):
    tagger = SequenceTagger(template="ner").fit(X, Y)
    expected = tagger.predict(X_TEST)
    perceptive.save(tagger, tmp_path / "whole.model")
    tagger.prune(0.0)
    assert tagger.predict(X_TEST) == expected
    perceptive.save(tagger, tmp_path / "pruned.model")
    assert (tmp_path / "pruned.model").stat().st_size < (tmp_path / "whole.model").stat().st_size
    assert perceptive.load(tmp_path / "pruned.model").predict(X_TEST) == expected
    assert tagger.prune(1e9).learner_.core.n_state_rows == 0
    tagger.partial_fit(X, Y)  # learning goes on
    assert tagger.score(X_TEST, Y_TEST) > 0.9


def test_hostile_states_are_refused(tmp_path):
    tagger = SequenceTagger(template="word & @label[-1]\nword\n@label[-1]", keep="all", epochs=1).fit(X[:20], Y[:20])
    learner = tagger.learner_
    good = learner.snapshot()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        bad = {name: array.copy() for name, array in good.items()}
        name = str(rng.choice([name for name in bad if bad[name].size and bad[name].dtype.kind in "iu"]))
        at = rng.integers(bad[name].size)
        info = np.iinfo(bad[name].dtype)
        bad[name].flat[at] = rng.integers(info.min, info.max, dtype=bad[name].dtype, endpoint=True)
        fresh = SequenceLearner(learner.labels, template="word & @label[-1]\nword\n@label[-1]", keep="all")
        try:
            fresh.core.restore(bad)
        except (ValueError, RuntimeError):
            refused += 1
            continue
        fresh.predict_many(X_TEST)
        fresh.predict_many(X_TEST[:3], "voted")
    assert refused > 100
    for name in good:
        fresh = SequenceLearner(learner.labels, template="word & @label[-1]\nword\n@label[-1]", keep="all")
        with pytest.raises((ValueError, RuntimeError)):
            fresh.core.restore({**good, name: good[name][:-1]} if good[name].size else {})


def test_a_file_of_another_label_count_does_not_fit(tmp_path):
    tagger = SequenceTagger(template="word\n@label[-1]").fit(X[:5], Y[:5])
    tagger.learner_.labels.pop()
    perceptive.save(tagger.learner_, tmp_path / "a.model")
    with pytest.raises(ModelFileError, match="does not fit together"):
        perceptive.load(tmp_path / "a.model")


def test_columns_from_files(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("\n\nthe DT B-NP\r\ndog NN I-NP\n\n\nbarks VB B-VP")
    assert conll.read(path) == ([[("the", "DT"), ("dog", "NN")], [("barks", "VB")]], [["B-NP", "I-NP"], ["B-VP"]])
    assert conll.read(path, label=1)[1] == [["DT", "NN"], ["VB"]]
    assert conll.read(path, label=None)[0][1] == [("barks", "VB", "B-VP")]
    path.write_text("New York\tB-LOC\n\tO\n")
    assert conll.read(path) == ([[("New York",), ("",)]], [["B-LOC", "O"]])
    path.write_text("the DT B-NP\ndog NN\n")
    with pytest.raises(ValueError, match=r"a\.conll:2: 2 columns where line 1 has 3"):
        conll.read(path)
    path.write_bytes(b"the DT B-NP\n\xff NN O\n")
    with pytest.raises(ValueError, match=r"a\.conll:2: not UTF-8"):
        conll.read(path)
    path.write_text("the\n")
    with pytest.raises(ValueError, match="column 3 cannot hold"):
        conll.read(path, label=3)


# ---------------------------------------------------------------- conlleval


def test_conlleval_reads_broken_sequences_as_the_script_does():
    # I after O and a change of type begin a segment; both ends and the type must agree
    truth = [["O", "I-A", "I-B", "I-B", "B-B", "O"], ["I-A"]]
    guess = [["O", "B-A", "B-B", "I-B", "B-B", "O"], ["I-B"]]
    result = evaluate(truth, guess)
    assert (result.there.total(), result.found.total(), result.right.total()) == (4, 4, 3)
    assert result.accuracy == pytest.approx(100 * 4 / 7)
    assert str(result).splitlines() == [
        "processed 7 tokens with 4 phrases; found: 4 phrases; correct: 3.",
        "accuracy:  57.14%; precision:  75.00%; recall:  75.00%; FB1:  75.00",
        "                A: precision: 100.00%; recall:  50.00%; FB1:  66.67  1",
        "                B: precision:  66.67%; recall: 100.00%; FB1:  80.00  3",
    ]
    with pytest.raises(ValueError, match="sentence 0 has 2 labels"):
        evaluate([["O", "O"]], [["O"]])


@pytest.mark.parametrize(
    ("truth", "guess", "table"),
    [
        (  # nothing at all: no accuracy line
            [],
            [],
            ["processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0."],
        ),
        (  # no phrases: what would be divided by zero is 0
            [["O", "O", "O"]],
            [["O", "O", "O"]],
            [
                "processed 3 tokens with 0 phrases; found: 0 phrases; correct: 0.",
                "accuracy: 100.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00",
            ],
        ),
        (  # types of one side only, in the order of their characters; hyphens belong to the type
            [["B-b", "O", "B-A-x"]],
            [["B-B", "O", "B-A-x"]],
            [
                "processed 3 tokens with 2 phrases; found: 2 phrases; correct: 1.",
                "accuracy:  66.67%; precision:  50.00%; recall:  50.00%; FB1:  50.00",
                "              A-x: precision: 100.00%; recall: 100.00%; FB1: 100.00  1",
                "                B: precision:   0.00%; recall:   0.00%; FB1:   0.00  1",
                "                b: precision:   0.00%; recall:   0.00%; FB1:   0.00  0",
            ],
        ),
        (  # a sentence ends every segment: I goes on within one, and begins anew in the next
            [["B-X", "I-X"], ["I-X"]],
            [["I-X", "I-X"], ["B-X"]],
            [
                "processed 3 tokens with 2 phrases; found: 2 phrases; correct: 2.",
                "accuracy:  33.33%; precision: 100.00%; recall: 100.00%; FB1: 100.00",
                "                X: precision: 100.00%; recall: 100.00%; FB1: 100.00  2",
            ],
        ),
        (  # a segment that begins alike and goes on longer is wrong, and so is one that begins later
            [["B-X", "I-X", "O", "B-X", "I-X"]],
            [["B-X", "I-X", "I-X", "O", "B-X"]],
            [
                "processed 5 tokens with 2 phrases; found: 2 phrases; correct: 0.",
                "accuracy:  40.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00",
                "                X: precision:   0.00%; recall:   0.00%; FB1:   0.00  2",
            ],
        ),
        (  # IOE: E ends a segment where another follows
            [["I-X", "E-X", "I-X", "O"]],
            [["I-X", "E-X", "E-X", "O"]],
            [
                "processed 4 tokens with 2 phrases; found: 2 phrases; correct: 2.",
                "accuracy:  75.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00",
                "                X: precision: 100.00%; recall: 100.00%; FB1: 100.00  2",
            ],
        ),
        (  # the type without a name is shown twice where both have it: to the script an empty name is none
            [["B", "I", "O"]],
            [["B", "O", "O"]],
            [
                "processed 3 tokens with 1 phrases; found: 1 phrases; correct: 0.",
                "accuracy:  66.67%; precision:   0.00%; recall:   0.00%; FB1:   0.00",
                *["                 : precision:   0.00%; recall:   0.00%; FB1:   0.00  1"] * 2,
            ],
        ),
        (  # parts of speech are no segments
            [["NN", "VB"]],
            [["NN", "NN"]],
            [
                "processed 2 tokens with 0 phrases; found: 0 phrases; correct: 0.",
                "accuracy:  50.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00",
            ],
        ),
    ],
)
def test_tables_of_conlleval_worked_by_hand(truth, guess, table):
    assert str(evaluate(truth, guess)).splitlines() == table


tag_lists = st.lists(st.sampled_from(["B-X", "I-X", "B-Y", "I-Y", "O"]), min_size=1, max_size=6)


@given(st.lists(st.tuples(tag_lists, st.randoms(use_true_random=False)), max_size=4))
def test_right_segments_are_those_of_both(data):
    truth = [labels for labels, _ in data]
    guess = [[label if rng.random() < 0.7 else "O" for label in labels] for labels, rng in data]
    result = evaluate(truth, guess)
    mine = [(set(segments(a)), set(segments(b))) for a, b in zip(truth, guess, strict=True)]
    assert result.there.total() == sum(len(a) for a, _ in mine)
    assert result.found.total() == sum(len(b) for _, b in mine)
    assert result.right.total() == sum(len(a & b) for a, b in mine)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        ([["a"], []], [["x"], []], ValueError, "sentence 1 is empty"),
        ([], [], ValueError, "no sentences"),
        ([["a", "b"]], [["x"]], ValueError, "sentence 0 has 2 tokens, but 1 labels"),
        ([["a"]], [["x"], ["y"]], ValueError, "X has 1 sentences, but y has 2"),
        (["a b"], [["x", "y"]], TypeError, "sentence 0 is a str"),
        ("ab", "xy", TypeError, "must come in a list"),
        ([[3]], [["x"]], TypeError, "sentence 0, token 0 is a int"),
        ([[("a", 3)]], [["x"]], TypeError, "a column is a int"),
        ([[("a",)]], [["x"]], ValueError, "1 columns, but the templates read 2"),
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
    before = tagger.learner_.snapshot()
    with pytest.raises(error, match=message):
        tagger.partial_fit(X, y)
    after = tagger.learner_.snapshot()
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


# ---------------------------------------------------------------- segments


def records(n, seed=0):
    """Addresses whose fields have typical lengths."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        number, street = [str(rng.integers(1, 99))], [*rng.choice(["Oak", "Elm", "High", "Mill"], 1).tolist(), "Street"]
        city = rng.choice(["New York", "San Diego", "Rome", "Oak Park"]).split()
        parts = [("NUMBER", number), ("STREET", street), ("CITY", city)]
        X.append([word for _, words in parts for word in words])
        y.append([f"{'B' if i == 0 else 'I'}-{kind}" for kind, words in parts for i in range(len(words))])
    return X, y


def test_segments_learn_and_are_saved(tmp_path):
    X, y = records(60)
    X_test, y_test = records(30, seed=1)
    (tmp_path / "cities.txt").write_text("New York\nOak Park\nRome\n")
    (tmp_path / "t.template").write_text("norm\nshape\n@label[-1]\nsegment in(cities.txt)\n")
    tagger = SequenceTagger(template=tmp_path / "t.template", segments=True, epochs=5).fit(X, y)
    assert tagger.score(X_test, y_test) > 0.95
    assert tagger.learner_.longest == 2
    names = {name for name, _, _ in tagger.learner_.heaviest(1000)}
    assert any(name.startswith("segment text = ") for name in names)
    assert any(name.startswith("segment in(cities.txt)") for name in names)
    perceptive.save(tagger, tmp_path / "a.model")
    (tmp_path / "cities.txt").unlink()
    loaded = perceptive.load(tmp_path / "a.model")
    assert loaded.predict(X_test) == tagger.predict(X_test)
    loaded.partial_fit(X_test, y_test)
    tagger.partial_fit(X_test, y_test)
    assert loaded.predict(X) == tagger.predict(X)
    tagger.prune(0.0)
    assert tagger.predict(X) == loaded.predict(X)


def test_segments_obey_and_complete(tmp_path):
    X, y = records(60)
    some = [[label if i % 2 else None for i, label in enumerate(labels)] for labels in y]
    tagger = SequenceTagger(template="records", segments=True, max_segment=3, rule="pa1").fit(X, some)
    forced = [["B-CITY", *[None] * (len(x) - 1)] for x in X]
    predicted = tagger.predict(X, forced=forced)
    assert all(labels[0] == "B-CITY" for labels in predicted)
    assert all(schemes.violation("bio", labels) is None for labels in predicted)
    assert all(end - begin <= 3 for labels in predicted for begin, end, _ in schemes.spans(labels))


def test_what_segments_cannot_do_is_said():
    X, y = records(10)
    with pytest.raises(ValueError, match="set max_segment=2"):
        SequenceTagger(template="records", segments=True, max_segment=1).fit(X, y)
    with pytest.raises(ValueError, match="may not stand here in the scheme 'bio'"):
        SequenceTagger(template="records", segments=True).fit([["a", "b"]], [["NN", "VB"]])
    for parameters in ({"beam": 2}, {"constraints": "bioes"}):
        with pytest.raises(ValueError, match="segments=True"):
            SequenceTagger(template="records", segments=True, **parameters).fit(X, y)
    with pytest.raises(ValueError, match="needs segments=True"):
        SequenceTagger(max_segment=3).fit(X, y)


@pytest.mark.parametrize("rule", ["perceptron", "pa", "pa1", "pa2", "mira"])
def test_segments_have_scores_and_a_certificate(rule):
    X, y = records(60)
    X_test, y_test = records(30, seed=1)
    tagger = SequenceTagger(template="records", segments=True, rule=rule, probability=True, epochs=20).fit(X, y)
    assert tagger.score(X_test, y_test) > 0.95
    margins = tagger.decision_margin(X_test, per="sequence")
    for margin, (best, second) in zip(margins, tagger.predict_kbest(X_test, 2), strict=True):
        assert margin == pytest.approx(best[1] - second[1], abs=1e-4)
    for p, labels in zip(tagger.predict_proba(X_test), tagger.predict(X_test), strict=True):
        assert p.sum(axis=1) == pytest.approx(1)
        assert [tagger.classes_[i] for i in p.argmax(axis=1)] == labels
    tagger = SequenceTagger(template="records", segments=True, rule=rule, epochs=20).fit(X, y)
    certificate = certify(tagger.learner_, X, y)
    assert certificate.holds
    assert not certificate.hypothetical
    assert (certificate.bound < math.inf) == (rule == "perceptron")
    assert certify(tagger.learner_, X_test, y_test).hypothetical


def test_long_segments_take_time_in_proportion():
    """The segments that begin at one token share their work; sentences pay for the lengths they have room for."""

    def seconds(n):
        X, y = [[f"w{i}" for i in range(n)], ["a"]], [["B-X"] + ["I-X"] * (n - 1), ["O"]]
        before = time.process_time()
        SequenceTagger(template="hmm", segments=True, epochs=1).fit(X, y).predict(X)
        return time.process_time() - before

    # four times as long: 16 times as many segments, and 64 times as many tokens in them
    assert min(seconds(2000) for _ in range(2)) < 48 * max(seconds(500) for _ in range(3))
    tagger = SequenceTagger(template="hmm", segments=True, max_segment=20, epochs=1).fit(*records(20))
    words = [word for x in records(4000)[0] for word in x]
    assert len(tagger.predict([words])[0]) == len(words)
    assert len(tagger.decision_margin([words])[0]) == len(words)


# ---------------------------------------------------------------- encoding


@pytest.mark.parametrize("scheme", ["bio", "iob1"])
def test_an_encoding_stays_within(scheme, tmp_path):
    y = [schemes.convert(labels, "bio", scheme) for labels in Y]
    y_test = [schemes.convert(labels, "bio", scheme) for labels in Y_TEST]
    tagger = SequenceTagger(template="ner", encoding="bioes", keep="all").fit(X, y)
    assert tagger.scheme_ == scheme
    assert tagger.learner_.scheme == "bioes"
    assert "S-ORG" in tagger.learner_.labels or "E-ORG" in tagger.learner_.labels
    assert tagger.score(X_TEST, y_test) > 0.98
    assert set(tagger.classes_) <= {f"{p}-{kind}" for p in "BI" for kind in ("PER", "ORG")} | {"O"}
    for predicted in (tagger.predict(X_TEST), tagger.predict(X_TEST, hypothesis="voted")):
        assert all(schemes.violation(scheme, labels) is None for labels in predicted)
    for paths, best in zip(tagger.predict_kbest(X_TEST, 4), tagger.predict(X_TEST), strict=True):
        assert paths[0][0] == best
        assert all(schemes.violation(scheme, labels) is None for labels, _ in paths)
        assert len({tuple(labels) for labels, _ in paths}) == len(paths)
    perceptive.save(tagger, tmp_path / "a.model")
    loaded = perceptive.load(tmp_path / "a.model")
    assert loaded.predict(X_TEST) == tagger.predict(X_TEST)
    assert loaded.scheme_ == scheme


def test_margins_under_an_encoding_are_those_of_the_users_labels():
    tagger = SequenceTagger(template="hmm", encoding="bioes", epochs=2).fit(X, Y)
    for x, margins in zip(X_TEST[:20], tagger.decision_margin(X_TEST[:20]), strict=True):
        paths = tagger.predict_kbest([x], 300)[0]
        best, score = paths[0]
        for t, margin in enumerate(margins):
            others = [other for labels, other in paths if labels[t] != best[t]]
            if others:
                assert margin == pytest.approx(score - max(others), abs=1e-4)


def test_forced_labels_are_obeyed_whatever_they_are_within():
    """Of all label sequences those that have the labels given, the best first."""
    tagger = SequenceTagger(template="hmm", encoding="bioes", epochs=2).fit(X, Y)
    rng = np.random.default_rng(0)
    for x in X_TEST[:20]:
        x = x[:4]
        paths = tagger.predict_kbest([x], 10**6)[0]
        wanted = [label if rng.random() < 0.5 else None for label in paths[rng.integers(len(paths))][0]]
        fit = [one for one in paths if all(want in (None, got) for want, got in zip(wanted, one[0], strict=True))]
        found = tagger.predict_kbest([x], 5, forced=[wanted])[0]
        assert [score for _, score in found] == pytest.approx([score for _, score in fit[:5]])
        assert found[0][0] == tagger.predict([x], forced=[wanted])[0]
        assert all(want in (None, got) for want, got in zip(wanted, found[0][0], strict=True))
    with pytest.raises(ValueError, match="'S-PER' is none of the labels"):
        tagger.predict([["a"]], forced=[["S-PER"]])
    with pytest.raises(ValueError, match="forced, sentence 0"):
        tagger.predict([["a", "b"]], forced=[["O", "I-PER"]])


BIOES = [f"{prefix}-{kind}" for kind in "XY" for prefix in "BIES"] + ["O"]


def obeys(labels, wanted):
    return all(want in (None, got) for want, got in zip(wanted, labels, strict=True))


@settings(deadline=None)
@given(st.data(), st.integers(1, 4), st.sampled_from(["bio", "iob1"]))
def test_choices_are_what_a_label_may_be_within(data, n, scheme):
    """Of all sequences of BIOES those that have a label of each choice are those that are as given when written."""
    valid = [path for path in itertools.product(BIOES, repeat=n) if schemes.violation("bioes", path) is None]
    written = {path: schemes.convert(path, "bioes", scheme) for path in valid}
    one = data.draw(st.sampled_from(valid))
    wanted = [label if data.draw(st.booleans()) else None for label in written[one]]
    chosen = schemes.choices(wanted, scheme, BIOES)
    fit = [path for path in valid if all(c is None or y in c.labels for c, y in zip(chosen, path, strict=True))]
    assert fit == [path for path in valid if obeys(written[path], wanted)]
    assert schemes.Paths("bioes", BIOES).fit(chosen)
    assert not schemes.Paths("bioes", BIOES).fit([*chosen[:-1], schemes.Choice(())])


@pytest.mark.parametrize("scheme", ["bio", "iob1"])
@settings(deadline=None, max_examples=15)
@given(data=st.data())
def test_labels_that_are_none_are_free_under_an_encoding(scheme, data):
    """Whole runs against the twin, to whom what is said of a label is a set."""
    names = ["B-X", "E-X", "I-X", "O", "S-X"]
    rule, hamming = data.draw(st.sampled_from([("perceptron", False), ("perceptron", True), ("mira", True)]))
    learner = SequenceLearner(
        names, template="@label[-1]", constraints=scheme, encoding="bioes", hypothesis="last",
        rule=rule, C=0.5, cost="hamming" if hamming else None,
    )  # fmt: skip
    twin = SequencePerceptron(
        5,
        Rule(rule, C=0.5),
        hamming=hamming,
        allowed=lambda p, y: schemes.follows("bioes", *(None if z is None else names[z] for z in (p, y))),
    )
    every = [path for n in (1, 2, 3) for path in itertools.product(names, repeat=n)]
    every = [path for path in every if schemes.violation("bioes", path) is None]
    for _ in range(4):
        path = data.draw(st.sampled_from(every))
        y = [label if data.draw(st.booleans()) else None for label in schemes.convert(path, "bioes", scheme)]
        said = [None if c is None else {names.index(z) for z in c.labels} for c in schemes.choices(y, scheme, names)]
        if None not in y:
            said = [names.index(label) for label in path]
        words = [{data.draw(st.sampled_from(["fa", "fb"])): 1.0} for _ in path]
        if rule == "mira" and twin.updates:
            scores = [score for score, _ in all_paths(twin.trellis(words, twin.v, said))]
            if any(a - b < 1e-4 for a, b in itertools.pairwise(scores)):
                break  # float32 and float64 may part ways here
        assert learner.learn(words, y) == twin.learn(words, said)
        assert learner.updates == twin.updates
        assert learner.predict(words) == schemes.convert([names[z] for z in twin.predict(words)], "bioes", scheme)
    assert learner.labels == names


@pytest.mark.parametrize("scheme", ["bio", "iob1"])
def test_partial_labels_are_learned_from_under_an_encoding(scheme, tmp_path):
    y, y_test = ([schemes.convert(labels, "bio", scheme) for labels in some] for some in (Y, Y_TEST))
    rng = np.random.default_rng(1)
    some = [[label if rng.random() < 0.7 else None for label in labels] for labels in y]
    tagger = SequenceTagger(template="ner", encoding="bioes", constraints=scheme).fit(X, some)
    assert tagger.learner_.scheme == "bioes"
    assert tagger.score(X_TEST, y_test) > 0.9
    assert set(tagger.classes_) == {"B-ORG", "B-PER", "I-ORG", "I-PER", "O"}
    assert all(schemes.violation(scheme, labels) is None for labels in tagger.predict(X_TEST))
    for x, labels in zip(X_TEST, y_test, strict=True):
        wanted = [label if rng.random() < 0.5 else None for label in labels]
        for found, _ in tagger.predict_kbest([x], 3, forced=[wanted])[0]:
            assert obeys(found, wanted)
            assert schemes.violation(scheme, found) is None
    assert "no bound is known" in str(certify(tagger.learner_, X, some))
    perceptive.save(tagger, tmp_path / "a.model")
    assert perceptive.load(tmp_path / "a.model").predict(X_TEST) == tagger.predict(X_TEST)
    tagger.partial_fit(X[:1], [[None] * len(X[0])])
    tagger.partial_fit([["a", "b", "c"]], [["I-NEW" if scheme == "iob1" else "B-NEW", None, "O"]])
    assert tagger.learner_.labels[-1] == "S-NEW"  # in BIO a segment of two needs an I
    assert ("I-NEW" in tagger.learner_.labels) == (scheme == "iob1")


def test_partial_labels_under_an_encoding_bring_the_labels_they_need():
    tagger = SequenceTagger(template="hmm", encoding="bioes").fit([["a", "b", "c"]], [["B-X", None, "O"]])
    assert tagger.learner_.labels == ["O", "S-X"]
    tagger = SequenceTagger(template="hmm", encoding="bioes", constraints="bio")
    tagger.fit([["a", "b", "c"]], [[None, "I-X", "O"]])
    assert tagger.predict([["a", "b", "c"]]) == [["B-X", "I-X", "O"]]
    tagger = SequenceTagger(template="hmm", encoding="bioes", constraints="iob1").fit([["a", "b"]], [[None, "B-X"]])
    assert tagger.predict([["a", "b"]]) == [["I-X", "B-X"]]


def test_forced_labels_of_iob1_are_obeyed_under_an_encoding():
    iob1 = [schemes.convert(labels, "bio", "iob1") for labels in Y]
    tagger = SequenceTagger(template="hmm", encoding="bioes", epochs=2).fit(X, iob1)
    rng = np.random.default_rng(0)
    for x in X_TEST[:20]:
        x = x[:4]
        paths = tagger.predict_kbest([x], 10**6)[0]
        wanted = [label if rng.random() < 0.5 else None for label in paths[rng.integers(len(paths))][0]]
        fit = [one for one in paths if obeys(one[0], wanted)]
        found = tagger.predict_kbest([x], 5, forced=[wanted])[0]
        assert [score for _, score in found] == pytest.approx([score for _, score in fit[:5]])
        assert found[0][0] == tagger.predict([x], forced=[wanted])[0]
        assert all(obeys(labels, wanted) for labels, _ in found)
    wanted = ["I-PER", "I-PER", "B-PER", "I-PER"]
    assert tagger.predict([list("abcd")], forced=[wanted]) == [wanted]
    for wanted in (["B-PER", None], ["O", "B-PER"], ["I-ORG", "B-PER"]):
        with pytest.raises(ValueError, match="forced, sentence 0"):
            tagger.predict([["a", "b"]], forced=[wanted])
    for label in ("S-PER", 3, ["O"]):
        with pytest.raises(ValueError, match="is none of the labels"):
            tagger.predict([["a"]], forced=[[label]])


def test_choices_that_are_not_there_are_refused_by_the_core():
    learner = SequenceLearner(["a", "b"], template="word", constraints=None)
    for index, choices in (({"a": -3}, [[0]]), ({"a": -2}, []), ({"a": -2}, [[-1]]), ({"a": -2}, [[2**40]])):
        with pytest.raises(ValueError, match="choice"):
            learner.core.encode([["x"]], [["a"]], index, choices, 1, 0)
        with pytest.raises(ValueError, match="choice"):
            learner.core.predict([["x"]], ["a", "b"], None, _core.Forced([["a"]], index, choices), 0)
    lesson = learner.core.encode([["x"]], [["a"]], {"a": -2}, [[7]], 1, 0)  # a label that nobody has
    with pytest.raises(ValueError, match="no labels fit"):
        learner.play(lesson, np.zeros(1, np.int64))


def test_what_an_encoding_cannot_do_is_said():
    tagger = SequenceTagger(template="hmm", encoding="bioes").fit(X, Y)
    with pytest.raises(ValueError, match="may not stand here in the scheme 'bio'"):
        tagger.partial_fit([["a", "b"]], [["O", "I-PER"]])
    with pytest.raises(ValueError, match="does not go with segments"):
        SequenceTagger(segments=True, encoding="bioes").fit(X, Y)
    assert SequenceTagger(template="word", encoding="bioes").fit([["a", "b"]], [["D", "N"]]).predict([["a"]]) == [["D"]]


# ---------------------------------------------------------------- partial and forced labels, schemes


def test_partial_labels_that_need_a_label_not_seen_learn_it():
    for options in ({"template": "hmm", "constraints": "bio"}, {"template": "records", "segments": True}):
        tagger = SequenceTagger(**options).fit([["a", "b", "c"]], [[None, "I-X", "O"]])
        assert "B-X" in tagger.classes_
        assert tagger.predict([["a", "b", "c"]]) == [["B-X", "I-X", "O"]]
        assert schemes.violation("bio", tagger.predict([["b", "b", "a"]])[0]) is None
    tagger = SequenceTagger(template="hmm", constraints="iob1").fit([["a", "b"]], [[None, "B-X"]])
    assert tagger.predict([["a", "b"]]) == [["I-X", "B-X"]]
    tagger = SequenceTagger(template="hmm", constraints="bioes").fit([["a", "b"], ["c"]], [[None, "E-X"], ["O"]])
    assert tagger.predict([["a", "b"]]) == [["B-X", "E-X"]]


@pytest.mark.parametrize("options", [{"constraints": "bioes"}, {"segments": True, "max_segment": 2}])
def test_partial_labels_that_nothing_fits_are_refused_before_anything_is_learned(options):
    bad = ["B-X", None, "E-Y"] if "constraints" in options else ["B-X", None, "I-X", "I-X"]
    tagger = SequenceTagger(template="hmm", **options)
    good = (["a"], ["O"])
    with pytest.raises(ValueError, match="sentence 1"):
        tagger.fit([good[0], list("abcd")[: len(bad)]], [good[1], bad])
    tagger = SequenceTagger(template="hmm", **options).partial_fit([good[0]], [good[1]])
    with pytest.raises(ValueError, match="sentence 0"):
        tagger.partial_fit([list("abcd")[: len(bad)]], [bad])
    assert tagger.learner_.rounds == 1
    assert tagger.learner_.labels == ["O"]


def test_forced_labels_that_no_sequence_fits_are_refused():
    X, y = [["a", "b"], ["b", "a"]], [["B-X", "I-X"], ["O", "O"]]
    for options in ({"template": "hmm"}, {"template": "records", "segments": True}, {"template": "hmm", "beam": 1}):
        tagger = SequenceTagger(**options).fit(X, y)
        many = [[None, None]] * 70
        with pytest.raises(ValueError, match="forced, sentence 70"):
            tagger.predict([["a", "b"]] * 71, forced=[*many, ["O", "I-X"]])
        assert tagger.predict([["b", "a"]], forced=[[None, "I-X"]]) == [["B-X", "I-X"]]
    tagger = SequenceTagger(template="hmm").fit(X, y)
    with pytest.raises(ValueError, match="forced, sentence 0"):
        tagger.predict_kbest([["a", "b"]], 2, forced=[["O", "I-X"]])


def test_a_scheme_is_recognised_when_its_first_labels_come():
    for encoding in (None, "bioes"):
        tagger = SequenceTagger(template="hmm", encoding=encoding).partial_fit([["a", "b"]], [["O", "O"]])
        assert tagger.scheme_ is None
        tagger.partial_fit([["a", "b"]], [["B-X", "I-X"]])
        assert tagger.scheme_ == "bio"
        assert tagger.learner_.scheme == (encoding or "bio")
    tagger = SequenceTagger(template="hmm").partial_fit([["a", "b"]], [["O", "I-X"]])
    tagger.partial_fit([["a", "b"]], [["I-X", "B-X"]])
    assert tagger.scheme_ == "iob1"
    tagger = SequenceTagger(template="hmm").partial_fit([["a"]], [["N"]])
    assert tagger.partial_fit([["a"]], [["B"]]).scheme_ is None


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
        with pytest.raises(ValueError, match=f"sentence {bad} has 2 tokens"):
            SequenceTagger(template="hmm", validation_fraction=0.2).fit(X, labels)


def test_partial_fit_takes_iterators():
    tagger = SequenceTagger(template="hmm").partial_fit(iter([["a", "b"]]), iter([["N", "V"]]))
    assert tagger.predict([["a", "b"]], hypothesis="last") == [["N", "V"]]


def test_probabilities_without_scores_are_refused_at_once():
    tagger = SequenceTagger(template="hmm", probability=True, hypothesis="voted")
    with pytest.raises(ValueError, match="probability=True"):
        tagger.fit(*sentences(20))
    assert not hasattr(tagger, "learner_")


# ---------------------------------------------------------------- copies, pruning, scores, certificates


@pytest.mark.parametrize(
    "options", [{}, {"keep": "all"}, {"encoding": "bioes"}, {"segments": True}, {"hypothesis": "voted"}]
)
def test_a_fitted_tagger_can_be_pickled_and_copied(options):
    X, y = sentences(20)
    more, labels = sentences(10, seed=1)
    tagger = SequenceTagger(template="ner", epochs=2, **options).fit(X, y)
    for twin in (pickle.loads(pickle.dumps(tagger)), copy.deepcopy(tagger)):
        assert twin.predict(more) == tagger.predict(more)
        assert twin.learner_.core.fingerprint == tagger.learner_.core.fingerprint
        twin.partial_fit(more, labels)
        again = pickle.loads(pickle.dumps(tagger)).partial_fit(more, labels)
        assert twin.predict(X) == again.predict(X)
        assert twin.updates_.tolist() == again.updates_.tolist()
    rounds = tagger.learner_.rounds
    assert rounds == 40
    empty = pickle.loads(pickle.dumps(SequenceLearner()))
    assert empty.learn(X[0], y[0])


@pytest.mark.parametrize("template", ["ner", "word[-1:1]\nshape & @label[-1]\n@label[-1]\n@label[-2]", "hmm"])
def test_a_loaded_tagger_reads_packed_rows_as_it_would_rows(template, tmp_path):
    """A pruned model stays packed until its rows are wanted; all that it says must be the same before and after."""

    def says(tagger):
        return (
            tagger.predict(X_TEST),
            tagger.predict_kbest(X_TEST[:5], 3),
            [margin.tolist() for margin in tagger.decision_margin(X_TEST[:5])],
        )

    tagger = SequenceTagger(template=template, epochs=3, random_state=0).fit(X, Y).prune(0.1)
    perceptive.save(tagger, tmp_path / "a.model")
    packed = perceptive.load(tmp_path / "a.model")
    before = says(packed)
    assert before == says(tagger)
    assert packed.learner_.heaviest(50)  # unpacks
    assert says(packed) == before
    perceptive.save(packed, tmp_path / "b.model")
    first, second = (model_file.read(tmp_path / name)[2] for name in ("a.model", "b.model"))
    assert {name: a.tolist() for name, a in first.items()} == {name: a.tolist() for name, a in second.items()}
    for one in (tagger, packed, perceptive.load(tmp_path / "a.model")):  # and learns on in the same way
        one.partial_fit(X[:20], Y[:20])
    assert says(tagger) == says(packed)


def test_a_loaded_tagger_unpacks_when_it_is_used_much(tmp_path):
    tagger = SequenceTagger(template="ner", epochs=3, random_state=0).fit(X, Y).prune()
    perceptive.save(tagger, tmp_path / "a.model")
    loaded = perceptive.load(tmp_path / "a.model")
    assert loaded.predict(X_TEST * 200) == tagger.predict(X_TEST) * 200


@pytest.mark.parametrize("options", [{"keep": "all"}, {"hypothesis": "best"}, {"hypothesis": "voted"}])
def test_a_tagger_with_a_log_is_not_pruned(options):
    X, y = sentences(10)
    tagger = SequenceTagger(template="hmm", **options).fit(X, y)
    expected = tagger.predict(X)
    with pytest.raises(ValueError, match="averaged or last"):
        tagger.prune()
    assert tagger.predict(X) == expected


def test_segments_in_bioes_are_scored_as_segments():
    tagger = SequenceTagger(template="hmm").fit([["a", "b", "c"]], [["S-X", "S-X", "O"]])
    assert tagger.scheme_ == "bioes"
    assert tagger.score([["a", "b", "c"]], [["S-X", "S-X", "O"]]) == 1.0
    assert tagger.score([["a", "b", "c"]], [["B-X", "E-X", "O"]]) == 0.0
    assert tagger.score([["a", "b", "c"]], [["S-X", "O", "O"]]) == pytest.approx(2 / 3)


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


def test_columns_are_separated_by_spaces_and_tabs_alone(tmp_path):
    path = tmp_path / "a.conll"
    path.write_bytes("10\u00a0000  CD N\n\u3000 SP\tN\r\n \t \nb  X N\n".encode())
    assert conll.read(path)[0] == [[("10\u00a0000", "CD"), ("\u3000", "SP")], [("b", "X")]]


# ---------------------------------------------------------------- where it went wrong


@pytest.mark.parametrize("options", [{"validation_fraction": 0.3}, {"probability": True}])
def test_errors_number_sentences_as_they_were_given(options):
    X, y = [["a", "b"] for _ in range(20)], [["B-X", "I-X"] for _ in range(20)]
    for bad in range(20):
        strange = [*X[:bad], ["a", 3], *X[bad + 1 :]]
        tagger = SequenceTagger(template="hmm", **options)
        with pytest.raises(TypeError, match=f"^sentence {bad}, token 1 is a int"):
            tagger.fit(strange, y)
        assert not hasattr(tagger, "learner_")
        wrong = [*y[:bad], ["O", "I-X"], *y[bad + 1 :]]
        with pytest.raises(ValueError, match=f"^sentence {bad}, token 1: label 'I-X' may not stand here"):
            SequenceTagger(template="hmm", constraints="bio", **options).fit(X, wrong)


def test_labels_that_break_the_scheme_they_look_like_are_told():
    X, y = [["a", "b"]] * 3, [["B-X", "I-X"], ["B-X", "O"], ["O", "I-X"]]
    with pytest.warns(UserWarning, match="sentence 2, token 1: label 'I-X' may not stand here in the scheme 'bio'"):
        tagger = SequenceTagger(template="hmm").fit(X, y)
    assert tagger.scheme_ is None
    tagger = SequenceTagger(template="hmm").fit(X[:2], y[:2])
    for learn in (lambda: tagger.partial_fit(X[2:], y[2:]), lambda: tagger.learn_one(X[2], y[2])):
        with pytest.raises(ValueError, match="sentence 0, token 1: label 'I-X' may not stand here in the scheme 'bio'"):
            learn()
    assert tagger.scheme_ == "bio"
    tagger = SequenceTagger(template="hmm").partial_fit(X[:2], y[:2])  # not a whole training set
    with pytest.warns(UserWarning, match="sentence 0, token 1: label 'I-X'"):
        tagger.partial_fit(X[2:], y[2:])
    assert tagger.scheme_ is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SequenceTagger(template="hmm", constraints=None).fit(X, y)
        SequenceTagger(template="hmm").fit(X, [["B-X", "N"]] * 3)


def test_the_longest_segment_grows_where_no_bound_was_set():
    tagger = SequenceTagger(template="hmm", segments=True)
    tagger.learn_one(["a"], ["O"]).learn_one(["a", "b"], ["B-X", "I-X"])
    assert tagger.learner_.longest == 2
    with pytest.raises(TypeError, match="token 1 is a int"):
        tagger.partial_fit([["a", 3, "b"]], [["B-Y", "I-Y", "I-Y"]])
    assert tagger.classes_ == ["B-X", "I-X", "O"]
    assert tagger.learner_.longest == 2
    assert tagger.predict([["a", "b"]], hypothesis="last") == [["B-X", "I-X"]]
    with pytest.raises(ValueError, match="sentence 0: the segment 'X' of tokens 0 to 2 is longer than 2"):
        certify(tagger.learner_, [["a", "b", "c"]], [["B-X", "I-X", "I-X"]])
    for _ in range(5):
        tagger.learn_one(list("abcd"), ["B-X", "I-X", "I-X", "I-X"])
    assert tagger.predict([list("abcd")], hypothesis="last") == [["B-X", "I-X", "I-X", "I-X"]]
    bounded = SequenceTagger(template="hmm", segments=True, max_segment=3).learn_one(["a"], ["O"])
    with pytest.raises(ValueError, match="set max_segment=4"):
        bounded.learn_one(list("abcd"), ["B-X", "I-X", "I-X", "I-X"])
    with pytest.raises(ValueError, match="max_segment"):
        SequenceTagger(segments=True, max_segment=1 << 16).fit([["a"]], [["O"]])


def test_a_lesson_of_other_segments_is_refused_by_the_core():
    learner = SequenceLearner(template="hmm", segments=True, max_segment=3)
    learner.learn_many(*records(5))
    index = learner.index
    words, labels = ["a", "b", "c", "d"], ["B-CITY", "I-CITY", "I-CITY", "I-CITY"]
    for lesson in (
        learner.core.encode([words], [labels], index, [], 1, 3),
        learner.core.encode([words], [["O"] * 4], index, [], 1, 2),
    ):
        with pytest.raises((ValueError, RuntimeError), match="segment"):
            learner.play(lesson, np.zeros(1, np.int64))
        with pytest.raises((ValueError, RuntimeError), match="segment"):
            learner.core.leads(lesson, None)


@pytest.mark.parametrize(
    ("X", "y", "options", "error", "message"),
    [
        ([["a"]], [[["x"]]], {}, ValueError, "sentence 0, token 0: .* is no label"),
        ([["a", "b"]], [["x", float("nan")]], {}, ValueError, "sentence 0, token 1: nan is no label"),
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


def test_hostile_states_of_segments_are_refused_or_harmless():
    template = ["word", segment_in("cities", ["New York"]), "@label[-1]"]
    X, y = records(20)
    tagger = SequenceTagger(template=template, segments=True, epochs=2).fit(X, y)
    good = tagger.learner_.snapshot()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(200):
        bad = {name: array.copy() for name, array in good.items()}
        name = str(rng.choice([name for name in bad if bad[name].size and bad[name].dtype.kind in "iu"]))
        info = np.iinfo(bad[name].dtype)
        bad[name].flat[rng.integers(bad[name].size)] = rng.integers(
            info.min, info.max, dtype=bad[name].dtype, endpoint=True
        )
        fresh = SequenceLearner(tagger.learner_.labels, template=template, segments=True, max_segment=2)
        try:
            fresh.core.restore(bad)
        except (ValueError, RuntimeError):
            refused += 1
            continue
        fresh.predict_many(X)
        fresh.k_best(X[:3], 3)
        fresh.margins(X[:3])
        fresh.heaviest(-1)
    assert refused > 50
