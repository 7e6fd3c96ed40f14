"""Data made to order, for examples, tests and benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray


def zipf_text(
    n_rows: int, n_features: int, *, mean_length: float = 67.0, noise: float = 0.05, random_state: int = 0
) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Make text-like data: words drawn from Zipf's law, tf-idf-like values, a sparse linear teacher with noise.

    Parameters
    ----------
    n_rows, n_features : int
        Documents and words.
    mean_length : float
        Mean number of different words in a document, about.
    noise : float
        Share of the labels that are turned round.
    random_state : int
        Seed.

    Returns
    -------
    X : scipy.sparse.csr_array of float64, int32 indices, rows of unit length
    y : array of 0 and 1

    Examples
    --------
    >>> X, y = zipf_text(100, 1000, mean_length=20)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 1000), [0, 1])
    """
    import scipy.sparse as sp

    rng = np.random.default_rng(random_state)
    rank = np.arange(1, n_features + 1)
    probability = 1.0 / (rank + 2.7)
    cumulative = np.cumsum(probability / probability.sum())
    word = rng.permutation(n_features).astype(np.int32)  # frequent words are not neighbours
    idf = np.log(1.0 / (probability / probability.sum()))

    # Somewhat more draws than different words wanted: frequent words are drawn again and again.
    draws = np.maximum(1, rng.poisson(mean_length * 1.065, n_rows))
    row = np.repeat(np.arange(n_rows), draws)
    drawn = np.minimum(np.searchsorted(cumulative, rng.random(len(row))), n_features - 1)
    counts = sp.csr_array((np.ones(len(row)), (row, drawn)), shape=(n_rows, n_features))
    counts.sum_duplicates()
    values = (1.0 + np.log(counts.data)) * idf[counts.indices]
    X = sp.csr_array(
        (values, word[counts.indices].astype(np.int32), counts.indptr.astype(np.int32)), shape=counts.shape
    )
    X.sort_indices()
    length = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
    X.data /= np.repeat(length, np.diff(X.indptr))

    teacher = rng.normal(size=n_features) * (rng.random(n_features) < 0.1)
    score = X @ teacher
    y = (score > np.median(score)) ^ (rng.random(n_rows) < noise)
    return X, y.astype(np.int64)
