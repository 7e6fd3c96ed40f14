"""The perceptron in fifteen lines, against the general twin and the core."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptive.learners import LinearLearner
from perceptive.reference import Binary, perceptron

pytestmark = pytest.mark.core

NUMBERS = st.integers(-4, 4).map(float)


@st.composite
def streams(draw):
    d = draw(st.integers(1, 5))
    rows = st.lists(NUMBERS, min_size=d, max_size=d)
    examples = draw(st.lists(st.tuples(rows, st.sampled_from([-1, 1])), min_size=1, max_size=30))
    return examples, draw(rows)


@given(streams())
def test_the_general_twin_plays_the_same_game(game):
    examples, start = game
    v, k = perceptron(examples, start)
    twin = Binary(len(start), bias=0.0, initial=(start, 0.0))
    for x, y in examples:
        twin.learn(list(enumerate(x)), y)
    assert twin.v == v
    assert twin.mistakes == k


@given(streams())
def test_the_core_plays_the_same_game(game):
    examples, start = game
    v, k = perceptron(examples, [0.0] * len(start))
    learner = LinearLearner(classes=[-1, 1], bias=0.0, dtype="float64")
    for x, y in examples:
        learner.learn(x, y)
    assert learner.mistakes == k
    assert learner.score([1.0] * len(start)) == sum(v)


def test_a_score_of_zero_is_a_mistake():
    assert perceptron([((1, 0), 1), ((0, 1), -1)], (0, 0)) == ([1, -1], 2)


def test_every_example_has_as_many_numbers_as_the_guess():
    with pytest.raises(ValueError, match="zip"):
        perceptron([((1, 0), 1)], (0,))
