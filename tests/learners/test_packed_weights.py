"""Files hold the weights that learning has changed."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from perceptive.learners import packed_weights
from perceptive.learners.packed_weights import AT, START, UNIT, pack, unpack

SHAPES = array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=8)


def at_start(names, shape, dtype):
    return {name: np.full(shape, START[name], dtype) for name in names}


@given(st.data(), SHAPES, st.sampled_from([np.float32, np.float64]), st.sampled_from([["z"], ["z", "sum", "sigma"]]))
def test_there_and_back(data, shape, dtype, names):
    """Every bit comes back, −0 included, and never more is kept than there is."""
    values = st.sampled_from([0.0, 0.0, 0.0, 0.0, -0.0, 1.0, 1.0, 2.5, 127.0, 300.0, 0.1, 1e-30])
    weights = {name: data.draw(arrays(dtype, shape, elements=values)) for name in names}
    packed = pack(weights)
    assert not any(np.shares_memory(array, weight) for array in packed.values() for weight in weights.values())
    with patch.object(packed_weights, "PART", data.draw(st.sampled_from([1, 5]))):  # what is looked at at a time
        in_parts = pack(weights)
    assert packed.keys() == in_parts.keys()
    for name, array in packed.items():
        assert (array.dtype, array.tobytes()) == (in_parts[name].dtype, in_parts[name].tobytes())
    units = [name for name in packed if name.startswith(UNIT)]
    assert sum(packed[name].nbytes for name in packed.keys() - set(units)) <= sum(a.nbytes for a in weights.values())
    again = at_start(names, shape, dtype)
    unpack(packed, again)
    for name in names:
        assert again[name].tobytes() == weights[name].tobytes()


def test_few_of_many():
    weights = at_start(["z", "sum"], (1000, 4), np.float32)
    weights["z"][7, 2] = 5.0
    weights["sum"][9, 1] = 3.0
    packed = pack(weights)
    assert packed[AT].tolist() == [30, 37]
    assert packed["z"].dtype == np.int8
    again = at_start(["z", "sum"], (1000, 4), np.float32)
    unpack(packed, again)
    for name in again:
        np.testing.assert_array_equal(again[name], weights[name])


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([127.0, -3.0], np.int8), ([0.25, 4.0], np.int8), ([300.0, 1.0], np.float16), ([0.0, -0.0], np.float16),
     ([0.1, 1.0], np.float32), ([1e9, 1.0], np.float32), ([1e-40, 0.0], np.float32)],
)  # fmt: skip
def test_as_few_bytes_as_lose_no_bit(values, dtype):
    weights = {"z": np.array([values], np.float32)}
    packed = pack(weights)
    assert packed["z"].dtype == dtype
    again = at_start(["z"], (1, 2), np.float32)
    unpack(packed, again)
    assert again["z"].tobytes() == weights["z"].tobytes()


def test_few_of_many_as_floats():
    weights = at_start(["z", "sum"], (1000, 4), np.float32)
    weights["z"][7, 2] = 0.1
    weights["sum"][9, 1] = 0.3
    packed = pack(weights)
    np.testing.assert_array_equal(packed["z"], np.array([0.1, 0.0], np.float32))
    np.testing.assert_array_equal(packed["sum"], np.array([0.0, 0.3], np.float32))


@pytest.mark.parametrize("at", [[1, 1], [2, 1], [16], [[1]], [-1], [1.0]])
def test_hostile_positions_are_refused(at):
    packed = {AT: np.array(at, np.uint32 if np.array(at).min() >= 0 and np.array(at).dtype.kind != "f" else None)}
    packed["z"] = np.ones(packed[AT].shape, np.float32)
    with pytest.raises(ValueError, match="at must hold rising numbers below 16"):
        unpack(packed, at_start(["z"], (4, 4), np.float32))


@pytest.mark.parametrize("values", [np.ones(3, np.float32), np.ones(2), np.array([1, np.nan], np.float32)])
def test_hostile_values_are_refused(values):
    with pytest.raises(ValueError, match="z "):
        unpack({AT: np.array([0, 3], np.uint32), "z": values}, at_start(["z"], (4, 4), np.float32))


@pytest.mark.parametrize("unit", [np.array([np.nan]), np.array([1e308]), np.ones(2), np.ones(1, np.float32), None])
def test_hostile_units_are_refused(unit):
    packed = {"z": np.full((4, 4), 127, np.int8)} | ({} if unit is None else {UNIT + "z": unit})
    with pytest.raises((ValueError, KeyError), match="z"):
        unpack(packed, at_start(["z"], (4, 4), np.float32))
