"""Pruned models: fewer weights, shorter ones, smaller files; learning may go on."""

import os

import numpy as np
import pytest

from labelled_dicts import dicts_of
from perceptive import LinearClassifier, LinearRanker, SequenceTagger, load, save
from perceptive.learners import LinearLearner, RankingLearner
from perceptive.learners.pruning import pruned

pytestmark = pytest.mark.core


@pytest.fixture
def digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


@pytest.mark.once
@pytest.mark.parametrize("multiclass", ["joint", "ovr", "ovo"])
def test_small_weights_go(digits, multiclass, tmp_path):
    X, y = (part[digits[1] < 5] for part in digits)
    model = LinearClassifier(multiclass=multiclass).fit(X, y)
    before, coef = model.score(X, y), model.coef_
    threshold = float(np.median(np.abs(coef)))
    model.prune(threshold)
    np.testing.assert_array_equal(model.coef_, np.where(np.abs(coef) > threshold, coef, 0))
    assert model.score(X, y) > before - 0.1
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.coef_, model.coef_)
    for one in (model, again):
        one.partial_fit(X, y)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert model.certificate(X, y).holds == again.certificate(X, y).holds


@pytest.mark.once
@pytest.mark.parametrize(("precision", "share", "lost"), [("float16", 0.62, 0.001), ("int8", 0.45, 0.01)])
def test_short_weights(digits, precision, share, lost, tmp_path):
    X, y = np.tile(digits[0], 20), digits[1]
    model = LinearClassifier().fit(X, y)
    before = model.score(X, y)
    model.prune()
    save(model, tmp_path / "long")
    model.prune(precision=precision)
    save(model, tmp_path / "short")
    assert os.path.getsize(tmp_path / "short") < share * os.path.getsize(tmp_path / "long")
    assert model.score(X, y) >= before - lost
    np.testing.assert_array_equal(load(tmp_path / "short").decision_function(X), model.decision_function(X))


def test_probabilities_stay(digits):
    X, y = digits
    model = LinearClassifier(probability=True).fit(X, y)
    before = model.predict_proba(X)
    np.testing.assert_array_equal(model.prune().predict_proba(X), before)


def test_hashed_columns_lose_their_places(tmp_path):
    X, y = dicts_of(0, 200, 100)
    model = LinearClassifier(bits=12).fit(X, y)
    placed, right = model.learner_.space.placed, model.score(X, y)
    model.prune(float(np.abs(model.coef_).max() / 4))
    assert model.learner_.space.placed < placed
    assert model.score(X, y) > right - 0.2
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    for one in (model, again):
        one.partial_fit(X, y)
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_rankers(tmp_path):
    rng = np.random.default_rng(0)
    lists = [rng.normal(size=(4, 6)) for _ in range(60)]
    best = [int(np.argmax(x @ np.array([5, -4, 3, 0, 0, 0.01]))) for x in lists]
    model = LinearRanker().fit(lists, best)
    model.prune(0.05 * np.abs(model.coef_).max(), precision="int8")
    assert model.coef_[5] == 0
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").predict(lists).tolist() == model.predict(lists).tolist()
    assert np.mean(model.predict(lists) == best) > 0.9


@pytest.mark.parametrize("options", [{"keep": "all"}, {"hypothesis": "voted"}, {"hypothesis": "best"}])
def test_models_with_a_journal_are_not_pruned(options):
    model = LinearClassifier(**options).fit([[1.0], [-1.0]], [0, 1])
    with pytest.raises(ValueError, match="keeps every update"):
        model.prune()


def test_bad_values_change_nothing():
    model = LinearClassifier(dtype="float64").fit([[1e9], [-1e9]], [0, 1])
    before = model.coef_.copy()
    cases = [
        ({"threshold": -1}, "threshold=-1"),
        ({"threshold": float("nan")}, "threshold=nan"),
        ({"precision": "int4"}, "float16, int8"),
        ({"precision": "float16"}, "too large"),
    ]
    for bad, message in cases:
        with pytest.raises(ValueError, match=message):
            model.prune(**bad)
        np.testing.assert_array_equal(model.coef_, before)
    tagger = SequenceTagger(epochs=1).fit([["a", "b"]], [["x", "y"]])
    with pytest.raises(ValueError, match="taggers as float32 alone"):
        tagger.prune(precision="int8")


def test_rounding():
    w = np.random.default_rng(0).normal(size=1000)
    for precision, error in (("float16", 2.0**-11), ("int8", np.abs(w).max() / 126)):
        short = pruned(w, 0.0, precision)
        bound = np.abs(w) * error if precision == "float16" else error
        assert (np.abs(short - w) <= bound).all()
        np.testing.assert_array_equal(pruned(short, 0.0, precision), short)
    assert not np.signbit(pruned(np.array([-1e-9, 1.0]), 0.0, "int8"))[0]


@pytest.mark.parametrize("kind", [LinearLearner, RankingLearner])
def test_learners_that_have_learned_nothing_are_not_pruned(kind):
    with pytest.raises(ValueError, match="this learner has learned nothing yet; let it learn first"):
        kind().prune()
