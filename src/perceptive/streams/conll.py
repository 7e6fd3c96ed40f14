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
REMEMBERED = 100_000  # different lines that are read once only: most lines of a language come again


def read(paths: Paths, label: int | None = -1) -> tuple[list[list[Token]], list[list[str]]]:
    """Read files in columns into sentences and their labels.

    Parameters
    ----------
    paths : path, glob, "-" or a sequence of these
        gzip and zstd are known by the first bytes.
    label : int or None
        The column that holds the label; None if there is none, and every column belongs to the token.

    Returns
    -------
    X : list of sentences, each a list of tokens, each a tuple of columns
    y : list of label sequences; empty for ``label=None``

    Raises
    ------
    ValueError
        Where a line has more or fewer columns than the first one, with file and line.
    """
    X: list[list[Token]] = []
    y: list[list[str]] = []
    tokens: dict[Token, Token] = {}  # equal rows share their token
    for rows in sentences(paths):
        if label is None:
            X.append(rows)
            continue
        if not -len(rows[0]) <= label < len(rows[0]):
            raise ValueError(f"there are {len(rows[0])} columns, so column {label} cannot hold the label")
        at = label % len(rows[0])
        for row in rows:
            if row not in tokens:
                tokens[row] = row[:at] + row[at + 1 :]
        X.append([tokens[row] for row in rows])
        y.append([row[at] for row in rows])
        if len(tokens) > REMEMBERED:
            tokens.clear()
    return X, y


def sentences(paths: Paths) -> Iterator[list[Token]]:
    """The sentences of files one by one, all columns of each token.

    Columns are separated by tabs where the first line has one, else by spaces and tabs; other white space is text.
    """
    for path in expand(paths):
        width, tabs, first = 0, False, 0
        rows: list[Token] = []
        number = 0
        known: dict[str, Token] = {}
        for block in blocks(path):
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
                    rows.append(row)
                    continue
                if not line.strip(" \t\r"):
                    if rows:
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
                rows.append(row)
        if rows:
            yield rows


def _row(line: str, tabs: bool) -> Token:
    return tuple(line.split("\t") if tabs else filter(None, line.replace("\t", " ").split(" ")))
