"""Rerankers of labels that mark no segments, and of few sentences."""

import warnings

import numpy as np
import pytest

from perceptive import Reranker, SequenceTagger
from perceptive.learners.description import View, describe


def sentences(n):
    """The tag of a word depends on that of the word before the last: more than the tagger sees."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(n):
        first = rng.integers(0, 2)
        X.append(["one" if first else "two", "of", "saw", "saw"])
        y.append(["A" if first else "B", "X", "N" if first else "V", "V" if first else "N"])
    return X, y


def test_tags_are_described_token_by_token():
    rows = describe(["the", "saw"], [(["DT", "NN"], 1.0), (["DT", "VB"], 0.5)], View(of_tokens=True))
    assert rows[0] != rows[1]
    assert any(name.startswith("NN 0 all saw") for name in rows[0])
    assert "n DT VB $" in rows[1]


def test_a_reranker_of_tags_learns():
    X, y = sentences(240)
    reranker = Reranker(SequenceTagger(template=["word"], epochs=2), k=20).fit(X, y)
    mistakes = reranker.ranker_.mistakes_.tolist()
    assert mistakes[-1] < mistakes[0] / 4
    assert reranker.score(X, y) > reranker.tagger_.score(X, y)


def test_few_sentences_are_told_of():
    X, y = sentences(60)
    with pytest.warns(UserWarning, match="60 sentences are few for a reranker: with fewer than 200"):
        reranker = Reranker(SequenceTagger(template=["word"], epochs=2), k=4).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reranker.learner_.dataset(X, y, grow=False)  # as for a certificate: nothing is learned
