"""Kernels: the algebra keeps them positive semidefinite, strings and trees equal brute force, bad input is named."""

import pickle
import random

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score

from perceptive import KernelClassifier
from perceptive.kernels import (
    AllSubsequences,
    Constant,
    Custom,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Quadratic,
    Spectrum,
    Subsequence,
    SubsetTree,
    gram,
    gram_embedding,
    is_psd,
)
from perceptive.kernels.grammar import parse

pytestmark = pytest.mark.core
X = np.random.default_rng(0).normal(size=(30, 4))
Z = np.random.default_rng(1).normal(size=(7, 4))


def halve(x):
    return float(x[0]) / 2


def double(x):
    return 2 * np.asarray(x)


CONSTRUCTIONS = {
    "2.5 * Linear()": lambda: 2.5 * Linear(),
    "Linear() + Gaussian(gamma=1.0)": lambda: Linear() + Gaussian(gamma=1.0),
    "Linear() * Quadratic()": lambda: Linear() * Quadratic(),
    "Linear() + Constant(2)": lambda: Linear() + 2,
    "Gaussian(gamma=0.5) ** 3": lambda: Gaussian(gamma=0.5) ** 3,
    "Linear().polynomial([1, 0, 2.0])": lambda: Linear().polynomial([1, 0, 2.0]),
    "(0.3 * Linear()).exp()": lambda: (0.3 * Linear()).exp(),
    "Quadratic().scaled_by(halve)": lambda: Quadratic().scaled_by(halve),
    "Gaussian(gamma=0.1).after(double)": lambda: Gaussian(gamma=0.1).after(double),
    "Linear().on([0, 2])": lambda: Linear().on([0, 2]),
    "Quadratic().normalized()": lambda: Quadratic().normalized(),
    "Quadratic().centered(<7 × 4>)": lambda: Quadratic().centered(Z),
    "Linear().on(0) * Gaussian(gamma=1.0).on([1, 2, 3])": lambda: Linear().on(0) * Gaussian(gamma=1.0).on([1, 2, 3]),
    "Linear(A=<4 × 4>)": lambda: Linear(A=np.diag([1.0, 2.0, 0.0, 3.0])),
    "Polynomial(degree=4, c=0.5)": lambda: Polynomial(4, c=0.5),
    "Laplacian(gamma=0.5)": lambda: Laplacian(gamma=0.5),
}


@pytest.mark.parametrize("text", CONSTRUCTIONS)
def test_constructions_keep_the_gram_psd(text):
    k = CONSTRUCTIONS[text]()
    assert repr(k) == text
    assert k == CONSTRUCTIONS[text]()
    assert k != Linear()
    assert clone(k) == k
    K = k.gram(X)
    assert is_psd(K)
    assert np.allclose(K, k(X, X.copy()))
    assert np.allclose(np.diag(K), k.diag(X))
    assert np.allclose(k(X[:5], X[5:12]), K[:5, 5:12])
    assert k.value(X[0], X[1]) == pytest.approx(K[0, 1])
    assert k(X[0], X[1]) == pytest.approx(K[0, 1])
    phi = gram_embedding(K)
    assert np.allclose(phi @ phi.T, K, atol=1e-6 * np.abs(K).max())
    single = k.gram(X.astype(np.float32))
    assert single.dtype == np.float32
    assert np.allclose(single, K, rtol=2e-3, atol=2e-3)
    if k.vectors and "by" not in text and "after" not in text:
        assert np.allclose(k.gram(sp.csr_array(X)), K)


def test_constructions_are_what_they_say():
    G, L = rbf_kernel(X, gamma=0.5), X @ X.T
    k, linear = Gaussian(gamma=0.5), Linear()
    f = X[:, 0] / 2
    assert np.allclose(k.gram(X), G)
    assert np.allclose(Gaussian(sigma=1.0).gram(X), G)
    assert np.allclose(Polynomial(3, c=2.0).gram(X), polynomial_kernel(X, degree=3, gamma=1, coef0=2.0))
    assert np.allclose(Laplacian(gamma=0.3).gram(X), laplacian_kernel(X, gamma=0.3))
    assert np.allclose((2 * k + linear * k).gram(X), 2 * G + L * G)
    assert np.allclose((k**3).gram(X), G**3)
    assert np.allclose(linear.polynomial([1, 2, 3]).gram(X), 1 + 2 * L + 3 * L**2)
    assert np.allclose(linear.exp().gram(X), np.exp(L))
    assert np.allclose(linear.scaled_by(halve).gram(X), f[:, None] * L * f)
    assert np.allclose(linear.after(double).gram(X), 4 * L)
    assert np.allclose(linear.on([1, 3]).gram(X), X[:, [1, 3]] @ X[:, [1, 3]].T)
    assert np.allclose(linear.on(slice(1, 3)).gram(X), X[:, 1:3] @ X[:, 1:3].T)
    d = np.sqrt(np.diag(L))
    assert np.allclose(linear.normalized().gram(X), L / np.outer(d, d))
    assert np.allclose(linear.centered(Z).gram(X), (X - Z.mean(axis=0)) @ (X - Z.mean(axis=0)).T)
    A = Z.T @ Z
    assert np.allclose(Linear(A=A).gram(X), X @ A @ X.T)
    assert np.allclose(Constant(3.0).gram(X), 3.0)


