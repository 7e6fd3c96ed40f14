"""How examples are played: order, passes, when to stop."""

from perceptive.training.local import History, train
from perceptive.training.tagging import train_tagger

__all__ = ["History", "train", "train_tagger"]
