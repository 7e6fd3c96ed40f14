"""Clusters of words by their contexts: spherical k-means, as in textbooks.

A word is the vector of its contexts: x_c = √n_c / √Σ n, where n_c counts how often the word occurs in context c. So
‖x‖ = 1, and x·x' is the Bhattacharyya coefficient of two words' contexts, which is 1 if these are distributed alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

Vector = dict[int, float]


def word_vector(counts: Mapping[int, int]) -> Vector:
    """Return the vector of a word; ``counts``: how often it occurs in each context.

    Examples
    --------
    >>> word_vector({3: 9, 5: 16})
    {3: 0.6, 5: 0.8}
    """
    length = sqrt(sum(counts.values()))
    return {context: sqrt(n) / length for context, n in sorted(counts.items())}


def spherical_k_means(words: Sequence[Vector], k: int, n_contexts: int, rounds: int) -> list[int]:
    """Return the cluster of each word. The first k words are the first centres; ties go to the lowest.

    Dhillon & Modha (2001), "Concept decompositions for large sparse text data using clustering".

    Examples
    --------
    >>> spherical_k_means([{0: 1.0}, {1: 1.0}, {0: 0.6, 1: 0.8}], 2, 2, rounds=5)
    [0, 1, 1]
    """
    centres = [[words[i].get(c, 0.0) for c in range(n_contexts)] for i in range(min(k, len(words)))]
    nearest: list[int] = []
    for _ in range(rounds):
        nearest = []
        for x in words:
            scores = [0.0] * len(centres)
            for c, value in x.items():
                for i, centre in enumerate(centres):
                    scores[i] += value * centre[c]
            nearest.append(scores.index(max(scores)))
        centres = [[0.0] * n_contexts for _ in centres]
        for i, x in zip(nearest, words, strict=True):
            for c, value in x.items():
                centres[i][c] += value
        for i, centre in enumerate(centres):
            squares = 0.0
            for value in centre:
                squares += value * value
            if squares > 0:
                centres[i] = [value / sqrt(squares) for value in centre]
    return nearest
