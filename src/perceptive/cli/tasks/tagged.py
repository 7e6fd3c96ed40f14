"""What ``perceptive tag`` writes: of a sentence columns, its record, segments, or JSON; of texts the spans found."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from perceptive.cli.options import as_json
from perceptive.cli.tasks.sentences import BATCH, files_of, placed, threads_of, tokens_of
from perceptive.data.conversion import with_others
from perceptive.data.documents import bare_sentences, spans_of
from perceptive.data.sentence_files import TOKENS, SentenceFiles
from perceptive.errors import UsageError
from perceptive.features.label_repair import meant
from perceptive.features.schemes import spans
from perceptive.learners.calibration import label_probabilities, probability_of
from perceptive.streams import conllu
from perceptive.streams.blocks import STDIN
from perceptive.streams.brat import as_lines
from perceptive.streams.conll import begins_document
from perceptive.streams.documents import Document, Span, as_line
from perceptive.streams.parsing import in_order
from perceptive.streams.sentence import Sentence
from perceptive.streams.token_lines import key_of

Sure = dict[str, list[float]]  # of each token: the margin, the probability


def tagged(options: argparse.Namespace, learner: Any, batch: list[Sentence], separator: str) -> Iterator[str]:
    """The lines of some sentences."""
    seen = [tokens_of(options, learner, sentence) for sentence in batch]
    if options.kbest:
        paths = learner.k_best(seen, options.kbest, options.hypothesis)
    else:
        paths = [[(labels, None)] for labels in learner.predict_many(seen, options.hypothesis)]
    margins = learner.margins(seen, options.hypothesis) if options.margin else [None] * len(batch)
    of_labels = likely(learner, seen, options)
    for sentence, tokens, found, margin, chances in zip(batch, seen, paths, margins, of_labels, strict=True):
        for rank, (labels, score) in enumerate(found):
            sure: Sure = {} if margin is None or rank else {"margin": margin.tolist()}
            if chances is not None and rank == 0:
                sure["probability"] = probability_of(learner, labels, chances)
            if options.json:
                yield as_json(_json(options, learner, sentence, tokens, labels, score, sure)) + "\n"
            elif options.spans:
                found_spans = _spans(learner, sentence, tokens, labels, sure.get("probability"))
                yield "".join("\t".join(map(str, span)) + "\n" for span in found_spans) + "\n"
            elif sentence.record:
                told = {**sentence.record, _key(options, learner, sentence): labels, **_beside(score, sure)}
                yield json.dumps(told, ensure_ascii=False) + "\n"
            else:
                head = f"# {rank + 1} {score:.6g}\n" if options.kbest else ""
                if sentence.universal:
                    rows = _universal(options, learner, sentence, labels, sure)
                else:
                    rows = _columns(sentence, labels, sure, separator)
                # the mark of a document gets a label, as tokens do
                mark = separator.join(["", "O", *["1" if name == "probability" else "inf" for name in sure]])
                others = [(t, one + mark if begins_document(one) else one) for t, one in sentence.others]
                yield head + "".join(row + "\n" for row in with_others(others, rows)) + "\n"


def words_of(sentence: list[Any]) -> list[str]:
    """Return the first column of each token: its word."""
    return [row if isinstance(row, str) else row[0] for row in sentence]


def _columns(sentence: Sentence, labels: list[Any], sure: Sure, separator: str) -> list[str]:
    """The columns as they came, and the label behind them."""
    rows = sentence.cells
    if separator == " ":
        for t, row in enumerate(rows):
            if any(" " in cell or not cell for cell in row):
                raise ValueError(
                    f"{sentence.place.of(t)}: a column is empty or has spaces in it, and those of the files before "
                    "are separated by spaces; tag this file by itself"
                )
    extra = [[str(label)] for label in labels]
    for values in sure.values():
        extra = [[*cells, f"{value:.6g}"] for cells, value in zip(extra, values, strict=True)]
    return [separator.join([*row, *more]) for row, more in zip(rows, extra, strict=True)]


def _key(options: argparse.Namespace, learner: Any, sentence: Sentence) -> str:
    """The key of a record under which its labels are written: the one where they would be read."""
    return files_of(options, learner).columns.key or key_of(sentence.record) or "labels"


def _universal(
    options: argparse.Namespace, learner: Any, sentence: Sentence, labels: list[Any], sure: Sure
) -> list[str]:
    """CoNLL-U again, with the label in its column, and how sure it is among the rest."""
    name = str(files_of(options, learner).columns.of(sentence).label)
    rows = [conllu.changed(row, name, str(label)) for row, label in zip(sentence.rows, labels, strict=True)]
    for name, values in sure.items():
        field = f"misc.{name.capitalize()}"
        rows = [conllu.changed(row, field, f"{value:.6g}") for row, value in zip(rows, values, strict=True)]
    return ["\t".join(row) for row in rows]


def _spans(
    learner: Any, sentence: Sentence, tokens: list[Any], labels: list[Any], chances: list[float] | None
) -> list[tuple[Any, ...]]:
    """Start, end, type and text: places in the text where the tokens come from one, else numbers of tokens.

    And where it is known how likely the labels are, how likely the least likely of the segment is.
    """
    scheme = scheme_of(learner, "leave out --spans")
    document, segments = sentence.document, spans(labels, scheme)
    sure = [()] * len(segments) if chances is None else [(min(chances[begin:end]),) for begin, end, _ in segments]
    if document is None:
        texts = (" ".join(row[0] for row in tokens[begin:end]) for begin, end, _ in segments)
        found = [(*span, text) for span, text in zip(segments, texts, strict=True)]
    else:
        found = [
            (start + document.offset, end + document.offset, kind, " ".join(document.text[start:end].split()))
            for start, end, kind in spans_of([token for (token,) in tokens], labels, scheme)
        ]
    return [(*span, *how) for span, how in zip(found, sure, strict=True)]


def likely(learner: Any, seen: list[Any], options: argparse.Namespace) -> list[Any]:
    """How likely each label of each token is, where that is asked for."""
    if not options.proba:
        return [None] * len(seen)
    if getattr(learner, "temperature", None) is None:
        raise UsageError("--proba needs a tagger that was trained with --holdout or --dev; train it again")
    return label_probabilities(learner, seen, options.hypothesis)


def scheme_of(learner: Any, cure: str) -> str:
    """The scheme of a model's labels; raises where they mark no segments."""
    scheme: str | None = learner.given or learner.scheme
    if scheme is None:
        broken = meant([[label] for label in learner.classes]) is not None
        repair = "train it again with what perceptive convert makes of its sentences, or " if broken else ""
        what = "keep to no scheme of segments" if broken else "do not mark segments"
        raise UsageError(f"the labels of this model {what}; {repair}{cure}")
    return scheme


