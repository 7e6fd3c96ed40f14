"""Hashed features: any number of names in 2^bits buckets, without a vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.features.vocabulary import check_utf8, named_features

__all__ = ["HashKernel"]

Core: TypeAlias = "_core.HashKernel | _core.TextFeatures"
Index: TypeAlias = "_core.InvertedIndex"
MAX_BITS = 30  # indices are int32, and the top bit of the hash is the sign


class HashedNames:
    """Names in 2^bits buckets; the core can keep the inverted index, bucket → names."""

    _core: Core
    _options: tuple[str, ...] = ("bits", "seed", "signed", "remember_names")

    def __init__(self, bits: int, seed: int, signed: bool, remember_names: bool) -> None:
        self.bits = check_integer("bits", bits, 1, MAX_BITS)
        self.seed = check_integer("seed", seed, 0, 2**32 - 1)
        self.signed = bool(signed)
        self.remember_names = bool(remember_names)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.options().items())})"

    def options(self) -> dict[str, Any]:
        """Return the parameters as plain values, for a model file."""
        values = {name: getattr(self, name) for name in self._options}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @property
    def width(self) -> int:
        """The number of buckets."""
        return 1 << self.bits

    def names(self, bucket: int) -> list[str]:
        """Return the names seen in a bucket, in order of appearance."""
        return self.index.names(check_integer("bucket", bucket, 0, self.width - 1))

    def collisions(self) -> dict[int, list[str]]:
        """Return the buckets with two or more names, ascending, and the names."""
        return self.index.inverted(2)

    def remembered(self) -> dict[int, list[str]]:
        """Return all buckets with a name, ascending, and the names."""
        return self.index.inverted(1)

    def _all_names(self) -> list[str]:
        return [name for names in self._core.index.inverted(1).values() for name in names]

    @property
    def index(self) -> Index:
        """Return the remembered names, by bucket."""
        if not self.remember_names:
            raise ValueError(f"this {type(self).__name__} forgets the names; make it with remember_names=True")
        return self._core.index


class HashKernel(HashedNames):
    """The signed hash kernel: φ[h] = Σ_{j: bucket(j) = h} ξ(j) x_j.

    The hash is MurmurHash3_x86_32 of the name in UTF-8, starting from ``seed``. The bucket is its low ``bits`` bits;
    the sign ξ is -1 if its top bit is set. Over the seeds, inner products keep their mean, with a variance of Σ_{i≠j}
    (x_i² x'_j² + x_i x'_i x_j x'_j) / 2^bits (Lemma 2 of Shi et al., Hash Kernels).

    Parameters
    ----------
    bits : int
        1 … 30: there are 2^bits buckets.
    seed : int
        0 … 2^32 - 1: the start value of the hash.
    signed : bool
        Without signs, ξ is always 1, and colliding features add up: inner products are then too large.
    remember_names : bool
        Keep the inverted index, bucket → names, while hashing.

    Examples
    --------
    >>> from perceptive.features.hashing import HashKernel
    >>> kernel = HashKernel(bits=10, remember_names=True)
    >>> indptr, indices, data = kernel.encode([{"colour": "red", "size": 2.5}, {"size": 1}])
    >>> indptr.tolist(), indices.tolist(), data.tolist()
    ([0, 2, 3], [641, 1018, 1018], [1.0, -2.5, -1.0])
    >>> kernel.names(641), kernel.collisions()
    (['colour=red'], {})
    """

    def __init__(self, bits: int = 20, seed: int = 0, signed: bool = True, remember_names: bool = False) -> None:
        super().__init__(bits, seed, signed, remember_names)
        self._core: _core.HashKernel = _core.HashKernel(self.bits, self.seed, self.signed)

    def __getstate__(self) -> tuple[tuple[int, int, bool, bool], list[str]]:
        return (self.bits, self.seed, self.signed, self.remember_names), self._all_names()

    def __setstate__(self, state: tuple[tuple[int, int, bool, bool], list[str]]) -> None:
        parameters, names = state
        self.__init__(*parameters)  # type: ignore[misc]
        self._core.hash(names, self.remember_names)

    def hash(self, names: Iterable[str], grow: bool = True) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the bucket and the sign of each name.

        Parameters
        ----------
        names : iterable of str
        grow : bool
            Whether to add new names to the inverted index, if there is one.
        """
        names = list(names)
        for name in names:
            check_utf8(name)
        return self._core.hash(names, self.remember_names and grow)

    def encode(
        self, dicts: Iterable[Mapping[Any, Any]], grow: bool = True
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """Turn dicts of features into the rows of a sparse matrix with 2^bits columns.

        Entries mean the same as for `perceptive.features.vocabulary.encode`: a string v of the feature f is the feature
        ``f=v`` with value 1. Features in the same bucket are added; sums of zero are left out.

        Parameters
        ----------
        dicts : iterable of mappings
            Feature name to number or string.
        grow : bool
            Whether to add new names to the inverted index, if there is one.

        Returns
        -------
        indptr, indices, data : ndarray
            The matrix in CSR form (int32, int32, float64), indices ascending within each row.

        Raises
        ------
        ValueError
            If a value is neither a finite number nor a string. The inverted index does not change then.
        """
        return self._core.encode(dicts, self.remember_names and grow, named_features)


def check_integer(what: str, value: Any, least: int, most: int) -> int:
    """Return the value as an int; raise a ValueError that says what it must be."""
    sound = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (sound and least <= value <= most):
        raise ValueError(f"{what} must be an integer from {least} to {most}, not {value!r}")
    return int(value)
