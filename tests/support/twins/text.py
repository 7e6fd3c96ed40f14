"""Text as features: words, word n-grams and character n-grams, weighted and hashed.

Unicode is that of the interpreter's `unicodedata`; the core has the tables of one version (`_core.UNICODE_VERSION`).
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from perceptive.reference.hashing import murmur3

# Scripts written without spaces between words (Thai and Lao, Myanmar, Khmer, Hiragana, ideographs): each of their
# letters is a word.
LETTERS_AS_WORDS = [
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3005, 0x3006),
    (0x3040, 0x309F),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
]


def is_mark(c: str) -> bool:
    return unicodedata.category(c)[0] == "M"


def is_word_character(c: str) -> bool:
    """A letter, a number, or a connector such as the underscore."""
    category = unicodedata.category(c)
    return category[0] in "LN" or category == "Pc"


def is_word(c: str) -> bool:
    """A letter that is a word by itself."""
    return unicodedata.category(c)[0] == "L" and any(a <= ord(c) <= b for a, b in LETTERS_AS_WORDS)


def lower(c: str) -> str:
    """Unicode's simple lower-casing, one character to one. Only İ has a longer full one: i and a dot."""
    return c.lower()[0]


def runs(text: str, lowercase: bool = True) -> list[list[str]]:
    """The maximal runs of word characters, each as its words.

    A mark (an accent that stands alone) goes on with a run, and does not begin one. A run is one word, but letters
    of scripts without spaces are words of their own, with the marks that follow. All else separates: apostrophes
    and hyphens too.

    Examples
    --------
    >>> from twins.text import runs
    >>> runs("Don't panic: 東京タワー, snake_case")
    [['don'], ['t'], ['panic'], ['東', '京', 'タワー'], ['snake_case']]
    """
    found: list[list[str]] = []
    inside = alone = False  # within a run; its latest word is such a letter
    for c in text:
        if not (is_word_character(c) or (inside and is_mark(c))):
            inside = False
            continue
        letter = lower(c) if lowercase else c
        if not inside:
            found.append([letter])
        elif is_word(c) or (alone and not is_mark(c)):
            found[-1].append(letter)
        else:
            found[-1][-1] += letter
        alone = is_word(c) or (inside and alone and is_mark(c))
        inside = True
    return found


def names(
    text: str, words: tuple[int, int] | None = (1, 1), chars: tuple[int, int] | None = None, lowercase: bool = True
) -> list[str]:
    """The names of a text's features, each as often as it occurs.

    A word n-gram is its words joined by one space; it reaches over all that separates. A character n-gram lies
    within a run, which is set between ``<`` and ``>``, and is called ``c:`` and its characters, so that it is never
    taken for a word. A run that is shorter than the shortest n-gram is one itself.

    Examples
    --------
    >>> from twins.text import names
    >>> names("To be, or", words=(1, 2), chars=(4, 5))
    ['to', 'to be', 'be', 'be or', 'or', 'c:<to>', 'c:<be>', 'c:<or>']
    """
    found = runs(text, lowercase)
    all_names = []
    if words is not None:
        flat = [word for run in found for word in run]
        for i in range(len(flat)):
            for n in range(words[0], words[1] + 1):
                if i + n <= len(flat):
                    all_names.append(" ".join(flat[i : i + n]))
    if chars is not None:
        for run in found:
            padded = "<" + "".join(run) + ">"
            if len(padded) < chars[0]:
                all_names.append("c:" + padded)
            for i in range(len(padded)):
                for n in range(chars[0], chars[1] + 1):
                    if i + n <= len(padded):
                        all_names.append("c:" + padded[i : i + n])
    return all_names


def weight(tf: int, weighting: str) -> float:
    """What a feature counts that occurs tf ≥ 1 times."""
    return {"binary": 1.0, "tf": float(tf), "log-tf": 1.0 + math.log(tf)}[weighting]


def hashed(
    features: Iterable[str],
    weighting: str = "tf",
    bits: int = 20,
    seed: int = 0,
    signed: bool = True,
    idf: Sequence[float] | None = None,
    normalize: bool = True,
) -> list[tuple[int, float]]:
    """φ[h] = idf[h] · Σ_{j: bucket(j) = h} ξ(j) weight(tf_j), divided by ‖φ‖₂.

    Features are told apart by all 32 bits of their hash. Buckets where the sum is 0 are left out.

    Examples
    --------
    >>> from twins.text import hashed, names
    >>> hashed(names("to be or not to be"), bits=10, normalize=False)
    [(91, 2.0), (130, -2.0), (372, 1.0), (871, 1.0)]
    """
    tf = Counter(murmur3(name.encode(), seed) for name in features)
    row: dict[int, float] = {}
    for h in sorted(tf, key=lambda h: (h % 2**bits, h >> bits)):
        xi = -1.0 if signed and h >> 31 else 1.0
        row[h % 2**bits] = row.get(h % 2**bits, 0.0) + xi * weight(tf[h], weighting)
    row = {h: value if idf is None else value * idf[h] for h, value in row.items() if value != 0}
    square = 0.0
    for value in row.values():
        square += value * value
    return [(h, value / math.sqrt(square) if normalize else value) for h, value in row.items()]


def smooth_idf(rows: Sequence[Sequence[tuple[int, float]]], bits: int) -> list[float]:
    """idf[h] = ln((1 + n) / (1 + df[h])) + 1, where h is in df[h] of the n rows."""
    df = Counter(h for row in rows for h, _ in row)
    return [math.log((1 + len(rows)) / (1 + df[h])) + 1 for h in range(2**bits)]


def decode(data: bytes) -> tuple[str, int]:
    """UTF-8 in which each broken sequence (Unicode's maximal subpart) became U+FFFD, which separates; their number."""
    text = data.decode("utf-8", "replace")
    return text, text.count("\ufffd") - data.count("\ufffd".encode())
