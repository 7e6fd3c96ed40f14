"""What the lecture notes say about kernels, worked out."""

import numpy as np
import pytest
from scipy.optimize import linprog

from perceptive import KernelClassifier, LinearClassifier
from perceptive.kernels import Gaussian, Linear, Polynomial, Quadratic, gram_embedding, is_psd, mercer_report
from perceptive.kernels.feature_maps import count_features

# 001, question 4
X4 = np.array([[1, 1], [0, 3], [1, -1], [3, 0], [-1, 1], [0, -3], [-1, -1], [-3, 0]], dtype=float)
Y4 = np.array([1, -1, 1, -1, 1, -1, 1, -1])
XOR, XOR_Y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float), np.array([-1, 1, 1, -1])
ANGLES = np.arange(12) * np.pi / 6
CIRCLE = np.vstack([np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]) * r for r in (1.0, 2.0)])
CIRCLE_Y = np.repeat([1, -1], 12)


def separable(K, y):
    """Whether some α with y_i Σ_j α_j K_ij ≥ 1 exists: linear separability in the span of the examples."""
    found = linprog(np.zeros(len(y)), A_ub=-(y[:, None] * K), b_ub=-np.ones(len(y)), bounds=(None, None))
    return found.status == 0


def full(clf, n):
    alpha = np.zeros(n)
    alpha[clf.support_] = clf.alpha_
    return alpha.tolist()


def test_question_4_dual():
    start = [1, 0, 0, 0, 0, 0, 0, 0]

    def run(n, ties="mistake"):
        clf = KernelClassifier(kernel=Linear(), shuffle=False, epochs=1, hypothesis="last", ties=ties)
        return clf.fit(X4[:n], Y4[:n], alpha_init=start[:n])

    assert full(run(2), 8) == [1, -1, 0, 0, 0, 0, 0, 0]
    assert full(run(4), 8) == [1, -1, 0, -1, 0, 0, 0, 0]
    whole = run(8)
    assert full(whole, 8) == [1, -1, 0, -1, 1, -1, 0, -1]
    mistakes = [clf.mistakes_[0] for clf in (run(2), run(3), run(4))]
    assert mistakes == [1, 1, 2]  # points 2 and 4
    counts = whole.alpha_counts_
    assert (counts > 0).all()
    assert (counts * np.array(Y4)[whole.support_]).tolist() == whole.alpha_.tolist()


def test_question_4_primal_is_the_dual():
    primal = LinearClassifier(bias=0.0, shuffle=False, epochs=1, hypothesis="last")
    for n, w in ((2, [1, -2]), (4, [-2, -2])):
        primal.fit(X4[:n], Y4[:n], coef_init=[[1, 1]])
        assert primal.coef_.tolist() == [w]
        dual = KernelClassifier(kernel=Linear(), shuffle=False, epochs=1, hypothesis="last")
        dual.fit(X4[:n], Y4[:n], alpha_init=[1] + [0] * (n - 1))
        assert (dual.alpha_ @ dual.support_vectors_).tolist() == w


class TestSixStatements:
    """001, question 4 (i)."""

    def test_not_linearly_separable_both_hulls_hold_0(self):
        for label in (1, -1):
            assert X4[label == Y4].mean(axis=0).tolist() == [0, 0]
        assert not separable(X4 @ X4.T + 1, Y4)

    def test_squares_and_one_separate(self):
        phi = np.column_stack([X4**2, np.ones(8)])
        assert separable(phi @ phi.T, Y4)
        clf = KernelClassifier(kernel=Linear().after(lambda x: [x[0] ** 2, x[1] ** 2, 1.0]), epochs=100).fit(X4, Y4)
        assert clf.converged_

    def test_some_kernel_separates(self):
        clf = KernelClassifier(kernel=Quadratic(), epochs=200, hypothesis="last").fit(X4, Y4)
        assert clf.converged_
        assert (clf.predict(X4) == Y4).all()

    def test_a_full_rank_gaussian_separates_any_consistent_labels(self):
        K = Gaussian(gamma=1.0).gram(X4)
        assert np.linalg.matrix_rank(K) == 8
        for bits in range(1, 255, 7):
            y = np.array([1 if bits >> i & 1 else -1 for i in range(8)])
            clf = KernelClassifier(kernel=Gaussian(gamma=1.0), epochs=500, hypothesis="last").fit(X4, y)
            assert clf.converged_

    def test_contradictory_labels_defeat_every_kernel(self):
        X, y = np.vstack([X4, X4[:1]]), np.append(Y4, -Y4[0])
        for kernel in (Linear(), Quadratic(), Gaussian(gamma=5.0)):
            assert not separable(kernel.gram(X) + 1, y)

    def test_the_zero_kernel_separates_nothing(self):
        zero = 0 * Linear()
        K = zero.gram(X4)
        assert not K.any()
        assert is_psd(K)
        clf = KernelClassifier(kernel=zero, epochs=3).fit(X4, Y4)
        assert clf.mistakes_.tolist() == [
            8,
        ]
        assert clf.updates_.tolist() == [0]


