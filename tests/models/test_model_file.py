"""The model file: what goes in comes out bit for bit, and whatever else is in a file is told apart."""

import json
import math
import os
import re
import struct
import zlib

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from examples import examples
from perceptive import model_file, packed_contents
from perceptive.model_file import ModelFileError, read, write

DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]
ARRAYS = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5).filter(lambda name: name != "crc32"),
    st.sampled_from(DTYPES).flatmap(
        lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    ),
    max_size=6,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "ü", ""]), inner),
    max_leaves=10,
)
METAS = st.dictionaries(st.sampled_from(["rate", "classes", "Ω"]), JSON)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A path for tests that hypothesis runs many times."""
    return tmp_path_factory.mktemp("model") / "a.model"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.model"


def small(path):
    write(
        path,
        "toy",
        {"rate": 0.5, "classes": ["ä", "b"]},
        {"w": np.arange(3.0), "flags": np.array([True, False])},
    )
    return path.read_bytes()


def raw(header, data=b"", pad=True):
    """A file with this header and, unless the header has other ideas, no data."""
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8 if pad else 0)
    return struct.pack("<Q", len(text)) + text + data


def forged(change=lambda entries: None, data=b"", meta="{}", extra=()):
    """A file whose checksums are right, so that nothing but the check under test stands in its way."""
    metadata = {"format": "perceptive", "version": "2", "kind": "toy", "meta": meta, **dict(extra)}
    entries = {"__metadata__": metadata, "crc32": {"dtype": "U32", "shape": [2], "data_offsets": [0, 8]}}
    change(entries)
    header = raw(entries)
    return header + struct.pack("<II", zlib.crc32(header), zlib.crc32(bytes(8) + data)) + data


def same(a, b):
    """Equality of plain values where nan is nan, -0.0 is not 0.0 and 1 is not True."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


# ---------------------------------------------------------------- round trips


@given(st.text(st.characters(exclude_categories=["Cs"])), METAS, ARRAYS)
@example("", {"x": [math.nan, math.inf, -math.inf, -0.0, 1e-320, 2**100, True, 1, 1.0]}, {})
@example("k", {}, {"__float__": np.zeros(2), "format": np.zeros((0, 2**40)), "scalar": np.array(3.5)})
def test_round_trip(scratch, kind, meta, arrays):
    write(scratch, kind, meta, arrays)
    for verify, mmap in ((True, False), (False, False), (True, True), (False, True)):
        kind_, meta_, arrays_ = read(scratch, verify=verify, mmap=mmap)
        assert kind_ == kind
        assert same(meta, meta_)
        assert arrays_.keys() == arrays.keys()
        for name, array in arrays.items():
            view = arrays_[name]
            assert isinstance(view, np.memmap) == mmap or view.size == 0  # numpy maps no empty arrays
            assert not view.flags.writeable
            assert view.flags.aligned
            assert (view.dtype, view.shape, view.tobytes()) == (array.dtype, array.shape, array.tobytes())


@given(METAS, ARRAYS)
def test_same_contents_same_bytes_in_any_order(scratch, meta, arrays):
    write(scratch, "toy", meta, arrays)
    first = scratch.read_bytes()
    write(str(scratch), "toy", dict(reversed(meta.items())), dict(reversed(arrays.items())))
    assert scratch.read_bytes() == first


@given(METAS, ARRAYS)
def test_safetensors_opens_it(scratch, meta, arrays):
    write(scratch, "toy", meta, arrays)
    opened = safetensors.numpy.load_file(scratch)
    assert opened.pop("crc32").shape == (2,)
    assert opened.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (opened[name].dtype, opened[name].tobytes()) == (array.dtype, array.tobytes())
    with safetensors.safe_open(scratch, framework="np") as file:
        assert file.metadata().keys() == {"format", "version", "kind", "meta"}


def test_strided_and_big_endian_and_chunked_arrays(path, monkeypatch):
    monkeypatch.setattr(model_file, "CHUNK", 24)
    grid = np.arange(60.0).reshape(3, 4, 5)
    arrays = {
        "transposed": grid.T,
        "strided": grid[:, ::-2, 1:],
        "fortran": np.asfortranarray(grid),
        "broadcast": np.broadcast_to(np.float32(2), (5, 5)),
        "big": grid.astype(">f8"),
        "big_strided": grid.astype(">i4")[::2],
        "bool": grid[0] > 3,
        "plain": grid,
    }
    write(path, "toy", {}, arrays)
    for name, array in read(path)[2].items():
        np.testing.assert_array_equal(array, arrays[name])


