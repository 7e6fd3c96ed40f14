"""`KernelClassifier` keeps scikit-learn's contract and its own promises."""

import inspect
import tempfile
from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import perceptive
from perceptive import KernelClassifier, LinearClassifier
from perceptive.data.labels import Labels
from perceptive.estimators.data import hold_out, label_array
from perceptive.kernels import Custom, Gaussian, Linear, Polynomial
from perceptive.parameters import KernelParameters, TrainingParameters
from scikit_checks import every_check

X, y = load_digits(return_X_y=True)
X = X / 16.0

WEIGHTS = "a weight multiplies the step of its example; that is not the same as playing the example more often"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}
INSTANCES = [
    KernelClassifier(),
    KernelClassifier(hypothesis="voted"),
    KernelClassifier(kernel=Gaussian(), multiclass="ovr", rule="pa1"),
    KernelClassifier(kernel=Polynomial(2), bias=1.0, delta=1.0),
    KernelClassifier(budget=50, rule="pa2", validation_fraction=0.2),
    KernelClassifier(kernel="precomputed", bias=10.0),
]


@every_check(INSTANCES, EXPECTED)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_parameters_are_declared_once():
    declared = {f.name: f.default for cls in (KernelParameters, TrainingParameters) for f in fields(cls)}
    signature = inspect.signature(KernelClassifier).parameters
    assert {name: p.default for name, p in signature.items()} == {
        **declared, "class_weight": None, "probability": False, "certify": False
    }  # fmt: skip
    documented = inspect.getdoc(KernelClassifier)
    for name in declared:
        assert f"\n{name} : " in documented


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("hypothesis", ["last", "averaged", "best", "voted", "random"])
def test_learns_digits(multiclass, hypothesis):
    clf = KernelClassifier(kernel=Polynomial(4), multiclass=multiclass, hypothesis=hypothesis, epochs=3)
    clf.fit(X[:1200], y[:1200])
    assert clf.score(X[1200:], y[1200:]) > (0.85 if hypothesis == "random" else 0.9)
    again = KernelClassifier(kernel=Polynomial(4), multiclass=multiclass, epochs=3).fit(X[:1200], y[:1200])
    assert np.array_equal(clf.predict(X[1200:]), again.predict(X[1200:], hypothesis=hypothesis))


def test_normalized_scores_are_those_of_unit_vectors():
    clf = KernelClassifier(kernel="quadratic", normalized=True, hypothesis="last", dtype="float64", epochs=2)
    clf.fit(X[:300], y[:300] > 4)
    K = clf.kernel_.gram(clf.support_vectors_)
    length = np.sqrt(clf.alpha_ @ K @ clf.alpha_)
    assert np.allclose(clf.decision_function(X[:20]), clf.kernel_(X[:20], clf.support_vectors_) @ clf.alpha_ / length)


def test_support_and_alpha_make_the_scores():
    clf = KernelClassifier(kernel=Polynomial(3), hypothesis="last", epochs=2, dtype="float64").fit(X[:300], y[:300])
    assert np.array_equal(clf.support_vectors_, X[:300][clf.support_])
    assert len(set(clf.support_.tolist())) == len(clf.support_)  # repeated mistakes are merged
    by_hand = Polynomial(3)(X[300:320], clf.support_vectors_) @ clf.alpha_
    assert np.allclose(clf.decision_function(X[300:320]), by_hand)


def test_precomputed_is_the_kernel_itself():
    k = Gaussian(gamma=0.1)
    plain = KernelClassifier(kernel=k, epochs=3, dtype="float64").fit(X[:200], y[:200])
    given = KernelClassifier(kernel="precomputed", epochs=3, dtype="float64").fit(k(X[:200]), y[:200])
    assert np.array_equal(plain.support_, given.support_)
    assert np.array_equal(plain.predict(X[200:300]), given.predict(k(X[200:300], X[:200])))
    assert cross_val_score(given, k(X[:200]), y[:200], cv=3).mean() > 0.8
    with pytest.raises(AttributeError, match="partial_fit"):
        clone(given).partial_fit(k(X[:50]), y[:50])


def test_a_function_is_a_kernel():
    clf = KernelClassifier(kernel=lambda a, b: float(a @ b + 1) ** 2, epochs=2).fit(X[:80], y[:80])
    same = KernelClassifier(kernel="quadratic", epochs=2).fit(X[:80], y[:80])
    assert np.array_equal(clf.support_, same.support_)
    assert np.array_equal(clf.predict(X[80:100]), same.predict(X[80:100]))


def test_parameters_of_kernels_can_be_searched():
    search = GridSearchCV(KernelClassifier(kernel=Gaussian(gamma=1.0), epochs=2), {"kernel__gamma": [1e-6, 0.05]}, cv=3)
    search.fit(X[:300], y[:300])
    assert search.best_params_ == {"kernel__gamma": 0.05}
    mixed = 0.5 * Gaussian(gamma=1.0) + Linear()
    assert "kernel__k1__k__gamma" in KernelClassifier(kernel=mixed).get_params()


