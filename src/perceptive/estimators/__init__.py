"""The scikit-learn skin, thin: `LinearClassifier` and `HashedFeatures`."""

from perceptive.estimators.hashing import HashedFeatures
from perceptive.estimators.linear import LinearClassifier
from perceptive.estimators.tagger import SequenceTagger

__all__ = ["HashedFeatures", "LinearClassifier", "SequenceTagger"]
