"""Streams: the svmlight parser against its twin and scikit-learn, files of every kind, and bytes at random."""

import random
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive import _core, streams
from twins import svmlight as twin

pytestmark = pytest.mark.core

SMALL = b"+1 qid:3 1:0.5 3:2e-1 # first\r\n\n-1 2:1\t4:-.5\n# only a comment\n  2.5 qid:4\n0 1:7 9:1e22#end"


def core(text, *, name="<bytes>", first_line=1, zero_based=False, n_features=None, single=False, queries=False):
    parser = _core.Svmlight(zero_based, n_features, None, queries)
    labels, which, weight, qid, indptr, indices, data, gaps, *_, complaints, _ = parser.parse(text, single, False)
    for line, byte, column, message in complaints:
        assert text.rfind(b"\n", 0, byte) + column == byte
        raise ValueError(f"{name}:{first_line + line}:{column}: {message}")
    assert indptr.dtype == indices.dtype == np.int32
    assert data.dtype == (np.float32 if single else np.float64)
    assert weight is None
    assert len(indptr) == len(which) + 1
    assert len(which) + len(gaps) == text.count(b"\n") + (not text.endswith(b"\n") and text != b"")
    entries = list(zip(indices.tolist(), data.tolist(), strict=True))
    bounds = zip(indptr.tolist(), indptr.tolist()[1:], strict=False)
    rows = [tuple(entries[begin:end]) for begin, end in bounds]
    label = [float(labels[i]) if abs(labels[i]) < 2**53 else labels[i] for i in which]
    return [twin.Example(*e) for e in zip(label, [] if qid is None else qid.tolist(), rows, strict=True)]


def outcome(parser, text, **options):
    try:
        return repr(parser(text, **options))  # repr tells −0 from 0
    except ValueError as error:
        return str(error)


def agree(text, **options):
    expected = outcome(twin.parse, text, **options)
    assert outcome(core, text, **options) == expected
    return expected


@pytest.mark.parametrize("text", [SMALL, b"1 qid:3 1:1\n 2 1:1\n", b"1 qid:3", b"0.5", b"1 # qid:3\n", b"1 1:1\n"])
def test_queries_are_wanted(text):
    said = agree(text, queries=True)
    assert ("names no query" in said) == (text != b"1 qid:3")


# ---------------------------------------------------------------- values

DECIMALS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e6, 1e6).map(lambda x: f"{x:.4f}"),
    st.integers(-(10**25), 10**25).map(str),
    st.from_regex(r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)


@examples(240)
@given(DECIMALS)
def test_decimals_are_those_of_python(text):
    if abs(float(text)) == float("inf"):
        with pytest.raises(ValueError, match="too large for float64"):
            core(f"1 1:{text}".encode())
    else:
        [example] = core(f"{text} 1:{text}\n".encode())
        assert struct.pack("d", example.label) == struct.pack("d", float(text) + 0.0)
        assert struct.pack("d", example.entries[0][1]) == struct.pack("d", float(text))
    agree(f"1 1:{text}".encode(), single=True)
    agree(f"{text} 1:1".encode())


@pytest.mark.parametrize(
    "text",
    [
        "9007199254740993",  # 2⁵³ + 1 lies between two floats
        "9007199254740992e22",
        "9007199254740992e-22",
        "1e23",
        "8.5e-23",
        "2.2250738585072011e-308",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-400",
        "0e999999999999999999999",
        "1e-999999999999999999999999",
        "0." + "0" * 400 + "1e401",
        "1" + "0" * 400 + "e-400",
        "0." + "0" * 5000 + "1",
        "0" * 5000 + "1",
        "1.7976931348623158e308",
        "-0",
        "-0.0e-5",
        "5.",
        ".5",
        "0.1" + "3" * 20000,
    ],
)
def test_hard_decimals(text):
    [example] = core(f"1 1:{text}".encode())
    assert struct.pack("d", example.entries[0][1]) == struct.pack("d", float(text))


@pytest.mark.parametrize("text", ["1.8e308", "1e999999999999999999999999", "1" * 400, "-1e309", "0.01e400"])
def test_decimals_too_large(text):
    assert "too large for float64; rescale" in agree(f"1 1:{text}".encode())
    assert "too large for float64; rescale" in agree(text.encode())


