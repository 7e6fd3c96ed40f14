"""The sequence core against brute force over all label sequences, and against the twin's whole runs."""

import itertools
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive import _core
from perceptive.certificates import certify
from perceptive.features import schemes
from perceptive.learners import SequenceLearner
from perceptive.reference.mira import kkt_violation, solve_mira
from perceptive.reference.rules import Rule
from perceptive.reference.sequence import SequencePerceptron
from perceptive.reference.viterbi import Trellis, all_paths, beamed, forced, k_best, max_marginals, viterbi

pytestmark = pytest.mark.core

LABELS = ["B-X", "I-X", "O"]
BOOLEANS = st.booleans()


@st.composite
def trellises(draw, second_order=BOOLEANS):
    n, n_labels = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    number = st.integers(-3, 3)
    unary = draw(st.lists(st.lists(number, min_size=n_labels, max_size=n_labels), min_size=n, max_size=n))
    matrix = st.lists(st.lists(number, min_size=n_labels, max_size=n_labels), min_size=n_labels, max_size=n_labels)
    pairs = draw(matrix)
    triple = draw(st.lists(matrix, min_size=n_labels, max_size=n_labels)) if draw(second_order) else None
    return Trellis(unary, [pairs] * n, triple)


def learner_of(x, scheme=None):
    """A learner whose trellis for ["t0", "t1", …] is x, made by writing its weights into a state."""
    n_labels = len(x.unary[0])
    labels = LABELS if scheme else [f"l{i}" for i in range(n_labels)]
    template = "word[0]\n@label[-1]" + ("\n@label[-2]" if x.triple is not None else "")
    learner = SequenceLearner(labels[:n_labels], template=template, constraints=None, hypothesis="last")
    state = learner.snapshot()[0]
    words = [f"t{t}" for t in range(len(x.unary))]
    state["column0.blob"] = np.frombuffer("".join(words).encode(), np.uint8)
    state["column0.lengths"] = np.array([len(word) for word in words], np.int32)
    state["state.template"] = np.zeros(len(words), np.int16)
    state["state.values"] = np.arange(len(words), dtype=np.int32) + 32
    state["state.count"] = np.full(len(words), n_labels, np.uint16)
    state["state.label"] = np.tile(np.arange(n_labels, dtype=np.uint16), len(words))
    state["state.weight"] = np.array(x.unary, np.float32).ravel()
    state["state.sum"] = np.zeros(state["state.weight"].size, np.float32)
    state["edge.count"] = np.array([n_labels**2], np.uint16)
    state["edge.label"] = np.arange(n_labels**2, dtype=np.uint16)
    state["edge.weight"] = np.array(x.edge[0], np.float32).ravel()
    state["edge.sum"] = np.zeros(n_labels**2, np.float32)
    if x.triple is not None:
        cube = np.zeros((n_labels, n_labels, 8), np.float32)
        cube[:, :, :n_labels] = x.triple
        state["triple.weight"], state["triple.sum"] = cube.ravel(), np.zeros(cube.size, np.float32)
    learner.labelling.scheme = scheme
    learner.restore((state, 0))
    return learner, words


def masked(x, scheme):
    """The trellis with −∞ where the scheme forbids."""
    ok = [[schemes.follows(scheme, p, y) for y in LABELS] for p in LABELS]
    unary = [list(row) for row in x.unary]
    for y in range(3):
        if not schemes.follows(scheme, None, LABELS[y]):
            unary[0][y] = -math.inf
        if not schemes.follows(scheme, LABELS[y], None):
            unary[-1][y] = -math.inf
    pairs = [[x.edge[0][p][y] if ok[p][y] else -math.inf for y in range(3)] for p in range(3)]
    return Trellis(unary, [pairs] * len(unary), x.triple)


@given(trellises(second_order=st.just(False)))
def test_the_twins_viterbi_is_the_best_of_all_paths(x):
    assert viterbi(x) == all_paths(x)[0][1]


@given(trellises(), st.integers(1, 6))
def test_the_twins_k_best_are_the_first_of_all_paths(x, k):
    assert k_best(x, k) == all_paths(x)[:k]


@given(trellises())
def test_viterbi_is_the_best_of_all_paths(x):
    learner, words = learner_of(x)
    best = all_paths(x)[0][1]
    assert learner.predict(words) == [learner.labels[y] for y in best]


