"""Where words begin and end: Unicode Standard Annex #29, section 4.1, rule by rule.

A text is given by the property Word_Break of its characters, a letter for each::

    a ALetter   i ALetter and pictograph   h Hebrew_Letter   d Numeric   k Katakana   _ ExtendNumLet
    : MidLetter   , MidNum   . MidNumLet   ' Single_Quote   " Double_Quote
    e Extend or Format   j ZWJ   r Regional_Indicator   p pictograph   s WSegSpace   c CR   l LF   n Newline
    o any other   t treated like o: a letter of a script without spaces (Thai, Lao, Khmer, Myanmar)
"""

from __future__ import annotations

LETTERS, MIDDLE_OF_LETTERS, MIDDLE_OF_NUMBERS = "aih", ":.'", ",.'"


def word_breaks(properties: str) -> list[int]:
    """Return the places where a text is cut, including its two ends.

    Examples
    --------
    >>> word_breaks("aaaasd,ddo")  # "Some 1,200!"
    [0, 4, 5, 9, 10]
    """
    inner = [i for i in range(1, len(properties)) if _is_break(properties, i)]
    return [0, *inner, len(properties)] if properties else []


def _is_break(c: str, i: int) -> bool:
    """Return whether there is a break before character i."""
    before, after = c[i - 1], c[i]
    if before == "c" and after == "l":  # WB3
        return False
    if before in "cln" or after in "cln":  # WB3a, WB3b
        return True
    if before == "j" and after in "pi":  # WB3c
        return False
    if before == after == "s":  # WB3d
        return False
    if after in "ej":  # WB4: and from here on they are not seen behind another character
        return False
    left = _seen(c, i - 1)
    far_left = _seen(c, left - 1) if left > 0 else -1
    one, two = c[left], c[far_left] if far_left >= 0 else ""
    three = next((x for x in c[i + 1 :] if x not in "ej"), "")
    if one in LETTERS and after in LETTERS:  # WB5
        return False
    if one in LETTERS and after in MIDDLE_OF_LETTERS and three and three in LETTERS:  # WB6
        return False
    if two and two in LETTERS and one in MIDDLE_OF_LETTERS and after in LETTERS:  # WB7
        return False
    if one == "h" and after == "'":  # WB7a
        return False
    if one == "h" and after == '"' and three == "h":  # WB7b
        return False
    if two == "h" and one == '"' and after == "h":  # WB7c
        return False
    if one in LETTERS + "d" and after in LETTERS + "d":  # WB8, WB9, WB10
        return False
    if two == "d" and one in MIDDLE_OF_NUMBERS and after == "d":  # WB11
        return False
    if one == "d" and after in MIDDLE_OF_NUMBERS and three == "d":  # WB12
        return False
    if one == after == "k":  # WB13
        return False
    if one in LETTERS + "dk_" and after == "_":  # WB13a
        return False
    if one == "_" and after in LETTERS + "dk":  # WB13b
        return False
    if one == after == "r":  # WB15, WB16: flags are pairs
        return _flags_before(c, i) % 2 == 0
    return True  # WB999


def _seen(c: str, i: int) -> int:
    """Return the character that counts at i: the one that it extends, if there is one."""
    while c[i] in "ej" and i > 0 and c[i - 1] not in "cln":
        i -= 1
    return i


def _flags_before(c: str, i: int) -> int:
    """Return the number of consecutive regional indicators before i."""
    count, at = 0, i
    while at > 0 and c[at := _seen(c, at - 1)] == "r":
        count += 1
    return count
