"""Files hold the weights that learning has changed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from perceptive.learners.packed_weights import AT, START, pack, unpack

SHAPES = array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=8)


def at_start(names, shape, dtype):
    return {name: np.full(shape, START[name], dtype) for name in names}


@given(st.data(), SHAPES, st.sampled_from([np.float32, np.float64]), st.sampled_from([["z"], ["z", "sum", "sigma"]]))
def test_there_and_back(data, shape, dtype, names):
    """Every bit comes back, −0 included, and never more is kept than there is."""
    values = st.sampled_from([0.0, 0.0, 0.0, 0.0, -0.0, 1.0, 1.0, 2.5])
    weights = {name: data.draw(arrays(dtype, shape, elements=values)) for name in names}
    packed = pack(weights)
    assert sum(array.nbytes for array in packed.values()) <= sum(array.nbytes for array in weights.values())
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
    assert (packed["z"].tolist(), packed["sum"].tolist()) == ([5.0, 0.0], [0.0, 3.0])


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
