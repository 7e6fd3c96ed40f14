"""Columns of very different size are told of, once a fit, with the cure."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_wine

from perceptive import KernelClassifier, KernelRanker, LinearClassifier, LinearRanker
from perceptive.errors import ScaleWarning
from perceptive.estimators.column_warnings import odd_sizes


def test_a_fit_names_the_columns_and_the_cure():
    wine = load_wine()
    with pytest.warns(ScaleWarning, match=r"column 12 is \d.* times as large as column 7 .*StandardScaler") as told:
        LinearClassifier().fit(wine.data, wine.target)
    assert len(told) == 1
    assert told[0].filename == __file__
    said = odd_sizes(wine.data, wine.feature_names)
    assert "column 'proline'" in said
    assert "column 'nonflavanoid_phenols'" in said
    with pytest.warns(ScaleWarning, match="column 12"):
        LinearClassifier().fit(sp.csr_array(wine.data), wine.target)


@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_numbers_whose_products_vanish_or_overflow_are_told_of(size):
    X = np.array([[1.0, 0.5], [-1.0, 0.7], [1.5, 0.4], [-2.0, 0.6]])
    with pytest.warns(ScaleWarning, match=r"the largest number is 2e[-+]25, and products .*StandardScaler"):
        LinearClassifier(rule="pa1").fit(X * size, [1, 0, 1, 0])
    assert odd_sizes(X * 1e-15) is None
    assert odd_sizes(X * 1e15) is None


@pytest.mark.parametrize("estimator", [KernelClassifier(epochs=1), LinearRanker(epochs=1), KernelRanker(epochs=1)])
def test_every_estimator_of_columns_says_so(estimator):
    X, y = load_wine(return_X_y=True)
    lists = {} if isinstance(estimator, KernelClassifier) else {"qid": np.arange(len(y)) % 9}
    with pytest.warns(ScaleWarning, match="column 12") as told:
        estimator.fit(X, y, **lists)
    assert [one.filename for one in told] == [__file__]


def test_a_column_of_words_does_not_hide_the_others():
    """Dicts are told of by name, by `fit` and by the first `partial_fit`; so are frames with words, by the latter."""
    wine = load_wine(as_frame=True)
    frame = wine.data.assign(colour="red")
    rows = frame.to_dict("records")
    for examples in (frame, rows):
        estimators = LinearClassifier(), LinearClassifier(), LinearRanker(), LinearRanker()
        for estimator, how in zip(estimators, ("fit", "partial_fit") * 2, strict=True):
            if how == "fit" and examples is frame:  # which scales it
                continue
            learn = getattr(estimator, how)
            lists = {"qid": np.arange(len(rows)) % 9} if isinstance(estimator, LinearRanker) else {}
            with pytest.warns(ScaleWarning, match="column 'proline' is .* as column 'nonflavanoid_phenols'") as told:
                learn(examples, wine.target, **lists)
            assert [one.filename for one in told] == [__file__]
    sparse = [{f"w{i}": 1.0, "size": 1e4} if i == 2 else {f"w{i}": 1.0} for i in range(9)]
    with pytest.warns(ScaleWarning, match="column 'size' is 10,000 times"):
        LinearClassifier().fit(sparse, [0, 1, 1] * 3)


def test_columns_of_about_one_size_pass_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearClassifier().fit(*load_digits(return_X_y=True))
        LinearClassifier().fit([{"a": 1.0, "b": 30, "c": "1e9"}, {"a": 2.0, "d": True}], ["x", "y"])
        LinearClassifier().fit(np.zeros((4, 2)), [0, 1, 0, 1])


def test_zeros_and_what_is_not_finite_do_not_count():
    assert odd_sizes(np.array([[0.0, 1.0], [0.0, 2.0]])) is None
    assert odd_sizes(np.array([[np.inf, 1.0], [np.nan, 2.0]])) is None
    assert odd_sizes(sp.csr_array((3, 4))) is None
    assert odd_sizes(np.empty((0, 2))) is None
    large = np.repeat([[1.0, 0.0], [1.0, 5e3]], 5000, axis=0)
    said = "column 1 is 5,000 times as large as column 0 and drowns it"
    assert odd_sizes(large) == odd_sizes(sp.csr_array(large)) == said
    longer = np.repeat(large, 10, axis=0)
    assert odd_sizes(longer) == odd_sizes(sp.csr_array(longer)) == said
    room = sp.csr_array(large[::1000])
    room.data, room.indices = np.append(room.data, 1e9), np.append(room.indices, 7)  # behind the last row
    assert odd_sizes(room) == said


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_passed_over_at_a_glance_is_not_told_of(dtype):
    assert odd_sizes(np.array([[-1.0, 0.0], [0.0, 1000.0]], dtype)) is None
    assert "column 1 is 1,001 times" in odd_sizes(np.array([[-1.0, 0.0], [0.0, -1001.0]], dtype))
    assert odd_sizes(np.array([[1e-3, 1.0], [1.0, 2.0]], dtype)) is None  # entries lie apart, columns do not


def test_full_columns_of_a_table_need_to_differ_less():
    """Penguins: 26 points of accuracy are lost where body mass is in grams, beside bills in millimetres."""
    rng = np.random.default_rng(0)
    table = np.c_[rng.normal(17, 2, 300), rng.normal(200, 14, 300), rng.normal(4200, 800, 300)]
    assert "column 2 is 24" in odd_sizes(table)
    assert odd_sizes(table * (rng.random(table.shape) < 0.3)) is None  # seldom anything: counts and pixels
    assert odd_sizes(np.c_[table[:, 1:], np.full(300, 20.0)]) is None  # a constant has nothing to say