def test_feature_maps_multiply_to_the_kernel():
    for k in (
        Linear(),
        Linear(A=Z.T @ Z),
        3 * Quadratic() + Linear(),
        Linear() * Polynomial(2, c=0),
        Linear() ** 3,
        Quadratic().scaled_by(halve),
        Linear().on([0, 1]) + 2,
        Linear().after(double),
    ):
        phi = k.feature_map(X)
        assert np.allclose(phi @ phi.T, k.gram(X))
    with pytest.raises(TypeError, match="order"):
        Gaussian(gamma=1.0).feature_map(X)
    with pytest.raises(TypeError, match="gram_embedding"):
        Gaussian(gamma=1.0).exp().feature_map(X)


def test_parameters():
    k = 0.5 * Gaussian(gamma=1.0) + Polynomial(2)
    assert k.get_params()["k1__k__gamma"] == 1.0
    k.set_params(k1__k__gamma=3.0, k2__degree=4)
    assert k == 0.5 * Gaussian(gamma=3.0) + Polynomial(4)
    with pytest.raises(ValueError, match="no parameter 'nonsense'"):
        k.set_params(nonsense=1)
    with pytest.raises(ValueError, match="gamma"):
        k.set_params(k1__k__gamma=-1.0)
    assert pickle.loads(pickle.dumps(k)) == k
    assert hash(Gaussian(gamma=1.0)) == hash(Gaussian(gamma=1.0))


def test_gram_in_tiles_is_gram(monkeypatch):
    whole = [k.gram(X) for k in (Gaussian(gamma=0.1), Quadratic().normalized())]
    strings = ["abcab", "bca", "", "ccccab", "abab"]
    text = Subsequence(2, 0.7).gram(strings)
    monkeypatch.setattr(gram, "TILE", 3)
    monkeypatch.setattr(gram, "WHOLE", 3)
    assert np.allclose(Gaussian(gamma=0.1).gram(X), whole[0])
    assert np.allclose(Quadratic().normalized().gram(X), whole[1])
    assert np.allclose(Subsequence(2, 0.7).gram(strings), text)
    assert np.allclose(Gaussian(gamma=0.1)(X, X[:10].copy()), whole[0][:, :10])


# ---------------------------------------------------------------- any objects, in the estimator


def test_strings_trees_and_tuples_are_learned():
    rng = random.Random(0)
    texts = ["".join(rng.choice("ab") for _ in range(20)) + end for end in ("xyz", "zyx") for _ in range(30)]
    y = [0] * 30 + [1] * 30
    for kernel in (Spectrum(2).normalized(), Subsequence(2, 0.5), "spectrum(3) + 0.5*subsequence(2)"):
        clf = KernelClassifier(kernel=kernel, epochs=5)
        assert cross_val_score(clf, texts, y, cv=3).mean() > 0.9
    assert cross_val_score(clf, np.array(texts, dtype=object), y, cv=3).mean() > 0.9
    forest = [f"(S (A {t[:2]}) (B {t[-1]}))" for t in texts]
    clf = KernelClassifier(kernel=SubsetTree(0.5), epochs=5).fit(forest, y)
    assert clf.score(forest, y) == 1.0
    assert [forest[i] for i in clf.support_] == clf.support_vectors_
    pairs = [(tree, [float(len(t)), 1.0]) for tree, t in zip(forest, texts, strict=True)]
    both = SubsetTree().on(0) * (1 + Linear().on(1))
    assert KernelClassifier(kernel=both, epochs=5).fit(pairs, y).score(pairs, y) == 1.0
    named = [{"text": t, "size": [len(t)]} for t in texts]
    parsed = KernelClassifier(kernel="spectrum(2)@text + 0.001*linear@size", epochs=5)
    assert parsed.fit(named, y).score(named, y) == 1.0
    stream = KernelClassifier(kernel=Spectrum(2), budget=10, hypothesis="last")
    for text, label in zip(texts * 3, y * 3, strict=True):
        stream.learn_one(text, label)
    assert len(stream.support_) <= 10


