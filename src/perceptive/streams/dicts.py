"""Dicts as examples: by the rules of JSON lines, or as lines of the formats that have no columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from perceptive.streams.examples import Examples
from perceptive.streams.file_format import FileFormat
from perceptive.streams.values import is_missing, plain, plain_row

if TYPE_CHECKING:
    import scipy.sparse as sp


def from_dicts(
    dicts: Iterable[Mapping[str, Any] | tuple[Mapping[str, Any], Any]],
    *,
    batch: int = 4096,
    dtype: DTypeLike = np.float64,
    **how: Any,
) -> Iterator[tuple[sp.csr_array, NDArray[Any]]]:
    """Make batches of ``(X, y)`` of dicts, or of pairs of a dict and a label, however many come.

    A number is the feature ``name``, a string the feature ``name=string``, as are booleans and dates (``ripe=True``);
    None, NaN and the strings "" and "NA" are missing. Nested dicts give ``outer.inner``, lists ``name=string`` or
    ``name[0]``. The value of ``"text"`` is a text. Without a pair the label stands under ``"label"``. ``"weight"`` is
    the importance, which is left out of ``(X, y)``, as it is for files.

    Parameters
    ----------
    dicts : iterable
    batch : int
        Examples in a batch; the last one may hold fewer.
    dtype : {float64, float32}
    **how
        What `FileFormat` takes for JSON lines: ``bits``, ``label``, ``text``, ``interactions``, …

    Raises
    ------
    ValueError
        For values that JSON has no words for, and numbers that are not finite, with the row.

    Examples
    --------
    >>> pairs = [({"colour": "red", "size": 2}, "apple"), ({"colour": "blue"}, "plum")]
    >>> [(X.shape, X.nnz, y.tolist()) for X, y in from_dicts(pairs, bits=10)]
    [((2, 1024), 3, ['apple', 'plum'])]
    """
    format = FileFormat(name="json", **how)
    if batch < 1:
        raise ValueError(f"batch is {batch}; it must be at least 1")
    if format.has_idf:
        raise ValueError("idf reads the texts twice, an iterator gives them once; write them to a file")
    if format.scale in ("standard", "max") and format.scaling is None:
        raise ValueError(
            "scale reads the rows twice, an iterator gives them once; write them to a file, or give scaling"
        )
    assert format.width is not None
    parser = format.parser()
    rows = iter(dicts)
    begin = 0
    while some := list(islice(rows, batch)):
        text = b"\n".join(as_line(begin + i, row, format.label) for i, row in enumerate(some))
        *arrays, _, _, complaints, _ = parser.parse(text, np.dtype(dtype) == np.float32, False)
        for line, _, _, message in complaints:
            raise ValueError(f"row {begin + line}: {message}")
        examples = Examples(*arrays)
        yield examples.X(format.width), examples.y()
        begin += len(some)


def as_line(number: int, row: Any, label: str) -> bytes:
    """A dict, or a pair of a dict and a label, as a line of JSON."""
    features, y = row if isinstance(row, tuple) and len(row) == 2 else (row, None)
    if not isinstance(features, Mapping):
        what = type(features).__name__
        raise ValueError(f"row {number} is a {what}; give dicts, or pairs of a dict and a label")
    try:
        found = dict(features) if y is None else {**features, label: y}
        try:
            return json.dumps(found, allow_nan=False, default=_plain).encode()
        except ValueError:  # NaN is missing
            return json.dumps(_without_nan(found), allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError) as error:
        raise ValueError(f"row {number}: {error}; give strings, finite numbers, dicts and lists") from None


def as_svmlight_line(number: int, row: Mapping[Any, Any], zero_based: bool) -> bytes:
    """A dict of numbers by the index of their feature, as files have it, as a line of svmlight.

    Examples
    --------
    >>> as_svmlight_line(0, {"7": 0.5, 2: 1}, zero_based=False)
    b'0 2:1 7:0.5'
    """
    entries = []
    for name, x in plain_row(row).items():
        if not (name.isascii() and name.isdecimal()) or isinstance(x, str):
            what = f"the value {x!r}" if isinstance(x, str) else f"the feature {name!r}"
            example = "{1: 0.5, 7: 2.0}, counted from " + ("0" if zero_based else "1")
            raise ValueError(
                f"row {number} has {what}, but the model learned from numbered features; give numbers: {example}"
            )
        entries.append((int(name), x))
    return " ".join(["0", *(f"{index}:{x!r}" for index, x in sorted(entries))]).encode()


def as_vw_line(number: int, row: Mapping[Any, Any]) -> bytes:
    """A dict of features, each ``name`` or ``namespace^name``, as a line of Vowpal Wabbit.

    Examples
    --------
    >>> as_vw_line(0, {"size": 2.5, "word^good": 1, "colour": "red"}).decode()
    '| size:2.5 colour=red |word good:1'
    """
    spaces: dict[str, list[str]] = {}
    for name, x in plain_row(row).items():
        space, _, rest = name.rpartition("^")
        said = f"{rest}={x}" if isinstance(x, str) else f"{rest}:{x!r}"
        if any(c in " \t\r\n|" for c in space + said) or ":" in space or said.count(":") != (not isinstance(x, str)):
            raise ValueError(
                f"row {number}: {name!r} has a space, a bar or a colon, which Vowpal Wabbit's features cannot have; "
                "write '_' instead, as in the files that the model learned from"
            )
        spaces.setdefault(space, []).append(said)
    return " ".join(f"|{space} {' '.join(some)}" for space, some in spaces.items()).encode() or b"|"


def _plain(value: Any) -> Any:
    """What JSON can say of NumPy's arrays, of other mappings, and of values that it has no words for."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    found = plain(value)
    if found is None or isinstance(found, str | int | float):
        return found
    raise TypeError(f"{type(value).__name__} has no place in a row")


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nan(one) for name, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_without_nan(one) for one in value]
    return None if is_missing(value) else value
