"""`LinearClassifier` keeps scikit-learn's contract, River's, and its own promises."""

import inspect
import subprocess
import sys
import threading
from dataclasses import fields
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from perceptive import KernelClassifier, LinearClassifier, tune
from perceptive.learners import LinearLearner
from perceptive.parameters import EstimatorParameters, LinearParameters, TrainingParameters
from scikit_checks import every_check

X, y = load_digits(return_X_y=True)
X2, y2 = load_breast_cancer(return_X_y=True)

WEIGHTS = "a weight multiplies the step of its example; that is not the same as playing the example more often"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}
INSTANCES = [
    LinearClassifier(),
    LinearClassifier(bias=10.0),
    LinearClassifier(hypothesis="voted"),
    LinearClassifier(hypothesis="best", max_voters=50),
    LinearClassifier(multiclass="ovr"),
    LinearClassifier(multiclass="ovo", dtype="float64"),
    LinearClassifier(delta=1.0, probability=True),
]


@every_check(INSTANCES, EXPECTED)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_parameters_are_declared_once():
    declared = {
        f.name: f.default for cls in (LinearParameters, TrainingParameters, EstimatorParameters) for f in fields(cls)
    }
    signature = inspect.signature(LinearClassifier).parameters
    assert {name: p.default for name, p in signature.items()} == {**declared, "bias": "auto"}
    documented = inspect.getdoc(LinearClassifier)
    for cls in (LinearParameters, TrainingParameters, EstimatorParameters):
        for f in fields(cls):
            assert f.metadata["help"]
            assert f"\n{f.name} : " in documented


def test_import_is_light():
    code = "import sys, perceptive; print([m for m in ('sklearn', 'scipy', 'pandas', 'rich') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    code = "import sys, perceptive.estimators; print([m for m in ('rich', 'sklearn.pipeline') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("multiclass", ["joint", "ovr", "ovo"])
@pytest.mark.parametrize("hypothesis", ["last", "averaged", "best", "voted", "random"])
def test_learns_digits(multiclass, hypothesis):
    clf = LinearClassifier(multiclass=multiclass, hypothesis=hypothesis).fit(X[:1200], y[:1200])
    assert clf.score(X[1200:], y[1200:]) > 0.86
    assert clf.mistakes_[0] > clf.mistakes_[-1]


def test_every_hypothesis_from_one_run():
    kept = LinearClassifier(keep="all").fit(X, y)
    for hypothesis in ("last", "averaged", "best", "voted", "random"):
        alone = LinearClassifier(hypothesis=hypothesis).fit(X, y)
        np.testing.assert_array_equal(kept.predict(X, hypothesis=hypothesis), alone.predict(X))
    with pytest.raises(ValueError, match="keep='all'"):
        LinearClassifier().fit(X, y).predict(X, hypothesis="voted")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_sparse_and_wide_indices_agree(dtype):
    dense = LinearClassifier(dtype="float64").fit(X.astype(dtype), y)
    csr = sp.csr_array(X.astype(dtype))
    wide = csr.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for other in (csr, wide, sp.csc_array(csr)):
        sparse = LinearClassifier(dtype="float64").fit(other, y)
        np.testing.assert_array_equal(sparse.coef_, dense.coef_)
        np.testing.assert_array_equal(sparse.predict(other), dense.predict(X))


def test_unsorted_and_duplicate_entries_are_put_in_order_in_a_copy():
    data, indices, indptr = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])
    messy = sp.csr_array((data.copy(), indices.copy(), indptr), shape=(2, 3))
    tidy = np.array([[2.0, 0, 1], [0, 7, 0]])
    a = LinearClassifier(shuffle=False).fit(messy, [0, 1])
    b = LinearClassifier(shuffle=False).fit(tidy, [0, 1])
    np.testing.assert_array_equal(a.coef_, b.coef_)
    np.testing.assert_array_equal(messy.indices, indices)
    np.testing.assert_array_equal(messy.data, data)


def test_frames_pipelines_and_search():
    frame = pd.DataFrame(X2[:, :4], columns=list("abcd"))
    clf = LinearClassifier().fit(frame, y2)
    assert clf.feature_names_in_.tolist() == list("abcd")
    pipe = make_pipeline(StandardScaler(), LinearClassifier())
    assert cross_val_score(pipe, X2, y2).mean() > 0.95
    grid = GridSearchCV(pipe, {"linearclassifier__rule": ["perceptron", "pa1"], "linearclassifier__C": [0.01, 1.0]})
    assert grid.fit(X2, y2).best_score_ > 0.95
    assert "LinearClassifier" in pipe._repr_html_()
    assert clone(clf).get_params() == clf.get_params()


