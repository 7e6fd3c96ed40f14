"""The general form: block features and block kernels."""

from collections import Counter

import numpy as np
import pytest

from perceptive import JointClassifier, KernelClassifier, KernelRanker, LinearClassifier, LinearRanker
from perceptive.kernels import Custom, Polynomial

pytestmark = pytest.mark.core


# ---------------------------------------------------------------- the general form


def test_block_features_equal_joint_multiclass():
    """On integers the same weights, exactly; the constant feature stands in each block."""
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, size=(80, 4)).astype(float)
    y = np.argmax(X @ rng.integers(-3, 4, size=(4, 3)), axis=1)

    def phi(x, t):
        return np.kron(np.eye(3)[t], np.append(x, 1.0))

    joint = JointClassifier(phi, range(3), LinearRanker(epochs=4, dtype="float64", shuffle=True, random_state=3))
    joint.fit(X, y.tolist())
    clf = LinearClassifier(epochs=4, dtype="float64", random_state=3, bias=1.0).fit(X, y)
    blocks = joint.ranker_.coef_.reshape(3, 5)
    assert joint.ranker_.mistakes_.tolist() == clf.mistakes_.tolist()
    assert blocks[:, :4] == pytest.approx(clf.coef_, rel=1e-12)
    assert blocks[:, 4] == pytest.approx(clf.intercept_, rel=1e-12)
    assert joint.predict(X) == clf.predict(X).tolist()
    assert joint.predict(X, "last") == clf.predict(X, hypothesis="last").tolist()
    assert joint.score(X, y.tolist()) == clf.score(X, y)


@pytest.mark.once
@pytest.mark.parametrize("rule", ["perceptron", "pa1", "pa2"])
def test_the_block_kernel_equals_kernel_multiclass(rule):
    """K((x, t), (x', t')) = k(x, x')·[t = t']: the same mistakes, coefficients and answers, exactly on integers."""
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, size=(30, 4)).astype(float)
    y = (np.abs(X).sum(axis=1) + X[:, 0]).astype(int) % 3  # all three classes, or two would be one binary problem
    options = {"rule": rule, "epochs": 4, "dtype": "float64", "random_state": 3}
    block = Polynomial(2).on(0) * Custom(lambda t, u: t == u, name="same").on(1)
    joint = JointClassifier(candidates=range(3), ranker=KernelRanker(kernel=block, **options)).fit(X, y.tolist())
    clf = KernelClassifier(kernel=Polynomial(2), **options).fit(X, y)
    assert joint.ranker_.mistakes_.tolist() == clf.mistakes_.tolist()
    assert joint.ranker_.updates_.tolist() == clf.updates_.tolist()
    alpha, theirs = Counter(), Counter()  # by content: equal examples are one support
    for number, a in zip(joint.ranker_.support_.tolist(), joint.ranker_.alpha_.tolist(), strict=True):
        alpha[tuple(X[number // 3]), number % 3] += a  # pair (i, t) is candidate 3i + t
    for i, row in zip(clf.support_.tolist(), clf.alpha_.tolist(), strict=True):
        theirs.update({(tuple(X[i]), t): a for t, a in enumerate(row)})
    alpha, theirs = ({place: a for place, a in one.items() if a} for one in (alpha, theirs))
    exact = {"rel": 0, "abs": 0} if rule == "perceptron" else {"rel": 1e-9, "abs": 1e-12}
    assert alpha == pytest.approx(theirs, **exact)
    for hypothesis in ("last", "averaged", "voted", "best"):
        assert joint.predict(X, hypothesis) == clf.predict(X, hypothesis=hypothesis).tolist()
    pairs = [(x, t) for x in X for t in range(3)]
    scores = joint.ranker_.learner_.scores(pairs, [3] * len(X))
    assert scores.reshape(-1, 3) == pytest.approx(clf.decision_function(X), rel=1e-9, abs=1e-9)
    short = JointClassifier(candidates=range(3), kernel=block).fit(X, y.tolist())
    assert short.score(X, y.tolist()) > 0.5
    assert short.predict([]) == []


def test_joint_classifier_refuses():
    with pytest.raises(ValueError, match="phi is missing"):
        JointClassifier(candidates=[0, 1]).fit([1], [0])
    with pytest.raises(ValueError, match="both given"):
        JointClassifier(candidates=[0, 1], ranker=LinearRanker(), kernel="linear").fit([1], [0])
    clf = JointClassifier(lambda x, t: {f"{x}{t}": 1.0}, lambda x: ["a", "b"] if x else [])
    with pytest.raises(ValueError, match="example 0: its answer 'c'"):
        clf.fit([1], ["c"])
    with pytest.raises(ValueError, match="no candidates for 0"):
        clf.fit([0], ["a"])
    clf.learn_one(1, "b").learn_one(2, "a")
    assert clf.predict([1, 2], "last") == ["b", "a"]


def test_an_answer_given_twice_does_not_compete_with_itself():
    def phi(x, t):
        return {f"{x}={t}": 1.0}

    once = JointClassifier(phi, ["a", "b"]).fit(["u", "v"], ["a", "b"])
    twice = JointClassifier(phi, ["a", "a", "b"]).fit(["u", "v"], ["a", "b"])
    assert twice.ranker_.mistakes_.tolist() == once.ranker_.mistakes_.tolist() == [2, 0]
    assert twice.predict(["u", "v"]) == ["a", "b"]
