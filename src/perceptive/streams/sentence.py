"""`Sentence`: what a file says of one, token by token, and where it stands."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from perceptive.streams.documents import Document

Row = tuple[str, ...]


class Place(NamedTuple):
    """Where the tokens of a sentence stand.

    Examples
    --------
    >>> Place("train.conll", range(5, 8)).of(2)
    'train.conll:7'
    """

    path: str
    lines: Sequence[int]  # of each token
    cuts: Sequence[int] = ()  # tokens at which the text begins a sentence anew, in one that is longer for a span's sake

    def of(self, t: int | None = None) -> str:
        """File and line of a token; by default of the first."""
        return f"{self.path}:{self.lines[t or 0]}"


@dataclass(slots=True)
class Sentence:
    """The tokens of a sentence, each with all columns that the file has."""

    rows: list[Row]
    place: Place
    separator: str = " "  # of the columns: a tab or a space
    others: list[tuple[int, str]] = field(default_factory=list)  # lines that are no tokens, each before which token
    universal: bool = False  # whether the columns are those of CoNLL-U
    labels: list[str | None] | None = None  # where they are told by spans, and not by a column
    document: Document | None = None  # the text that the tokens come from, where there is one
    record: Mapping[str, Any] = field(default_factory=dict)  # what else is said of it, where it is JSON without a text

    @property
    def in_columns(self) -> bool:
        """Whether the label, if there is one, is a column."""
        return self.document is None and self.labels is None

    @property
    def cells(self) -> list[Row]:
        """The rows as columns can be written: a token of a text may have line breaks and tabs in it."""
        if self.in_columns:
            return self.rows
        return [(" ".join(token.split()),) for (token,) in self.rows]

    def weight(self, name: str) -> float | None:
        """What a field of the record, or a comment ``# name = 2``, says; None where nothing is said.

        Examples
        --------
        >>> Sentence([("Hi", "UH")], Place("a.conll", [2]), others=[(0, "# weight = 2")]).weight("weight")
        2.0
        """
        said: Any = None
        place = self.place.of()
        if self.document is not None or self.record:
            said = (self.record if self.document is None else self.document.record).get(name)
        else:
            comment = re.compile(rf"#\s*{re.escape(name)}\s*=\s*(.*?)\s*")
            for i, (t, line) in enumerate(self.others):
                if found := comment.fullmatch(line):
                    behind = sum(other == t for other, _ in self.others[i:])  # lines up to the token
                    said, place = found[1], f"{self.place.path}:{self.place.lines[t] - behind}"
                    break
        if said is None:
            return None
        try:
            value = math.nan if isinstance(said, bool) else float(said)
        except (TypeError, ValueError):
            value = math.nan
        if not 0 <= value < math.inf:
            raise ValueError(f"{place}: {name} is {said!r}; a weight is a finite number, not negative")
        return value
