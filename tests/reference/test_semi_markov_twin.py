"""Semi-Markov decoding, against brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive.learners import SequenceLearner
from perceptive.reference.semi_markov import (
    all_segmentations,
    segments_of,
    semi_markov_k_best,
    semi_markov_max_marginals,
    semi_markov_viterbi,
)
from perceptive.reference.viterbi import Trellis

pytestmark = pytest.mark.core


# ---------------------------------------------------------------- segments

TAGS = ["B-X", "B-Y", "I-X", "I-Y", "O"]


def segment_learner(draw, n, order):
    """A semi-Markov learner with random weights, its trellis and its segments' scores."""
    labels = [TAGS[i] for i in order]
    number = st.integers(-3, 3)
    words = ["wa", "wb", "wc", "wd"][:n]
    learner = SequenceLearner(labels, template="word\n@label[-1]", segments=True, max_segment=3, hypothesis="last")
    lesson = [next(label for label in labels if label[0] == "B"), *["O"] * (n - 1)]
    learner.dataset([words], [lesson])  # numbers the words
    state = learner.snapshot()[0]
    unary = [[draw(number) for _ in labels] for _ in range(n)]
    pairs = [[draw(number) for _ in labels] for _ in labels]
    lengths = {(length, kind): draw(number) for length in (1, 2, 3) for kind in "XY"}
    texts = {(b, e, kind): draw(number) for b in range(n) for e in range(b + 1, min(n, b + 3) + 1) for kind in "XY"}
    templates, values, sizes, counts, where, weights = [], [], [], [], [], []

    def row(template, ids, entries):
        templates.append(template)
        values.extend(ids)
        counts.append(len(entries))
        if template < -1:
            sizes.append(len(ids))
        where.extend(labels.index(label) for label, _ in entries)
        weights.extend(weight for _, weight in entries)

    for t in range(n):
        row(0, [32 + t], list(zip(labels, unary[t], strict=True)))
    for length in (1, 2, 3):
        row(-2, [length], [(f"B-{kind}", lengths[length, kind]) for kind in "XY"])
    for b in range(n):
        for e in range(b + 1, min(n, b + 3) + 1):
            row(-3, list(range(32 + b, 32 + e)), [(f"B-{kind}", texts[b, e, kind]) for kind in "XY"])
    state["state.template"] = np.array(templates, np.int16)
    state["state.values"] = np.array(values, np.int32)
    state["state.lengths"] = np.array(sizes, np.int32)
    state["state.count"] = np.array(counts, np.uint16)
    state["state.label"] = np.array(where, np.uint16)
    state["state.weight"] = np.array(weights, np.float32)
    state["state.sum"] = np.zeros(len(weights), np.float32)
    state["edge.count"] = np.array([len(labels) ** 2], np.uint16)
    state["edge.label"] = np.arange(len(labels) ** 2, dtype=np.uint16)
    state["edge.weight"] = np.array(pairs, np.float32).ravel()
    state["edge.sum"] = np.zeros(len(labels) ** 2, np.float32)
    learner.restore((state, 0))
    x = Trellis(unary, [pairs] * n)
    return learner, words, x, lambda b, e, kind: lengths[e - b, kind] + texts[b, e, kind]


@examples(30)
@given(st.data(), st.integers(1, 4), st.permutations(range(5)))
def test_semi_markov_decoding_is_the_best_of_all_segmentations(data, n, order):
    learner, words, x, segment = segment_learner(data.draw, n, order)
    best = all_segmentations(x, learner.labels, 3, segment)[0][1]
    assert semi_markov_viterbi(x, learner.labels, 3, segment) == best
    assert learner.predict(words) == [learner.labels[y] for y in best]


@examples(40)
@given(st.data(), st.integers(1, 4), st.permutations(range(5)), st.integers(1, 9))
def test_the_k_best_segmentations_are_the_first_of_all(data, n, order, k):
    learner, words, x, segment = segment_learner(data.draw, n, order)
    expected = all_segmentations(x, learner.labels, 3, segment)[:k]
    assert semi_markov_k_best(x, learner.labels, 3, segment, k) == expected
    found = learner.k_best([words], k)[0]
    assert found == [([learner.labels[y] for y in path], score) for score, path in expected]
    labels = data.draw(st.sampled_from(expected))[1]  # a path that is there may be forced in part
    given_labels = [learner.labels[y] if data.draw(st.booleans()) else None for y in labels]
    obeying = [
        (path, score)
        for score, path in all_segmentations(x, learner.labels, 3, segment)
        if all(want is None or learner.labels[y] == want for y, want in zip(path, given_labels, strict=True))
    ]
    found = learner.k_best([words], k, forced=[given_labels])[0]
    assert found == [([learner.labels[y] for y in path], score) for path, score in obeying[:k]]


