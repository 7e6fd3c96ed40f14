"""Contents that no header has room for, very many labels or arrays, as two arrays.

``packed.contents`` is JSON: ``{"arrays": {name: [type, shape], …}, "meta": …}``. ``packed.data`` holds these arrays in
that order, each at a multiple of 8 bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONTENTS, DATA = NAMES = ("packed.contents", "packed.data")
# Room for 800,000 arrays, or five million short labels. Parsing takes up to 30 bytes of memory for one of these.
MOST = 64 << 20
Layout = Mapping[str, tuple[str, tuple[int, ...]]]  # name → type, shape
Arrays = dict[str, NDArray[Any]]


def pack(meta: str, layout: Layout, arrays: Mapping[str, NDArray[Any]], types: Mapping[str, str]) -> Arrays:
    """Contents as two arrays; ``meta`` is JSON, and ``types`` has NumPy's name of each type."""
    index = json.dumps({name: [code, list(shape)] for name, (code, shape) in layout.items()}, ensure_ascii=False)
    contents = f'{{"arrays":{index},"meta":{meta}}}'.encode()
    if len(contents) > MOST:
        raise ValueError(
            f"its labels and the names of its arrays take {len(contents):,} bytes, the limit is {MOST:,}; have fewer "
            "classes, or let them compete in one problem"
        )
    parts = []
    for name, (code, _) in layout.items():
        raw = np.ascontiguousarray(arrays[name], types[code]).reshape(-1).view(np.uint8)
        parts += [raw, np.zeros(-len(raw) % 8, np.uint8)]
    data = np.concatenate([np.zeros(0, np.uint8), *parts]).view(np.uint64)
    return {CONTENTS: np.frombuffer(contents, np.uint8), DATA: data}


def unpack(
    packed: Arrays,
    loads: Callable[[bytes], dict[str, Any]],
    types: Mapping[str, str],
    is_shape: Callable[[object], bool],
) -> tuple[dict[str, Any], Arrays]:
    """What `pack` was given: meta as a dict, and arrays; raises ValueError where it does not fit together."""
    contents, data = packed[CONTENTS], packed[DATA]
    if contents.dtype != np.uint8 or contents.ndim != 1 or len(contents) > MOST:
        raise ValueError("its contents are of another type, or too long")
    if data.dtype != np.uint64 or data.ndim != 1:
        raise ValueError("its data are of another type")
    found = loads(contents.tobytes())
    index, meta = found.get("arrays"), found.get("meta")
    if not isinstance(index, dict) or not isinstance(meta, dict):
        raise ValueError("its contents lack arrays or meta")
    raw, begin, arrays = data.view(np.uint8), 0, {}
    for name, entry in index.items():
        code, shape = entry if isinstance(entry, list) and len(entry) == 2 else (None, None)
        if not isinstance(code, str) or code not in types or not is_shape(shape):
            raise ValueError(f"array {name[:99]!r} is of an unknown type or shape")
        assert isinstance(shape, list)
        end = begin + math.prod(shape) * np.dtype(types[code]).itemsize
        if end > len(raw):
            raise ValueError(f"array {name[:99]!r} goes beyond the data")
        if code == "BOOL" and np.any(raw[begin:end] > 1):
            raise ValueError(f"array {name[:99]!r} holds booleans that are neither 0 nor 1")
        arrays[name] = raw[begin:end].view(types[code]).reshape(shape)
        begin = end + -end % 8
    if begin != len(raw):
        raise ValueError("there are data of no array")
    return meta, arrays
