"""Word boundaries: the rules of UAX #29 one by one, the regular expression, and lines of Unicode's test file."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive.features.word_breaks import properties, segments
from perceptive.reference.word_breaks import word_breaks

LETTERS = "aihdk_:,.'\"ejrpsclnot"

# A subset of WordBreakTest.txt (Unicode 17): lines of it that are not pairs of characters. ÷ is a break, × is none.
UNICODE = """\
÷ 000D × 000A ÷ 0061 ÷ 000A ÷ 0308 ÷
÷ 0061 × 0308 ÷
÷ 0020 × 200D ÷ 0646 ÷
÷ 0646 × 200D ÷ 0020 ÷
÷ 0041 × 0041 × 0041 ÷
÷ 0041 × 003A × 0041 ÷
÷ 0041 ÷ 003A ÷ 003A ÷ 0041 ÷
÷ 05D0 × 0027 ÷
÷ 05D0 × 0022 × 05D0 ÷
÷ 0041 × 0030 × 0030 × 0041 ÷
÷ 0030 × 002C × 0030 ÷
÷ 0030 ÷ 002C ÷ 002C ÷ 0030 ÷
÷ 3031 × 3031 ÷
÷ 0041 × 005F × 0030 × 005F × 3031 × 005F ÷
÷ 0041 × 005F × 005F × 0041 ÷
÷ 1F1E6 × 1F1E7 ÷ 1F1E8 ÷ 0062 ÷
÷ 0061 ÷ 1F1E6 × 1F1E7 ÷ 1F1E8 ÷ 0062 ÷
÷ 0061 ÷ 1F1E6 × 1F1E7 × 200D ÷ 1F1E8 ÷ 0062 ÷
÷ 0061 ÷ 1F1E6 × 200D × 1F1E7 ÷ 1F1E8 ÷ 0062 ÷
÷ 0061 ÷ 1F1E6 × 1F1E7 ÷ 1F1E8 × 1F1E9 ÷ 0062 ÷
÷ 1F476 × 1F3FF ÷ 1F476 ÷
÷ 1F6D1 × 200D × 1F6D1 ÷
÷ 0061 × 200D × 1F6D1 ÷
÷ 2701 × 200D ÷ 2701 ÷
÷ 0061 × 200D ÷ 2701 ÷
÷ 1F476 × 1F3FF × 0308 × 200D × 1F476 × 1F3FF ÷
÷ 1F6D1 × 1F3FF ÷
÷ 200D × 1F6D1 × 1F3FF ÷
÷ 200D × 1F6D1 ÷
÷ 1F6D1 ÷ 1F6D1 ÷
÷ 0061 × 0308 × 200D × 0308 × 0062 ÷
÷ 0061 ÷ 0020 × 0020 ÷ 0062 ÷
÷ 0061 × 0031 ÷ 003A ÷ 003A ÷ 0031 ÷
÷ 0061 × 0031 × 005F × 0031 ÷ 003A ÷ 003A ÷ 0061 ÷
÷ 0061 × 0031 ÷ 003A ÷ 002E ÷ 0031 ÷
÷ 0061 × 0031 ÷ 003A ÷ 002C ÷ 0061 ÷
÷ 0061 ÷ 002E ÷ 003A ÷ 0031 ÷
÷ 0061 ÷ 002C ÷ 002C ÷ 0061 ÷
"""


def cut(letters):
    """The places of the breaks, from the segments."""
    return [0, *(end for _, end in segments(letters))] if letters else []


@pytest.mark.parametrize("line", UNICODE.splitlines())
def test_unicode_says_so(line):
    signs, codes = line.split()[::2], line.split()[1::2]
    wanted = [i for i, sign in enumerate(signs) if sign == "÷"]
    letters = properties("".join(chr(int(code, 16)) for code in codes))
    assert word_breaks(letters) == wanted
    assert cut(letters) == wanted


def test_short_texts_of_all_properties():
    for n in range(4):
        for some in itertools.product(LETTERS, repeat=n):
            letters = "".join(some)
            assert cut(letters) == word_breaks(letters), letters


@examples(300)
@given(st.text(LETTERS, max_size=16) | st.text("ahdk_'\".ej", max_size=16))
def test_the_expression_equals_the_rules(letters):
    assert cut(letters) == word_breaks(letters)


@examples(100)
@given(st.text(max_size=20))
def test_every_character_has_a_property(text):
    assert len(properties(text)) == len(text)
    assert set(properties(text)) <= set(LETTERS)
    assert cut(properties(text)) == word_breaks(properties(text))


def test_some_properties():
    assert properties("aא1カ_:,.'\"\u0301\u200d🇩😀 \r\n\u2028ก+ℹ") == "ahdk_:,.'\"ejrpsclntoi"
