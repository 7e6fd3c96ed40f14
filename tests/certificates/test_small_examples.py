"""Certificates of a few examples that a teacher may show: no margin is larger than the longest update."""

import math

import numpy as np

from perceptive import LinearClassifier, LinearRanker

LISTS = [[{"title match": 1, "age": 3}, {"age": 1}], [{"age": 2}, {"title match": 1}, {"spam": 1}]]


def test_two_lists_have_the_margin_that_separates_them():
    certificate = LinearRanker(certify=True).fit(LISTS, [0, 1]).certificate_
    assert certificate.separable
    assert certificate.deviation == 0.0
    assert certificate.updates <= certificate.bound
    assert math.isclose(certificate.bound, (certificate.radius / certificate.margin) ** 2)
    assert str(certificate).endswith("; only 4 rounds were played.")
    certificate = LinearRanker(certify=True, epochs=1).fit(LISTS[:1], [0]).certificate_
    assert str(certificate).endswith("; only 1 round was played.")


def test_no_margin_is_told_where_every_round_may_be_a_mistake():
    X, y = np.repeat(np.eye(2), 2, axis=0), [0, 1, 0, 1]  # each row has both labels
    certificate = LinearClassifier(certify=True, epochs=2, bias=0.0).fit(X, y).certificate_
    assert not certificate.separable
    assert certificate.vacuous
    assert certificate.margin == certificate.deviation == math.inf
    assert "γ" not in str(certificate)


def test_margins_are_at_most_the_radius_where_little_is_gained_by_more():
    table = np.array([[1.0, 1.0, 1.0], [1.0, 3.0, 2.0], [1.0, 2.0, 4.0], [1.0, 3.0, 4.0], [1.0, 2.0, 3.0]])
    for seed in range(20):
        y = (table @ np.random.default_rng(seed).normal(size=3) > 0).astype(int)
        if 0 < y.sum() < len(y):
            found = LinearClassifier(certify=True, epochs=5, bias=0.0, random_state=seed).fit(table, y).certificate_
            assert found.updates <= found.bound * (1 + 1e-6)
            assert found.margin <= found.radius * (1 + 1e-6) or not found.vacuous or math.isinf(found.margin)


def test_a_bound_that_says_little_by_a_margin_that_no_vector_has():
    X = np.array([[1.0, 1.0], [3.0, 2.0], [2.0, 4.0], [3.0, 4.0], [2.0, 3.0]])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    certificate = LinearClassifier(certify=True).fit(X, [-1, 1, 1, 1, -1]).certificate_
    assert str(certificate) == "2 updates; the theorem allows 9; only 10 rounds were played."
    assert certificate.separable
    assert certificate.margin == math.inf
