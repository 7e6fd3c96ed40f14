"""Writes `letter_tables.hpp`: which characters are upper case, lower case, digits, letters or marks of punctuation,
and the simple lower case of each. Run it with a new Python to move to a new Unicode: python core/letter_tables.py
"""

import sys
import unicodedata
from pathlib import Path

OTHER, UPPER, LOWER, DIGIT, LETTER, PUNCTUATION = range(6)


def kind(c: str) -> int:
    category = unicodedata.category(c)
    if category in ("Lu", "Lt"):
        return UPPER
    if category == "Ll":
        return LOWER
    if category == "Nd":
        return DIGIT
    if category[0] in "LM":
        return LETTER
    return PUNCTUATION if category[0] in "PS" else OTHER


def main() -> None:
    runs: list[tuple[int, int]] = []
    shifts: list[list[int]] = []  # first, last, step, difference
    for code in range(sys.maxunicode + 1):
        c = chr(code)
        if not runs or runs[-1][1] != kind(c):
            runs.append((code, kind(c)))
        lower = c.lower()
        if len(lower) != 1 or lower == c:
            continue
        difference = ord(lower) - code
        if shifts and shifts[-1][3] == difference and code - shifts[-1][1] in (1, 2):
            last = shifts[-1]
            if last[0] == last[1]:
                last[2] = code - last[1]
            if code - last[1] == last[2]:
                last[1] = code
                continue
        shifts.append([code, code, 1, difference])
    lines = [
        "// Written by letter_tables.py from Unicode " + unicodedata.unidata_version + ": do not edit.",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
        "namespace perceptive::letters {",
        "",
        "// clang-format off",
        "struct Run { std::uint32_t first; std::uint8_t kind; };",
        "constexpr Run RUNS[] = {",
    ]
    lines += _wrapped([f"{{{code},{k}}}" for code, k in runs])
    lines += ["};", "struct Shift { std::uint32_t first, last, step; std::int32_t difference; };"]
    lines += ["constexpr Shift SHIFTS[] = {", *_wrapped([f"{{{a},{b},{s},{d}}}" for a, b, s, d in shifts]), "};"]
    lines += ["// clang-format on", "", "}  // namespace perceptive::letters", ""]
    Path(__file__).with_suffix(".hpp").write_text("\n".join(lines))


def _wrapped(items: list[str]) -> list[str]:
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) > 116:
            lines.append(line)
            line = "   "
        line += " " + item + ","
    return [*lines, line]


if __name__ == "__main__":
    main()
