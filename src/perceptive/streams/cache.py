"""The binary cache: examples parsed once, for later epochs at the speed of the disk or of the page cache.

::

    magic           8 bytes
    blocks          of each the arrays weight and qid (if there are any), data, which, indptr, indices: widest first
    index           JSON: what the cache was made from, the labels, and where each block lies
    end             length of the index (8 bytes, little endian), its CRC-32 (4), magic (8)

The index is checked before it is used, the blocks of a cache that is kept are compared with their CRC-32 when they are
read, and the core checks all rows.
"""

from __future__ import annotations

import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import __version__
from perceptive.errors import UsageError
from perceptive.file_lock import FileLock
from perceptive.streams.blocks import file_signature
from perceptive.streams.examples import Examples
from perceptive.streams.file_format import FileFormat
from perceptive.whole_file import UnnamedFile, WholeFile

MAGIC = b"PCPTVE3\n"
END = 8 + 4 + len(MAGIC)
WEIGHTED, GROUPED = 1, 2  # what a block has beside
Buffer = NDArray[np.uint8]


def signature(
    files: Iterable[str], format: FileFormat, dtype: np.dtype[Any], idf: NDArray[np.float32] | None, **options: Any
) -> dict[str, Any]:
    """What a cache depends on: the files, their contents, sizes and times, and how they are read."""
    factors = None if idf is None else zlib.crc32(idf.data)
    how = {"format": format.to_meta(), "dtype": dtype.str, "idf": factors, "version": __version__}
    return {"files": list(map(file_signature, files)), **how, **options}


class Unwritten(Exception):
    """A cache cannot be written."""


@contextmanager
def writing() -> Iterator[None]:
    """What fails here is the writing of a cache."""
    try:
        yield
    except OSError as error:
        raise Unwritten from error


