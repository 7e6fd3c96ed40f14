"""Kernels: the algebra keeps them positive semidefinite, strings and trees equal brute force, bad input is named."""

import copy
import pickle
import random

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
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
    Subtree,
    gram,
    gram_embedding,
    is_psd,
)
from perceptive.kernels.grammar import parse
from perceptive.learners import KernelLearner
from perceptive.reference import strings as brute_strings
from perceptive.reference import trees as brute_trees

pytestmark = pytest.mark.core

checked = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
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


# ---------------------------------------------------------------- strings

symbols = st.lists(st.sampled_from("abc"), max_size=9).map("".join)


@checked
@given(st.lists(symbols, min_size=1, max_size=12), st.integers(1, 5), st.sampled_from([1.0, 0.5, 0.9]))
def test_strings_equal_brute_force(texts, n, decay):
    lists = [list(text) for text in texts]
    for k, brute in (
        (Subsequence(n, decay), lambda x, y: brute_strings.subsequence(x, y, n, decay)),
        (Spectrum(n), lambda x, y: brute_strings.spectrum(x, y, n)),
        (Spectrum(n, distinct=True), lambda x, y: brute_strings.spectrum(x, y, n, distinct=True)),
        (AllSubsequences(), brute_strings.all_subsequences),
    ):
        wanted = np.array([[brute(x, y) for y in texts] for x in texts], dtype=float)
        assert np.allclose(k.gram(texts), wanted)
        assert np.allclose(k.gram(lists), wanted)
        assert np.allclose(k(texts, lists[:3]), wanted[:, :3])
        assert np.allclose(k.diag(texts), np.diag(wanted))
        assert np.allclose(k.gram(texts, dtype=np.float32), wanted, rtol=1e-5)
        assert is_psd(k.gram(texts))
    recursion = [[brute_strings.subsequence_by_recursion(x, y, n, decay) for y in texts[:3]] for x in texts[:3]]
    assert np.allclose(Subsequence(n, decay).gram(texts[:3]), recursion)


@pytest.mark.parametrize("n", range(1, 9))
def test_every_length_of_subsequence(n):
    """Sources of odd and even lengths: two symbols are played at once where registers allow."""
    rng = random.Random(n)
    texts = ["".join(rng.choice("ab") for _ in range(rng.randint(8, 14))) for _ in range(5)]
    wanted = [[brute_strings.subsequence_by_recursion(x, y, n, 0.6) for y in texts] for x in texts]
    assert np.allclose(Subsequence(n, 0.6).gram(texts), wanted)


def test_the_notes_strings():
    assert Spectrum(2, distinct=True)("aab", "aaab") == 2
    assert Spectrum(2)("aab", "aaab") == 3
    assert Subsequence(2, decay=1.0)("aab", "aaab") == 9


def test_symbols_may_be_anything():
    texts = [[(1, 2), None, "x"], [None, "x", 3.5], ("x",), "äx😀", b"ab"]
    K = Spectrum(1).gram(texts)
    assert K[0, 1] == 2
    assert K[0, 2] == K[1, 2] == K[3, 2] == 1
    assert K[3, 3] == 3
    assert Subsequence(2).gram(["😀ä", "😀ä"])[0, 1] == 0.5**4


# ---------------------------------------------------------------- trees

words = st.sampled_from(["the", "dog", "cat"])
trees = st.recursive(
    st.tuples(st.sampled_from(["D", "N"]), words),
    lambda children: st.one_of(
        st.tuples(st.sampled_from(["S", "NP"]), children, children),
        st.tuples(st.just("NP"), children),
        st.tuples(st.just("X"), words, children),
        st.tuples(st.just("E")),
    ),
    max_leaves=8,
)


def brackets(tree):
    return tree if isinstance(tree, str) else "(" + " ".join([tree[0], *map(brackets, tree[1:])]) + ")"


class NLTK(list):
    """As nltk.Tree is: a list of children with a label."""

    def __init__(self, tree):
        super().__init__(child if isinstance(child, str) else NLTK(child) for child in tree[1:])
        self._label = tree[0]

    def label(self):
        return self._label


@checked
@given(st.lists(trees, min_size=1, max_size=8), st.sampled_from([1.0, 0.4]))
def test_trees_equal_brute_force(forest, decay):
    for k, brute in ((SubsetTree(decay), brute_trees.subset_tree), (Subtree(decay), brute_trees.subtree)):
        wanted = np.array([[brute(a, b, decay) for b in forest] for a in forest])
        assert np.allclose(k.gram(forest), wanted)
        assert np.allclose(k.gram([brackets(tree) for tree in forest]), wanted)
        assert np.allclose(k([NLTK(tree) for tree in forest], forest[:3]), wanted[:, :3])
        assert np.allclose(k.diag(forest), np.diag(wanted))
        assert is_psd(k.gram(forest))
        store = k.prepare(forest[:1])
        store.extend(k.prepare(forest))
        store.put(0, k.prepare(forest[-1:]))
        assert np.allclose(k.compare(k.prepare(forest), store), wanted[:, [-1, *range(len(forest))]])