@examples(40)
@given(st.data(), st.integers(1, 4), st.permutations(range(5)))
def test_max_marginals_of_segmentations(data, n, order):
    learner, words, x, segment = segment_learner(data.draw, n, order)
    expected = np.array(semi_markov_max_marginals(x, learner.labels, 3, segment))
    places = [learner.labels.index(label) for label in learner.classes]
    path, scores = learner.max_marginals([words])[0]
    assert scores.tolist() == expected[:, places].tolist()
    paths = all_segmentations(x, learner.labels, 3, segment)
    margins = learner.margins([words])[0]
    assert [learner.classes[y] for y in path] == [learner.labels[y] for y in paths[0][1]]
    for t, margin in enumerate(margins):
        others = [score for score, other in paths if other[t] != paths[0][1][t]]
        assert margin == (paths[0][0] - max(others) if others else math.inf)
    assert margins.min() == paths[0][0] - paths[1][0]


def segment_phi(words, path, labels):
    """Φ written out for a tagger of words, pairs of labels and segments."""
    names = [(word, y) for word, y in zip(words, path, strict=True)]
    names += [("@", p, y) for p, y in itertools.pairwise(path)]
    for b, e, _ in segments_of(path, labels):
        shapes = [shape for shape, _ in itertools.groupby(["x"] * (e - b))]
        names += [("length", e - b), ("text", *words[b:e]), ("shape", *shapes)]
    return names


def short_segmentations(n, labels):
    """All paths of n tokens whose segments have at most two."""
    found = ((path, segments_of(path, labels)) for path in itertools.product(range(len(labels)), repeat=n))
    return [path for path, s in found if s is not None and all(end - begin <= 2 for begin, end, _ in s)]


@examples(30)
@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=3),
    st.sampled_from([("perceptron", {"margin": 1.5}, None), ("pa1", {"C": 0.3}, None), ("mira", {"C": 0.5}, "auto")]),
    st.data(),
)
def test_rules_that_need_a_second_best_segmentation(data, options, draw):
    """What the rules want holds after an update: the leads are those of all segmentations."""
    rule, parameters, cost = options
    labels = ["B-X", "I-X", "O"]
    learner = SequenceLearner(
        labels, template="word\n@label[-1]", segments=True, max_segment=2, hypothesis="last", rule=rule, cost=cost,
        **parameters,
    )  # fmt: skip
    for words in data * 2:
        possible = short_segmentations(len(words), labels)
        target = draw.draw(st.sampled_from(possible))
        y = [labels[i] for i in target]
        updates = learner.updates
        before = {tuple(path): score for path, score in learner.k_best([words], len(possible))[0]}
        assert len(before) == len(possible)
        lead = before[tuple(y)] - max((s for path, s in before.items() if path != tuple(y)), default=-math.inf)
        looked_at = learner.dataset([words], [y], grow=False).sentences
        assert learner.core.leads(looked_at, None)[0] == pytest.approx(lead, abs=1e-5)
        learner.learn(words, y)
        if rule == "perceptron" and abs(lead - 1.5) > 1e-4:
            assert (learner.updates > updates) == (lead <= 1.5)
        if rule == "pa1" and abs(lead - 1) > 1e-4:
            assert (learner.updates > updates) == (lead < 1)
        if rule == "mira":
            cost_of = {path: sum(a != b for a, b in zip(path, y, strict=True)) for path in before}
            loss = max(cost_of[path] + score for path, score in before.items()) - before[tuple(y)]
            if abs(loss) > 1e-4:
                assert (learner.updates > updates) == (loss > 0)


@examples(40)
@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=4), st.data())
def test_semi_markov_runs_equal_brute_force(data, draw):
    """The perceptron over segmentations, every Φ written out."""
    labels = ["B-X", "I-X", "O"]
    learner = SequenceLearner(labels, template="word\n@label[-1]", segments=True, max_segment=2, hypothesis="last")
    v = {}
    for words in data * 2:
        possible = short_segmentations(len(words), labels)
        target = draw.draw(st.sampled_from(possible))
        scores = {path: sum(v.get(name, 0) for name in segment_phi(words, path, labels)) for path in possible}
        guess = min(possible, key=lambda path: (-scores[path], path[::-1]))
        assert learner.learn(words, [labels[y] for y in target]) == (guess != target)
        if guess != target:
            for name in segment_phi(words, target, labels):
                v[name] = v.get(name, 0) + 1
            for name in segment_phi(words, guess, labels):
                v[name] = v.get(name, 0) - 1
