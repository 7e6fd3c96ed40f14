"""Formats of files: guessed, saved, and fed with what fuzzers found."""

import gzip
import json
import pathlib
from dataclasses import replace

import pytest

from perceptive import _core, streams
from perceptive.streams import FileFormat, guessing
from perceptive.streams.scaling import Scaling
from test_formats import COLUMNS, core_csv, core_json, core_text, core_vw, outcome
from twins import csv, json_lines, labelled_text, svmlight, vw

pytestmark = pytest.mark.core


# ---------------------------------------------------------------- guessing


@pytest.mark.parametrize(
    ("start", "format"),
    [
        (b"+1 1:0.5 3:2 # c\n-1\n", "svmlight"),
        (b"# head\n1 qid:3 1:1\n", "svmlight"),
        (b"1 | a b:2\n", "vw"),
        (b"-1 2 'tag|ns:3 a\n| b\n", "vw"),
        (b'{"a": 1}\n{"b": 2}\n{"c', "json"),
        (b"__label__x to be\n__label__y not\n", "text"),
        (b"ham\tto be\nham\tor not\n", "text"),
        (b"ham\tto be\nbroken\nham\tor not\n", "text"),
        (b"1 1:1\nbroken\n-1 2:1\n", "svmlight"),
        (b"a,b,label\n1,2,x\n", "csv"),
        (b"a;b\n1;2\n3;4\n", "csv"),
        (b"a\tb\tc\n1\t2\t3\n", "csv"),
        (b"PAR1\x15", "arrow"),
        (b"ARROW1\0\0", "arrow"),
    ],
)
def test_guessed_by_the_first_lines(tmp_path, start, format):
    assert guessing.guess_text(start) == [format]
    path = tmp_path / "unnamed.txt"
    path.write_bytes(gzip.compress(start))
    assert guessing.guess([str(path)]) == format


@pytest.mark.parametrize("start", [b"", b"\n\n"])
def test_empty_files_are_of_the_format_of_the_others(tmp_path, start):
    empty, other = tmp_path / "empty", tmp_path / "other"
    empty.write_bytes(start)
    other.write_bytes(b"a,b\n1,2\n")
    assert guessing.guess([str(empty), str(other)]) == "csv"
    for options in ({}, {"label": "b"}):
        with pytest.raises(ValueError, match="empty: is empty; check where the examples come from"):
            streams.open(empty, **options)


@pytest.mark.parametrize("start", [b"to be or not\n", b"a\tb\nc\td\n", b"\x00\xff\xfe"])
def test_what_cannot_be_guessed(tmp_path, start):
    path = tmp_path / "data.txt"
    path.write_bytes(start)
    with pytest.raises(ValueError, match=r"data\.txt: the format (may be|cannot be told).*; give format"):
        streams.open(path)


def test_guessed_by_name():
    endings = {"svm": "svmlight", "libsvm": "svmlight", "svmlight": "svmlight", "vw": "vw", "csv": "csv", "tsv": "tsv"}
    endings |= {"jsonl": "json", "ndjson": "json", "json": "json", "parquet": "arrow", "arrow": "arrow"}
    for ending, format in endings.items():
        for more in ("", ".gz", ".zst"):
            assert guessing.guess([f"no.such.{ending.upper()}{more}"]) == format
    assert FileFormat(name="tsv").name == "csv"


# ---------------------------------------------------------------- file formats


def test_formats_survive_a_model_file():
    format = FileFormat(
        name="csv",
        label="y",
        ignore=("a",),
        text_column="t",
        text={"words": (1, 2), "idf": True},
        interactions=("a:b",),
        weight="w",
        missing="indicator",
        scale="standard",
        scaling=Scaling(("a", "b"), (0.1, 0.0), (1 / 3, 1e300)),
        apart=True,
    )
    meta = json.loads(json.dumps(format.to_meta()))
    assert FileFormat.from_meta(meta) == replace(format, numerals=True)  # how a model reads the files of today
    assert format.width == 1 << 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": {"stem": True}}, "unknown text option 'stem'; there are words, chars"),
        ({"text": {"words": None}}, "neither text.words nor text.chars"),
        ({"text": {"words": (2, 1)}}, "text.words: 2 to 1 is no range of n-grams"),
        ({"text": {"weighting": "bm25"}}, "weighting must be"),
        ({"name": "csv", "delimiter": '"'}, "delimiter='\"': it must be one ASCII character"),
        ({"name": "csv", "delimiter": "ab"}, "delimiter='ab'"),
        ({"ignore": "abc"}, "ignore='abc': it must be a tuple of strings"),
    ],
)
def test_formats_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        FileFormat(**options)


# ---------------------------------------------------------------- the fuzzers' corpus

CORPUS = pathlib.Path(__file__).parents[2] / "fuzz" / "corpus"


@pytest.mark.parametrize("parser", ["svmlight", "vw", "csv", "json", "text"])
def test_the_corpus_of_the_fuzzers(parser):
    files = sorted((CORPUS / parser).iterdir())
    assert files
    for file in files:
        choice, text = file.read_bytes()[:1], file.read_bytes()[1:]
        for single in (False, True):
            options = {"bits": 3 if choice and choice[0] & 1 else 20, "single": single}
            if parser == "svmlight":
                core = _core.Svmlight(False, None, None).parse(text, single, False)
                assert bool(core[-3]) == isinstance(outcome_of(svmlight.parse, text, single), str)
                _core.Svmlight(True, 50, _core.FeatureOptions(3, 0, True, True, True, [])).parse(text, single, True)
            elif parser == "vw":
                assert outcome(core_vw, text, **options) == outcome(vw.parse, text, **options)
            elif parser == "csv":
                assert outcome(core_csv, text, COLUMNS, **options) == outcome(csv.parse, text, COLUMNS, **options)
            elif parser == "json":
                assert outcome(core_json, text, **options) == outcome(json_lines.parse, text, **options)
            else:
                assert outcome(core_text, text, **options) == outcome(labelled_text.parse, text, **options)


def outcome_of(parse, text, single):
    try:
        return parse(text, single=single)
    except ValueError as error:
        return str(error)
