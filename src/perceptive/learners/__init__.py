"""The online learner L of the notes: ``learn``, ``score``, ``predict``, ``find_best``; without scikit-learn."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perceptive.learners.kernel import KernelLearner
    from perceptive.learners.kernel_ranking import KernelRankingLearner
    from perceptive.learners.linear import LinearLearner
    from perceptive.learners.ranking import RankingLearner
    from perceptive.learners.sequence import SequenceLearner

__all__ = ["KernelLearner", "KernelRankingLearner", "LinearLearner", "RankingLearner", "SequenceLearner"]

_HOME = {
    "KernelLearner": "kernel",
    "KernelRankingLearner": "kernel_ranking",
    "LinearLearner": "linear",
    "RankingLearner": "ranking",
    "SequenceLearner": "sequence",
}


def __getattr__(name: str) -> Any:  # a command that needs one of them does not wait for the others
    if name in _HOME:
        return getattr(import_module(f"perceptive.learners.{_HOME[name]}"), name)
    raise AttributeError(f"module 'perceptive.learners' has no attribute {name!r}")
