"""What kernels refuse, bound, and say plainly: endless examples, wrong labels, NaN and inf."""

import copy
import os
import signal

import numpy as np
import pytest
import scipy.sparse as sp

from perceptive import KernelClassifier
from perceptive.content import digest, shown
from perceptive.data.fingerprint import hash_examples
from perceptive.kernels import (
    AllSubsequences,
    Custom,
    Gaussian,
    Linear,
    Polynomial,
    Spectrum,
    Subsequence,
    SubsetTree,
    mercer_report,
)

pytestmark = pytest.mark.core


def endless():
    itself = [1]
    itself.append(itself)
    shared = ("a", [1])
    for _ in range(60):
        shared = (shared, shared)
    return itself, shared


@pytest.mark.parametrize("example", endless(), ids=["cycle", "shared"])
@pytest.mark.slow
def test_examples_without_an_end_are_learned_from(example, monkeypatch):
    monkeypatch.setattr("perceptive.content.MOST", 2**14)
    assert digest(example) is None
    assert len(shown(example)) <= 60
    model = KernelClassifier(kernel=Custom(lambda a, b: float(a is b), name="same"))
    other = "x"
    assert model.fit([example, other], [0, 1]).predict([example, other]).tolist() == [0, 1]
    assert hash_examples([example])[0] == hash_examples([example])[0]


def test_what_holds_itself_is_not_what_holds_another():
    one, two = [1], [1, [1]]
    one.append(one)
    assert digest(one, strict=False) != digest(two, strict=False)
    twice = ["a", [2]]
    assert digest((twice, twice)) == digest((["a", [2]], ["a", [2]])) is not None  # sharing alone is no cycle


def test_trees_that_contain_themselves_are_refused(monkeypatch):
    monkeypatch.setattr("perceptive.kernels.trees.MOST_PARTS", 1000)
    tree = ["S"]
    tree.append(tree)
    with pytest.raises(ValueError, match=r"tree 1: it has more than .* or contains itself"):
        SubsetTree().prepare(["(S a)", tree])


def test_long_integers_are_contents_and_are_shown():
    long = 10**5000
    assert digest(long) == digest(10**5000) != digest(long + 1)
    assert digest([long, 1]) == digest([10**5000, 1]) != digest([long + 1, 1])
    assert "bits" in shown([long])
    model = KernelClassifier(kernel=Custom(lambda a, b: float(a == b), name="same"))
    assert model.fit([long, 1], [0, 1]).predict([long]).tolist() == [0]


@pytest.mark.parametrize("budget", [None, 2])
def test_counts_times_labels_are_coefficients_where_equal_examples_disagree(budget):
    X = np.array([[1.0], [1.0], [1.0], [-2.0], [1.0]])
    y = np.array([1, -1, -1, -1, -1])
    model = KernelClassifier(
        kernel=Linear(), shuffle=False, epochs=3, hypothesis="last", budget=budget, forget="oldest"
    ).fit(X, y)
    assert (model.alpha_counts_ * y[model.support_]).tolist() == model.alpha_.tolist()
    assert (model.alpha_counts_ < 0).any()
    going_on = KernelClassifier(kernel=Linear()).partial_fit(X, y, classes=[-1, 1])
    assert (going_on.alpha_counts_ * y[going_on.support_]).tolist() == going_on.alpha_.tolist()


def test_labels_of_mixed_kinds_stay_what_they_are():
    model = KernelClassifier(kernel=Linear())
    for label in (1, "a"):
        model.learn_one([1.0 if label == 1 else -1.0], label)
    assert model.classes_.tolist() == [1, "a"]


def in_order(a, b):
    return float(a) if a < b else float(b) + 1.0


LEARN = {
    "epochs": lambda model, X, y: model.fit(X, y),
    "partial_fit": lambda model, X, y: model.partial_fit(X, y),
    "learn_one": lambda model, X, y: [model.learn_one(*pair) for pair in zip(X, y, strict=True)],
    "two sets": lambda model, X, y: model.kernel(X[:3], X[3:]),
}