def test_fit_clones_the_kernel():
    k = Gaussian(gamma=0.1)
    clf = KernelClassifier(kernel=k, epochs=1).fit(X[:50], y[:50])
    k.set_params(gamma=7.0)
    assert clf.kernel_ == Gaussian(gamma=0.1)


def test_sparse_rows_are_dense_rows():
    dense = KernelClassifier(kernel="poly(3)", epochs=2).fit(X[:300], y[:300])
    sparse = KernelClassifier(kernel="poly(3)", epochs=2).fit(sp.csr_array(X[:300]), y[:300])
    assert np.array_equal(dense.support_, sparse.support_)
    assert np.array_equal(dense.predict(X[300:400]), sparse.predict(sp.csr_array(X[300:400])))


def test_partial_fit_and_learn_one_are_one_pass():
    whole = KernelClassifier(kernel="poly(2)", epochs=1, shuffle=False, multiclass="joint").fit(X[:200], y[:200])
    parts = KernelClassifier(kernel="poly(2)")
    for i in range(0, 200, 40):
        parts.partial_fit(X[i : i + 40], y[i : i + 40], classes=range(10))
    ones = KernelClassifier(kernel="poly(2)")
    for row, label in zip(X[:200], y[:200], strict=True):
        ones.learn_one(row, label)
    assert np.array_equal(whole.support_, parts.support_)
    assert np.array_equal(whole.alpha_, parts.alpha_)
    assert np.array_equal(whole.predict(X[200:], hypothesis="last"), parts.predict(X[200:], hypothesis="last"))
    assert ones.classes_.tolist() == list(range(10))
    assert ones.predict_one(X[0]) == y[0]
    assert KernelClassifier().predict_one(X[0]) is None


# ---------------------------------------------------------------- held-out examples

N = 240


@pytest.mark.parametrize("strings", [False, True])
@pytest.mark.parametrize("options", [{}, {"multiclass": "ovr"}, {"delta": 0.5}, {"budget": 60}])
def test_training_stops_early_and_goes_back_to_the_best_epoch(strings, options):
    data = ["".join("abcdefgh"[int(v * 7)] for v in row[18:30]) for row in X[:N]] if strings else X[:N]
    parameters = {"kernel": "spectrum(2)" if strings else "poly(3)", **options}
    clf = KernelClassifier(**parameters, epochs=20, validation_fraction=0.3, patience=2).fit(data, y[:N])
    held = hold_out(Labels.of(y[:N]), 0.3, 0)
    scores = clf.held_out_
    assert len(scores) == clf.n_iter_ == len(clf.mistakes_) <= 20
    best = int(np.flatnonzero(scores == scores.max())[-1])
    assert clf.n_iter_ == 20 or clf.converged_ or clf.n_iter_ - 1 - best >= 2
    taught = [x for x, out in zip(data, held, strict=True) if not out] if strings else data[~held]
    kept = [x for x, out in zip(data, held, strict=True) if out] if strings else data[held]
    assert clf.score(kept, y[:N][held]) == scores.max()
    if not clf.converged_:
        free = KernelClassifier(**parameters, epochs=best + 1).fit(taught, y[:N][~held])
        assert np.array_equal(clf.decision_function(data), free.decision_function(data))
        assert np.array_equal(clf.support_, np.flatnonzero(~held)[free.support_])
    assert not held[clf.support_].any()


def test_held_out_examples_have_no_part_in_the_run():
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], size=300)
    start = np.random.default_rng(1).integers(0, 2, size=300).astype(float)
    options = {"kernel": "poly(2)", "epochs": 6, "patience": 9, "certify": True}
    clf = KernelClassifier(validation_fraction=0.2, **options)
    clf.fit(X[:300], y[:300] > 4, sample_weight=weights, alpha_init=start)
    held = hold_out(Labels.of(y[:300] > 4), 0.2, 0)
    free = KernelClassifier(**options, validation_fraction=0.0)
    free.epochs = int(np.flatnonzero(clf.held_out_ == clf.held_out_.max())[-1]) + 1  # the last of equals
    free.fit(X[:300][~held], y[:300][~held] > 4, sample_weight=weights[~held], alpha_init=start[~held])
    assert np.array_equal(clf.alpha_, free.alpha_)
    assert np.array_equal(clf.support_vectors_, free.support_vectors_)
    assert np.array_equal(clf.alpha_counts_, free.alpha_counts_)
    assert np.array_equal(X[:300][clf.support_].astype(clf.support_vectors_.dtype), clf.support_vectors_)
    assert clf.certificate_.holds
    assert not clf.certificate_.hypothetical
    again = from_file(clf)
    assert np.array_equal(again.support_, clf.support_)
    assert np.array_equal(again.held_out_, clf.held_out_)
    clf.partial_fit(X[300:], y[300:] > 4)
    assert np.array_equal(X[clf.support_].astype(np.float32), clf.support_vectors_)


