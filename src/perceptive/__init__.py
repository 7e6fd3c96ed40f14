"""perceptive: learning from mistakes, for everything you can score."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # to import typing takes as long as all else before the program can answer Ctrl-C
if TYPE_CHECKING:
    from typing import Any

    from perceptive.certificates import Certificate, certify
    from perceptive.estimators import (
        HashedFeatures,
        HashedText,
        JointClassifier,
        KernelClassifier,
        KernelRanker,
        LinearClassifier,
        LinearRanker,
        Reranker,
        SequenceTagger,
        tune,
    )
    from perceptive.models.registry import load, load_learner, save
    from perceptive.tracing import trace

__version__ = "0.1.0"

_MODULES = ("datasets", "games", "kernels", "learners", "metrics", "plots", "streams")

__all__ = [
    "Certificate",
    "HashedFeatures",
    "HashedText",
    "JointClassifier",
    "KernelClassifier",
    "KernelRanker",
    "LinearClassifier",
    "LinearRanker",
    "Reranker",
    "SequenceTagger",
    "certify",
    "load",
    "load_learner",
    "save",
    "trace",
    "tune",
]

# Where the public names live, but for the estimators; all are imported when they are asked for, scikit-learn with them.
_HOME = {
    **dict.fromkeys(("Certificate", "certify"), "certificates"),
    **dict.fromkeys(("load", "load_learner", "save"), "models.registry"),
    "metrics": "evaluation.metrics",
    "trace": "tracing",
}


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(f"perceptive.{_HOME.get(name, 'estimators')}"), name)
    if name in _MODULES:
        return import_module(f"perceptive.{_HOME.get(name, name)}")
    raise AttributeError(f"module 'perceptive' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, *_MODULES])