def test_partial_fit_is_one_pass_of_fit():
    once = LinearClassifier(epochs=1, shuffle=False, bias=1.0).fit(X, y)
    online = LinearClassifier(bias=1.0)
    for part in np.array_split(np.arange(len(y)), 7):
        online.partial_fit(X[part], y[part], classes=np.unique(y))
    online.learner_.open = False  # as fit closes it
    np.testing.assert_array_equal(online.coef_, once.coef_)
    assert online.n_iter_ == 7
    assert online.mistakes_.sum() == once.mistakes_.sum()


def test_classes_and_features_may_appear_unannounced():
    clf = LinearClassifier()
    clf.partial_fit([{"a": 1.0}], ["x"])
    assert clf.predict([{"a": 1.0, "new": 3.0}]).tolist() == ["x"]
    clf.partial_fit([{"b": 1.0}, {"c": "red"}], ["y", "z"])
    for _ in range(5):
        clf.partial_fit([{"a": 1.0}, {"b": 1.0}, {"c": "red"}], ["x", "y", "z"])
    assert clf.classes_.tolist() == ["x", "y", "z"]
    assert clf.predict([{"a": 1.0}, {"b": 1.0}, {"c": "red"}]).tolist() == ["x", "y", "z"]
    assert clf.coef_.shape == (3, 3)


def test_announced_classes_are_the_classes():
    clf = LinearClassifier().partial_fit(X[:50], y[:50], classes=range(10))
    with pytest.raises(ValueError, match="not one of the classes"):
        clf.partial_fit(X[:1], [99])
    with pytest.raises(ValueError, match="first call"):
        clf.partial_fit(X[:1], [1], classes=[0, 1])


def test_one_class_only():
    with pytest.raises(ValueError, match="at least 2 classes"):
        LinearClassifier().fit(X, np.zeros(len(y)))
    assert set(LinearClassifier().partial_fit(X, np.zeros(len(y))).predict(X)) == {0.0}


@pytest.mark.parametrize("clf", [LinearClassifier(), KernelClassifier(kernel="gaussian(gamma=0.2)")], ids=repr)
def test_river(clf):
    from river import base, compose, datasets, ensemble, evaluate, metrics, preprocessing

    clf = clone(clf)
    model = preprocessing.StandardScaler() | clf
    metric = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert metric.get() > 0.85
    assert isinstance(model, compose.Pipeline)
    assert isinstance(clf, base.Classifier)
    assert clone(clf).predict_one({"a": 1}) is None
    again = model.clone({type(clf).__name__: {"rule": "pa1"}})
    assert (again[type(clf).__name__].rule, clf.rule) == ("pa1", "perceptron")
    assert again.predict_one({"age_of_domain": 1}) is None
    assert clf.clone(include_attributes=True).learner_.updates == clf.learner_.updates > 0
    votes = model.clone({type(clf).__name__: {"hypothesis": "voted"}})  # River's ensembles add up probabilities
    bag = ensemble.BaggingClassifier(votes, n_models=3, seed=1)
    assert evaluate.progressive_val_score(datasets.Phishing().take(200), bag, metrics.Accuracy()).get() > 0.8


def test_learning_one_by_one_is_learning_many():
    rows = [{f"f{j}": v for j, v in enumerate(row) if v} for row in X[:200]]
    one = LinearClassifier()
    for row, label in zip(rows, y[:200], strict=True):
        one.learn_one(row, label.item())
    many = LinearClassifier().partial_fit(rows, y[:200])
    assert one.predict(rows).tolist() == many.predict(rows).tolist()
    assert one.learner_.mistakes == many.learner_.mistakes


def test_the_short_way_of_a_dict_is_the_long_way():
    """Known names and plain values skip the arrays; the weights, the votes and the fingerprint are the same."""
    rng = np.random.default_rng(0)
    rows = [
        {"a": float(v), "b": int(w), "c": bool(w > 1), "d": "xyz"[w], 7: v * w, "e": 0.0}
        for v, w in zip(rng.normal(size=100), rng.integers(0, 3, size=100), strict=True)
    ]
    labels = [str(round(row["a"]) % 3) for row in rows]
    for options in ({}, {"rule": "arow", "keep": "all"}, {"rule": "romma", "dtype": "float64"}):
        short, long = LinearLearner(**options), LinearLearner(**options)
        for row, label in zip(rows, labels, strict=True):
            assert short.learn(row, label) == long.learn(MappingProxyType(row), label)  # not a dict: the long way
            assert short.predict(row) == long.predict(MappingProxyType(row))
        assert (short.fingerprint, short.played, short.updates) == (long.fingerprint, long.played, long.updates)
        np.testing.assert_array_equal(short.scores(rows), long.scores(rows))


