"""The label of an example, in every kind of table."""

import math

from twins.lines import DECIMAL, require_utf8, whole_or_float
from twins.meaning import is_missing, meant


def label_of(at: int, value: bytes, how: str, typed: bool) -> float | int | bytes | None:
    """The label that a string stands for; ``typed``: whether it would be a number, if it were meant as one.

    Examples
    --------
    >>> [label_of(0, b" 07 ", how, typed) for how in ("typed", "numbers", "words") for typed in (True, False)]
    [b'07', 7.0, 7.0, 7.0, b'07', b'07']
    >>> label_of(0, b"NA", "words", True), label_of(0, b"2020-01-31 00:00:00.000", "typed", True)
    (None, b'2020-01-31')
    """
    if how != "before":
        value = value.strip(b" \t")
    if is_missing(value) and (how != "before" or not typed):
        return None
    numbers = how == "numbers" or (not typed and how != "words")
    if numbers and DECIMAL.fullmatch(value) and math.isfinite(float(value)):
        return whole_or_float(value, float(value))
    require_utf8(at, value, "label")
    return value if how == "before" or value.lower() in (b"true", b"false") else meant(value)
