"""Writes core/text/unicode_tables.hpp: what the twin (`perceptive.reference.text`) says of characters, and their case.

Run it in core/text, by an interpreter of the wanted Unicode version: python make_unicode_tables.py > unicode_tables.hpp
A newer version changes the features of texts with newly assigned characters; models keep the hashes of the old ones.
"""

import itertools
import unicodedata
from collections.abc import Iterator

from perceptive.reference.text import is_mark, is_word, is_word_character, lower

CHARACTERS = [chr(code) for code in range(0x110000)]


def kind(c: str) -> int:
    """0 separates, 1 is a mark, 2 a word character, 3 a word: `CharacterKind` in tokens.hpp."""
    return 3 if is_word(c) else 2 if is_word_character(c) else 1 if is_mark(c) else 0


def letter_kind(c: str) -> int:
    """1 is upper and 2 lower case, 3 a digit, 4 another letter, 5 punctuation, 0 none: `Kind` in letters.hpp."""
    category = unicodedata.category(c)
    cases = {"Lu": 1, "Lt": 1, "Ll": 2, "Nd": 3}
    return cases.get(category) or (4 if category[0] in "LM" else 5 if category[0] in "PS" else 0)


def letter_runs() -> Iterator[tuple[int, int]]:
    """First, kind; a run ends where the next begins."""
    for value, group in itertools.groupby(CHARACTERS, letter_kind):
        yield ord(next(group)), value


def kinds() -> Iterator[tuple[int, int, int]]:
    """First, last, kind."""
    for value, group in itertools.groupby(CHARACTERS, kind):
        codes = [ord(c) for c in group]
        if value:
            yield codes[0], codes[-1], value


def lowers() -> Iterator[tuple[int, int, int, int]]:
    """First, last, step, and how far the lower-case letter lies."""
    changes = [(ord(c), ord(lower(c)) - ord(c)) for c in CHARACTERS if lower(c) != c]
    i = 0
    while i < len(changes):
        first, delta = changes[i]
        step = changes[i + 1][0] - first if i + 1 < len(changes) and changes[i + 1][1] == delta else 0
        last = first
        i += 1
        while step in (1, 2) and i < len(changes) and changes[i] == (last + step, delta):
            last += step
            i += 1
        yield first, last, step if last > first else 1, delta


def lines(rows: Iterator[tuple[int, ...]], codes: int = 2) -> Iterator[str]:
    line = "   "
    for row in rows:
        cell = f" {{{', '.join([*(f'0x{code:X}' for code in row[:codes]), *map(str, row[codes:])])}}},"
        if len(line) + len(cell) > 120:
            yield line
            line = "   "
        line += cell
    yield line


def header() -> str:
    return "\n".join(
        [
            f"// Made by make_unicode_tables.py from Unicode {unicodedata.unidata_version}; do not edit.",
            "#pragma once",
            "",
            "#include <cstdint>",
            "",
            "namespace perceptive {",
            "",
            "// clang-format off",
            f'constexpr char unicode_version[] = "{unicodedata.unidata_version}";',
            "",
            "struct KindRange { std::uint32_t first, last; std::uint8_t kind; };",
            "constexpr KindRange kind_ranges[] = {",
            *lines(kinds()),
            "};",
            "",
            "struct LowerRange { std::uint32_t first, last, step; std::int32_t delta; };",
            "constexpr LowerRange lower_ranges[] = {",
            *lines(lowers()),
            "};",
            "",
            "struct LetterRun { std::uint32_t first; std::uint8_t kind; };",
            "constexpr LetterRun letter_runs[] = {",
            *lines(letter_runs(), 1),
            "};",
            "// clang-format on",
            "",
            "}  // namespace perceptive",
            "",
        ]
    )


if __name__ == "__main__":
    print(header(), end="")
