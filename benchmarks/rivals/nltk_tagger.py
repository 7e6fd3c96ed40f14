"""NLTK's averaged perceptron tagger: greedy, in pure Python."""

from __future__ import annotations

from collections.abc import Sequence

from nltk.tag.perceptron import PerceptronTagger


class Nltk:
    """Trained on words and tags."""

    def __init__(self, epochs: int = 5) -> None:
        self.epochs = epochs

    def fit(self, X: Sequence[Sequence[str]], y: Sequence[Sequence[str]]) -> Nltk:
        """Train."""
        self.tagger = PerceptronTagger(load=False)
        sentences = [list(zip(words, tags, strict=True)) for words, tags in zip(X, y, strict=True)]
        self.tagger.train(sentences, nr_iter=self.epochs)
        return self

    def predict(self, X: Sequence[Sequence[str]]) -> list[list[str]]:
        """Tag sentences."""
        return [[tag for _, tag, *_ in self.tagger.tag(words)] for words in X]
