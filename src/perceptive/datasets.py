"""Synthetic data, and published files that are fetched and checked, for examples, tests and benchmarks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

# The files that the benchmarks read, and their SHA-256.
FILES = {
    "a9a/test.svm": "6952c231ddef3233b7d5dbcc22ab5b5ce7b803f569fbc18804ab60206f616155",
    "a9a/train.svm": "cea983814f3be0ac9de14575c70f389ba32d16eb495e71e1125d6d286d1b87a9",
    "conll2000/test.txt": "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628",
    "conll2000/train.txt": "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea",
    "conll2002_ned/ned.testa": "51259d4bfe52462f211d3d0b67173a7ecbfa296e199f6c6bd0895f4c78155057",
    "conll2002_ned/ned.testb": "2aa748edb82e6f9c4d82e57a4bed69ded18cfa4803122c75070335d513517488",
    "conll2002_ned/ned.train": "0a419dcb356b62c8cff38515675550b3d5dbea9f45a1c4956328dbd5cc7fcdbc",
    "languages/test.tsv": "64051cca16b990dccd72a59cb97c85338f28e298f1b33d7294d8e8d5125e6053",
    "languages/train.tsv": "df8dc7a9ca2ae44793fa9bb9e7224fe3a32313d97e81f9c47a68a4cca27fe19a",
    "mnist/mnist.npz": "6ff3272174ad1dcb2ce270847ad63698633925ed0249e1e856d6fd92a3fbd58e",
    "names/test.tsv": "b8c2c7e58d90e52ae0ef03d31b0b8c11a97c64b29cfcd07439c2d537858f29b4",
    "names/train.tsv": "3fe72b2e7563171cd84707d67aef42fcb304307c80db95e6d04301bf39fe9063",
    "sms_spam/SMSSpamCollection": "7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d",
    "subjectivity/test.tsv": "f4af9f8469b5e03acee78718aabe33c2e2aaf8a5f26762bf4f3fa49bbc3bdd98",
    "subjectivity/train.tsv": "cc35b4ed9e21e349590ea154c84765f3326fc5138d04350effa3b32c28567ff6",
    "trec/test.tsv": "362f949499f30ea9c006498007971397ad6c9a46c75d598ce7b5729673785de3",
    "trec/train.tsv": "4428b0118135b9122ac9671f66fe7fd45c61b08beacb591ddbdc2a1a09ea5834",
    "ud_ewt/dev.tsv": "df880e020fb8503f94f0cdca67feb6ae005eb77615d505a4153ab63acf29b344",
    "ud_ewt/test.tsv": "775a51b80da8b8f4f17044e57f45719502f20b4a0289a162a50df704fbfc2c16",
    "ud_ewt/train.tsv": "7229d95801257de4ce757e6499ed692cda186a88c8f15fe35d38f4465bc6dfb7",
}


def fetch(name: str, *, sha256: str | None = None, mirror: str | None = None) -> Path:
    """Return the path of a file: from your data folder, from the cache, or downloaded once and checked.

    The folder in the environment variable ``PERCEPTIVE_DATA`` comes first. Files are downloaded from your own server,
    because most of these sets may not be redistributed, into ``$XDG_CACHE_HOME/perceptive`` or ``~/.cache/perceptive``.

    Parameters
    ----------
    name : str
        The file within the folder, such as "conll2000/train.txt"; ``datasets.FILES`` lists those of the benchmarks.
    sha256 : str or None
        The expected hash of the downloaded file; None: that of ``datasets.FILES``.
    mirror : str or None
        Address of a server with the same folder; None: the environment variable ``PERCEPTIVE_MIRROR``.

    Returns
    -------
    path : pathlib.Path

    Examples
    --------
    >>> fetch("mine.tsv")
    Traceback (most recent call last):
    ValueError: 'mine.tsv' is not in datasets.FILES; pass sha256, so that the download can be checked
    """
    folder = os.environ.get("PERCEPTIVE_DATA")
    if folder and Path(folder, name).exists():
        return Path(folder, name)
    expected = sha256 or FILES.get(name)
    if expected is None:
        raise ValueError(f"{name!r} is not in datasets.FILES; pass sha256, so that the download can be checked")
    address = mirror or os.environ.get("PERCEPTIVE_MIRROR")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "perceptive")
    if not address and not Path(cache, name).exists():
        raise FileNotFoundError(
            f"{name} is not here; set PERCEPTIVE_DATA to the folder that has it, "
            "or PERCEPTIVE_MIRROR to the address of a server that does"
        )
    try:
        import pooch
    except ImportError:
        raise ImportError("downloads need pooch: pip install 'perceptive[datasets]'") from None

    pooch.get_logger().setLevel("ERROR")
    files = pooch.create(path=cache, base_url=f"{(address or '').rstrip('/')}/", registry={name: f"sha256:{expected}"})
    return Path(files.fetch(name))


def zipf_text(
    n_rows: int, n_features: int, *, mean_length: float = 67.0, noise: float = 0.05, random_state: int = 0
) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Make text-like data: words drawn from Zipf's law, tf-idf-like values, a sparse linear teacher with noise.

    Parameters
    ----------
    n_rows, n_features : int
        Number of documents and words.
    mean_length : float
        Approximate mean number of different words in a document.
    noise : float
        Share of the labels that are flipped.
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
