"""Clusters of words: the same as the twin's, to the bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from examples import examples
from perceptive.features import clusters
from perceptive.reference.clusters import spherical_k_means, word_vector


@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40), width=st.integers(1, 12), k=st.integers(1, 9),
    rounds=st.integers(1, 6),
)  # fmt: skip
def test_as_the_twin(seed, n, width, k, rounds):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 9, (n, width)) * (rng.random((n, width)) < 0.4)
    counts[:, 0] += counts.sum(axis=1) == 0  # no word is without contexts
    vectors = [word_vector({c: int(m) for c, m in enumerate(row) if m}) for row in counts]
    rows = csr_array(np.array([[x.get(c, 0.0) for c in range(width)] for x in vectors]))
    expected = spherical_k_means(vectors, k, width, rounds)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "PART", 7)
        assert clusters.spherical_k_means(rows, k, rounds).tolist() == expected


def test_the_vectors_of_words_are_those_of_the_twin():
    contexts = clusters.contexts_of([["a", "b", "a"], ["b", "a"]] * 3, 0, 1)
    found = clusters._vectors(contexts, 0, ["a", "b"]).toarray()
    # Contexts in their order: a, b and outside, on the left, then on the right.
    of_a, of_b = {1: 6, 2: 3, 4: 3, 5: 6}, {0: 3, 2: 3, 3: 6}
    for row, counts in zip(found, (of_a, of_b), strict=True):
        assert sorted(row[row > 0]) == sorted(word_vector(counts).values())
    assert found.shape == (2, 6)
