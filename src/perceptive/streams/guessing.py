"""The format of a file from its name, else from its first lines."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from perceptive.errors import ParameterError, literal
from perceptive.streams.blocks import STDIN, peek, shown
from perceptive.streams.text_lines import check_start

ENDINGS = {
    "svm": "svmlight",
    "svmlight": "svmlight",
    "libsvm": "svmlight",
    "vw": "vw",
    "csv": "csv",
    "tsv": "tsv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "parquet": "arrow",
    "arrow": "arrow",
    "feather": "arrow",
    "conll": "conll",
    "conllu": "conllu",
}
ENTRY = rb"(?:qid:[0-9]+|[0-9]+:[^ \t:]+)"
SVMLIGHT = re.compile(rb"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?(?:[ \t]+%s)*[ \t]*(?:#.*)?" % ENTRY)
ENTRIES = re.compile(rb"[ \t]%s" % ENTRY)
MAGIC = (b"PAR1", b"ARROW1")
LONGEST = max(map(len, MAGIC))
VW = re.compile(rb"[^|]*\|(?:[^ \t|:]+(?::[^ \t|:]+)?)?(?:[ \t]+.*)?")


def guess(files: Sequence[str]) -> str:
    """The one format of all files; those that are empty, and have no name that tells it, are of any.

    Examples
    --------
    >>> guess(["train.svm.gz", "more.libsvm"])
    'svmlight'
    >>> guess(["train.svm", "test.csv"])
    Traceback (most recent call last):
    perceptive.errors.ParameterError: train.svm looks like svmlight, test.csv like csv; read them separately, ...
    """
    found = [(path, guess_one(path)) for path in files if _named(path) or peek(path).strip()]
    if not found:
        raise ValueError(f"{shown(files[0])}: is empty; check where the examples come from")
    for path, format in found[1:]:
        if format != found[0][1]:
            differ = f"{shown(found[0][0])} looks like {found[0][1]}, {shown(path)} like {format}"
            raise ParameterError(literal(differ) + "; read them separately, or give {}", "format")
    return found[0][1]


def by_name(path: str) -> str | None:
    """The format that the end of a file's name tells; .txt says only that it is text."""
    endings = [ending.lower().lstrip(".") for ending in os.path.basename(path).split(".")[1:]]
    if endings and endings[-1] in ("gz", "zst"):
        endings.pop()
    return ENDINGS.get(endings[-1]) if path != STDIN and endings else None


def told_by(path: str) -> str | None:
    """The format of a file where its name or its first bytes leave no doubt; None where a model knows better."""
    named = _named(path)
    if named is not None:
        return named
    start = peek(path)
    if start.startswith(MAGIC):
        return "arrow"
    lines = [line for line in start.split(b"\n")[:100] if line.strip()]
    if lines and all(map(is_object, lines[:-1] or lines)):
        return "json"
    entries = sum(_is_svmlight(line) and ENTRIES.search(line) is not None for line in lines)
    return "svmlight" if 2 * entries > len(lines) else None


def guess_one(path: str) -> str:
    """The format of a file: by the end of its name, else by its first bytes."""
    named = _named(path)
    if named is not None:
        return named
    start = peek(path)
    check_start(path, start)
    found = guess_text(start)
    if len(found) != 1:
        may_be = f"may be {' or '.join(found)}" if found else "cannot be told from the first lines"
        raise ParameterError(literal(f"{shown(path)}: the format {may_be}") + "; give {}", "format")
    return found[0]


def _named(path: str) -> str | None:
    """What its name tells, unless its first bytes are those of no text."""
    named = by_name(path)
    if named is not None and os.path.isfile(path) and peek(path, LONGEST).startswith(MAGIC):
        return "arrow"
    return named


def guess_text(start: bytes) -> list[str]:
    r"""The formats that a file may have which begins so.

    Examples
    --------
    >>> guess_text(b"+1 1:0.5 3:2\n"), guess_text(b"1 | height:1.5\n"), guess_text(b"spam\thi\nspam\tyo\n")
    (['svmlight'], ['vw'], ['text'])
    >>> guess_text(b"age,colour,label\n31,red,1\n"), guess_text(b"Ada N\nleft V\n\nBob N\nsat V\n")
    (['csv'], ['conll'])
    >>> guess_text(b"to be or not to be\n"), guess_text(b"a\tb\nc\td\n")
    ([], ['text', 'csv'])
    """
    if start.startswith(MAGIC):
        return ["arrow"]
    *whole, last = start.split(b"\n")
    lines = [line.rstrip(b"\r") for line in (whole or [last])[:100] if line.strip()]
    if not lines:
        return ["svmlight"]  # an empty file has no examples in any format
    found = [format for format, looks in LOOKS.items() if 2 * sum(map(looks, lines)) > len(lines)]  # some may be broken
    return found or (["conll"] if _is_columns(start) else _by_delimiter(lines))


def _is_svmlight(line: bytes) -> bool:
    return line.lstrip().startswith(b"#") or SVMLIGHT.fullmatch(line.strip()) is not None


def is_object(line: bytes) -> bool:
    """Whether a line is an object of JSON."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_columns(start: bytes) -> bool:
    """Whether tokens stand on lines of their own, in columns, and empty lines between sentences."""
    widths = [len(line.split()) for line in start.strip(b"\n").split(b"\n")[:-1]]
    longer = any(a and b for a, b in pairwise(widths))  # a sentence of several tokens
    return longer and 0 in widths and len({0, *widths}) == 2 and max(widths) > 1


LOOKS: dict[str, Callable[[bytes], bool]] = {
    "json": is_object,
    "svmlight": _is_svmlight,
    "vw": lambda line: VW.fullmatch(line) is not None,
    "text": lambda line: line.startswith(b"__label__"),
}


def _by_delimiter(lines: list[bytes]) -> list[str]:
    tabbed = [line for line in lines if b"\t" in line]
    if {line.count(b"\t") for line in tabbed} == {1} and 2 * len(tabbed) > len(lines):
        words = {line.split(b"\t")[0] for line in tabbed}
        return ["text"] if len(words) < len(tabbed) else ["text", "csv"]  # words that come again are labels
    for delimiter in (b",", b"\t", b";"):
        counts = {line.count(delimiter) for line in lines if b'"' not in line}
        if len(counts) == 1 and counts != {0} and len(lines) > 1:
            return ["csv"]
    return []
