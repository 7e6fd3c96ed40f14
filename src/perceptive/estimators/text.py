"""`HashedText`: text features as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scipy import sparse

from perceptive.estimators.hashing import HashingTransformer
from perceptive.features.text import TextFeatures


class HashedText(HashingTransformer):
    """Texts as hashed word and character n-grams, in 2^bits columns.

    What a word is and what features are called is told at `perceptive.features.text.TextFeatures`.

    Parameters
    ----------
    words : pair of int, or None
        The shortest and the longest word n-grams.
    chars : pair of int, or None
        The shortest and the longest character n-grams, within words.
    lowercase : bool
    weighting : {"binary", "tf", "log-tf"}
        A feature that occurs tf times counts 1, tf, or 1 + ln tf.
    idf : bool
        Weigh rare columns more, by how many of the texts seen in `fit` they are in.
    normalize : bool
        Divide each row by its length.
    bits : int
        1 … 30: there are 2^bits columns.
    seed : int
        Where the hash (MurmurHash3_x86_32) begins.
    signed : bool
        Give each feature a sign, so that what collides does not add up.
    remember_names : bool
        Keep the names met in `fit` or `fit_transform`, to say what stands in a column.

    Attributes
    ----------
    features_ : TextFeatures
        ``features_.names(column)`` and ``features_.collisions()`` with ``remember_names=True``.

    Examples
    --------
    >>> from perceptive import HashedText
    >>> hashed = HashedText(words=(1, 2), bits=10, remember_names=True)
    >>> X = hashed.fit_transform(["Learning from mistakes", "mistakes, mistakes"])
    >>> X.shape, X.nnz, hashed.features_.names(X.indices[0])
    ((2, 1024), 7, ['from mistakes'])
    """

    def __init__(
        self,
        *,
        words: tuple[int, int] | None = (1, 1),
        chars: tuple[int, int] | None = None,
        lowercase: bool = True,
        weighting: str = "tf",
        idf: bool = False,
        normalize: bool = True,
        bits: int = 20,
        seed: int = 0,
        signed: bool = True,
        remember_names: bool = False,
    ) -> None:
        self.words = words
        self.chars = chars
        self.lowercase = lowercase
        self.weighting = weighting
        self.idf = idf
        self.normalize = normalize
        self.bits = bits
        self.seed = seed
        self.signed = signed
        self.remember_names = remember_names

    features_: TextFeatures

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit_transform(self, X: Iterable[str | bytes], y: Any = None) -> sparse.csr_matrix:
        """Count document frequencies, and remember names, as far as asked to; and transform.

        Parameters
        ----------
        X : iterable of str, or of bytes in UTF-8
        y : ignored
        """
        self.features_ = TextFeatures(**self.get_params())
        if self.idf:
            X = X if isinstance(X, str | bytes) else list(X)
            self.features_.learn_idf(X)
        return self._encode(X, fitting=True)

    @property
    def _buckets(self) -> TextFeatures:
        return self.features_
