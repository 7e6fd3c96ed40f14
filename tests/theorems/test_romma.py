"""ROMMA against exact rationals: its steps meet two constraints that may nearly contradict each other."""

from fractions import Fraction

import numpy as np
import pytest

from perceptive import LinearClassifier, load, save
from perceptive.learners import LinearLearner
from perceptive.reference import Binary, Rule

pytestmark = pytest.mark.core
RULES = ["romma", "aggressive-romma"]


def exact_run(X, y, rule, epochs=1):
    """Mistakes, and ‖v‖² in the end, in exact arithmetic; the bias is a feature of 1."""
    v, mistakes = [Fraction(0)] * (len(X[0]) + 1), 0
    for _ in range(epochs):
        for x, label in zip(X, y, strict=True):
            delta = [label * Fraction(int(value)) for value in (*x, 1)]
            m = sum(a * b for a, b in zip(v, delta, strict=True))
            mistakes += m <= 0
            if m > 0 if rule == "romma" else m >= 1:
                continue
            q, v2 = sum(a * a for a in delta), sum(a * a for a in v)
            if v2 == 0 or q * v2 == m * m or m >= q * v2:
                v = [a / q for a in delta]
                continue
            D = q * v2 - m * m
            v = [(q * v2 - m) / D * a + v2 * (1 - m) / D * b for a, b in zip(v, delta, strict=True)]
    return mistakes, float(sum(a * a for a in v))


@pytest.mark.parametrize("rule", RULES)
def test_neighbours_of_different_classes_take_two_mistakes(rule):
    X, y = np.array([[40.0], [41.0]]), np.array([-1, 1])
    assert exact_run(X, y, rule, epochs=10)[0] == 2
    for first in (X, X[::-1]):
        clf = LinearClassifier(rule=rule, epochs=1000, shuffle=False, certify=True).fit(first, y)
        assert clf.mistakes_.sum() == 2
        assert clf.converged_
        assert clf.score(first, y) == 1.0
        assert clf.certificate_.bound >= clf.certificate_.updates
    twin = Binary(1, Rule(rule))
    for _ in range(10):
        for x, label in zip(X, y, strict=True):
            twin.learn([(0, x[0])], int(label))
    assert twin.mistakes == 2


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(8))
def test_core_and_twin_play_as_exact_rationals_do(rule, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, size=(12, 3)).astype(float)
    y = np.where(X @ [3, -2, 1] + rng.integers(-6, 7, size=12) > 0, 1, -1)
    mistakes, length2 = exact_run(X, y, rule)
    learner, twin = LinearLearner(classes=[-1, 1], rule=rule), Binary(3, Rule(rule))
    learner.learn_many(X, y)
    for x, label in zip(X, y, strict=True):
        twin.learn(list(enumerate(x)), int(label))
    assert learner.mistakes == twin.mistakes == mistakes
    assert learner.vectors[()].run.norm2 == pytest.approx(length2, rel=1e-5)
    assert twin.v2 == pytest.approx(length2, rel=1e-5)


@pytest.mark.parametrize("rule", RULES)
def test_the_tracked_length_is_true_on_noisy_data(rule):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 5)), rng.integers(2, size=200)
        learner = LinearLearner(classes=[0, 1], rule=rule)
        learner.learn_many(X, y)
        w, bias = learner.vectors[()].vector("last")
        true = float((w**2).sum() + (bias**2).sum())
        run = learner.vectors[()].run
        assert run.norm2 == pytest.approx(true, rel=1e-6)
        assert abs(run.norm2 - true) <= run.norm2_error + 1e-12 * true


def test_weights_are_float64_whatever_was_asked_for(tmp_path):
    X, y = np.array([[40.0], [41.0]]), [0, 1]
    clf = LinearClassifier(rule="romma", dtype="float32").fit(X, y)
    assert clf.coef_.dtype == np.float64
    save(clf, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.coef_.dtype == np.float64
    assert again.decision_function(X).tolist() == clf.decision_function(X).tolist()
    assert again.learner_.vectors[()].run.norm2_error == clf.learner_.vectors[()].run.norm2_error
