"""What a certificate says, and whose data it is about."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given

from perceptive import LinearClassifier, certify
from perceptive.games import noisy_game, separable_game
from perceptive.learners import LinearLearner
from perceptive.learners.linear import ALL
from test_theorems import SEEDS, fit, quick

# ---------------------------------------------------------------- what a certificate says


@quick
@given(SEEDS)
def test_convergence_is_a_proof_of_separability(seed):
    X, y, _ = separable_game(30, 3, 0.05, 1.0, seed)
    assume(len(set(y)) == 2)
    clf = fit(X, y, epochs=5000, bias=1.0)
    assert clf.converged_
    assert clf.certificate_.separable  # the last vector separates, whichever gave the smallest bound


@quick
@given(SEEDS)
def test_the_sentence_names_a_margin_only_where_it_is_one(seed):
    X, y, _ = separable_game(30, 3, 0.05, 1.0, seed)
    assume(len(set(y)) == 2)
    clf = fit(X, y, epochs=5000)
    if "separates the examples with margin" in str(clf.certificate_):
        w = clf.learner_.vectors[ALL].vector(clf.certificate_.witness)[0][:, 0]
        assert (y * (X @ w)).min() / np.linalg.norm(w) == pytest.approx(clf.certificate_.margin, rel=1e-5)


def test_a_run_that_ends_at_zero_is_certified():
    """Two examples that undo each other: v = 0 is no witness, but k ≤ rounds needs none."""
    certificate = fit([[1.0], [1.0]], [1, -1], hypothesis="last", epochs=3).certificate_
    assert certificate.updates == 6
    assert certificate.theorem
    assert certificate.bound == pytest.approx(6)
    assert "no bound is known for this rule" not in str(certificate)


def test_pairs_that_never_played_do_not_spoil_the_sum():
    X, y = [[1.0, 0.0], [0.0, 1.0]], [2, 3]
    clf = LinearClassifier(multiclass="ovo").partial_fit(X, y, classes=[0, 1, 2, 3])
    certificate = clf.certificate(X, y)
    assert certificate.theorem
    assert certificate.holds
    assert certificate.bound <= certificate.rounds * (1 + 1e-6)


def test_weighted_delta_trick_is_certified():
    """A light example takes many small steps to be told apart by its id feature."""
    clf = fit([[1.0], [1.0]], [1, -1], [1.0, 1e-3], delta=1.0, epochs=5000)
    assert clf.converged_
    assert clf.certificate_.holds


def test_delta_trick_over_several_calls_is_certified():
    """Rows that come again in another call are other rows to the Δ-trick: D counts once per call."""
    clf = LinearClassifier(bias=0.0, delta=1.0)
    X, y = [[1.0], [1.0]], [1, -1]
    for _ in range(10):
        clf.partial_fit(X, y)
    certificate = clf.certificate(X, y)
    assert certificate.holds or certificate.hypothetical


def test_certificate_counts_k_over_m_of_the_first_pass():
    X, y, _ = noisy_game(50, 3, 0.1, 1.0, 0.2, 5)
    for shuffle, epochs in itertools.product((False, True), (1, 4)):
        clf = fit(X, y, epochs=epochs, shuffle=shuffle)
        assert clf.certificate_.first_epoch_error == clf.mistakes_[0] / 50
    learner = LinearLearner(classes=[-1, 1])
    for x, label in zip(X, y, strict=True):
        learner.learn(x, label)
    assert certify(learner, X, y).first_epoch_error == learner.mistakes / 50


def test_arow_and_noisy_romma_claim_nothing():
    X, y, _ = noisy_game(30, 3, 0.1, 1.0, 0.3, 1)
    assert not fit(X, y, rule="arow").certificate_.theorem
    assert math.isinf(fit(X, y, rule="arow").certificate_.bound)
    assert math.isinf(fit(X, y, rule="romma").certificate_.bound)


# ---------------------------------------------------------------- whose certificate it is


@pytest.mark.core
class TestSameData:
    X, y, _ = noisy_game(40, 4, 0.1, 1.0, 0.1, 0)
    clf = LinearClassifier(epochs=3, certify=True).fit(X, y)

    def is_hypothetical(self, X, y, weight=None):
        return self.clf.certificate(X, y, weight).hypothetical

    def test_same_in_any_order(self):
        order = np.random.default_rng(0).permutation(40)
        assert not self.is_hypothetical(self.X, self.y)
        assert not self.is_hypothetical(self.X[order], self.y[order])

    def test_same_dense_or_sparse(self):
        for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix):
            assert not self.is_hypothetical(kind(self.X), self.y)
        clf = LinearClassifier().fit(sp.csr_array(self.X), self.y)
        dense, sparse = clf.certificate(self.X, self.y), clf.certificate(sp.csr_array(self.X), self.y)
        assert not dense.hypothetical
        assert dense.bound == pytest.approx(sparse.bound)

    def test_same_with_unit_weights(self):
        assert not self.is_hypothetical(self.X, self.y, np.ones(40))

    def test_other_values_labels_rows_or_weights(self):
        X, y = self.X.copy(), self.y.copy()
        X[7, 2] *= 1.001
        y[3] *= -1
        swapped = self.X.copy()
        swapped[5, [0, 1]] = swapped[5, [1, 0]]
        exchanged = self.y.copy()
        a, b = np.flatnonzero(exchanged == 1)[0], np.flatnonzero(exchanged == -1)[0]
        exchanged[[a, b]] = exchanged[[b, a]]
        assert self.is_hypothetical(X, self.y)
        assert self.is_hypothetical(self.X, y)
        assert self.is_hypothetical(swapped, self.y)
        assert self.is_hypothetical(self.X, exchanged)
        assert self.is_hypothetical(self.X[:-1], self.y[:-1])
        assert self.is_hypothetical(self.X[::2], self.y[::2])
        assert self.is_hypothetical(np.vstack([self.X, self.X[:1]]), np.append(self.y, self.y[0]))
        assert self.is_hypothetical(self.X, self.y, np.full(40, 2.0))

    def test_weights_are_part_of_the_data(self):
        weight = np.arange(40) % 3
        clf = LinearClassifier(epochs=2).fit(self.X, self.y, weight)
        order = np.random.default_rng(1).permutation(40)
        assert not clf.certificate(self.X[order], self.y[order], weight[order]).hypothetical
        assert clf.certificate(self.X, self.y).hypothetical
        assert clf.certificate(self.X, self.y, weight[::-1]).hypothetical
        assert clf.certificate(self.X, self.y, weight).holds
        played = weight > 0  # what has no weight was not there
        assert not clf.certificate(self.X[played], self.y[played], weight[played]).hypothetical

    def test_held_out_rows_were_not_played(self):
        clf = LinearClassifier(validation_fraction=0.25, certify=True).fit(self.X, self.y)
        assert not clf.certificate_.hypothetical
        assert clf.certificate_.holds
        assert clf.certificate(self.X, self.y).hypothetical

    def test_hypothetical_says_so(self):
        X, y, _ = separable_game(40, 4, 0.2, 1.0, 8)
        clf = LinearClassifier(epochs=1, bias=0.0).fit(X, y)
        certificate = clf.certificate(2 * X, y)
        assert certificate.hypothetical
        assert "other than the run's" in str(certificate)
        assert certificate.radius == pytest.approx(np.linalg.norm(2 * X, axis=1).max(), rel=1e-6)

    def test_stream_then_whole(self):
        learner = LinearLearner(classes=[-1, 1])
        for x, label in zip(self.X, self.y, strict=True):
            learner.learn(x, label)
        assert not certify(learner, self.X, self.y).hypothetical
        assert certify(learner, self.X[:20], self.y[:20]).hypothetical
