"""The scikit-learn skin, thin: `LinearClassifier`, `KernelClassifier` and `HashedFeatures`."""

from perceptive.estimators.hashing import HashedFeatures
from perceptive.estimators.kernel import KernelClassifier
from perceptive.estimators.linear import LinearClassifier

__all__ = ["HashedFeatures", "KernelClassifier", "LinearClassifier"]
