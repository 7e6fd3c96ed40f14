"""Word clusters: words that occur next to the same words, with the same tags, in the sentences of a corpus.

This needs no labels, so a tagger learns more about words that are rare in labelled data. The contexts of a word are its
neighbours, if they are among the most frequent words, and the other columns of its token and of its neighbours. Words
are read in lower case, with digits as 0; words that occur fewer than three times have no cluster. The name of a cluster
is its most frequent word. `reference.clusters` has the definition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core

LEAST = 3  # times that a word comes
FREQUENT = 200  # words that count as neighbours
ROUNDS = 10
PART = 4096  # words that are compared with all centres at once

Place = tuple[int, int]  # a column, and how far away
Contexts = dict[Place, Counter[tuple[str, Any]]]  # how often a word comes with what; None is outside


def contexts_of(X: Iterable[Sequence[Any]], column: int, n_columns: int) -> Contexts:
    """How often the words of a column come beside each other, and with the values of other columns.

    Parameters
    ----------
    X : iterable of sentences
        Tokens are strings, or sequences of columns.
    n_columns : int
        The columns that are read.

    Examples
    --------
    >>> found = contexts_of([[("The", "DT"), ("cat", "NN")]], 0, 2)
    >>> found[0, 1]["the", "cat"], found[1, 0]["cat", "NN"], found[0, -1]["the", None]
    (1, 1, 1)
    """
    columns: list[list[Any]] = [[None] for _ in range(n_columns)]
    try:
        for x in X:
            for c, cells in enumerate(columns):
                cells += [token if isinstance(token, str) else token[c] for token in x]
                cells.append(None)
    except LookupError:
        raise ValueError(f"a token has fewer than {n_columns} columns") from None
    norms = {word: word if word is None else _core.norm(word) for word in set(columns[column])}
    words: list[Any] = [norms[word] for word in columns[column]]
    columns[column] = words
    found: Contexts = {}
    for c, cells in enumerate(columns):
        for offset in (-1, 1) if c == column else (-1, 0, 1):
            beside = [None, *cells[:-1]] if offset < 0 else cells[offset:]
            found[c, offset] = Counter(zip(words, beside, strict=False))
    for counts in found.values():
        for outside in [pair for pair in counts if pair[0] is None]:
            del counts[outside]
    return found


def added(parts: Iterable[Mapping[int, Contexts]]) -> dict[int, Contexts]:
    """The contexts, of each column, in all parts of a corpus together."""
    total: dict[int, Contexts] = {}
    for part in parts:
        for column, contexts in part.items():
            mine = total.setdefault(column, {})
            for place, counts in contexts.items():
                mine.setdefault(place, Counter()).update(counts)
    return total


def clusters(contexts: Contexts, column: int, k: int) -> dict[str, str]:
    """The cluster of each word that comes often enough, by the most frequent word of the cluster.

    Examples
    --------
    >>> X = ["the cat sat", "the dog sat", "a cat ran", "a dog ran"]
    >>> contexts = contexts_of([x.split() for x in 3 * X], 0, 1)
    >>> found = clusters(contexts, 0, 4)
    >>> found["dog"], found["the"], found["ran"]
    ('cat', 'a', 'ran')
    """
    seen: Counter[str] = Counter()
    for (word, _), n in contexts[column, -1].items():
        seen[word] += n
    words = (word for word, n in seen.items() if n >= LEAST and word and not {*word} & {"\t", "\n"})
    often = sorted(words, key=lambda word: (-seen[word], word))
    if not often:
        return {}
    nearest = spherical_k_means(_vectors(contexts, column, often), k, ROUNDS).tolist()
    named: dict[int, str] = {}
    for word, cluster in zip(often, nearest, strict=True):
        named.setdefault(cluster, word)
    return {word: named[cluster] for word, cluster in zip(often, nearest, strict=True)}


def _vectors(contexts: Contexts, column: int, often: list[str]) -> Any:
    """The vector of each word, as a row of a sparse matrix; contexts are numbered in their order."""
    from scipy.sparse import csr_array

    row = {word: i for i, word in enumerate(often)}
    near: set[Any] = {None, *often[:FREQUENT]}
    counted = [
        (row[word], (place, value is not None, value), n)
        for place, counts in contexts.items()
        for (word, value), n in counts.items()
        if word in row and (place[0] != column or value in near)
    ]
    number = {context: i for i, context in enumerate(sorted({context for _, context, _ in counted}, key=str))}
    rows, columns, counts = np.array([(i, number[context], n) for i, context, n in counted], np.int64).T
    found = csr_array((counts.astype(float), (rows, columns)), shape=(len(often), len(number)))
    found.sort_indices()
    lengths = np.sqrt(found.sum(axis=1))
    found.data = np.sqrt(found.data) / np.repeat(lengths, np.diff(found.indptr))
    return found


def spherical_k_means(words: Any, k: int, rounds: int) -> NDArray[np.int64]:
    """The cluster of each row of a sparse matrix, by the twin's definition, to the bit."""
    from scipy.sparse import csr_array

    n, k = words.shape[0], min(k, words.shape[0])
    centres = words[:k].toarray().T
    nearest = np.empty(n, np.int64)
    for _ in range(rounds):
        for begin in range(0, n, PART):
            nearest[begin : begin + PART] = (words[begin : begin + PART] @ centres).argmax(axis=1)
        members = csr_array((np.ones(n), (nearest, np.arange(n))), shape=(k, n))
        centres = (members @ words).toarray().T
        squares = np.zeros(k)
        for row in centres:  # one after the other, as sums are made everywhere
            squares += row * row
        centres = centres / np.sqrt(np.where(squares > 0, squares, 1.0))
    return nearest
