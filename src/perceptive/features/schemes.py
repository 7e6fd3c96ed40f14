"""Ways to write segments as token labels.

===========  ==========================================================================================
scheme       the segments [New York]-LOC [Rome]-LOC are
===========  ==========================================================================================
``iob1``     I-LOC I-LOC B-LOC: B only if the previous token is in a segment of the same type
``bio``      B-LOC I-LOC B-LOC: every segment begins with B
``bioes``    B-LOC E-LOC S-LOC: E ends a segment, S is a segment of one token
``bilou``    B-LOC L-LOC U-LOC: the same with different letters, as ``bmes`` and ``bmewo``
``ioe2``     I-LOC E-LOC E-LOC: every segment ends with E
``ioe1``     I-LOC E-LOC I-LOC: E only if the next token is in a segment of the same type
===========  ==========================================================================================

Types may be missing: then labels are B, I, O (E, S, L, U).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

PREFIXES = {
    "bio": "BI", "iob1": "BI", "bioes": "BIES", "bilou": "BILU", "ioe2": "IE", "ioe1": "IE", "bmes": "BMES",
    "bmewo": "BMEW",
}  # fmt: skip
SCHEMES = tuple(PREFIXES)
ALIASES = {"iob2": "bio", "iobes": "bioes"}  # other names that are in use
LETTERS = {  # for the first, a middle and the last token of a segment, and for its only one; see `STRICT`
    "bio": "BIIB", "iob1": "BIIB", "bioes": "BIES", "bilou": "BILU", "bmes": "BMES", "ioe2": "IIEE", "ioe1": "IIEE",
    "bmewo": "BMEW",
}  # fmt: skip
STRICT = {"iob1": "bio", "ioe1": "ioe2"}  # schemes that mark only segments that touch; these mark all segments alike
AS_BIOES = {"L": "E", "U": "S", "M": "I", "W": "S"}  # what the letters of BILOU, BMES and BMEWO are called there
TOLD_APART = ("O", "B", "I", "E", "S", "L", "U", "M", "W", "", "BI", "IE")  # what `_follows` tells apart
EDGE = ("O", "")  # outside the sentence nothing goes on
END = object()  # of a sentence, as a neighbour of labels
Span = tuple[int, int, str]  # first token, behind the last, type


def named(name: str) -> str:
    """Return the scheme with this name; raise if there is none.

    Examples
    --------
    >>> named("iob2"), named("ioe1")
    ('bio', 'ioe1')
    >>> named("bies")
    Traceback (most recent call last):
    ValueError: 'bies' is not a scheme of labels; choose one of bio, iob1, bioes, bilou, ioe2, ioe1, bmes, bmewo, ...
    """
    if name not in (*SCHEMES, *ALIASES):
        raise ValueError(f"{name!r} is not a scheme of labels; choose one of {', '.join((*SCHEMES, *ALIASES))}")
    return ALIASES.get(name, name)


def split(label: Any) -> tuple[str, str]:
    """Return the prefix and type of a label.

    Examples
    --------
    >>> split("B-NP"), split("O"), split("I")
    (('B', 'NP'), ('O', ''), ('I', ''))
    """
    prefix, _, kind = str(label).partition("-")
    return prefix, kind


def segment_of(label: str) -> str:
    """What segments have a label of BIOES, in words.

    Examples
    --------
    >>> segment_of("I-PER"), segment_of("S")
    ("a segment 'PER' of three or more tokens", 'a segment of one token')
    """
    prefix, kind = split(label)
    long = {"S": "one token", "I": "three or more tokens"}.get(prefix, "two or more tokens")
    return f"a segment {kind!r} of {long}" if kind else f"a segment of {long}"


def follows(scheme: str, before: Any, label: Any) -> bool:
    """Return whether a label may follow another; None is the edge of the sentence.

    Examples
    --------
    >>> follows("bio", "B-NP", "I-NP"), follows("bio", "O", "I-NP"), follows("iob1", None, "I-NP")
    (True, False, True)
    """
    return _follows(scheme, EDGE if before is None else split(before), EDGE if label is None else split(label))


def _follows(scheme: str, before: tuple[str, str], label: tuple[str, str]) -> bool:
    """The same of labels that are split."""
    p, q, same = before[0], label[0], before[1] == label[1]
    if scheme == "iob1":
        return q != "B" or (p in "BI" and same)
    if scheme == "bio":
        return q != "I" or (p in "BI" and same)
    if scheme == "ioe1":
        return p != "E" or (q in "IE" and same)
    if scheme == "ioe2":
        return p != "I" or (q in "IE" and same)
    p, q = AS_BIOES.get(p, p), AS_BIOES.get(q, q)
    if p in ("B", "I"):
        return q in ("I", "E") and same
    return q not in ("I", "E")


def recognise(sequences: Iterable[Sequence[Any]]) -> str | None:
    """Return the scheme that label sequences follow; None if they follow none. Labels that are None are skipped.

    Examples
    --------
    >>> recognise([["B-NP", "I-NP", "O"]]), recognise([["I-NP", "I-NP", "B-NP"]]), recognise([["DT", "NN"]])
    ('bio', 'iob1', None)
    >>> recognise([["B-NP", "E-NP", "O", "S-VP"]])
    'bioes'
    """
    sequences = list(sequences)
    labels = set[Any]().union(*sequences) - {None}
    if not all(isinstance(label, str) for label in labels):
        return None
    pairs = set[tuple[Any, Any]]().union(*(pairwise((END, *s, END)) for s in sequences))  # far fewer than tokens
    kept = (scheme for scheme in possible(labels) if all(_may_stand(scheme, *pair) for pair in pairs))
    return next(kept, None)


def other_scheme(sequences: Sequence[Sequence[Any]], scheme: str | None) -> str | None:
    """Return the scheme of label sequences if they follow one, and not the given one; else None.

    Examples
    --------
    >>> other_scheme([["I-NP", "O"]], "bio"), other_scheme([["B-NP", "O"]], "bio"), other_scheme([["S-NP"]], "bmes")
    ('iob1', None, None)
    """
    if scheme is None or all(violation(scheme, labels) is None for labels in sequences):
        return None
    return recognise(sequences)


def possible(labels: Collection[Any]) -> list[str]:
    """Return the schemes that have all these labels. If there is only I, it is IOB1 whose segments never touch."""
    prefixes = {split(label)[0] for label in labels if label != "O"}
    if prefixes == {"I"} and all(split(label)[1] for label in labels if label != "O"):
        return ["iob1"]
    typed = any(split(label)[1] for label in labels)
    if not prefixes & ({*"BEUSLW"} if typed else {*"B"}):
        return []
    return [scheme for scheme in SCHEMES if prefixes <= {*PREFIXES[scheme]}]


def belongs(label: Any, scheme: str) -> bool:
    """Return whether a label belongs to a scheme."""
    return split(label)[0] in ("O", *PREFIXES[scheme])


@lru_cache(maxsize=4096, typed=True)
def _may_stand(scheme: str, before: Any, label: Any) -> bool:
    """Whether a label is one of a scheme's, and may follow another; of labels that are None nothing is known."""
    if label is None or label is END:
        return label is None or before is None or before is END or follows(scheme, before, None)
    return belongs(label, scheme) and (before is None or follows(scheme, None if before is END else before, label))


