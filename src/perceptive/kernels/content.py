"""What examples are, in a few bytes: equal contents have equal digests, whoever holds them.

Supports with one content are one support, and a certificate knows the data it is about. Nested values are walked
without recursion, since trees may be deep.
"""

from __future__ import annotations

import hashlib
import reprlib
import struct
from typing import Any

import numpy as np

FLAT = {str, int, float, bool, type(None)}
SIZE = 16  # bytes: two different contents among 2³² meet with probability 2⁻⁶⁵


class _Unknown(Exception):
    """An object whose content nobody knows."""


def digest(value: Any, strict: bool = True) -> bytes | None:
    """16 bytes of any nesting of strings, numbers, tuples, lists, dicts and arrays, types included.

    None where other objects are in it; with ``strict=False`` subclasses count as what they derive from, the labels of
    NLTK's trees are looked at, and other objects are what `repr` shows of them.

    Examples
    --------
    >>> from perceptive.kernels.content import digest
    >>> digest(("a", [1, 2.0])) == digest(("a", [1, 2.0])), digest(1) == digest(1.0), digest(object())
    (True, False, None)
    """
    found = hashlib.blake2b(digest_size=SIZE)
    waiting = [value]
    try:
        while waiting:
            found.update(_part(waiting.pop(), strict, waiting))
    except _Unknown:
        return None
    return found.digest()


def _part(value: Any, strict: bool, waiting: list[Any]) -> bytes:
    """One value, marked by its kind and length; what is in it waits."""
    if isinstance(value, np.generic):
        value = np.asarray(value)
    kind = type(value) if strict else _base(value)
    if kind in (str, bytes):
        raw = value.encode("utf-8", "surrogatepass") if kind is str else bytes(value)
        return _marked(kind.__name__, raw)
    if value is None or kind in (bool, int, float):
        return _marked(type(value).__name__, repr(value).encode())
    if kind in (tuple, list):
        children = list(value)
        if kind is type(value) and set(map(type, children)) <= FLAT:  # nothing within them: all at once
            return _marked(f"{kind.__name__}{len(children)} flat", repr(children).encode())
        waiting.extend(reversed(children))
        label = value.label() if not strict and callable(getattr(value, "label", None)) else ""
        return _marked(f"{kind.__name__}{len(children)}", str(label).encode("utf-8", "surrogatepass"))
    if kind is dict:
        for key, item in reversed(value.items()):
            waiting += [item, key]
        return _marked(f"dict{len(value)}", b"")
    if kind is np.ndarray and value.dtype != object:
        return _marked(f"{value.dtype.str}{value.shape}", np.ascontiguousarray(value).tobytes())
    if kind is np.ndarray:
        waiting.extend(reversed(value.ravel().tolist()))
        return _marked(f"object{value.shape}", b"")
    if hasattr(value, "tocsr"):
        rows = value.tocsr()
        waiting += [np.asarray(part) for part in (rows.data, rows.indices, rows.indptr)]
        return _marked(f"sparse{rows.shape}", b"")
    if strict:
        raise _Unknown
    return _marked(type(value).__name__, repr(value).encode("utf-8", "replace"))


def _base(value: Any) -> type:
    for kind in (str, bytes, bool, int, float, tuple, list, dict, np.ndarray):
        if isinstance(value, kind):
            return kind
    return type(value)


def _marked(kind: str, raw: bytes) -> bytes:
    """Kinds and lengths are written down, so that no two contents look alike."""
    return kind.encode() + struct.pack("<cq", b":", len(raw)) + raw


def shown(value: Any) -> str:
    """A value as far as it fits into a message."""
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    if (isinstance(value, np.ndarray) and value.ndim != 1) or hasattr(value, "tocsr"):
        return f"<{' × '.join(map(str, value.shape))}>"
    try:
        text = repr(value)
    except RecursionError:
        text = reprlib.repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