# ---------------------------------------------------------------- the twin

INDICES = st.lists(st.integers(1, 60) | st.integers(1, 2**31 - 1), unique=True, max_size=6).map(sorted)
BLANKS = st.sampled_from([" ", "  ", "\t", " \t "])


@st.composite
def lines(draw):
    words = [draw(DECIMALS | st.sampled_from(["1", "-1", "+1"]))]
    if draw(st.booleans()):
        words.append(f"qid:{draw(st.integers(0, 2**63 - 1))}")
    words += [f"{j}:{draw(DECIMALS)}" for j in draw(INDICES)]
    text = "".join(word + draw(BLANKS) for word in words)
    return draw(st.sampled_from([text, text.strip(), " " + text, text + "# 1:2 c\r", "", "#", " \t"]))


FILES = st.builds(
    lambda lines, ends: ends.join(lines).encode(), st.lists(lines(), max_size=5), st.sampled_from(["\n", "\r\n"])
)
OPTIONS = st.fixed_dictionaries(
    {
        "zero_based": st.booleans(),
        "single": st.booleans(),
        "n_features": st.none() | st.just(50),
        "first_line": st.just(7),
    }
)


@given(FILES, OPTIONS)
def test_core_and_twin_agree(text, options):
    agree(text, **options)


@given(FILES, st.data(), OPTIONS)
def test_core_and_twin_agree_on_mutated_files(text, data, options):
    text = bytearray(text)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        junk = data.draw(st.sampled_from([*b"0123456789:#.-+eE \t\r\n\0,x", *b"naif\xff\x80"]))
        text[at : at + data.draw(st.integers(0, 2))] = bytes([junk])
    agree(bytes(text), **options)


@given(st.binary(max_size=60) | st.text("0123456789:#.-+e \t\r\nqid", max_size=60).map(str.encode), OPTIONS)
def test_core_and_twin_agree_on_any_bytes(text, options):
    agree(text, **options)


def test_common_entries_at_every_place():
    """What is read by many bytes at a time: indices and numbers of every length, at every place among these bytes."""
    rng = random.Random(0)

    def digits(most):
        n = rng.randint(1, most)
        return str(rng.randrange(10 ** (n - 1), 10**n))

    kinds = [lambda: digits(9), lambda: "0." + digits(9), lambda: digits(1) + "." + digits(8).zfill(8)]
    rare = [lambda: digits(4) + "." + digits(4), lambda: "-0." + digits(6), lambda: digits(1) + ".", lambda: "1e-3"]
    for odd in (0.0, 0.0, 0.0, 0.1, 0.5):
        for _ in range(40):
            indices = sorted({int(digits(9)) for _ in range(40)})
            entries = [f"{j}:{rng.choice(rare if rng.random() < odd else kinds)()}" for j in indices]
            line = f"{digits(12)} " + " ".join(entries)
            text = f"{line}\n{line}{' ' * rng.randrange(90)}\r\n".encode()
            agree(text, single=rng.random() < 0.5)
            place = rng.randrange(len(text))
            agree(text[:place] + rng.choice([b":", b" ", b".", b"\n", b"x", b"#", b"7"]) + text[place + 1 :])


def test_random_bytes_never_crash():
    rng = random.Random(0)
    for _ in range(300):
        text = bytes(rng.choices(b"01234567899::: \t\n.e-+#\r\0q\xff", k=rng.randrange(400)))
        outcome(core, text)
        outcome(core, b"1 1:1\n" + text)


def test_every_beginning_of_a_file():
    for end in range(len(SMALL) + 1):
        agree(SMALL[:end])


