"""Files of every format as streams: guessed, packed, several, cut anywhere, in threads; texts, tables, dicts."""

import gzip
import io
import json
import sys

import numpy as np
import pytest

from perceptive import LinearClassifier, _core, streams
from perceptive.errors import ParameterError
from perceptive.features.text import TextFeatures
from perceptive.streams import blocks, parsing
from standard_input import pipe_in

pytestmark = pytest.mark.core

FILES = {
    "vw": (b"1 2 | height:1.5 tall |f tall\n-1 | height:1\n0 0.5 't|f small\n", {}),
    "text": (b"spam\tBuy now, buy!\n__label__ham see you\nspam\tnow\n", {}),
    "csv": (b'label,size,"colour",note\n1,2.5,red,"a, b"\n0,,blue,"two\nlines"\n1,1e3,red,x\n', {}),
    "json": (b'{"label": "a", "size": 2.5}\n\n{"label": "b", "colour": ["red", "blue"], "weight": 2}\n', {}),
}
BROKEN = {"vw": b"x | a\n", "text": b"no label\n", "csv": b"1,2\n", "json": b'{"a": 1\n'}


def load(path, **options):
    X, y = streams.load(path, **options)
    return X.toarray().tolist() if X.shape[1] < 5000 else X, y.tolist()


@pytest.fixture
def made(tmp_path):
    def make(format, text=None, name="data"):
        path = tmp_path / name
        path.write_bytes(FILES[format][0] if text is None else text)
        return path

    return make


@pytest.mark.parametrize("format", FILES)
def test_files_are_what_their_parsers_read(made, format):
    path = made(format)
    X, y = load(path, format=format, bits=6)
    assert (len(X), len(X[0])) == (len(y), 64)
    assert load(made(format, gzip.compress(path.read_bytes()), "data.gz"), format=format, bits=6) == (X, y)
    assert load([path, path], format=format, bits=6) == (X + X, y + y)
    for block in (*range(1, 20), *range(21, 60, 4)):
        for threads in (1, 4):
            stream = streams.open(path, format=format, bits=6, threads=threads)
            parts = list(stream.blocks(block=block))
            assert np.concatenate([part.X(64).toarray() for part in parts]).tolist() == X
            assert [label for part in parts for label in part.y().tolist()] == y
            assert stream.log.lines == path.read_bytes().count(b"\n") - (1 if format == "csv" else 0)
    assert load(path, format=format)[0].shape[1] == 1 << 20


@pytest.mark.parametrize("format", FILES)
def test_broken_lines_are_named_or_skipped(made, format):
    text = FILES[format][0] + BROKEN[format] + FILES[format][0].split(b"\n", 1)[1] * (format == "csv")
    path = made(format, text)
    line = FILES[format][0].count(b"\n") + 1
    for block in (None, 16):
        with pytest.raises(ValueError, match=rf"data:{line}:\d+: .* \(byte \d+\)"):
            list(streams.open(path, format=format).blocks(block=block))
        for threads in (1, 3):
            stream = streams.open(path, format=format, on_error="skip", threads=threads)
            found = sum(len(part) for part in stream.blocks(block=block))
            assert found == (6 if format == "csv" else len(load(made(format, name="sound"), format=format)[1]))
            assert stream.log.skipped == 1
            assert stream.log.complaints[0].startswith(f"{path}:{line}:")


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.once
def test_standard_input(made, format, pack, monkeypatch):
    pipe_in(monkeypatch, pack(FILES[format][0].replace(b"__label__ham ", b"ham\t")))
    assert load("-", bits=8) == load(made(format), format=format, bits=8)


def test_weights_come_along(made):
    [vw_part] = streams.open(made("vw"), format="vw").blocks()
    assert vw_part.weight.tolist() == [2.0, 1.0, 0.5]
    [json_part] = streams.open(made("json"), format="json").blocks()
    assert json_part.weight.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("format", "names"),
    [
        ("vw", {"height", "tall", "f^tall", "f^small"}),
        ("text", {"buy", "now", "see", "you"}),
        ("csv", {"size", "colour=red", "colour=blue", "note=a, b", "note=two\nlines", "note=x"}),
        ("json", {"size", "colour=red", "colour=blue"}),
    ],
)
def test_names_are_remembered(made, format, names):
    stream = streams.open(made(format), format=format, remember_names=True)
    for _ in stream:
        pass
    index = stream.log.names
    assert {name for bucket in index.buckets(1) for name in index.names(bucket)} == names
    kernel = _core.HashKernel(20, 0, True)
    for bucket in index.buckets(1):
        assert kernel.hash(index.names(bucket), False)[0].tolist() == [bucket] * len(index.names(bucket))


@pytest.mark.parametrize(
    ("format", "pair", "name"),
    [("vw", ":f", "f^tall*height"), ("csv", "size:colour", "colour=red*size"), ("json", "size:colour", None)],
)
def test_interactions(made, format, pair, name):
    stream = streams.open(made(format), format=format, interactions=(pair,), remember_names=True)
    [(X, _)] = stream
    index = stream.log.names
    products = {n for b in index.buckets(1) for n in index.names(b) if "*" in n}
    assert (name in products) if name else not products
    if format == "csv":
        assert products == {"colour=red*size"}
        bucket = _core.HashKernel(20, 0, True).hash([name], False)[0][0]
        assert abs(X[0, bucket]) == 2.5


