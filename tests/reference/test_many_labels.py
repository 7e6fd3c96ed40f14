"""Many labels: rows of weights without their zeros, and a trellis that is cut without losing the best path."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive import _core
from perceptive.features import schemes
from perceptive.learners import SequenceLearner
from perceptive.reference.sequence import SequencePerceptron
from perceptive.reference.viterbi import Trellis, all_paths, beamed, viterbi, viterbi_of_many

pytestmark = pytest.mark.core

MANY = 70  # from 65 labels on rows have no zeros
WORDS = ["Ann", "ran", "to", "a", "Bar"]


def random_trellis(seed, n, n_labels, spread, constrained=False):
    """Small whole numbers, so that there are ties; ``spread``: how much more labels of tokens weigh than pairs."""
    rng = np.random.default_rng(seed)
    unary = rng.integers(-3, 4, (n, n_labels)) * spread
    pairs = rng.integers(-2, 3, (n_labels, n_labels)).astype(float)
    if constrained:  # a few groups of labels that the same labels may follow, the first one always
        may_follow = rng.random((2, n_labels)) < 0.5
        may_follow[:, 0] = True
        pairs[~may_follow[rng.integers(0, 2, n_labels)]] = -math.inf
    return Trellis(unary.tolist(), [pairs.tolist()] * n)


sizes = st.integers(0, 999), st.integers(1, 5), st.integers(1, 5), st.integers(1, 4)
trellises = st.builds(random_trellis, *sizes, st.booleans())


@given(trellises)
def test_the_twin_loses_no_best_path(x):
    assert viterbi_of_many(x) == viterbi(x)


def taught(template, n_labels, seed, **parameters):
    """A learner of many labels after some sentences, and the sentences."""
    rng = np.random.default_rng(seed)
    X = [[WORDS[i] for i in rng.integers(0, len(WORDS), rng.integers(1, 7))] for _ in range(30)]
    y = [[f"t{i:02}" for i in rng.integers(0, n_labels, len(x))] for x in X]
    labels = [f"t{i:02}" for i in range(n_labels)]
    learner = SequenceLearner(labels, template=template, constraints=None, **{"hypothesis": "averaged", **parameters})
    learner.learn_many(X, y)
    return learner, X, y


EDGES = "word[-1:1]\n@label[-1]\nis(capitalised) & @label[-1]\nword & @label[-1]"


def viterbi_of_the_core(unary, edges):
    """`viterbi` in the core's precision, all labels and additions in its order: the same bits are the same path."""
    unary, edges = unary.astype(np.float32), edges.astype(np.float32)
    best = [unary[0]]
    for t in range(1, len(unary)):
        best.append((best[-1][:, None] + edges[t - 1]).max(axis=0) + unary[t])
    path = [int(np.argmax(best[-1]))]
    for t in range(len(unary) - 1, 0, -1):
        path.append(int(np.argmax(best[t - 1] + edges[t - 1][:, path[-1]])))
    return path[::-1]


@pytest.mark.parametrize("n_labels", [6, MANY])
@pytest.mark.parametrize("template", ["word[-1:1]\n@label[-1]", EDGES])
@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_the_best_path_is_that_of_the_trellis(n_labels, template, rule):
    learner, X, _ = taught(template, n_labels, 1, rule=rule)
    for hypothesis in ("last", "averaged"):
        for x in X:
            best = viterbi_of_the_core(*learner.trellis(x, hypothesis))
            assert learner.predict(x, hypothesis) == [learner.labels[y] for y in best]


