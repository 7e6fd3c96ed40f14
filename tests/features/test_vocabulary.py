"""Vocabularies and the encoding of dicts, against plain Python dicts."""

import contextlib
import copy
import enum
import itertools
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from perceptive.features.vocabulary import Vocabulary, encode

pytestmark = pytest.mark.core

NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), unique=True, max_size=40)


def hash_name(name):
    """FNV-1a, 64 bits, then MurmurHash3's finaliser: the twin of core/text/vocabulary.hpp."""
    h = 0xCBF29CE484222325
    for byte in name.encode():
        h = (h ^ byte) * 0x100000001B3 % 2**64
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        h = (h ^ (h >> 33)) * factor % 2**64
    return h ^ (h >> 33)


def hash_table(names):
    size = 1
    while size < 2 * len(names):
        size *= 2
    table = [-1] * size
    for i, name in enumerate(names):
        slot = hash_name(name) % size
        while table[slot] >= 0:
            slot = (slot + 1) % size
        table[slot] = i
    return table


# ---------------------------------------------------------------- the vocabulary


@given(NAMES, NAMES, st.text(max_size=8))
def test_it_is_a_dict_by_order_of_arrival(stored, later, other):
    vocabulary = Vocabulary.from_arrays(**Vocabulary(stored).to_arrays())
    expected = {name: i for i, name in enumerate(stored)}
    for name in later:
        assert vocabulary.add(name) == expected.setdefault(name, len(expected))
    assert len(vocabulary) == len(expected)
    assert vocabulary.names() == list(expected)
    assert [vocabulary.name(i) for i in range(len(vocabulary))] == list(expected)
    assert all(vocabulary.index(name) == i for name, i in expected.items())
    assert vocabulary.index(other) == expected.get(other, -1)  # also lone surrogates
    assert (other in vocabulary) == (other in expected)
    assert copy.deepcopy(vocabulary).names() == list(expected)


@given(NAMES, NAMES)
def test_the_arrays_are_as_documented(stored, later):
    vocabulary = Vocabulary.from_arrays(**Vocabulary(stored).to_arrays())
    for name in later:
        vocabulary.add(name)
    arrays = vocabulary.to_arrays()
    names = list(dict.fromkeys(stored + later))
    assert arrays["blob"].tobytes() == "".join(names).encode()
    assert arrays["offsets"].tolist() == np.cumsum([0] + [len(name.encode()) for name in names]).tolist()
    assert arrays["table"].tolist() == hash_table(names)
    assert [str(arrays[key].dtype) for key in ("blob", "offsets", "table")] == ["uint8", "int64", "int32"]


def test_the_hash_never_changes():
    """It is part of the file format."""
    assert hash_name("") == 0xEFD01F60BA992926
    assert hash_name("a") == 0x82A2A958A9BECE5B
    assert Vocabulary(["a", "b", "ä=1", ""]).to_arrays()["table"].tolist() == [1, -1, -1, 0, 2, -1, 3, -1]


def test_views_are_kept_and_need_not_be_writable():
    arrays = Vocabulary(["a", "b"]).to_arrays()
    for array in arrays.values():
        array.flags.writeable = False
    vocabulary = Vocabulary.from_arrays(**arrays)
    assert all(np.shares_memory(vocabulary.to_arrays()[key], arrays[key]) for key in arrays)
    del arrays
    assert vocabulary.add("c") == 2
    assert vocabulary.names() == ["a", "b", "c"]


def test_things_that_are_not_there():
    vocabulary = Vocabulary(["a"])
    assert 3 not in vocabulary
    for index in (-1, 1):
        with pytest.raises(IndexError, match="vocabulary of 1 names"):
            vocabulary.name(index)
    with pytest.raises(ValueError, match="UTF-8"):
        vocabulary.add("\ud800")
    assert vocabulary.names() == ["a"]


def test_many_names_load_without_being_touched():
    n = 100_000
    arrays = Vocabulary(map(str, range(n))).to_arrays()
    vocabulary = Vocabulary.from_arrays(**arrays)
    assert len(vocabulary) == n
    assert len(vocabulary._indices) == 0
    assert [vocabulary.index(name) for name in ("0", "77777", "99999", "100000")] == [0, 77777, 99999, -1]
    assert len(vocabulary._indices) == 3


# ---------------------------------------------------------------- hostile arrays


