r"""`SentenceFiles`: how files of sentences are read, in any format; `read`, the same for Python.

==============  ==========================================================================
format          what it is
==============  ==========================================================================
``conll``       columns: a token to a line (`perceptive.streams.conll`)
``conllu``      the ten columns of Universal Dependencies (`perceptive.streams.conllu`)
``doccano``     a JSON record to a line, text and spans (`perceptive.streams.documents`);
``prodigy``     these three are distinguished line by line
``spacy``
``tokens``      a JSON record to a line, tokens and labels, in the style of Hugging Face
                (`perceptive.streams.token_lines`)
``brat``        a text, and its spans in a separate file (`perceptive.streams.brat`)
``raw``         a text, each line a paragraph; never guessed
==============  ==========================================================================

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp(), "hi.conllu")
>>> _ = path.write_text("# text = Hi\n1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n\n")
>>> read(path)
([[('Hi',)]], [['INTJ']])
>>> read(path, columns=["form", "lemma"], label="xpos")
([[('Hi', 'hi')]], [['UH']])
>>> path = path.with_name("notes.jsonl")
>>> _ = path.write_text('{"text": "Ada left.", "label": [[0, 3, "PER"]]}\n')
>>> read(path)
([[('Ada',), ('left',), ('.',)]], [['B-PER', 'O', 'O']])
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

from perceptive.data.documents import WRITE_SPANS, Slips, accepted, bare_sentences, sentences_of
from perceptive.errors import Parameter, ParameterError, literal
from perceptive.features.tokens import TOKENISER
from perceptive.streams import conllu
from perceptive.streams.blocks import Paths, expand
from perceptive.streams.brat import is_brat, read_brat
from perceptive.streams.columns import LAST, Columns
from perceptive.streams.conll import column_format, read_columns
from perceptive.streams.documents import JSON_FORMATS, Document, is_json, read_json, read_raw
from perceptive.streams.guessing import by_name
from perceptive.streams.sentence import Place, Row, Sentence
from perceptive.streams.text_lines import UTF8
from perceptive.streams.token_lines import is_token_lines, read_token_lines

COLUMNS = ("conll", "conllu")
TOKENS = "tokens"
DOCUMENTS = (*JSON_FORMATS, "brat", "raw")
FORMATS = (*COLUMNS, TOKENS, *DOCUMENTS)
FIRST = 100  # sentences that tell whether a column counts tokens
LONG = 1000  # tokens; sentences of more are probably several
Labels = list[str | None]  # None where nobody says one


class Annotated(NamedTuple):
    """Sentences and their labels, their positions, the columns that they were read from, and perhaps weights.

    ``unanswered`` counts sentences without labels: they are left out. ``texts``, if requested, has for each sentence of
    a text what it was read as, with positions in the text, and None for a sentence in columns.
    """

    X: list[list[Row]]
    y: list[Labels]
    places: list[Place]
    columns: Columns
    weights: list[float] | None = None
    unanswered: int = 0
    texts: Sequence[Sentence | None] = ()


@dataclass(frozen=True)
class SentenceFiles:
    """How files of sentences are read.

    Parameters
    ----------
    columns : Columns
        Which columns belong to a token, and which is the label.
    encoding : str
        Encoding of the files.
    format : str or None
        One of `FORMATS`; None to recognise it by the name of the file, or its first lines.
    repair : one of "warn", "error", "off"
        What to do with spans that do not match tokens: see `perceptive.data.documents.sentences_of`.
    weight : str or None
        Name of their weights, if they have any: see `perceptive.streams.sentence.Sentence.weight`. Sentences without
        one have weight 1.
    tokeniser : str
        For texts: see `perceptive.features.tokens.tokenise`.
    """

    columns: Columns = Columns()
    encoding: str = UTF8
    format: str | None = None
    repair: str = "warn"
    weight: str | None = None
    tokeniser: str = TOKENISER

    def __post_init__(self) -> None:
        if self.format not in (*FORMATS, None):
            raise ParameterError(f"{{}}: it must be one of {', '.join(FORMATS)}", Parameter("format", self.format))

    def format_of(self, path: str) -> str:
        """Return the format of a file; "doccano" for all JSON formats."""
        if self.format is not None:
            return self.format
        if is_brat(path):
            return "brat"
        if is_token_lines(path):
            return TOKENS
        return "doccano" if by_name(path) == "json" or is_json(path) else column_format(path, self.encoding)

    def documents(self, path: str, live: bool = False) -> Iterator[list[Document]]:
        """Yield the texts of a file of texts, in parts."""
        format = self.format_of(path)
        if format == "brat":
            return read_brat(path, self.encoding)
        if format == "raw":
            return read_raw(path, self.encoding, live)
        return read_json(path, self.encoding, live, self.format)

    def accepted(self, paths: Paths) -> list[Document]:
        """Yield the texts of files with valid spans."""
        slips = Slips()
        found = [
            one for path in expand(paths) for some in self.documents(path) for one in accepted(some, self.repair, slips)
        ]
        slips.tell(self.repair)
        return found

    def blocks(self, paths: Paths, live: bool = False, labels: bool = True) -> Iterator[list[Sentence]]:
        """Yield the sentences of files, in parts; with ``live`` as soon as they arrive.

        ``labels``: whether spans become labels, and no sentence ends within one.
        """
        slips = Slips()
        for path in expand(paths):
            format = self.format_of(path)
            if format == TOKENS:
                yield from read_token_lines(path, self.encoding, live, self.columns.key, labels)
                continue
            if format in COLUMNS:
                yield from read_columns(path, self.encoding, live, self.format, labels)
                continue
            for some in self.documents(path, live):
                if labels:
                    true = accepted(some, self.repair, slips)
                    yield [x for document in true for x in sentences_of(document, self.repair, slips, self.tokeniser)]
                else:
                    yield [x for document in some for x in bare_sentences(document, self.tokeniser)]
        slips.tell(self.repair)

    def read(self, paths: Paths, most: int | None = None, keep_texts: bool = False) -> Annotated:
        """Read all sentences with their labels, or the first few."""
        X: list[list[Row]] = []
        y: list[Labels] = []
        places: list[Place] = []
        texts: list[Sentence | None] = []
        weights: list[float | None] = []
        tokens: dict[Row, Row] = {}  # equal rows share their token
        unanswered, marked = 0, list[int]()  # those that begin with a number sign
        longest: Sentence | None = None
        every = chain.from_iterable(self.blocks(paths))
        first = list(islice(every, FIRST))
        columns = chosen = without_count(self.columns, first)
        for sentence in chain(first, every):
            x, labels = chosen.split(sentence, tokens)
            columns = columns if X or unanswered else columns.settled(sentence)
            if not is_answered(labels):
                unanswered += 1
                continue
            if len(x) > (LONG if longest is None else len(longest.rows)) and sentence.document is None:
                longest = sentence
            if x[0][0] == "#" and sentence.document is None and not sentence.universal:
                marked.append(len(X))
            X.append(x)
            y.append(labels)
            places.append(sentence.place)
            texts += [None if sentence.document is None else sentence] if keep_texts else []
            weights += [] if self.weight is None else [sentence.weight(self.weight)]
            if len(X) == most:
                break
        if longest is not None:
            said = (
                f"{longest.place.of()}: a sentence of {len(longest.rows):,} tokens; separate sentences by an empty line"
            )
            warnings.warn(said, stacklevel=2)
        _warn_of_comments(marked, y, places)
        if not any(weight is not None for weight in weights):
            if X and self.weight is not None and most is None:
                raise ParameterError(
                    "{}: no sentence has it; write a comment # NAME = 2 before its tokens, or a key of its record",
                    Parameter("weight", self.weight),
                )
            return Annotated(X, y, places, columns, None, unanswered, texts)
        told = [1.0 if weight is None else weight for weight in weights]
        return Annotated(X, y, places, columns, told, unanswered, texts)


def _warn_of_comments(marked: Sequence[int], y: Sequence[Labels], places: Sequence[Place]) -> None:
    """Say which line is perhaps no token: a number sign begins the sentence, and no other token has its label."""
    if not marked:
        return
    alone = {i: y[i][0] for i in marked}
    others = set[Any]().union(*(labels[1:] if i in alone else labels for i, labels in enumerate(y)))
    if odd := [i for i, label in alone.items() if label not in others]:
        warnings.warn(
            f"{places[odd[0]].of(0)}: read as a token '#' with the label {y[odd[0]][0]!r}, which no other token has "
            f"({len(odd):,} such lines). If they are comments, delete them, or give them another number of columns",
            stacklevel=3,
        )


def without_count(columns: Columns, first: Sequence[Sentence]) -> Columns:
    """Return the columns of a file without one that numbers its tokens; report it."""
    found = columns.without_count(first)
    if found != columns:
        said = f"{first[0].place.path}: column 0 counts the tokens, and is left out; to have it read, name the columns"
        warnings.warn(said, stacklevel=2)
    return found


def is_answered(labels: Labels) -> bool:
    """Return whether a sentence, or a part of it, is labelled."""
    return any(label is not None for label in labels)


def check_answered(y: Sequence[Labels], columns: Columns | None, unanswered: int) -> None:
    """Raise if files have sentences, but none is labelled; ``_`` is not a label if there is no other."""
    if columns is None or not (y or unanswered) or any(one not in (None, "_") for labels in y for one in labels):
        return
    if columns.key is not None and columns.key.partition(".")[0] not in conllu.NAMES:
        said = f"no record has labels under the key {columns.key!r}; name the one that has them with "
        raise ParameterError(literal(said) + "{}", "label_column")
    if y or columns.label != LAST:
        said = f"the column {columns.label} has no labels: every label is _; name the label column with "
        raise ParameterError(literal(said) + "{}", "label_column")
    raise ValueError(
        f"the texts have no labels (unlabelled sentences: {unanswered:,}); {WRITE_SPANS}; "
        "[] means that there are none; brat keeps them in a file .ann next to the text"
    )


def read(
    paths: Paths,
    *,
    columns: Sequence[str] = (),
    label: int | str = LAST,
    encoding: str = UTF8,
    format: str | None = None,
    repair: str = "warn",
) -> tuple[list[list[Row]], list[Labels]]:
    """Read files of sentences into tokens and labels, for `SequenceTagger.fit`.

    Parameters
    ----------
    paths : path, glob, "-" or a sequence of these
    columns : sequence of str
        The columns of a token, by number, or by name in CoNLL-U.
    label : int or str
        The column of the label.
    encoding : str
        Encoding of the files.
    format : str, optional
        Needed if the file name and the first lines do not show it.
    repair : one of "warn", "error", "off"
        What to do with spans that do not match tokens.

    Returns
    -------
    X : list of sentences, each a list of tokens, each a tuple of columns
    y : list of label sequences
        None if CoNLL-U has ``_``, so that the label is unknown. Sentences without any label are left out.
    """
    found = SentenceFiles(Columns(tuple(columns), label), encoding, format, repair).read(paths)
    check_answered(found.y, found.columns, found.unanswered)
    return found.X, found.y