@pytest.mark.parametrize("scheme", ["bio", "iob1", "bioes"])
@pytest.mark.parametrize("template", ["word[-1:1]\n@label[-1]", EDGES])
@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_the_best_path_under_constraints_is_that_of_the_trellis(scheme, template, rule):
    rng = np.random.default_rng(1)
    X = [[WORDS[i] for i in rng.integers(0, len(WORDS), rng.integers(1, 9))] for _ in range(40)]
    y = []
    for x in X:
        ends = sorted({0, len(x), *rng.integers(0, len(x) + 1, 3).tolist()})
        spans = [(a, b, f"t{rng.integers(0, 40)}") for a, b in itertools.pairwise(ends) if rng.random() < 0.8]
        y.append(schemes.write(spans, len(x), scheme))
    every = [f"{prefix}-t{i}" for prefix in schemes.PREFIXES[scheme] for i in range(40)]
    learner = SequenceLearner(["O", *every], template=template, constraints=scheme, rule=rule, hypothesis="averaged")
    _, start, stop = schemes.constraints(scheme, learner.labels)
    outside = np.where(start, 0.0, -np.inf), np.where(stop, 0.0, -np.inf)
    for _ in range(3):
        learner.learn_many(X, y)
        for hypothesis in ("last", "averaged"):
            for x in X:
                unary, edges = learner.trellis(x, hypothesis)
                unary[0], unary[-1] = unary[0] + outside[0], unary[-1] + outside[1]
                best = viterbi_of_the_core(unary, edges)
                assert learner.predict(x, hypothesis) == [learner.labels[y] for y in best]


def k_best_of_the_core(unary, edges, k):
    """The k best paths in the core's precision, from all labels and in its order: the same bits are the same paths."""
    unary, edges = unary.astype(np.float32), edges.astype(np.float32)
    n_labels = unary.shape[1]
    ends = [[(unary[0, y], [y])] for y in range(n_labels)]
    for t in range(1, len(unary)):
        ways = [(p, score, path) for p in range(n_labels) for score, path in ends[p]]
        before, scores = np.array([p for p, _, _ in ways]), np.array([score for _, score, _ in ways])
        ends = []
        for y in range(n_labels):
            now = scores + edges[t - 1][before, y] + unary[t, y]
            ends.append([(now[i], [*ways[i][2], y]) for i in np.argsort(-now, kind="stable")[:k]])
    return [path for _, path in sorted((one for end in ends for one in end), key=lambda one: -one[0])[:k]]


@pytest.mark.parametrize("k", [1, 3, 20])
@pytest.mark.parametrize("template", ["word[-1:1]\n@label[-1]", EDGES])
@pytest.mark.parametrize("hypothesis", ["last", "averaged"])  # whole numbers, with ties; and others
def test_the_k_best_paths_are_those_of_the_trellis(k, template, hypothesis):
    learner, X, _ = taught(template, MANY, 4)
    for x in X[:8]:
        best = k_best_of_the_core(*learner.trellis(x, hypothesis), k)
        found = [labels for labels, _ in learner.k_best([x], k, hypothesis)[0]]
        assert found == [[learner.labels[y] for y in path] for path in best]


