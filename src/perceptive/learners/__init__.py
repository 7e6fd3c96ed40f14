"""The notes' on-line learner L: ``learn(x, y)``, ``score(x)``, ``predict(x)``. No scikit-learn here."""

from perceptive.learners.kernel import KernelLearner
from perceptive.learners.linear import LinearLearner
from perceptive.learners.sequence import SequenceLearner

__all__ = ["KernelLearner", "LinearLearner", "SequenceLearner"]