def test_a_file_can_be_written_over_the_arrays_it_holds(path):
    small(path)
    kind, meta, arrays = read(path)
    write(path, kind, meta, {**arrays, "more": np.ones(5)})
    assert arrays["w"].tolist() == [0.0, 1.0, 2.0]
    assert read(path)[2]["w"].tolist() == [0.0, 1.0, 2.0]


def test_writing_does_not_copy(path):
    tracemalloc = pytest.importorskip("tracemalloc")
    big = np.zeros(4_000_000)
    tracemalloc.start()
    try:
        write(path, "toy", {}, {"big": big, "strided": big[::2]})
        assert tracemalloc.get_traced_memory()[1] < 12e6  # of 48
        tracemalloc.reset_peak()
        assert read(path, mmap=True)[2]["big"].nbytes == big.nbytes
        assert tracemalloc.get_traced_memory()[1] < 1e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("kind", "meta", "arrays", "message"),
    [
        ("toy", {}, {"w": np.zeros(2, np.complex64)}, "'w' is of type complex64; cast it"),
        ("toy", {}, {"w": np.zeros(2, complex)}, "'w' is of type complex128; cast it"),
        ("toy", {}, {"w": np.array(["a"])}, "cast it"),
        ("toy", {}, {"w": np.array([{}], object)}, "cast it"),
        ("toy", {}, {"w": np.zeros(2, "M8[s]")}, "cast it"),
        ("toy", {}, {"w": np.zeros(2, "f4,i4")}, "cast it"),
        ("toy", {}, {"crc32": np.zeros(2)}, "choose another name"),
        ("toy", {}, {"__metadata__": np.zeros(2)}, "choose another name"),
        ("toy", {}, {3: np.zeros(2)}, "choose another name"),
        ("toy", {}, {"\ud800": np.zeros(2)}, "UTF-8"),
        ("toy", {"x": "\ud800"}, {}, "UTF-8"),
        ("toy", {"x": np.int64(3)}, {}, "meta holds a int64"),
        ("toy", {"x": {1, 2}}, {}, "meta holds a set"),
        ("toy", {"x": {1: 2}}, {}, "rename it"),
        ("toy", {"x": {"__float__": "nan"}}, {}, "rename it"),
        ("toy", {}, {"packed.data": np.zeros(2)}, "choose another name"),
        ("toy", [], {}, "meta a dict"),
        (3, {}, {}, "kind must be a str"),
    ],
)
def test_what_cannot_be_written(path, kind, meta, arrays, message):
    with pytest.raises(ModelFileError, match=message):
        write(path, kind, meta, arrays)
    assert list(path.parent.iterdir()) == []


def test_more_meta_than_the_limit_cannot_be_written(path, monkeypatch):
    assert packed_contents.MOST == 64 << 20
    monkeypatch.setattr(packed_contents, "MOST", 64 << 10)
    monkeypatch.setattr(model_file, "MAX_HEADER", 4 << 10)
    with pytest.raises(ModelFileError, match="the limit is 65,536"):
        write(path, "toy", {"x": "y" * (64 << 10)}, {})
    assert list(path.parent.iterdir()) == []


def test_endless_meta_cannot_be_written(path):
    endless = []
    endless.append(endless)
    with pytest.raises(ModelFileError, match="recursion"):
        write(path, "toy", {"x": endless}, {})


# ---------------------------------------------------------------- damage


def test_every_single_bit_counts(path):
    whole = small(path)
    assert read(path)[0] == "toy"
    with open(path, "r+b", buffering=0) as file:
        for at in range(len(whole)):
            for bit in range(8):
                os.pwrite(file.fileno(), bytes([whole[at] ^ 1 << bit]), at)
                with pytest.raises(ModelFileError, match=re.escape(str(path))):
                    read(path)
            os.pwrite(file.fileno(), whole[at : at + 1], at)
    assert read(path)[0] == "toy"


