"""The model file: named arrays and plain values, in the safetensors layout, with every byte accounted for.

::

    8 bytes         length of the header, little endian
    header          JSON, padded with spaces to a multiple of 8:
                    {"__metadata__": {"format": "perceptive", "version": "2", "kind": …, "meta": …},
                     "<name>": {"dtype": "F64", "shape": [2, 3], "data_offsets": [begin, end]}, …}
    data            the arrays, little endian, widest items first and then by name, without holes

Any safetensors reader opens it. Two additions find damage that safetensors lets through: given its contents
a header can be written in one way only, and a reader compares it byte for byte; and the array ``crc32`` holds
the CRC-32 of length and header, and of the data (its own eight bytes taken as zeros). ``meta`` is JSON within
JSON, keys sorted; the floats that JSON lacks are ``{"__float__": "nan"}``, ``"inf"`` and ``"-inf"``.
What a header has no room for is packed into two arrays (`packed_contents`).

A CRC finds accidents, not forgeries. A forged file is at worst a model that predicts nonsense: nothing in it
is ever executed, and no count or offset is used before it is checked.

Version policy
--------------
``version`` is one whole number. It is raised when a reader of the old number would misread the file, and only
then: a further array or ``meta`` key that older readers may ignore does not raise it. A reader takes its own
number and says "upgrade" to a higher one; a release that raises the number still reads the number before it.
For this the first bytes of a header, up to the version, are the same for all versions to come.
"""

import json
import math
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from perceptive.file_lock import FileLock
from perceptive.packed_contents import NAMES, pack, unpack
from perceptive.whole_file import WholeFile

__all__ = ["Json", "ModelFileError", "read", "write"]

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Layout: TypeAlias = dict[str, tuple[str, tuple[int, ...]]]  # name → dtype, shape

VERSION = 2  # 1: all weights of a linear model, one after the other
PREFIX = re.compile(rb'\{"__metadata__":\{"format":"perceptive","version":"([0-9]{1,9})",')
DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BOOL": "|b1",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1",
}  # fmt: skip
CODES = {dtype: code for code, dtype in DTYPES.items()}
CRC = "crc32"
# 4 MiB is room for 50,000 arrays, or 300,000 short labels in `meta`; where there are more, all is packed into two
# arrays. The worst header found takes 2 s and 380 MB to parse, and would take four times that at 16 MiB.
MAX_HEADER = 4 << 20
MAX_DIMENSIONS = 64  # numpy's own limit
CHUNK = 4 << 20  # bytes; writing holds no more than this beside the arrays themselves
DAMAGED = "the file is damaged or incomplete: fetch it, or save the model, again"


class ModelFileError(ValueError):
    """A file that is not a sound model file, or contents that cannot go into one."""


class _TooLong(ValueError):
    """A header beyond the limit."""


def write(
    path: str | os.PathLike[str],
    kind: str,
    meta: Mapping[str, Json],
    arrays: Mapping[str, NDArray[Any]],
    lock: FileLock | None = None,
) -> None:
    """Write a model file, whole or not at all, as `WholeFile` does.

    Parameters
    ----------
    path : str or PathLike
        Where to; an older file of that name is replaced.
    kind : str
        What the file holds; readers dispatch on it.
    meta : mapping
        Plain values: None, bool, int, float (also nan and infinities), str, and lists and dicts of them.
        Tuples come back as lists.
    arrays : mapping of str to ndarray
        Booleans, integers, float32 and float64. The name ``crc32`` is taken.
    lock : FileLock or None
        The lock on that path, where there is one.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from perceptive import model_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.model")
    ...     model_file.write(path, "toy", {"rate": 0.5}, {"w": np.arange(3.0)})
    ...     kind, meta, arrays = model_file.read(path)
    ...     print(kind, meta, arrays["w"].tolist())
    toy {'rate': 0.5} [0.0, 1.0, 2.0]
    """
    arrays = {name: np.asarray(array) for name, array in arrays.items()}
    try:
        if not isinstance(kind, str) or not isinstance(meta, Mapping):
            raise ValueError("kind must be a str and meta a dict")
        header, spans, arrays = _laid_out(kind, meta, arrays)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{os.fsdecode(path)}: cannot be written: {error}") from error
    with WholeFile(path, lock) as file:
        file.write(header)
        crc = 0
        for name in spans:
            for chunk in _chunks(arrays[name]):
                crc = zlib.crc32(chunk, crc)
                file.write(chunk)
        file.seek(len(header) + spans[CRC][0])
        file.write(np.array([zlib.crc32(header), crc], "<u4").data)


