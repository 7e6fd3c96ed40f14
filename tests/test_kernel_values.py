"""Kernels are values: nobody else changes them, equal ones are equal, their Gram matrices are symmetric to the bit."""

import numpy as np
import pytest

from perceptive import KernelClassifier

rng = np.random.default_rng(0)


def dot(a, b):
    return float(np.dot(a, b))


# ---------------------------------------------------------------- what a model has learned stays


@pytest.mark.parametrize("budget", [None, 3])
@pytest.mark.parametrize("form", [np.array, list, lambda X: X.tolist()])
def test_models_of_functions_keep_copies_of_their_supports(form, budget):
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
