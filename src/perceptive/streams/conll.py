r"""Sentences in columns, as in the CoNLL shared tasks: one token per line, an empty line between sentences.

Columns are separated by tabs if the first token's line has one, else by spaces and tabs; other white space is text.
Files whose names end in ``.conllu``, or that begin like CoNLL-U, are read as CoNLL-U (`perceptive.streams.conllu`).

Tabs and spaces at the end of every line are left out.

Two kinds of lines are not tokens. ``-DOCSTART-`` in the first column begins a document. A line that begins with ``#``
is a comment if it comes before the first token of a sentence and does not have the number of columns of tokens, or
follows such a line. If all of the first sentences of the file (at least two) begin with ``#`` and a space, their first
lines are comments, whatever columns they have, and so are lines ``# name = value`` after them. Any other ``#`` is a
token: ``# # B-NP``, ``#hashtag O``.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp(), "chunks.txt")
>>> _ = path.write_text("-DOCSTART- -X- O\n\n# what follows is English\nConfidence NN B-NP\nin IN B-PP\n\nYes UH O\n")
>>> read(path)
([[('Confidence', 'NN'), ('in', 'IN')], [('Yes', 'UH')]], [['B-NP', 'B-PP'], ['O']])
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from perceptive.errors import DataError, Parameter, literal, plural
from perceptive.streams.blocks import MARK, Paths, expand, peek, shown
from perceptive.streams.columns import REMEMBERED, Columns, likely_cause
from perceptive.streams.conllu import is_conllu, read_conllu
from perceptive.streams.guessing import by_name
from perceptive.streams.sentence import Place, Row, Sentence
from perceptive.streams.text_lines import UTF8, check_encoding, check_line_ends, text_lines

DOCSTART = "-DOCSTART-"
BINARY = {  # files of sentences that begin so
    b"PAR1\x15": "a Parquet file; write its records as JSON lines, as to_json() of Hugging Face datasets does",
    b"x\x9c": 'packed by zlib, as spaCy\'s DocBin is; write a line [text, {"entities": [[0, 3, "PER"]]}] for each text',
}
NAMED = re.compile(r"#\s*[^\s=]+\s*=(?:\s|$)")  # a comment that gives a value a name


def read(
    paths: Paths,
    label: int | str | None = -1,
    places: list[Place] | None = None,
    columns: Sequence[str] = (),
    encoding: str = UTF8,
) -> tuple[list[list[Row]], list[list[str | None]]]:
    """Read files in columns into sentences and their labels.

    Parameters
    ----------
    paths : path, glob, "-" or a sequence of these
        gzip and zstd are recognised by their first bytes.
    label : int, str or None
        The column of the label, by number, or by name in CoNLL-U; None if there is none, and every column belongs to
        the token.
    places : list, optional
        This list is filled with the `Place` of each sentence: file, and the line of each token.
    columns : sequence of str, optional
        The columns of a token: see `perceptive.streams.columns.Columns`.
    encoding : str
        Encoding of the files.

    Returns
    -------
    X : list of sentences, each a list of tokens, each a tuple of columns
    y : list of label sequences, with None if CoNLL-U has ``_`` for one; empty for ``label=None``

    Raises
    ------
    ValueError
        If a line has a different number of columns than the first one of its file, if the label column does not exist,
        or if a label is missing: with file and line.
    """
    X: list[list[Row]] = []
    y: list[list[str | None]] = []
    chosen = Columns(tuple(columns), -1 if label is None else label)
    tokens: dict[Row, Row] = {}  # equal rows share their token
    for sentence in sentences(paths, encoding):
        if places is not None:
            places.append(sentence.place)
        if label is None:
            X.append(chosen.tokens(sentence, label=False))
            continue
        x, labels = chosen.split(sentence, tokens)
        X.append(x)
        y.append(labels)
    return X, y


def sentences(paths: Paths, encoding: str = UTF8, live: bool = False) -> Iterator[Sentence]:
    """Yield the sentences of files one by one; with ``live`` as soon as they arrive."""
    for path in expand(paths):
        for some in read_columns(path, encoding, live):
            yield from some


def read_columns(
    path: str, encoding: str = UTF8, live: bool = False, format: str | None = None, labels: bool = True
) -> Iterator[list[Sentence]]:
    """Yield the sentences of a file, block by block; ``format`` is "conll" or "conllu", or None to guess it.

    ``labels``: whether labels are to be read; then empty last columns are reported.
    """
    if (format or column_format(path, encoding)) == "conllu":
        return read_conllu(path, encoding, live)
    return _read(path, _Look.at(_first_lines(path, encoding)), encoding, live, labels)


def column_format(path: str, encoding: str = UTF8) -> str:
    """Return whether a file in columns is "conllu", or "conll"."""
    return "conllu" if by_name(path) == "conllu" or is_conllu(_first_lines(path, encoding)) else "conll"


def _first_lines(path: str, encoding: str) -> list[str]:
    """Those at the start of a file, with a token among them; those of a pipe stay there to be read."""

    def enough(start: bytes) -> bool:
        *whole, _ = start.split(b"\n")
        return any(line.strip() and not line.startswith(b"#") for line in whole)

    check_encoding(encoding)
    start = peek(path, enough=enough)
    if (binary := next((said for magic, said in BINARY.items() if start.startswith(magic)), None)) is not None:
        raise ValueError(f"{shown(path)}: is {binary}")
    check_line_ends(path, start)
    *whole, last = start.removeprefix(MARK).decode(encoding, errors="replace").split("\n")
    return whole or [last]


@dataclass(frozen=True)
class _Look:
    """What the first lines of a file tell of all.

    Attributes
    ----------
    tabs : bool
        Whether columns are separated by tabs alone.
    width : int
        Columns of a token; 0 where there is none.
    first, line : int, str
        The number of the first, and what stands there.
    commented : bool
        Whether every sentence begins with a comment.
    tail : str
        Tabs and spaces at the end of every line, which are left out.
    spaced : str
        What stands in a column between tabs that has as many spaces in every line, so that they may separate columns.
    """

    tabs: bool = False
    width: int = 0
    first: int = 0
    line: str = ""
    commented: bool = False
    tail: str = ""
    spaced: str = ""

    @classmethod
    def at(cls, lines: Sequence[str]) -> _Look:
        there = [(number, line.rstrip("\r")) for number, line in enumerate(lines, 1) if line.strip(" \t\r")]
        tokens = [(number, line) for number, line in there if not line.startswith("#") and not begins_document(line)]
        if not (tokens or there):
            return cls()
        number, line = (tokens or there)[0]
        pairs = zip(["", *lines], lines, strict=False)
        starts = [here for before, here in pairs if here.strip() and not before.strip() and not begins_document(here)]
        commented = len(starts) > 1 and all(here.startswith(("# ", "#\t")) for here in starts)
        tail = min((one[len(one.rstrip(" \t")) :] for _, one in tokens or there), key=len)
        tail = tail if all(one.endswith(tail) for _, one in tokens) else ""
        tabs = "\t" in line.removesuffix(tail)
        rows = [_row(one.removesuffix(tail), tabs) for _, one in tokens or there]
        spaced = _spaced(rows) if tabs and len(rows) > 1 else ""
        return cls(tabs, len(rows[0]), number, line, commented, tail, spaced)

    def row(self, line: str) -> Row:
        """Return the columns of a line."""
        return _row(line.removesuffix(self.tail), self.tabs)

    def is_comment(self, line: str, first: bool) -> bool:
        """Whether a line before a sentence's first token, which begins with ``#``, is none; ``first``: of all."""
        if self.commented and (first or NAMED.match(line)):
            return True
        return len(self.row(line)) != self.width


