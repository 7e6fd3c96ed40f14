"""The dual learner and its pure-Python twin are one: blocks, passes, caches and all.

On integers every kernel value and score is exact, so that the two are held equal number by number.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from examples import examples
from perceptive import KernelClassifier, LinearClassifier, reference
from perceptive.kernels import Custom, Linear, Polynomial
from perceptive.learners import KernelLearner, LinearLearner, dual_epochs

pytestmark = pytest.mark.core

checked = examples(40, suppress_health_check=[HealthCheck.too_slow])


def quadratic(x, z):
    return float((sum(a * b for a, b in zip(x, z, strict=True)) + 1) ** 2)


@st.composite
def games(draw, classes=2):
    n, d = draw(st.integers(2, 24)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return rng.integers(-2, 3, size=(n, d)).astype(float), rng.integers(classes, size=n).tolist()


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
    assert run.length2.tolist() == twin.lengths2
    assert learner.dual.radius2[0] == twin.radius2


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
        assert (learner.dual.made[c], learner.dual.radius2[c]) == (twin.updates, twin.radius2)
        assert learner.dual.journals[c].length2.tolist() == twin.lengths2


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
    assert learner.dual.journals[0].length2.tolist() == twin.lengths2
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
