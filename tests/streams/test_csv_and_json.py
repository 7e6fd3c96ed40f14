"""The parsers of CSV and JSON lines, against their twins."""

import csv as stdlib_csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive import _core, streams
from test_formats import (
    COLUMNS,
    HASHED,
    MISSING,
    NAMED,
    NUMBERS,
    SCALED,
    STRINGS,
    WORDS,
    _core_row,
    agree,
    core_csv,
    core_json,
    core_text,
    mutated,
    outcome,
)
from twins import csv, json_lines

pytestmark = pytest.mark.core


TEXT = {"words": (1, 2), "chars": None, "weighting": "log-tf", "normalize": True}
LABELS = st.sampled_from(["before", "typed", "numbers", "words"])


# ---------------------------------------------------------------- CSV


def quoted(value, delimiter):
    if any(c in value for c in (delimiter, '"', "\n", "\r")):
        return '"' + value.replace('"', '""') + '"'
    return value


MEANT = st.sampled_from(
    ["TRUE", "false", " True", "NA ", "2020-01-31 00:00:00.000", "2020-01-31T12:30:00.50Z"]
) | st.from_regex(r"([0-9]{4}-01-31[ T]?)?0[0-2]:00:0[0-9](\.[0-9]*)?([Z+-][0-9:]{0,5})?", fullmatch=True)
CELLS = (
    NUMBERS
    | WORDS
    | st.sampled_from(["", "NA", "nan", "Null", " 7 ", "1e39", "red", "a,b", 'say "x"', "two\nlines", "-"])
    | MEANT
)


@st.composite
def csv_files(draw):
    delimiter = draw(st.sampled_from([",", "\t", ";"]))
    width = draw(st.integers(1, 7))
    rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=4))
    text = "\n".join(delimiter.join(quoted(cell, delimiter) for cell in row) for row in rows)
    return text.encode(), [*COLUMNS, (b"w", "weight")][:width], delimiter.encode()


@given(csv_files(), st.data(), HASHED, SCALED, NAMED, MISSING, LABELS, st.booleans())
def test_csv_and_its_twin_agree(file, data, options, scaled, named, missing, labels, quotes):
    text, columns, delimiter = file
    text = mutated(data.draw, text, b'0a,;\t"""\n\r\0.\xff ')
    how = {**options, **scaled, **named, **missing, "labels": labels, "quotes": quotes}
    agree(core_csv, csv.parse, text, columns, delimiter=delimiter, text_options=TEXT, **how)


@given(st.text('ab1,"\n\r ', max_size=60).map(str.encode), st.integers(1, 6), st.booleans())
def test_csv_and_its_twin_agree_on_any_quotes(text, width, quotes):
    agree(core_csv, csv.parse, text, COLUMNS[:width], text_options=TEXT, quotes=quotes)
    *_, (begin, _) = csv.records(text + b"x", quotes=quotes)  # the last record, which x goes on with or begins
    assert _core.csv_whole(text, ",", quotes) == begin


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
    ],
)
def test_broken_csv(line, message):
    text = b'1,2,3,4,"five\nlines",6\n\n' + line.encode()
    assert agree(core_csv, csv.parse, text, COLUMNS).startswith("<bytes>:4:" + message)


def test_texts_that_are_read_as_a_table_because_of_their_name(tmp_path):
    (tmp_path / "sms.tsv").write_text('ham\tGo on\nspam\tWin "a" prize\n')
    with pytest.raises(
        ValueError, match=r"a quote within a value.* if each line is a label, a tab and a text, give --text"
    ):
        streams.load(tmp_path / "sms.tsv")
    (tmp_path / "table.tsv").write_text('label\tword\n1\tWin "a" prize\n')
    with pytest.raises(ValueError, match="a quote within a value") as caught:
        streams.load(tmp_path / "table.tsv")
    assert "--text" not in str(caught.value)


def test_a_table_that_is_read_as_texts(tmp_path):
    (tmp_path / "sms.CSV").write_text("kind,message\nham,Go on\n")
    with pytest.raises(ValueError, match="give --label and --text-column instead of --text"):
        streams.load(tmp_path / "sms.CSV", format="text")


def test_broken_quotes_in_a_table_with_another_delimiter():
    for line in (b'a|1|"q|w"\n', b'"a"|1|q\n'):
        said = agree(core_csv, csv.parse, line, [(b"label|x|t", "any")])
        assert said.endswith("; if '|' separates the columns, give --delimiter '|' (Python: delimiter='|')")


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
    assert _core.csv_delimiter(b'\xef\xbb\xbf"a,b,c";d', True) == ";"
    assert _core.csv_header(b"a,,b,\n", ",")[0] == ["a", "", "b", ""]
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
    | NUMBERS
    | MEANT
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


@given(JSON_FILES, st.data(), HASHED, SCALED, NAMED, MISSING, STRINGS, LABELS)
def test_json_and_its_twin_agree(text, data, options, scaled, named, missing, strings, labels):
    text = mutated(data.draw, text, JUNK)
    ignored = data.draw(st.lists(st.sampled_from([b"a", b"text", b"features", b"a.b", b"a[0]"]), max_size=2))
    how = {**options, **scaled, **named, **missing, **strings, "labels": labels, "ignored": ignored}
    agree(core_json, json_lines.parse, text, text_options=TEXT, **how)


@given(st.text('{}[]:,"\\u0d8truefalsn1.-eE \t\n', max_size=40).map(lambda s: b'{"a":' + s.encode()))
def test_json_and_its_twin_agree_on_any_bytes(text):
    agree(core_json, json_lines.parse, text)


@examples(160)
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
        ("{", "2: expected a key in quotes, found the end of the line; write each object on one line"),
        ('{"a"}', "5: expected ':' after the key, found '}'"),
        ('{"a": }', "7: expected a value, found '}'"),
        ('{"a": 1,}', "9: expected a key in quotes, found '}'"),
        ('{"a": [1 2]}', "10: expected ',' or ']', found '2'"),
        ('{"a": 01}', "8: expected ',' or '}', found '1'"),
        ('{"a": 1.}', "9: expected a digit, found '}'"),
        ('{"a": -}', "8: expected a digit, found '}'"),
        ('{"a": 1e+}', "10: expected a digit, found '}'"),
        ('{"a": NaN}', "7: expected a value, found NaN, which is not JSON; write null if it is missing"),
        ('{"a": -Infinity}', "8: expected a digit, found Infinity, which is not JSON; write null if it is missing"),
        ('{"a": None}', "7: expected a value, found 'N'"),
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
