"""Metrics of rankings, and queries that cannot be."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import label_ranking_average_precision_score, ndcg_score

from examples import examples
from perceptive import KernelRanker, LinearRanker
from perceptive.evaluation import metrics

pytestmark = pytest.mark.core


# ---------------------------------------------------------------- metrics


@given(st.integers(0, 10**6), st.sampled_from([None, 1, 3]), st.booleans())
@examples(40)
def test_ndcg_and_map_are_scikit_learns(seed, k, ties):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 9, size=6)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    grades = rng.integers(0, 4, size=starts[-1]).astype(float)
    scores = rng.integers(0, 5, size=starts[-1]).astype(float) if ties else rng.normal(size=starts[-1])
    parts = [(grades[a:b], scores[a:b]) for a, b in pairwise(starts)]
    parts = [(g, s) for g, s in parts if g.max() > g.min()]
    if not parts:
        assert np.isnan(metrics.ndcg(grades, scores, starts, k))
        return
    expected = np.mean([ndcg_score([g], [s], k=k) for g, s in parts])
    assert metrics.ndcg(grades, scores, starts, k) == pytest.approx(expected)
    exponential = np.mean([ndcg_score([2**g - 1], [s], k=k) for g, s in parts])
    assert metrics.ndcg(grades, scores, starts, k, exponential=True) == pytest.approx(exponential)
    if not ties:
        told = [(g > 0, s) for g, s in parts if (g == 0).any()]
        if told:
            expected = np.mean([label_ranking_average_precision_score([g], [s]) for g, s in told])
            assert metrics.mean_average_precision(grades, scores, starts) == pytest.approx(expected)


def test_exponential_gains_of_large_grades_do_not_overflow():
    starts, scores = np.array([0, 2]), np.array([1.0, 2.0])
    of_large = metrics.ndcg(np.array([3000.0, 2998.0]), scores, starts, exponential=True)
    gains = np.array([1.0, 0.25]) @ (1 / np.log2([3.0, 2.0]))  # in proportion: 2^3000 and 2^2998
    assert of_large == pytest.approx(gains / (np.array([1.0, 0.25]) @ (1 / np.log2([2.0, 3.0]))))


def test_top1_and_mrr_by_hand():
    grades = np.array([0, 1, 2, 2, 0, 0, 5.0])
    scores = np.array([3, 2, 1, 2.5, 1, 1, 9.0])
    starts = np.array([0, 4, 6, 7])  # the second list and the third tell nothing
    assert metrics.top1(grades, scores, starts) == 0.0
    assert metrics.mrr(grades, scores, starts) == 0.5
    assert np.isnan(metrics.top1(grades[4:], scores[4:], np.array([0, 2, 3])))
    with pytest.raises(ValueError, match="not negative"):
        metrics.ndcg(-grades, scores, starts)


@pytest.mark.parametrize("kernel", [None, "linear", "spectrum(2)"])
def test_what_is_missing_is_named(kernel):
    one = ["ab", "cd"] if kernel == "spectrum(2)" else [[1.0, 0.0], [0.0, 1.0]]
    ranker = LinearRanker() if kernel is None else KernelRanker(kernel=kernel)
    with pytest.raises(ValueError, match="list 1: the list has no candidates"):
        ranker.fit([one, []], [0, 0])
    ranker.fit([one], [0])
    with pytest.raises(ValueError, match="there are no lists; give at least one"):
        ranker.predict([])


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([1, None, 1], "qid holds NoneType and numbers"),
        ([None, None, None], "qid holds NoneType;"),
        ([1, "a", 1], "qid holds names and numbers"),
        (np.array([1, "a", 1], dtype=object), "qid holds names and numbers"),
        (np.array([1, np.nan, 1], dtype=object), "qid contains NaN"),
        ([1, [2], 1], "one query for each of the 3 rows"),
    ],
)
def test_bad_queries(qid, message):
    with pytest.raises(ValueError, match=message):
        LinearRanker().fit(np.eye(3), [1, 0, 0], qid=qid)


def test_queries_may_be_names_in_any_array():
    for qid in (["b", "b", "a"], np.array(["b", "b", "a"]), np.array(["b", "b", "a"], dtype=object)):
        ranker = LinearRanker(hypothesis="last").fit(np.eye(3), [1, 0, 0], qid=qid)
        assert ranker.predict(np.eye(3), qid=qid).tolist() == [0, 2]


def test_grades_that_differ_beyond_all_numbers_are_refused():
    for ranker in (LinearRanker(cost="grade"), KernelRanker(kernel="linear")):
        with pytest.raises(ValueError, match="differ by more than a float can hold"):
            ranker.fit([[[1.0, 0.0], [0.0, 1.0]]], [[-1e308, 1e308]])


@pytest.mark.parametrize("metric", [metrics.top1, metrics.mrr, metrics.mean_average_precision, metrics.ndcg])
def test_equal_scores_count_by_the_mean_over_their_orders(metric):
    rng = np.random.default_rng(4)
    for _ in range(30):
        n = int(rng.integers(2, 6))
        grades, scores = rng.integers(0, 3, n), rng.integers(0, 3, n).astype(float)
        if grades.max() == grades.min() or not 0 < (grades > 0).sum() < n:
            continue
        starts, nudges = np.array([0, n]), permutations(np.linspace(0.0, 0.5, n))
        orders = [metric(grades, scores + np.array(nudge), starts) for nudge in nudges]
        assert metric(grades, scores, starts) == pytest.approx(np.mean(orders), abs=1e-12)


def test_a_model_that_knows_nothing_gains_nothing_by_the_order_of_a_file():
    grades, scores, starts = np.array([2, 1, 0, 0]), np.zeros(4), np.array([0, 4])
    for metric in (metrics.top1, metrics.mrr, metrics.mean_average_precision, metrics.ndcg):
        assert metric(grades, scores, starts) == pytest.approx(metric(grades[::-1], scores, starts))
    assert metrics.top1(grades, scores, starts) == 0.25