def test_the_small_file():
    assert core(SMALL) == [
        twin.Example(1.0, 3, ((0, 0.5), (2, 0.2))),
        twin.Example(-1.0, -1, ((1, 1.0), (3, -0.5))),
        twin.Example(2.5, 4, ()),
        twin.Example(0.0, -1, ((0, 7.0), (8, 1e22))),
    ]


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("line", "options", "message"),
    [
        ("1 0:1", {}, "3: feature index 0: indices start at 1, unless the file is read as zero-based"),
        ("1 -3:1", {}, "3: feature index -3: indices must not be negative; renumber the features"),
        ("1 2147483648:1", {}, "3: feature index 2147483648: the largest is 2147483647; hash the features into fewer"),
        ("1 2147483647:1", {"zero_based": True}, "3: feature index 2147483647: the largest is 2147483646; hash the"),
        ("1 18446744073709551617:1", {}, "3: feature index 18446744073709551617: the largest is"),
        ("1 " + "9" * 50 + ":1", {}, "3: feature index " + "9" * 40 + "…: the largest is"),
        ("1 5:1 5:2", {}, "7: feature index 5 twice: give each feature once; add up or drop duplicates"),
        ("1 5:1 3:2", {}, "7: feature index 3 after 5: indices must rise; sort the entries of each line"),
        ("1 9:1", {"n_features": 8}, "3: feature index 9: beyond the 8 features; allow more, or hash them"),
        ("1 a:1", {}, "3: feature index 'a' is not a whole number; write index:value"),
        ("1 +3:1", {}, "3: feature index '+3' is not a whole number; write index:value"),
        ("1 :1", {}, "3: feature index '' is not a whole number; write index:value"),
        ("1 3", {}, "3: '3' is not an entry; write index:value, entries separated by spaces"),
        ("1 3: 1", {}, "5: value '' is not a number; write index:value, entries separated by spaces"),
        ("1 3:x", {}, "5: value 'x' is not a number; write index:value"),
        ("1 3:1:2", {}, "5: value '1:2' is not a number"),
        ("1 3:1_0", {}, "5: value '1_0' is not a number"),
        ("1 3:0x1p3", {}, "5: value '0x1p3' is not a number"),
        ("1 3:1e", {}, "5: value '1e' is not a number"),
        ("1 3:.", {}, "5: value '.' is not a number"),
        ("1 3:nan", {}, "5: value 'nan' is not finite; drop or impute such examples first"),
        ("1 3:-Inf", {}, "5: value '-Inf' is not finite; drop or impute such examples first"),
        ("1 3:+INFINITY", {}, "5: value '+INFINITY' is not finite"),
        ("1 3:1e400", {}, "5: value '1e400' is too large for float64; rescale"),
        ("1 3:1e39", {"single": True}, "5: value '1e39' is too large for float32; rescale"),
        ("nan 3:1", {}, "1: label 'nan' is not finite; drop or impute such examples first"),
        ("spam 3:1", {}, "1: label 'spam' is not a number; write classes as numbers, one per example"),
        ("1,2 3:1", {}, "1: label '1,2' is not a number; write classes as numbers, one per example"),
        ("3:1", {}, "1: label '3:1' is not a number; write classes as numbers, one per example"),
        ("1 2:1 qid:3", {}, "7: qid must come right after the label; move it there"),
        ("1 qid:1 qid:2", {}, "9: qid must come right after the label; move it there"),
        ("1 qid:-1", {}, "3: qid '-1' is not a whole number from 0 to 2⁶³ − 1; renumber the queries"),
        ("1 qid:", {}, "3: qid '' is not a whole number"),
        ("1 qid:9223372036854775808", {}, "3: qid '9223372036854775808' is not a whole number"),
        ("1 1:1\0", {}, r"5: value '1\x00' is not a number"),
        ("1 1:1\r2 1:1", {}, r"5: value '1\x0d2' is not a number"),
        ("\ufeff1 1:1", {}, r"1: label '\xef\xbb\xbf1' is not a number"),
    ],
)
def test_broken_lines(line, options, message):
    text = b"# head\n\n1 1:1\n" + line.encode() + b"\n1 1:1\n"
    assert agree(text, name="train.svm", **options).startswith("train.svm:4:" + message)


def test_candidates_have_grades_not_classes():
    told = agree(b"1 qid:1 3:1\nqid:1 3:1\n", name="rank.svm", queries=True)
    assert told.startswith(
        "rank.svm:2:1: grade 'qid:1' is not a number; write grade qid:n index:value …, with the grade 0"
    )


def test_lines_are_numbered_across_blocks(tmp_path):
    path = tmp_path / "train.svm"
    path.write_bytes(b"1 1:1\n" * 40 + b"1 1:1 0:2\n")
    with pytest.raises(ValueError, match=r"train\.svm:41:7: feature index 0.* \(byte 246\)"):
        list(streams.open(path).blocks(block=10))
