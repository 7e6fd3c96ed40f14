"""The facts about rules and hypotheses, and which v_k a hypothesis takes."""

from collections import Counter

import numpy as np
import pytest

from perceptive.errors import ParameterError
from perceptive.hypotheses import HYPOTHESES, check_name, choose_voter
from perceptive.rules import RULES

CRAMMER = "Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006"
FACTS = {  # paper, theorem, sample weights, Δ-trick, heeds, float64
    "perceptron": (
        "Rosenblatt 1958; bound: Block 1962, Novikoff 1962, Freund & Schapire 1999",
        "perceptron",
        True,
        True,
        ("learning_rate", "margin"),
        False,
    ),
    "pa": (CRAMMER, "pa", False, True, (), False),
    "pa1": (CRAMMER, "pa1", True, True, ("C",), False),
    "pa2": (CRAMMER, "pa2", True, True, ("C",), False),
    "mira": ("Crammer & Singer 2003", "pa", False, True, ("C",), False),
    "romma": ("Li & Long 2002", "romma", False, True, (), True),
    "aggressive-romma": ("Li & Long 2002", "romma", False, True, (), True),
    "arow": ("Crammer, Kulesza & Dredze 2009", "", True, False, ("r",), False),
}


def test_rules():
    assert {name: tuple(rule) for name, rule in RULES.items()} == FACTS


def test_hypotheses():
    assert {name: tuple(hypothesis) for name, hypothesis in HYPOTHESES.items()} == {
        "last": ("the vector that training ended with", False),
        "averaged": ("the mean of all v_k, weighted by the examples they survived", False),
        "best": ("the v_k that survived longest", True),
        "voted": ("the majority of all v_k, weighted by the examples they survived", True),
        "random": ("one v_k, drawn with probability m_k/m", True),
    }


@pytest.mark.parametrize("wrong", ["mean", None, 3, ["last"]])
def test_other_names_are_refused(wrong):
    with pytest.raises(ParameterError) as refused:
        check_name(wrong)
    known = "it must be one of 'last', 'averaged', 'best', 'voted', 'random'"
    assert str(refused.value) == f"hypothesis={wrong!r}: {known}"
    check_name("best")


def test_the_voter_that_is_chosen():
    survived = np.array([1, 4, 0, 4, 2])
    for seed in range(9):
        assert choose_voter("last", survived, seed) == 4
        assert choose_voter("best", survived, seed) == 1  # the first of the longest
    assert [choose_voter(name, np.zeros(3, int), seed=0) for name in ("last", "best", "random")] == [2, 2, 2]


def test_random_draws_every_voter_in_proportion():
    survived = np.array([1, 4, 0, 3])
    drawn = Counter(choose_voter("random", survived, seed) for seed in range(400))
    assert drawn.keys() == {0, 1, 3}
    assert [drawn[k] / 400 for k in (0, 1, 3)] == pytest.approx([1 / 8, 4 / 8, 3 / 8], abs=0.06)
    assert choose_voter("random", np.array([0, 1, 0]), 5) == 1
    assert len({choose_voter("random", survived, 7) for _ in range(3)}) == 1
