"""A maximum entropy tagger: logistic regression of a token's features and the label before, decoded greedily."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

Features = Callable[[Sequence[Any], int], list[str]]


class GreedyTagger:
    """Features that occur `min_count` times or more in training; at most so many iterations."""

    def __init__(self, features: Features, min_count: int, iterations: int) -> None:
        self.features, self.min_count, self.iterations = features, min_count, iterations

    def fit(self, X: list[Any], y: list[list[str]]) -> GreedyTagger:
        """Learn from gold labels, that before a token included."""
        self.vectorizer = CountVectorizer(analyzer=list, binary=True)
        tokens = [self.features(sentence, t) for sentence in X for t in range(len(sentence))]
        counts = self.vectorizer.fit_transform(tokens)
        self.kept = np.flatnonzero(np.asarray(counts.sum(axis=0)).ravel() >= self.min_count)
        self.labels = sorted({label for labels in y for label in labels})
        number = {label: i for i, label in enumerate(self.labels)}
        before = np.array(
            [len(self.labels) if t == 0 else number[labels[t - 1]] for labels in y for t in range(len(labels))]
        )
        rows = sp.hstack([counts[:, self.kept], self._label_before(before)], format="csr").astype(float)
        self.model = LogisticRegression(C=10.0, max_iter=self.iterations, tol=1e-4)
        self.model.fit(rows, [number[label] for labels in y for label in labels])
        self.n_iter_ = int(self.model.n_iter_[0])
        return self

    def predict(self, X: list[Any]) -> list[list[str]]:
        """Tag all sentences at once, token by token from the left."""
        tokens = [self.features(sentence, t) for sentence in X for t in range(len(sentence))]
        rows = self.vectorizer.transform(tokens)[:, self.kept]
        coef = self.model.coef_
        static = rows @ coef[:, : len(self.kept)].T + self.model.intercept_
        after = coef[:, len(self.kept) :].T  # what the label before adds
        begin = np.cumsum([0, *(len(sentence) for sentence in X)])
        found = np.empty(begin[-1], dtype=np.int64)
        lengths = np.diff(begin)
        for t in range(max(lengths, default=0)):
            at = begin[:-1][lengths > t] + t
            before = np.full(len(at), len(self.labels)) if t == 0 else found[at - 1]
            found[at] = self.model.classes_[np.argmax(static[at] + after[before], axis=1)]
        return [
            [self.labels[i] for i in found[b:e]] for b, e in zip(begin[:-1].tolist(), begin[1:].tolist(), strict=True)
        ]

    def _label_before(self, before: Any) -> sp.csr_array:
        n = len(self.labels) + 1
        return sp.csr_array((np.ones(len(before)), (np.arange(len(before)), before)), shape=(len(before), n))
