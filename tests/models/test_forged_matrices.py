"""Sparse matrices that are damaged or forged are refused before SciPy reads out of bounds."""

import numpy as np
import pytest
import scipy.sparse as sp

import perceptive
from perceptive import KernelClassifier, KernelRanker, LinearClassifier, model_file
from perceptive.model_file import ModelFileError

pytestmark = pytest.mark.core
X = sp.csr_array(np.eye(6) + np.eye(6, k=1))
Y = [0, 1] * 3


def classifier():
    return KernelClassifier(kernel="poly(2)").fit(X, Y)


def ranker():
    return KernelRanker(kernel="poly(2)").fit(X, Y, qid=[0, 0, 1, 1, 2, 2])


def far(indptr):
    indptr[1:-1], indptr[-1] = 50_000_000, 0


def wrapping(indptr):
    indptr[1], indptr[2] = 2**31 - 1, -(2**31)


def beyond(indptr):
    indptr[-1] = 1000


@pytest.mark.parametrize("forge", [far, wrapping, beyond])
@pytest.mark.parametrize("make", [classifier, ranker])
def test_forged_supports_are_refused(make, forge, tmp_path):
    path = tmp_path / "model"
    perceptive.save(make(), path)
    kind, meta, arrays = model_file.read(path)
    arrays = {name: np.array(array) for name, array in arrays.items()}
    forge(arrays["supports.indptr"])
    model_file.write(path, kind, meta, arrays)
    with pytest.raises(ModelFileError, match="does not fit together"):
        perceptive.load(path)
    arrays["supports.indptr"] = X.indptr.astype(float)
    model_file.write(path, kind, meta, arrays)
    with pytest.raises(ModelFileError, match="does not fit together"):
        perceptive.load(path)


@pytest.mark.parametrize("forge", [far, wrapping, beyond])
@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("model", [KernelClassifier(kernel="poly(2)"), LinearClassifier()])
def test_damaged_matrices_are_refused(model, format, forge):
    model.fit(X, Y)
    damaged = X.asformat(format).copy()
    forge(damaged.indptr)
    with pytest.raises(ValueError, match=r"damaged|index"):
        model.learner_.predict_many(damaged)
    damaged = X.asformat(format).copy()
    damaged.indices[3] = -7
    with pytest.raises(ValueError, match=r"damaged|index"):
        model.learner_.predict_many(damaged)


def test_places_outside_are_refused():
    model = KernelClassifier(kernel="linear").fit(X, Y)
    damaged = X.tocoo()
    damaged.col[2] = 99
    with pytest.raises(ValueError, match="its indices lie outside of its shape"):
        model.learner_.predict_many(damaged)
