"""Tokens of raw text: words, numbers and marks, each with its position."""

from __future__ import annotations

import re
import unicodedata

from perceptive.features.word_breaks import properties, segments

# Addresses of any scheme (RFC 3986), without the marks behind them; brackets within are pairs.
_NEVER = r"""\s<>"，。、；：！？（）「」『』【】《》"""
ADDRESS = re.compile(
    rf"""(?:(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*+://|\bwww\.)"""
    rf"""(?:\([^{_NEVER}()]*\)|\{{[^{_NEVER}(){{}}]*\}}|\{{(?![^{_NEVER}(){{}}]*\}})|[^{_NEVER}(){{])*"""
    rf"""(?:\([^{_NEVER}()]*\)|\{{[^{_NEVER}(){{}}]*\}}|[^{_NEVER}().,;:!?'’”»\]}}…])"""
    r"|(?<![\w.+%-])\w[\w.+%-]*@\w[\w-]*(?:\.\w[\w-]*)+",
    re.IGNORECASE,
)
# By the properties of characters: letters with dots between them, and what may stand on both sides of a hyphen.
ABBREVIATION, OF_WORDS = re.compile(r"[aih][ej]*(?:\.[aih][ej]*)+"), "aihdkt"
HYPHENS, BETWEEN_DIGITS = "-\u2010\u2011", ":/"
POSSESSIVE = re.compile(r"(?<=[^\W\d_])['’][sS]\Z")
TOKENISERS = ("whole", "possessive")  # models of earlier builds: "Ada's" is one token; now: "Ada" and "'s"
TOKENISER = "possessive"
UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")  # categories of spaces and of what has no form

Span = tuple[int, int]


class Token(str):
    """A string at ``start`` … ``end`` of a text."""

    start: int
    end: int

    def __new__(cls, text: str, start: int) -> Token:
        """A token and its place."""
        token = super().__new__(cls, text)
        token.start, token.end = start, start + len(text)
        return token


def tokenise(text: str, tokeniser: str = TOKENISER) -> list[Token]:
    """Return the tokens of a text; they are strings, so a tagger can use them directly.

    They are the words and marks between Unicode's word boundaries (UAX #29), so that no script is cut at vowel signs
    and accents, and emoji and flags stay whole. In addition, these are one token: addresses (``https://…``, ``s3://…``,
    mail); words with hyphens; dates and times in digits; abbreviations with their last dot; and whole runs of letters
    of scripts without spaces (Thai, Lao, Khmer, Myanmar). ``'s`` after a word is a separate token, so that it is not
    part of a name.

    Parameters
    ----------
    text : str
    tokeniser : one of "possessive", "whole"
        "whole" keeps ``'s`` with its word, for models trained by earlier versions.

    Examples
    --------
    >>> tokens = tokenise("Prof. Cohen paid $1,200 (in the U.S.) for e-mail at https://example.org/a?b=c.")
    >>> tokens[:12]
    ['Prof', '.', 'Cohen', 'paid', '$', '1,200', '(', 'in', 'the', 'U.S.', ')', 'for']
    >>> tokens[12:]
    ['e-mail', 'at', 'https://example.org/a?b=c', '.']
    >>> tokens[2].start, tokens[2].end
    (6, 11)
    >>> tokenise("Ada's cat"), tokenise("Ada's cat", "whole")
    (['Ada', "'s", 'cat'], ["Ada's", 'cat'])
    """
    kinds = properties(text)
    addresses = [match.span() for match in ADDRESS.finditer(text)]
    parts, tokens, address = segments(kinds), list[Span](), 0
    for i, (start, end) in enumerate(parts):
        while address < len(addresses) and addresses[address][1] <= start:
            address += 1
        within = address < len(addresses) and addresses[address][0] < start
        ended = address > 0 and addresses[address - 1][1] == start  # so a dot is that of the sentence
        if i and (within or (not ended and _joined(text, kinds, parts, i))):
            tokens[-1] = tokens[-1][0], end
        elif not all(unicodedata.category(c) in UNSEEN for c in text[start:end]):
            tokens.append((start, end))
    if tokeniser == "possessive":
        kept = {end for _, end in addresses}
        tokens = [one for span in tokens for one in ([span] if span[1] in kept else _without_possessive(text, span))]
    return [Token(text[start:end], start) for start, end in tokens]


def _without_possessive(text: str, span: Span) -> list[Span]:
    """A token, and ``'s`` behind it as another."""
    start, end = span
    found = POSSESSIVE.search(text, start, end)
    return [span] if found is None or found.start() == start else [(start, found.start()), (found.start(), end)]


def _joined(text: str, kinds: str, parts: list[Span], i: int) -> bool:
    """Whether part i goes on with the token of the part before."""
    (before, start), (_, end) = parts[i - 1], parts[i]
    if kinds[before] == kinds[start] == "t":
        return True
    if text[start:end] == "." and ABBREVIATION.fullmatch(kinds, before, start):
        return text.count(".", before, start) == kinds.count(".", before, start)  # an apostrophe is no dot
    return _links(text, kinds, parts, i) or _links(text, kinds, parts, i - 1)


def _links(text: str, kinds: str, parts: list[Span], i: int) -> bool:
    """Whether part i is a hyphen between words, or a mark between digits."""
    start, end = parts[i]
    if end - start > 1 or not 0 < i < len(parts) - 1:
        return False
    before, after = kinds[parts[i - 1][0]], kinds[end]
    if text[start] in HYPHENS:
        return before in OF_WORDS and after in OF_WORDS
    return text[start] in BETWEEN_DIGITS and kinds[start - 1] == after == "d"