@given(trellises(), st.integers(1, 8))
def test_k_best_are_the_first_of_all_paths(x, k):
    learner, words = learner_of(x)
    found = learner.k_best([words], k)[0]
    expected = all_paths(x)[:k]
    assert [score for _, score in found] == [score for score, _ in expected]
    assert [labels for labels, _ in found] == [[learner.labels[y] for y in path] for _, path in expected]


@given(trellises())
def test_max_marginals_and_margins(x):
    learner, words = learner_of(x)
    path, scores = learner.max_marginals([words])[0]
    assert scores.tolist() == max_marginals(x)
    paths = all_paths(x)
    margins = learner.margins([words])[0]
    for t, margin in enumerate(margins):
        others = [score for score, other in paths if other[t] != path[t]]
        assert margin == (paths[0][0] - max(others) if others else math.inf)
    assert margins.min() == (paths[0][0] - paths[1][0] if len(paths) > 1 else math.inf)


@given(trellises(), st.data())
def test_forced_labels_are_obeyed(x, data):
    learner, words = learner_of(x)
    n_labels = len(learner.labels)
    labels = data.draw(st.lists(st.none() | st.integers(0, n_labels - 1), min_size=len(words), max_size=len(words)))
    given_labels = [None if y is None else learner.labels[y] for y in labels]
    best = all_paths(forced(x, labels))[0][1]
    assert learner.predict_many([words], forced=[given_labels]) == [[learner.labels[y] for y in best]]


@given(trellises().filter(lambda x: len(x.unary[0]) == 3), st.sampled_from(["bio", "iob1"]), st.integers(1, 5))
def test_constraints_are_part_of_the_trellis(x, scheme, k):
    learner, words = learner_of(x, scheme)
    expected = all_paths(masked(x, scheme))
    found = learner.k_best([words], k)[0]
    assert [labels for labels, _ in found] == [[LABELS[y] for y in path] for _, path in expected[:k]]
    assert learner.predict(words) == [LABELS[y] for y in expected[0][1]]
    assert all(schemes.violation(scheme, labels) is None for labels, _ in found)


@given(trellises(second_order=st.just(False)))
def test_a_beam_of_all_labels_is_no_beam(x):
    learner, words = learner_of(x)
    free = learner.predict(words)
    for beam in (len(learner.labels), len(learner.labels) + 5):
        assert learner.core.predict([words], learner.labels, None, _core.Forced(), beam) == [free]
    greedy = learner.core.predict([words], learner.labels, None, _core.Forced(), 1)[0]
    path = []  # a beam of one takes the best step each time
    for t, row in enumerate(x.unary):
        path.append(max(range(len(row)), key=lambda y: row[y] + (x.edge[t][path[-1]][y] if path else 0)))
    assert greedy == [learner.labels[y] for y in path]


@given(trellises(), st.integers(1, 4), st.integers(1, 6))
def test_what_a_beam_keeps_is_a_trellis(x, beam, k):
    """Labels, the k best and max-marginals of a beam are those of the states that it keeps."""
    learner, words = learner_of(x)
    learner.parameters = replace(learner.parameters, beam=beam)
    kept = beamed(x, beam)
    expected = all_paths(kept)
    found = learner.k_best([words], k)[0]
    assert found == [([learner.labels[y] for y in path], score) for score, path in expected[:k]]
    assert learner.predict(words) == found[0][0]
    path, scores = learner.max_marginals([words])[0]
    assert tuple(path.tolist()) == expected[0][1]
    assert scores.tolist() == max_marginals(kept)


@given(
    trellises().filter(lambda x: len(x.unary[0]) == 3), st.sampled_from(["bio", "iob1"]), st.integers(1, 4), st.data()
)
def test_a_beam_under_constraints_has_one_best_path(x, scheme, beam, data):
    """Also where forced labels lead it into a dead end."""
    learner, words = learner_of(x, scheme)
    learner.parameters = replace(learner.parameters, beam=beam)
    _, one = data.draw(st.sampled_from(all_paths(masked(x, scheme))))
    wanted = [[LABELS[y] if data.draw(BOOLEANS) else None for y in one]]
    found = learner.k_best([words], 3, forced=wanted)[0]
    assert learner.predict_many([words], forced=wanted) == [found[0][0]]
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    best, score = learner.k_best([words], 1)[0][0]
    path, through = learner.max_marginals([words])[0]
    assert [learner.labels[y] for y in path] == best == learner.predict(words)
    assert through[np.arange(len(path)), path].tolist() == [score] * len(path)
    assert (through <= score).all()


