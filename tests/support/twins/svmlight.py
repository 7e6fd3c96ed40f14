"""The svmlight (libsvm) format: one example a line, ``label [qid:n] index:value … [# comment]``.

Lines end with LF or CRLF, the last one also with the file; parts are separated by spaces and tabs; blank lines count
for nothing but the numbering. Numbers are plain decimals, and rounded correctly. Indices rise within a line; the first
feature is 1, or 0 where the file is zero-based.
"""

from dataclasses import dataclass

from twins.lines import Bad, decimal, shown, tokens, whole_or_float

MAX_COLUMN = 2**31 - 2
DIGITS = 19  # no whole number is written with more


@dataclass(frozen=True)
class Example:
    """One line; columns count from 0."""

    label: float | int
    qid: int
    entries: tuple[tuple[int, float], ...]


def parse(
    text: bytes,
    *,
    name: str = "<bytes>",
    first_line: int = 1,
    zero_based: bool = False,
    n_features: int | None = None,
    single: bool = False,
    queries: bool = False,
) -> list[Example]:
    r"""Parse whole lines; `single` rounds values on to float32, `queries` wants a qid in every line.

    Examples
    --------
    >>> parse(b"+1 qid:7 1:0.5 3:2  # a comment\n")
    [Example(label=1.0, qid=7, entries=((0, 0.5), (2, 2.0)))]
    >>> parse(b"\n1 0:1\n", name="train.svm")
    Traceback (most recent call last):
    ValueError: train.svm:2:3: feature index 0: indices start at 1, unless the file is read as zero-based
    """
    examples = []
    for number, line in enumerate(text.split(b"\n"), first_line):
        line = line.removesuffix(b"\r").split(b"#", 1)[0]
        words = tokens(line)
        try:
            if words:
                examples.append(_example(words, 0 if zero_based else 1, n_features, single, queries))
        except Bad as bad:
            raise ValueError(f"{name}:{number}:{bad.at + 1}: {bad}") from None
    return examples


def _example(words: list[tuple[int, bytes]], base: int, n_features: int | None, single: bool, queries: bool) -> Example:
    at, token = words.pop(0)
    if queries:
        what, cure = "grade", "write grade qid:n index:value …, with the grade 0 if it is not known"
    else:
        what, cure = "label", "write classes as numbers, one per example"
    number = decimal(at, token, what, cure, single=False)
    label = whole_or_float(token, number)
    qid = -1
    if words and words[0][1].startswith(b"qid:"):
        at, token = words.pop(0)
        digits = token[4:]
        if not digits.isdigit() or len(digits) > DIGITS or int(digits) >= 2**63:
            raise Bad(at, f"qid '{shown(digits)}' is not a whole number from 0 to 2⁶³ − 1; renumber the queries")
        qid = int(digits)
    elif queries:
        raise Bad(at, "this line names no query; to rank, write qid:n right after the grade")
    entries: list[tuple[int, float]] = []
    for at, token in words:
        last = entries[-1][0] if entries else -1
        digits, colon, value = token.partition(b":")
        column = _column(at, digits, bool(colon), base, last, n_features)
        cure = "write index:value, entries separated by spaces"
        entries.append((column, decimal(at + len(digits) + 1, value, "value", cure, single)))
    return Example(label, qid, tuple(entries))


def _column(at: int, digits: bytes, colon: bool, base: int, last: int, n_features: int | None) -> int:
    index = shown(digits)
    if not colon:
        raise Bad(at, f"'{index}' is not an entry; write index:value, entries separated by spaces")
    if digits == b"qid":
        raise Bad(at, "qid must come right after the label; move it there")
    if digits[:1] == b"-" and digits[1:].isdigit():
        raise Bad(at, f"feature index {index}: indices must not be negative; renumber the features")
    if not digits.isdigit():
        raise Bad(at, f"feature index '{index}' is not a whole number; write index:value")
    if len(digits) > DIGITS or int(digits) - base > MAX_COLUMN:
        raise Bad(at, f"feature index {index}: the largest is {MAX_COLUMN + base}; hash the features into fewer")
    column = int(digits) - base
    if column < 0:
        raise Bad(at, f"feature index {index}: indices start at 1, unless the file is read as zero-based")
    if column == last:
        raise Bad(at, f"feature index {index} twice: give each feature once; add up or drop duplicates")
    if column < last:
        raise Bad(at, f"feature index {index} after {last + base}: indices must rise; sort the entries of each line")
    if n_features is not None and column >= n_features:
        raise Bad(at, f"feature index {index}: beyond the {n_features} features; allow more, or hash them")
    return column
