"""How files are read whose labels meet classes that are known: as numbers, as words, or as the files have them.

What a label means is said once, in `core/formats/label.hpp`. It leaves open whether a string that reads as a number is
one: a CSV file cannot say it, while Parquet and JSON can. So what a model has learned from is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

NUMERAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
CODE = re.compile(r"[+-]?0[0-9].*|.*[eE].*")


def reading_for(classes: Iterable[Any]) -> str:
    """How labels are read that are to be among the classes of a model.

    Examples
    --------
    >>> reading_for([1, 2, "ham"]), reading_for(["07", "08", "ham"]), reading_for(["ham", "spam"])
    ('numbers', 'words', 'typed')
    """
    kinds = {isinstance(one, str) for one in classes if not isinstance(one, str) or NUMERAL.fullmatch(one)}
    return "typed" if len(kinds) != 1 else "words" if kinds.pop() else "numbers"


def reading_of_words(words: Iterable[str]) -> str:
    """How labels are read where some are told as words: those that look like codes, such as 007 and 1e3, stay so.

    Examples
    --------
    >>> reading_of_words(["+1", "-1"]), reading_of_words(["07", "10"]), reading_of_words(["ham", "spam"])
    ('numbers', 'words', 'typed')
    """
    numerals = list(filter(NUMERAL.fullmatch, words))
    return "typed" if not numerals else "words" if any(map(CODE.fullmatch, numerals)) else "numbers"


def label_of_word(word: str, words: bool) -> Any:
    """A label that is told as a word, as files give it; ``words``: where labels are words.

    Examples
    --------
    >>> label_of_word("+1", False), label_of_word("2.5", False), label_of_word("ham", False), label_of_word("1", True)
    (1, 2.5, 'ham', '1')
    """
    if words or not NUMERAL.fullmatch(word):
        return word
    try:
        return int(word)
    except ValueError:
        return float(word)
