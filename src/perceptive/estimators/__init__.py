"""The scikit-learn skin, thin: `LinearClassifier`, `KernelClassifier`, `HashedFeatures` and `HashedText`."""

from perceptive.estimators.hashing import HashedFeatures
from perceptive.estimators.kernel import KernelClassifier
from perceptive.estimators.linear import LinearClassifier
from perceptive.estimators.tagger import SequenceTagger
from perceptive.estimators.text import HashedText

__all__ = ["HashedFeatures", "HashedText", "KernelClassifier", "LinearClassifier", "SequenceTagger"]
