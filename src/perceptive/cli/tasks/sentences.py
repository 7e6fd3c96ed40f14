"""Files of sentences on the command line: how they are read, and where errors are."""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from perceptive.cli.options import as_option
from perceptive.data.conversion import ENTITY
from perceptive.data.documents import bare_sentences
from perceptive.data.sentence_files import Annotated, SentenceFiles, check_answered
from perceptive.errors import ExampleError, ExampleWarning, ParameterWarning, UsageError, plural
from perceptive.features.tokens import TOKENISER
from perceptive.processors import processors
from perceptive.streams import conllu
from perceptive.streams.blocks import STDIN, expand
from perceptive.streams.columns import LAST, Columns
from perceptive.streams.documents import Document
from perceptive.streams.sentence import Place, Row, Sentence
from perceptive.streams.text_lines import check_encoding

BATCH = 512  # sentences that are tagged at a time
SENTENCE_ENDS = re.compile(r"\w[.!?…][\"'”’»)]*\Z")  # at the end of a word, so that it is no token


def files_of(options: argparse.Namespace, learner: Any) -> SentenceFiles:
    """Return how files are read: by the options, else as the model has learned, else by their format."""
    learned = learner is not None and learner.label_column is not None
    segments = learner is not None and (learner.given or learner.scheme) is not None
    columns = Columns(universal=ENTITY if segments else conllu.LABEL)
    if learned:
        columns = replace(columns, chosen=learner.columns, label=learner.label_column, learned=True)
    if options.columns is not None or options.label_column is not None:
        told = columns.label if options.label_column is None else options.label_column
        chosen = columns.chosen if options.columns is None else options.columns
        columns = replace(columns, chosen=chosen, label=told, learned=False)
    try:
        encoding = check_encoding(options.input_encoding)
    except ValueError as error:
        raise UsageError(f"--input-encoding: {error}") from None
    format = "raw" if getattr(options, "raw", False) else options.format
    repair, weight = getattr(options, "repair", None) or "warn", getattr(options, "weight", None)
    return SentenceFiles(columns, encoding, format, repair, weight, TOKENISER if learner is None else learner.tokeniser)


def read(paths: list[str], files: SentenceFiles, keep_texts: bool = False) -> Annotated:
    """Read the sentences of files, with their labels and places."""
    with located([]):
        found = files.read(paths, keep_texts=keep_texts)
    check_answered(found.y, found.columns, found.unanswered)
    if not found.X:
        raise ValueError(f"{', '.join(paths)}: there are no sentences; check the files")
    return found


def remember(learner: Any, columns: Columns, sentence: Sequence[Any]) -> None:
    """Let a tagger remember how its files are read; note which chosen columns its templates do not read."""
    n, read = len(sentence[0]), learner.templates.n_base
    if columns.chosen and learner.label_column is None and learner.features is None and read < n:
        said = f"the templates read the first {read} of {n} columns of a token; the others are not used"
        print(f"note: {said}", file=sys.stderr)
    learner.label_column, learner.columns, learner.n_columns = columns.label, columns.chosen, 1 + len(sentence[0])


def batches(options: argparse.Namespace, learner: Any) -> Iterator[list[Sentence]]:
    """Yield the sentences of files or of a text in batches; those of standard input as they arrive."""
    if getattr(options, "text", None) is not None:
        if sentences := bare_sentences(Document(options.text, path="--text", format="raw"), learner.tokeniser):
            yield sentences
        return
    first = True
    for path in expand(options.data):
        for block in files_of(options, learner).blocks(path, live=path == STDIN, labels=False):
            if first and block:
                _note_columns(options, learner, block)
                first = False
            for begin in range(0, len(block), BATCH):
                yield block[begin : begin + BATCH]


def _note_columns(options: argparse.Namespace, learner: Any, sentences: Sequence[Sentence]) -> None:
    """Note that files have other columns than the model reads, for example because they are raw text."""
    named = (
        learner.columns
        or options.columns
        or options.label_column is not None
        or learner.label_column not in (None, LAST, conllu.LABEL)
    )
    tagger, rows = getattr(learner, "tagger", learner), [row for one in sentences for row in one.rows]
    if tagger.features is not None or not sentences[0].in_columns or sentences[0].universal:
        return
    odd = {row[-1] for row in rows}.isdisjoint(map(str, learner.classes))  # they are no labels
    n, read = len(rows[0]), learner.n_columns - 1 if learner.n_columns else tagger.templates.n_base
    if named:
        ends = next((row[-1] for row in rows if SENTENCE_ENDS.search(row[-1])), None)
        if ends is None or n == 1 or not odd:
            return
        said = f"{ends!r} is in the last column, as at the end of a sentence"
    elif n > read + 1:
        said = f"the data have {n} columns, but the model reads only the first {read if read > 1 else ''}".rstrip()
    elif n == read + 1 and odd:
        said = f"column {n - 1} is taken for the labels, but has none of the model's"
    else:
        return
    raw = "--raw" if options.command == "tag" else "--format raw"
    print(f"note: {said}; if the files are raw text, give {raw}", file=sys.stderr)


def threads_of(options: argparse.Namespace, learner: Any, paths: Sequence[str]) -> int:
    """Return the number of threads that tag: one for standard input, so that no line waits for later ones.

    One also where the labels of a sentence depend on those before.
    """
    return 1 if STDIN in paths or learner.lookback else options.threads or processors()


def tokens_of(options: argparse.Namespace, learner: Any, sentence: Sentence) -> list[Row]:
    """Return a sentence without its column of labels; a last one may stay, since no template reads it."""
    told = files_of(options, learner).columns
    if not sentence.in_columns:
        return told.tokens(sentence)
    columns = told.of(sentence)
    if sentence.universal or columns.chosen or options.label_column is not None:
        return columns.tokens(sentence)
    n, there = len(sentence.rows[0]), learner.n_columns
    if learner.label_column is None or columns.label == LAST or n == there - 1:
        return sentence.rows
    if n != there:
        raise ValueError(
            f"{sentence.place.of()}: {n} {plural(n, 'column')}, but the model has learned from {there}, with labels in "
            f"column {columns.label}; give {there - 1} or {there}, or name the one to skip with --label-column"
        )
    return columns.tokens(sentence)


@contextmanager
def placed(places: Sequence[Place]) -> Iterator[None]:
    """Let errors name file and line instead of the number of a sentence; threads may do so at the same time."""
    try:
        yield
    except ExampleError as error:
        raise ValueError(error.worded(lambda i, t: places[i].of(t), as_option)) from None


@contextmanager
def located(places: Sequence[Place]) -> Iterator[None]:
    """Let errors and warnings name file and line instead of the number of a sentence."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with placed(places):
            yield
    for warning in caught:
        words = about = warning.message
        if isinstance(about, ExampleWarning):
            words = about.worded(lambda i, t: places[i].of(t), as_option)
        elif isinstance(about, ParameterWarning):
            words = about.worded(as_option)
        print(f"warning: {words}", file=sys.stderr)
