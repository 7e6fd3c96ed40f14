"""Messages that name sentences as the caller knows them: by file and line, or as numbered before some were held out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SENTENCE = re.compile(r"^(forced, |the labels of |)sentence (\d+)(?:, token (\d+))?")
Name = Callable[[int, int | None], str]


def renamed(message: str, name: Name) -> str:
    """A message that begins with the number of a sentence, with another name of it.

    Examples
    --------
    >>> renamed("sentence 3, token 2: an unknown label", lambda i, t: f"a.conll:{10 * i + t}")
    'a.conll:32: an unknown label'
    """
    return SENTENCE.sub(lambda m: m[1] + name(int(m[2]), None if m[3] is None else int(m[3])), message, count=1)


def numbered(numbers: list[int]) -> Name:
    """The names of sentences that were taken out of a list: their numbers there."""
    return lambda i, t: f"sentence {numbers[i]}" + ("" if t is None else f", token {t}")


@contextmanager
def sentences_named(name: Name) -> Iterator[None]:
    """Let errors name sentences so."""
    try:
        yield
    except (ValueError, TypeError) as error:
        message = renamed(str(error), name)
        if message == str(error):
            raise
        raise type(error)(message) from None
