"""`Columns`: which columns of a file belong to a token, and which one is its label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from perceptive.errors import Parameter, ParameterError, literal
from perceptive.streams import conllu
from perceptive.streams.brat import lacks_spans, paths_of
from perceptive.streams.sentence import Row, Sentence

REMEMBERED = 100_000  # different rows that are taken apart once only: most lines of a language come again
LAST = -1
WORDS = ("0", "form", "tokens")  # names of the only column of a text, or of a list of tokens
COUNTED = 3  # tokens that a sentence must have to show that a column counts them


@dataclass(frozen=True)
class Columns:
    """The columns to read.

    Parameters
    ----------
    chosen : tuple of str
        Names of CoNLL-U, or numbers from 0; the label may be among them. (): every column except the label, and the
        form in CoNLL-U.
    label : int or str
        The column of the label, by name or number; negative numbers count from the last.
    learned : bool
        Whether a model has learned from them: a different kind of file without such columns then gives no value.
    universal : str
        What −1 means in CoNLL-U, if no label is named.

    Examples
    --------
    >>> from perceptive.streams.sentence import Place
    >>> sentence = Sentence([("Rome", "NNP", "I-NP", "I-LOC")], Place("a.conll", [1]))
    >>> Columns(("0", "1")).split(sentence)
    ([('Rome', 'NNP')], ['I-LOC'])
    """

    chosen: tuple[str, ...] = ()
    label: int | str = LAST
    learned: bool = False
    universal: str = conllu.LABEL

    @property
    def key(self) -> str | None:
        """The name of the labels, where they are named and not counted."""
        return None if is_number(str(self.label)) else str(self.label)

    def split(self, sentence: Sentence, known: dict[Row, Row] | None = None) -> tuple[list[Row], list[str | None]]:
        """Return the tokens of a sentence, and their labels, None if unknown; equal rows share their token."""
        if sentence.labels is not None:
            self._check_words(sentence)
            return [(str(token),) for (token,) in sentence.rows], sentence.labels
        mine = self.of(sentence)
        if sentence.universal:
            return mine._named(sentence), conllu.labels(sentence.rows, str(mine.label))
        at = label_at(sentence, int(mine.label))
        known = {} if known is None else known
        for row in sentence.rows:
            if row not in known:
                kept = mine._numbers(sentence, at) if mine.chosen else ()
                known[row] = tuple([row[i] for i in kept]) if mine.chosen else row[:at] + row[at + 1 :]
        tokens = [known[row] for row in sentence.rows]
        labels: list[str | None] = [row[at] for row in sentence.rows]
        if "" in labels:
            raise ValueError(f"{sentence.place.of(labels.index(''))}: the label is missing; write it in column {at}")
        if len(known) > REMEMBERED:
            known.clear()
        return tokens, labels

    def tokens(self, sentence: Sentence, label: bool = True) -> list[Row]:
        """Return only the tokens; ``label``: whether there is a label column to leave out."""
        if not sentence.in_columns:
            self._check_words(sentence)
            return sentence.rows
        mine = self.of(sentence)
        if sentence.universal:
            return mine._named(sentence)
        if mine.chosen:
            wanted = mine._numbers(sentence, int(mine.label))
            return [tuple([row[i] for i in wanted]) for row in sentence.rows]
        if not label:
            return sentence.rows
        at = label_at(sentence, int(mine.label))
        return [row[:at] + row[at + 1 :] for row in sentence.rows]

    def _check_words(self, sentence: Sentence) -> None:
        """Raise if other columns than the words are named of a file that has only words."""
        if not self.learned and any(str(name) not in WORDS for name in self.chosen):
            said = literal(f"{sentence.place.path} has words, and no other columns; leave it out, or give columns")
            raise ParameterError(f"{{}}: {said}", Parameter("columns", self.chosen))

    def of(self, sentence: Sentence) -> Columns:
        """Return their names in the file of a sentence: names in CoNLL-U, else numbers."""
        if not self.chosen and self.label == LAST and not sentence.universal:
            return self
        if self.learned and sentence.universal != any(not is_number(str(name)) for name in (*self.chosen, self.label)):
            return Columns(universal=self.universal).of(sentence)
        if sentence.universal:
            label = self.universal if self.label == LAST else _name("label_column", self.label)
            return replace(self, chosen=tuple(_name("columns", name) for name in self.chosen), label=label)
        return replace(self, label=_number(sentence, "label_column", self.label))

    def settled(self, sentence: Sentence) -> Columns:
        """Return what a model that has learned from such a file must remember."""
        if not sentence.in_columns:
            return Columns() if self.key is None or sentence.document is not None else Columns(label=self.key)
        mine = self.of(sentence)
        if sentence.universal or not mine.chosen:
            return mine
        at = label_at(sentence, int(mine.label))
        return replace(mine, chosen=tuple(map(str, mine._numbers(sentence, at))), label=at)

    def without_count(self, sentences: Sequence[Sentence]) -> Columns:
        """Return the same without a first column that numbers the tokens of each sentence.

        Columns chosen by the user do not change.
        """
        there = [one for one in sentences if not one.universal and one.in_columns]
        if self.chosen or self.learned or not there or len(there) < len(sentences):
            return self
        n, label = len(there[0].rows[0]), int(self.of(there[0]).label)
        if n < 3 or label in (0, -n) or not counts_tokens([one.rows for one in there]):
            return self
        return replace(self, chosen=tuple(str(at) for at in range(1, n) if at != label % n))

    def _named(self, sentence: Sentence) -> list[Row]:
        names = self._but_label(self.chosen, self.label) if self.chosen else ["form"]
        return [tuple([conllu.cell(row, name) for name in names]) for row in sentence.rows]

    def _numbers(self, sentence: Sentence, label: int) -> list[int]:
        """The columns of a token among those chosen: all but the label's."""
        n, found = len(sentence.rows[0]), []
        for name in self.chosen:
            at = _number(sentence, "columns", name)
            if at != label and not -n <= at < n:
                raise ValueError(f"{sentence.place.of()}: there is no column {at}: there are {n}, numbered from 0")
            found.append(at if at == label else at % n)
        return self._but_label(found, label)

    def _but_label(self, chosen: Sequence[Any], label: int | str) -> list[Any]:
        """The chosen columns without that of the label; raise if there is no other."""
        found = [column for column in chosen if column != label]
        if not found:
            said = "that is the column of the labels; name columns of the tokens"
            raise ParameterError(f"{{}}: {said}", Parameter("columns", self.chosen))
        return found


