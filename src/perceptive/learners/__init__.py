"""The notes' on-line learner L: ``learn(x, y)``, ``score(x)``, ``predict(x)``. No scikit-learn here."""

from perceptive.learners.linear import LinearLearner

__all__ = ["LinearLearner"]
