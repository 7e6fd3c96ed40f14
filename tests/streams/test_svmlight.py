"""Streams: the svmlight parser against its twin and scikit-learn, files of every kind, and bytes at random."""

import gzip
import random
import struct
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from perceptive import _core, streams
from perceptive.streams import blocks
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
    label = [float(labels[i]) for i in which]
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


@settings(max_examples=500)
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


FILES = st.builds(lambda lines, ends: ends.join(lines).encode(), st.lists(lines()), st.sampled_from(["\n", "\r\n"]))
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
        ("1 0:1", {}, "3: feature index 0: indices start at 1; pass zero_based=True"),
        ("1 -3:1", {}, "3: feature index -3: indices must not be negative; renumber the features"),
        ("1 2147483648:1", {}, "3: feature index 2147483648: the largest is 2147483647; hash the features into fewer"),
        ("1 2147483647:1", {"zero_based": True}, "3: feature index 2147483647: the largest is 2147483646; hash the"),
        ("1 18446744073709551617:1", {}, "3: feature index 18446744073709551617: the largest is"),
        ("1 " + "9" * 50 + ":1", {}, "3: feature index " + "9" * 40 + "…: the largest is"),
        ("1 5:1 5:2", {}, "7: feature index 5 twice: give each feature once; add up or drop duplicates"),
        ("1 5:1 3:2", {}, "7: feature index 3 after 5: indices must rise; sort the entries of each line"),
        ("1 9:1", {"n_features": 8}, "3: feature index 9: beyond n_features=8; raise it, or hash with bits"),
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
        ("1 2:1 qid:3", {}, "7: qid must stand right after the label; move it there"),
        ("1 qid:1 qid:2", {}, "9: qid must stand right after the label; move it there"),
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


def test_lines_are_numbered_across_blocks(tmp_path):
    path = tmp_path / "train.svm"
    path.write_bytes(b"1 1:1\n" * 40 + b"1 1:1 0:2\n")
    with pytest.raises(ValueError, match=r"train\.svm:41:7: feature index 0.* \(byte 246\)"):
        list(streams.open(path).blocks(block=10))


# ---------------------------------------------------------------- files


@pytest.fixture
def made(tmp_path):
    rng = np.random.default_rng(0)
    X = sp.random(200, 30, 0.2, "csr", random_state=0)
    y = rng.integers(-1, 3, 200)
    qid = np.sort(rng.integers(0, 9, 200))
    path = tmp_path / "made.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False, query_id=qid, comment="made")
    return path


def equal(X, Y):
    return X.shape == Y.shape and (X != Y).nnz == 0


def test_as_scikit_learn_reads_it(made):
    expected_X, expected_y, expected_qid = load_svmlight_file(str(made), query_id=True, zero_based=False)
    X, y, qid = streams.load(made, query_id=True)
    assert isinstance(X, sp.csr_array)
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert X.data.tobytes() == expected_X.data.tobytes()
    assert equal(X, expected_X)
    assert y.dtype == np.int64
    assert np.array_equal(y, expected_y)
    assert np.array_equal(qid, expected_qid)
    single, _ = streams.load(made, dtype="float32")
    assert np.array_equal(single.data, X.data.astype(np.float32))
    assert equal(streams.load(made, zero_based=True)[0][:, 1:], X)