def test_every_truncation_and_appendage(path):
    whole = small(path)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            read(path, verify=False)
    for more in (b"\0", b" ", whole, bytes(8)):
        path.write_bytes(whole + more)
        with pytest.raises(ModelFileError, match="bytes long where the header says"):
            read(path, verify=False)


@pytest.mark.parametrize("mmap", [False, True])
def test_data_are_verified_unless_told_otherwise(path, mmap):
    write(path, "toy", {}, {"w": np.zeros(9_000_000)})  # 72 MB
    with open(path, "r+b") as file:
        file.seek(-20, os.SEEK_END)
        file.write(b"x")
    with pytest.raises(ModelFileError, match="the data do not match"):
        read(path, mmap=mmap)
    read(path, verify=False, mmap=mmap)


def test_a_file_changed_in_place_leaves_what_was_read(path):
    small(path)
    copied, mapped = read(path)[2]["w"], read(path, mmap=True)[2]["w"]
    small(path)  # replaces it by renaming
    assert copied.tolist() == mapped.tolist() == [0.0, 1.0, 2.0]
    copied = read(path)[2]["w"]
    os.truncate(path, 0)  # whoever looked at a map of it now would get SIGBUS
    assert copied.tolist() == [0.0, 1.0, 2.0]


def test_a_file_that_shrinks_while_it_is_read(path, monkeypatch):
    write(path, "toy", {}, {"w": np.zeros(100_000)})

    def parse(header):
        os.truncate(path, len(header) + 8)
        return real(header)

    real = model_file._parse
    monkeypatch.setattr(model_file, "_parse", parse)
    with pytest.raises(ModelFileError, match="shorter while it was read"):
        read(path)


@given(st.binary(max_size=200))
@examples(200)
def test_random_bytes(scratch, noise):
    for content in (
        noise,
        raw(noise),
        raw(b'{"__metadata__":{"format":"perceptive","version":"2",' + noise, bytes(8)),
    ):
        scratch.write_bytes(content)
        with pytest.raises(ModelFileError):
            read(scratch)


@pytest.fixture(scope="module")
def whole(scratch):
    return small(scratch)


@given(st.data())
@examples(200)
def test_spliced_files(scratch, whole, data):
    """Pieces of a sound file moved, doubled, dropped or overwritten."""
    a, b = sorted(data.draw(st.tuples(st.integers(0, len(whole)), st.integers(0, len(whole)))))
    middle = data.draw(st.sampled_from([b"", whole[a:b] * 2, whole[a:b][::-1]]) | st.binary(max_size=9))
    spliced = whole[:a] + middle + whole[b:]
    scratch.write_bytes(spliced)
    if spliced != whole:
        with pytest.raises(ModelFileError):
            read(scratch)


# ---------------------------------------------------------------- forgeries


def test_a_forgery_as_such_is_read(path):
    path.write_bytes(forged())
    assert read(path) == ("toy", {}, {})


