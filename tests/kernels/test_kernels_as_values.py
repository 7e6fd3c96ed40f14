"""Kernels are values: nobody else changes them, equal ones are equal, their Gram matrices are symmetric to the bit."""

import copy
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from examples import examples
from perceptive import KernelClassifier, KernelRanker, LinearClassifier, LinearRanker, load, save
from perceptive.kernels import (
    AllSubsequences,
    Custom,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Spectrum,
    Subsequence,
    SubsetTree,
    Subtree,
)
from perceptive.learners.dual_epochs import DualEpochs

rng = np.random.default_rng(0)


def dot(a, b):
    return float(np.dot(a, b))


# ---------------------------------------------------------------- what a model has learned stays


@pytest.mark.parametrize("budget", [None, 3])
@pytest.mark.parametrize("form", [np.array, list, lambda X: X.tolist()])
def test_models_of_functions_keep_copies_of_their_supports(form, budget):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    y, given = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int), form(X.copy())
    hypothesis = "averaged" if budget is None else "last"
    forget = "oldest" if budget else "projectron"
    model = KernelClassifier(kernel=dot, budget=budget, forget=forget, hypothesis=hypothesis).fit(given, y)
    before, supports = model.decision_function(X), np.array(model.support_vectors_)
    for row in given:
        for j in range(3):
            row[j] *= -1
    assert (model.decision_function(X) == before).all()
    assert (np.array(model.support_vectors_) == supports).all()


@pytest.mark.parametrize("forget", ["oldest", "random", "projectron"])
def test_a_buffer_may_be_used_again(forget):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 2))
    y, buffer = (X[:, 0] > 0).astype(int).tolist(), np.empty(2)
    models = [KernelClassifier(kernel=dot, budget=2, forget=forget, hypothesis="last") for _ in range(2)]
    for x, label in zip(X, y, strict=True):
        buffer[:] = x
        models[0].learn_one(buffer, label)
        models[1].learn_one(x.copy(), label)
    assert (models[0].decision_function(X) == models[1].decision_function(X)).all()


def test_objects_that_nobody_can_copy_are_kept():
    class Thing:
        def __init__(self, value):
            self.value = value

    things = [Thing(i - 4.5) for i in range(10)]
    model = KernelClassifier(kernel=lambda a, b: a.value * b.value).fit(things, [int(t.value > 0) for t in things])
    assert all(any(item is thing for thing in things) for item in model.learner_.dual.supports.items)


# ---------------------------------------------------------------- symmetric to the bit

TEXTS = ["".join(rng.choice(list("abcd"), size=n)) for n in rng.integers(1, 30, size=40)]
TREES = [f"(S (A {a}) (B (C {b}) {c}))" for a, b, c in rng.choice(list("abc"), size=(40, 3))]
REFERENCE = rng.normal(size=(7, 5))
OF_VECTORS = [
    Linear(),
    Linear(np.diag([1.0, 2, 3, 4, 5]) + 0.1),
    Polynomial(3, 0.7),
    Gaussian(gamma=0.3),
    Gaussian(gamma=3e4),
    Laplacian(gamma=0.3),
    Polynomial(4).normalized(),
    Gaussian(sigma=2).normalized() + 0.3 * Linear(),
    Linear().centered(REFERENCE),
    Gaussian(gamma=0.1).centered(REFERENCE).normalized(),
    (Linear() * Gaussian(gamma=1)).polynomial([1, 0.1, 0.3]).exp().normalized(),
    Linear().scaled_by(lambda x: float(x[0]) / 3),
    Linear().scaled_by(lambda x: float(x[0]) * 1e-30),
    Linear().on([0, 2]) * Gaussian(gamma=0.3).on(slice(1, 4)),
    Custom(lambda a, b: 0.3 * float(a[0]) * float(b[0]) + 0.7 * float(b[1]) * float(a[1])),
]


def assert_symmetric(kernel, X, **options):
    K = kernel.gram(X, **options)
    assert (K == K.T).all(), kernel
    assert (kernel(X, **options) == K).all()


