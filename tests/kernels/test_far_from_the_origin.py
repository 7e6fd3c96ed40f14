"""Gaussian kernels of points whose distances are small beside their lengths: timestamps, say."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from perceptive import KernelClassifier, load, save
from perceptive.kernels import Gaussian, Laplacian
from perceptive.kernels.vectors import scale_of

pytestmark = pytest.mark.core


def test_a_value_far_from_the_origin():
    assert Gaussian(sigma=30).value([1.7e9], [1.7e9 + 30]) == pytest.approx(math.exp(-0.5), rel=1e-12)
    assert Gaussian(sigma=30).value([1.7e9, 0.0], [1.7e9, 60.0]) == pytest.approx(math.exp(-2.0), rel=1e-12)


@pytest.mark.parametrize("origin", [0.0, 1e3, 1e6, 1.7e9, 1e12])
@pytest.mark.parametrize("form", ["dense", "sparse", "mixed"])
def test_the_gram_matrix_does_not_depend_on_the_origin(origin, form):
    steps = np.random.default_rng(0).integers(-100, 100, size=(60, 3)).astype(float)  # exact after translation
    kernel, X = Gaussian(sigma=30), steps + origin
    A = X if form == "dense" else sp.csr_array(X)
    B = sp.csr_array(X) if form == "sparse" else X
    differences = steps[:, None, :] - steps[None, :, :]
    expected = np.exp(-(differences**2).sum(axis=2) / (2 * 30**2))
    K = kernel(A, B)
    np.testing.assert_allclose(K, expected, rtol=0, atol=1e-8)
    gram = kernel(A)
    assert (gram == gram.T).all()
    assert (gram.diagonal() == 1.0).all()
    assert np.linalg.eigvalsh(gram)[0] > -1e-8
    np.testing.assert_allclose(kernel(A[:7], B), K[:7], rtol=0, atol=1e-8)
    assert kernel.value(X[0], X[1]) == pytest.approx(expected[0, 1], abs=1e-8)


def test_sparse_rows_of_many_columns_are_written_out_some_at_a_time():
    rng = np.random.default_rng(1)
    X = sp.random_array((40, 50_000), density=0.001, rng=rng, format="csr")
    X.data += 1e9
    kernel, dense = Gaussian(gamma=1e-18), X.toarray()
    exact = np.exp(-1e-18 * ((dense[:, None, :10] - dense[None, :, :10]) ** 2).sum(axis=2))
    assert kernel(X[:, :10]) == pytest.approx(exact)
    far = Gaussian(gamma=1e-9)
    assert far(X).tobytes() == far(X).T.copy().tobytes()
    assert Laplacian(gamma=1e-9)(X).tobytes() == Laplacian(gamma=1e-9)(X).T.copy().tobytes()
    assert Laplacian(gamma=1e-10)(X[:5], X) == pytest.approx(Laplacian(gamma=1e-10)(dense[:5], dense))


def test_the_scale_of_sparse_rows_is_that_of_dense_ones():
    X = 1e9 + np.random.default_rng(2).normal(size=(50, 4))
    assert scale_of(sp.csr_array(X)) == pytest.approx(scale_of(X), rel=1e-6)


def test_timestamps_are_learned_in_float64(tmp_path):
    rng = np.random.default_rng(3)
    X = 1.7e9 + rng.integers(0, 2000, size=(120, 1))
    y = (X[:, 0] // 250) % 2
    clf = KernelClassifier(kernel=Gaussian(sigma=30), hypothesis="last", dtype="float64", epochs=200).fit(X, y)
    assert clf.converged_
    assert clf.score(X, y) == 1.0
    near = KernelClassifier(kernel=Gaussian(sigma=30), hypothesis="last", dtype="float64", epochs=200)
    assert near.fit(X - 1.7e9, y).mistakes_.tolist() == clf.mistakes_.tolist()
    save(clf, tmp_path / "model")
    assert load(tmp_path / "model").decision_function(X).tolist() == clf.decision_function(X).tolist()
