"""Supports of the dual: repeated ones, budgets, certificates."""

import itertools
import random

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from perceptive import KernelClassifier, LinearClassifier
from perceptive.certificates import certify
from perceptive.kernels import Custom, Gaussian, Linear, Polynomial, Spectrum, SubsetTree
from perceptive.learners import KernelLearner
from perceptive.parameters import TrainingParameters
from perceptive.training import loop
from perceptive.training.loop import InMemory, Run
from test_dual_twin import checked, games, quadratic, train

pytestmark = pytest.mark.core


# ---------------------------------------------------------------- repeated supports


class Opaque:
    """An object whose content is unknown."""


@pytest.mark.parametrize(
    ("kernel", "one", "same"),
    [
        ("linear", [1.0, 0.0], [1.0, -0.0]),
        (Gaussian(gamma=1.0).normalized(), [1.0, 2.0], [1.0, 2.0]),
        (Linear().on([0]), [1.0, 2.0], [1.0, 5.0]),
        (Spectrum(2), "abab", "abab"),
        (Spectrum(1), ["ab", 3], ("ab", 3)),
        (SubsetTree(), "(S (A a) b)", ("S", ("A", "a"), "b")),
        (SubsetTree().on(0) + Linear().on(1), ("(S a)", [1.0]), (" (S  a)", [1.0])),
        (Custom(lambda a, b: 1.0), {"a": (1, np.ones(2))}, {"a": (1, np.ones(2))}),
    ],
)
@pytest.mark.parametrize("budget", [None, 5])
@pytest.mark.parametrize("joint", [False, True])
def test_equal_examples_are_one_support(kernel, one, same, budget, joint):
    """In one set, in several, and one by one."""
    learner = KernelLearner(classes=None if joint else [0, 1], kernel=kernel, bias=1.0, budget=budget)
    learner.learn_many([one, same, one], [1, 0, 1])
    learner.learn_many([same], [0])
    learner.learn(np.array(same) if isinstance(same, list) and isinstance(same[0], float) else same, 1)
    assert learner.updates > 2
    assert len(learner.dual) == 1


@pytest.mark.parametrize(
    ("kernel", "one", "other"),
    [
        ("linear", [1.0, 0.0], [1.0, 1e-6]),
        (SubsetTree(), "(S (A a) b)", "(S (A (a)) b)"),
        (Custom(lambda a, b: 1.0), 1, 1.0),
        (Custom(lambda a, b: 1.0), Opaque(), Opaque()),
        (Custom(lambda a, b: 1.0), {1, 2}, {1, 2}),
    ],
)
def test_other_examples_are_not(kernel, one, other):
    learner = KernelLearner(classes=[0, 1], kernel=kernel)
    learner.learn_many([one, other], [1, 0])
    assert len(learner.dual) == 2


def test_sparse_examples_that_are_equal():
    rows = sp.csr_array((np.array([1.0, 2.0, 2.0, 1.0, 0.0]), np.array([0, 2, 2, 0, 1]), np.array([0, 2, 5])), (2, 3))
    learner = KernelLearner(classes=[0, 1], kernel="linear")
    learner.learn_many(rows, [1, 0])
    assert learner.dual.alpha.tolist() == [[0.0]]


def test_with_id_features_equal_examples_differ():
    learner = KernelLearner(classes=[0, 1], kernel="linear", delta=1.0)
    learner.learn_many([[1.0], [1.0]], [1, 0])
    assert learner.dual.alpha.tolist() == [[1.0], [-1.0]]


def test_merging_goes_on_after_loading(tmp_path):
    from perceptive import load_learner, save

    for budget in (None, 2):
        learner = KernelLearner(classes=[0, 1], kernel="linear", budget=budget, hypothesis="last", forget="oldest")
        learner.learn_many([[1.0], [-2.0]], [1, 1])
        save(learner, tmp_path / "a.model")
        again = load_learner(tmp_path / "a.model")
        again.learn_many([[1.0], [-2.0], [1.0]], [0, 0, 0])
        assert len(again.dual) == 2
        assert again.updates > learner.updates


@checked
@given(games(), st.integers(1, 4), st.sampled_from(["oldest", "random"]))
def test_a_budget_holds_no_content_twice(game, budget, forget):
    X, y = game
    learner = KernelLearner(classes=[0, 1], kernel=Polynomial(2), budget=budget, forget=forget, hypothesis="last")
    for _ in range(3):
        learner.learn_many(X, y)
        held = [tuple(row) for row in learner.dual.supports.array.tolist()]
        assert len(set(held)) == len(held) == len(learner.dual.slot_of) <= budget
        assert [learner.dual.slot_of[i] for i in learner.dual.ids] == list(range(len(held)))


# ---------------------------------------------------------------- budgets


