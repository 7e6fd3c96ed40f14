r"""Sentences in columns, as in the CoNLL shared tasks: a token to a line, an empty line between sentences.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp(), "chunks.txt")
>>> _ = path.write_text("Confidence NN B-NP\nin IN B-PP\n\nYes UH O\n")
>>> read(path)
([[('Confidence', 'NN'), ('in', 'IN')], [('Yes', 'UH')]], [['B-NP', 'B-PP'], ['O']])
"""

from __future__ import annotations

from collections.abc import Iterator

from perceptive.streams.blocks import Paths, blocks, expand, shown

Token = tuple[str, ...]
Place = tuple[str, int]  # file and line
REMEMBERED = 100_000  # different lines that are read once only: most lines of a language come again


def read(
    paths: Paths, label: int | None = -1, places: list[Place] | None = None
) -> tuple[list[list[Token]], list[list[str]]]:
    """Read files in columns into sentences and their labels.

    Parameters
    ----------
    paths : path, glob, "-" or a sequence of these
        gzip and zstd are known by the first bytes.
    label : int or None
        The column that holds the label; None if there is none, and every column belongs to the token.
    places : list, optional
        Is filled with file and line of each sentence's first token; the others are on the lines that follow.

    Returns
    -------
    X : list of sentences, each a list of tokens, each a tuple of columns
    y : list of label sequences; empty for ``label=None``

    Raises
    ------
    ValueError
        Where a line has more or fewer columns than the first one of its file, where there is no such label column, and
        where a label is missing: with file and line.
    """
    X: list[list[Token]] = []
    y: list[list[str]] = []
    places = [] if places is None else places
    tokens: dict[Token, Token] = {}  # equal rows share their token
    for rows in sentences(paths, places):
        if label is None:
            X.append(rows)
            continue
        sentence, labels = split_labels(rows, label, places[-1], tokens)
        X.append(sentence)
        y.append(labels)
    return X, y


def split_labels(
    rows: list[Token], label: int, place: Place, tokens: dict[Token, Token] | None = None
) -> tuple[list[Token], list[str]]:
    """A sentence without the column of its labels, and the labels; equal rows share their token in ``tokens``."""
    tokens = {} if tokens is None else tokens
    at = label_at(rows, label, place)
    for row in rows:
        if row not in tokens:
            tokens[row] = row[:at] + row[at + 1 :]
    sentence, labels = [tokens[row] for row in rows], [row[at] for row in rows]
    if "" in labels:
        raise ValueError(f"{place[0]}:{place[1] + labels.index('')}: the label is missing; say it in column {label}")
    if len(tokens) > REMEMBERED:
        tokens.clear()
    return sentence, labels


def label_at(rows: list[Token], label: int, place: Place) -> int:
    """The column of a sentence's labels, counted from 0; raises if there is none, or no other."""
    n = len(rows[0])
    if not -n <= label < n or n == 1:
        there = "is one only; give tokens and labels" if n == 1 else f"are {n}, numbered from 0; name another"
        raise ValueError(f"{place[0]}:{place[1]}: column {label} cannot hold the label: there {there}")
    return label % n


def sentences(
    paths: Paths, places: list[Place] | None = None, separators: list[str] | None = None, live: bool = False
) -> Iterator[list[Token]]:
    """The sentences of files one by one, all columns of each token; ``places`` as in `read`.

    Columns are separated by tabs where the first line has one, else by spaces and tabs; other white space is text.
    ``separators`` is filled with a tab or a space for each sentence, whichever it is. With ``live`` sentences are given
    as soon as they are there.
    """
    places = [] if places is None else places
    separators = [] if separators is None else separators
    for path in expand(paths):
        width, tabs, first = 0, False, 0
        rows: list[Token] = []
        number = 0
        known: dict[str, Token] = {}
        begin = 0  # line of the sentence's first token
        for block in blocks(path, live=live):
            raw = bytes(block.text)
            block.release()
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                at = number + 1 + raw[: error.start].count(b"\n")
                raise ValueError(f"{shown(path)}:{at}: not UTF-8 ({error.reason}); convert the file") from None
            for line in text.split("\n") if not text.endswith("\n") else text[:-1].split("\n"):
                number += 1
                row = known.get(line, ())
                if row:
                    begin = begin if rows else number
                    rows.append(row)
                    continue
                if not line.strip(" \t\r"):
                    if rows:
                        places.append((shown(path), begin))
                        separators.append("\t" if tabs else " ")
                        yield rows
                        rows = []
                    continue
                if not width:
                    tabs = "\t" in line
                row = _row(line.rstrip("\r"), tabs)
                if not width:
                    width, first = len(row), number
                if len(row) != width:
                    raise ValueError(
                        f"{shown(path)}:{number}: {len(row)} column{'s' * (len(row) != 1)} "
                        f"where line {first} has {width}; give every token the same columns"
                    )
                if len(known) > REMEMBERED:
                    known.clear()
                known[line] = row
                begin = begin if rows else number
                rows.append(row)
        if rows:
            places.append((shown(path), begin))
            separators.append("\t" if tabs else " ")
            yield rows


def _row(line: str, tabs: bool) -> Token:
    return tuple(line.split("\t") if tabs else filter(None, line.replace("\t", " ").split(" ")))
