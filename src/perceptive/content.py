"""What examples are, in a few bytes: equal contents have equal digests, whatever object holds them.

Supports with one content are one support, and a certificate knows the data it is about. Nested values are walked
without recursion, since trees may be deep.
"""

from __future__ import annotations

import hashlib
import reprlib
import struct
from typing import Any

import numpy as np

from perceptive.sparse import inspected

FLAT = {str, int, float, bool, type(None)}
SIZE = 16  # bytes: two different contents among 2³² meet with probability 2⁻⁶⁵
MOST = 2**18  # values that are walked: shared ones may stand for more than anyone could count
LONG = 2**13  # bits of an integer, beyond which its digits are not written out
SHOWN = 60  # characters of a value in a message


class _Unknown(Exception):
    """An object whose content is unknown."""


class _Left:
    """Marks the end of what is in a value: a walk that gets here is done with it."""

    def __init__(self, value: Any) -> None:
        self.value = value


def digest(value: Any, strict: bool = True) -> bytes | None:
    """16 bytes of any nesting of strings, numbers, tuples, lists, dicts and arrays, types included.

    None where other objects are in it, where a value contains itself, and where there are more than 2¹⁸ values. With
    ``strict=False`` subclasses count as what they derive from, the labels of NLTK's trees are looked at, other objects
    are what `repr` shows of them, and a value within itself, or what comes after 2¹⁸ values, is marked as such.

    Examples
    --------
    >>> from perceptive.content import digest
    >>> digest(("a", [1, 2.0])) == digest(("a", [1, 2.0])), digest(1) == digest(1.0), digest(object())
    (True, False, None)
    """
    found = hashlib.blake2b(digest_size=SIZE)
    waiting = [value]
    inside: set[int] = set()  # the values that hold the one at hand
    walked = 0
    try:
        while waiting:
            value = waiting.pop()
            if isinstance(value, _Left):
                inside.remove(id(value.value))
                continue
            walked += 1
            if walked > MOST or id(value) in inside:
                if strict:
                    raise _Unknown
                found.update(_marked("more" if walked > MOST else "itself", b""))
                if walked > MOST:
                    break
                continue
            place = len(waiting)
            found.update(_part(value, strict, waiting))
            if len(waiting) > place:
                waiting.insert(place, _Left(value))
                inside.add(id(value))
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
        return _marked(type(value).__name__, plain_text(value).encode())
    if kind in (tuple, list):
        children = list(value)
        flat = kind is type(value) and set(map(type, children)) <= FLAT
        if flat and not any(type(child) is int and _is_long(child) for child in children):
            # Nothing within them: all at once.
            return _marked(f"{kind.__name__}{len(children)} flat", repr(children).encode())
        waiting.extend(reversed(children))
        label = value.label() if not strict and callable(getattr(value, "label", None)) else ""
        return _marked(f"{kind.__name__}{len(children)}", str(label).encode("utf-8", "surrogatepass"))
    if kind is dict:
        if kind is type(value) and set(map(type, value)) <= {str} and set(map(type, value.values())) <= {str, float}:
            return _marked(f"dict{len(value)} flat", repr(value).encode("utf-8", "surrogatepass"))
        for key, item in reversed(value.items()):
            waiting += [item, key]
        return _marked(f"dict{len(value)}", b"")
    if kind is np.ndarray and value.dtype != object:
        return _marked(f"{value.dtype.str}{value.shape}", np.ascontiguousarray(value).tobytes())
    if kind is np.ndarray:
        waiting.extend(reversed(value.ravel().tolist()))
        return _marked(f"object{value.shape}", b"")
    if hasattr(value, "tocsr"):
        rows = inspected(value).tocsr()
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


def _is_long(value: int) -> bool:
    return value.bit_length() > LONG


def plain_text(value: Any) -> str:
    """`repr`, but of long integers in base 16: Python refuses to write out more than 4,300 digits."""
    return hex(value) if isinstance(value, int) and _is_long(value) else repr(value)


class _Short(reprlib.Repr):
    """`repr` that stops when there is enough: shared values may be endless when written out."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = self.maxtuple = self.maxlist = self.maxdict = self.maxset = self.maxfrozenset = SHOWN
        self.maxarray = self.maxdeque = SHOWN
        self.maxstring = self.maxother = self.maxlong = 2 * SHOWN
        self.left = SHOWN  # values

    def repr1(self, x: Any, level: int) -> str:
        """One value, as long as there is room."""
        self.left -= 1
        return "…" if self.left < 0 else super().repr1(x, level)

    def repr_int(self, x: int, level: int) -> str:
        """Whole, where it is not too long."""
        return f"<an integer of {x.bit_length():,} bits>" if _is_long(x) else super().repr_int(x, level)


def shown(value: Any) -> str:
    """A value as far as it fits into a message."""
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    if (isinstance(value, np.ndarray) and value.ndim != 1) or hasattr(value, "tocsr"):
        return f"<{' × '.join(map(str, value.shape))}>"
    text = _Short().repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "…"
