"""How features become columns, as options: what is given here the model remembers."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from perceptive.cli.options import option_of, span, whole, words

if TYPE_CHECKING:
    from perceptive.streams.reading import Meaningless


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How features become columns; what is given here the model remembers."""
    group = parser.add_argument_group("features")
    group.add_argument("--bits", type=whole(1), help="hash the features into 2^BITS columns")
    group.add_argument("--hash-seed", type=whole(0), help="where the hash begins (default: 0)")
    group.add_argument("--invert-hash", action="store_true", help="remember the names of hashed features, for inspect")
    group.add_argument(
        "--interactions", type=words, metavar="PAIRS", help="products of features: all, or pairs of namespaces a:b,a:c"
    )
    group.add_argument("--zero-based", action="store_const", const=True, help="svmlight: the first feature is 0, not 1")
    group.add_argument("--features", dest="n_features", type=whole(1), help="svmlight: number of features, if known")
    group = parser.add_argument_group("tables (csv, tsv, parquet) and JSON lines")
    group.add_argument("--label", help="column or key of the label (default: label)")
    group.add_argument("--categorical", type=words, metavar="A,B,…", help="columns whose numbers are names")
    group.add_argument("--ignore", type=words, metavar="A,B,…", help="columns to leave out")
    group.add_argument("--delimiter", help="between columns (default: comma, tab or semicolon, as the header has it)")
    group.add_argument("--text-column", metavar="NAME", help="column or key whose value is a text")
    group = parser.add_argument_group("text")
    group.add_argument("--text", action="store_true", help="the files are texts: label TAB text, or __label__x text")
    group.add_argument(
        "--words", type=span, metavar="N[-M]", help="n-grams of words, e.g. 1-2 (default: 1); 0 for none"
    )
    group.add_argument("--chars", type=span, metavar="N[-M]", help="n-grams of characters within words, e.g. 3-5")
    group.add_argument("--weighting", choices=["binary", "tf", "log-tf"], help="of repeated features (default: tf)")
    group.add_argument(
        "--idf", action="store_const", const=True, help="rare features count more: reads the files once more"
    )
    group.add_argument(
        "--lowercase", action=argparse.BooleanOptionalAction, default=None, help="fold upper case (default: yes)"
    )
    group.add_argument(
        "--unit-length", dest="normalize_text", action=argparse.BooleanOptionalAction, default=None,
        help="scale texts to length 1 (default: yes)",
    )  # fmt: skip


READING = (
    "bits", "hash_seed", "interactions", "zero_based", "n_features", "label", "categorical", "ignore", "delimiter",
    "text_column",
)  # fmt: skip
TEXT = {"words": "words", "chars": "chars", "weighting": "weighting", "idf": "idf", "lowercase": "lowercase",
        "normalize_text": "normalize"}  # fmt: skip


def given_reading(options: argparse.Namespace) -> list[str]:
    """The options that were given of how features become columns, as they are written."""
    return [option_of(name) for name in (*READING, *TEXT) if getattr(options, name) is not None]


def said_as_options(error: Meaningless) -> ValueError:
    """The same, with the names of the options."""
    names = {name: option for option, name in TEXT.items()}
    return ValueError(f"{', '.join(option_of(names.get(name, name)) for name in error.names)}: {error.why}")


def reading_options(options: argparse.Namespace) -> dict[str, Any]:
    """What was given of how features become columns."""
    reading = {name: value for name in READING if (value := getattr(options, name)) is not None}
    text = {name: value for option, name in TEXT.items() if (value := getattr(options, option)) is not None}
    for name in ("words", "chars"):
        if name in text and text[name] == (0, 0):
            text[name] = None
    return {**reading, "text": text} if text else reading