@pytest.mark.parametrize("learn", LEARN)
def test_asymmetry_is_noticed_however_one_learns(learn):
    model = KernelClassifier(kernel=Custom(in_order), epochs=1)
    with pytest.raises(ValueError, match=r"in_order is not symmetric: .* for the pair \d, \d, but"):
        LEARN[learn](model, [1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize("kernel", [Custom(in_order), 2 * Custom(in_order), Custom(in_order) + 1])
def test_reports_say_that_functions_are_asymmetric(kernel):
    report = mercer_report(kernel, [1, 2, 3])
    assert not report.symmetric
    assert not report.psd


def test_symmetry_is_checked_on_few_pairs_of_many():
    calls = []
    kernel = Custom(lambda a, b: float(calls.append(1) or a * b))
    kernel(list(range(100)), list(range(100, 200)))
    assert 100 * 100 < len(calls) <= 100 * 103


def test_lengths_that_float32_does_not_hold():
    """0.001^(2·8) is 10⁻⁴⁸."""
    texts, labels = ["abababab", "abababba", "cdcdcdcd", "cdcdcddc"] * 2, [0, 0, 1, 1] * 2
    kernel = Subsequence(8, decay=1e-3)
    assert (kernel.norms(kernel.prepare(texts, np.float32)) > 0).all()
    with pytest.raises(
        ValueError, match=r"example 0 is 1e-48, which is 0 in float32; normalize the kernel, or use dtype='float64'"
    ):
        KernelClassifier(kernel=kernel).fit(texts, labels)
    assert KernelClassifier(kernel=kernel, dtype="float64").fit(texts, labels).score(texts, labels) == 1.0
    assert KernelClassifier(kernel=kernel.normalized()).fit(texts, labels).score(texts, labels) == 1.0
    single, double = (kernel.normalized().gram(texts, dtype=dtype) for dtype in (np.float32, np.float64))
    assert np.allclose(single, double)
    assert single[0, 4] == 1.0


def test_a_centered_kernel_keeps_its_digits_in_float32():
    X = 1000.0 + np.random.default_rng(0).normal(size=(30, 2))
    k = Linear().centered(X)
    assert np.allclose(k.gram(X.astype(np.float32)), Linear().gram(X - X.mean(axis=0)), atol=1e-2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "kernel", [Linear() ** 200, Linear().exp(), Linear().polynomial([0] * 200 + [1]), 1e308 * Linear()]
)
def test_infinite_values_are_refused_with_their_pair(kernel):
    X = np.array([[1e-9], [1e3], [0.0]])
    with pytest.raises(ValueError, match=r"K\[1, 1\] is inf: .* overflows float"):
        kernel.gram(X)
    with pytest.raises(ValueError, match=r"K\[0, 1\] is inf"):
        kernel([[1e3]], [[1e-9], [1e3]])
    with pytest.raises(ValueError, match="finite"):
        KernelClassifier(kernel=kernel).fit(X, [0, 1, 0])


def test_gaussian_of_endless_vectors_is_refused():
    """Their distances are ∞ − ∞, which must not become a similarity."""
    for X in ([[1e200], [0.0]], [[0.0], [-1e308]]):
        with pytest.raises(ValueError, match="γ‖x‖² of an example overflows"):
            Gaussian(gamma=1.0).gram(np.array(X))


@pytest.mark.parametrize("kernel", [Linear() ** 9, Linear() ** 10**9, (Linear() ** 3) * (Linear() ** 3)])
def test_feature_maps_have_a_largest_size(kernel):
    with pytest.raises(ValueError, match="that is what the kernel is for"):
        kernel.feature_map(np.ones((2, 50)))


@pytest.mark.parametrize(
    "kernel",
    [
        Polynomial(3).centered(np.random.default_rng(1).normal(size=(40, 3))),
        Polynomial(3).normalized(),
        Linear().scaled_by(np.sum),
    ],
)
def test_equal_examples_are_one_support_whenever_they_come(kernel):
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = np.arange(200) % 2
    model = KernelClassifier(kernel=kernel).partial_fit(X, y, classes=[0, 1])
    for i in range(50):
        model.learn_one(X[i], y[i])
    rows = (model.support_ % 200).tolist()
    assert len(rows) == len(set(rows))


def test_long_texts_are_refused_and_many_are_cut_into_pieces(monkeypatch):
    with pytest.raises(ValueError, match="120,000 and 120,000 symbols are too long"):
        Subsequence(4).value("a" * 120_000, "b" * 120_000)
    texts = ["".join(row) for row in np.random.default_rng(0).choice(list("abc"), size=(7, 9))]
    for kernel in (Subsequence(2), AllSubsequences()):
        whole, across = kernel.gram(texts), kernel(texts[:3], texts)
        with monkeypatch.context() as small:
            small.setattr("perceptive.kernels.strings.PIECE", 300)
            assert np.array_equal(kernel.gram(texts), whole)
            assert np.array_equal(kernel(texts[:3], texts), across)


@pytest.mark.parametrize("kernel", [AllSubsequences(), *(Subsequence(n, 0.7) for n in range(1, 9))])
def test_one_pair_in_steps_gives_the_same_bits(kernel, monkeypatch):
    rng = np.random.default_rng(1)
    texts = ["".join(rng.choice(list("ab"), size=size)) for size in (23, 18, 1, 0)]
    for dtype in (np.float64, np.float32):
        ones = [kernel.prepare([text], dtype) for text in texts]
        whole = [kernel.compare(a, b).tolist() for a in ones for b in ones]
        for step in (1, 50, 200):  # a symbol at a time, odd and even numbers of them
            with monkeypatch.context() as small:
                small.setattr("perceptive.kernels.strings.STEP", step)
                assert [kernel.compare(a, b).tolist() for a in ones for b in ones] == whole


def test_one_long_pair_can_be_interrupted(monkeypatch):
    from perceptive.kernels import strings

    played = []

    class Pair(strings._core.StringPair):
        def play(self, symbols):
            played.append(symbols)
            if len(played) == 3:
                os.kill(os.getpid(), signal.SIGINT)
            return super().play(symbols)

    monkeypatch.setattr(strings._core, "StringPair", Pair)
    monkeypatch.setattr(strings, "STEP", 2**16)
    with pytest.raises(KeyboardInterrupt):
        Subsequence(4).value("ab" * 2000, "ba" * 2000)
    assert sum(played) < 4000


def test_the_symbol_that_cannot_be_hashed_is_named():
    with pytest.raises(TypeError, match=r"example 1: .* not of \['c'\]"):
        Spectrum(1).prepare([["a"], ["b", ["c"]]])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Linear().on([7]).gram(np.eye(3)), r"X has 3 columns, and .on\(\[7\]\)"),
        (lambda: Linear().on("q").gram(np.eye(3)), r"X has 3 columns, and .on\('q'\)"),
        (lambda: Linear().on([7]).gram(sp.csr_array(np.eye(3))), "X has 3 columns"),
        (lambda: Linear().scaled_by(3), r"scaled_by\(3\): give a function"),
        (lambda: Linear().after(3), r"after\(3\): give a function"),
        (lambda: Linear().scaled_by(lambda x: "q").gram(np.eye(3)), "example 0: f gives 'q'"),
        (lambda: Linear().polynomial(3), r"polynomial\(3\): give a list"),
        (lambda: 10**5000 * Linear(), "the factor of a kernel is <an integer"),
        (lambda: Polynomial(-(10**5000)), "degree=<an integer"),
    ],
)
def test_the_algebra_says_what_is_wrong(make, says):
    with pytest.raises((TypeError, ValueError), match=says):
        make()


