"""The parsers of VW, labelled text, CSV and JSON lines against their twins, on sound, broken and random bytes."""

import csv as stdlib_csv
import io
import json
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptive import _core
from twins import csv, json_lines, labelled_text, lines, vw

pytestmark = pytest.mark.core

TEXT = {"words": (1, 2), "chars": None, "weighting": "log-tf", "normalize": True}


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
    )


def texts(options, idf=None):
    words, chars = options.get("words", (1, 1)) or (0, 0), options.get("chars") or (0, 0)
    lowercase, weighting = options.get("lowercase", True), options.get("weighting", "tf")
    return _core.TextReading(words, chars, lowercase, weighting, options.get("normalize", True), *kernel(options), idf)


def examples(parser, text, single):
    """What the core makes of a text, as the twins say it."""
    labels, which, weight, qid, indptr, indices, data, gaps, n_lines, skipped, complaints, _ = parser.parse(
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
    labels = [label.encode() if isinstance(label, str) else float(label) for label in labels]
    ys = [None if i < 0 else labels[i] for i in which]
    weights = [None] * len(ys) if weight is None else weight.tolist()
    return [lines.Example(*parts) for parts in zip(ys, weights, rows, strict=True)]


def core_vw(text, single=False, **options):
    return examples(_core.Vw(features(options)), text, single)


def core_text(text, single=False, labelled=True, **options):
    return examples(_core.LabelledText(texts(options), labelled, False), text, single)


COLUMNS = [(b"y", "label"), (b"a", "any"), (b"b", "any"), (b"c", "categorical"), (b"t", "text"), (b"z", "ignored")]


def core_csv(text, columns, single=False, delimiter=b",", text_options=None, **options):
    kinds = [(name.decode(), kind) for name, kind in columns]
    reading = texts({**options, **(text_options or {})})
    return examples(_core.Csv(features(options), reading, delimiter.decode(), kinds), text, single)


def core_json(text, single=False, text_options=None, label=b"label", text_key=b"text", weight_key=b"weight", **options):
    reading = texts({**options, **(text_options or {})})
    keys = label.decode(), text_key.decode()
    parser = _core.JsonLines(features(options), reading, *keys, False, weight_key.decode())
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
MISSING = st.fixed_dictionaries({"missing": st.booleans()})
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


@given(VW_FILES, st.data(), HASHED, SCALED)
def test_vw_and_its_twin_agree(text, data, options, scaled):
    agree(core_vw, vw.parse, mutated(data.draw, text, b"0123:|.-+eE \t\r\n\0'xa\xff"), **options, **scaled)


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
    wide = b"1 | " + b" ".join(b"%d:%d" % (i % 3000, i) for i in range(1, 9000))
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


# ---------------------------------------------------------------- CSV


def quoted(value, delimiter):
    if any(c in value for c in (delimiter, '"', "\n", "\r")):
        return '"' + value.replace('"', '""') + '"'
    return value


CELLS = (
    NUMBERS
    | WORDS
    | st.sampled_from(["", "NA", "nan", "Null", " 7 ", "1e39", "red", "a,b", 'say "x"', "two\nlines", "-"])
)


@st.composite
def csv_files(draw):
    delimiter = draw(st.sampled_from([",", "\t", ";"]))
    width = draw(st.integers(1, 7))
    rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=4))
    text = "\n".join(delimiter.join(quoted(cell, delimiter) for cell in row) for row in rows)
    return text.encode(), [*COLUMNS, (b"w", "weight")][:width], delimiter.encode()


@given(csv_files(), st.data(), HASHED, SCALED, MISSING)
def test_csv_and_its_twin_agree(file, data, options, scaled, missing):
    text, columns, delimiter = file
    text = mutated(data.draw, text, b'0a,;\t"""\n\r\0.\xff ')
    agree(core_csv, csv.parse, text, columns, delimiter=delimiter, text_options=TEXT, **options, **scaled, **missing)


@given(st.text('ab1,"\n\r ', max_size=60).map(str.encode), st.integers(1, 6))
def test_csv_and_its_twin_agree_on_any_quotes(text, width):
    agree(core_csv, csv.parse, text, COLUMNS[:width], text_options=TEXT)
    *_, (begin, _) = csv.records(text + b"x")  # the last record, which x goes on with or begins
    assert _core.csv_whole(text, ",") == begin


