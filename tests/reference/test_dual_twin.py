"""The dual learner and its pure-Python twin are one: blocks, passes, caches and all.

On integers every kernel value and score is exact, so that the two are held equal number by number.
"""

import itertools
import random

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from perceptive import KernelClassifier, LinearClassifier, reference
from perceptive.certificates import certify
from perceptive.kernels import Custom, Gaussian, Linear, Polynomial, Spectrum, SubsetTree
from perceptive.learners import KernelLearner, LinearLearner, dual_epochs
from perceptive.parameters import TrainingParameters
from perceptive.training import loop
from perceptive.training.loop import InMemory, Run

pytestmark = pytest.mark.core

checked = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])


def quadratic(x, z):
    return float((sum(a * b for a, b in zip(x, z, strict=True)) + 1) ** 2)


@st.composite
def games(draw, classes=2):
    n, d = draw(st.integers(2, 24)), draw(st.integers(1, 4))
    X = draw(st.lists(st.lists(st.integers(-2, 2), min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    return np.array(X, dtype=float), y


def twin_of(learner, bias=0.0, delta=0.0, rule=None, ties="mistake"):
    options = {"bias": bias, "delta": delta, "ties": ties}
    if learner.binary:
        return reference.DualBinary(quadratic, rule, **options)
    return reference.DualJoint(quadratic, len(learner.classes), rule, **options)


def play_twin(twin, X, y, binary, orders):
    for order in orders:
        for i in order:
            twin.learn(X[i].tolist(), (1 if y[i] else -1) if binary else y[i], int(i))


def alpha_of(learner):
    return {i: list(row) for i, row in zip(learner.dual.ids, learner.dual.alpha, strict=True) if row.any()}


def alive(alpha):
    return {i: row for i, row in alpha.items() if any(row)}


def train(learner, X, y, epochs, block, alpha_init=None):
    orders = [np.random.default_rng(e).permutation(len(y)) for e in range(epochs)]
    names = ("BLOCK", "CACHED_BLOCK")
    before = {name: getattr(dual_epochs, name) for name in names}
    try:
        for name in names:
            setattr(dual_epochs, name, block)
        dataset = learner.dataset(X, y, epochs=epochs, alpha_init=alpha_init)
    finally:
        for name in names:
            setattr(dual_epochs, name, before[name])
    for order in orders:
        assert sum(dataset.epoch(order)) == len(y)
    return orders


@checked
@given(
    games(), st.integers(1, 3), st.sampled_from([1, 3, 512]), st.sampled_from([0.0, 2.0]), st.sampled_from([0.0, 1.0])
)
def test_binary_equals_its_twin(game, epochs, block, bias, delta):
    X, y = game
    learner = KernelLearner(classes=[0, 1], kernel=Polynomial(2), bias=bias, delta=delta)
    orders = train(learner, X, y, epochs, block)
    twin = twin_of(learner, bias, delta)
    play_twin(twin, X, y, True, orders)
    assert alpha_of(learner) == alive(twin.alpha)
    assert (learner.mistakes, learner.updates, learner.rounds) == (twin.mistakes, twin.updates, twin.rounds)
    run = learner.dual.journals[0]
    assert run.survivals(learner.dual.rounds).tolist() == twin.survival
    assert run.length2 == twin.lengths2
    assert run.radius2 == twin.radius2


@checked
@given(games(classes=3), st.integers(1, 3), st.sampled_from([1, 3, 512]), st.booleans())
def test_joint_equals_its_twin_cached_or_not(game, epochs, block, custom):
    X, y = game
    kernel = Custom(quadratic) if custom else Polynomial(2)
    learner = KernelLearner(classes=[0, 1, 2], kernel=kernel, hypothesis="voted")
    orders = train(learner, X, y, epochs, block)
    twin = twin_of(learner)
    play_twin(twin, X, y, False, orders)
    assert alpha_of(learner) == alive(twin.alpha)
    assert learner.dual.journals[0].survivals(learner.dual.rounds).tolist() == twin.survival
    votes = [reference.vote_joint(twin.history, twin.survival, lambda v, x=x: twin.scores(x, v)) for x in X]
    assert np.array_equal(np.rint(learner.scores(X) * twin.rounds), votes)
    for normalized in (False, True):
        mean = reference.average_alpha(twin, normalized)
        scores = learner.scores(X, "averaged", normalized)
        assert np.allclose(scores, [twin.scores(x, mean) for x in X], rtol=1e-4, atol=1e-4)


@checked
@given(games(), st.integers(1, 2), st.sampled_from([2, 512]))
def test_hypotheses_equal_the_twins(game, epochs, block):
    X, y = game
    learner = KernelLearner(classes=[0, 1], kernel=Polynomial(2), dtype="float64")
    orders = train(learner, X, y, epochs, block)
    twin = twin_of(learner)
    play_twin(twin, X, y, True, orders)
    best = twin.history[reference.best(twin.survival)]
    for name, alpha in (("last", twin.alpha), ("best", best), ("averaged", reference.average_alpha(twin))):
        assert np.allclose(learner.scores(X, name), [twin.scores(x, alpha)[0] for x in X], rtol=1e-12)
    votes = [reference.vote_binary(twin.history, twin.survival, lambda v, x=x: twin.scores(x, v)[0]) for x in X]
    assert np.array_equal(np.rint(learner.scores(X, "voted") * twin.rounds), votes)
    drawn = learner.scores(X, "random")
    assert any(np.array_equal(drawn, [twin.scores(x, v)[0] for x in X]) for v in twin.history)


@checked
@given(games(classes=3), st.integers(1, 3))
def test_one_vs_rest_is_binary_problems(game, epochs):
    X, y = game
    learner = KernelLearner(classes=[0, 1, 2], kernel=Polynomial(2), multiclass="ovr")
    orders = train(learner, X, y, epochs, 5)
    for c in range(3):
        twin = reference.DualBinary(quadratic)
        for order in orders:
            for i in order:
                twin.learn(X[i].tolist(), 1 if y[i] == c else -1, int(i))
        # The problems share their supports, so that an example may go by the number of an equal one.
        alpha = {tuple(X[i]): row[c] for i, row in alpha_of(learner).items() if row[c]}
        assert alpha == {tuple(X[i]): row[0] for i, row in twin.alpha.items() if row[0]}
        votes = [
            reference.vote_binary(twin.history, twin.survival, lambda v, x=x, t=twin: t.scores(x, v)[0]) for x in X
        ]
        assert np.array_equal(np.rint(learner.scores(X, "voted")[:, c] * twin.rounds), votes)
        assert learner.dual.mistakes[c] == twin.mistakes


@pytest.mark.parametrize("rule", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("classes", [2, 3])
def test_passive_aggressive_equals_its_twin(rule, classes):
    rng = np.random.default_rng(classes)
    X, y = rng.normal(size=(60, 3)), rng.integers(classes, size=60).tolist()
    learner = KernelLearner(classes=list(range(classes)), kernel=Polynomial(2), rule=rule, C=0.3, dtype="float64")
    orders = train(learner, X, y, 2, 7)
    twin = twin_of(learner, rule=reference.Rule(rule, C=0.3))
    play_twin(twin, X, y, classes == 2, orders)
    mine, theirs = alpha_of(learner), alive(twin.alpha)
    assert mine.keys() == theirs.keys()
    assert np.allclose([mine[i] for i in sorted(mine)], [theirs[i] for i in sorted(theirs)])
    assert learner.mistakes == twin.mistakes


@st.composite
def dyadic_games(draw, classes):
    """With ‖x‖² a power of two, quotients by it are exact, and so is every number of a short run."""
    rows = st.sampled_from([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 2, 0], [1, -1, 1, 1], [0, -1, 0, 1], [0, 0, 0, 2]])
    X = draw(st.lists(rows, min_size=2, max_size=10))
    y = draw(st.lists(st.integers(0, classes - 1), min_size=len(X), max_size=len(X)))
    return np.array(X, dtype=float), y


@checked
@given(st.data(), st.sampled_from([2, 3]), st.sampled_from(["joint", "ovr"]), st.sampled_from([1, 3, 512]))
def test_pa_equals_its_twin_to_the_bit(data, classes, multiclass, block):
    X, y = data.draw(dyadic_games(classes))
    learner = KernelLearner(classes=list(range(classes)), kernel=Linear(), rule="pa", multiclass=multiclass)
    orders = train(learner, X, y, 1, block)
    kernel = lambda x, z: float(sum(a * b for a, b in zip(x, z, strict=True)))  # noqa: E731
    rule = reference.Rule("pa")
    if learner.task == "joint":
        twins, answers = [reference.DualJoint(kernel, classes, rule)], [y]
    else:
        positive = [1] if classes == 2 else range(classes)
        twins = [reference.DualBinary(kernel, rule) for _ in positive]
        answers = [[1 if label == c else -1 for label in y] for c in positive]
    for c, (twin, answer) in enumerate(zip(twins, answers, strict=True)):
        for i in orders[0]:
            twin.learn(X[i].tolist(), answer[i], int(i))
        mine = learner.dual.alpha if learner.task != "ovr" else learner.dual.alpha[:, c : c + 1]
        # Problems of ovr share their supports, so that an example may go by the number of an equal one.
        found = {tuple(X[i]): row.tolist() for i, row in zip(learner.dual.ids, mine, strict=True) if row.any()}
        assert found == {tuple(X[i]): row for i, row in alive(twin.alpha).items()}
        assert learner.dual.mistakes[c] == twin.mistakes
        journal = learner.dual.journals[c]
        assert (journal.updates, journal.radius2, journal.length2) == (twin.updates, twin.radius2, twin.lengths2)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_pa_with_the_linear_kernel_is_the_primal(classes, multiclass):
    rng = np.random.default_rng(classes)
    X, y = rng.normal(size=(200, 6)), rng.integers(classes, size=200)
    options = {"rule": "pa", "multiclass": multiclass, "dtype": "float64", "epochs": 3}
    primal = LinearClassifier(bias=0.0, keep="all", **options).fit(X, y)
    dual = KernelClassifier(kernel=Linear(), **options).fit(X, y)
    assert primal.mistakes_.tolist() == dual.mistakes_.tolist()
    for hypothesis in ("last", "averaged", "best", "voted"):
        ours, theirs = (clf.decision_function(X, hypothesis=hypothesis) for clf in (dual, primal))
        assert np.allclose(ours, theirs, rtol=1e-6, atol=1e-8)


def test_pa_takes_no_weights_but_0_and_1():
    X, y = [[1.0], [2.0], [-1.0]], [1, 0, 0]
    learner = KernelLearner(classes=[0, 1], kernel="linear", rule="pa")
    with pytest.raises(ValueError, match="weights other than 0 and 1 do not go with rule='pa'"):
        learner.learn_many(X, y, [1.0, 0.5, 1.0])
    learner.learn_many(X, y, [1.0, 0.0, 1.0])
    assert learner.rounds == 2
    assert learner.dual.alpha.tolist() == [[1.0]]
    with pytest.raises(ValueError, match="rule='pa'"):
        KernelClassifier(kernel="linear", rule="pa", class_weight={0: 1.0, 1: 2.0}).fit(X, y)


@checked
@given(games(), st.lists(st.integers(-2, 2), min_size=24, max_size=24), st.sampled_from([0.0, 1.0]))
def test_initial_coefficients(game, alpha, delta):
    X, y = game
    start = np.array(alpha[: len(y)], dtype=float)
    learner = KernelLearner(classes=[0, 1], kernel=Polynomial(2), hypothesis="voted", delta=delta)
    orders = train(learner, X, y, 2, 4, alpha_init=start)
    twin = twin_of(learner, delta=delta)
    twin.start(X.tolist(), [[float(a)] for a in start])
    play_twin(twin, X, y, True, orders)
    assert alpha_of(learner) == alive(twin.alpha)
    assert learner.dual.journals[0].length2 == twin.lengths2
    votes = [reference.vote_binary(twin.history, twin.survival, lambda v, x=x: twin.scores(x, v)[0]) for x in X]
    assert np.array_equal(np.rint(learner.scores(X) * twin.rounds), votes)
    mean = reference.average_alpha(twin)
    assert np.allclose(learner.scores(X, "averaged"), [twin.scores(x, mean)[0] for x in X], rtol=1e-4, atol=1e-4)


@checked
@given(games(classes=3), st.booleans())
def test_learning_many_equals_learning_one_by_one(game, announced):
    X, y = game
    classes = [0, 1, 2] if announced else None
    many, one = (KernelLearner(classes=classes, kernel=Polynomial(2)) for _ in range(2))
    many.learn_many(X, y)
    for x, label in zip(X, y, strict=True):
        one.learn(x, label)
    assert many.classes == one.classes
    assert many.mistakes == one.mistakes
    assert np.array_equal(many.dual.alpha, one.dual.alpha)
    assert np.array_equal(many.scores(X), one.scores(X))
    assert many.fingerprint == one.fingerprint


@pytest.mark.parametrize("classes", [2, 4])
def test_the_linear_kernel_is_the_primal(classes):
    rng = np.random.default_rng(classes)
    X = rng.integers(-5, 6, size=(300, 8)).astype(np.float32)
    y = (X @ rng.normal(size=(8, classes)) + rng.normal(size=(300, classes))).argmax(axis=1)
    names = list(range(classes))
    primal = LinearLearner(classes=names, bias=2.0, hypothesis="voted", dtype="float64")
    dual = KernelLearner(classes=names, kernel=Linear(), bias=2.0, hypothesis="voted")
    primal.learn_many(X, y)
    dual.learn_many(X, y)
    assert primal.mistakes == dual.mistakes
    for hypothesis in ("last", "averaged", "best", "voted", "random"):
        assert np.allclose(primal.scores(X, hypothesis), dual.scores(X, hypothesis), rtol=1e-4, atol=1e-3)
        assert primal.predict_many(X, hypothesis) == dual.predict_many(X, hypothesis)


def test_sample_weights_scale_the_steps():
    X, y = [[1.0], [1.0], [1.0]], [1, 0, 1]
    learner = KernelLearner(classes=[0, 1], kernel="linear")
    learner.learn_many(X, y, [2.5, 0.0, 1.0])
    assert learner.dual.alpha.tolist() == [[2.5]]
    assert learner.rounds == 2


# ---------------------------------------------------------------- repeated supports


class Opaque:
    """An object whose content nobody knows."""


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


def test_a_budget_learns_well_by_default():
    """What nobody chose must not be what is worst: an average that lacks what was forgotten is."""
    X, y = load_digits(return_X_y=True)
    X = X / 16.0

    def score(**options):
        return (
            KernelClassifier(kernel=Polynomial(4), budget=60, epochs=2, **options)
            .fit(X[:1200], y[:1200])
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
    from perceptive import LinearClassifier

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
