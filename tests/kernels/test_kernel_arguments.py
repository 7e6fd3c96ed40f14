"""Arguments of kernels: columns, values, limits."""

import numpy as np
import pytest
import scipy.sparse as sp

from perceptive import KernelClassifier
from perceptive.kernels import (
    AllSubsequences,
    Gaussian,
    Linear,
    Precomputed,
    Spectrum,
    Subsequence,
    gram_embedding,
    is_psd,
    mercer_report,
)

# ---------------------------------------------------------------- plain words

X3 = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]])


def test_columns_go_by_name_and_number():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X3, columns=["a", "b"])
    expected = (X3 @ X3.T).tolist()
    for columns in (np.array(["a", "b"]), frame.columns[:2], ("a", "b"), [0, 1]):
        assert Linear().on(columns).gram(frame).tolist() == expected
    for columns in ("zz", ["a", "zz"], 9, [0, 9], "A"):
        with pytest.raises(ValueError, match=r"no such column; it has \['a', 'b'\]"):
            Linear().on(columns).gram(frame)
    for X in (X3, sp.csr_array(X3), frame):
        assert Linear().on(np.int64(1)).gram(X).tolist() == np.outer(X3[:, 1], X3[:, 1]).tolist()


def test_what_can_be_gone_through_once_will_do():
    kernel, texts = Spectrum(2) + Subsequence(1, 0.5) + 1, ["ab", "bc", "abc"]
    K = kernel.gram(texts)
    assert (kernel.gram(x for x in texts) == K).all()
    assert (kernel(iter(texts), iter(texts)) == K).all()
    assert (kernel.diag(iter(texts)) == K.diagonal()).all()
    assert (Linear().gram(iter(X3.tolist())) == X3 @ X3.T).all()
    assert str(mercer_report(kernel, iter(texts))) == str(mercer_report(kernel, texts))
    model = KernelClassifier(kernel=kernel).fit(iter(texts), [0, 1, 0])
    assert (model.predict(iter(texts)) == KernelClassifier(kernel=kernel).fit(texts, [0, 1, 0]).predict(texts)).all()
    assert model.partial_fit(iter(texts), [0, 1, 0]).predict(iter(texts)).tolist() == [0, 1, 0]


def test_reports_are_of_anything_that_is_a_kernel_elsewhere():
    assert mercer_report(lambda a, b: a * b, [1.0, 2.0]).rank == 1
    assert mercer_report("linear", X3).rank == 2
    assert not mercer_report(lambda a, b: a - b, [1.0, 2.0]).symmetric


@pytest.mark.parametrize(
    ("A", "message"),
    [
        (np.zeros((0, 0)), "give a square matrix"),
        ("foo", "square matrix of numbers"),
        (sp.eye_array(2), r"A\.toarray\(\)"),
        ([[np.nan]], r"A\[0, 0\] is nan"),
        (np.eye(2) * 1j, "Complex data"),
    ],
)
def test_matrices_that_are_none_are_refused(A, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Linear(A)


def test_a_class_is_no_kernel():
    with pytest.raises(TypeError, match=r"a class of kernels; give one of them, Gaussian\(…\)"):
        KernelClassifier(kernel=Gaussian).fit(X3, [0, 1, 0])
    with pytest.raises(ValueError, match=r"too many positional arguments; it is poly\(degree, c\)"):
        KernelClassifier(kernel="poly(2,3,4)").fit(X3, [0, 1, 0])


@pytest.mark.parametrize("dtype", [int, "float16", "zzz", complex])
def test_values_are_of_two_kinds(dtype):
    for made in (lambda: Linear().gram(X3, dtype=dtype), lambda: Linear()(X3, X3[:1], dtype=dtype)):
        with pytest.raises(ValueError, match="kernel values are float32 or float64"):
            made()
    assert Linear().gram(X3, dtype="float32").dtype == np.float32


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.eye(2) * 1j, "Complex data not supported"),
        (sp.csr_array(np.eye(2) * 1j), "Complex data not supported"),
        (np.ma.masked_array(np.eye(2), mask=np.eye(2) > 0), "masked array; drop"),
    ],
)
def test_numbers_that_would_lose_a_part_are_refused(X, message):
    made = [Linear().gram, Gaussian(gamma=1).diag, KernelClassifier(kernel="linear").fit, is_psd, gram_embedding]
    made += [Precomputed().gram, KernelClassifier(kernel="precomputed").fit]
    for f in made[: 3 if sp.issparse(X) else None]:
        with pytest.raises(ValueError, match=message):
            f(X, [0, 1]) if f.__name__ == "fit" else f(X)


def test_subsequences_beyond_all_numbers_are_refused():
    with pytest.raises(ValueError, match="take Subsequence, or shorter texts"):
        AllSubsequences().normalized().gram(["a" * 1200])


def test_threads_share_the_exponentials_of_a_gaussian(monkeypatch):
    X = np.random.default_rng(2).normal(size=(500, 4))
    alone = Gaussian(gamma=0.3).gram(X)
    monkeypatch.setattr("perceptive.kernels.vectors.MANY", 1)
    monkeypatch.setattr("perceptive.kernels.vectors.IN_CACHE", 2**10)
    assert (Gaussian(gamma=0.3).gram(X) == alone).all()


def test_kernels_of_scikit_learn_are_refused_with_the_cure():
    from sklearn.gaussian_process.kernels import RBF

    with pytest.raises(TypeError, match=r"compares whole matrices; give one of perceptive\.kernels"):
        KernelClassifier(kernel=RBF()).fit(X3, [0, 1, 0])
