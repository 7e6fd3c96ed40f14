"""Labelled text: one example a line, ``label TAB text``, or fastText's ``__label__x … text``; or the text alone.

Labels are words. Of several ``__label__`` the first counts. An empty label is none. Blank lines count for nothing.
"""

from functools import partial
from typing import Any

from twins.lines import Bad, Example, parse_lines, require_utf8, rounded, tokens
from twins.text import decode, hashed, names

MARK = b"__label__"
CURE = "write label TAB text, or __label__x text, or have the lines read as unlabelled texts"


def text_row(
    text: bytes, *, bits: int = 20, seed: int = 0, signed: bool = True, **options: Any
) -> list[tuple[int, float]]:
    """The features of a text, hashed; options are those of `text.names` and `text.hashed`."""
    named = {name: options.pop(name) for name in ("words", "chars", "lowercase") if name in options}
    return hashed(names(decode(text)[0], **named), bits=bits, seed=seed, signed=signed, **options)


def parse(
    text: bytes, *, labelled: bool = True, name: str = "<bytes>", first_line: int = 1, **options: Any
) -> list[Example]:
    r"""Parse whole lines; options are those of `text_row`, and single.

    Examples
    --------
    >>> parse(b"spam\tbuy now\n__label__ham __label__x hello\n", bits=4, normalize=False)[1]
    Example(label=b'ham', weight=None, entries=((7, 1.0),))
    """
    return parse_lines(text, partial(_line, labelled=labelled, **options), name, first_line)


def several(text: bytes) -> tuple[int, int, bytes] | None:
    r"""How many lines have several labels; the number of the first of them, from 0, and the label that was taken.

    Examples
    --------
    >>> several(b"spam\tbuy\n__label__ham __label__x hello\n")
    (1, 1, b'ham')
    """
    words = [[word for _, word in tokens(line.removesuffix(b"\r"))] for line in text.split(b"\n")]
    found = [i for i, line in enumerate(words) if len(line) > 1 and all(w.startswith(MARK) for w in line[:2])]
    return (len(found), found[0], words[found[0]][0].removeprefix(MARK)) if found else None


def _line(line: bytes, labelled: bool, single: bool = False, **options: Any) -> Example | None:
    words = tokens(line)
    if not words:
        return None
    label, begin = b"", words[0][0]
    if labelled and words[0][1].startswith(MARK):
        label, at = words[0][1].removeprefix(MARK), begin + len(MARK)
        begin = next((begin for begin, word in words if not word.startswith(MARK)), len(line))
        require_utf8(at, label, "label")
    elif labelled:
        if b"\t" not in line:
            raise Bad(begin, f"there is no label; {CURE}")
        label, begin = line.split(b"\t")[0].strip(b" "), line.index(b"\t") + 1
        require_utf8(words[0][0], label, "label")
    row = text_row(line[begin:], **options)
    return Example(label or None, None, tuple((h, rounded(value, single)) for h, value in row))
