"""Vowpal Wabbit's text format: ``[label [importance [base]]] ['tag]|namespace[:weight] name[:value] … |namespace …``.

A feature's name is ``namespace^name``, or ``name`` alone where the namespace has none. What touches the first bar, or
begins with an apostrophe right before it, is a tag and is left out, as is the base. Features that are named twice add
up. Without a value a feature is 1; without an importance an example counts 1.
"""

import re
from functools import partial
from typing import Any

from twins.features import Feature, Scaling, row, scaled
from twins.lines import Bad, Example, decimal, fits, parse_lines, require_short, shown, tokens, whole_or_float

HEAD = "write label importance base | features"
CURE = "write name:value, features separated by spaces"


def parse(text: bytes, *, name: str = "<bytes>", first_line: int = 1, **options: Any) -> list[Example]:
    r"""Parse whole lines; options are those of `features.row`.

    Examples
    --------
    >>> parse(b"-1 2.5 'tag | height:1.5 |f tall\n", bits=4)
    [Example(label=-1.0, weight=2.5, entries=((3, 1.0), (7, 1.5)))]
    """
    return parse_lines(text, partial(_line, **options), name, first_line)


def _line(line: bytes, single: bool = False, scaling: Scaling | None = None, **options: Any) -> Example | None:
    if not line.strip(b" \t"):
        return None
    bar = line.find(b"|")
    if bar < 0:
        raise Bad(tokens(line)[0][0], "there is no '|' in the line; write label | name:value …")
    label, weight = _head(line[:bar])
    features: list[Feature] = []
    for match in re.compile(rb"\|([^|]*)").finditer(line, bar):
        features += _space(match.start(1), match[1], single, scaling)
    return Example(label, weight, row(features, single=single, at=len(line), **options))


def _head(text: bytes) -> tuple[float | int | None, float]:
    words = tokens(text)
    if words and (words[-1][1].startswith(b"'") or text.endswith(words[-1][1])):
        words.pop()
    numbers = []
    for (at, word), what in zip(words, ("label", "importance", "base"), strict=False):
        number = decimal(at, word, what, HEAD)
        numbers.append(whole_or_float(word, number) if what == "label" else number + 0.0)  # −0 is 0
        if what == "importance" and numbers[-1] < 0:
            raise Bad(at, f"importance '{shown(word)}' is negative; give 0 or more")
    if len(words) > 3:
        raise Bad(words[3][0], f"'{shown(words[3][1])}' is too much; {HEAD}")
    return numbers[0] if numbers else None, numbers[1] if len(numbers) > 1 else 1.0


def _space(at: int, text: bytes, single: bool, scaling: Scaling | None) -> list[Feature]:
    """The features of a namespace: what follows its bar, up to the next one."""
    if text.startswith(b":"):
        raise Bad(at, "the namespace has no name; write |name:weight, or a space after the bar")
    words = [(at + begin, word) for begin, word in tokens(text)]
    space, weight = b"", 1.0
    if text[:1].strip(b" \t"):
        begin, word = words.pop(0)
        space, colon, number = word.partition(b":")
        require_short(begin, space)
        if colon:
            weight = decimal(begin + len(space) + 1, number, "weight of a namespace", "write |name:weight")
    features: list[Feature] = []
    for begin, word in words:
        name, colon, number = word.partition(b":")
        if not name:
            raise Bad(begin, f"'{shown(word)}' has no name before the colon; write name:value")
        x = 1.0
        if colon:
            decimal(begin + len(name) + 1, number, "value", CURE, single)
            x = float(number)
        full = space + b"^" + name if space else name
        value = scaled(full, x * weight, scaling) if colon else x * weight
        if not fits(value, single):
            kind = "float32" if single else "float64"
            raise Bad(begin, f"'{shown(word)}' times the weight of its namespace is too large for {kind}; rescale")
        features.append((full, value, space))
    return features
