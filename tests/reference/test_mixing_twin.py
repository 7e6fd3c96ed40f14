"""Shards that are mixed, against the twin: last and averaged of classifiers, rankers and taggers.

Features are real numbers: a mean of three vectors is rounded, and two that round apart would break ties apart.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive.learners import LinearLearner, RankingLearner, SequenceLearner
from perceptive.parameters import TrainingParameters
from perceptive.reference.binary import Binary
from perceptive.reference.joint import Joint
from perceptive.reference.mixing import Played, iterate, mix_by_precision
from perceptive.reference.ranking import Ranking
from perceptive.reference.rules import Rule
from perceptive.reference.sequence import SequencePerceptron
from perceptive.training.loop import InMemory, Run, hash_seed, train
from perceptive.training.mixing import order_of

pytestmark = pytest.mark.core
quick = examples(30)
SEEDS, SHARDS, HOW = st.integers(0, 10**6), st.integers(2, 5), st.sampled_from(["uniform", "mistakes"])
RULES = st.sampled_from(["perceptron", "pa", "pa1", "pa2"])
EPOCHS, D, N = 3, 4, 17
WIDTHS = st.sampled_from([D, 20])  # with more weights than examples, shards defer their averages to the end


def rounds(examples, shards, i, epoch):
    """The examples of a shard in the order of an epoch."""
    mine = examples[i::shards]
    return [mine[j] for j in order_of(np.arange(len(mine)), i, hash_seed(hash_seed(0, epoch), 0))]


def mixed(learner, shards, how, X, y):
    training = TrainingParameters(epochs=EPOCHS, shards=shards, mixing=how)
    train(Run.of(learner, training), InMemory(learner.dataset(X, y, epochs=EPOCHS), True), threads=2)
    return learner


def sparse(row):
    return [(j, float(value)) for j, value in enumerate(row)]


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@quick
@given(SEEDS, SHARDS, HOW, RULES, WIDTHS)
def test_binary(seed, shards, how, rule, D):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(N, D)), rng.integers(0, 2, N)
    examples = [(sparse(row), 2 * int(label) - 1) for row, label in zip(X, y, strict=True)]

    def play(v, i, epoch):
        twin = Binary(D, Rule(rule), initial=(v[:D], v[D]))
        for x, label in rounds(examples, shards, i, epoch):
            twin.learn(x, label)
        return Played([[*w, b] for w, b in twin.history], twin.survival)

    expected = iterate([0.0] * (D + 1), shards, play, EPOCHS, how)
    learner = mixed(LinearLearner([0, 1], rule=rule, hypothesis="averaged", dtype="float64"), shards, how, X, y)
    vector = learner.vectors[()]
    for name in ("last", "averaged"):
        w, b = vector.vector(name)
        close([*w[:, 0], *b], getattr(expected, name))
    assert vector.run.weighted_updates == pytest.approx(expected.updates)
    if how == "uniform":
        assert vector.run.weighted_mistakes == pytest.approx(vector.run.mistakes / shards)


@quick
@given(SEEDS, SHARDS, HOW, WIDTHS)
def test_joint(seed, shards, how, D):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(N, D)), rng.integers(0, 3, N)
    examples = [(sparse(row), int(label)) for row, label in zip(X, y, strict=True)]

    def play(v, i, epoch):
        twin = Joint(D, 3)
        twin.v, twin.v_bias = [list(v[c * D : (c + 1) * D]) for c in range(3)], list(v[3 * D :])
        twin.history = [twin.snapshot()]
        for x, label in rounds(examples, shards, i, epoch):
            twin.learn(x, label)
        return Played([[*itertools.chain(*rows), *bias] for rows, bias in twin.history], twin.survival)

    expected = iterate([0.0] * (3 * D + 3), shards, play, EPOCHS, how)
    learner = mixed(LinearLearner([0, 1, 2], hypothesis="averaged", dtype="float64"), shards, how, X, y)
    for name in ("last", "averaged"):
        w, b = learner.vectors[()].vector(name)
        close([*w[:, :3].T.ravel(), *b], getattr(expected, name))


@quick
@given(SEEDS, SHARDS)
def test_arow_is_mixed_by_precision(seed, shards):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(N, D)), rng.integers(0, 2, N)
    examples = [(sparse(row), 2 * int(label) - 1) for row, label in zip(X, y, strict=True)]
    v, sigma = [0.0] * (D + 1), [1.0] * (D + 1)
    for epoch in range(EPOCHS):
        twins = []
        for i in range(shards):
            twin = Binary(D, Rule("arow"), initial=(v[:D], v[D]))
            twin.sigma, twin.sigma_bias = list(sigma[:D]), sigma[D]
            for x, label in rounds(examples, shards, i, epoch):
                twin.learn(x, label)
            twins.append(twin)
        if not any(twin.updates for twin in twins):
            break
        v, sigma = mix_by_precision(
            [[*t.v, t.v_bias] for t in twins], [[*t.sigma, t.sigma_bias] for t in twins], [1 / shards] * shards
        )
    vector = mixed(LinearLearner([0, 1], rule="arow", dtype="float64"), shards, "uniform", X, y).vectors[()]
    close([*vector.weights.arrays["z"][:, 0], *vector.biases["z_bias"]], v)
    close([*vector.weights.arrays["sigma"][:, 0], *vector.biases["sigma_bias"]], sigma)


@quick
@given(SEEDS, SHARDS, HOW)
def test_ranking(seed, shards, how):
    rng = np.random.default_rng(seed)
    lists = [rng.normal(size=(3, D)) for _ in range(N)]
    best = rng.integers(0, 3, N).tolist()
    examples = [([sparse(x) for x in xs], b) for xs, b in zip(lists, best, strict=True)]

    def play(v, i, epoch):
        twin = Ranking(D)
        twin.v, twin.history = list(v), [list(v)]
        for xs, b in rounds(examples, shards, i, epoch):
            twin.learn(xs, b)
        return Played(twin.history, twin.survival)

    expected = iterate([0.0] * D, shards, play, EPOCHS, how)
    learner = mixed(RankingLearner(hypothesis="averaged", dtype="float64"), shards, how, lists, best)
    for name in ("last", "averaged"):
        close(learner.vector.vector(name)[0][:, 0], getattr(expected, name))


@quick
@given(SEEDS, SHARDS, HOW, st.booleans())
def test_sequences(seed, shards, how, second_order):
    rng = np.random.default_rng(seed)
    L, words = 3, [f"w{j}" for j in range(4)]
    X = [[{words[j]: float(rng.normal())} for j in rng.integers(0, 4, rng.integers(1, 5))] for _ in range(N)]
    y = [rng.integers(0, L, len(x)).tolist() for x in X]
    y[0] = [0, 1, 2, *y[0]][: len(X[0])]
    used = sorted({label for labels in y for label in labels})
    number = {label: i for i, label in enumerate(used)}
    examples = [(x, [number[label] for label in labels]) for x, labels in zip(X, y, strict=True)]
    twin = SequencePerceptron(len(used), second_order=second_order)
    labels = range(len(used))
    paths = [([*x] * 3, [p, q, r] * len(x)) for x in X for p in labels for q in labels for r in labels]
    keys = sorted({key for x, path in paths for key in twin.phi(x, path)}, key=repr)
    place = {key: i for i, key in enumerate(keys)}

    def flat(v):
        out = [0.0] * len(keys)
        for key, value in v.items():
            out[place[key]] = value
        return out

    def play(v, i, epoch):
        twin = SequencePerceptron(len(used), second_order=second_order)
        twin.v = {key: value for key, value in zip(keys, v, strict=True) if value}
        twin.history = [twin.v]
        for x, labels in rounds(examples, shards, i, epoch):
            twin.learn(x, labels)
        return Played([flat(v) for v in twin.history], twin.survival)

    expected = iterate([0.0] * len(keys), shards, play, EPOCHS, how)
    template = "@label[-1]\n@label[-2]" if second_order else "@label[-1]"
    learner = mixed(SequenceLearner(template=template, hypothesis="averaged"), shards, how, X, y)
    sentence = [{word: 1.0} for word in words]
    for name in ("last", "averaged"):
        v = dict(zip(keys, getattr(expected, name), strict=True))
        unary, edges = learner.trellis(sentence, name)
        exact = [[v.get((word, label), 0.0) for label in range(len(used))] for word in words]
        np.testing.assert_allclose(unary, exact, rtol=1e-4, atol=1e-5)
        if not second_order:
            pairs = [[v.get(("@", p, q), 0.0) for q in range(len(used))] for p in range(len(used))]
            np.testing.assert_allclose(edges[0], pairs, rtol=1e-4, atol=1e-5)


def test_one_shot():
    """Mixing once, after all epochs, is another algorithm: shards that go their own ways to the end."""
    X, y = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [1.0, 2.0]], [1, 1, 0, 1]
    from perceptive.training.mixing import one_shot

    learner = LinearLearner([0, 1], bias=0.0, hypothesis="averaged", dtype="float64")
    one_shot(learner.dataset(X, y, epochs=2), TrainingParameters(epochs=2, shards=2, shuffle=False))
    twins = []
    for i in range(2):
        twin = Binary(2, bias=0.0)
        for x, label in [*zip(X[i::2], y[i::2], strict=True)] * 2:
            twin.learn(sparse(x), 2 * label - 1)
        twins.append(twin)
    close(learner.vectors[()].vector("last")[0][:, 0], np.mean([twin.v for twin in twins], axis=0))
