"""Text as features: words and n-grams, weighted, in 2^bits buckets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.features.hashing import HashedNames, check_integer
from perceptive.frames import column_of_texts, is_frame

__all__ = ["TextFeatures"]

LONGEST = 32  # n-gram: `TextOptions::longest` in core/text/text.hpp
WEIGHTINGS = ("binary", "tf", "log-tf")


class TextFeatures(HashedNames):
    """Turn texts into rows of hashed features: φ[h] = idf[h] · Σ_{j: bucket(j) = h} ξ(j) weight(tf_j).

    **Words.** A run is a maximal sequence of letters, numbers and connectors such as the underscore, with the marks
    (separate accents) among and after them. It is one word. But ideographs, Hiragana, Thai, Lao, Khmer and Myanmar
    letters, which are written without spaces, are separate words, with the marks that follow. Everything else separates
    words: apostrophes and hyphens, symbols, bytes that are not UTF-8. Lower-casing is Unicode's simple mapping. The
    version of Unicode is ``perceptive._core.UNICODE_VERSION``.

    **Names.** A word n-gram is its words joined by one space; it may cross punctuation. A character n-gram lies within
    a run between ``<`` and ``>``; its name is ``c:`` and its characters: ``c:<th``. A run with its brackets that is
    shorter than the shortest n-gram is an n-gram itself. Names are hashed as in `HashKernel`.

    Parameters
    ----------
    words : pair of int, or None
        The shortest and the longest word n-grams: (1, 2) means words and pairs.
    chars : pair of int, or None
        The shortest and the longest character n-grams.
    lowercase : bool
    weighting : one of "binary", "tf", "log-tf"
        A feature that occurs tf times in a text counts 1, tf, or 1 + ln tf. Features are distinguished by all 32 bits
        of their hash.
    idf : bool
        Multiply by idf[h] = ln((1 + n) / (1 + df[h])) + 1, where bucket h is in df[h] of the n texts `learn_idf` saw.
    normalize : bool
        Divide each row by its length ‖φ‖₂.
    bits, seed, signed
        See `perceptive.features.hashing.HashKernel`.
    remember_names : bool
        Keep the inverted index, bucket → names, while encoding.

    Examples
    --------
    >>> from perceptive.features.text import TextFeatures
    >>> text = TextFeatures(words=(1, 2), normalize=False, bits=10, remember_names=True)
    >>> indptr, indices, data = text.encode(["To be, to be!"])
    >>> for bucket, value in zip(indices, data):
    ...     print(bucket, value, text.names(bucket))
    86 -1.0 ['be to']
    91 2.0 ['to']
    130 -2.0 ['be']
    407 2.0 ['to be']
    """

    _options = ("words", "chars", "lowercase", "weighting", "idf", "normalize", *HashedNames._options)

    def __init__(
        self,
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
        self.words = _ngrams("words", words)
        self.chars = _ngrams("chars", chars)
        if self.words is None and self.chars is None:
            raise ValueError("words and chars are both None; give one of them, such as words=(1, 1)")
        if weighting not in WEIGHTINGS:
            raise ValueError(f"weighting must be one of {', '.join(map(repr, WEIGHTINGS))}, not {weighting!r}")
        self.lowercase = bool(lowercase)
        self.weighting = weighting
        self.idf = bool(idf)
        self.normalize = bool(normalize)
        super().__init__(bits, seed, signed, remember_names)
        self._factors: NDArray[np.float32] | None = None  # idf, as far as it is known
        self._n, self._df = 0, np.zeros(0, np.int32)  # texts that were counted, and in how many each bucket is
        how = self.lowercase, weighting, self.normalize, self.bits, self.seed, self.signed
        reading = _core.TextReading(self.words or (0, 0), self.chars or (0, 0), *how, None)
        self._core: _core.TextFeatures = _core.TextFeatures(reading)

    @property
    def broken(self) -> int:
        """How many broken byte sequences were found in texts given as bytes; each separates words, like a space."""
        return self._core.broken

    @property
    def idf_(self) -> NDArray[np.float32] | None:
        """The factor of each bucket, or None before `learn_idf`."""
        if self._factors is None and len(self._df):
            self._factors = _core.smooth_idf(self._df, self._n)
        return self._factors

    @classmethod
    def from_options(cls, options: Mapping[str, Any], idf: NDArray[Any] | None = None) -> TextFeatures:
        """Make it from what `options` returned, and its `idf_`.

        Parameters
        ----------
        options : mapping
        idf : ndarray of float32, or None
            The earlier `idf_`. `learn_idf` cannot continue from it, because it contains no counts.

        Raises
        ------
        ValueError
            If an option is unknown, a value impossible, or the factors are not 2^bits positive numbers.
        """
        if set(options) != set(cls._options):
            raise ValueError(f"text options must be {', '.join(cls._options)}, not {', '.join(map(str, options))}")
        text = cls(**options)
        if idf is not None:
            sound = isinstance(idf, np.ndarray) and idf.dtype == np.float32 and idf.shape == (text.width,)
            if not sound or not idf.flags.c_contiguous or not (np.isfinite(idf).all() and (idf > 0).all()):
                raise ValueError(f"idf must be {text.width} positive numbers of float32; save the model again")
            text._factors = idf
        return text

    def learn_idf(self, texts: Iterable[str | bytes]) -> None:
        """Count how many texts each bucket occurs in; later calls continue the count.

        Parameters
        ----------
        texts : iterable of str, or of bytes in UTF-8

        Raises
        ------
        ValueError
            If something is not a text. Nothing is counted then.
        """
        if self._factors is not None and not len(self._df):
            raise ValueError("these text features were loaded with their idf, without the counts; make new ones")
        df = np.zeros(self.width, np.int32)
        n = self._core.count(_several(texts), df)
        self._n, self._df, self._factors = self._n + n, df + self._df if len(self._df) else df, None

    def encode(
        self, texts: Iterable[str | bytes], grow: bool = True
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """Turn texts into the rows of a sparse matrix with 2^bits columns.

        Parameters
        ----------
        texts : iterable of str, or of bytes in UTF-8
        grow : bool
            Whether to add new names to the inverted index, if there is one.

        Returns
        -------
        indptr, indices, data : ndarray
            The matrix in CSR form (int32, int32, float64), indices ascending within each row, no zeros.

        Raises
        ------
        ValueError
            If something is not a text. The inverted index does not change then.
        """
        factors = self.idf_ if self.idf else None
        if self.idf and factors is None:
            raise ValueError("idf=True needs the document frequencies; call learn_idf(texts) first")
        return self._core.encode(_several(texts), factors, self.remember_names and grow)

    def __getstate__(self) -> tuple[dict[str, Any], NDArray[np.float32] | None, list[str]]:
        return self.options(), self.idf_, self._all_names()

    def __setstate__(self, state: tuple[dict[str, Any], NDArray[np.float32] | None, list[str]]) -> None:
        options, factors, names = state
        self.__dict__.update(self.from_options(options, factors).__dict__)
        self.remember(names)

    def remember(self, names: list[str]) -> None:
        """Add names to the inverted index."""
        self._core.remember(names)


def _ngrams(what: str, pair: Any) -> tuple[int, int] | None:
    if pair is None:
        return None
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ValueError(f"{what} must be None or two integers (shortest, longest), not {pair!r}")
    least = check_integer(f"{what}[0]", pair[0], 1, LONGEST)
    return least, check_integer(f"{what}[1]", pair[1], least, LONGEST)


def _several(texts: Iterable[str | bytes]) -> Iterable[str | bytes]:
    if isinstance(texts, str | bytes):
        raise ValueError(f"one {type(texts).__name__} was given for several texts; put it in a list")
    found: Any = column_of_texts(texts)
    if is_frame(found):
        raise ValueError("a data frame was given for texts, and is not one column of strings; give one, X['text']")
    return found  # type: ignore[no-any-return]