def from_file(model):
    with tempfile.TemporaryDirectory() as folder:
        perceptive.save(model, f"{folder}/a.model")
        return perceptive.load(f"{folder}/a.model")


def test_what_cannot_be_held_out():
    with pytest.raises(ValueError, match="validation_fraction does not go with a precomputed Gram matrix"):
        KernelClassifier(kernel="precomputed", validation_fraction=0.1).fit(X[:50] @ X[:50].T, y[:50])
    with pytest.raises(ValueError, match="holds out none of 2 examples"):
        KernelClassifier(validation_fraction=0.1).fit(X[:2], [0, 1])
    with pytest.raises(ValueError, match="patience"):
        KernelClassifier(validation_fraction=0.1, patience=0).fit(X[:50], y[:50])


# ---------------------------------------------------------------- in scikit-learn


def test_kernels_serve_scikit_learn():
    k = 0.5 * Gaussian(gamma=0.1) + Polynomial(2)
    svc = SVC(kernel=k).fit(X[:200], y[:200])
    same = SVC(kernel="precomputed").fit(k(X[:200]), y[:200])
    assert np.array_equal(svc.predict(X[200:300]), same.predict(k(X[200:300], X[:200])))
    assert SVC(kernel=Custom(lambda a, b: len(set(a) & set(b)))).fit(["ab", "cd"], [0, 1]).predict(["bb"])[0] == 0
    assert np.allclose(pairwise_kernels(X[:5], X[5:9], metric=k), k(X[:5], X[5:9]))
    embedded = KernelPCA(3, kernel="precomputed").fit_transform(Gaussian(gamma=0.1).centered(X[:50]).gram(X[:50]))
    assert embedded.shape == (50, 3)


def test_approximations_come_from_scikit_learn():
    for features in (RBFSampler(gamma=0.05, n_components=300, random_state=0), Nystroem(gamma=0.05, random_state=0)):
        pipeline = make_pipeline(features, LinearClassifier()).fit(X[:1200], y[:1200])
        assert pipeline.score(X[1200:], y[1200:]) > 0.85


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": 3}, "kernel=3"),
        ({"kernel": "nonsense(2)"}, "no kernel is called 'nonsense'"),
        ({"rule": "romma"}, "rule"),
        ({"budget": 0}, "budget"),
        ({"budget": 5, "hypothesis": "voted"}, "budget"),
        ({"budget": 5, "delta": 1.0}, "delta"),
        ({"budget": 5, "forget": "oldest"}, "choose hypothesis='last', or forget='projectron'"),
        ({"rule": "pa1", "margin": 1.0}, "margin"),
        ({"multiclass": "ovo"}, "multiclass"),
        ({"cache_size": -1.0}, "cache_size"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message.replace("(", r"\(")):
        KernelClassifier(**parameters).fit(X[:20], y[:20])


def test_overflow_is_told():
    with pytest.raises(ValueError, match="float64"):
        KernelClassifier(kernel="poly(9)").fit(1e6 * X[:50], y[:50])


def test_bad_functions_are_told():
    objects, labels = ["a", "b", "c"], [0, 1, 0]
    with pytest.raises(ValueError, match="gives nan for the pair 'a', 'a'"):
        KernelClassifier(kernel=lambda a, b: float("nan")).fit(objects, labels)
    with pytest.raises(ValueError, match="not symmetric"):
        Custom(lambda a, b: ord(a) - 2 * ord(b)).gram(objects)
    with pytest.raises(ValueError, match="shape"):
        KernelClassifier(kernel="linear").fit(X[:4], [0, 1, 0, 1], alpha_init=[1.0, 2.0])


def test_learn_one_notes_classes_when_one_is_new(monkeypatch):
    made = []

    def counting(labels, like):
        made.append(len(labels))
        return label_array(labels, like)

    monkeypatch.setattr("perceptive.estimators.data.label_array", counting)
    model = KernelClassifier(kernel="linear")
    for i in range(30):
        model.learn_one([float(i % 3), 1.0], "abc"[i % 3])
    assert made == [1, 2, 3]
    assert model.classes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_named_by_its_place(value):
    X = np.eye(4)
    model, wrong = KernelClassifier().fit(X, [0, 1, 0, 1]), X.copy()
    wrong[2, 1] = value
    for call in (lambda: KernelClassifier().fit(wrong, [0, 1, 0, 1]), lambda: model.predict(wrong)):
        with pytest.raises(ValueError, match=r"X\[2, 1\] is (nan|inf); drop or impute NaN"):
            call()
