"""The core and its pure-Python twin are one: same scores, same mistakes, same weights.

In float64 every rule but ROMMA is held equal bit for bit (ROMMA's core keeps v as scale·z, which rounds otherwise);
in float32 the perceptron on integers is.
"""

import random

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from examples import examples
from perceptive import reference
from perceptive.learners import LinearLearner

pytestmark = pytest.mark.core

RULES = ["perceptron", "pa", "pa1", "pa2", "mira", "romma", "aggressive-romma", "arow"]
WEIGHTED = ["perceptron", "pa1", "pa2", "arow"]
checked = examples(40, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def games(draw, integers=False, classes=2, max_features=11, generic=False):
    """Rows, labels and weights of a small game; examples repeat, features are missing, rows may be empty.

    A generic game has real numbers instead: no score is 0 but for rounding, which ROMMA's core does in another order.
    """
    d = draw(st.integers(3 if generic else 1, max_features))
    n = draw(st.integers(1, 14))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    if generic:
        X = rng.normal(size=(n, d))
    else:
        X = rng.choice(range(-4, 5) if integers else [0.0, 0.0, 1.0, -1.0, 0.3, -2.7, 5.1, 1e-3], size=(n, d))
        X[rng.random(n) < 0.1] = 0
        X[n // 2 :] = X[: n - n // 2] if draw(st.booleans()) else X[n // 2 :]
    y = rng.integers(classes, size=n).tolist()
    weights = rng.choice([0.0, 0.5, 1.0, 2.0, 3.7], size=n).tolist()
    return X.astype(float), y, weights


def sparse_rows(X):
    return [[(int(j), float(v)) for j, v in enumerate(row) if v] for row in X]


def rows_for(X, sparse):
    """What the learner gets, and what the twin gets: a dense row has all its entries, a sparse one the non-zeros."""
    if sparse:
        return sp.csr_array(X), sparse_rows(X)
    return X, [[(j, float(v)) for j, v in enumerate(row)] for row in X]


def play(learner, X, y, weights, epochs):
    dataset = learner.dataset(X, y, weights)
    for _ in range(epochs):
        dataset.play(np.arange(len(y)))
        dataset.record()
    return learner


def options(rule, **more):
    parameters = {"rule": rule, "C": 0.7, "r": 1.3, **more}
    return parameters, reference.Rule(
        rule, parameters.get("learning_rate", 1.0), parameters.get("margin", 0.0), 0.7, 1.3
    )


def flat(problem):
    """A vector of the core as the twin has it: per class the weights, then the bias weights."""

    def of(hypothesis):
        w, b = problem.vector(hypothesis)
        return np.concatenate([w[:, : problem.n_classes].T.ravel(), b])

    return of


def flat_twin(v):
    weights, bias = v
    return np.concatenate([np.ravel(weights), np.ravel(bias)])


def assert_same_run(problem, twin, exact, dtype="float64"):
    run = problem.run
    assert (run.rounds, run.mistakes, run.updates) == (twin.rounds, twin.mistakes, twin.updates)
    close = np.testing.assert_array_equal if exact else _close
    close(flat(problem)("last"), flat_twin(twin.history[-1]))
    close(run.radius2, twin.radius2)
    assert problem.survivals().tolist() == twin.survival
    _close(run.criterion, twin.criterion)
    if dtype == "float64":
        _close(run.norm2, np.sum(flat_twin(twin.history[-1]) ** 2) + _ids2(twin), rule=problem.parameters.rule)
    history = [flat_twin(v) for v in twin.history]
    for kind in ("examples", "mistakes"):
        if problem.parameters.average == kind:
            _close(flat(problem)("averaged"), reference.average(history, twin.survival, kind, open=run.open))
    _close(flat(problem)("best"), history[reference.best(twin.survival)])


def _ids2(twin):
    return sum(np.sum(np.square(value)) for value in twin.id_weights.values())


def _close(a, b, rule=None):
    if rule == "arow":
        return  # AROW never asks for ‖v‖²
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("rule", RULES)
@checked
@given(data=st.data())
def test_binary(rule, sparse, data):
    X, y, weights = data.draw(games(generic="romma" in rule))
    ties = data.draw(st.sampled_from(["mistake", "positive"]))
    normalize = data.draw(st.booleans())
    bias = data.draw(st.sampled_from([0.0, 1.0, 2.5]))
    delta = data.draw(st.sampled_from([0.0, 1.5])) if rule != "arow" else 0.0
    average = data.draw(st.sampled_from(["examples", "mistakes"]))
    weights = weights if rule in WEIGHTED else [float(w > 0) for w in weights]
    margin = data.draw(st.sampled_from([0.0, 1.0])) if rule == "perceptron" else 0.0
    parameters, twin_rule = options(
        rule, ties=ties, normalize=normalize, bias=bias, delta=delta, average=average, margin=margin, learning_rate=0.5
    )
    learner = LinearLearner(classes=[0, 1], keep="all", dtype="float64", **parameters)
    given_rows, twin_rows = rows_for(X, sparse)
    play(learner, given_rows, y, weights, epochs=2)
    twin = reference.Binary(X.shape[1], twin_rule, bias=bias, ties=ties, normalize=normalize, delta=delta)
    for _ in range(2):
        for i, (x, label, weight) in enumerate(zip(twin_rows, y, weights, strict=True)):
            twin.learn(x, 1 if label else -1, weight=weight, identity=i)
    assert_same_run(learner.vectors[()], twin, exact="romma" not in rule)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("rule", RULES)
@checked
@given(data=st.data())
def test_joint(rule, sparse, data):
    classes = data.draw(st.sampled_from([3, 4, 5, 17]))
    X, y, weights = data.draw(games(classes=classes, generic="romma" in rule))
    normalize = data.draw(st.booleans())
    bias = data.draw(st.sampled_from([0.0, 1.0]))
    delta = data.draw(st.sampled_from([0.0, 1.5])) if rule != "arow" else 0.0
    weights = weights if rule in WEIGHTED else [float(w > 0) for w in weights]
    cost = None
    if rule == "mira" and data.draw(st.booleans()):
        cost = [[0.0 if i == j else 1.0 + (i * j) % 3 for j in range(classes)] for i in range(classes)]
    parameters, twin_rule = options(rule, normalize=normalize, bias=bias, delta=delta, cost=cost)
    learner = LinearLearner(classes=range(classes), keep="all", dtype="float64", **parameters)
    given_rows, twin_rows = rows_for(X, sparse)
    play(learner, given_rows, y, weights, epochs=2)
    twin = reference.Joint(X.shape[1], classes, twin_rule, bias=bias, normalize=normalize, delta=delta, cost=cost)
    for _ in range(2):
        for i, (x, label, weight) in enumerate(zip(twin_rows, y, weights, strict=True)):
            twin.learn(x, label, weight=weight, identity=i)
    assert_same_run(learner.vectors[()], twin, exact="romma" not in rule)
    if delta == 0:
        for x, dense in zip(twin_rows, X, strict=True):
            _close(learner.score(dense, "last"), twin.scores(x))


@checked
@given(game=games(integers=True, classes=4), average=st.sampled_from(["examples", "mistakes"]))
def test_perceptron_on_integers_is_exact_in_float32(game, average):
    X, y, _ = game
    learner = play(LinearLearner(classes=range(4), keep="all", average=average), X, y, None, epochs=3)
    twin = reference.Joint(X.shape[1], 4)
    for _ in range(3):
        for x, label in zip(sparse_rows(X), y, strict=True):
            twin.learn(x, label)
    problem = learner.vectors[()]
    np.testing.assert_array_equal(flat(problem)("last"), flat_twin(twin.history[-1]))
    naive = reference.average([flat_twin(v) for v in twin.history], twin.survival, average, open=problem.run.open)
    np.testing.assert_array_equal(np.float32(flat(problem)("averaged")), np.float32(naive))


@checked
@given(game=games(integers=True), data=st.data())
def test_votes_binary(game, data):
    X, y, _ = game
    rule = data.draw(st.sampled_from(RULES))
    parameters, twin_rule = options(rule)
    learner = LinearLearner(classes=[0, 1], hypothesis="voted", dtype="float64", **parameters)
    play(learner, X, y, None, epochs=2)
    twin = reference.Binary(X.shape[1], twin_rule)
    rows = rows_for(X, False)[1]
    for _ in range(2):
        for x, label in zip(rows, y, strict=True):
            twin.learn(x, 1 if label else -1)
    shares = learner.scores(X)
    for x, share in zip(X, shares, strict=True):
        scores = [float(np.dot(w, x) + b) for w, b in twin.history]
        if rule != "perceptron" and np.abs(scores).min() < 1e-9:
            continue  # a vote decided by rounding
        votes = reference.vote_binary(scores, twin.survival, lambda s: s)
        assert share == votes / sum(twin.survival)


@checked
@given(game=games(integers=True, classes=3))
def test_votes_joint(game):
    X, y, _ = game
    learner = play(LinearLearner(classes=range(3), hypothesis="voted"), X, y, None, epochs=2)
    twin = reference.Joint(X.shape[1], 3)
    for _ in range(2):
        for x, label in zip(sparse_rows(X), y, strict=True):
            twin.learn(x, label)
    for x, share in zip(X, learner.scores(X), strict=True):
        votes = reference.vote_joint(
            twin.history, twin.survival, lambda v, x=x: [float(np.dot(w, x) + b) for w, b in zip(*v, strict=True)]
        )
        np.testing.assert_array_equal(share, np.array(votes) / sum(twin.survival))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("reduction", ["ovr", "ovr-reference", "ovo"])
@examples(15, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_reductions(reduction, rule, data):
    X, y, weights = data.draw(games(classes=4, generic="romma" in rule))
    weights = weights if rule in WEIGHTED else [float(w > 0) for w in weights]
    ties = data.draw(st.sampled_from(["mistake", "positive"]))
    parameters, twin_rule = options(rule, ties=ties)
    multiclass = reduction.partition("-")[0]
    chosen = 2 if reduction == "ovr-reference" else None
    learner = LinearLearner(
        classes=range(4), multiclass=multiclass, reference=chosen, keep="all", dtype="float64", **parameters
    )
    dense, rows = rows_for(X, False)
    play(learner, dense, y, weights, epochs=2)
    if multiclass == "ovr":
        twin = reference.OneVsRest(X.shape[1], 4, reference=chosen, rule=twin_rule, ties=ties)
    else:
        twin = reference.OneVsOne(X.shape[1], 4, rule=twin_rule, ties=ties)
    for _ in range(2):
        for x, label, weight in zip(rows, y, weights, strict=True):
            twin.learn(x, label, weight=weight)
    assert len(learner.vectors) == len(twin.problems)
    for problem, other in zip(learner.vectors.values(), twin.problems.values(), strict=True):
        assert_same_run(problem, other, exact="romma" not in rule)
    if "romma" in rule:
        return  # whose scores may differ in the last bit, and a vote with them
    if multiclass == "ovr":
        assert learner.predict_many(X, "last") == [twin.predict(x) for x in rows]
    else:
        np.testing.assert_array_equal(np.rint(learner.scores(X, "last")), [twin.votes(x) for x in rows])


@checked
@given(game=games(integers=True), C=st.sampled_from([0.1, 1.0]))
def test_joint_two_classes_equals_binary(game, C):
    """δ is twice as long squared and v half as long: PA-I and PA-II agree where binary has 2C."""
    X, y, _ = game
    uniform = [[0.0, 1.0], [1.0, 0.0]]
    for rule in ("perceptron", "pa", "pa1", "pa2"):
        n = X.shape[1]
        binary = reference.Binary(n, reference.Rule(rule, C=2 * C))
        joint = reference.Joint(n, 2, reference.Rule(rule, C=C))
        for x, label in zip(sparse_rows(X), y, strict=True):
            assert binary.learn(x, 1 if label else -1) == joint.learn(x, label)
            factor = 2.0 if rule == "perceptron" else 1.0
            _close(np.subtract(joint.v[1], joint.v[0]), factor * np.array(binary.v))
    learner = play(LinearLearner(classes=[0, 1], rule="mira", cost=uniform, dtype="float64"), X, y, None, 1)
    plain = play(LinearLearner(classes=[0, 1], rule="pa", dtype="float64"), X, y, None, 1)
    _close(np.diff(learner.scores(X, "last"))[:, 0], plain.scores(X, "last"))


@checked
@given(game=games(integers=True, classes=4), max_voters=st.integers(1, 6))
def test_max_voters_keeps_the_longest_survivors(game, max_voters):
    X, y, _ = game
    full = play(LinearLearner(classes=range(4), hypothesis="voted"), X, y, None, epochs=4).vectors[()]
    thin = play(
        LinearLearner(classes=range(4), hypothesis="voted", max_voters=max_voters), X, y, None, epochs=4
    ).vectors[()]
    wanted = np.sort(full.survivals())[::-1][:max_voters]
    assert sorted(thin.survivals()[thin.survivals() > 0], reverse=True) == [m for m in wanted if m > 0]
    assert len(thin.journal.survival) <= 2 * max_voters + 2
    for name in ("last", "averaged", "best"):
        np.testing.assert_array_equal(thin.vector(name)[0], full.vector(name)[0])


@checked
@given(game=games(integers=True, classes=3), seed=st.integers(0, 1000))
def test_classes_that_arrive_late(game, seed):
    """A third class finds what a joint learner with growing classes makes of the first two, ties and all.

    Classes are numbered as they come; in the end they are sorted.
    """
    X, y, _ = game
    names = ["m", "c", "x"]
    random.Random(seed).shuffle(names)
    learner = LinearLearner(keep="all", dtype="float64")
    known: list[str] = []
    twin = reference.Joint(X.shape[1], 1)
    for x, row, label in zip(sparse_rows(X), X, y, strict=True):
        name = names[label]
        if name not in known:
            grown = reference.Joint(X.shape[1], len(known) + 1)
            grown.v[: len(known)], grown.v_bias[: len(known)] = twin.v[: len(known)], twin.v_bias[: len(known)]
            grown.rounds, grown.mistakes, grown.updates = twin.rounds, twin.mistakes, twin.updates
            twin, known = grown, [*known, name]
        assert learner.learn(row, name) == twin.learn(x, known.index(name))
        assert learner.classes == known
        np.testing.assert_array_equal(
            flat(learner.vectors[()])("last"), np.concatenate([np.ravel(twin.v), twin.v_bias])
        )
    learner.finish()
    assert learner.classes == sorted(known)
    order = [known.index(name) for name in learner.classes]
    v, bias = [twin.v[c] for c in order], [twin.v_bias[c] for c in order]
    np.testing.assert_array_equal(flat(learner.vectors[()])("last"), np.concatenate([np.ravel(v), bias]))
    learner.learn(X[0], names[y[0]])  # and it goes on learning


BAD_ROUNDS = {  # what the message speaks of: the round
    "(?i)nan": ([float("nan"), 1.0], 1, 1.0),
    "(?i)inf": ([float("inf"), 1.0], 1, 1.0),
    "feature": ([1.0, 2.0, 3.0], 1, 1.0),
    "class": ([1.0, 2.0], 7, 1.0),
    "weight.* negative": ([1.0, 2.0], 1, -1.0),
    "weight.* nan": ([1.0, 2.0], 1, float("nan")),
}


@pytest.mark.parametrize("message", BAD_ROUNDS)
def test_both_refuse_a_bad_round_and_stay_as_they_were(message):
    x, y, weight = BAD_ROUNDS[message]
    learner = LinearLearner(classes=[0, 1, 2], dtype="float64")
    twin = reference.Joint(2, 3)
    learner.learn([1.0, -1.0], 1)
    twin.learn([(0, 1.0), (1, -1.0)], 1)
    with pytest.raises(ValueError, match=message):
        learner.learn(x, y, weight)
    with pytest.raises(ValueError, match=message):
        twin.learn(list(enumerate(x)), y, weight=weight)
    assert (learner.rounds, learner.updates) == (twin.rounds, twin.updates) == (1, 1)
    np.testing.assert_array_equal(flat(learner.vectors[()])("last"), flat_twin((twin.v, twin.v_bias)))


@pytest.mark.parametrize(
    "bad",
    [{"rule": "percepton"}, {"C": 0.0}, {"C": float("nan")}, {"r": -1.0}, {"margin": -1.0}, {"learning_rate": 0.0}],
)
def test_both_refuse_a_bad_rule(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        LinearLearner(**bad)
    with pytest.raises(ValueError, match=next(iter(bad))):
        reference.Rule(**{{"rule": "name"}.get(key, key): value for key, value in bad.items()})