def hostile(**changes):
    arrays = Vocabulary(["a", "bc"]).to_arrays()  # 4 slots
    return {**arrays, **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offsets": np.array([], np.int64)}, "no offsets"),
        ({"offsets": np.array([0, 1], np.int64)}, "divide the blob"),
        ({"offsets": np.array([0, 1, 4], np.int64)}, "divide the blob"),
        ({"offsets": np.array([1, 1, 3], np.int64)}, "divide the blob"),
        ({"offsets": np.array([-1, 1, 3], np.int64)}, "divide the blob"),
        ({"offsets": np.array([0, 4, 3], np.int64)}, "divide the blob"),
        ({"offsets": np.array([0, -(2**63), 3], np.int64)}, "divide the blob"),
        ({"offsets": np.array([0, 2**63 - 1, 3], np.int64)}, "divide the blob"),
        ({"table": np.array([], np.int32)}, "power of two"),
        ({"table": np.array([0, 1], np.int32)}, "power of two"),
        ({"table": np.array([0, 1, -1, -1, -1], np.int32)}, "power of two"),
        ({"table": np.array([0, 2, -1, -1], np.int32)}, "do not exist"),
        ({"table": np.array([0, 1, -2, -1], np.int32)}, "do not exist"),
        ({"table": np.array([0, 1, 2**31 - 1, -1], np.int32)}, "do not exist"),
        ({"table": np.array([0, 1, 0, 1], np.int32)}, "each name once"),
        ({"table": np.array([-1, 1, -1, -1], np.int32)}, "each name once"),
        ({"blob": np.zeros(3, np.int8)}, "blob must be"),
        ({"blob": np.zeros((1, 3), np.uint8)}, "blob must be"),
        ({"blob": b"abc"}, "blob must be"),
        ({"offsets": np.array([0, 1, 3], np.int32)}, "offsets must be"),
        ({"offsets": np.array([0, 1, 3], ">i8")}, "offsets must be"),
        ({"offsets": np.array([0, 9, 1, 9, 3, 9], np.int64)[::2]}, "offsets must be"),
        ({"offsets": np.zeros(25, np.uint8)[1:].view(np.int64)}, "offsets must be"),
        ({"table": np.array([0, 1, -1, -1], np.int64)}, "table must be"),
    ],
)
def test_arrays_that_make_no_vocabulary(changes, message):
    with pytest.raises(ValueError, match=message):
        Vocabulary.from_arrays(**hostile(**changes))


def test_a_name_that_is_not_utf8_is_found_out_when_asked_for():
    vocabulary = Vocabulary.from_arrays(**hostile(blob=np.array([97, 255, 255], np.uint8)))
    assert vocabulary.name(0) == "a"
    with pytest.raises(ValueError, match="utf-8"):
        vocabulary.name(1)
    with pytest.raises(ValueError, match="utf-8"):
        vocabulary.names()


@given(
    st.lists(st.integers(-3, 9), min_size=1, max_size=6),
    st.sampled_from([1, 2, 4, 8]).flatmap(lambda n: st.lists(st.integers(-2, 6), min_size=n, max_size=n)),
    st.lists(st.sampled_from(["", "a", "b", "ab", "bb"]), max_size=4),
)
@examples(250)
def test_arrays_changed_after_the_check_do_no_harm(offsets, table, wanted):
    """As a mapped file may be: any answer or ValueError will do, only no crash and no endless search."""
    names = [str(i) for i in range(len(offsets) - 1)]
    arrays = Vocabulary(names).to_arrays()
    arrays["table"] = np.full(max(len(table), len(arrays["table"])), -1, np.int32)
    arrays["table"][: len(names)] = range(len(names))
    vocabulary = Vocabulary.from_arrays(**arrays)
    arrays["offsets"][:] = offsets
    arrays["table"][:] = np.resize(table, len(arrays["table"]))
    for name in wanted:
        with contextlib.suppress(ValueError):
            assert -1 <= vocabulary.index(name) < len(names)


# ---------------------------------------------------------------- encoding


class Colour(str, enum.Enum):  # noqa: UP042 - unlike a StrEnum, its str() is not its value
    RED = "red"


VALUES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.integers(-3, 3),
    st.booleans(),
    st.sampled_from("ab"),
)
DICTS = st.lists(st.dictionaries(st.sampled_from(["f", "g", "f=a", "f=b", 3, "3", "é"]), VALUES), max_size=6)


def encode_slowly(dicts, index):
    """Rows of {index: value}; the twin that reads like the specification."""
    rows = []
    for features in dicts:
        row = {}
        for name, value in features.items():
            name, number = (f"{name}={value}", 1.0) if isinstance(value, str) else (str(name), float(value))
            if number != 0 and (i := index(name)) >= 0:
                row[i] = row.get(i, 0.0) + number
        rows.append([(i, value) for i, value in sorted(row.items()) if value != 0])
    return rows


