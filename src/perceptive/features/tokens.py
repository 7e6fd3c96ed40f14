"""Tokens of raw text: words, numbers and marks, each knowing where it stands."""

from __future__ import annotations

import re

# Numbers with their separators; words with inner apostrophes, hyphens or dots (U.S., e-mail, l'eau); any other mark.
TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*|(?:[^\W\d_]\.){2,}|\w+(?:[-'’.]\w+)*|[^\w\s]")


class Token(str):
    """A string that stands at ``start`` … ``end`` of a text."""

    start: int
    end: int

    def __new__(cls, text: str, start: int) -> Token:
        """A token and its place."""
        token = super().__new__(cls, text)
        token.start, token.end = start, start + len(text)
        return token


def tokenise(text: str) -> list[Token]:
    """The tokens of a text; they are strings, so that a tagger takes them as they are.

    Examples
    --------
    >>> tokens = tokenise("Prof. Cohen paid $1,200 (in the U.S.).")
    >>> tokens
    ['Prof', '.', 'Cohen', 'paid', '$', '1,200', '(', 'in', 'the', 'U.S.', ')', '.']
    >>> tokens[2].start, tokens[2].end
    (6, 11)
    """
    return [Token(match[0], match.start()) for match in TOKEN.finditer(text)]
