"""Pictures: what is drawn is what the model says."""

import numpy as np
import pytest

from perceptive import KernelClassifier
from perceptive.kernels import Gaussian
from perceptive.plots import DecisionSurfaceDisplay, GramDisplay

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


@pytest.fixture(autouse=True)
def no_screen():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    yield
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("y", [[0, 1, 1, 0], [0, 1, 1, 2]])
def test_decision_surface(y, tmp_path):
    clf = KernelClassifier(kernel="quadratic", hypothesis="last", epochs=50).fit(X, y)
    display = DecisionSurfaceDisplay.from_estimator(clf, X, y, grid=30)
    assert display.scores.shape[:2] == (30, 30)
    corner = np.array([[display.x[0, 0], display.y[0, 0]]])
    assert np.allclose(display.scores[0, 0], clf.decision_function(corner)[0])
    assert len(display.supports) == len(clf.support_)
    display.figure_.savefig(tmp_path / "a.png")
    with pytest.raises(ValueError, match="two features"):
        DecisionSurfaceDisplay.from_estimator(clf, np.ones((2, 3)), [0, 1])
    with pytest.raises(ValueError, match="no rows of two numbers"):
        DecisionSurfaceDisplay.from_estimator(KernelClassifier(kernel="spectrum(1)"), ["ab", "cd"], [0, 1])


def test_gram(tmp_path):
    display = GramDisplay.from_kernel(Gaussian(gamma=1.0), X, [1, 0, 1, 0])
    order = [1, 3, 0, 2]
    assert np.allclose(display.K, Gaussian(gamma=1.0).gram(X)[np.ix_(order, order)])
    display.figure_.savefig(tmp_path / "a.png")
