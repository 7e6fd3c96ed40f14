"""Lemmas 3 and 4 and Theorem 2 of the notes (`000_…` §3.2), the latter two corrected, at every step of random games."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive import LinearRanker, reference
from perceptive.certificates import certify
from perceptive.learners import RankingLearner, SequenceLearner

checked = examples(80)


def separable_game(rng, rounds, length, d=4, gamma=0.2, positive=False):
    """Lists of unit-ball candidates whose best leads by γ under a hidden unit u; returns lists, bests and u."""
    u = rng.normal(size=d)
    if positive:
        u = np.abs(u)
    u /= np.linalg.norm(u)
    lists, bests = [], []
    while len(lists) < rounds:
        xs = rng.normal(size=(length, d))
        if positive:
            xs = np.abs(xs)
        xs /= np.maximum(1.0, np.linalg.norm(xs, axis=1))[:, None]
        scores = xs @ u
        best = int(np.argmax(scores))
        keep = (scores <= scores[best] - gamma) | (np.arange(length) == best)
        if keep.sum() >= 2:
            lists.append(xs[keep])
            bests.append(int(np.count_nonzero(keep[:best])))
    return lists, bests, u


def sparse(xs):
    return [[(j, float(v)) for j, v in enumerate(x)] for x in xs]


def play_and_check(lists, bests, u, gamma, passes=2, pairs="best"):
    """Play the twin; at every step Lemma 3, Lemma 4 with R_δ, and Theorem 2 must hold."""
    twin = reference.Ranking(len(u), pairs=pairs)
    largest = 0.0
    for _ in range(passes):
        for xs, best in zip(lists, bests, strict=True):
            v = np.array(twin.v)
            twin.learn(sparse(xs), best)
            largest = max(largest, float(np.sum((np.array(twin.v) - v) ** 2)))
            k, after = twin.updates, np.array(twin.v)
            assert after @ u >= k * gamma - 1e-9  # Lemma 3
            assert after @ after <= k * largest + 1e-9  # Lemma 4, corrected
            assert k <= largest / gamma**2 + 1e-9  # Theorem 2, corrected
    return twin, largest


@given(seed=st.integers(0, 10**6), length=st.integers(2, 12), pairs=st.sampled_from(["best", "worst", "all"]))
@checked
def test_the_lemmas_hold_at_every_step(seed, length, pairs):
    rng = np.random.default_rng(seed)
    lists, bests, u = separable_game(rng, 15, length)
    twin, largest = play_and_check(lists, bests, u, 0.2, pairs=pairs)
    assert largest <= 4.0 + 1e-9  # R_δ ≤ 2·radius
    assert twin.mistakes == twin.updates


@given(seed=st.integers(0, 10**6), length=st.integers(2, 12))
@checked
def test_the_notes_constant_holds_where_candidates_agree(seed, length):
    """x_ℓ·x_j ≥ 0 gives ‖x_ℓ − x_j‖² ≤ 2R², and so k ≤ 2(R/γ)²."""
    lists, bests, u = separable_game(np.random.default_rng(seed), 15, length, gamma=0.1, positive=True)
    assert all((xs @ xs.T >= 0).all() for xs in lists)
    twin, largest = play_and_check(lists, bests, u, 0.1)
    radius2 = max(float(np.max(np.sum(xs**2, axis=1))) for xs in lists)
    assert largest <= 2 * radius2 + 1e-9
    assert twin.updates <= 2 * radius2 / 0.1**2


@pytest.mark.parametrize("n", [2, 7, 50])
def test_the_notes_constant_is_wrong(n):
    """Lists [−e_i, e_i], best the second: n mistakes and ‖v‖² = 4k, where the notes allow n/2 and 2k."""
    twin = reference.Ranking(n)
    learner = RankingLearner(dtype="float64")
    for i in range(n):
        twin.learn([[(i, -1.0)], [(i, 1.0)]], 1)
        e = np.eye(n)[i]
        learner.learn(np.array([-e, e]), 1)
    k, radius2 = twin.mistakes, 1.0
    # u = (1, …, 1)/√n has u·x_ℓ − u·x_j = 2/√n on every list
    gamma = 2 / math.sqrt(n)
    assert k == learner.mistakes == n
    assert sum(v * v for v in twin.v) == 4 * k > 2 * k * radius2  # Lemma 4 as the notes have it fails
    assert k > 2 * radius2 / gamma**2 == pytest.approx(n / 2)  # and so does Theorem 2
    assert k <= 4 / gamma**2 + 1e-9  # R_δ = 2: tight
    lists = np.vstack([[-e, e] for e in np.eye(n)])
    certificate = certify(learner, lists, [0, 1] * n, sizes=[2] * n)
    assert certificate.bound == pytest.approx(n)
    assert not certificate.hypothetical


def test_the_bound_does_not_depend_on_the_length_of_the_lists():
    """The same best and closest rival, with ever more candidates that are further off: the same mistakes and bound."""
    rng = np.random.default_rng(5)
    u = np.array([1.0, 0.0, 0.0])
    pairs = rng.normal(size=(40, 2, 3)) * 0.3
    pairs[:, 0, 0], pairs[:, 1, 0] = 0.5, 0.0
    bounds, mistakes = [], []
    for length in (2, 10, 200):
        lists = [np.vstack([pair, np.repeat(pair[1:], length - 2, axis=0)]) for pair in pairs]
        ranker = LinearRanker(epochs=20, dtype="float64", certify=True).fit(lists, [0] * len(lists))
        given_u = ranker.certificate(lists, [0] * len(lists), witness=u)
        assert given_u.updates <= (given_u.radius / 0.5) ** 2
        bounds.append(ranker.certificate_.bound)
        mistakes.append(ranker.mistakes_.tolist())
    assert bounds[0] == pytest.approx(bounds[1]) == pytest.approx(bounds[2])
    assert mistakes[0] == mistakes[1] == mistakes[2]


@pytest.mark.parametrize("rule", ["perceptron", "pa", "pa1", "pa2", "mira"])
@pytest.mark.parametrize("pairs", ["best", "worst", "all"])
@given(seed=st.integers(0, 10**6), noise=st.sampled_from([0.0, 0.3]), delta=st.sampled_from([0.0, 1.0]))
@examples(16)
def test_no_run_exceeds_its_certificate(rule, pairs, seed, noise, delta):
    rng = np.random.default_rng(seed)
    lists, bests, _ = separable_game(rng, 14, 5)
    lists.append(np.repeat(lists[0][:1], 2, axis=0))  # two that are the same: a mistake each time
    bests.append(1)
    bests = [int(rng.integers(len(xs))) if rng.random() < noise else b for xs, b in zip(lists, bests, strict=True)]
    ranker = LinearRanker(rule=rule, pairs=pairs, epochs=5, delta=delta, dtype="float64", keep="all", certify=True)
    ranker.fit(lists, bests)
    certificate = ranker.certificate_
    assert certificate.holds
    assert not certificate.hypothetical
    assert certificate.rounds == 15 * ranker.n_iter_
    if certificate.theorem:
        assert not ranker.certificate(lists, bests).hypothetical
    assert ranker.certificate(lists[:-2], bests[:-2]).hypothetical


def test_certificates_on_a_fixed_game():
    lists, bests, u = separable_game(np.random.default_rng(3), 60, 6, gamma=0.3)
    ranker = LinearRanker(epochs=50, dtype="float64", certify=True).fit(lists, bests)
    assert ranker.converged_
    assert ranker.certificate_.separable
    given_u = ranker.certificate(lists, bests, witness=u)
    assert given_u.updates <= given_u.bound <= min(ranker.certificate_.bound, (given_u.radius / 0.3) ** 2) + 1e-9


def test_the_delta_trick_converges_on_noise():
    """The same list with two answers can never be right; an id feature for each list makes it so."""
    lists, bests = [np.eye(2)] * 2, [0, 1]
    assert not LinearRanker(epochs=100).fit(lists, bests).converged_
    ranker = LinearRanker(epochs=100, delta=1.0, certify=True, dtype="float64").fit(lists, bests)
    assert ranker.converged_
    assert ranker.certificate_.holds
    assert "Δ" in ranker.certificate_.theorem


@pytest.mark.core
@given(seed=st.integers(0, 10**6))
@examples(20)
def test_ranking_all_labelings_is_tagging_by_viterbi(seed):
    """§4: a labeling is a candidate. Over all 2ⁿ of them find_best is Viterbi, and learning gives the same weights.

    The candidates stand in Viterbi's order of ties (the last label first); a hair's breadth of margin makes a tie an
    update for both, as it is for the ranker anyway.
    """
    rng = np.random.default_rng(seed)
    tagger = SequenceLearner(["A", "B"], template=["word", "@label[-1]"], margin=1e-9, hypothesis="last")
    ranker = RankingLearner(margin=1e-9, hypothesis="last", dtype="float64")
    words = ["u", "v", "w"]

    def labelings(x):
        return sorted(itertools.product("AB", repeat=len(x)), key=lambda labels: labels[::-1])

    def phi(x, labels):
        names = [f"{word} {label}" for word, label in zip(x, labels, strict=True)]
        return dict(Counter([*names, *map(" -> ".join, itertools.pairwise(labels))]))

    for _ in range(25):
        x = [words[i] for i in rng.integers(0, 3, size=rng.integers(1, 6))]
        truth = tuple("AB"[(word == "v") ^ (rng.random() < 0.2)] for word in x)
        candidates = labelings(x)
        vectors = [phi(x, labels) for labels in candidates]
        if ranker.vectors:
            assert candidates[ranker.find_best(vectors)] == tuple(tagger.predict(x))
        ranker.learn(vectors, candidates.index(truth))
        tagger.learn(x, truth)
        assert ranker.updates == tagger.updates
    mine = dict(zip(ranker.space.vocabulary.names(), ranker.vector.vector("last")[0][:, 0].tolist(), strict=False))
    theirs = {}
    for feature, label, weight in tagger.heaviest(10**6):
        word = feature.partition(" = ")[2]
        theirs[f"{word} {label}" if word else label.replace("→", "->")] = weight
    assert theirs == {name: weight for name, weight in mine.items() if weight}
