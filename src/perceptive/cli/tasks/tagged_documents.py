"""What ``perceptive tag`` writes of texts with spans: the same format again, with the spans that it found."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from perceptive.cli.tasks.sentences import BATCH, placed, threads_of
from perceptive.cli.tasks.tagged import likely, scheme_of
from perceptive.data.documents import bare_sentences, spans_of
from perceptive.data.sentence_files import SentenceFiles
from perceptive.errors import UsageError
from perceptive.features.schemes import spans
from perceptive.learners.sequence_probabilities import probability_of
from perceptive.streams.blocks import STDIN
from perceptive.streams.brat import as_lines
from perceptive.streams.documents import Document, Span, as_line
from perceptive.streams.parsing import in_order


def writes_documents(files: SentenceFiles, paths: Sequence[str]) -> bool:
    """Whether files are texts with spans; raises where some are, and are not to be written together."""
    formats = {files.format_of(path) for path in paths}
    of_texts = formats - {"conll", "conllu", "raw"}
    if of_texts and len(formats) > 1:
        raise UsageError(f"the files are of several formats ({', '.join(sorted(formats))}); tag them apart")
    if "brat" in of_texts and len(paths) > 1:
        raise UsageError("the spans of one text at a time are written for brat; tag files apart, or ask for --json")
    return bool(of_texts)


def tagged_documents(
    options: argparse.Namespace, learner: Any, files: SentenceFiles, paths: Sequence[str]
) -> Iterator[tuple[int, bytes]]:
    """The texts of files with the spans that a tagger finds; with --proba a list ``probabilities``, one for each."""
    if options.proba and any(files.format_of(path) == "brat" for path in paths):
        raise UsageError("--proba: brat has no place for probabilities; ask for --json or --spans")
    scheme = scheme_of(learner, "ask for --json")

    def parts() -> Iterator[Sequence[Document]]:
        for path in paths:
            for block in files.documents(path, live=path == STDIN):
                for begin in range(0, len(block), BATCH):
                    yield block[begin : begin + BATCH]

    def written(part: Sequence[Document]) -> tuple[int, bytes]:
        found = _tagged(options, learner, scheme, part)
        lines = [as_lines(one) if one.format == "brat" else as_line(one, one.format, one.key) + "\n" for one in found]
        return len(found), "".join(lines).encode()

    yield from in_order(written, parts(), threads_of(options, paths))


def _tagged(options: argparse.Namespace, learner: Any, scheme: str, documents: Sequence[Document]) -> list[Document]:
    sentences = [bare_sentences(document) for document in documents]
    every = list(itertools.chain.from_iterable(sentences))
    rows = [sentence.rows for sentence in every]
    with placed([sentence.place for sentence in every]):
        predicted = learner.predict_many(rows, options.hypothesis)
        labels = iter(zip(predicted, likely(learner, rows, options), strict=True))
    tagged = []
    for document, some in zip(documents, sentences, strict=True):
        found: list[Span] = []
        sure: list[float] = []
        for one, (mine, chances) in zip(some, itertools.islice(labels, len(some)), strict=True):
            found += spans_of([token for (token,) in one.rows], mine, scheme)
            if chances is not None:
                of_tokens = probability_of(learner, mine, chances)
                sure += [round(min(of_tokens[begin:end]), 6) for begin, end, _ in spans(mine, scheme)]
        tagged.append(replace(document, spans=found))
        if options.proba:
            tagged[-1].record = {**document.record, "probabilities": sure}
    return tagged