class Cache:
    """Blocks of examples in a file, made from what has this `signature`; without a path it goes with the process."""

    def __init__(self, path: str | None, made_from: dict[str, Any]) -> None:
        self.path, self.made_from = path, made_from
        self.blocks: list[list[int]] = []  # offset, examples, entries, WEIGHTED + GROUPED, CRC-32 where kept, file
        self.labels: list[Any] = []
        self.left_out = [0, 0]  # examples without a label, lines that were skipped
        self.remarks: dict[str, str] = {}  # what was odd in the files
        self._index: dict[Any, int] = {}
        self._end = len(MAGIC)
        self._free: list[Buffer] = []
        self.file: WholeFile | UnnamedFile | io.FileIO = UnnamedFile() if path is None else WholeFile(path)
        try:
            self.file.write(MAGIC)
        except BaseException:
            self.file.close()
            raise

    @classmethod
    def open(cls, path: str, made_from: dict[str, Any]) -> Cache | None:
        """The cache that was kept under a name; None where there is none, or it was made from something else."""
        try:
            file = io.FileIO(path, "r")
        except FileNotFoundError:
            return None
        start = os.pread(file.fileno(), len(MAGIC), 0)
        if start != MAGIC and start.startswith(MAGIC[:6]):
            file.close()
            raise ValueError(f"{path}: a cache of another version of perceptive; delete it")
        if start and start != MAGIC:
            file.close()
            raise UsageError(f"{path}: is not a cache, and would be lost; give the cache another name")
        try:
            index = _read_index(file)
            if index is None or index["made_from"] != json.loads(json.dumps(made_from)):
                file.close()
                return None
            cache = cls.__new__(cls)
            cache.path, cache.made_from, cache.file = path, made_from, file
            cache.labels, cache.blocks, cache.left_out = index["labels"], index["blocks"], index["left_out"]
            cache.remarks = index["remarks"]
            cache._free = []
            return cache
        except BaseException:
            file.close()
            raise

    def append(self, examples: Examples, file: int = 0) -> None:
        """Write a block of a file; all its examples must have labels."""
        place = []
        for label in examples.labels:
            if label not in self._index:
                self._index[label] = len(self.labels)
                self.labels.append(label)
            place.append(self._index[label])
        which = np.array(place, np.int32)[examples.which]
        arrays = [examples.data, which, examples.indptr.astype(np.int32, copy=False), examples.indices]
        wide = [array for array in (examples.weight, examples.qid) if array is not None]
        kind = WEIGHTED * (examples.weight is not None) + GROUPED * (examples.qid is not None)
        offset, crc = self._end, 0
        for array in [*wide, *arrays]:
            view = np.ascontiguousarray(array).data
            if self.path is not None:
                crc = zlib.crc32(view, crc)
            self._end += view.nbytes
            self.file.write(view)
        self.blocks.append([offset, len(examples), len(examples.data), kind, crc, file])

    def finish(self) -> None:
        """Write the index, and give the file its name."""
        if not isinstance(self.file, WholeFile):
            return
        contents = {"labels": self.labels, "blocks": self.blocks, "left_out": self.left_out, "remarks": self.remarks}
        index = json.dumps({"made_from": self.made_from, **contents}).encode()
        self.file.write(index + len(index).to_bytes(8, "little") + zlib.crc32(index).to_bytes(4, "little") + MAGIC)
        self.file.finish()

    def close(self) -> None:
        """Let go of the file; one that was not finished disappears."""
        self.file.close()

    def read(self, numbers: Sequence[int], dtype: np.dtype[Any]) -> tuple[Examples, Buffer]:
        """Some blocks, one after the other, and the memory they lie in, which is to be given back by `release`.

        Queries of different blocks are different.
        """
        chosen = [self.blocks[number] for number in numbers]
        n, stored = (sum(block[i] for block in chosen) for i in (1, 2))
        kind = WEIGHTED * any(block[3] & WEIGHTED for block in chosen) + GROUPED * any(
            block[3] & GROUPED for block in chosen
        )
        size = _size(n, stored, kind, dtype.itemsize)
        buffer = self._free.pop() if self._free else np.empty(0, np.uint8)
        if len(buffer) < size:
            buffer = np.empty(size + size // 8, np.uint8)  # pages that are not written to take no memory
        at = 0

        def take(count: int, kind: Any) -> NDArray[Any]:
            nonlocal at
            array: NDArray[Any] = np.frombuffer(buffer, kind, count, at)
            at += array.nbytes
            return array

        weight = take(n, np.float64) if kind & WEIGHTED else None
        qid = take(n, np.int64) if kind & GROUPED else None
        data, which = take(stored, dtype), take(n, np.int32)
        indptr, indices = take(n + 1, np.int32), take(stored, np.int32)
        row = entry = query = 0
        for block in chosen:
            rows, entries = slice(row, row + block[1]), slice(entry, entry + block[2])
            bounds = indptr[row : row + block[1] + 1]
            wide = []
            for array, has, default in ((weight, WEIGHTED, 1), (qid, GROUPED, -1)):
                if array is not None and block[3] & has:
                    wide.append(array[rows])
                elif array is not None:
                    array[rows] = default
            self._fill(block, [*wide, data[entries], which[rows], bounds, indices[entries]])
            self._check(which[rows], bounds, block[2])
            bounds += entry
            if qid is not None and block[3] & GROUPED and block[1]:
                if int(qid[rows].min()) < 0 or int(qid[rows].max()) >= block[1]:
                    raise ValueError(f"{self.path or 'the cache'}: has lists that do not exist; delete it")
                qid[rows] += query
                query = int(qid[rows].max()) + 1
            row, entry = rows.stop, entries.stop
        return Examples(self.labels, which, weight, qid, indptr, indices, data), buffer

    def _fill(self, block: list[int], arrays: list[NDArray[Any]]) -> None:
        """Read a block into arrays."""
        offset, _, _, _, wanted, _ = block
        crc = 0
        for array in arrays:
            view = array.data.cast("B") if len(array) else memoryview(b"")
            at = 0
            while at < len(view):
                got = os.preadv(self.file.fileno(), [view[at:]], offset + at)
                if got == 0:
                    raise ValueError(f"{self.path or 'the cache'}: ends before it should; delete it")
                at += got
            offset += at
            crc = zlib.crc32(view, crc) if self.path is not None else 0
        if self.path is not None and crc != wanted:
            raise ValueError(f"{self.path}: the cache is damaged; delete it")

    def _check(self, which: NDArray[np.int32], indptr: NDArray[np.int32], stored: int) -> None:
        """Raise where the rows of a block cannot be."""
        if len(which) and (int(which.min()) < 0 or int(which.max()) >= len(self.labels)):
            raise ValueError(f"{self.path or 'the cache'}: has labels that do not exist; delete it")
        if indptr[0] != 0 or indptr[-1] != stored or (indptr[1:] < indptr[:-1]).any():
            raise ValueError(f"{self.path or 'the cache'}: has rows that do not fit together; delete it")

    def sizes(self, dtype: np.dtype[Any], first: int = 0) -> list[int]:
        """Bytes of each block, from one on."""
        return [_size(n, stored, kind, dtype.itemsize) for _, n, stored, kind, _, _ in self.blocks[first:]]

    def file_of(self, number: int) -> int:
        """The number of the file that a block came from."""
        return self.blocks[number][5]

    def release(self, buffer: Buffer) -> None:
        """Let a later block have the memory."""
        self._free.append(buffer)

    def let_go(self) -> None:
        """Give up the memory that was to be used again."""
        self._free.clear()


def open_or_lock(path: str, made_from: dict[str, Any], anew: bool) -> tuple[Cache | None, FileLock | None]:
    """The cache that was kept under a name, which any number of runs may read; else the right to write it.

    It is to be written in any case ``anew``. Raises BlockingIOError where another run is writing it.
    """
    kept = Cache.open(path, made_from)
    if kept is not None and not anew:
        return kept, None
    if kept is not None:
        kept.close()
    lock = FileLock(path, "cache")
    kept = None if anew else Cache.open(path, made_from)  # another run may just have finished it
    if kept is None:
        return None, lock
    lock.release()
    return kept, None


def _size(n: int, stored: int, kind: int, itemsize: int) -> int:
    wide = bool(kind & WEIGHTED) + bool(kind & GROUPED)
    return 8 * n * wide + 4 * (2 * n + 1) + (4 + itemsize) * stored


def _read_index(file: io.FileIO) -> dict[str, Any] | None:
    """The index of a finished cache; None where it is not sound."""
    size = os.fstat(file.fileno()).st_size
    if size < len(MAGIC) + END or os.pread(file.fileno(), len(MAGIC), 0) != MAGIC:
        return None
    end = os.pread(file.fileno(), END, size - END)
    length, crc = int.from_bytes(end[:8], "little"), int.from_bytes(end[8:12], "little")
    if end[12:] != MAGIC or length > size - END - len(MAGIC):
        return None
    text = os.pread(file.fileno(), length, size - END - length)
    if zlib.crc32(text) != crc:
        return None
    try:
        index: dict[str, Any] = json.loads(text)
        return index if _is_sound(index, size - END - length) else None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None


def _is_sound(index: dict[str, Any], end: int) -> bool:
    """Whether every field of an index is of its type and in its range; the blocks end before ``end``."""
    itemsize = np.dtype(index["made_from"]["dtype"]).itemsize
    counts = [index["left_out"], *index["blocks"]]
    if not all(type(count) is int and count >= 0 for some in counts for count in some) or len(counts[0]) != 2:
        return False
    if not isinstance(index["labels"], list) or not all(type(one) in (str, int, float) for one in index["labels"]):
        return False
    if not all(isinstance(said, str) for said in index["remarks"].values()):
        return False
    return all(
        kind < 4 and max(n, stored) < end and offset + _size(n, stored, kind, itemsize) <= end
        for offset, n, stored, kind, _, _ in index["blocks"]
    )
