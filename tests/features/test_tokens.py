"""The tokeniser of raw text: no script is cut within a word, addresses stay whole, offsets are exact."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive.features.tokens import tokenise


@pytest.mark.parametrize(
    "text",
    [
        "नमस्ते दुनिया",  # vowel signs and viramas
        "Cafe\u0301 de\u0301ja\u0300 Zu\u0308rich",  # NFD
        "น้ำ ที่นี่ สวัสดี",
        "كِتَابٌ جَدِيدٌ",
        "שָׁלוֹם עֲלֵיכֶם",
        "צה\"ל ג'ון",  # gershayim and geresh
        "👨‍👩‍👧‍👦 👍🏽 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣ ❤️‍🔥",
        "the 1990s 3rd e-mail mother-in-law don't l’eau",
        "12:30 3/4/2020 1,200.50 5-10",
        "https://example.org/a?b=c#d http://en.wikipedia.org/wiki/X_(y) www.a.de FTP://x.y/z",
        "s3://b/k.txt git+ssh://git@h.org/p.git file:///etc/x redis://u:p@h:6379/0 x-1.2://a",
        "ann@example.org a.b+c@d-e.co.uk",
        "U.S. e.g. É.U. E\u0301.U.",
        "snake_case __init__ カタカナ",
    ],
)
def test_words_are_whole(text):
    assert tokenise(text) == text.split()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
        ("(see https://x.org/a).", ["(", "see", "https://x.org/a", ")", "."]),
        ("www.a.de! mail a@b.de, now", ["www.a.de", "!", "mail", "a@b.de", ",", "now"]),
        ("mail x@y.z. See http://x.y.", ["mail", "x@y.z", ".", "See", "http://x.y", "."]),
        ("x@a.b.c's U.S.", ["x@a.b.c", "'s", "U.S."]),
        ("http://x.de/?q={c}. {http://x.de}", ["http://x.de/?q={c}", ".", "{", "http://x.de", "}"]),
        ("http://x.de/{a}-{b} http://x.de/{a, it", ["http://x.de/{a}-{b}", "http://x.de/{a", ",", "it"]),
        ("请看http://x.org/a。再见", ["请", "看", "http://x.org/a", "。", "再", "见"]),
        ("（s3://b/k），x:// a://.", ["（", "s3://b/k", "）", "，", "x", ":", "/", "/", "a", ":", "/", "/", "."]),
        ("Prof. Cohen's e-mail", ["Prof", ".", "Cohen", "'s", "e-mail"]),
        ("ADA’S it's 's-Hertogenbosch", ["ADA", "’S", "it", "'s", "'", "s-Hertogenbosch"]),
        ("my mother-in-law's don't", ["my", "mother-in-law", "'s", "don't"]),
        ("https://x.org/Ada's it", ["https://x.org/Ada's", "it"]),
        ("a - b --x x- -5 1:a l’a.", ["a", "-", "b", "-", "-", "x", "x", "-", "-", "5", "1", ":", "a", "l’a", "."]),
        ("x@y #z C++", ["x", "@", "y", "#", "z", "C", "+", "+"]),
        ("東京タワー", ["東", "京", "タワー"]),
        ("\ufeffhi\u200b \u00ad\n you", ["hi", "you"]),
        ("\u0600123", ["\u0600123"]),  # a sign that has no form, before digits
        ("", []),
        (" \n", []),
    ],
)
def test_marks_stand_alone(text, tokens):
    assert tokenise(text) == tokens


@examples(100)
@given(st.text(st.one_of(st.characters(), st.sampled_from("ab.-:/'1२ \n\u0301\u200d👨🇩กא@")), max_size=30))
def test_offsets_are_exact_and_nothing_seen_is_lost(text):
    tokens = tokenise(text)
    assert all(text[token.start : token.end] == token and token for token in tokens)
    assert all(a.end <= b.start for a, b in itertools.pairwise(tokens))
    kept = {i for token in tokens for i in range(token.start, token.end)}
    lost = "".join(c for i, c in enumerate(text) if i not in kept)
    assert not any(c.isalnum() for c in lost)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 50_000,
        "a@" * 20_000,
        "http://" + "(" * 20_000,
        "http://" + "{a}{" * 20_000,
        "a+b." * 20_000,
        "a://" * 20_000,
        "www." * 20_000,
        "e\u0301" * 20_000,
    ],
)
def test_long_texts_take_no_longer_than_they_must(text):
    assert "".join(tokenise(text)) == text