def _json(
    options: argparse.Namespace,
    learner: Any,
    sentence: Sentence,
    tokens: list[Any],
    labels: list[Any],
    score: Any,
    sure: Sure,
) -> dict[str, Any]:
    told: dict[str, Any] = {"tokens": [row[0] for row in tokens], "labels": labels}
    if sentence.document is not None:
        offset = sentence.document.offset
        told["offsets"] = [[token.start + offset, token.end + offset] for (token,) in tokens]
    if options.spans:
        names = ("start", "end", "type", "text", "probability")
        found = _spans(learner, sentence, tokens, labels, sure.get("probability"))
        told["spans"] = [dict(zip(names, span, strict=False)) for span in found]
    return {**told, **_beside(score, sure)}


def _beside(score: Any, sure: Sure) -> dict[str, Any]:
    """What JSON says beside the labels: their score, and how sure each is."""
    told: dict[str, Any] = {} if score is None else {"score": score}
    for name, values in sure.items():
        told[name] = [None if value == float("inf") else value for value in values]
    return told


# ---------------------------------------------------------------- texts with spans


def writes_documents(files: SentenceFiles, paths: Sequence[str]) -> bool:
    """Whether files are texts with spans; raises where these, or records, are not to be written with others."""
    formats = {files.format_of(path) for path in paths}
    of_texts = formats - {"conll", "conllu", "raw", TOKENS}
    if (of_texts or TOKENS in formats) and len(formats) > 1:
        raise UsageError(f"the files are of several formats ({', '.join(sorted(formats))}); tag them separately")
    if "brat" in of_texts and len(paths) > 1:
        raise UsageError(
            "the spans of one text at a time are written for brat; tag the files separately, or ask for --json"
        )
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
        found = _with_found(options, learner, scheme, part)
        lines = [as_lines(one) if one.format == "brat" else as_line(one, one.format, one.key) + "\n" for one in found]
        return len(found), "".join(lines).encode()

    yield from in_order(written, parts(), threads_of(options, learner, paths))


def _with_found(
    options: argparse.Namespace, learner: Any, scheme: str, documents: Sequence[Document]
) -> list[Document]:
    sentences = [bare_sentences(document, learner.tokeniser) for document in documents]
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