def _read(path: str, look: _Look, encoding: str, live: bool, labels: bool) -> Iterator[list[Sentence]]:
    rows: list[Row] = []
    others: list[tuple[int, str]] = []
    known: dict[str, Row] = {}
    doubtful: list[str] = []  # lines of tokens that begin with a number sign
    fresh = True  # whether the line before was empty
    called, number = shown(path), 0
    if labels and "\t" in look.tail:
        warnings.warn(f"{called}: every line ends in a tab, so the empty last column is left out", stacklevel=2)
    if labels and look.spaced:
        said = f"{called}:{look.first}: tabs separate the columns, and {look.spaced!r} is one; if spaces do so, too, "
        warnings.warn(f"{said}write tabs in their place", stacklevel=2)

    def done(end: int) -> Sentence:
        place = Place(called, range(end - len(rows), end))
        return Sentence(rows, place, "\t" if look.tabs else " ", others)

    for first, lines in text_lines(path, encoding, live):
        found: list[Sentence] = []
        for number, line in enumerate(lines, first):
            row = known.get(line)
            if row is not None:
                rows.append(row)
                continue
            blank, line, whole = not line.strip(" \t\r"), line.rstrip("\r"), line
            marked = not blank and line[0] in "#-"  # may be no token
            if blank or (marked and begins_document(line)):
                if rows:
                    found.append(done(number))
                    rows, others, doubtful = [], [], []
                elif blank and others:
                    others.append((0, ""))
                others += [] if blank else [(0, line)]
                fresh = True
                continue
            if marked and line[0] == "#" and len(doubtful) == len(rows) and look.is_comment(line, fresh):
                others += [(0, one) for one in (*doubtful, line)]  # comments come before tokens
                rows, doubtful, fresh = [], [], False
                continue
            if not look.width:  # nothing but empty lines was seen before
                look = replace(_Look.at([line]), first=number)
            row = look.row(line)
            if len(row) != look.width:
                yield found  # what precedes it is sound
                said = (
                    f"{called}:{number}: {len(row)} {plural(len(row), 'column')} "
                    f"where line {look.first} has {look.width}; give every token the same columns"
                    f"{_of_tabs(look, line) or likely_cause(called, [look.line, line])}"
                )
                if labels:
                    raise ValueError(said)
                raise DataError(literal(said) + " (for raw text: {})", Parameter("format", "raw"))
            if marked and line[0] == "#":
                doubtful.append(line)
            else:
                if len(known) > REMEMBERED:
                    known.clear()
                known[whole] = row
            rows.append(row)
        yield found
    if rows:
        yield [done(number + 1)]