@given(st.lists(st.lists(st.text('ab1",;\n é', max_size=5), min_size=2, max_size=2), min_size=1, max_size=5))
def test_csv_reads_what_the_standard_library_writes(rows):
    file = io.StringIO(newline="")
    stdlib_csv.writer(file, quoting=stdlib_csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    found = core_csv(file.getvalue().encode(), [(b"a", "categorical"), (b"b", "categorical")])
    for (a, b), example in zip(rows, found, strict=True):
        named = [(name, 1.0) for name, value in (("a", a), ("b", b)) for name in [f"{name}={value}"] if value]
        assert dict(example.entries) == dict(_core_row([(name.encode(), x) for name, x in named]))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x", "1: the row has 1 field, the header 6; check the delimiter and the quotes"),
        ("1,2,3,4,5,6,7", "1: the row has 7 fields, the header 6"),
        ('1,"2,3\n4,5', "3: the quote that opens here is never closed; close it, or double it"),
        ('1,"2"3,4,5,6', "6: there is more after the closing quote; double the quotes within a value"),
        ('1,2"3,4,5,6', "4: there is a quote within a value; put the value in quotes, and double those within"),
        ("1,inf,3,4,5,6", "3: value 'inf' is not finite; drop or impute such examples first"),
        ("1,1e999,3,4,5,6", "3: value '1e999' is too large for float64; rescale"),
        ("1e999,2,3,4,5,6", "1: label '1e999' is too large for float64; rescale"),
        ("-inf,2,3,4,5,6", "1: label '-inf' is not finite"),
    ],
)
def test_broken_csv(line, message):
    text = b'1,2,3,4,"five\nlines",6\n\n' + line.encode()
    assert agree(core_csv, csv.parse, text, COLUMNS).startswith("<bytes>:4:" + message)


def test_csv_cells():
    def row(cell, kind="any"):
        [example] = core_csv(b"%s,x\n" % cell, [(b"a", kind), (b"z", "ignored")])
        return dict(example.entries)

    def named(*pairs):
        return dict(_core_row(pairs))

    assert row(b" 2.5 ") == row(b'"2.5"') == named((b"a", 2.5))
    assert row(b"red") == row(b" red") == named((b"a=red", 1.0))
    assert row(b'" red"') == named((b"a= red", 1.0))
    assert row(b"1e999.5") == named((b"a=1e999.5", 1.0))  # begins like a number that is too large, and is none
    assert row(b"7", "categorical") == named((b"a=7", 1.0))
    for missing in (b"", b'""', b"NA", b"nan", b"NULL", b" null ", b"0"):
        assert row(missing) == {}
    assert core_csv(b"-0,1\n", [(b"y", "label"), (b"a", "any")])[0].label == 0.0


def test_csv_headers():
    assert _core.csv_header(b'\xef\xbb\xbfa, b ,"c ""d"", e"\r\n1,2,3\n', ",") == (["a", "b", 'c "d", e'], 23)
    assert [_core.csv_delimiter(t, True) for t in (b"a,b;c", b"a;b\tc;d", b"a\tb\tc,d", b'"a,b,c";d', b"a")] == [
        *",;\t;,"
    ]
    assert _core.csv_delimiter(b"a;b", False) is None
    for text, message in [
        (b"\n1\n", "1:1: the first line is empty; it must name the columns"),
        (b"a,b,a\n", "1:5: there are two columns 'a'; rename one"),
        (b"a,\xff\n", r"1:3: the name of a column '\xff' is not UTF-8"),
        (b'a,"b\nc"d\n', "2:3: there is more after the closing quote"),
        (b"a," + b"n" * 5000, "1:3: the name"),
    ]:
        with pytest.raises(ValueError, match="^" + message.replace("\\", "\\\\")):
            _core.csv_header(text, ",")


# ---------------------------------------------------------------- JSON lines

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('ab"\\/\n\té東😀\u2028', max_size=8)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=8
)
OBJECTS = st.dictionaries(
    WORDS | st.sampled_from(["label", "text", "weight", "features", "a", "b"]), VALUES, max_size=5
)
JSON_FILES = st.lists(st.builds(lambda o, a: json.dumps(o, ensure_ascii=a), OBJECTS, st.booleans()), max_size=3).map(
    lambda many: "\n".join(many).encode()
)
JUNK = b'{}[]:,"\\u0d8tfn1.-eE \t\r\n\0a\xff\xc3\xa9'


@given(JSON_FILES, st.data(), HASHED, SCALED, MISSING)
def test_json_and_its_twin_agree(text, data, options, scaled, missing):
    text = mutated(data.draw, text, JUNK)
    agree(core_json, json_lines.parse, text, text_options=TEXT, **options, **scaled, **missing)


@given(st.text('{}[]:,"\\u0d8truefalsn1.-eE \t\n', max_size=40).map(lambda s: b'{"a":' + s.encode()))
def test_json_and_its_twin_agree_on_any_bytes(text):
    agree(core_json, json_lines.parse, text)