def counts_tokens(sentences: Sequence[Sequence[Any]]) -> bool:
    """Whether the first column of tokens, which have others, only counts them in each of some sentences.

    Examples
    --------
    >>> counts_tokens([[("1", "Ada"), ("2", "left"), ("3", ".")]])
    True
    >>> counts_tokens([[("1", "km"), ("1", "h"), ("2", "m")]])
    False
    """
    if max(map(len, sentences), default=0) < COUNTED:
        return False
    for rows in sentences:
        if not all(isinstance(row, list | tuple) and len(row) > 1 for row in rows) or not is_number(str(rows[0][0])):
            return False
        if any(str(row[0]) != str(t) for t, row in enumerate(rows, int(rows[0][0]))):
            return False
    return True


def label_at(sentence: Sentence, label: int) -> int:
    """Return the column of a sentence's labels, counted from 0; raise if there is none, or no other column."""
    n = len(sentence.rows[0])
    if not -n <= label < n or n == 1:
        there = f"are {n}, numbered from 0; name another"
        if n == 1:
            first = [word for (word,) in sentence.rows]
            there = f"is one only; give tokens and labels{likely_cause(sentence.place.path, first)}"
        column = "the last column" if label == -1 else f"column {label}"
        raise ValueError(f"{sentence.place.of()}: {column} cannot hold the label: there {there}")
    return label % n


def likely_cause(path: str, lines: Sequence[str]) -> str:
    """Say what a file may be if its lines are not in columns, with the cure; empty if that is not clear."""
    commas = {line.count(",") for line in lines}
    if path.lower().endswith(".csv") or (len(commas) == 1 and 0 not in commas):
        return ". If commas separate the columns, write tabs instead, and an empty line between sentences"
    if lacks_spans(path):
        return f". If it is a text of brat, write its spans into {paths_of(path)[1]}, which is empty if it has none"
    return ""


def is_number(name: str) -> bool:
    """Return whether a column is given by its number.

    Examples
    --------
    >>> is_number("-1"), is_number("upos")
    (True, False)
    """
    return name.removeprefix("-").isdecimal() and len(name) < 10


def _name(option: str, column: int | str) -> str:
    """The name of a column of CoNLL-U."""
    name = str(column)
    number = int(name) if is_number(name) else len(conllu.NAMES)
    known = -len(conllu.NAMES) <= number < len(conllu.NAMES)
    return conllu.check_name(conllu.NAMES[number] if known else name, option)


def _number(sentence: Sentence, option: str, column: int | str) -> int:
    """The number of a column of a file that has no names for them."""
    if not is_number(str(column)):
        raise ParameterError(
            "{}: " + literal(f"{sentence.place.path} does not name its columns; say numbers, from 0 on"),
            Parameter(option, column),
        )
    return int(column)
