"""The scikit-learn skin, thin: `LinearClassifier` and `HashedFeatures`."""

from perceptive.estimators.hashing import HashedFeatures
from perceptive.estimators.linear import LinearClassifier

__all__ = ["HashedFeatures", "LinearClassifier"]