@settings(max_examples=300)
@given(VALUES, st.data())
def test_json_is_what_python_takes_for_it(value, data):
    text = mutated(data.draw, json.dumps({"a": value}).encode(), JUNK.replace(b"\n", b""))
    if b"\n" in text:
        return
    try:
        found = json.loads(text.decode(), parse_constant=lambda name: 1 / 0)
        sound = isinstance(found, dict)
        json.dumps(found, ensure_ascii=False).encode()  # no lone surrogates
    except (ValueError, ZeroDivisionError):
        sound = not text.strip()
    found = outcome(core_json, text, label=b"\n")
    if isinstance(found, str) and ("too large" in found or "weight" in found):
        return  # said before the end of the line was seen
    assert isinstance(found, str) == (not sound)


def test_json_examples():
    def row(text, **options):
        [example] = core_json(text.encode(), **options)
        return dict(example.entries)

    assert row('{"a": 2.5, "b": "x", "c": true, "d": false, "e": null}') == dict(
        _core_row([(b"a", 2.5), (b"b=x", 1.0), (b"c", 1.0)])
    )
    assert row('{"a": {"b": {"c": 1}}, "d": ["x", "y", "x"], "e": [1.5, 0, 2, null, [3], {"f": 4}]}') == dict(
        _core_row(
            [
                (b"a.b.c", 1.0),
                (b"d=x", 2.0),
                (b"d=y", 1.0),
                (b"e[0]", 1.5),
                (b"e[2]", 2.0),
                (b"e[4][0]", 3.0),
                (b"e[5].f", 4.0),
            ]
        )
    )
    assert row('{"features": {"a": 1}, "b": 2}') == row('{"a": 1, "b": 2}')
    assert row(r'{"\u00e9\ud83d\ude00": 1}') == row('{"é😀": 1}')
    text = '{"label": "spam", "text": "Buy now", "weight": 2}'
    [one] = core_json(text.encode())
    assert (one.label, one.weight) == (b"spam", 2.0)
    assert one.entries == core_text(b"spam\tBuy now")[0].entries
    labels = [b"1", b"-0.0", b'"x"', b'""', b"true", b"false", b"null"]
    found = core_json(b"\n".join(b'{"label": %s}' % label for label in labels) + b"\n\n{}")
    assert [e.label for e in found] == [1.0, 0.0, b"x", None, 1.0, 0.0, None, None]
    assert core_json(b'{"y": 3, "label": 4}', label=b"y")[0].label == 3.0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", "1: expected an object, found '['"),
        ("{", "2: expected a key in quotes, found the end of the line"),
        ('{"a"}', "5: expected ':' after the key, found '}'"),
        ('{"a": }', "7: expected a value, found '}'"),
        ('{"a": 1,}', "9: expected a key in quotes, found '}'"),
        ('{"a": [1 2]}', "10: expected ',' or ']', found '2'"),
        ('{"a": 01}', "8: expected ',' or '}', found '1'"),
        ('{"a": 1.}', "9: expected a digit, found '}'"),
        ('{"a": -}', "8: expected a digit, found '}'"),
        ('{"a": 1e+}', "10: expected a digit, found '}'"),
        ('{"a": NaN}', "7: expected a value, found 'N'"),
        ('{"a": 1e999}', "7: number '1e999' is too large for float64; rescale"),
        ('{"a": "x}', "7: the string that begins here is not closed; close it with a quote"),
        ('{"a": "\\x"}', "9: expected one of \" \\ / b f n r t u after '\\', found 'x'"),
        ('{"a": "\\u12g4"}', "12: expected four hexadecimal digits after '\\u', found 'g'"),
        ('{"a": "\\ud800"}', "8: there is half a surrogate pair in a string; write both, high before low"),
        ('{"a": "\\ud800\\u0041"}', "8: there is half a surrogate pair"),
        ('{"a": "\t"}', "8: there is a control character in a string; write it as \\u00.."),
        ('{"a": 1} x', "10: expected the end of the line, found 'x'"),
        ('{"label": [1]}', "11: the label must be a number, a string, true, false or null"),
        ('{"label": 1, "label": 2}', "23: there are two labels; give one"),
        ('{"weight": -1}', "12: the weight is negative; give 0 or more"),
        ('{"weight": "x"}', "12: the weight must be a number, 0 or more"),
        ('{"a":' * 70, "321: values are nested deeper than 64; flatten them"),
        ('{"' + "k" * 5000 + '": [1]}', "5006: the name '" + "k" * 40 + "…' is longer than 4096 bytes"),
    ],
)
def test_broken_json(line, message):
    text = b'{"a": 1}\n\n' + line.encode()
    assert agree(core_json, json_lines.parse, text).startswith("<bytes>:3:" + message)
    bad = agree(core_json, json_lines.parse, b'{"a": "\xff"}')
    assert bad == "<bytes>:1:8: a string is not UTF-8; convert the file to it"
