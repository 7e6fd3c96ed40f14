"""The parsers of VW, labelled text, CSV and JSON lines against their twins, on sound, broken and random bytes."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptive import _core
from twins import labelled_text, lines, vw

pytestmark = pytest.mark.core


def kernel(options):
    return options.get("bits", 20), options.get("seed", 0), options.get("signed", True)


def features(options, remember=False):
    return _core.FeatureOptions(
        *kernel(options),
        remember,
        options.get("all_pairs", False),
        [(a.decode(), b.decode()) for a, b in options.get("pairs", ())],
        [(name.decode(), *how) for name, how in options.get("scaling", {}).items()],
        options.get("missing", False),
        options.get("apart", False),
        options.get("alike", False),
        None if "named" not in options else [(name.decode(), j) for name, j in options["named"].items()],
        options.get("others", -1),
    )


def texts(options, idf=None):
    words, chars = options.get("words", (1, 1)) or (0, 0), options.get("chars") or (0, 0)
    lowercase, weighting = options.get("lowercase", True), options.get("weighting", "tf")
    return _core.TextReading(words, chars, lowercase, weighting, options.get("normalize", True), *kernel(options), idf)


def examples(parser, text, single):
    """What the core makes of a text, as the twins say it."""
    labels, which, weight, qid, indptr, indices, data, gaps, _, _, n_lines, skipped, complaints, _ = parser.parse(
        text, single, False
    )
    for line, byte, column, message in complaints:
        assert text.rfind(b"\n", 0, byte) + column == byte
        assert text.count(b"\n", 0, byte) == line
        assert skipped == 1
        raise ValueError(f"<bytes>:{1 + line}:{column}: {message}")
    assert n_lines == text.count(b"\n") + (not text.endswith(b"\n") and text != b"")
    assert qid is None
    assert gaps.tolist() == sorted(gaps.tolist())
    assert 0 <= gaps.min(initial=0) <= gaps.max(initial=0) <= len(which)
    assert len(indptr) == len(which) + 1
    entries = list(zip(indices.tolist(), data.tolist(), strict=True))
    rows = [tuple(entries[a:b]) for a, b in zip(indptr.tolist(), indptr.tolist()[1:], strict=False)]
    for row in rows:
        assert [h for h, _ in row] == sorted({h for h, _ in row})
    labels = [label.encode() if isinstance(label, str) else label for label in labels]
    ys = [None if i < 0 else labels[i] for i in which]
    weights = [None] * len(ys) if weight is None else weight.tolist()
    return [lines.Example(*parts) for parts in zip(ys, weights, rows, strict=True)]


def core_vw(text, single=False, **options):
    return examples(_core.Vw(features(options)), text, single)


def core_text(text, single=False, labelled=True, **options):
    return examples(_core.LabelledText(texts(options), labelled, False), text, single)


COLUMNS = [(b"y", "label"), (b"a", "any"), (b"b", "any"), (b"c", "categorical"), (b"t", "text"), (b"z", "ignored")]


def core_csv(text, columns, single=False, delimiter=b",", text_options=None, labels="typed", quotes=True, **options):
    kinds = [(name.decode(), kind) for name, kind in columns]
    reading = texts({**options, **(text_options or {})})
    return examples(_core.Csv(features(options), reading, delimiter.decode(), kinds, labels, quotes), text, single)


def core_json(
    text,
    single=False,
    text_options=None,
    label=b"label",
    text_key=b"text",
    weight_key=b"weight",
    numerals=False,
    words=(),
    labels="typed",
    ignored=(),
    **options,
):
    reading = texts({**options, **(text_options or {})})
    keys = label.decode(), text_key.decode()
    strings = numerals, [*map(bytes.decode, words)], labels, [*map(bytes.decode, ignored)]
    parser = _core.JsonLines(features(options), reading, *keys, weight_key.decode(), None, *strings)
    return examples(parser, text, single)


def exact(found):
    """Example by example, floats by their bytes."""
    return [(e.label, e.weight, [(h, struct.pack("d", x)) for h, x in e.entries]) for e in found]


def outcome(parser, *arguments, **options):
    try:
        return exact(parser(*arguments, **options))
    except ValueError as error:
        return str(error)


def agree(core, twin, *arguments, **options):
    expected = outcome(twin, *arguments, **options)
    assert outcome(core, *arguments, **options) == expected
    return expected


def mutated(draw, text, junk):
    text = bytearray(text)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(text)))
        text[at : at + draw(st.integers(0, 2))] = bytes(draw(st.lists(st.sampled_from(junk), max_size=2)))
    return bytes(text)


HASHED = st.fixed_dictionaries(
    {
        "bits": st.sampled_from([1, 3, 20, 30]),
        "seed": st.sampled_from([0, 7]),
        "single": st.booleans(),
        "all_pairs": st.booleans(),
        "pairs": st.sampled_from([(), ((b"a", b"b"),), ((b"b", b"a"), (b"", b"a"))]),
    }
)
SCALED = st.fixed_dictionaries(
    {
        "scaling": st.dictionaries(
            st.sampled_from([b"a", b"b", b"a^a", b"x", b"a.b", b"label"]),
            st.tuples(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3)),
            max_size=3,
        ),
    }
)
NAMED = st.just({}) | st.fixed_dictionaries(
    {
        "named": st.dictionaries(st.sampled_from([b"a", b"b", b"a^a", b"a=1", b"b=a", b"a*b"]), st.integers(0, 1)),
        "others": st.sampled_from([-1, 1]),
    }
)
MISSING = st.fixed_dictionaries({"missing": st.booleans(), "apart": st.booleans(), "alike": st.booleans()})
STRINGS = st.fixed_dictionaries({"numerals": st.booleans(), "words": st.sampled_from([(), (b"a", b"b")])})
NUMBERS = st.one_of(
    st.integers(-20, 20).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-100, 100).map(lambda x: f"{x:.5f}"),
)
WORDS = st.text("abAB01é^=*'", min_size=1, max_size=6)


# ---------------------------------------------------------------- VW


@st.composite
def vw_lines(draw):
    head = " ".join(draw(st.lists(NUMBERS, max_size=3)))
    tag = draw(st.sampled_from(["", " ", " 'tag", " 'tag ", " tag", " "]))
    spaces = []
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(["", "a", "b", "long"]))
        weight = f":{draw(NUMBERS)}" if name and draw(st.booleans()) else ""
        named = [
            draw(WORDS) + (f":{draw(NUMBERS)}" if draw(st.booleans()) else "") for _ in range(draw(st.integers(0, 30)))
        ]
        spaces.append("|" + name + weight + "".join(draw(st.sampled_from([" ", "\t", "  "])) + word for word in named))
    return (head + tag + " ".join(spaces)).encode()


VW_FILES = st.builds(
    lambda many, end: end.join(many), st.lists(vw_lines(), max_size=4), st.sampled_from([b"\n", b"\r\n"])
)


@given(VW_FILES, st.data(), HASHED, SCALED, NAMED)
def test_vw_and_its_twin_agree(text, data, options, scaled, named):
    agree(core_vw, vw.parse, mutated(data.draw, text, b"0123:|.-+eE \t\r\n\0'xa\xff"), **options, **scaled, **named)


@given(st.binary(max_size=80) | st.text("01:|.-e \t\r\n'a", max_size=80).map(str.encode), HASHED)
def test_vw_and_its_twin_agree_on_any_bytes(text, options):
    agree(core_vw, vw.parse, text, **options)


@pytest.mark.slow
def test_vw_examples():
    [one] = core_vw(b"-1 2.5 'tag | height:1.5 tall |f tall:2 |g:0.5 x:3 x\n")
    named = [(b"height", 1.5), (b"tall", 1.0), (b"f^tall", 2.0), (b"g^x", 1.5), (b"g^x", 0.5)]
    assert (one.label, one.weight) == (-1.0, 2.5)
    assert dict(one.entries) == dict(_core_row(named))
    assert [e.label for e in core_vw(b"1 | a\n| a\n1| a\n2 'x| a\n\n  \n0 1 0.5 tag| a")] == [1.0, None, None, 2.0, 0.0]
    assert core_vw(b"1 0 | a\n2 -0 |\n")[0].weight == 0.0
    wide = b"1 | " + b" ".join(b"%d:%d" % (i % 400, i) for i in range(1, 1200))
    agree(core_vw, vw.parse, wide, bits=10)
    agree(core_vw, vw.parse, wide, bits=1)


def _core_row(named):
    _indptr, indices, data = _core.HashKernel(20, 0, True).encode(
        [{name.decode(): sum(x for other, x in named if other == name) for name, _ in named}], False, lambda: None
    )
    return zip(indices.tolist(), data.tolist(), strict=True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 a b", "1: there is no '|' in the line; write label | name:value …"),
        ("spam | a", "1: label 'spam' is not a number; write label importance base | features"),
        ("1:2 | a", "1: label '1:2' is not a number"),
        ("nan | a", "1: label 'nan' is not finite; drop or impute such examples first"),
        ("1 -2 | a", "3: importance '-2' is negative; give 0 or more"),
        ("1 x | a", "3: importance 'x' is not a number"),
        ("1 1 x | a", "5: base 'x' is not a number"),
        ("1 1 1 1 | a", "7: '1' is too much; write label importance base | features"),
        ("1 | a:x", "7: value 'x' is not a number; write name:value, features separated by spaces"),
        ("1 | a:1:2", "7: value '1:2' is not a number"),
        ("1 | a:", "7: value '' is not a number"),
        ("1 | a:-inf", "7: value '-inf' is not finite"),
        ("1 | a:1e999", "7: value '1e999' is too large for float64; rescale"),
        ("1 | :3", "5: ':3' has no name before the colon; write name:value"),
        ("1 |:3 a", "4: the namespace has no name; write |name:weight, or a space after the bar"),
        ("1 |a:x b", "6: weight of a namespace 'x' is not a number; write |name:weight"),
        ("1 |a:1e200 b:1e200", "12: 'b:1e200' times the weight of its namespace is too large for float64; rescale"),
        ("1 | a:1e308 a:1e308", "20: the features of one bucket add up to too large a number; rescale"),
        ("1 |" + "n" * 5000 + " b", "4: the name '" + "n" * 40 + "…' is longer than 4096 bytes"),
        ("1 | a:1\0", r"7: value '1\x00' is not a number"),
    ],
)
def test_broken_vw(line, message):
    text = b"\n1 | a\n" + line.encode() + b"\n1 | a\n"
    assert agree(core_vw, vw.parse, text).startswith("<bytes>:3:" + message)


# ---------------------------------------------------------------- labelled text

SENTENCES = st.text("abÀß 東,.'\t", max_size=30)
TEXTS = st.fixed_dictionaries(
    {
        "words": st.sampled_from([(1, 1), (1, 3), None]),
        "chars": st.sampled_from([None, (2, 3)]),
        "weighting": st.sampled_from(["tf", "binary", "log-tf"]),
        "normalize": st.booleans(),
        "lowercase": st.booleans(),
    }
)
TEXT_FILES = st.lists(
    st.builds(
        lambda label, sep, text: label + sep + text,
        st.sampled_from(["spam", "ham", " a b ", "", "__label__x", "__label__x __label__y", "__label__", "é"]),
        st.sampled_from(["\t", " "]),
        SENTENCES,
    ).map(str.encode)
    | st.sampled_from([b"", b"  ", b"\t"]),
    max_size=4,
).map(b"\n".join)


@given(TEXT_FILES, st.data(), TEXTS, st.booleans(), st.booleans(), st.sampled_from([1, 20]))
def test_text_and_its_twin_agree(text, data, options, labelled, single, bits):
    text = mutated(data.draw, text, b"ab \t\r\n\0_\xff\xc3\x80")
    agree(core_text, labelled_text.parse, text, labelled=labelled, single=single, bits=bits, **options)


@given(TEXT_FILES)
def test_several_labels_are_counted(text):
    *_, odd, _, _, _, complaints, _ = _core.LabelledText(texts({}), True, False).parse(text, False, False)
    if complaints:
        text = b"\n".join(text.split(b"\n")[: complaints[0][0]])  # what was read
    found = [(n, first[0], first[3]) for kind, n, first in odd if kind == "several"]
    expected = labelled_text.several(text)
    if expected is None:
        assert found == []
        return
    n, line, label = expected
    assert found == [(n, line, f"of several labels '{lines.shown(label)}' was taken")]


def test_text_examples():
    text = b"spam\tBuy now\n__label__ham __label__x hi\n\n \t\n\tno label\n a b \tx"
    assert [e.label for e in core_text(text)] == [b"spam", b"ham", None, b"a b"]
    assert [e.label for e in core_text(text, labelled=False)] == [None] * 4
    assert core_text(b"y\tBuy now")[0].entries == core_text(b"__label__y  buy NOW")[0].entries
    assert agree(core_text, labelled_text.parse, b"a\tb\n no tab").startswith(
        "<bytes>:2:2: there is no label; write label"
    )
    assert (
        agree(core_text, labelled_text.parse, b" \xff\tb")
        == r"<bytes>:1:2: label '\xff' is not UTF-8; convert the file to it"
    )
    assert agree(core_text, labelled_text.parse, b"__label__\xff b").startswith("<bytes>:1:10: label")