def entry(dtype="F64", shape=(1,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def put(name, **fields):
    return lambda entries: entries.update({name: entry(**fields)})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (forged(extra={"version": "3"}.items()), r"made by a newer perceptive \(file version 3.*: upgrade"),
        (forged(extra={"version": "0"}.items()), "not as perceptive writes it"),
        (forged(extra={"version": "01"}.items()), "not as perceptive writes it"),
        (forged(extra={"version": "-1"}.items()), "not a perceptive model file"),
        (forged(extra={"format": "pt"}.items()), "safetensors file of another program"),
        (forged(extra={"more": "x"}.items()), "not as perceptive writes it"),
        (forged(extra={"kind": 3}.items()), "lacks its kind or meta"),
        (forged(extra={"meta": {}}.items()), "lacks its kind or meta"),
        (forged(meta="[]"), "not a JSON object"),
        (forged(meta='{"a":1,"a":1}'), "a key occurs twice"),
        (forged(meta='{"b":1,"a":1}'), "not as perceptive writes it"),
        (forged(meta='{"a": 1}'), "not as perceptive writes it"),
        (forged(meta='{"a":NaN}'), "NaN is not JSON"),
        (forged(meta='{"a":1e999}'), "not as perceptive writes it"),
        (forged(meta='{"a":{"__float__":"1"}}'), "a __float__ that is not nan, inf or -inf"),
        (forged(meta='{"a":{"__float__":["nan"]}}'), "a __float__ that is not nan, inf or -inf"),
        (forged(meta='{"__float__":"nan"}'), "not a JSON object"),
        (forged(meta='{"a":"\\ud800"}'), "UTF-8"),
        (forged(meta='{"a":' + "9" * 5000 + "}"), "not sound JSON"),
        (forged(meta='{"a":' + "[" * 200_000 + "]" * 200_000 + "}"), "nested too deeply"),
        (forged(lambda entries: entries.pop("crc32")), "no checksum"),
        (forged(put("crc32", dtype="I32", shape=(2,))), "no checksum"),
        (forged(put("crc32", dtype="U32", shape=(1, 2))), "no checksum"),
        (forged(put("w", dtype="BF16")), "'w' is of an unknown type"),
        (forged(put("w", dtype=["F64"])), "'w' is of an unknown type"),
        (forged(lambda entries: entries.update(w=[])), "'w' is of an unknown type"),
        (forged(lambda entries: entries.update(w={})), "'w' is of an unknown type"),
        (forged(put("w", shape=(-1,))), "impossible shape"),
        (forged(put("w", shape=(True,))), "impossible shape"),
        (forged(put("w", shape=(1.0,))), "impossible shape"),
        (forged(put("w", shape=("1",))), "impossible shape"),
        (forged(put("w", shape=(2**62, 2**62))), "impossible shape"),
        (forged(put("w", shape=(2**32, 2**32))), "impossible shape"),
        (forged(put("w", shape=(0, 2**61))), "impossible shape"),
        (forged(put("w", shape=(2**64,))), "impossible shape"),
        (forged(put("w", shape=(1,) * 65)), "impossible shape"),
        (forged(lambda entries: entries.update(w={"dtype": "F64", "shape": 1})), "impossible shape"),
        (forged(put("w", shape=(2**59,), offsets=(0, 2**62))), "not as perceptive writes it"),
        (forged(put("w", offsets=(8, 16)), bytes(8)), "not as perceptive writes it"),  # after a narrower one
        (forged(put("x", dtype="I8", offsets=(9, 10)), bytes(2)), "not as perceptive writes it"),  # a hole
        (forged(put("x", dtype="I8", offsets=(7, 8))), "not as perceptive writes it"),  # an overlap
        (forged(put("x", dtype="I8", offsets=(8, 9)), bytes(2)), "bytes long where"),
        (forged(put("x", dtype="I8", offsets=(8, 9))), "bytes long where"),
        (forged(put("x", dtype="BOOL", offsets=(8, 9)), b"\2"), "neither 0 nor 1"),
        (forged(lambda entries: entries["crc32"].update(more=1)), "not as perceptive writes it"),
        (forged().replace(b'"U32"', b'"U32" '), "not sound JSON"),  # one character is cut off
        (raw(json.dumps({"__metadata__": {"format": "perceptive"}}).encode()), "another program"),
        (raw(b'{"__metadata__":{"format":"perceptive","version":"2","kind":"\xff'), "not sound JSON"),
        (raw(b'{"__metadata__":{"format":"perceptive","version":"2","kind":"k","kind":"k"}}'), "twice"),
        (
            raw(b'{"__metadata__":{"format":"perceptive","version":"2","kind":"k","meta":"{}"},"w":1,"w":1}'),
            "twice",
        ),
        (
            raw(b'{"__metadata__":{"format":"perceptive","version":"2",' + b'"x":{' * 100_000),
            "nested too deeply",
        ),
        (raw(b'{"__metadata__":{"format":"perceptive","version":"999999999",'), "upgrade"),
        (raw(b""), "not a perceptive model file"),
        (struct.pack("<Q", 2**64 - 1) + bytes(100), "not a perceptive model file"),
        (struct.pack("<Q", 2**63) + b"{}" * 50, "safetensors file of another program, or a damaged one"),
        (struct.pack("<Q", 101) + bytes(100), "not a perceptive model file"),
    ],
)
def test_forgeries(path, content, message):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 600


def test_a_header_beyond_the_limit_is_not_even_read(path):
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", model_file.MAX_HEADER + 8))
        file.truncate(model_file.MAX_HEADER + 100)  # sparse
    with pytest.raises(ModelFileError, match="not a perceptive model file"):
        read(path)
