"""Hashes of labelled examples: their sum is the order-free fingerprint that a certificate knows its data by."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.content import digest, plain_text
from perceptive.data.rows import as_rows


def example_hashes(
    row_hashes: NDArray[np.uint64], which: NDArray[np.int64], labels: Sequence[Any], weights: NDArray[np.float64] | None
) -> NDArray[np.uint64]:
    """64 bits of each (row, label, weight); their sum is the same in any order, for dense and sparse rows alike."""
    label_hash = np.array([hash_label(label) for label in labels], dtype=np.uint64)
    hashes: NDArray[np.uint64] = _core.example_hashes(row_hashes, label_hash, which, weights)
    return hashes


@lru_cache(maxsize=4096, typed=True)
def hash_label(label: Any) -> int:
    """64 bits of a label."""
    if isinstance(label, np.generic):
        label = label.item()
    return int.from_bytes(hashlib.blake2b(plain_text(label).encode(), digest_size=8).digest(), "little")


def hash_examples(X: Any) -> NDArray[np.uint64]:
    """64 bits of each example: of its numbers, or of its text."""
    shape, kind = getattr(X, "shape", ()), getattr(getattr(X, "dtype", None), "kind", "O")
    if len(shape) == 2 and kind in "fiub":
        return np.asarray(as_rows(X, None, fingerprint=True).hashes)
    items = X.to_numpy().tolist() if hasattr(X, "iloc") else list(X)
    digests = [(digest(item, strict=False) or b"")[:8] for item in items]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