def test_phi_of_the_square():
    phi = Polynomial(2, c=0).feature_map(X4)
    x1, x2 = X4.T
    assert np.allclose(phi, np.column_stack([x1**2, np.sqrt(2) * x1 * x2, x2**2]))
    assert np.allclose(phi @ phi.T, Polynomial(2, c=0).gram(X4))


def test_H_of_section_5():
    """000, section 5: x_i x_j for all ordered pairs, √2 x_i, 1."""
    H = Quadratic().feature_map(X4, spelling="ordered")
    x1, x2 = X4.T
    r = np.sqrt(2)
    assert np.allclose(H, np.column_stack([x1 * x1, x1 * x2, x2 * x1, x2 * x2, r * x1, r * x2, np.ones(8)]))
    assert H.shape[1] == 2**2 + 2 + 1
    merged = Quadratic().feature_map(X4)
    assert np.allclose(merged, np.column_stack([np.ones(8), r * x1, r * x2, x1**2, r * x1 * x2, x2**2]))
    for phi in (H, merged):
        assert np.allclose(phi @ phi.T, Quadratic().gram(X4))


@pytest.mark.parametrize(("X", "y"), [(XOR, XOR_Y), (CIRCLE, CIRCLE_Y)], ids=["xor", "circle"])
def test_xor_and_circle(X, y):
    clf = KernelClassifier(kernel=Quadratic(), epochs=200, hypothesis="last").fit(X, y)
    assert clf.converged_
    assert (clf.predict(X) == y).all()
    assert separable(Quadratic().gram(X), y)
    assert not separable(Linear().gram(X) + 1, y)
    bare = Polynomial(2, c=0)
    assert not separable(bare.gram(X), y)
    assert KernelClassifier(kernel=bare, epochs=50).fit(X, y).mistakes_[-1] > 0
    assert KernelClassifier(kernel=bare, bias=1.0, epochs=200).fit(X, y).mistakes_[-1] == 0


def test_a_thousand_inputs_have_500500_quadratic_features():
    assert count_features(1000, 2, constant=False) == 500_500
    with pytest.raises(ValueError, match="500,500"):
        Polynomial(2, c=0).feature_map(np.ones((4000, 1000)))


def test_gaussian_taylor_features():
    """004's third term slips; term j is √((2γ)^j/j!) x^j (see the errata)."""
    x = np.linspace(-1.2, 1.2, 9)[:, None]
    k = Gaussian(gamma=0.5)
    phi = k.feature_map(x, order=2)
    damping = np.exp(-0.5 * x[:, 0] ** 2)
    assert np.allclose(phi, damping[:, None] * np.column_stack([np.ones(9), x, np.sqrt(2) * 0.5 * x**2]))
    for order in range(8):
        phi = k.feature_map(x, order=order)
        worst = np.abs(phi @ phi.T - k.gram(x)).max()
        assert worst <= k.truncation_error(x, order) + 1e-12
    assert worst < 1e-3
    assert k.truncation_error(x, 0) <= 25 * np.abs(k.feature_map(x, order=0) ** 2 - k.gram(x)).max()


def test_a_positive_diagonal_is_not_enough():
    """002's slip (see the errata)."""
    assert not is_psd([[1, 2], [2, 1]])
    with pytest.raises(ValueError, match="not positive semidefinite"):
        gram_embedding([[1, 2], [2, 1]])


def test_mercer_report_has_a_witness():
    from perceptive.kernels import Custom

    report = mercer_report(Custom(lambda a, b: abs(a - b)), [0.0, 1.0, 3.0])
    assert not report.psd
    K = np.abs(np.subtract.outer([0.0, 1.0, 3.0], [0.0, 1.0, 3.0]))
    assert report.witness @ K @ report.witness == pytest.approx(report.smallest)
    assert report.smallest < 0
    assert mercer_report(Gaussian(gamma=1.0), X4).psd
    lopsided = mercer_report(Custom(lambda a, b: a - b), [0.0, 1.0, 3.0])
    assert not lopsided.symmetric
    assert lopsided.pair == (0, 2)
