"""Writes src/perceptive/features/word_break_table.py: the property Word_Break of all characters, as UAX #29 has it.

Needs PyPI's `regex`, whose Unicode version is the table's; it says neither, so give the version:
python core/text/make_word_break_table.py 17.0.0 > src/perceptive/features/word_break_table.py
"""

import itertools
import json
import sys
import textwrap

import regex

LETTERS = {  # those of perceptive.reference.word_breaks
    "ALetter": "a", "Hebrew_Letter": "h", "Numeric": "d", "Katakana": "k", "ExtendNumLet": "_", "MidLetter": ":",
    "MidNum": ",", "MidNumLet": ".", "Single_Quote": "'", "Double_Quote": '"', "Extend": "e", "Format": "e", "ZWJ": "j",
    "Regional_Indicator": "r", "WSegSpace": "s", "CR": "c", "LF": "l", "Newline": "n",
}  # fmt: skip
VALUES = [(regex.compile(rf"\p{{Word_Break={name}}}"), letter) for name, letter in LETTERS.items()]
PICTOGRAPH, WITHOUT_SPACES = regex.compile(r"\p{Extended_Pictographic}"), regex.compile(r"\p{Line_Break=SA}")


def letter_of(c: str) -> str:
    """The letter of a character."""
    found = next((letter for value, letter in VALUES if value.match(c)), None)
    if PICTOGRAPH.match(c):
        return {None: "p", "a": "i"}[found]
    return found or ("t" if WITHOUT_SPACES.match(c) else "o")


def main() -> None:
    letters = (letter_of(chr(code)) for code in range(0x110000))
    runs = ((letter, len(list(group))) for letter, group in itertools.groupby(letters))
    text = "".join(f"{letter}{length if length > 1 else ''}" for letter, length in runs)
    print(f'"""Made by core/text/make_word_break_table.py from Unicode {sys.argv[1]}; do not edit."""\n')
    print("# Letters of perceptive.reference.word_breaks, of all characters in runs, with their length unless it is 1.")
    print("RUNS = (")
    for line in textwrap.wrap(text, 112):
        print(f"    {json.dumps(line)}")
    print(")")


if __name__ == "__main__":
    main()
