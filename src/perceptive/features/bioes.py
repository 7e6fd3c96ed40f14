"""Labels of any scheme as BIOES: which BIOES labels each may become, and back.

Models with ``encoding="bioes"`` know BIOES labels only. If all labels of a sentence are known, `schemes.convert` turns
them into BIOES; this module is for labels whose neighbours may be unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

from perceptive.features.schemes import EDGE, LETTERS, PREFIXES, STRICT, Choice, join, split

INTERNAL = "BIES"


def _meanings(scheme: str) -> dict[str, str]:
    """Return the BIOES letters that each letter of a scheme may become."""
    found = {p: "".join(q for q, name in zip(INTERNAL, LETTERS[scheme], strict=True) if name == p) for p in "BIMELSUW"}
    return {p: found[p] for p in PREFIXES[scheme]} | {"O": "O"} | ({"I": INTERNAL} if scheme in STRICT else {})


_MEANINGS = {scheme: _meanings(scheme) for scheme in LETTERS}
_NAMES = {scheme: dict(zip(INTERNAL, letters, strict=True)) for scheme, letters in LETTERS.items()}


def choices(labels: Sequence[Any], scheme: str, within: Iterable[str]) -> list[Choice | None]:
    """Turn labels of a scheme, of which some are None, into BIOES; ``within`` are all BIOES labels.

    A BIOES path with a label of each choice gives exactly the original labels when written in the scheme.

    Examples
    --------
    >>> bioes = ["B-X", "I-X", "E-X", "S-X", "O"]
    >>> [one and one.labels for one in choices(["B-X", None, "O"], "bio", bioes)]
    [('B-X', 'S-X'), None, ('O',)]
    >>> [one and one.labels for one in choices([None, "I-X"], "iob1", bioes)]
    [('B-X', 'I-X', 'O'), ('B-X', 'E-X', 'I-X', 'S-X')]
    >>> [one and one.labels for one in choices(["I-X", None], "ioe1", bioes)]
    [('B-X', 'E-X', 'I-X', 'S-X'), ('E-X', 'I-X', 'O')]
    """
    every = frozenset(within)
    found = [None if label is None else every & meanings(label, scheme) for label in labels]
    for t, label in enumerate(labels if scheme in STRICT else ()):
        prefix, kind = EDGE if label is None else split(label)
        if prefix == "O":
            continue
        # IOB1: B says that a segment of its type ends at the previous token, I that none does.
        # IOE1: E says that a segment of its type begins at the next token, I that none does.
        beside, letters = (t - 1, "ES") if scheme == "iob1" else (t + 1, "BS")
        touching = {join(p, kind) for p in letters}
        if 0 <= beside < len(labels):
            there = found[beside]
            there = every if there is None else there
            found[beside] = there - touching if prefix == "I" else there & touching
        elif prefix != "I":
            found[t] = frozenset()
    return [None if some is None else Choice(tuple(sorted(some))) for some in found]


@lru_cache(maxsize=4096)
def meanings(label: str, scheme: str) -> frozenset[str]:
    """Return the BIOES labels that a label of a scheme may become; none for a label that is not in the scheme.

    Examples
    --------
    >>> sorted(meanings("I-X", "bio")), sorted(meanings("I-X", "iob1")), sorted(meanings("S-X", "bio"))
    (['E-X', 'I-X'], ['B-X', 'E-X', 'I-X', 'S-X'], [])
    >>> sorted(meanings("E-X", "ioe2")), sorted(meanings("U-X", "bilou"))
    (['E-X', 'S-X'], ['S-X'])
    """
    prefix, kind = split(label)
    return frozenset(join(p, kind) for p in _MEANINGS[scheme].get(prefix, ""))


@lru_cache(maxsize=4096)
def written(label: str, scheme: str) -> tuple[str, ...]:
    """Return the labels of a scheme that a BIOES label may be written as.

    Examples
    --------
    >>> written("S-X", "bio"), written("S-X", "iob1"), written("E-X", "bio"), written("E-X", "bilou")
    (('B-X',), ('B-X', 'I-X'), ('I-X',), ('L-X',))
    """
    prefix, kind = split(label)
    return tuple(join(p, kind) for p, within in _MEANINGS[scheme].items() if prefix in within)


def name(label: str, scheme: str) -> str:
    """Return how a BIOES label is written in a scheme; for IOB1 in BIO, for IOE1 in IOE2.

    Examples
    --------
    >>> name("S-X", "bio"), name("B-X", "ioe1"), name("I-X", "bmes"), name("O", "bilou")
    ('B-X', 'I-X', 'M-X', 'O')
    """
    prefix, kind = split(label)
    return join(_NAMES[scheme].get(prefix, prefix), kind)


def spelled_out(labels: Iterable[str], scheme: str, names: Collection[str]) -> list[str]:
    """Return all BIOES labels that tokens may have if some labels of a scheme are unknown.

    ``names`` are the existing labels: without I-X, no BIO segment is longer than a token.

    Examples
    --------
    >>> spelled_out(["B-X", "O"], "bio", ["B-X", "O"]), spelled_out(["B-X"], "bio", ["B-X", "I-X"])
    (['S-X', 'O'], ['B-X', 'I-X', 'E-X', 'S-X'])
    >>> spelled_out(["U-X", "L-X"], "bilou", [])
    ['S-X', 'E-X']
    """
    found: list[str] = []
    for prefix, kind in dict.fromkeys(map(split, labels)):
        known = _MEANINGS[scheme].get(prefix, "")
        if len(known) > 1:
            known = INTERNAL if scheme in STRICT or join("I", kind) in names else "S"
        found += [join(p, kind) for p in known]
    return list(dict.fromkeys(found))