@examples(5)
@given(st.integers(0, 99), st.integers(0, 3))
def test_ties_of_many_labels_go_to_the_lowest(seed, spread):
    """Weights are whole numbers here: the path is the twin's, bit by bit."""
    rng = np.random.default_rng(seed)
    labels = list(range(MANY))
    learner = SequenceLearner(labels, template="word\n@label[-1]", constraints=None, hypothesis="last")
    for _ in range(4):
        x = [WORDS[i] for i in rng.integers(0, len(WORDS), 4)]
        learner.learn(x, rng.integers(0, MANY // (1 + spread), 4).tolist())
    for _ in range(5):
        x = [WORDS[i] for i in rng.integers(0, len(WORDS), 5)]
        unary, edges = learner.trellis(x)
        trellis = Trellis(unary.tolist(), [[], *edges.tolist()])
        assert learner.predict(x) == list(viterbi(trellis)) == list(viterbi_of_many(trellis))


@pytest.mark.parametrize("beam", [1, 3, 69, 70, 99])
def test_a_beam_keeps_the_best_labels(beam):
    learner, _, _ = taught("word[-1:1]\n@label[-1]", MANY, 2, hypothesis="last")
    for x in (["Ann", "ran"], ["to", "Bar"], ["a", "Ann"]):
        unary, edges = learner.trellis(x)
        best = all_paths(beamed(Trellis(unary.tolist(), [[], *edges.tolist()]), beam))[0][1]
        found = learner.core.predict([x], learner.labels, None, _core.Forced(), beam)
        assert found == [[learner.labels[y] for y in best]]


def test_a_beam_of_pairs_is_what_the_twin_keeps():
    learner, X, _ = taught("word[-1:1]\n@label[-1]\n@label[-2]", 4, 3, hypothesis="last")
    cube = learner.snapshot()[0]["triple.weight"].reshape(4, 4, 8)[:, :, :4].tolist()
    for beam in (1, 2, 5, 16):
        for x in X[:12]:
            unary, edges = learner.trellis(x)
            trellis = Trellis(unary.tolist(), [[[0.0] * 4] * 4, *edges.tolist()], cube)
            best = all_paths(beamed(trellis, beam))[0][1]
            found = learner.core.predict([x], learner.labels, None, _core.Forced(), beam)
            assert found == [[learner.labels[y] for y in best]]


@examples(4)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, MANY - 1)), min_size=1, max_size=2),
        min_size=1,
        max_size=4,
    )
)
def test_runs_with_many_labels_equal_the_twins(data):
    learner = SequenceLearner(range(MANY), template="@label[-1]", keep="all", constraints=None, hypothesis="averaged")
    twin = SequencePerceptron(MANY)
    for sentence in data * 2:
        x, y = [{"f" + word: 1.0, "bias": 1.0} for word, _ in sentence], [label for _, label in sentence]
        assert learner.learn(x, y) == twin.learn(x, y)
    x = [{"fa": 1.0}, {"bias": 1.0}]
    assert learner.predict(x, "last") == list(twin.predict(x))
    for hypothesis, expected in (("last", twin.v), ("averaged", twin.average(open=True))):
        found = {}
        for kind, _, values, label, weight in learner.core.heaviest(learner.vector(hypothesis), -1):
            before, now = divmod(label, MANY)
            found[(values[0], label) if kind == "state" else ("@", before, now)] = weight
        for name in {*found, *expected}:
            assert found.get(name, 0.0) == pytest.approx(expected.get(name, 0.0), abs=2e-5), name


@pytest.mark.parametrize("template", ["word[-1:1]\n@label[-1]", EDGES])
def test_sentences_in_one_chunk_are_learned_as_one_by_one(template):
    """What is kept of the weights of pairs from sentence to sentence is kept up to date."""
    learner, X, y = taught(template, MANY, 4, rule="pa1")
    other = SequenceLearner(learner.labels, template=template, constraints=None, hypothesis="averaged", rule="pa1")
    for x, labels in zip(X, y, strict=True):
        other.learn(x, labels)
    ours, theirs = learner.snapshot()[0], other.snapshot()[0]
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours if "weight" in name or "sum" in name)


def test_more_labels_come_later():
    """Rows that were vectors lose their zeros when labels outgrow them."""
    learner, X, y = taught(EDGES, 60, 5)
    before = {(*where, label): weight for *where, label, weight in named(learner)}
    learner.meet_labels([f"t{i}" for i in range(60, 90)])
    after = {(*where, label): weight for *where, label, weight in named(learner)}
    assert before == after
    learner.learn_many(X, y)
    assert learner.predict(X[0])


def named(learner):
    n = len(learner.labels)
    for kind, row, values, label, weight in learner.core.heaviest(learner.vector("last"), -1):
        yield kind, row, tuple(values), divmod(label, n) if kind == "edge" else label, weight


def test_a_pruned_model_of_many_labels_goes_on():
    learner, X, y = taught(EDGES, MANY, 6)
    expected = learner.predict_many(X)
    learner.prune()
    assert learner.predict_many(X) == expected
    learner.learn_many(X, y)
    assert math.isfinite(learner.score(X[0]))