@pytest.mark.parametrize("forget", ["oldest", "random", "projectron"])
@pytest.mark.parametrize("classes", [2, 3])
def test_budget_is_kept_and_learning_goes_on(forget, classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = ((X**2).sum(axis=1) > 1.4).astype(int) + (X[:, 0] > 0) * (classes - 2)
    hypothesis = "averaged" if forget == "projectron" else "last"
    clf = KernelClassifier(kernel=Gaussian(gamma=1.0), budget=60, forget=forget, epochs=3, hypothesis=hypothesis)
    clf.fit(X[:1000], y[:1000])
    assert len(clf.support_) <= 60
    assert clf.score(X[1000:], y[1000:]) > (0.8 if classes == 2 else 0.7)
    clf.partial_fit(X[:50], y[:50])
    assert len(clf.support_) <= 60
    assert len(clf.learner_.dual.slot_of) <= 60
    with pytest.raises(ValueError, match="budget"):
        clf.predict(X, hypothesis="voted")
    if forget != "projectron":
        with pytest.raises(ValueError, match="needs the supports that were forgotten"):
            clf.predict(X, hypothesis="averaged")


@pytest.mark.once
def test_a_budget_learns_well_by_default():
    """What nobody chose must not be what is worst: an average that lacks what was forgotten is."""
    X, y = load_digits(return_X_y=True)
    X = X / 16.0

    def score(**options):
        return (
            KernelClassifier(kernel=Polynomial(4), budget=60, epochs=2, **options)
            .fit(X[:900], y[:900])
            .score(X[1200:], y[1200:])
        )

    default = score()
    assert default > 0.8
    for forget in ("oldest", "random"):
        assert default > score(forget=forget, hypothesis="last")


def test_forgetting_the_oldest_is_a_window_of_mistakes():
    rng = np.random.default_rng(1)
    X, y = rng.integers(-3, 4, size=(80, 2)).astype(float), rng.integers(2, size=80)
    learner = KernelLearner(classes=[0, 1], kernel=Polynomial(2), budget=5, forget="oldest", hypothesis="last")
    learner.learn_many(X, y)
    window = []
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        sign = 1 if label else -1
        if sign * sum(s * quadratic(X[j], x) for j, s in window) <= 0:
            known = [(j, s + sign if (X[j] == x).all() else s) for j, s in window]
            window = known if known != window else [*window, (i, sign)][-5:]
    assert dict(zip(learner.dual.ids, learner.dual.alpha[:, 0].tolist(), strict=True)) == dict(window)


def test_a_budget_that_is_never_used_up_changes_nothing():
    rng = np.random.default_rng(2)
    X, y = rng.integers(-3, 4, size=(60, 2)).astype(float), rng.integers(2, size=60)
    free, bound = (KernelLearner(classes=[0, 1], kernel=Polynomial(2), budget=b) for b in (None, 100))
    free.learn_many(X, y)
    bound.learn_many(X, y)
    assert np.array_equal(free.dual.alpha, bound.dual.alpha)
    assert np.allclose(free.scores(X), bound.scores(X))


def test_projectron_projects():
    """With as many supports as dimensions, nothing is lost."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 2)), rng.integers(2, size=200)
    full = KernelLearner(classes=[0, 1], kernel="linear", dtype="float64", hypothesis="last")
    small = KernelLearner(
        classes=[0, 1], kernel="linear", dtype="float64", hypothesis="last", budget=4, forget="projectron"
    )
    full.learn_many(X, y)
    small.learn_many(X, y)
    assert np.allclose(full.scores(X), small.scores(X), atol=1e-4)


# ---------------------------------------------------------------- certificates


@checked
@given(
    games(classes=3), st.sampled_from(["perceptron", "pa1", "pa2"]), st.sampled_from(["joint", "ovr"]), st.booleans()
)
def test_certificates_hold(game, rule, multiclass, with_delta):
    X, y = game
    delta = 1.0 if with_delta and rule == "perceptron" else 0.0
    learner = KernelLearner(classes=[0, 1, 2], kernel=Polynomial(2), rule=rule, multiclass=multiclass, delta=delta)
    source = InMemory(learner.dataset(X, y, epochs=3), shuffle=True)
    loop.train(Run.of(learner, TrainingParameters(epochs=3)), source)
    certificate = certify(learner, X, y)
    assert certificate.holds
    assert not certificate.hypothetical
    assert certificate.updates == learner.updates
    other = certify(learner, X + 1.0, y)
    assert other.hypothetical


def test_certificate_is_that_of_the_primal():
    X, y = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [-2.0, 0.5]]), [1, 1, 0, 0]

    primal = LinearClassifier(bias=1.0, certify=True, shuffle=False).fit(X, y).certificate_
    dual = KernelClassifier(kernel="linear", bias=1.0, certify=True, shuffle=False).fit(X, y).certificate_
    assert dual.updates == primal.updates
    assert dual.bound == pytest.approx(primal.bound, rel=1e-5)
    assert dual.radius == pytest.approx(primal.radius)
    assert dual.separable is primal.separable is True


def test_certificate_is_tight_on_a_fixed_game():
    """Orthogonal examples: every one is a mistake, and the bound says so."""
    X, y = np.eye(12), [1, 0] * 6
    clf = KernelClassifier(kernel="linear", certify=True).fit(X, y)
    assert clf.certificate_.updates == 12
    assert clf.certificate_.bound == pytest.approx(12, rel=1e-4)


def test_any_order_of_blocks_is_the_same():
    rng = random.Random(0)
    X = np.array([[rng.randint(-3, 3) for _ in range(3)] for _ in range(40)], dtype=float)
    y = [rng.randint(0, 2) for _ in range(40)]
    found = []
    for block, sparse in itertools.product([1, 7, 64], [False, True]):
        learner = KernelLearner(classes=[0, 1, 2], kernel=Polynomial(2))
        train(learner, sp.csr_array(X) if sparse else X, y, 4, block)
        found.append(learner)
    for learner in found[1:]:
        assert learner.dual.ids == found[0].dual.ids
        assert np.array_equal(learner.dual.alpha, found[0].dual.alpha)
