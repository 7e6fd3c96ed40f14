"""What ``perceptive tag`` writes of a sentence: columns, segments, or JSON."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from perceptive.cli.options import as_json
from perceptive.errors import UsageError
from perceptive.features.schemes import spans
from perceptive.streams.conll import Place, label_at


def tagged(
    options: argparse.Namespace, learner: Any, batch: list[list[Any]], places: list[Place], separator: str
) -> Iterator[str]:
    """The lines of some sentences."""
    seen = [tokens_of(options, learner, sentence, place) for sentence, place in zip(batch, places, strict=True)]
    if options.kbest:
        paths = learner.k_best(seen, options.kbest, options.hypothesis)
    else:
        paths = [[(labels, None)] for labels in learner.predict_many(seen, options.hypothesis)]
    margins = learner.margins(seen, options.hypothesis) if options.margin else [None] * len(batch)
    for sentence, place, tokens, found, margin in zip(batch, places, seen, paths, margins, strict=True):
        for rank, (labels, score) in enumerate(found):
            of_best = margin.tolist() if margin is not None and rank == 0 else None
            if options.json:
                yield as_json(_json(options, learner, tokens, labels, score, of_best)) + "\n"
            elif options.spans:
                rows = ("\t".join(map(str, span)) + "\n" for span in _spans(options, learner, tokens, labels))
                yield "".join(rows) + "\n"
            else:
                head = f"# {rank + 1} {score:.6g}\n" if options.kbest else ""
                yield head + _columns(sentence, labels, of_best, separator, place) + "\n"


def explained(sentence: list[Any], found: list[Any], json: bool) -> str:
    """The explanations of the labels of a sentence, token by token."""
    words = [row if isinstance(row, str) else row[0] for row in sentence]
    if json:
        explanations = [told.to_dict() for told in found]
        return as_json({"tokens": words, "labels": [told.label for told in found], "explanations": explanations}) + "\n"
    return "".join(f"{word}: {told}\n" for word, told in zip(words, found, strict=True)) + "\n"


def tokens_of(options: argparse.Namespace, learner: Any, sentence: list[Any], place: Place) -> list[Any]:
    """A sentence without the column of labels, if it has one; one behind all that is read may stay."""
    n, column = len(sentence[0]), options.label_column
    if options.text is not None:
        return sentence
    if column is None:
        column, there = learner.label_column, learner.n_columns
        if column in (None, -1) or n == there - 1:
            return sentence
        if n != there:
            raise ValueError(
                f"{place[0]}:{place[1]}: {n} columns, but the model has learned from {there}, with labels in column "
                f"{column}; give {there - 1} or {there}, or say which to pass over by --label-column"
            )
    at = label_at(sentence, column, place)
    return [(*row[:at], *row[at + 1 :]) for row in sentence]


def _columns(sentence: list[Any], labels: list[Any], margin: list[float] | None, separator: str, place: Place) -> str:
    if separator == " ":
        for t, row in enumerate(sentence):
            if any(" " in cell or not cell for cell in row):
                raise ValueError(
                    f"{place[0]}:{place[1] + t}: a column is empty or has spaces in it, and those of the files before "
                    "are separated by spaces; tag this file by itself"
                )
    extra = [[str(label)] for label in labels]
    if margin is not None:
        extra = [[*cells, f"{m:.6g}"] for cells, m in zip(extra, margin, strict=True)]
    return "".join(separator.join([*row, *more]) + "\n" for row, more in zip(sentence, extra, strict=True))


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