@pytest.mark.core
@pytest.mark.parametrize("kernel", OF_VECTORS, ids=repr)
@examples(12)
@given(st.integers(1, 90), st.sampled_from(["float32", "float64"]), st.booleans(), st.integers(0, 99))
def test_gram_matrices_of_vectors_are_symmetric_to_the_bit(kernel, n, dtype, sparse, seed):
    X = np.random.default_rng(seed).normal(size=(n, 5)).astype(dtype)
    custom = isinstance(kernel, Custom) or "scaled_by" in repr(kernel)
    if sparse and not custom:
        X[np.random.default_rng(seed).random(X.shape) < 0.5] = 0
        X = sp.csr_array(X)
        for i in range(n):  # entries in any order
            part = slice(*X.indptr[i : i + 2])
            X.indices[part], X.data[part] = X.indices[part][::-1].copy(), X.data[part][::-1].copy()
        X.has_sorted_indices = False
    assert_symmetric(kernel, X)


@pytest.mark.core
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("change", [lambda k: k, Kernel.normalized, lambda k: 0.3 * k.normalized() + k * k])
@pytest.mark.parametrize(
    ("kernel", "X"),
    [(k, TEXTS) for k in (Spectrum(2), Subsequence(3, 0.7), AllSubsequences())]
    + [(k, TREES) for k in (SubsetTree(0.7), Subtree())],
)
def test_gram_matrices_of_structures_are_symmetric_to_the_bit(kernel, X, change, single):
    for made in (change(kernel), change(kernel).centered(X[:5])):
        assert_symmetric(made, X, dtype=np.float32 if single else np.float64)


@pytest.mark.core
@pytest.mark.parametrize("kernel", [OF_VECTORS[i] for i in (0, 3, 4, 6, 8)], ids=repr)
@pytest.mark.parametrize("made", ["at once", "in tiles"])
def test_large_gram_matrices_are_symmetric_to_the_bit(kernel, made, monkeypatch):
    monkeypatch.setattr("perceptive.kernels.gram.WHOLE", 1300 if made == "at once" else 1299)
    K = kernel.gram(np.random.default_rng(0).normal(size=(1300, 5)).astype(np.float32))
    assert (K == K.T).all()


def test_scaling_by_what_has_no_product():
    X = np.array([[1e150], [2e150], [3e-150]])
    K = Linear().scaled_by(lambda x: float(x[0]) ** -1 if x[0] > 1 else 1e200).gram(X)
    assert pytest.approx(np.array([[1, 1, 3e50], [1, 1, 3e50], [3e50, 3e50, 9e100]])) == K


# ---------------------------------------------------------------- centred


def test_rounding_is_no_negative_length():
    kernel = Spectrum(1).normalized().centered(["abc"] * 3)
    X = ["abc"] * 3 + ["abd", "xyz"]
    assert kernel.diag(X).min() == 0
    KernelClassifier(kernel=kernel).fit(X, [0, 1, 0, 1, 0])
    wrong = Custom(lambda a, b: -a * b).centered([1.0])  # really negative
    assert wrong.diag([3.0]) == pytest.approx([-4.0])


def test_means_are_those_of_the_kernel_as_it_is():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 3))
    reference = X[:3].copy()
    kernel = (Gaussian(gamma=1.0) + Linear()).centered(reference)
    kernel.gram(X)
    kernel.k.k1.set_params(gamma=0.1)
    assert (kernel.gram(X) == (Gaussian(gamma=0.1) + Linear()).centered(X[:3]).gram(X)).all()
    reference *= 3
    assert (kernel.X_ref == X[:3]).all()


