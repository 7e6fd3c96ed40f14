"""The notes' on-line learner L: ``learn``, ``score``, ``predict``, ``find_best``. No scikit-learn here."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perceptive.learners.kernel import KernelLearner
    from perceptive.learners.linear import LinearLearner
    from perceptive.learners.ranking import RankingLearner
    from perceptive.learners.sequence import SequenceLearner

__all__ = ["KernelLearner", "LinearLearner", "RankingLearner", "SequenceLearner"]


def __getattr__(name: str) -> Any:  # a command that needs one of them does not wait for the others
    if name in __all__:
        return getattr(import_module(f"perceptive.learners.{name.removesuffix('Learner').lower()}"), name)
    raise AttributeError(f"module 'perceptive.learners' has no attribute {name!r}")