# ---------------------------------------------------------------- texts


def test_texts_are_those_of_the_text_features(made):
    path = made("text", "a\tTo be, or not\nb\tto be: 東京\na\tbe\n".encode())
    texts = ["To be, or not", "to be: 東京", "be"]
    for options in ({}, {"words": (1, 2), "weighting": "log-tf"}, {"words": None, "chars": (2, 4), "normalize": False}):
        indptr, indices, data = TextFeatures(bits=12, seed=3, **options).encode(texts)
        X, y = streams.load(path, format="text", bits=12, hash_seed=3, text=options)
        assert (X.indptr.tolist(), X.indices.tolist()) == (indptr.tolist(), indices.tolist())
        assert X.data.tolist() == data.tolist()
        assert y.tolist() == ["a", "b", "a"]
    alone = made("text", "\n".join(texts).encode(), "alone")
    assert (streams.load(alone, format="text", labelled=False, bits=12, hash_seed=3, text=options)[0] != X).nnz == 0


def test_idf_takes_a_pass_of_its_own(tmp_path):
    texts = ["to be", "be", "or not"]
    known = TextFeatures(bits=10, idf=True)
    known.learn_idf(texts)
    indptr, indices, data = known.encode(texts)
    files = {
        "text": "\n".join("y\t" + text for text in texts),
        "json": "\n".join(json.dumps({"text": text, "label": 1}) for text in texts),
        "csv": "label,body\n" + "\n".join(f'1,"{text}"' for text in texts),
    }
    for format, content in files.items():
        path = tmp_path / format
        path.write_text(content)
        column = "body" if format == "csv" else None
        stream = streams.open(path, format=format, bits=10, text={"idf": True}, text_column=column)
        [(X, _)] = list(stream)
        assert np.allclose(stream.idf, known.idf_, rtol=1e-6)
        assert (X.indptr.tolist(), X.indices.tolist()) == (indptr.tolist(), indices.tolist())
        assert np.allclose(X.data, data, rtol=1e-6)
    path.write_text("label,size,body\n" + "\n".join(f'1,3,"{text}"' for text in texts))
    assert np.array_equal(
        streams.open(path, format="csv", bits=10, text={"idf": True}, text_column="body").idf, stream.idf
    )
    other = streams.open(path, format=stream.format, idf=known.idf_)
    assert other.idf is known.idf_
    assert np.allclose(next(iter(other))[0].data, next(iter(stream))[0].data, rtol=1e-6)
    with pytest.raises(ValueError, match="count them first, with learn_idf"):
        list(parsing.parse([str(path)], stream.format, np.dtype(float)))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_idf_of_a_pipe_is_that_of_its_first_block(monkeypatch, pack):
    monkeypatch.setattr(blocks, "BLOCK", 64)
    lines = [f"y\tword{i % 7} text\n" for i in range(100)]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pack("".join(lines).encode()))))
    stream = streams.open("-", format="text", bits=10, text={"idf": True})
    known = TextFeatures(bits=10, idf=True)
    known.learn_idf(line[2:] for line in lines[:4])  # those that 64 bytes hold
    assert np.array_equal(stream.idf, known.idf_)
    assert sum(len(y) for _, y in stream) == 100


# ---------------------------------------------------------------- tables


