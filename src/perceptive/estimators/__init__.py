"""The scikit-learn interface: a thin layer over the learners."""

from perceptive.estimators.hashing import HashedFeatures, HashedText
from perceptive.estimators.joint import JointClassifier
from perceptive.estimators.kernel import KernelClassifier
from perceptive.estimators.linear import LinearClassifier
from perceptive.estimators.ranker import KernelRanker, LinearRanker
from perceptive.estimators.reranker import Reranker
from perceptive.estimators.tagger import SequenceTagger
from perceptive.estimators.tuning import tune

__all__ = [
    "HashedFeatures",
    "HashedText",
    "JointClassifier",
    "KernelClassifier",
    "KernelRanker",
    "LinearClassifier",
    "LinearRanker",
    "Reranker",
    "SequenceTagger",
    "tune",
]
