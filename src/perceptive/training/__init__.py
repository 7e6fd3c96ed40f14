"""How examples are played: order, passes, when to stop."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from perceptive.training.local import train
from perceptive.training.passes import History

if TYPE_CHECKING:
    from perceptive.training.kernel import train_kernel
    from perceptive.training.tagging import train_tagger

__all__ = ["History", "train", "train_kernel", "train_tagger"]

_HOME = {"train_kernel": "kernel", "train_tagger": "tagging"}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"perceptive.training.{_HOME[name]}"), name)
    raise AttributeError(f"module 'perceptive.training' has no attribute {name!r}")
