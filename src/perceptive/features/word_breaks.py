"""Where words begin and end in any script: Unicode's default word boundaries, UAX #29.

The twin, `perceptive.reference.word_breaks`, has the rules one by one; here they are a regular expression over the
properties of the characters, a letter for each.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from itertools import accumulate

from perceptive.features.word_break_table import RUNS

_X = "[ej]*+"  # what extends a character
_LETTERS = "[aih]"
_ELEMENT = (  # of a word: a letter or a digit, with what stands between it and the next
    f"(?:h{_X}(?:\"{_X}(?=h)|[:.']{_X}(?={_LETTERS}))?|[ai]{_X}(?:[:.']{_X}(?={_LETTERS}))?|d{_X}(?:[,.']{_X}(?=d))?)"
)
_JOINED = f"(?:{_ELEMENT}+|(?:k{_X})+)"
_UNDERLINE = f"(?:_{_X})"
_WORD = f"{_UNDERLINE}*{_JOINED}(?:{_UNDERLINE}+{_JOINED})*{_UNDERLINE}*"
_GERESH = f"{_UNDERLINE}*(?:{_JOINED}{_UNDERLINE}+)*{_ELEMENT}*h{_X}'{_X}(?!{_LETTERS})"  # a word that ends in one
_UNIT = f"(?:{_GERESH}|{_WORD}|{_UNDERLINE}+|r{_X}r{_X}|s+{_X}|[^cln]{_X})"
_SEGMENT = f"cl|[cln]|{_UNIT}(?:(?<=j)(?=[pi]){_UNIT})*"


class _Properties(dict[int, str]):
    """The letter of each character, by its number, for `str.translate`; those that were asked for are kept."""

    def __init__(self) -> None:
        runs = re.findall(r"(\D)(\d*)", RUNS)
        self._letters: list[str] = [letter for letter, _ in runs]
        self._starts = [0, *accumulate(int(length or 1) for _, length in runs)]

    def __missing__(self, code: int) -> str:
        letter = self[code] = self._letters[bisect_right(self._starts, code) - 1]
        return letter


@cache
def _made() -> tuple[_Properties, re.Pattern[str]]:
    """The properties and the pattern of a segment, made when the first text is read."""
    return _Properties(), re.compile(_SEGMENT)


def properties(text: str) -> str:
    """The property Word_Break of each character, as a letter; `perceptive.reference.word_breaks` says which.

    Examples
    --------
    >>> properties("Some 1,200!")
    'aaaasd,dddo'
    """
    return text.translate(_made()[0])


def segments(properties: str) -> list[tuple[int, int]]:
    """Start and end of each part of a text between two word boundaries, by the properties of its characters.

    Examples
    --------
    >>> segments("aaaasd,dddo")
    [(0, 4), (4, 5), (5, 10), (10, 11)]
    """
    return [match.span() for match in _made()[1].finditer(properties)]
