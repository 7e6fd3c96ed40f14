"""Where the sentences of a raw text end.

A line break ends a sentence. So does a full stop, a question mark or the like, with quotes and brackets that close
behind it, where white space follows and then no small letter; but no full stop behind an initial or an abbreviation.
The marks of scripts that write no spaces end one by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from perceptive.features.tokens import Token, tokenise

STOPS = frozenset(".!?…؟۔։।॥⁇⁈⁉‼") | {"..."}
STOPS_WITHOUT_SPACE = frozenset("。！？｡")
CLOSERS = frozenset("\"'”’»›)]}）」』】")
SHORTENED = (
    "mr mrs ms mx dr drs prof st sr jr rev hon gen col lt sgt capt gov sen rep pres vs etc al no nos nr fig figs eq "
    "vol pp ed eds inc ltd co corp dept approx est ca cf viz jan feb mar apr jun jul aug sep sept oct nov dec mon tue "
    "wed thu fri sat sun bzw usw ggf evtl vgl bijv enz dhr mevr ir mw sra mme mlle"
)
ABBREVIATIONS = frozenset(SHORTENED.split())


def split_sentences(text: str, tokens: Sequence[Token] | None = None) -> list[list[Token]]:
    """The sentences of a text, as lists of tokens.

    Parameters
    ----------
    text : str
    tokens : list of Token, optional
        Of the text, in order; by default those of `tokenise`.

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
    last = i
    while last > 0 and tokens[last] in CLOSERS and tokens[last - 1].end == tokens[last].start:
        last -= 1
    stop, after = tokens[last], tokens[i + 1]
    if after in CLOSERS and not between:
        return False  # it belongs to what ends here
    if stop in STOPS_WITHOUT_SPACE:
        return after not in STOPS_WITHOUT_SPACE
    if stop not in STOPS or not between or after[:1].islower():
        return False
    if stop != "." or last == 0 or tokens[last - 1].end != stop.start:
        return True
    before = tokens[last - 1]
    return not (len(before) == 1 and before.isalpha()) and before.casefold() not in ABBREVIATIONS
