"""An order-free fingerprint of labelled data, so that a certificate knows the data it is about."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.kernels.content import digest, plain_text
from perceptive.learners.rows import as_rows


def fingerprint(
    rows: _core.Rows, y: NDArray[np.int64], classes: Sequence[Any], weights: NDArray[np.float64] | None
) -> int:
    """Sum of a 64-bit hash of each (row, label, weight): the same in any order, for dense and sparse rows alike."""
    return combine(rows.hashes, y, classes, weights)


def combine(
    row_hashes: NDArray[np.uint64], y: NDArray[np.int64], classes: Sequence[Any], weights: NDArray[np.float64] | None
) -> int:
    """The same from hashes of the rows."""
    label_hash = np.array([hash_label(label) for label in classes], dtype=np.uint64)
    hashes = row_hashes * _ODD + label_hash[y]
    if weights is not None:
        hashes = (hashes ^ (hashes >> np.uint64(32))) * (np.asarray(weights).view(np.uint64) | np.uint64(1))
        hashes = hashes[weights > 0]
    hashes = (hashes ^ (hashes >> np.uint64(29))) * _ODD
    return int(hashes.sum(dtype=np.uint64))


_ODD = np.uint64(0x9E3779B97F4A7C15)


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
