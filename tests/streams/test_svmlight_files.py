"""Files in svmlight format: blocks, batches, compression."""

import gzip
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from perceptive import _core, streams
from perceptive.streams import blocks
from standard_input import pipe_in
from test_svmlight import SMALL, core

pytestmark = pytest.mark.core


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
@pytest.mark.once
def test_standard_input(made, pack):
    program = "from perceptive import streams; X, y = streams.load('-'); print(X.shape, X.sum(), y.sum())"
    answer = subprocess.run([sys.executable, "-c", program], input=pack(made.read_bytes()), capture_output=True)
    X, y = streams.load(made)
    assert answer.stdout.decode().strip() == f"{X.shape} {X.sum()} {y.sum()}", answer.stderr.decode()


@pytest.mark.once
def test_faults_of_standard_input_are_told(monkeypatch):
    pipe_in(monkeypatch, b"1 0:1")
    with pytest.raises(ValueError, match="<stdin>:1:3: feature index 0"):
        streams.load("-")


def test_neither_scikit_learn_nor_scipy_before_matrices_are_made():
    program = (
        "import sys; from perceptive import streams; streams.open('-'); print({'scipy', 'sklearn'} & {*sys.modules})"
    )
    answer = subprocess.run([sys.executable, "-c", program], input="1 1:1\n", capture_output=True, text=True)
    assert answer.stdout.strip() == "set()", answer.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, "format='xml': it must be one of svmlight"),
        ({"batch": 0}, "batch=0: it must be at least 1"),
        ({"n_features": -1}, "n_features=-1: it must be from 0"),
        ({"dtype": "int32"}, "dtype='int32': it must be float32 or float64"),
    ],
)
def test_options(made, options, message):
    with pytest.raises(ValueError, match=message):
        streams.open(made, **options)
    assert equal(streams.load(made, format="libsvm")[0], streams.load(made)[0])


@pytest.mark.skipif("sanitize" in _core.__file__, reason="the sanitizer holds on to freed memory")
def test_memory_stays_bounded(tmp_path):
    path = tmp_path / "large.svm"
    path.write_bytes(b"1 1:0.25 2:1 3:1 4:1 17:1\n" * 600_000)  # 15 MB, which would be 45 MB as a matrix
    program = """if True:
        import resource, sys
        from perceptive import streams
        used, seen = [], 0
        for X, y in streams.open(sys.argv[1], batch=1000):
            seen += len(y)
            if seen in (100_000, 600_000):
                used.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        print(seen, used[1] - used[0])"""
    answer = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    seen, grown = map(int, answer.stdout.split())
    assert seen == 600_000
    assert grown < 8_000  # kB


def test_a_line_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 64)
    path = tmp_path / "long.svm"
    path.write_text("1 " + " ".join(f"{j}:1" for j in range(1, 2000)) + "\n-1\n")
    X, y = streams.load(path)
    assert X.shape == (2, 1999)
    assert X.sum() == 1999
    assert y.tolist() == [1, -1]