def _of_tabs(look: _Look, line: str) -> str:
    """Return the cure if a line has tabs where the others have spaces, or the reverse, or ends in a tab; or ""."""
    here, there = line.rstrip("\t"), look.line.rstrip("\t")
    if look.tabs and (here, there) != (line, look.line) and len(_row(here, True)) == len(_row(there, True)):
        which = f"Line {look.first}" if here == line else "This line"
        return f". {which} ends in a tab; delete it, or fill in the column"
    if ("\t" in line) == look.tabs or len(_row(line, not look.tabs)) != look.width:
        return ""
    here, there = ("spaces", "tabs") if look.tabs else ("tabs", "spaces")
    return f". This line has {here} where line {look.first} has {there}; write the same in all"


def _spaced(rows: Sequence[Row]) -> str:
    """The first cell of a column that has spaces in it, as many in every row; or ""."""
    columns: Iterator[tuple[str, ...]] = zip(*rows, strict=False)
    for column in columns:
        parts = {len(_row(cell, False)) for cell in column}
        if len(parts) == 1 and max(parts) > 1:
            return column[0]
    return ""


def begins_document(line: str) -> bool:
    """Return whether a line marks the start of a document."""
    return line.startswith(DOCSTART) and line[len(DOCSTART) :][:1] in ("", " ", "\t", "\r")


def _row(line: str, tabs: bool) -> Row:
    return tuple(line.split("\t") if tabs else filter(None, line.replace("\t", " ").split(" ")))
