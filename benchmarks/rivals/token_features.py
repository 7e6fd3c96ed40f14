"""Features of tokens made in Python, as users of CRFsuite make them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Features = Callable[[Sequence[Any], int], list[str]]


def chunking(sentence: Sequence[Any], t: int) -> list[str]:
    """The template that CRF++ ships for chunking, as crfsuite's example/chunking.py has it."""
    n = len(sentence)

    def word(o: int) -> str:
        return sentence[t + o][0] if 0 <= t + o < n else ""

    def pos(o: int) -> str:
        return sentence[t + o][1] if 0 <= t + o < n else ""

    found = []
    for name, of in (("w", word), ("pos", pos)):
        found += [f"{name}[{o}]={of(o)}" for o in range(-2, 3) if 0 <= t + o < n]
    found += [f"w[{a}]|w[{a + 1}]={word(a)}|{word(a + 1)}" for a in (-1, 0) if t + a >= 0 and t + a + 1 < n]
    for a, b in ((-2, -1), (-1, 0), (0, 1), (1, 2), (-2, 0), (-1, 1), (0, 2)):
        if t + a >= 0 and t + b < n:
            found.append(f"pos[{a}..{b}]=" + "|".join(pos(o) for o in range(a, b + 1)))
    if t == 0:
        found.append("__BOS__")
    if t == n - 1:
        found.append("__EOS__")
    return found


def names(sentence: Sequence[Any], t: int) -> list[str]:
    """The features of python-crfsuite's tutorial on named entities (CoNLL 2002)."""
    word, postag = sentence[t][:2]
    found = [
        "bias",
        "word.lower=" + word.lower(),
        "word[-3:]=" + word[-3:],
        "word[-2:]=" + word[-2:],
        f"word.isupper={word.isupper()}",
        f"word.istitle={word.istitle()}",
        f"word.isdigit={word.isdigit()}",
        "postag=" + postag,
        "postag[:2]=" + postag[:2],
    ]
    for offset, mark, end in ((-1, "-1", "BOS"), (1, "+1", "EOS")):
        if not 0 <= t + offset < len(sentence):
            found.append(end)
            continue
        word, postag = sentence[t + offset][:2]
        found += [
            f"{mark}:word.lower=" + word.lower(),
            f"{mark}:word.istitle={word.istitle()}",
            f"{mark}:word.isupper={word.isupper()}",
            f"{mark}:postag=" + postag,
            f"{mark}:postag[:2]=" + postag[:2],
        ]
    return found


def parts_of_speech(sentence: Sequence[Any], t: int) -> list[str]:
    """Simple features of words: the word, its neighbours, affixes and what it is made of."""
    word = sentence[t][0]
    found = ["bias", "w=" + word, "l=" + word.lower(), f"cap={word[0].isupper()}", f"dig={word.isdigit()}"]
    found += [f"s{n}={word[-n:]}" for n in range(1, 5)] + [f"p{n}={word[:n]}" for n in range(1, 5)]
    found += [f"hyphen={'-' in word}"]
    for offset in (-2, -1, 1, 2):
        at = t + offset
        found.append(f"w[{offset}]=" + (sentence[at][0].lower() if 0 <= at < len(sentence) else "_"))
    return found