@pytest.mark.parametrize("batch", [1, 7, 100, 200, 1000])
@pytest.mark.parametrize("block", [1, 100, 3000, 1 << 20])
def test_batches_make_up_the_file(made, batch, block, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", block)
    X, y = streams.load(made)
    stream = streams.open(made, batch=batch, n_features=30)
    pieces = list(stream)
    assert [len(labels) for _, labels in pieces] == [min(batch, 200 - i) for i in range(0, 200, batch)]
    assert equal(sp.vstack([rows for rows, _ in pieces]), X)
    assert np.array_equal(np.concatenate([labels for _, labels in pieces]), y)
    assert len(list(stream)) == len(pieces)  # it can be read again


def test_width_grows_with_the_batches_whatever_the_blocks(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 2:1\n0.5 7:1\n1 1:1\n")
    assert [(X.shape, y.dtype.kind) for X, y in streams.open(path, batch=1)] == [
        ((1, 2), "i"),
        ((1, 7), "f"),
        ((1, 7), "i"),
    ]


@pytest.mark.parametrize("text", [SMALL, SMALL + b"\n", b"\n\n" + SMALL + b"\r", b"", b"\n", b"1"])
def test_block_boundaries_at_every_position(tmp_path, text):
    path = tmp_path / "small.svm"
    path.write_bytes(text)
    expected = core(text)
    for size in range(1, len(text) + 2):
        read = [bytes(block.text) for block in blocks.blocks(str(path), size)]
        assert b"".join(read) == text
        assert all(block.endswith(b"\n") for block in read[:-1])
        assert [example for block in read for example in core(block)] == expected


def test_several_files_and_globs(tmp_path, made):
    for name in ("part-2.svm", "part-1.svm"):
        (tmp_path / name).write_text(f"{name[5]} {name[5]}:1")  # without a newline at the end
    assert streams.load(tmp_path / "part-*.svm")[1].tolist() == [1, 2]
    assert streams.load([tmp_path / "part-2.svm", str(tmp_path / "part-1.svm")])[1].tolist() == [2, 1]
    odd = tmp_path / "a[1].svm"
    odd.write_text("3")
    assert streams.load(odd)[1].tolist() == [3]
    with pytest.raises(FileNotFoundError, match="no file matches"):
        streams.open(tmp_path / "none-*.svm")
    with pytest.raises(FileNotFoundError):
        streams.load(tmp_path / "none.svm")
    with pytest.raises(ValueError, match="name at least one file"):
        streams.open([])


def test_an_empty_file(tmp_path):
    path = tmp_path / "empty.svm"
    path.write_bytes(b"")
    assert list(streams.open(path)) == []
    X, y, qid = streams.load(path, query_id=True, n_features=3)
    assert (X.shape, len(y), len(qid)) == ((0, 3), 0, 0)


def zstd():
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    return pytest.importorskip(name)


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_compressed_files(tmp_path, made, kind):
    compress = gzip.compress if kind == "gzip" else zstd().compress
    whole = made.read_bytes()
    packed = compress(whole[:5000]) + compress(whole[5000:])  # two members, as `cat a.gz b.gz` makes them
    path = tmp_path / "packed"  # known by its bytes, not by its name
    path.write_bytes(packed)
    assert equal(streams.load(path)[0], streams.load(made)[0])
    path.write_bytes(packed[:-20])
    with pytest.raises(ValueError, match="packed: the compressed file is damaged or cut off"):
        streams.load(path)
    path.write_bytes(packed[:40] + bytes(byte ^ 0x55 for byte in packed[40:80]) + packed[80:])
    with pytest.raises(ValueError, match="packed: the compressed file is damaged or cut off"):
        streams.load(path)


def test_zstd_missing(tmp_path, monkeypatch):
    path = tmp_path / "train.svm.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd")
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"train\.svm\.zst: zstd files need Python 3\.14 or the package backports"):
        streams.load(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(made, pack):
    program = "from perceptive import streams; X, y = streams.load('-'); print(X.shape, X.sum(), y.sum())"
    answer = subprocess.run([sys.executable, "-c", program], input=pack(made.read_bytes()), capture_output=True)
    X, y = streams.load(made)
    assert answer.stdout.decode().strip() == f"{X.shape} {X.sum()} {y.sum()}", answer.stderr.decode()
    answer = subprocess.run([sys.executable, "-c", program], input=b"1 0:1", capture_output=True)
    assert b"<stdin>:1:3: feature index 0" in answer.stderr


def test_neither_scikit_learn_nor_scipy_before_matrices_are_made():
    program = (
        "import sys; from perceptive import streams; streams.open('-'); print({'scipy', 'sklearn'} & {*sys.modules})"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert answer.stdout.strip() == "set()", answer.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, "unknown format 'xml'; choose one of svmlight"),
        ({"batch": 0}, "batch is 0; it must be at least 1"),
        ({"n_features": -1}, "n_features is -1; it must be from 0"),
        ({"dtype": "int32"}, "dtype is int32; choose float32 or float64"),
    ],
)
def test_options(made, options, message):
    with pytest.raises(ValueError, match=message):
        streams.open(made, **options)
    assert equal(streams.load(made, format="libsvm")[0], streams.load(made)[0])


@pytest.mark.skipif("sanitize" in _core.__file__, reason="the sanitizer holds on to freed memory")
def test_memory_stays_bounded(tmp_path):
    path = tmp_path / "large.svm"
    path.write_bytes(b"1 1:0.25 2:1 3:1 4:1 17:1\n" * 1_200_000)  # 30 MB, which would be 90 MB as a matrix
    program = """if True:
        import resource, sys
        from perceptive import streams
        used, seen = [], 0
        for X, y in streams.open(sys.argv[1], batch=1000):
            seen += len(y)
            if seen in (100_000, 1_200_000):
                used.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        print(seen, used[1] - used[0])"""
    answer = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    seen, grown = map(int, answer.stdout.split())
    assert seen == 1_200_000
    assert grown < 8_000  # kB


def test_a_line_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 64)
    path = tmp_path / "long.svm"
    path.write_text("1 " + " ".join(f"{j}:1" for j in range(1, 2000)) + "\n-1\n")
    X, y = streams.load(path)
    assert X.shape == (2, 1999)
    assert X.sum() == 1999
    assert y.tolist() == [1, -1]