def rows_of(indptr, indices, data):
    assert (indptr.dtype, indices.dtype, data.dtype) == (np.int32, np.int32, np.float64)
    pairs = list(zip(indices.tolist(), data.tolist(), strict=True))
    return [pairs[a:b] for a, b in itertools.pairwise(indptr)]


@given(DICTS, DICTS)
def test_encoding_equals_its_twin(seen, unseen):
    vocabulary = Vocabulary()
    names = {}
    expected = encode_slowly(seen, lambda name: names.setdefault(name, len(names)))
    assert rows_of(*encode(seen, vocabulary, grow=True)) == expected
    assert vocabulary.names() == list(names)
    loaded = Vocabulary.from_arrays(**vocabulary.to_arrays())
    expected = encode_slowly(unseen, lambda name: names.get(name, -1))
    for either in (vocabulary, loaded):
        assert rows_of(*encode(unseen, either, grow=False)) == expected
        assert either.names() == list(names)
    both = encode(unseen, loaded, grow=True), encode(unseen, vocabulary, grow=True)
    assert rows_of(*both[0]) == rows_of(*both[1])
    assert loaded.names() == vocabulary.names()


def test_names_and_values_of_other_types():
    vocabulary = Vocabulary()
    row = {1: 2, (1, 2): 1.5, Colour.RED: np.float32(0.5), "b": np.bool_(True), "i": np.int64(-3), "t": True}
    row |= {"q": Fraction(1, 4), "s": np.str_("x"), "e": Colour.RED, "zero": 0, "off": False, "empty": ""}
    indptr, indices, data = encode([row], vocabulary, grow=True)
    expected = {"1": 2, "(1, 2)": 1.5, "Colour.RED": 0.5, "b": 1, "i": -3, "t": 1}
    expected |= {"q": 0.25, "s=x": 1, "e=Colour.RED": 1, "empty=": 1}
    assert dict(zip(vocabulary.names(), data.tolist(), strict=True)) == expected
    assert rows_of(indptr, indices, data) == [list(enumerate(data.tolist()))]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "row 1: feature 'bad' is not a finite number; leave it out"),
        (-math.inf, "row 1: feature 'bad' is not a finite number; leave it out"),
        (np.float32("nan"), "row 1: feature 'bad' is not a finite number; leave it out"),
        (10**400, "row 1: feature 'bad' is not a finite number; leave it out"),
        (None, "row 1: feature 'bad' is a NoneType; give a number or a string"),
        ([1.0], "row 1: feature 'bad' is a list; give a number or a string"),
        (1j, "row 1: feature 'bad' is a complex; give a number or a string"),
        (b"x", "row 1: feature 'bad' is a bytes; give a number or a string"),
    ],
)
@pytest.mark.parametrize("grow", [True, False])
def test_bad_values_change_nothing(value, message, grow):
    vocabulary = Vocabulary.from_arrays(**Vocabulary(["old"]).to_arrays())
    vocabulary.add("older")
    with pytest.raises(ValueError, match=message):
        encode([{"new": 1.0, "old": 1.0, "older": 2.0}, {"newer": "x", "bad": value}], vocabulary, grow=grow)
    assert vocabulary.names() == ["old", "older"]
    assert [vocabulary.index(name) for name in ("old", "older", "new", "newer=x")] == [0, 1, -1, -1]
    assert vocabulary.add("next") == 2


def test_rows_and_names_that_cannot_be():
    vocabulary = Vocabulary(["a"])
    with pytest.raises(ValueError, match="row 1 is a list; give a dict"):
        encode([{"b": 1.0}, [1.0]], vocabulary, grow=True)
    with pytest.raises(ValueError, match=r"row 1: feature .*UTF-8"):
        encode([{"b": 1.0}, {"\ud800": 1.0}], vocabulary, grow=True)
    with pytest.raises(ValueError, match="not a finite number"):
        encode([{1: 1.7e308, "1": 1.7e308}], vocabulary, grow=True)
    assert vocabulary.names() == ["a"]
    assert encode([{"\ud800": 1.0}], vocabulary, grow=False)[1].size == 0
    assert [array.tolist() for array in encode([], vocabulary, grow=True)] == [[0], [], []]


def test_it_needs_neither_scipy_nor_scikit_learn():
    code = "import sys, perceptive.features.vocabulary; sys.exit(bool({'scipy', 'sklearn'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
