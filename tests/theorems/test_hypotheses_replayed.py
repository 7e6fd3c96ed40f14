"""The average, the voters and the random draw are those of every vector, replayed; work follows the stored entries."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from perceptive import LinearClassifier, certify
from perceptive.games import hard_game, noisy_game
from perceptive.learners import LinearLearner
from perceptive.learners.linear import ALL
from perceptive.reference import Binary, Joint, Rule, average, vote_binary, vote_joint
from perceptive.rules import RULES
from test_theorems import SEEDS, as_row, quick

# ---------------------------------------------------------------- lazy average = naive average

RULE_NAMES = [*RULES]


def flat(problem, vector):
    w, b = vector
    return np.append(w[:, : problem.n_classes].ravel(), b)


def twin_history(twin):
    if isinstance(twin, Binary):
        return [[*v, bias] for v, bias in twin.history]
    return [[*np.array(v).T.ravel(), *bias] for v, bias in twin.history]


@pytest.mark.core
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["examples", "mistakes"])
@pytest.mark.parametrize("rule", RULE_NAMES)
def test_lazy_average_is_the_naive_one_at_every_stop(rule, kind, n_classes):
    rng = np.random.default_rng(4)
    X, y = rng.integers(-3, 4, size=(24, 3)).astype(float), rng.integers(n_classes, size=24)
    twin = Binary(3, Rule(rule)) if n_classes == 2 else Joint(3, n_classes, Rule(rule))
    parameters = {"rule": rule, "average": kind, "dtype": "float64", "hypothesis": "averaged"}
    going = LinearLearner(classes=range(n_classes), **parameters)  # asked at every round, never finished
    for T in range(1, len(y) + 1):
        label = int(y[T - 1]) if n_classes > 2 else 2 * int(y[T - 1]) - 1
        twin.learn(as_row(X[T - 1]), label)
        going.learn(X[T - 1], y[T - 1])
        stopped = LinearLearner(classes=range(n_classes), **parameters)
        stopped.learn_many(X[:T], y[:T])
        stopped.finish()
        stopped.open = False
        expected = np.array(average(twin_history(twin), twin.survival, kind))
        problem = stopped.vectors[ALL]
        lazy = flat(problem, problem.vector("averaged"))
        if rule == "perceptron":
            assert lazy.tolist() == expected.tolist()  # whole numbers: no rounding
        else:
            np.testing.assert_allclose(lazy, expected, rtol=1e-9, atol=1e-9)
        V = np.reshape(average(twin_history(twin), twin.survival, kind, open=True), (4, -1))
        np.testing.assert_allclose(
            np.reshape(going.scores(X), (24, -1)), np.column_stack([X, np.ones(24)]) @ V, rtol=1e-9, atol=1e-9
        )


@pytest.mark.core
@quick
@given(SEEDS, st.integers(1, 60))
def test_float32_average_is_exact_on_small_integers(seed, T):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(T, 3)).astype(np.float32), rng.choice([-1, 1], size=T)
    learner, twin = LinearLearner(classes=[-1, 1], hypothesis="averaged"), Binary(3)
    learner.learn_many(X, y)
    learner.open = False
    for x, label in zip(X, y, strict=True):
        twin.learn(as_row(x), int(label))
    problem = learner.vectors[ALL]
    expected = average(twin_history(twin), twin.survival)
    assert flat(problem, problem.vector("averaged"))[:3].tolist() == np.float32(expected[:3]).tolist()


# ---------------------------------------------------------------- touched weights


def sparse_rows(n_features, n_rows=300, per_row=12):
    rng = np.random.default_rng(6)
    indices = np.concatenate([np.sort(rng.choice(2**16, per_row, replace=False)) for _ in range(n_rows)])
    data = rng.normal(size=n_rows * per_row).astype(np.float32)
    indptr = np.arange(0, n_rows * per_row + 1, per_row)
    return sp.csr_array((data, indices, indptr), shape=(n_rows, n_features)), rng.integers(2, size=n_rows)


@pytest.mark.parametrize("hypothesis", ["last", "averaged", "voted"])
@pytest.mark.parametrize("rule", ["perceptron", "pa1", "romma"])
def test_touched_weights_do_not_grow_with_the_dimension(rule, hypothesis):
    touched = {}
    for bits in (16, 22):
        X, y = sparse_rows(2**bits)
        clf = LinearClassifier(rule=rule, hypothesis=hypothesis, epochs=3).fit(X, y)
        touched[bits] = clf.learner_.touched
        entries = 12 * clf.updates_.sum()  # the non-zeros of the updates, in the weights and once more in the sums
        assert entries <= touched[bits] <= (entries if hypothesis == "last" else 2 * entries)
    assert touched[16] == touched[22]


@pytest.mark.core
def test_touched_weights_of_joint():
    touched = {}
    for bits in (16, 22):
        X, y = sparse_rows(2**bits)
        y = y + (np.arange(len(y)) % 3 == 0)
        clf = LinearClassifier(epochs=3).fit(X, y)
        touched[bits] = clf.learner_.touched
        entries = 2 * 12 * clf.updates_.sum()
        assert entries <= touched[bits] <= 2 * entries
    assert touched[16] == touched[22]


def test_touched_weights_where_romma_starts_anew():
    """The one exception, and no more than it: ROMMA that starts anew writes every weight."""
    lengths = np.append(np.linspace(1.0, 0.1, 20), -1.0)
    for dimension in (2**10, 2**16):
        X = sp.csr_array((lengths, np.zeros(21, dtype=int), np.arange(22)), shape=(21, dimension))
        y = np.where(lengths > 0, 1, -1)
        clf = LinearClassifier(rule="aggressive-romma", bias=0.0, epochs=1, shuffle=False).fit(X, y)
        updates = int(clf.updates_.sum())
        assert updates == 20
        restarts = updates - 1  # each along the same axis as the one before
        assert restarts * dimension <= clf.learner_.touched <= 2 * updates + restarts * dimension


# ---------------------------------------------------------------- voted, best, random


@pytest.mark.core
@pytest.mark.parametrize("rule", RULE_NAMES)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_voted_is_the_replay_of_every_vector(rule, n_classes):
    rng = np.random.default_rng(9)
    X, y = rng.integers(-4, 5, size=(25, 3)).astype(float), rng.integers(n_classes, size=25)
    T = rng.normal(size=(70, 3))
    clf = LinearClassifier(rule=rule, hypothesis="voted", shuffle=False, epochs=2, dtype="float64", bias=1.0).fit(X, y)
    twin = Binary(3, Rule(rule)) if n_classes == 2 else Joint(3, n_classes, Rule(rule))
    for x, label in [*zip(X, y, strict=True)] * 2:
        twin.learn(as_row(x), int(label) if n_classes > 2 else 2 * int(label) - 1)
    problem = clf.learner_.vectors[ALL]
    assert problem.survivals().tolist() == twin.survival
    assert sum(twin.survival) == clf.rounds_ == 50
    for k in range(len(twin.survival)):
        replayed = flat(problem, problem.voter(k))
        np.testing.assert_allclose(replayed, twin_history(twin)[k], rtol=1e-9, atol=1e-9)

    def votes(x):
        if n_classes == 2:
            return vote_binary(twin.history, twin.survival, lambda v: float(np.dot(v[0], x) + v[1]))
        return vote_joint(twin.history, twin.survival, lambda v: (np.array(v[0]) @ x + v[1]).tolist())

    np.testing.assert_array_equal(clf.decision_function(T), np.array([votes(x) for x in T]) / 50)


def drawn_vectors(n_seeds, learn):
    """How often each vector is drawn, over seeds."""
    counts = {}
    for seed in range(n_seeds):
        problem = learn(seed)
        v = tuple(flat(problem, problem.vector("random")).tolist())
        counts[v] = counts.get(v, 0) + 1
    return counts


def test_random_draws_by_survival():
    X, y, _ = noisy_game(40, 3, 0.1, 1.0, 0.25, 2)

    def learn(seed):
        learner = LinearLearner(classes=[-1, 1], hypothesis="random", random_state=seed, bias=0.0)
        learner.learn_many(X, y)
        return learner.vectors[ALL]

    problem = learn(0)
    expected = {}
    for k, m in enumerate(problem.survivals()):
        v = tuple(flat(problem, problem.voter(k)).tolist())
        expected[v] = expected.get(v, 0) + m * 1000 / 40
    counts = drawn_vectors(1000, learn)
    assert counts.keys() <= {v for v, m in expected.items() if m > 0}
    expected = {v: m for v, m in expected.items() if m > 0}
    assert len(expected) > 5
    assert stats.chisquare([counts.get(v, 0) for v in expected], [*expected.values()]).pvalue > 0.001


def test_random_draw_is_independent_of_the_shuffled_order():
    """Where every round is a mistake, v_k has the k examples played first: whether a given example is among them
    must not depend on whether it was played last."""
    n, n_seeds, told = 8, 400, 0
    X, y, _ = hard_game(n)
    for seed in range(n_seeds):
        clf = LinearClassifier(hypothesis="random", bias=0.0, epochs=1, random_state=seed).fit(X, y)
        problem = clf.learner_.vectors[ALL]
        before_last = np.flatnonzero(problem.voter(n - 1)[0][:, 0] == 0)  # the example played last
        k = np.count_nonzero(problem.vector("random")[0])
        told += k == before_last[0]
    assert stats.binomtest(told, n_seeds, 1 / n).pvalue > 0.001


def test_k_over_m_estimates_the_error_of_random():
    """Over many one-pass runs, k/m and the error of the drawn vector on new examples agree on average."""
    difference = []
    for seed in range(120):
        X, y, _ = noisy_game(90, 4, 0.05, 1.0, 0.1, seed)
        learner = LinearLearner(classes=[-1, 1], hypothesis="random", random_state=seed, bias=0.0)
        learner.learn_many(X[:50], y[:50])
        estimate = certify(learner, X[:50], y[:50]).first_epoch_error
        assert estimate == learner.mistakes / 50
        # a score of 0 counts as a mistake in training, so here too
        scores = learner.scores(X[50:])
        difference.append(estimate - np.mean(y[50:] * scores <= 0))
    error = np.std(difference) / math.sqrt(len(difference))
    assert abs(np.mean(difference)) < 4 * error < 0.1
