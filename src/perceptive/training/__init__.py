"""The training loop: order, epochs, when to stop."""

from perceptive.training.loop import History, InMemory, Run, train

__all__ = ["History", "InMemory", "Run", "train"]