def test_prediction_is_pure_and_thread_safe():
    clf = LinearClassifier(keep="all").fit(X[:600], y[:600])
    again = clone(clf).fit(X[:600], y[:600])
    wanted = {h: again.predict(X, hypothesis=h) for h in ("last", "averaged", "best", "voted")}
    wrong = []

    def predict(hypothesis):
        for _ in range(5):
            if not np.array_equal(clf.predict(X, hypothesis=hypothesis), wanted[hypothesis]):
                wrong.append(hypothesis)

    threads = [threading.Thread(target=predict, args=(h,)) for h in wanted for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("hypothesis", ["averaged", "voted"])
@pytest.mark.parametrize("data", ["two", "ten"])
def test_probabilities_are_ordered_as_the_scores(hypothesis, data):
    A, b = (X2, y2) if data == "two" else (X, y)
    clf = LinearClassifier(hypothesis=hypothesis, probability=True).fit(A, b)
    p, s = clf.predict_proba(A), clf.decision_function(A)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert p.min() >= 0
    if data == "two":
        order = np.argsort(s, kind="stable")
        assert (np.diff(p[order, 1]) >= 0).all()
    else:
        for scores, shares in zip(s[:200], p[:200], strict=True):
            assert (np.diff(shares[np.argsort(scores, kind="stable")]) >= -1e-12).all()
        np.testing.assert_array_equal(clf.classes_[p.argmax(axis=1)], clf.predict(A))


def test_probabilities_are_opt_in():
    assert not hasattr(LinearClassifier(), "predict_proba")
    calibrated = LinearClassifier(probability=True, epochs=3).fit(X2[::2], y2[::2])
    p = calibrated.predict_proba(X2[1::2])[:, 1]
    log_loss = -np.mean(np.log(np.where(y2[1::2] == 1, p, 1 - p)))
    assert log_loss < 0.5


def test_early_stopping_goes_back_to_the_best_pass():
    clf = LinearClassifier(epochs=100, validation_fraction=0.2, patience=2).fit(X, y)
    assert clf.n_iter_ < 100
    best = int(np.flatnonzero(clf.held_out_ == clf.held_out_.max())[-1]) + 1  # of equals the later
    assert clf.n_iter_ - best >= 2
    same = LinearClassifier(epochs=best, validation_fraction=0.2, patience=99).fit(X, y)
    np.testing.assert_array_equal(clf.coef_, same.coef_)


def test_convergence_ends_training():
    clf = LinearClassifier(epochs=1000, rule="perceptron").fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    assert clf.converged_
    assert clf.updates_[-1] == 0
    assert clf.n_iter_ < 1000


def test_warm_start_and_initial_weights():
    cold = LinearClassifier(epochs=2, shuffle=False, hypothesis="last").fit(X, y)
    warm = LinearClassifier(epochs=1, shuffle=False, hypothesis="last", warm_start=True).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(warm.coef_, cold.coef_)
    first = LinearClassifier(epochs=1, shuffle=False, hypothesis="last").fit(X, y)
    given = LinearClassifier(epochs=1, shuffle=False, hypothesis="last").fit(
        X, y, coef_init=first.coef_, intercept_init=first.intercept_
    )
    np.testing.assert_array_equal(given.coef_, cold.coef_)


def test_class_weights_are_sample_weights():
    weight = {label: 1.0 + label for label in range(10)}
    a = LinearClassifier(class_weight=weight).fit(X, y)
    b = LinearClassifier().fit(X, y, sample_weight=1.0 + y)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    LinearClassifier(class_weight="balanced").fit(X, y)


def test_rows_of_weight_zero_are_not_there():
    keep = np.arange(len(y)) % 3 != 0
    weighted = LinearClassifier(shuffle=False).fit(X, y, sample_weight=keep.astype(float))
    without = LinearClassifier(shuffle=False).fit(X[keep], y[keep])
    np.testing.assert_array_equal(weighted.coef_, without.coef_)
    assert weighted.rounds_ == without.rounds_


def test_determinism():
    runs = [LinearClassifier(random_state=s).fit(X, y).coef_ for s in (1, 1, 2)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert (runs[0] != runs[2]).any()


def test_perceptron_criterion():
    clf = LinearClassifier(epochs=1).fit(X2, y2)
    signs, scores = 2 * y2 - 1, clf.decision_function(X2)
    wrong = signs * scores < 0
    assert clf.perceptron_criterion(X2, y2) == pytest.approx(-(signs * scores)[wrong].sum())
    many = LinearClassifier(epochs=1).fit(X, y)
    scores = many.decision_function(X)
    naive = sum(max(0.0, max(np.delete(s, t)) - s[t]) for s, t in zip(scores, y, strict=True))
    assert many.perceptron_criterion(X, y) == pytest.approx(naive)


def test_tune_a_pipeline():
    X, y = load_wine(return_X_y=True)
    tuned = tune(make_pipeline(StandardScaler(), LinearClassifier(epochs=3)), X, y)
    assert "linearclassifier__rule" in tuned.tuning_[0].choice
    assert tuned[-1].rule == tuned.tuning_[0].choice["linearclassifier__rule"]
    assert tuned.score(X, y) > 0.95
    with pytest.raises(TypeError, match="cannot tune StandardScaler; give an estimator of perceptive"):
        tune(StandardScaler(), X, y)