def violation(scheme: str, labels: Sequence[Any]) -> int | None:
    """Return the first token whose label breaks the scheme there; None if there is none."""
    for t, (before, label) in enumerate(pairwise((END, *labels, END))):
        if not _may_stand(scheme, before, label):
            return min(t, len(labels) - 1)
    return None


def constraints(
    scheme: str | None, labels: Sequence[Any]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]:
    """Return which pairs of labels may follow each other, which may begin and which may end; empty arrays for all."""
    if scheme is None:
        return np.zeros(0, np.uint8), np.zeros(0, np.uint8), np.zeros(0, np.uint8)
    parts = [split(label) for label in labels]
    pair = _pairs(scheme, parts)
    start = np.array([_follows(scheme, EDGE, y) for y in parts], np.uint8)
    stop = np.array([_follows(scheme, y, EDGE) for y in parts], np.uint8)
    return pair.ravel(), start, stop


def _pairs(scheme: str, parts: Sequence[tuple[str, str]]) -> NDArray[np.uint8]:
    """`_follows` of all pairs. Between labels of different types only the prefixes count: rows of these are copied.

    A prefix that no scheme knows is as O is; so tables stay small, whatever the labels.
    """

    def table(one: str, other: str) -> NDArray[np.uint8]:
        return np.array([[_follows(scheme, (p, one), (q, other)) for q in prefixes] for p in prefixes], np.uint8)

    prefixes = {prefix: i for i, prefix in enumerate(TOLD_APART)}
    which = np.array([prefixes.get(prefix, prefixes["O"]) for prefix, _ in parts], np.int64)
    of_type: dict[str, list[int]] = {}
    for i, (_, kind) in enumerate(parts):
        of_type.setdefault(kind, []).append(i)
    differ, same = table("a", "b").reshape(len(prefixes), -1), table("", "")
    pair = differ[:, which][which]
    for members in of_type.values():
        pair[np.ix_(members, members)] = same[np.ix_(which[members], which[members])]
    return pair


