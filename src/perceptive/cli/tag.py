"""``perceptive tag``: labels for the tokens of sentences."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from perceptive.cli.options import add_json, as_json, whole

if TYPE_CHECKING:
    from perceptive.streams.conll import Place

BATCH = 512  # sentences
EXAMPLE = """\
examples:
  perceptive tag chunk.model new.conll > tagged.conll
  perceptive tag ner.model --text "Ada Lovelace met Charles Babbage in London." --spans
  cat new.conll | perceptive tag chunk.model - --kbest 5 --margin
  perceptive tag rerank.model new.conll > tagged.conll
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.description = (
        "Label the tokens of files in columns: a token to a line, an empty line after each sentence. The columns come "
        "out as they went in, the label behind them, separated by tabs if those of the first file are, else by spaces. "
        "With --kbest each sentence comes k times, under a line with rank and score; with --margin a last column says "
        "what the best path through another label would lose."
    )
    parser.epilog = EXAMPLE
    parser.add_argument("model", metavar="MODEL", help="a model file, of train --task tag or rerank")
    parser.add_argument("data", nargs="*", metavar="DATA", help="files in columns, globs, or - for standard input")
    parser.add_argument("--text", metavar="TEXT", help="a text instead of files, cut into tokens here")
    parser.add_argument("-o", "--output", metavar="FILE", help="instead of standard output")
    parser.add_argument("--kbest", type=whole(1), metavar="K", help="the k best label sequences, with their scores")
    parser.add_argument(
        "--margin", action="store_true", help="how sure each label is; with an encoding, labels of IOB1 as those of BIO"
    )
    parser.add_argument("--spans", action="store_true", help="segments instead of tokens: start, end, type, text")
    parser.add_argument(
        "--label-column", type=int, metavar="N",
        help="a column of labels to pass over (default: that of training, where there are as many columns)",
    )  # fmt: skip
    parser.add_argument("--hypothesis", help="another one than the model was trained with, where it was kept")
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Tag."""
    from perceptive.cli.model import load_tagger_model
    from perceptive.cli.predict import output
    from perceptive.cli.tagging import located

    if bool(options.data) == (options.text is not None):
        raise ValueError("give files, or --text")
    if options.spans and (options.kbest or options.margin):
        raise ValueError("--spans does not go with --kbest and --margin")
    learner = load_tagger_model(options.model)
    separator = ""
    with output(options.output, [options.model, *options.data]) as file:
        for batch, places, first in _batches(options):
            # one for the whole output, so that it can be read again
            separator = separator or ("\t" if any(" " in str(label) for label in learner.classes) else first)
            with located(places):
                for lines in _tagged(options, learner, batch, places, separator):
                    file.write(lines.encode())


def _batches(options: argparse.Namespace) -> Iterator[tuple[list[list[Any]], list[Place], str]]:
    """Sentences, where they stand, and what separates the columns of the first."""
    if options.text is not None:
        from perceptive.features.tokens import tokenise

        tokens = tokenise(options.text)
        if tokens:
            yield [[(token,) for token in tokens]], [("--text", 1)], " "
        return
    from perceptive.streams.conll import sentences

    places: list[Place] = []
    separators: list[str] = []
    stream: Iterable[list[Any]] = sentences(options.data, places, separators)
    while batch := list(itertools.islice(stream, BATCH)):
        yield batch, places, separators[0]
        places.clear()
        separators.clear()


def _tagged(
    options: argparse.Namespace, learner: Any, batch: list[list[Any]], places: list[Place], separator: str
) -> Iterator[str]:
    k = options.kbest or 1
    seen = [_without(options, learner, sentence, place) for sentence, place in zip(batch, places, strict=True)]
    if options.kbest:
        paths = learner.k_best(seen, k, options.hypothesis)
    else:
        paths = [[(labels, None)] for labels in learner.predict_many(seen, options.hypothesis)]
    margins = learner.margins(seen, options.hypothesis) if options.margin else [None] * len(batch)
    for sentence, place, tokens, found, margin in zip(batch, places, seen, paths, margins, strict=True):
        for rank, (labels, score) in enumerate(found):
            of_best = margin.tolist() if margin is not None and rank == 0 else None
            if options.json:
                yield as_json(_json(options, learner, tokens, labels, score, of_best)) + "\n"
            elif options.spans:
                yield (
                    "".join("\t".join(map(str, span)) + "\n" for span in _spans(options, learner, tokens, labels))
                    + "\n"
                )
            else:
                head = f"# {rank + 1} {score:.6g}\n" if options.kbest else ""
                yield head + _columns(sentence, labels, of_best, separator, place) + "\n"


def _without(options: argparse.Namespace, learner: Any, sentence: list[Any], place: Place) -> list[Any]:
    """A sentence without the column of labels, if it has one; one behind all that is read may stay."""
    from perceptive.streams.conll import label_at

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
    from perceptive.features.schemes import spans

    if learner.scheme is None:
        raise ValueError("the labels of this model are no segments; leave out --spans")
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