@pytest.mark.parametrize("forget", ["oldest", "projectron"])
def test_trees_within_a_budget_are_compared_in_small_blocks(forget):
    """The result is that of one example after the other."""
    rng = np.random.default_rng(1)
    trees = [f"(S (A {a}) (B {b}) (C {c}))" for a, b, c in rng.integers(6, size=(150, 3))]
    labels = rng.integers(2, size=150)
    made = {"kernel": SubsetTree(), "budget": 20, "forget": forget, "hypothesis": "last", "dtype": "float64"}
    whole = KernelClassifier(**made).partial_fit(trees, labels, classes=[0, 1])
    alone = KernelClassifier(**made).partial_fit(trees[:1], labels[:1], classes=[0, 1])
    for tree, label in zip(trees[1:], labels[1:], strict=True):
        alone.learn_one(tree, label)
    assert whole.support_.tolist() == alone.support_.tolist()
    assert np.allclose(whole.alpha_, alone.alpha_)


class Thing:
    def __init__(self, size):
        self.size = size


@pytest.mark.parametrize("budget", [None, 4])
def test_objects_of_other_classes_are_who_they_are(budget):
    things = [Thing(size) for size in (1.0, -1.0, 1.0)]
    kernel = Custom(lambda a, b: a.size * b.size, name="sizes")
    model = KernelClassifier(kernel=kernel, margin=100.0, budget=budget)
    for _ in range(2):
        model.partial_fit([*things, things[0]], [1, 0, 1, 1], classes=[0, 1])
    model.learn_one(things[2], 1)
    assert len(model.support_) == 3
    supports = model.learner_.dual.supports.items
    assert all(one is other for one, other in zip(supports, things, strict=True))
    assert np.allclose(model.alpha_, [4.0, -2.0, 3.0])
    again = copy.deepcopy(model)  # of other objects
    again.learn_one(things[0], 1)
    assert len(again.support_) == 4
    assert len(model.support_) == 3


def test_copies_go_on_within_their_budget():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    model = KernelClassifier(kernel=Linear(), budget=5, forget="oldest", hypothesis="last")
    model.partial_fit(X[:30], y[:30], classes=[0, 1])
    again = copy.deepcopy(model)
    for one in (model, again):
        one.partial_fit(X[30:], y[30:])
    assert again.support_.tolist() == model.support_.tolist()
    assert np.array_equal(again.alpha_, model.alpha_)