def _laid_out(
    kind: str, meta: Mapping[str, Json], arrays: dict[str, NDArray[Any]]
) -> tuple[bytes, dict[str, tuple[int, int]], dict[str, NDArray[Any]]]:
    """A header, the place of each array, and the arrays; these are packed where the header would be too long."""
    layout = _layout(arrays)
    crc = {CRC: np.zeros(2, "<u4")}
    try:
        return *_header(kind, meta, layout), arrays | crc
    except _TooLong:
        layout.pop(CRC)
        packed = pack(_dumps(_plain(meta), sort=True), layout, arrays, DTYPES)
        return *_header(kind, {}, _layout(packed, packed=True)), packed | crc


def read(
    path: str | os.PathLike[str], *, verify: bool = True, mmap: bool = False
) -> tuple[str, dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a model file; its arrays are read-only.

    Parameters
    ----------
    path : str or PathLike
        The file.
    verify : bool
        Whether to compare the data with their checksum. The header is always checked.
    mmap : bool
        Whether the arrays are views of the file instead of copies. Such a file may be replaced by renaming only, as
        `write` does it: who writes into it changes the arrays, and who shortens it ends the process (SIGBUS).

    Returns
    -------
    kind : str
    meta : dict
    arrays : dict of str to ndarray
        Of type numpy.memmap where they are views, unless they are empty.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, or was made by a newer version.
    FileNotFoundError
        If there is none.

    Examples
    --------
    >>> from perceptive import model_file
    >>> model_file.read("/")
    Traceback (most recent call last):
    perceptive.model_file.ModelFileError: /: not a file; give the path of a model file
    """
    where = os.fsdecode(path)
    try:
        return _read(where, verify, mmap)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ModelFileError(
            f"{where}: cannot be read ({error.strerror}); check the path and its permissions"
        ) from error
    except MemoryError as error:
        raise ModelFileError(
            f"{where}: needs more memory than there is; free some, or map the file into memory"
        ) from error
    except RecursionError as error:
        raise ModelFileError(f"{where}: the header is nested too deeply; {DAMAGED}") from error
    except ValueError as error:
        raise ModelFileError(f"{where}: {error}") from error


def _read(where: str, verify: bool, mmap: bool) -> tuple[str, dict[str, Any], dict[str, NDArray[Any]]]:
    if not stat.S_ISREG(os.stat(where).st_mode):  # before open(), which would wait for a pipe's writer
        raise ValueError("not a file; give the path of a model file")
    with open(where, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if size < 8 or not 0 < length <= min(size - 8, MAX_HEADER):
            raise ValueError(_what_else(start + file.read(1), size))
        header = start + file.read(length)
        version, kind, meta, layout = _parse(header[8:])
        canonical, spans = _header(kind, meta, layout, version)
        if header != canonical:
            raise ValueError(f"the header is not as perceptive writes it; {DAMAGED}")
        expected = len(header) + max(end for _, end in spans.values())
        if size != expected:
            raise ValueError(f"{size} bytes long where the header says {expected}; {DAMAGED}")
        data = np.memmap(file, np.uint8, "r", shape=(size,))[len(header) :] if mmap else None

        arrays: dict[str, NDArray[Any]] = {}
        crc = 0
        for name, (begin, end) in spans.items():  # as they lie in the file
            raw = _take(file, end - begin) if data is None else data[begin:end]
            if verify:
                crc = zlib.crc32(bytes(end - begin) if name == CRC else raw.data, crc)
            code, shape = layout[name]
            if code == "BOOL" and np.any(raw > 1):  # numpy takes for granted that they are 0 and 1
                raise ValueError(f"array {name[:99]!r} holds booleans that are neither 0 nor 1; {DAMAGED}")
            arrays[name] = raw.view(DTYPES[code]).reshape(shape)
            arrays[name].flags.writeable = False

    header_crc, data_crc = arrays.pop(CRC).tolist()
    if zlib.crc32(header) != header_crc:
        raise ValueError(f"the header does not match its checksum; {DAMAGED}")
    if verify and crc != data_crc:
        raise ValueError(f"the data do not match their checksum; {DAMAGED}")
    if arrays.keys() >= set(NAMES):
        try:
            meta, arrays = unpack(arrays, lambda text: _loads(text, _value), DTYPES, _is_shape)
        except ValueError as error:
            raise ValueError(f"{error}; {DAMAGED}") from None
    return kind, meta, arrays


def _take(file: IO[bytes], size: int) -> NDArray[np.uint8]:
    """The next bytes of a file, in memory of their own."""
    raw = np.empty(size, np.uint8)
    if file.readinto(raw.data) != size:  # type: ignore[attr-defined]
        raise ValueError(f"it has become shorter while it was read; {DAMAGED}")
    return raw


def _header(
    kind: str, meta: Mapping[str, Json], layout: Layout, version: int = VERSION
) -> tuple[bytes, dict[str, tuple[int, int]]]:
    """The one header that these contents can have, its length before it, and each array's place."""
    metadata = {
        "format": "perceptive",
        "version": str(version),
        "kind": kind,
        "meta": _dumps(_plain(meta), sort=True),
    }
    entries: dict[str, Any] = {"__metadata__": metadata}
    spans = {}
    begin = 0
    itemsize = {name: np.dtype(DTYPES[code]).itemsize for name, (code, _) in layout.items()}
    widest_first = sorted(layout, key=lambda name: (-itemsize[name], name))  # so that all are aligned
    for name in widest_first:
        code, shape = layout[name]
        end = begin + math.prod(shape) * itemsize[name]
        entries[name] = {"dtype": code, "shape": list(shape), "data_offsets": [begin, end]}
        spans[name] = begin, end
        begin = end
    try:
        text = _dumps(entries).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"a name or text has no UTF-8 form ({error.reason}); repair it") from None
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER:
        raise _TooLong(f"the header takes {len(text)} bytes, the limit is {MAX_HEADER}")
    return len(text).to_bytes(8, "little") + text, spans