# ---------------------------------------------------------------- text form and bad input


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("poly(4)", Polynomial(4)),
        ("0.5*gaussian(sigma=2)+spectrum(3)@text", 0.5 * Gaussian(sigma=2) + Spectrum(3).on("text")),
        ("(linear + 1) ** 2", (Linear() + 1) ** 2),
        ("gaussian(gamma='scale')", Gaussian(gamma="scale")),
        ("subsequence(n=3, decay=0.8).normalized() * subsettree(0.5)@1",
         Subsequence(3, 0.8).normalized() * SubsetTree(0.5).on(1)),
        ("spectrum(2, distinct=true)@\"the text\"", Spectrum(2, distinct=True).on("the text")),
        ("(1e-1*linear).exp()", (0.1 * Linear()).exp()),
    ],
)  # fmt: skip
def test_kernels_as_text(text, kernel):
    assert parse(text) == kernel


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "position 1: expected a kernel, found 'the end'"),
        ("poly(4", "expected '\\)'"),
        ("__import__('os')", "no kernel is called '__import__'"),
        ("poly(4).real", "becomes .exp"),
        ("poly(degree=-1)", "position 1: degree=-1"),
        ("poly(4) poly(3)", "position 9: did not expect 'poly'"),
        ("-1*linear", "position 1"),
        ("2", "a number is not a kernel"),
        ("linear ** 0.5", "whole number"),
        ("linear & linear", "position 8: cannot read '&'"),
        ("poly(nonsense=3)", "nonsense"),
        ("(" * 80 + "linear" + ")" * 80, "brackets within each other"),
        ("linear@", "column"),
    ],
)
def test_bad_text_is_named(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Linear(A=[[1.0, 2.0], [2.0, 1.0]]), "not positive semidefinite"),
        (lambda: Linear(A=[[1.0, 2.0], [0.0, 1.0]]), "not symmetric"),
        (lambda: Linear(A=np.eye(3)).gram(X), "features"),
        (lambda: Linear().polynomial([1, -1]), "coefficient 1"),
        (lambda: Linear().polynomial([]), "at least one"),
        (lambda: -1 * Linear(), "≥ 0"),
        (lambda: Linear() + (-1), "≥ 0"),
        (lambda: Linear() ** 0.5, "power must be"),
        (lambda: Linear() ** -1, "power must be"),
        (lambda: Polynomial(2, c=-1), "c=-1"),
        (lambda: Gaussian(gamma=1, sigma=1), "not both"),
        (lambda: Gaussian().gram(X), "give Gaussian a number"),
        (lambda: Gaussian(gamma=1.0).gram([[np.nan]]), r"X\[0, 0\] is nan"),
        (lambda: Gaussian(gamma=1.0).gram(["ab", "c"]), "this kernel is of vectors"),
        (lambda: Linear()(X, X[:, :2]), "4 and 2 features"),
        (lambda: Linear().scaled_by(lambda x: float("inf")).gram(X), "example 0"),
        (lambda: Linear().on(7).gram([(1, 2)]), "no part 7"),
        (lambda: Spectrum(2).on("text").gram(["ab"]), "no part 'text': it is of type 'str'; give tuples, dicts"),
        (lambda: Spectrum(0), "n=0"),
        (lambda: Subsequence(9), "up to 8"),
        (lambda: Subsequence(2, decay=0), "decay"),
        (lambda: AllSubsequences().gram(["a" * 2000]), "too many common subsequences"),
        (lambda: SubsetTree().gram(["(A (B c)"]), r"tree 0: position 1: '\(' is never closed"),
        (lambda: SubsetTree().gram(["(A b)", "(A b))"]), r"tree 1: position 6: text after"),
        (lambda: SubsetTree().gram([")"]), r"position 1: '\)' closes nothing"),
        (lambda: SubsetTree().gram(["ä (A b)"]), r"position 1: a tree begins with"),
        (lambda: SubsetTree().gram(["  "]), "there is no tree"),
        (lambda: Custom(lambda a, b: float("nan")).gram([1, 2]), "gives nan for the pair 1, 1"),
    ],
)  # fmt: skip
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Spectrum(2).gram([1.5, 2.5]),
        lambda: Spectrum(2).gram([[["not", "hashable"]]]),
        lambda: SubsetTree().gram([("A", 3)]),
        lambda: SubsetTree().gram([7]),
        lambda: SubsetTree().gram("(A b)"),
        lambda: Custom(3),
    ],
)
def test_objects_of_the_wrong_kind(make):
    with pytest.raises(TypeError):
        make()


def test_a_gram_that_does_not_fit_is_refused():
    with pytest.raises(MemoryError, match=r"GB.*budget=.*cache_size=.*Nystroem"):
        gram.check_memory(10**7, 10**7, np.float32)
