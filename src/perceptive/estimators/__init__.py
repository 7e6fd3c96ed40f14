"""The scikit-learn skin, thin: `LinearClassifier`."""

from perceptive.estimators.linear import LinearClassifier

__all__ = ["LinearClassifier"]
