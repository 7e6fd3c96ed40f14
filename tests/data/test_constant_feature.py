"""``bias="auto"``: a constant feature as large as rows are long."""

import numpy as np
import pytest
import scipy.sparse as sp

import perceptive
from perceptive import LinearClassifier, learners
from perceptive.cli import main
from perceptive.models.registry import load_learner

rng = np.random.default_rng(0)
X = rng.normal(20.0, 1.0, (300, 3))
y = np.where(X[:, 0] + X[:, 1] > X.mean(0)[:2].sum(), "high", "low")
RMS = float(np.sqrt(np.mean((X**2).sum(axis=1))))


def test_it_becomes_the_root_mean_square_length_of_all_rows():
    clf = LinearClassifier(certify=True).fit(X, y)
    assert clf.bias == "auto"
    assert clf.learner_.bias == pytest.approx(RMS)
    radius2 = (X**2).sum(axis=1).max() + clf.learner_.bias**2
    assert clf.certificate_.radius == pytest.approx(np.sqrt(radius2))
    assert clf.certificate_.bound >= clf.certificate_.mistakes
    assert clf.score(X, y) > LinearClassifier(bias=1.0).fit(X, y).score(X, y)
    same = LinearClassifier(bias=clf.learner_.bias).fit(X, y)
    np.testing.assert_array_equal(same.coef_, clf.coef_)
    np.testing.assert_array_equal(same.intercept_, clf.intercept_)


def test_it_heeds_normalize_weights_sparse_rows_and_empty_ones():
    assert LinearClassifier(normalize=True).fit(X, y).learner_.bias == 1.0
    weights = np.repeat([0.0, 1.0], [200, 100])
    part = LinearClassifier().fit(X, y, sample_weight=weights).learner_.bias
    assert part == pytest.approx(np.sqrt(np.mean((X[200:] ** 2).sum(axis=1))))
    assert LinearClassifier().fit(sp.csr_array(X), y).learner_.bias == LinearClassifier().fit(X, y).learner_.bias
    assert LinearClassifier().fit(np.zeros((4, 2)), [0, 1, 0, 1]).learner_.bias == 1.0


def test_one_by_one_the_first_row_tells():
    learner = learners.LinearLearner(bias="auto")
    assert np.isnan(learner.bias)
    learner.learn({"a": 3.0, "b": 4.0}, "x")
    learner.learn({"a": 30.0}, "y")
    assert learner.bias == 5.0
    many = learners.LinearLearner(bias="auto")
    many.learn_many([{"a": 3.0, "b": 4.0}, {"a": 30.0}], ["x", "y"])
    assert many.score({"a": 1.0}).tolist() == learner.score({"a": 1.0}).tolist()


def test_it_is_frozen_where_learning_goes_on(tmp_path):
    clf = LinearClassifier().partial_fit(X[:100], y[:100], classes=["high", "low"])
    bias = clf.learner_.bias
    clf.partial_fit(1000 * X[100:], y[100:])
    assert clf.learner_.bias == bias == pytest.approx(np.linalg.norm(X[0]))
    perceptive.save(clf, tmp_path / "m.model")
    again = perceptive.load(tmp_path / "m.model")
    assert (again.bias, again.learner_.bias) == ("auto", bias)
    again.partial_fit(X, y)
    with pytest.raises(ValueError, match="parameters have changed"):
        again.set_params(bias=2.0).partial_fit(X, y)


def test_a_warm_start_keeps_the_intercept_on_rows_of_another_length():
    clf = LinearClassifier(warm_start=True, hypothesis="last").fit(X, y)
    before = clf.intercept_
    clf.set_params(epochs=1, rule="pa1", C=1e-12).fit(2 * X, y)
    assert clf.learner_.bias == pytest.approx(2 * RMS)
    assert clf.intercept_ == pytest.approx(before, rel=1e-6)


def test_files_take_the_rows_of_their_first_block(tmp_path):
    path = tmp_path / "rows.svm"
    lines = (f"{int(label == 'high')} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row.tolist())) + "\n" for row, label in zip(X, y, strict=True))  # fmt: skip  # noqa: E501
    path.write_text("".join(lines))
    assert LinearClassifier().fit_stream(path).learner_.bias == pytest.approx(RMS)
    model = str(tmp_path / "m.model")
    assert main(["train", str(path), "--bias", "auto", "-o", model, "--quiet"]) == 0
    assert load_learner(model).bias == pytest.approx(RMS)
    with pytest.raises(ValueError, match="'auto'"):
        LinearClassifier(bias="large").fit(X, y)
