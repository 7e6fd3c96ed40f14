"""Find where the sentences of a raw text end.

A line break ends a sentence. So does a full stop, a question mark or similar, with closing quotes and brackets, if
white space and then anything but a small letter follows; a full stop after an initial or an abbreviation does not. The
marks of scripts without spaces end a sentence by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from perceptive.features.tokens import Token, tokenise

STOPS = frozenset(".!?…؟۔։।॥⁇⁈⁉‼") | {"..."}
STOPS_WITHOUT_SPACE = frozenset("。！？｡")
CLOSERS = frozenset("”’»›)]}）」』】")
QUOTES = frozenset("\"'")  # close where no space stands before them, or nothing behind
SHORTENED = (
    "mr mrs ms mx dr drs prof st sr jr rev hon gen col lt sgt capt gov sen rep vs etc al nr fig figs eq vol pp inc ltd "
    "corp dept approx ca cf viz jan feb apr aug sep sept oct nov dec bzw usw ggf evtl vgl bijv enz dhr mevr mme mlle"
)
BEFORE_NUMBERS = frozenset(("no", "nos", "art", "ch", "sec"))  # words as well, where no number follows
ABBREVIATIONS = frozenset(SHORTENED.split())


def split_sentences(text: str, tokens: Sequence[Token] | None = None) -> list[list[Token]]:
    """Return the sentences of a text, as lists of tokens.

    Parameters
    ----------
    text : str
    tokens : list of Token, optional
        The tokens of the text, in order; by default those of `tokenise`.

    Examples
    --------
    >>> split_sentences("Dr. Ada left. “Why?” She said: no. 5 is odd, i.e. not even.")[:2]
    [['Dr', '.', 'Ada', 'left', '.'], ['“', 'Why', '?', '”']]
    """
    tokens = tokenise(text) if tokens is None else tokens
    found: list[list[Token]] = []
    begin = 0
    for i in range(len(tokens)):
        if i + 1 == len(tokens) or _ends(text, tokens, i):
            found.append(list(tokens[begin : i + 1]))
            begin = i + 1
    return found


def _ends(text: str, tokens: Sequence[Token], i: int) -> bool:
    """Whether a sentence ends with a token that is not the last."""
    between = text[tokens[i].end : tokens[i + 1].start]
    if "\n" in between or "\r" in between:
        return True
    if _closes(text, tokens, i + 1):
        return False  # it belongs to what ends here
    last = i
    while last > 0 and _closes(text, tokens, last):
        last -= 1
    stop, after = tokens[last], tokens[i + 1]
    if stop in STOPS_WITHOUT_SPACE:
        return after not in STOPS_WITHOUT_SPACE
    if stop not in STOPS or not between or after[:1].islower():
        return False
    if stop != "." or last == 0:
        return True
    before = tokens[last - 1]
    if before.casefold() in BEFORE_NUMBERS and after[:1].isdigit():
        return False
    return not (len(before) == 1 and before.isalpha()) and before.casefold() not in ABBREVIATIONS


def _closes(text: str, tokens: Sequence[Token], i: int) -> bool:
    """Whether a token that is not the first closes a quotation or a bracket."""
    if tokens[i] in CLOSERS:
        return True
    behind = text[tokens[i].end : tokens[i + 1].start] if i + 1 < len(tokens) else "\n"
    return tokens[i] in QUOTES and (tokens[i - 1].end == tokens[i].start or "\n" in behind)