def completed(scheme: str, labels: Iterable[Any]) -> list[Any]:
    """Return the labels without which some of the given ones would be impossible everywhere.

    Examples
    --------
    >>> completed("bio", ["O", "I-NP"]), completed("iob1", ["B-NP"]), completed("bioes", ["I-NP"])
    (['B-NP'], ['I-NP'], ['B-NP', 'E-NP'])

    In BIOES, a segment that begins and ends may also continue, if a label in between is unknown:

    >>> completed("bioes", ["B-NP", "E-NP"])
    ['I-NP']
    """
    known = dict.fromkeys(labels)
    needs = {
        "bio": {"I": "B"}, "bioes": {"I": "BE", "B": "IE", "E": "BI"}, "ioe2": {"I": "E"}, "ioe1": {"E": "I"},
        "iob1": {"B": "I"}, "bilou": {"I": "BL", "B": "IL", "L": "BI"}, "bmes": {"M": "BE", "B": "ME", "E": "BM"},
        "bmewo": {"M": "BE", "B": "ME", "E": "BM"},
    }[scheme]  # fmt: skip
    found = [join(p, kind) for prefix, kind in map(split, known) for p in needs.get(prefix, "")]
    return [label for label in dict.fromkeys(found) if label not in known]


@dataclass(frozen=True)
class Choice:
    """One of several labels, in sorted order: what is known of a token if its neighbours do not decide its label."""

    labels: tuple[str, ...]


class Paths:
    """Which labels are possible where: whether some sequence fits labels of which some are None.

    Parameters
    ----------
    scheme : str
    labels : sequence
        All existing labels.
    longest : int, optional
        Length of the longest segment in tokens.
    """

    def __init__(self, scheme: str, labels: Sequence[Any], longest: int | None = None) -> None:
        pair, self._start, self._stop = constraints(scheme, labels)
        n = len(labels)
        self._index = {label: i for i, label in enumerate(labels)}
        self._never = np.where(pair.reshape(n, n), 0.0, np.inf)
        self._goes_on = np.array([split(label)[0] == "I" for label in labels], bool)
        self._longest = np.inf if longest is None else longest

    def fit(self, labels: Sequence[Any]) -> bool:
        """Return whether labels can be found for those that are None, or a choice."""
        # for each label the tokens of the segment it ends, as few as can be; ∞ where it cannot stand
        length = np.where(self._start, 1.0, np.inf)
        for t, label in enumerate(labels):
            if t:
                least = (length[:, None] + self._never).min(axis=0)
                length = np.where(self._goes_on, least + 1.0, np.where(np.isfinite(least), 1.0, np.inf))
                length[length > self._longest] = np.inf
            if label is not None:
                here = [self._index[one] for one in (label.labels if isinstance(label, Choice) else (label,))]
                only, length = length[here], np.full(len(length), np.inf)
                length[here] = only
        return bool(np.isfinite(length[self._stop > 0]).any())


def spans(labels: Sequence[Any], scheme: str = "bio") -> list[Span]:
    """Return the segments of a label sequence; if it breaks its scheme, the segments most likely meant.

    Examples
    --------
    >>> spans(["B-NP", "I-NP", "O", "B-VP"])
    [(0, 2, 'NP'), (3, 4, 'VP')]
    """
    found: list[Span] = []
    begin, kind = -1, ""
    for t, label in enumerate([*labels, "O"]):
        prefix, now = split(label)
        prefix = AS_BIOES.get(prefix, prefix) if scheme in ("bilou", "bmes", "bmewo") else prefix
        new = prefix in ("B", "S") or (prefix in ("I", "E") and (begin < 0 or now != kind))
        if begin >= 0 and (new or prefix == "O"):
            found.append((begin, t, kind))
            begin = -1
        if new:
            begin, kind = t, now
        if prefix in ("E", "S") and scheme not in ("bio", "iob1"):
            found.append((begin, t + 1, kind))
            begin = -1
    return found


@lru_cache(maxsize=4096)
def join(prefix: str, kind: str) -> str:
    """Return the label of a prefix and a type; equal ones are the same string object, to save memory."""
    return f"{prefix}-{kind}" if kind else prefix


def write(segments: Iterable[Span], n: int, scheme: str = "bio") -> list[str]:
    """Return the labels of n tokens with these segments.

    Examples
    --------
    >>> write([(0, 2, "LOC"), (2, 3, "LOC")], 4, "bioes")
    ['B-LOC', 'E-LOC', 'S-LOC', 'O']
    """
    labels, found = ["O"] * n, sorted(segments)
    first, middle, last, single = tuple("IIII" if scheme in STRICT else LETTERS[scheme])
    for (_, touched, other), (begin, end, kind) in zip([(0, -1, ""), *found], found, strict=False):
        letters = single if end == begin + 1 else first + middle * (end - begin - 2) + last
        labels[begin:end] = [join(letter, kind) for letter in letters]
        if scheme in STRICT and (touched, other) == (begin, kind):
            labels[begin if scheme == "iob1" else begin - 1] = join("B" if scheme == "iob1" else "E", kind)
    return labels


def convert(labels: Sequence[Any], before: str, after: str) -> list[str]:
    """Convert labels from one scheme to another.

    Examples
    --------
    >>> convert(["I-LOC", "I-LOC", "B-LOC", "O"], "iob1", "bio")
    ['B-LOC', 'I-LOC', 'B-LOC', 'O']
    """
    return write(spans(labels, named(before)), len(labels), named(after))