def test_deep_trees_do_not_overflow_the_stack():
    deep = "(A " * 30_000 + "x" + ")" * 30_000
    assert Subtree()([deep], ["(A x)"])[0, 0] == 1
    assert Subtree()([nested(3000)], ["(A x)"])[0, 0] == 1


def nested(depth, leaf="x"):
    tree = ("A", leaf)
    for _ in range(depth):
        tree = ("A", tree)
    return tree


def nltk(depth):
    tree = NLTK(("A", "x"))
    for _ in range(depth):
        outer = NLTK(("A",))
        outer.append(tree)
        tree = outer
    return tree


@pytest.mark.parametrize("depth", [600, 100_000])
@pytest.mark.parametrize("form", ["brackets", "tuples", "nltk"])
@pytest.mark.slow
def test_models_of_deep_trees(form, depth, tmp_path):
    """Learned, compared, saved, loaded, pickled, copied: nothing calls itself for each level."""
    from perceptive import load, load_learner, save

    deep = {
        "brackets": lambda: "(A " * (depth + 1) + "x" + ")" * (depth + 1),
        "tuples": lambda: nested(depth),
        "nltk": lambda: nltk(depth),
    }[form]()
    # The deep tree is never held against itself: all its nodes look alike, and their pairs are many.
    shallow = ["(B y)", "(A x)", "(B z)"]
    learner = KernelLearner(classes=[0, 1], kernel=Subtree(), bias=1.0)
    store = Subtree().prepare([deep, *shallow])
    assert Subtree().compare(store, Subtree().prepare(shallow))[0].tolist() == [0, 1, 0]
    again = pickle.loads(pickle.dumps(store))
    assert again.contents() == copy.deepcopy(store).contents() == store.contents()
    assert repr(Subtree().centered([deep])).startswith("Subtree().centered(")
    assert Linear().centered([deep]) == Linear().centered([deep])
    if depth > 600:
        return
    learner.learn_many([deep, *shallow], [0, 1, 0, 1])
    for _ in range(2):
        save(learner, tmp_path / "a.model")
        loaded = load_learner(tmp_path / "a.model")
        assert loaded.scores([deep, *shallow]).tolist() == learner.scores([deep, *shallow]).tolist()
        learner = pickle.loads(pickle.dumps(loaded))
    clf = KernelClassifier(kernel=Subtree(), bias=1.0).fit([deep, *shallow], [0, 1, 0, 1])
    assert len(clf.support_vectors_) == len(clf.support_)
    save(clf, tmp_path / "a.model")
    for other in (load(tmp_path / "a.model"), pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        assert other.predict([deep]).tolist() == clf.predict([deep]).tolist()


def test_what_is_deep_and_no_tree():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(TypeError, match="is no tree"):
        SubsetTree().prepare([("A", deep)])
    learner = KernelLearner(classes=[0, 1], kernel=Custom(lambda a, b: 1.0, name="one"))
    learner.learn_many([deep, 1], [0, 1])
    from perceptive import save

    with pytest.raises(ValueError, match="nested too deeply"):
        save(learner, "nowhere.model")


@pytest.mark.slow
def test_trees_whose_nodes_all_look_alike_are_refused():
    """Their pairs would fill the memory."""
    deep = "(A " * 12_000 + "x" + ")" * 12_000
    with pytest.raises(ValueError, match="too many nodes that look alike"):
        Subtree().diag([deep])
    with pytest.raises(ValueError, match="too many nodes that look alike"):
        Subtree().gram([deep, deep])


def test_productions_are_told_apart():
    assert SubsetTree()("(A b)", "(A (b))") == 0
    assert SubsetTree()("(A (B c))", "(A (B d))") == 1
    assert SubsetTree().value(("A", "n1:b"), ("A", "b")) == 0


def test_forgetting_trees_frees_their_productions():
    store = SubsetTree().prepare(["(A b)", "(A c)"])
    for i in range(4000):
        store.put(i % 2, SubsetTree().prepare([f"(A w{i})"]))
    assert np.allclose(SubsetTree().compare(store, SubsetTree().prepare(["(A w3999)"])), [[0], [1]])


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
        ("2", "a number is no kernel"),
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
