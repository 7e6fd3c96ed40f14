"""What the parsers of files have in common: lines, numbers, and what is said of broken ones."""

import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

DECIMAL = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
Token = tuple[int, bytes]  # a part of a line, and where in the line it begins


@dataclass(frozen=True)
class Example:
    """What a line says: a label (None where there is none), how much it counts, and a row of a matrix."""

    label: float | int | bytes | None
    weight: float | None
    entries: tuple[tuple[int, float], ...]


class Bad(ValueError):
    """A line is broken, at a byte that is counted from 0."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at


def parse_lines(
    text: bytes, parse_line: Callable[[bytes], Example | None], name: str = "<bytes>", first_line: int = 1
) -> list[Example]:
    """Give each line, without its LF or CRLF, to a parser, which gives None for a line that counts for nothing."""
    examples = []
    for number, line in enumerate(text.split(b"\n"), first_line):
        try:
            example = parse_line(line.removesuffix(b"\r")) if line else None
        except Bad as bad:
            raise ValueError(f"{name}:{number}:{bad.at + 1}: {bad}") from None
        if example is not None:
            examples.append(example)
    return examples


def tokens(line: bytes, begin: int = 0) -> list[Token]:
    """The parts of a line between blanks."""
    return [(match.start(), match[0]) for match in re.compile(rb"[^ \t]+").finditer(line, begin)]


def decimal(at: int, token: bytes, what: str, cure: str, single: bool = False) -> float:
    """A plain decimal, rounded correctly; `single` rounds on to float32."""
    if NOT_FINITE.fullmatch(token):
        raise Bad(at, f"{what} '{shown(token)}' is not finite; drop or impute such examples first")
    if not DECIMAL.fullmatch(token):
        raise Bad(at, f"{what} '{shown(token)}' is not a number; {cure}")
    number = float(token)
    if not fits(number, single):
        raise Bad(at, f"{what} '{shown(token)}' is too large for {'float32' if single else 'float64'}; rescale")
    return rounded(number, single)


def whole_or_float(token: bytes, number: float) -> float | int:
    """A label that was read as a number: whole ones that a float64 cannot tell apart are exact."""
    if abs(number) < 2**53:
        return number + 0.0  # −0 is 0
    return int(token) if token.removeprefix(b"-").removeprefix(b"+").isdigit() else int(number)


def fits(number: float, single: bool) -> bool:
    """Whether a number is finite, also as a float32."""
    try:
        return math.isfinite(rounded(number, single))
    except OverflowError:
        return False


def rounded(number: float, single: bool) -> float:
    """To float32, if asked for."""
    return struct.unpack("f", struct.pack("f", number))[0] if single else number


def shown(token: bytes) -> str:
    """The start of a token, as ASCII."""
    start = "".join(chr(c) if 32 <= c < 127 else f"\\x{c:02x}" for c in token[:40])
    return start + ("…" if len(token) > 40 else "")


def require_short(at: int, name: bytes) -> None:
    """Of a name that becomes part of many others."""
    if len(name) > 4096:
        what = f"the name '{shown(name)}' is longer than 4096 bytes"
        raise Bad(at, f"{what} and would be part of others; shorten it")


def require_utf8(at: int, word: bytes, what: str) -> None:
    """Of a word that is shown to people as it was written."""
    try:
        word.decode()
    except UnicodeDecodeError:
        raise Bad(at, f"{what} '{shown(word)}' is not UTF-8; convert the file to it") from None
