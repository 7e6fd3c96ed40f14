"""Writes core/text/unicode_tables.hpp: what the twin (tests/support/twins/text.py) says of characters, and their case.

Run it by an interpreter of the wanted Unicode version:
PYTHONPATH=tests/support python core/text/make_unicode_tables.py > core/text/unicode_tables.hpp

A newer version changes the features of texts with newly assigned characters; models keep the hashes of the old ones.
"""

import itertools
import textwrap
import unicodedata
from collections.abc import Iterator

from twins.text import is_word, lower

CHARACTERS = [chr(code) for code in range(0x110000)]
BY_CATEGORY = {"Lu": "U", "Lt": "U", "Ll": "L", "Nd": "D", "Pc": "C"}
BY_MAJOR_CATEGORY = {"L": "A", "M": "M", "N": "N", "P": "P", "S": "P"}


def kind(c: str) -> str:
    """A letter of `KINDS` in characters.hpp, which says what it means."""
    category = unicodedata.category(c)
    return "W" if is_word(c) else BY_CATEGORY.get(category) or BY_MAJOR_CATEGORY.get(category[0], "O")


def kinds() -> str:
    """The kinds of all characters from 0 on, each followed by how often it comes, where that is more than once."""
    lengths = ((value, len(list(group))) for value, group in itertools.groupby(CHARACTERS, kind))
    return "".join(f"{value}{length if length > 1 else ''}" for value, length in lengths)


def lowers() -> Iterator[tuple[int, int, int, int]]:
    """The first, how many there are, the step between them, and how far their lower-case letters lie."""
    changes = [(ord(c), ord(lower(c)) - ord(c)) for c in CHARACTERS if lower(c) != c]
    i = 0
    while i < len(changes):
        first, delta = changes[i]
        step = changes[i + 1][0] - first if i + 1 < len(changes) and changes[i + 1][1] == delta else 0
        count = 1
        while step in (1, 2) and changes[i + count : i + count + 1] == [(first + count * step, delta)]:
            count += 1
        i += count
        yield first, count, step if count > 1 else 1, delta


def header() -> str:
    ranges = " ".join(f"{{0x{first:X},{count},{step},{delta}}}," for first, count, step, delta in lowers())
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
            "// The kinds of all characters, in runs: the letter of a kind, and its length unless it is 1.",
            "constexpr char kind_runs[] =",
            *(f'    "{line}"' for line in textwrap.wrap(kinds(), 114)),
            ";",
            "",
            "struct LowerRange { std::uint32_t first, count, step; std::int32_t delta; };",
            "constexpr LowerRange lower_ranges[] = {",
            *textwrap.wrap(ranges, 120, initial_indent="    ", subsequent_indent="    "),
            "};",
            "// clang-format on",
            "",
            "}  // namespace perceptive",
            "",
        ]
    )


if __name__ == "__main__":
    print(header(), end="")
