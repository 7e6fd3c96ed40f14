"""The svmlight (libsvm) format: one example a line, ``label [qid:n] index:value … [# comment]``.

Lines end with LF or CRLF, the last one also with the file; parts are separated by spaces and tabs; blank lines count
for nothing but the numbering. Numbers are plain decimals, and rounded correctly. Indices rise within a line; the first
feature is 1, or 0 where the file is zero-based.
"""

import re
import struct
from dataclasses import dataclass

MAX_COLUMN = 2**31 - 2
DIGITS = 19  # no whole number is written with more
DECIMAL = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True)
class Example:
    """One line; columns count from 0."""

    label: float
    qid: int
    entries: tuple[tuple[int, float], ...]


def parse(
    text: bytes,
    *,
    name: str = "<bytes>",
    first_line: int = 1,
    zero_based: bool = False,
    n_features: int | None = None,
    single: bool = False,
) -> list[Example]:
    r"""Parse whole lines; `single` rounds values on to float32.

    Examples
    --------
    >>> parse(b"+1 qid:7 1:0.5 3:2  # a comment\n")
    [Example(label=1.0, qid=7, entries=((0, 0.5), (2, 2.0)))]
    >>> parse(b"\n1 0:1\n", name="train.svm")
    Traceback (most recent call last):
    ValueError: train.svm:2:3: feature index 0: indices start at 1; pass zero_based=True
    """
    examples = []
    for number, line in enumerate(text.split(b"\n"), first_line):
        line = line.removesuffix(b"\r").split(b"#", 1)[0]
        tokens = [(match.start(), match[0]) for match in re.finditer(rb"[^ \t]+", line)]
        try:
            if tokens:
                examples.append(_example(tokens, 0 if zero_based else 1, n_features, single))
        except _Bad as bad:
            raise ValueError(f"{name}:{number}:{bad.at + 1}: {bad}") from None
    return examples


class _Bad(ValueError):
    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at


def _example(tokens: list[tuple[int, bytes]], base: int, n_features: int | None, single: bool) -> Example:
    at, token = tokens.pop(0)
    label = _decimal(at, token, "label", "write classes as numbers, one per example", single=False) + 0.0  # −0 is 0
    qid = -1
    if tokens and tokens[0][1].startswith(b"qid:"):
        at, token = tokens.pop(0)
        digits = token[4:]
        if not digits.isdigit() or len(digits) > DIGITS or int(digits) >= 2**63:
            raise _Bad(at, f"qid '{_shown(digits)}' is not a whole number from 0 to 2⁶³ − 1; renumber the queries")
        qid = int(digits)
    entries: list[tuple[int, float]] = []
    for at, token in tokens:
        last = entries[-1][0] if entries else -1
        digits, colon, value = token.partition(b":")
        column = _column(at, digits, bool(colon), base, last, n_features)
        cure = "write index:value, entries separated by spaces"
        entries.append((column, _decimal(at + len(digits) + 1, value, "value", cure, single)))
    return Example(label, qid, tuple(entries))


def _column(at: int, digits: bytes, colon: bool, base: int, last: int, n_features: int | None) -> int:
    shown = _shown(digits)
    if not colon:
        raise _Bad(at, f"'{shown}' is not an entry; write index:value, entries separated by spaces")
    if digits == b"qid":
        raise _Bad(at, "qid must stand right after the label; move it there")
    if digits[:1] == b"-" and digits[1:].isdigit():
        raise _Bad(at, f"feature index {shown}: indices must not be negative; renumber the features")
    if not digits.isdigit():
        raise _Bad(at, f"feature index '{shown}' is not a whole number; write index:value")
    if len(digits) > DIGITS or int(digits) - base > MAX_COLUMN:
        raise _Bad(at, f"feature index {shown}: the largest is {MAX_COLUMN + base}; hash the features into fewer")
    column = int(digits) - base
    if column < 0:
        raise _Bad(at, f"feature index {shown}: indices start at 1; pass zero_based=True")
    if column == last:
        raise _Bad(at, f"feature index {shown} twice: give each feature once; add up or drop duplicates")
    if column < last:
        raise _Bad(at, f"feature index {shown} after {last + base}: indices must rise; sort the entries of each line")
    if n_features is not None and column >= n_features:
        raise _Bad(at, f"feature index {shown}: beyond n_features={n_features}; raise it, or hash with bits")
    return column


def _decimal(at: int, token: bytes, what: str, cure: str, single: bool) -> float:
    if NOT_FINITE.fullmatch(token):
        raise _Bad(at, f"{what} '{_shown(token)}' is not finite; drop or impute such examples first")
    if not DECIMAL.fullmatch(token):
        raise _Bad(at, f"{what} '{_shown(token)}' is not a number; {cure}")
    number = float(token)
    try:
        number = struct.unpack("f", struct.pack("f", number))[0] if single else number
    except OverflowError:
        number = float("inf")
    if number in (float("inf"), float("-inf")):
        raise _Bad(at, f"{what} '{_shown(token)}' is too large for {'float32' if single else 'float64'}; rescale")
    return number


def _shown(token: bytes) -> str:
    """The start of a token, as ASCII."""
    start = "".join(chr(c) if 32 <= c < 127 else f"\\x{c:02x}" for c in token[:40])
    return start + ("…" if len(token) > 40 else "")
