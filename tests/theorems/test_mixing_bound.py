"""The bound of parameter mixing, on random problems: McDonald, Hall & Mann 2010, Theorem 3, and its noisy form.

`PERCEPTIVE_MIXING_PROBLEMS=10000` is the long run.
"""

import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptive.games import noisy_game, separable_game
from perceptive.reference.binary import Binary
from perceptive.reference.mixing import Played, iterate, mix, mix_by_precision, shares
from perceptive.reference.rules import Rule

PROBLEMS = int(os.environ.get("PERCEPTIVE_MIXING_PROBLEMS", "80"))
HOW = st.sampled_from(["uniform", "mistakes"])
ROUNDING = 1 + 1e-9


def sparse(X):
    return [[(j, float(value)) for j, value in enumerate(row)] for row in X]


def player(rows, y, shards):
    """How shard i (the examples i, i + shards, …) plays from v: the perceptron without a bias."""

    def play(v, i, epoch):
        learner = Binary(len(v), bias=0.0, initial=(v, 0.0))
        for row, label in zip(rows[i::shards], y[i::shards], strict=True):
            learner.learn(row, int(label))
        return Played([w for w, _ in learner.history], learner.survival)

    return play


@settings(max_examples=PROBLEMS)
@given(st.integers(0, 10**6), st.integers(1, 5), st.floats(0.1, 0.9), st.integers(1, 6), HOW)
def test_separable(seed, d, margin, shards, how):
    X, y, u = separable_game(24, d, margin, 1.0, seed)
    mixed = iterate([0.0] * d, shards, player(sparse(X), y, shards), 10_000, how)
    assert mixed.epochs < 10_000  # it converges
    assert mixed.updates <= (1.0 / margin) ** 2 * ROUNDING
    assert all(
        label * sum(a * b for a, b in zip(row, mixed.last, strict=True)) > 0 for row, label in zip(X, y, strict=True)
    )
    assert (
        mixed.updates * margin <= sum(a * b for a, b in zip(mixed.last, u, strict=True)) * ROUNDING
    )  # as u·v is linear


@settings(max_examples=PROBLEMS)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 6), st.integers(1, 5), st.floats(0.05, 1.0), HOW)
def test_noisy(seed, d, shards, epochs, gamma, how):
    X, y, u = noisy_game(24, d, 0.2, 1.0, 0.3, seed)
    rows, mus = sparse(X), []
    play = player(rows, y, shards)

    def watched(v, i, epoch):
        played = play(v, i, epoch)
        mus.append((i, epoch, played.updates))
        return played

    mixed = iterate([0.0] * d, shards, watched, epochs, how)
    short = [max(0.0, gamma - float(label) * float(row @ u)) ** 2 for row, label in zip(X, y, strict=True)]
    deviation2 = 0.0
    for epoch in range(mixed.epochs):
        mu = shares([k for _, n, k in mus if n == epoch], how)
        deviation2 += sum(m * sum(short[i::shards]) for i, m in enumerate(mu))
    radius = max(math.hypot(*row) for row in X)
    assert mixed.updates <= ((radius + math.sqrt(deviation2)) / gamma) ** 2 * ROUNDING


@settings(max_examples=PROBLEMS)
@given(
    st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 5), st.sampled_from(["pa", "pa1", "pa2"]),
    st.floats(0.05, 1.0), st.floats(0.1, 2.0), HOW,
)  # fmt: skip
def test_passive_aggressive(seed, d, shards, rule, gamma, C, how):
    X, y, u = noisy_game(24, d, 0.2, 1.0, 0.3, seed)
    rows, rule = sparse(X), Rule(rule, C=C)
    played = {}

    def watched(v, i, epoch):
        learner = Binary(d, rule, bias=0.0, initial=(v, 0.0))
        for row, label in zip(rows[i::shards], y[i::shards], strict=True):
            learner.learn(row, int(label))
        played[epoch, i] = learner
        return Played([w for w, _ in learner.history], learner.survival)

    mixed = iterate([0.0] * d, shards, watched, 3, how)
    lengths2 = (X**2).sum(axis=1)
    short = np.maximum(0.0, gamma - y * (X @ u)) / gamma  # l*, for the vector u/γ
    mistakes = first = second = scaled = 0.0
    for epoch in range(mixed.epochs):
        mu = shares([played[epoch, i].updates for i in range(shards)], how)
        for i, m in enumerate(mu):
            mistakes += m * played[epoch, i].mistakes
            first, second = first + m * short[i::shards].sum(), second + m * (short[i::shards] ** 2).sum()
            scaled += m * (short[i::shards] ** 2 / lengths2[i::shards]).sum()
    q, R2 = 1 / gamma, lengths2.max()
    bounds = {
        "pa": R2 * (q + 2 * math.sqrt(scaled)) ** 2,
        "pa1": max(R2, 1 / C) * (q * q + 2 * C * first),
        "pa2": (R2 + 1 / (2 * C)) * (q * q + 2 * C * second),
    }
    assert mistakes <= bounds[rule.name] * ROUNDING


def test_by_hand():
    # Two shards of one example each, x₁ = (1, 0) and x₂ = (0, 1), both of class +1.
    rows, y = [[(0, 1.0)], [(1, 1.0)]], [1, 1]
    mixed = iterate([0.0, 0.0], 2, player(rows, y, 2), 10)
    assert mixed.last == [0.5, 0.5]  # each erred once, from v = 0
    assert mixed.updates == 1.0
    assert mixed.epochs == 2
    assert mixed.averaged == [0.25, 0.25]  # of 0, 0 and twice (½, ½)


def test_one_shard_is_the_serial_run():
    X, y, _ = separable_game(30, 3, 0.2, 1.0, 1)
    rows = sparse(X)
    mixed = iterate([0.0] * 3, 1, player(rows, y, 1), 3)
    serial = Binary(3, bias=0.0)
    for _ in range(mixed.epochs):
        for row, label in zip(rows, y, strict=True):
            serial.learn(row, int(label))
    assert mixed.last == serial.v
    assert mixed.updates == serial.updates


def test_shares():
    assert shares([3, 1], "mistakes") == [0.75, 0.25]
    assert shares([3, 1]) == shares([0, 0], "mistakes") == [0.5, 0.5]
    with pytest.raises(ValueError, match="unknown mixing 'best'; choose uniform or mistakes"):
        shares([1], "best")


def test_precision_has_its_say():
    v, sigma = mix_by_precision([[1.0, 5.0], [4.0, 5.0]], [[1.0, 0.5], [0.5, 0.5]], [0.5, 0.5])
    assert v == [3.0, 5.0]  # (1·1 + 2·4)/3
    assert sigma == [1 / 1.5, 0.5]
    assert mix([[1.0], [3.0]], [0.25, 0.75]) == [2.5]
