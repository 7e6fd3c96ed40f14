"""The notes' on-line learner L: ``learn``, ``score``, ``predict``, ``find_best``. No scikit-learn here."""

from perceptive.learners.kernel import KernelLearner
from perceptive.learners.linear import LinearLearner
from perceptive.learners.ranking import RankingLearner
from perceptive.learners.sequence import SequenceLearner

__all__ = ["KernelLearner", "LinearLearner", "RankingLearner", "SequenceLearner"]
