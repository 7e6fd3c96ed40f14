"""perceptive: learning from mistakes, for everything you can score."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    )
    from perceptive.models.registry import load, save

__version__ = "0.1.0"

# Where the public names live; they are imported when they are asked for, scikit-learn with them.
_HOME = {
    "Certificate": "certificates",
    "HashedFeatures": "estimators",
    "KernelClassifier": "estimators",
    "KernelRanker": "estimators",
    "HashedText": "estimators",
    "JointClassifier": "estimators",
    "LinearClassifier": "estimators",
    "LinearRanker": "estimators",
    "Reranker": "estimators",
    "SequenceTagger": "estimators",
    "certify": "certificates",
    "load": "models.registry",
    "save": "models.registry",
}
_MODULES = ("datasets", "games", "kernels", "learners", "streams")

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
    "save",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"perceptive.{_HOME[name]}"), name)
    if name in _MODULES:
        return import_module(f"perceptive.{name}")
    raise AttributeError(f"module 'perceptive' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, *_MODULES])