def test_the_matrix_of_a_kernel_is_its_own():
    A = np.eye(3)
    kernel = Linear(A)
    A *= 4
    assert kernel == Linear(np.eye(3))
    assert (np.eye(3) == clone(kernel).A).all()
    assert clone(2 * kernel + Gaussian(gamma=1)) == 2 * kernel + Gaussian(gamma=1)


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("kernel", "wrong"),
    [
        (Gaussian(gamma=2.0), {"gamma": -1}),
        (Gaussian(gamma=2.0) + 3 * Polynomial(2), {"k1__gamma": 1.0, "k2__k__degree": 0}),
        (Gaussian(gamma=2.0) + 3 * Polynomial(2), {"k2__k__degree": 3, "k2__c": -1}),
        (Spectrum(2).normalized(), {"k__n": 3, "k__zzz": 1}),
        (Linear().centered(REFERENCE), {"k__A": -np.eye(2)}),
    ],
)
def test_parameters_that_cannot_be_change_nothing(kernel, wrong):
    before = copy.deepcopy(kernel)
    with pytest.raises(ValueError, match=r"must be|it must|no parameter|not positive"):
        kernel.set_params(**wrong)
    assert kernel == before
    model = KernelClassifier(kernel=kernel)
    with pytest.raises(ValueError, match=r"must be|it must|no parameter|not positive"):
        model.set_params(**{f"kernel__{name}": value for name, value in wrong.items()})
    assert kernel == before


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (Gaussian(gamma=1), Gaussian(gamma=1.0)),
        (Spectrum(np.int64(2)), Spectrum(2)),
        (Linear().polynomial((1, 2, 3)), Linear().polynomial([1, 2.0, 3])),
        (Linear().polynomial(np.array([1, 2, 3])), Linear().polynomial([1, 2, 3])),
        (Custom(dot), Custom(dot, name="dot")),
        (Linear().centered(sp.csr_matrix(REFERENCE)), Linear().centered(sp.csr_array(REFERENCE))),
    ],
)
def test_equal_values_make_equal_kernels(one, two):
    assert one == two
    assert hash(one) == hash(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (Gaussian(gamma=1), Gaussian(gamma=2)),
        (Gaussian(gamma=1), Gaussian(sigma=1)),
        (Linear().polynomial([1, 2]), Linear().polynomial([1, 2, 0])),
        (Custom(dot), Custom(dot, name="other")),
        (Spectrum(2, distinct=True), Spectrum(2, distinct=False)),
        (Linear().centered([[1.0], [2.0]]), Linear().centered(np.array([[1.0], [3.0]]))),
        (Linear().on(["a", "b"]), Linear().on(["a"])),
    ],
)
def test_other_values_make_other_kernels(one, two):
    assert one != two


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (Custom(dot), REFERENCE),
        (Linear().centered(sp.csr_matrix(REFERENCE)), REFERENCE),
        (Gaussian(gamma=1).on([0, 1]).centered(REFERENCE.tolist()), REFERENCE),
    ],
)
def test_loaded_kernels_are_equal(kernel, X, tmp_path):
    model = KernelClassifier(kernel=kernel).fit(X, [0, 1, 0, 1, 0, 1, 1])
    save(model, tmp_path / "a.model")
    assert load(tmp_path / "a.model", functions={"dot": dot}).kernel_ == model.kernel_


@pytest.mark.parametrize("sigma", [1e-200, 1e200, 1e-151])
def test_widths_beyond_all_numbers_are_refused(sigma):
    with pytest.raises(ValueError, match="overflows"):
        Gaussian(sigma=sigma)
    assert 0 < Gaussian(sigma=1e-150).rate() < math.inf
    assert Gaussian(sigma=1e150).rate() > 0


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (KernelClassifier(kernel="linear"), "bias"),
        (KernelClassifier(kernel="linear"), "delta"),
        (LinearClassifier(), "bias"),
        (LinearClassifier(), "delta"),
        (LinearRanker(), "delta"),
        (KernelRanker(kernel="linear"), "delta"),
    ],
)
def test_squares_beyond_all_numbers_are_refused(model, name):
    groups = [np.array([0, 0, 1, 1])] if "Ranker" in type(model).__name__ else []
    with pytest.raises(ValueError, match=f"{name}=.*: it must be a number from 0 to 1e150"):
        clone(model).set_params(**{name: 1e200}).fit(REFERENCE[:4], [0, 1, 0, 1], *groups)


# ---------------------------------------------------------------- kept between passes


@pytest.mark.parametrize("columns", [0, 1, 5, 1000])
def test_rows_are_kept_up_to_the_limit(columns):
    n, calls = 40, 0
    X = np.random.default_rng(7).normal(size=(n, 2)).tolist()
    y = [int(a * b > 0) for a, b in X]

    def f(a, b):
        nonlocal calls
        calls += 1
        return math.exp(-((a[0] - b[0]) ** 2) - (a[1] - b[1]) ** 2)

    model = KernelClassifier(kernel=f, epochs=5, cache_size=(columns * n * 4 + 1) / 1e6, hypothesis="last").fit(X, y)
    found, calls = calls, 0
    free = KernelClassifier(kernel=f, epochs=5, hypothesis="last").fit(X, y)
    assert (model.support_ == free.support_).all()
    assert model.alpha_ == pytest.approx(free.alpha_)
    assert found == calls if columns == 1000 else found > calls
    epochs = DualEpochs(model.learner_.dual, model.learner_.lock, model.kernel_.prepare(X), None, several=True)
    for i in range(n if epochs.cached else 0):
        epochs._column(i)
    assert len(epochs._columns) == min(columns, n)
