"""What is masked in an array is missing: it is not learned from."""

import numpy as np
import pytest

from perceptive import KernelClassifier, KernelRanker, LinearClassifier, LinearRanker

X = np.ma.masked_array(np.eye(4), mask=np.eye(4))
Y = np.ma.masked_array([0, 1, 0, 1], mask=[0, 0, 0, 1])
QID = [0, 0, 1, 1]


@pytest.mark.parametrize("model", [LinearClassifier(), KernelClassifier()])
def test_classifiers(model):
    with pytest.raises(ValueError, match=r"X is a masked array; drop what is masked, or fill it, X\.filled"):
        model.fit(X, Y.data)
    with pytest.raises(ValueError, match=r"y is a masked array; drop what is masked, or fill it, y\.filled"):
        model.fit(X.data, Y)


@pytest.mark.parametrize("ranker", [LinearRanker(), KernelRanker(kernel="linear")])
def test_rankers(ranker):
    with pytest.raises(ValueError, match="X is a masked array"):
        ranker.fit(X, Y.data, qid=QID)
    with pytest.raises(ValueError, match="y is a masked array"):
        ranker.fit(X.data, Y, qid=QID)
