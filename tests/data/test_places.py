"""Weights of hashed features lie where the features were met; nothing else changes."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from labelled_dicts import dicts_of
from perceptive import LinearClassifier, _core, load, save
from perceptive.data.feature_space import FeatureSpace
from perceptive.data.rows import as_rows
from perceptive.estimators import HashedFeatures
from perceptive.learners import LinearLearner

pytestmark = pytest.mark.core


def hashed_rows(X, bits):
    return HashedFeatures(bits=bits).fit_transform(X)


@given(
    st.lists(st.lists(st.integers(0, 31), max_size=6, unique=True).map(sorted), min_size=1, max_size=8),
    st.integers(0, 8),
    st.booleans(),
)
def test_rows_by_place(rows, again, dense):
    """Features get places as they come; those that were never met are at 0, whose weights are 0."""
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([j for row in rows for j in row], np.int64)
    X = scipy.sparse.csr_array((1.0 + np.arange(len(indices)), indices, indptr), shape=(len(rows), 32))
    places, w = _core.Places(32), np.zeros((32, 4), np.float32)
    for known in (X[:again], X):
        met = places.meet(as_rows(known.toarray() if dense else known, None, fingerprint=True))
        assert met.d == len(places)
    assert met.hashes.tolist() == as_rows(X.toarray() if dense else X, None, fingerprint=True).hashes.tolist()
    order = list(dict.fromkeys(indices.tolist()))
    assert places.features.tolist() == [-1, *order]
    w[order] = np.random.default_rng(0).normal(size=(len(order), 4))
    placed = np.zeros((len(places), 4), np.float32)
    placed[1:] = w[order]
    scores, by_place = np.empty((len(rows), 4)), np.empty((len(rows), 4))
    _core.linear_scores(as_rows(X, None), w, False, scores)
    _core.linear_scores(met, placed, False, by_place)
    np.testing.assert_array_equal(scores, by_place)
    other = places.find(as_rows(np.ones((1, 32)), None))
    _core.linear_scores(other, placed, False, out := np.empty((1, 4)))
    np.testing.assert_allclose(out[0], placed.astype(float).sum(axis=0), rtol=1e-5, atol=1e-6)
    places.forget(1)
    assert len(places) == 1
    assert places.find(as_rows(X, None)).d == 1


def test_places_from_a_file_are_checked():
    assert len(_core.Places.from_features(4, np.array([3, 1], np.int32))) == 3
    for bad in ([1, 1], [4], [-1]):
        with pytest.raises(ValueError, match="places of features do not fit"):
            _core.Places.from_features(4, np.array(bad, np.int32))
    with pytest.raises(ValueError, match="too many features"):
        _core.Places(2**31)
    with pytest.raises(ValueError, match="more features"):
        _core.Places(4).meet(as_rows(np.ones((1, 5)), None))


@pytest.mark.parametrize("multiclass", ["joint", "ovr", "ovo"])
@pytest.mark.parametrize("rule", ["perceptron", "arow", "romma"])
def test_hashed_as_numbered(multiclass, rule):
    """A hashed learner of many classes equals one with all columns, in every weight and every score."""
    X, y = dicts_of(0, 80, 40)
    how = {"multiclass": multiclass, "rule": rule, "keep": "all", "epochs": 3}
    hashed = LinearClassifier(bits=10, **how).fit(X, y)
    rows = hashed_rows(X, 10)
    numbered = LinearClassifier(**how).fit(rows, y)
    assert numbered.learner_.space.places is None
    assert 10 < hashed.learner_.space.placed < 100
    np.testing.assert_array_equal(hashed.coef_, numbered.coef_)
    new = dicts_of(1, 30, 80)[0]  # with names that were never met
    told = hashed_rows(new, 10)
    for name in ("last", "averaged", "best", "voted"):
        scores = hashed.decision_function(new, hypothesis=name)
        np.testing.assert_array_equal(scores, numbered.decision_function(told, hypothesis=name))
    made, wanted = hashed.certificate(X, y), numbered.certificate(rows, y)
    assert (made.updates, made.hypothetical) == (wanted.updates, wanted.hypothetical)
    assert made.bound == pytest.approx(wanted.bound)  # lengths are added up in another order


def test_they_start_from_weights_that_are_given():
    X, y = dicts_of(0, 60, 30)
    first = LinearClassifier(bits=10, epochs=2).fit(X, y)
    coef, intercept = first.coef_, first.intercept_
    unseen = np.flatnonzero(~coef.any(axis=0))[0]
    coef[:, unseen] = 1.0
    again = LinearClassifier(bits=10, epochs=1, hypothesis="last").fit(X, y, coef_init=coef, intercept_init=intercept)
    np.testing.assert_array_equal(again.coef_[:, unseen], 1.0)
    warm = LinearClassifier(bits=10, epochs=1, warm_start=True, hypothesis="last").fit(X, y)
    before = warm.coef_.copy()
    numbered = LinearClassifier(epochs=1, hypothesis="last", warm_start=True)
    rows = hashed_rows(X, 10)
    np.testing.assert_array_equal(before, numbered.fit(rows, y).coef_)
    np.testing.assert_array_equal(warm.fit(X, y).coef_, numbered.fit(rows, y).coef_)


def test_saved_copied_and_taught_on(tmp_path):
    X, y = dicts_of(0, 60, 30)
    model = LinearClassifier(bits=12).partial_fit(X[:30], y[:30])
    save(model, tmp_path / "model")
    loaded, copied = load(tmp_path / "model"), pickle.loads(pickle.dumps(model))
    for one in (model, loaded, copied):
        one.partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(model.coef_, loaded.coef_)
    np.testing.assert_array_equal(model.coef_, copied.coef_)
    assert loaded.learner_.space.placed == model.learner_.space.placed


def test_a_failed_example_leaves_no_place():
    learner = LinearLearner(classes=["a", "b", "c"], bits=8)
    learner.learn_many([{"x": 1.0}], ["a"])
    before = learner.space.placed
    with pytest.raises(ValueError, match="2 labels"):
        learner.dataset([{"y": 1.0}], ["a", "b"])
    assert learner.space.placed == before


def test_two_classes_have_a_weight_per_column():
    learner = LinearLearner(classes=["a", "b"], bits=8)
    learner.learn_many([{"x": 1.0}, {"y": 1.0}], ["a", "b"])
    assert learner.space.places is None


def test_space_without_columns():
    space = FeatureSpace()
    space.place_as_met()
    assert space.places is None
    assert space.placed == 0