# ---------------------------------------------------------------- whole runs

sentences = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), min_size=1, max_size=3), min_size=1, max_size=4
)
RULES = [
    ("perceptron", {}, None),
    ("perceptron", {"margin": 1.5}, None),
    ("perceptron", {}, "hamming"),
    ("pa", {}, "hamming"),
    ("pa1", {"C": 0.3}, "hamming"),
    ("pa1", {"C": 0.3}, None),
    ("pa2", {"C": 0.7}, "hamming"),
    ("mira", {"C": 0.5}, "hamming"),
]


def weights_of(learner, hypothesis):
    """The weights of a learner under the twin's names."""
    found = {}
    for kind, _, values, label, weight in learner.core.heaviest(learner.vector(hypothesis), -1):
        before, now = divmod(label, len(learner.labels))
        found[(values[0], label) if kind == "state" else ("@", before, now)] = weight
    return found


def assert_close(found, expected):
    for name in {*found, *expected}:
        assert found.get(name, 0.0) == pytest.approx(expected.get(name, 0.0), abs=2e-5), name


def near_tie(twin, x, y):
    """Whether rounding could change the order of the paths that matter."""
    for trellis in (twin.trellis(x, twin.v), twin.trellis(x, twin.v, y)):
        scores = [score for score, _ in all_paths(trellis)][: twin.k + 2]
        if any(a - b < 1e-4 for a, b in itertools.pairwise(scores)):
            return True
    return False


@pytest.mark.parametrize(("rule", "parameters", "cost"), RULES)
@examples(25)
@given(sentences, st.booleans(), st.booleans())
def test_whole_runs_equal_the_twins(rule, parameters, cost, data, second_order, valued):
    template = "@label[-1]" + ("\n@label[-2]" if second_order else "")
    learner = SequenceLearner(
        [0, 1, 2], template=template, rule=rule, cost=cost, keep="all", constraints=None, **parameters
    )
    twin = SequencePerceptron(3, Rule(rule, **parameters), hamming=cost == "hamming", second_order=second_order, k=5)
    values = {"a": 1.0, "b": 2.0, "c": 1.0} if valued else dict.fromkeys("abc", 1.0)
    for sentence in data * 3:
        x = [{"f" + word: values[word], "bias": 1.0} for word, _ in sentence]
        y = [label for _, label in sentence]
        if rule != "perceptron" and twin.updates and near_tie(twin, x, y):
            break  # float32 and float64 may part ways here
        assert learner.learn(x, y) == twin.learn(x, y)
        assert learner.updates == twin.updates
    assert learner.core.run.radius2 == pytest.approx(twin.radius2)
    assert learner.core.survival == twin.survival
    if not second_order:
        assert_close(weights_of(learner, "last"), twin.v)
        assert_close(weights_of(learner, "averaged"), twin.average(open=True))
        best = twin.history[int(np.argmax(twin.survival))]
        assert_close(weights_of(learner, "best"), best)
    if rule == "perceptron":  # integers: exact, ties included
        x = [{"fa": 1.0, "bias": 1.0}, {"fb": 1.0}, {"fc": 1.0}]
        assert learner.predict(x, "last") == list(twin.predict(x))
        assert learner.predict(x, "voted") == list(twin.vote(x))


@pytest.mark.parametrize(
    ("rule", "parameters", "cost"), [one for one in RULES if one[0] in ("perceptron", "pa1", "pa2")]
)
@examples(15)
@given(sentences, st.data())
def test_weights_of_sentences(rule, parameters, cost, data, draw):
    learner = SequenceLearner(
        [0, 1, 2], template="@label[-1]", rule=rule, cost=cost, constraints=None, hypothesis="last", **parameters
    )
    twin = SequencePerceptron(3, Rule(rule, **parameters), hamming=cost == "hamming")
    X = [[{"f" + word: 1.0} for word, _ in sentence] for sentence in data]
    y = [[label for _, label in sentence] for sentence in data]
    weights = draw.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(X), max_size=len(X)))
    for x, labels, weight in zip(X, y, weights, strict=True):
        if rule != "perceptron" and twin.updates and near_tie(twin, x, labels):
            return  # float32 and float64 may part ways here
        learner.learn_many([x], [labels], [weight])
        if weight:
            twin.learn(x, labels, weight)
    assert (learner.rounds, learner.mistakes, learner.updates) == (sum(twin.survival), twin.mistakes, twin.updates)
    assert learner.core.run.radius2 == pytest.approx(twin.radius2)
    assert_close(weights_of(learner, "last"), twin.v)


