"""Estimators that get their examples bit by bit warn once where the columns are unscaled, as `fit` does."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from perceptive import KernelClassifier, LinearClassifier, LinearRanker, load, save
from perceptive.errors import ScaleWarning

RNG = np.random.default_rng(0)
MASS, DEPTH = RNG.normal(4000, 500, 200), RNG.normal(17, 2, 200)
ROWS = np.column_stack([DEPTH, MASS])
DICTS = [{"depth": float(d), "mass": float(m)} for d, m in ROWS]
Y = np.where(DEPTH + MASS / 1000 > 21, "a", "b")


def told(learn):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        learn()
    return [str(one.message) for one in said if issubclass(one.category, ScaleWarning)]


def one_by_one(model, X, n=200):
    for x, y in zip(X[:n], Y, strict=False):
        model.learn_one(x, y)


@pytest.mark.parametrize("X", [DICTS, ROWS, [sp.csr_array(row[None]) for row in ROWS]], ids=["dicts", "rows", "sparse"])
def test_learn_one_warns_once(X):
    rows = X if X is not ROWS else list(ROWS)
    model = LinearClassifier()
    apart = 1000 if hasattr(rows[0], "tocsr") else 100  # as for `fit`
    said = told(lambda: one_by_one(model, rows))
    assert len(said) == (apart == 100)
    assert all("times as large" in one for one in said)
    assert "_first" not in model.__dict__


@pytest.mark.parametrize("model", [LinearClassifier(), KernelClassifier()], ids=repr)
def test_partial_fit_of_few_examples_at_a_time_warns_once(model):
    def learn():
        for i in range(0, 200, 2):
            model.partial_fit(ROWS[i : i + 2], Y[i : i + 2], classes=["a", "b"])

    assert len(told(learn)) == 1


def test_rankers_warn_once():
    model = LinearRanker()
    said = told(lambda: [model.learn(ROWS[i : i + 4], int(np.argmax(DEPTH[i : i + 4]))) for i in range(0, 200, 4)])
    assert len(said) == 1


def test_scaled_examples_are_not_warned_of():
    scaled = (ROWS - ROWS.mean(axis=0)) / ROWS.std(axis=0)
    assert not told(lambda: one_by_one(LinearClassifier(), list(scaled)))
    assert not told(lambda: one_by_one(LinearClassifier(), [dict(zip("ab", row, strict=True)) for row in scaled]))


def test_objects_of_kernels_are_left_alone():
    model = KernelClassifier(kernel="spectrum(2)")
    assert not told(lambda: one_by_one(model, ["12" * (i % 5 + 1) for i in range(200)], 40))
    assert "_first" not in model.__dict__


def test_only_the_first_examples_are_kept(tmp_path):
    model = LinearClassifier()
    one_by_one(model, [{"a": 1.0, "b": 0.5}] * 200, 50)
    assert model.__dict__["_first"].n == 50
    save(model, tmp_path / "m")
    for copy in (pickle.loads(pickle.dumps(model)), load(tmp_path / "m")):
        assert "_first" not in copy.__dict__
    one_by_one(model, [{"a": 1.0, "b": 0.5}] * 200, 50)
    assert "_first" not in model.__dict__
    changed = {"depth": 1.0, "mass": 1.0}
    model = LinearClassifier()

    def learn():
        for row, y in zip(DICTS, Y, strict=True):
            changed.update(row)
            model.learn_one(changed, y)
            changed.update(depth=1.0, mass=1.0)

    assert len(told(learn)) == 1


def test_a_model_that_was_fitted_is_not_watched():
    model = LinearClassifier()
    one_by_one(model, DICTS, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScaleWarning)
        model.fit(DICTS, Y)
    assert not told(lambda: one_by_one(model, DICTS))
