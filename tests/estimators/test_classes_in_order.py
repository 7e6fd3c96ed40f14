"""`classes_` is sorted whatever order labels come in, and scores, weights and probabilities follow it."""

import numpy as np
import pytest

from perceptive import KernelClassifier, LinearClassifier

pytestmark = pytest.mark.core

ROWS = {2: [2.0, 0.5], 0: [-1.0, 1.0], 1: [0.5, -2.0]}
MODELS = {"linear": LinearClassifier, "kernel": lambda **how: KernelClassifier(kernel="linear", **how)}


def learn_one(model, x, y):
    model.learn_one(dict(enumerate(x)) if isinstance(model, LinearClassifier) else x, y)


def partial_fit(model, x, y):
    model.partial_fit([x], [y])


def asked(model, learn):
    X = np.array(list(ROWS.values()))
    return [dict(enumerate(x)) for x in X] if learn is learn_one and isinstance(model, LinearClassifier) else X


@pytest.mark.parametrize("learn", [learn_one, partial_fit])
@pytest.mark.parametrize("kind", MODELS)
def test_two_classes(kind, learn):
    model = MODELS[kind](hypothesis="last")
    for y in (2, 0, 2, 0):
        learn(model, ROWS[y], y)
    assert model.classes_.tolist() == [0, 2]
    scores = model.decision_function(asked(model, learn))
    assert scores[0] > 0 > scores[1]
    assert model.predict(asked(model, learn))[:2].tolist() == [2, 0]


@pytest.mark.parametrize("learn", [learn_one, partial_fit])
@pytest.mark.parametrize("kind", MODELS)
def test_three_classes(kind, learn):
    model = MODELS[kind](hypothesis="last")
    for y in (2, 0, 1, 2, 0, 1, 2, 0, 1):
        learn(model, ROWS[y], y)
        seen = sorted(set(model.classes_.tolist()))
        assert model.classes_.tolist() == seen
    X = asked(model, learn)
    assert model.decision_function(X).argmax(axis=1).tolist() == model.predict(X).tolist() == [2, 0, 1]
    if kind == "linear" and learn is partial_fit:
        scores = X @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(scores, model.decision_function(X), rtol=1e-6)


@pytest.mark.parametrize("kind", MODELS)
def test_shares_of_votes_follow_the_classes(kind):
    model = MODELS[kind](hypothesis="voted")
    for y in (2, 0) * 4:
        partial_fit(model, ROWS[y], y)
    assert model.predict_proba([ROWS[0], ROWS[2]]).argmax(axis=1).tolist() == [0, 1]


@pytest.mark.parametrize("kind", MODELS)
def test_one_label_is_checked_as_many_are(kind):
    model, x = MODELS[kind](), {"a": 1.0} if kind == "linear" else [1.0, 0.0]
    for label in (None, float("nan")):
        with pytest.raises(ValueError, match="drop such examples"):
            model.learn_one(x, label)
    model.learn_one(x, "x")
    with pytest.raises(ValueError, match="drop such examples"):
        model.learn_one(x, None)
    assert model.classes_.tolist() == ["x"]
