"""How files become rows: what a model must remember to read more files of the kind."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from perceptive import _core

FORMATS = ("svmlight",)
ALIASES = {"libsvm": "svmlight"}


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The format of files, and how its features become columns.

    Parameters
    ----------
    format : str
        One of `FORMATS`.
    zero_based : bool
        svmlight: whether the first feature is 0.
    n_features : int or None
        svmlight: columns; larger indices are refused.
    bits : int or None
        Hash the features into 2^bits columns; formats with named features always do.
    hash_seed : int
        Where the hash begins.
    interactions : tuple of str
        Products of two features: ("all",), or pairs of namespaces ("a:b", …).

    Examples
    --------
    >>> Reading(format="svmlight", bits=10).width
    1024
    """

    format: str = "svmlight"
    zero_based: bool = False
    n_features: int | None = None
    bits: int | None = None
    hash_seed: int = 0
    interactions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.format in ALIASES:
            object.__setattr__(self, "format", ALIASES[self.format])
        if self.format not in FORMATS:
            raise ValueError(f"unknown format {self.format!r}; choose one of {', '.join((*FORMATS, *ALIASES))}")
        if self.n_features is not None and not 0 <= self.n_features < 2**31:
            raise ValueError(f"n_features is {self.n_features}; it must be from 0 to 2³¹ − 1")
        if self.bits is not None and not 1 <= self.bits <= 30:
            raise ValueError(f"bits is {self.bits}; it must be from 1 to 30")
        if not 0 <= self.hash_seed < 2**32:
            raise ValueError(f"hash_seed is {self.hash_seed}; it must be from 0 to 2³² − 1")
        if self.interactions and self.bits is None:
            raise ValueError("interactions need hashed features; give bits")
        for pair in self.interactions:
            if pair != "all" and pair.count(":") != 1:
                raise ValueError(f"interaction {pair!r} is neither 'all' nor a pair of namespaces 'a:b'")

    @property
    def width(self) -> int | None:
        """Columns, where they are known before the data."""
        return self.n_features if self.bits is None else 1 << self.bits

    def parser(self, remember: bool, limit: int | None = None) -> Any:
        """The parser of the core.

        With ``remember`` it gives the names of hashed features too; ``limit`` stands in for ``n_features``.
        """
        hashed = self._features(remember)
        most = limit if self.n_features is None and hashed is None else self.n_features
        return _core.Svmlight(self.zero_based, most, hashed)

    def _features(self, remember: bool) -> _core.FeatureOptions | None:
        if self.bits is None:
            return None
        pairs = [(a, b) for a, _, b in (pair.partition(":") for pair in self.interactions if pair != "all")]
        return _core.FeatureOptions(self.bits, self.hash_seed, True, remember, "all" in self.interactions, pairs)

    def to_meta(self) -> dict[str, Any]:
        """As plain values, for a model file."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_meta(cls, meta: dict[str, Any]) -> Reading:
        """What `to_meta` gave; raises where it cannot be."""
        known = {f.name for f in fields(cls)}
        if not isinstance(meta, dict) or set(meta) - known:
            raise ValueError("an unknown way of reading")
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in meta.items()}
        return cls(**values)
