"""What ``perceptive tag`` writes of a sentence: columns, segments, or JSON."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from perceptive.cli.options import as_json
from perceptive.cli.tasks.sentences import files_of, tokens_of
from perceptive.errors import UsageError
from perceptive.features.schemes import spans
from perceptive.streams import conllu
from perceptive.streams.conll import begins_document
from perceptive.streams.sentence import Sentence


def tagged(options: argparse.Namespace, learner: Any, batch: list[Sentence], separator: str) -> Iterator[str]:
    """The lines of some sentences."""
    seen = [tokens_of(options, learner, sentence) for sentence in batch]
    if options.kbest:
        paths = learner.k_best(seen, options.kbest, options.hypothesis)
    else:
        paths = [[(labels, None)] for labels in learner.predict_many(seen, options.hypothesis)]
    margins = learner.margins(seen, options.hypothesis) if options.margin else [None] * len(batch)
    for sentence, tokens, found, margin in zip(batch, seen, paths, margins, strict=True):
        for rank, (labels, score) in enumerate(found):
            of_best = margin.tolist() if margin is not None and rank == 0 else None
            if options.json:
                yield as_json(_json(options, learner, tokens, labels, score, of_best)) + "\n"
            elif options.spans:
                found_spans = _spans(options, learner, tokens, labels)
                yield "".join("\t".join(map(str, span)) + "\n" for span in found_spans) + "\n"
            else:
                head = f"# {rank + 1} {score:.6g}\n" if options.kbest else ""
                if sentence.universal:
                    rows = _universal(options, learner, sentence, labels, of_best)
                else:
                    rows = _columns(sentence, labels, of_best, separator)
                yield head + "".join(row + "\n" for row in _with_others(sentence, rows, separator)) + "\n"


def words_of(sentence: list[Any]) -> list[str]:
    """The first column."""
    return [row if isinstance(row, str) else row[0] for row in sentence]


def _columns(sentence: Sentence, labels: list[Any], margin: list[float] | None, separator: str) -> list[str]:
    """The columns as they came, and the label behind them."""
    if separator == " ":
        for t, row in enumerate(sentence.rows):
            if any(" " in cell or not cell for cell in row):
                raise ValueError(
                    f"{sentence.place.of(t)}: a column is empty or has spaces in it, and those of the files before "
                    "are separated by spaces; tag this file by itself"
                )
    extra = [[str(label)] for label in labels]
    if margin is not None:
        extra = [[*cells, f"{m:.6g}"] for cells, m in zip(extra, margin, strict=True)]
    return [separator.join([*row, *more]) for row, more in zip(sentence.rows, extra, strict=True)]


def _universal(
    options: argparse.Namespace, learner: Any, sentence: Sentence, labels: list[Any], margin: list[float] | None
) -> list[str]:
    """CoNLL-U again, with the label in its column, and the margin among the rest."""
    name = str(files_of(options, learner).columns.of(sentence).label)
    rows = [conllu.changed(row, name, str(label)) for row, label in zip(sentence.rows, labels, strict=True)]
    if margin is not None:
        rows = [conllu.changed(row, "misc.Margin", f"{m:.6g}") for row, m in zip(rows, margin, strict=True)]
    return ["\t".join(row) for row in rows]


def _with_others(sentence: Sentence, rows: list[str], separator: str) -> Iterator[str]:
    """Lines of tokens, and between them those that are none; the mark of a document gets a label, as tokens do."""
    others = list(reversed(sentence.others))
    for t in range(len(rows) + 1):
        while others and others[-1][0] <= t:
            line = others.pop()[1]
            yield f"{line}{separator}O" if begins_document(line) else line
        if t < len(rows):
            yield rows[t]


def _spans(
    options: argparse.Namespace, learner: Any, sentence: list[Any], labels: list[Any]
) -> list[tuple[int, int, str, str]]:
    """Start, end, type and text: places in the text where the tokens know theirs, else numbers of tokens."""
    if learner.scheme is None:
        raise UsageError("the labels of this model do not mark segments; leave out --spans")
    found = []
    for begin, end, kind in spans(labels, learner.given or learner.scheme):
        words = [row[0] for row in sentence[begin:end]]
        if options.text is None:
            found.append((begin, end, kind, " ".join(words)))
        else:
            first, last = words[0].start, words[-1].end
            found.append((first, last, kind, " ".join(options.text[first:last].split())))
    return found


def _json(
    options: argparse.Namespace, learner: Any, sentence: list[Any], labels: list[Any], score: Any, margin: Any
) -> dict[str, Any]:
    told: dict[str, Any] = {"tokens": [row[0] for row in sentence], "labels": labels}
    if options.spans:
        names = ("start", "end", "type", "text")
        told["spans"] = [dict(zip(names, span, strict=True)) for span in _spans(options, learner, sentence, labels)]
    if score is not None:
        told["score"] = score
    if margin is not None:
        told["margin"] = [None if m == float("inf") else m for m in margin]
    return told