@examples(50)
@given(sentences, st.data())
def test_labels_that_are_not_said_are_free(data, draw):
    learner = SequenceLearner([0, 1, 2], template="@label[-1]", constraints=None)
    twin = SequencePerceptron(3)
    for sentence in data * 2:
        x = [{"f" + word: 1.0} for word, _ in sentence]
        y = [label if draw.draw(st.booleans()) else None for _, label in sentence]
        assert learner.learn(x, y) == twin.learn(x, y)
    assert_close(weights_of(learner, "last"), twin.v)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=1, max_size=5), st.floats(0.01, 10))
def test_the_quadratic_program_is_solved(deltas, C):
    gram = [[float(np.dot(a, b)) for b in deltas] for a in deltas]
    loss = [float(sum(delta)) for delta in deltas]
    alpha, violation = _core.solve_mira([x for row in gram for x in row], loss, C)
    assert violation <= 1e-8
    scale = max(1.0, *map(abs, loss))
    assert kkt_violation(gram, loss, C, alpha) <= 1e-8 * scale + 1e-9
    assert min(alpha) >= 0
    assert sum(alpha) <= C * (1 + 1e-12)
    twin = solve_mira(gram, loss, C)
    step = np.array(alpha) @ np.array(deltas)  # the step is unique, α need not be
    assert step == pytest.approx(np.array(twin) @ np.array(deltas), abs=1e-6)


def learn_in_batches(learner, X, twin, features, y, batch):
    """Both learn alike; the twin from the features of X."""
    for _ in range(4):
        learner.learn_many(X, y)
        for begin in range(0, len(X), batch):
            twin.learn_batch([*zip(features, y, strict=True)][begin : begin + batch])
    assert (learner.mistakes, learner.updates) == (twin.mistakes, twin.updates)
    assert_close(weights_of(learner, "last"), twin.v)


@examples(40)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), min_size=1, max_size=4), min_size=1, max_size=9
    ),
    st.integers(2, 5),
    st.integers(1, 3),
)
def test_batches_equal_the_twins(data, batch, threads):
    learner = SequenceLearner([0, 1, 2], template="@label[-1]", batch=batch, constraints=None, hypothesis="averaged")
    twin = SequencePerceptron(3)
    X = [[{"f" + word: 1.0, "bias": 1.0} for word, _ in sentence] for sentence in data]
    y = [[label for _, label in sentence] for sentence in data]
    learner.threads = threads
    learn_in_batches(learner, X, twin, X, y, batch)
    assert_close(weights_of(learner, "averaged"), twin.average(open=True))
    certificate = certify(learner, X, y)
    assert certificate.holds
    if certificate.theorem and not certificate.vacuous:
        assert "Zhao" in certificate.theorem


@pytest.mark.parametrize("batch", [1, 4])
def test_features_that_templates_and_sentences_share_equal_the_twins(batch):
    learner = SequenceLearner([0, 1], template="bag(word[-1:1])\n@label[-1]", batch=batch, constraints=None)
    twin = SequencePerceptron(2)
    X = [list(letters) for letters in ("cab", "abc", "bca", "acb", "bbc", "cca")]
    y = [[int(before == "a") for before in [*x[:1], *x[:-1]]] for x in X]
    seen = [["_B-1", *x, "_B+1"] for x in X]
    bags = [[dict(Counter(x[t : t + 3])) for t in range(3)] for x in seen]
    learn_in_batches(learner, X, twin, bags, y, batch)
    loaded = SequenceLearner.from_state(learner.state())
    assert weights_of(loaded, "averaged") == weights_of(learner, "averaged")
    assert loaded.k_best(X, 3) == learner.k_best(X, 3)


def test_batches_go_with_the_perceptron():
    with pytest.raises(ValueError, match="batch=4 goes with rule='perceptron'"):
        SequenceLearner(batch=4, rule="pa1")