def test_columns_of_tables(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y;zip;id;body;size\nspam;8001;1;to be;2\n7;8002;2;;NA\n")
    stream = streams.open(
        path, label="y", categorical=("zip",), ignore=["id"], text_column="body", bits=20, remember_names=True
    )
    [(_, y)] = stream
    assert y.tolist() == ["spam", 7]
    index = stream.log.names
    assert {n for b in index.buckets(1) for n in index.names(b)} == {"zip=8001", "zip=8002", "to", "be", "size"}
    assert streams.load(path)[1].tolist() == [None, None]  # there is no column "label"
    for wrong in ({"ignore": ("x",)}, {"categorical": ("x",)}, {"text_column": "x"}, {"interactions": ("zip:x",)}):
        said = f"{next(iter(wrong))}: there is no column 'x' for it; there are 'y', 'zip', 'id', 'body', 'size'"
        with pytest.raises(ParameterError, match=r"a\.csv:1: " + said):
            list(streams.open(path, **wrong))
    for pair in ("y:zip", "zip:body", "zip:id"):  # the label, a text, what is ignored: no features to multiply
        with pytest.raises(
            ParameterError, match=r"interactions: there is no column '\w+' for it; there are 'zip', 'size'"
        ):
            list(streams.open(path, label="y", text_column="body", ignore=("id",), interactions=(pair,)))
    path.write_text("a;b;a\n")
    with pytest.raises(ValueError, match=r"a\.csv:1:5: there are two columns 'a'"):
        list(streams.open(path))
    tabs = tmp_path / "a.tsv"
    tabs.write_text("label\ta,b\n1\t2,5\n")
    assert streams.open(tabs).format.delimiter == "\t"
    assert streams.load(tabs, categorical=("a,b",))[0].nnz == 1


def test_columns_without_a_name_that_a_spreadsheet_leaves(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("label,size,,\n1,2,red,\n0,3,,9\n")
    stream = streams.open(path)
    [(X, y)] = stream
    assert (X.nnz, y.tolist()) == (2, [1, 0])
    said = f"{path}: 2 columns have no name, and are left out"
    assert stream.log.remarks == {"unnamed": said}
    with pytest.warns(UserWarning, match=said):
        model = LinearClassifier().fit_stream(streams.open(path))
    assert model.predict([{"size": 2}, {"size": 3}]).tolist() == [1, 0]


@pytest.mark.parametrize("text", [b"", b"a,label", b"a,label\n", b"a,label\r\n\r\n"])
def test_tables_without_rows(tmp_path, text):
    path = tmp_path / "empty.csv"
    path.write_bytes(text)
    assert streams.load(path)[0].shape == (0, 1 << 20)


def test_arrow_and_parquet_are_as_csv(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet

    table = pa.table(
        {
            "label": ["a", "b", "a"],
            "size": [1.5, None, float("nan")],
            "count": pa.array([3, 0, -1], pa.int64()),
            "colour": pa.array(["red", "NA", None]).dictionary_encode(),
            "note": ['say "x",', "two\nlines", ""],
            "flag": [True, False, None],
        }
    )
    pyarrow.csv.write_csv(table, tmp_path / "a.csv")
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    pyarrow.feather.write_feather(table, str(tmp_path / "a.arrow"))
    with pa.OSFile(str(tmp_path / "stream"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    expected, y = streams.load(tmp_path / "a.csv")
    assert y.tolist() == ["a", "b", "a"]
    for name in ("a.parquet", "a.arrow", "stream"):
        X, labels = streams.load(tmp_path / name, format="arrow" if name == "stream" else None)
        assert (expected != X).nnz == 0
        assert labels.tolist() == y.tolist()
    X, _ = streams.load(tmp_path / "a.parquet", ignore=("note", "flag"), text_column="colour")
    assert X.nnz == 2 + 1 + 1 + 1
    digits = pa.table({"label": [1, 0], "zip": ["8001", "8002"]})
    pyarrow.parquet.write_table(digits, tmp_path / "zip.parquet")
    X, y = streams.load(tmp_path / "zip.parquet")
    assert (np.abs(X.data).tolist(), y.tolist()) == ([1.0, 1.0], [1, 0])  # strings are never numbers
    nested = pa.table({"label": [1], "many": [[1, 2]]})
    pyarrow.parquet.write_table(nested, tmp_path / "nested.parquet")
    with pytest.raises(ValueError, match=r"column 'many' is of type list.*; leave it out by ignore=\('many',\)"):
        streams.load(tmp_path / "nested.parquet")
    with pytest.raises(ValueError, match="there is no column 'x'"):
        streams.load(tmp_path / "nested.parquet", ignore=("x",))
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no PAR1")
    with pytest.raises(ValueError, match="neither Parquet nor Arrow, or damaged"):
        streams.load(tmp_path / "bad.parquet")


def test_pyarrow_missing(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"need pyarrow; pip install 'perceptive\[arrow\]'"):
        streams.load(tmp_path / "a.parquet")


# ---------------------------------------------------------------- dicts


def test_dicts_are_as_json(tmp_path):
    rows = [
        {"size": np.float32(0.5), "colour": "red", "tags": ["a", "b"], "inner": {"x": np.int64(2)}, "label": "p"},
        {"text": "To be", "new": True, "gone": None, "array": np.array([1.0, 2.0]), "label": "q"},
    ] * 3
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(row, default=lambda x: x.tolist()) for row in rows))
    X, y = streams.load(path, bits=10)
    parts = list(streams.from_dicts(iter(rows), batch=4, bits=10))
    assert [len(labels) for _, labels in parts] == [4, 2]
    assert np.array_equal(np.concatenate([part.toarray() for part, _ in parts]), X.toarray())
    assert np.concatenate([labels for _, labels in parts]).tolist() == y.tolist()
    pairs = [({k: v for k, v in row.items() if k != "label"}, row["label"]) for row in rows]
    [(Z, labels)] = streams.from_dicts(pairs, bits=10)
    assert (Z != X).nnz == 0
    assert labels.tolist() == y.tolist()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": float("inf")}, "row 1: .*not JSON compliant.*; give strings, finite numbers"),
        ({"a": object()}, "row 1: object has no place in a row; give"),
        ([1], "row 1 is a list; give dicts, or pairs"),
        ({"weight": -1}, "row 1: the weight is negative"),
        ({"a": "\ud800"}, "row 1: there is half a surrogate pair"),
    ],
)
def test_broken_dicts(row, message):
    with pytest.raises(ValueError, match=message):
        list(streams.from_dicts([{"a": 1}, row]))