def _layout(arrays: Mapping[str, NDArray[Any]], packed: bool = False) -> Layout:
    layout: Layout = {CRC: ("U32", (2,))}
    for name, array in arrays.items():
        code = CODES.get(array.dtype.newbyteorder("<").str)
        if not isinstance(name, str) or name in (CRC, "__metadata__", *(() if packed else NAMES)):
            raise ValueError(f"an array cannot be called {name!r}; choose another name")
        if code is None:
            raise ValueError(f"array {name!r} is of type {array.dtype}; cast it to one of {', '.join(DTYPES)}")
        layout[name] = code, array.shape
    return layout


def _parse(header: bytes) -> tuple[int, str, dict[str, Any], Layout]:
    """What the header says, checked as far as `_header` needs it to make the same bytes again."""
    prefix = PREFIX.match(header)
    if prefix is None:
        raise ValueError(_what_else(bytes(8) + header, len(header) + 8))
    version = int(prefix[1])
    if version == 0:
        raise ValueError(f"the header is not as perceptive writes it; {DAMAGED}")
    if version > VERSION:
        raise ValueError(f"made by a newer perceptive (file version {version}, this one reads {VERSION}): upgrade")
    entries = _loads(header, _object)
    metadata = entries.pop("__metadata__")
    kind, meta = metadata.get("kind"), metadata.get("meta")
    if not isinstance(kind, str) or not isinstance(meta, str):
        raise ValueError(f"the header lacks its kind or meta; {DAMAGED}")
    values = _loads(meta, _value)
    layout: Layout = {}
    for name, entry in entries.items():
        code, shape = (entry.get("dtype"), entry.get("shape")) if isinstance(entry, dict) else (None, None)
        if not isinstance(code, str) or code not in DTYPES:
            raise ValueError(f"array {name[:99]!r} is of an unknown type; {DAMAGED}")
        if not _is_shape(shape):
            raise ValueError(f"array {name[:99]!r} has an impossible shape; {DAMAGED}")
        layout[name] = code, tuple(shape)
    if layout.get(CRC) != ("U32", (2,)):
        raise ValueError(f"there is no checksum; {DAMAGED}")
    return version, kind, values, layout


