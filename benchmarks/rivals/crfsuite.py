"""python-crfsuite: its averaged perceptron, with features made in Python as its users do."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pycrfsuite

from rivals.token_features import Features


def extract(X: Sequence[Any], features: Features) -> list[list[list[str]]]:
    """Features of every token."""
    return [[features(sentence, t) for t in range(len(sentence))] for sentence in X]


class Crfsuite:
    """A model in a temporary file."""

    def __init__(self, algorithm: str = "ap", epochs: int = 10) -> None:
        self.algorithm, self.epochs = algorithm, epochs

    def append(self, X: list[list[list[str]]], y: Sequence[Sequence[str]]) -> None:
        """Hand the training data over."""
        self.trainer = pycrfsuite.Trainer(algorithm=self.algorithm, verbose=False)
        for features, labels in zip(X, y, strict=True):
            self.trainer.append(features, labels)

    def train(self) -> None:
        """Train and open the model."""
        self.trainer.set_params({"max_iterations": self.epochs})
        path = str(Path(tempfile.mkdtemp()) / "crfsuite.model")
        self.trainer.train(path)
        self.tagger = pycrfsuite.Tagger()
        self.tagger.open(path)

    def predict(self, X: list[list[list[str]]]) -> list[list[str]]:
        """Tag sentences whose features are made."""
        return [self.tagger.tag(features) for features in X]