def _is_shape(shape: object) -> TypeGuard[list[int]]:
    """Also for empty arrays the other dimensions must fit into memory together: numpy insists."""
    return (
        isinstance(shape, list)
        and len(shape) <= MAX_DIMENSIONS
        and all(type(n) is int and 0 <= n < 2**63 for n in shape)
        and math.prod(n or 1 for n in shape) < 2**60
    )


def _what_else(start: bytes, size: int) -> str:
    """Why a file that starts with these bytes is not a model file, in the user's terms."""
    if size == 0:
        return f"the file is empty; {DAMAGED}"
    if start.startswith(b"PK\x03\x04"):
        seems = "a zip archive (numpy or torch?)"
    elif start.startswith(b"\x80") and start[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        seems = "a pickle, which perceptive never opens"
    elif start[8:9] == b"{":
        seems = "a safetensors file of another program, or a damaged one"
    else:
        seems = "something else, or cut short"
    return f"not a perceptive model file but {seems}; give a model saved by perceptive"


def _plain(value: Json) -> Any:
    """`value` as JSON can hold it and `_loads` gives it back."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"__float__": repr(float(value))}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        if "__float__" in value or not all(isinstance(key, str) for key in value):
            raise ValueError("meta has a key that is '__float__' or not a str; rename it")
        return {key: _plain(item) for key, item in value.items()}
    raise ValueError(f"meta holds a {type(value).__name__}; make it a plain Python value, or an array")


def _dumps(value: Any, sort: bool = False) -> str:
    return json.dumps(value, sort_keys=sort, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _loads(text: bytes | str, make_object: Callable[[list[tuple[str, Any]]], Any]) -> dict[str, Any]:
    try:
        text = text.decode() if isinstance(text, bytes) else text
        value = json.loads(text, object_pairs_hook=make_object, parse_constant=_no_constant)
    except ValueError as error:
        raise ValueError(f"the header is not sound JSON ({str(error)[:200]}); {DAMAGED}") from None
    if not isinstance(value, dict):
        raise ValueError(f"the header is not a JSON object; {DAMAGED}")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key occurs twice")
    return result


def _value(pairs: list[tuple[str, Any]]) -> dict[str, Any] | float:
    """An object within `meta`: a dict, or what `_plain` made of a float."""
    result = _object(pairs)
    if "__float__" not in result:
        return result
    if result["__float__"] not in ("nan", "inf", "-inf"):
        raise ValueError("a __float__ that is not nan, inf or -inf")
    return float(result["__float__"])


def _no_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _chunks(array: NDArray[Any]) -> Iterator[memoryview]:
    """The array's bytes in C order, little endian; nothing is copied that lies so already."""
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    step = max(1, CHUNK // array.itemsize)
    for begin in range(0, array.size, step):
        yield np.ascontiguousarray(flat[begin : begin + step], array.dtype.newbyteorder("<")).data
