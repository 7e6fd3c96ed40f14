"""Margins in bins: the sums of each, that nothing depends on how parts are put together, and what bounds lose."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from examples import examples
from perceptive.certificates import margins as collecting
from perceptive.certificates.bins import RATIO, Bins, join
from perceptive.certificates.margins import Collection
from perceptive.certificates.theorems import WitnessedRun, _largest_k, theorem_for
from perceptive.data.dataset import Margins, Problem

ROUNDING = 1 + 1e-9
ANY = (
    st.floats(-1e100, 1e100) | st.floats(-3.0, 3.0) | st.sampled_from([0.0, -0.0, 1.0, 1 + 1 / 64, 5e-324, 2.0**-1022])
)


def twin(margins, weights):
    """Edges are 2^e·(1 + m/64); what is not positive, or has no normal number, is one bin."""
    found = {}
    for s, w in zip(margins, weights, strict=True):
        fraction, exponent = math.frexp(s)
        number = (exponent, math.floor((2 * fraction - 1) * 64)) if s >= 2.0**-1022 else (-9999, 0)
        found.setdefault(number, []).append((s, w))
    return [
        (
            min(s for s, _ in one),
            *(math.fsum(s**power for s, _ in one) for power in range(3)),
            *(math.fsum(w * s**power for s, w in one) for power in range(3)),
        )
        for _, one in sorted(found.items())
    ]


def binned(margins, weights=None):
    weights = np.ones(len(margins)) if weights is None else np.array(weights)
    return Bins.of(np.array(margins, float), weights).coarse()


def assert_same(a, b):
    assert a.lows.tolist() == b.lows.tolist()
    assert a.sums[0].tolist() == b.sums[0].tolist()  # how many
    largest = np.abs(a.sums).max(axis=1, keepdims=True, initial=1e-300)
    np.testing.assert_allclose(a.sums / largest, b.sums / largest, rtol=1e-9, atol=1e-12)


@given(st.lists(st.tuples(ANY, st.floats(0, 10)), max_size=60))
def test_bins_equal_their_twin(examples):
    s, w = [one for one, _ in examples], [one for _, one in examples]
    bins, expected = binned(s, w), twin(s, w)
    assert bins.lows.tolist() == [low for low, *_ in expected]
    for row, sums in zip(bins.sums.T, expected, strict=True):
        np.testing.assert_allclose(row, sums[1:], rtol=1e-9, atol=1e-9 * max(map(abs, s)) ** 2)


@given(st.lists(st.lists(ANY, max_size=20), min_size=3, max_size=3))
def test_it_does_not_matter_how_parts_are_put_together(parts):
    a, b, c = (binned(part) for part in parts)
    whole = binned([s for part in parts for s in part])
    for joined in (join([join([a, b]), c]), join([a, join([b, c])]), join([c, a, b]), join([b, join([a]), c])):
        assert_same(joined, whole)


def test_bins_are_few_and_narrow():
    s = np.random.default_rng(0).lognormal(sigma=3, size=100_000)
    bins = Bins.of(s).coarse()
    assert len(bins) < 2_500
    highs = np.maximum.reduceat(np.sort(s), np.searchsorted(np.sort(s), bins.lows))
    assert (highs <= bins.lows * RATIO).all()
    assert bins.lows[0] == s.min()


# ---------------------------------------------------------------- what a bound loses


@st.composite
def games(draw):
    """Any theorem on any margins: far apart or close together, all positive or not, a few or hundreds."""
    rule = draw(st.sampled_from(["perceptron", "margin", "start", "delta", "pa", "pa1", "pa2", "romma"]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(1, 300))
    s = draw(st.sampled_from([1e-3, 1.0, 50.0])) * rng.lognormal(sigma=draw(st.sampled_from([0.01, 0.5, 4.0])), size=n)
    s[rng.random(n) < draw(st.sampled_from([0.0, 0.1, 0.6]))] *= -1
    s[rng.random(n) < draw(st.sampled_from([0.0, 0.0, 0.1]))] = 0.0
    lengths2 = s**2 * rng.uniform(1, 4, size=n) * (rng.random(n) > draw(st.sampled_from([0.0, 0.2])))
    weights = rng.uniform(0.1, 3, size=n) if rule == "delta" and draw(st.booleans()) else None
    radius = math.sqrt(lengths2.max()) * draw(st.sampled_from([1.0, 10.0])) + 1e-3
    name = rule if rule in ("pa", "pa1", "pa2", "romma") else "perceptron"
    problem = Problem(
        rule=name,
        rounds=n,
        mistakes=0,
        updates=0,
        radius2=radius**2,
        witnesses={},
        margin=0.7 if rule == "margin" else 0.0,
        C=draw(st.sampled_from([0.01, 1.0, 100.0])),
        delta=0.5 if rule == "delta" else 0.0,
        start_length=radius * draw(st.sampled_from([0.1, 1.0, 10.0])) if rule == "start" else None,
    )
    more = {"zero_rows": int(np.count_nonzero(lengths2 == 0)), "copies": draw(st.integers(1, 2))}
    if rule == "start":
        more["start_length"] = problem.start_length
        more["start_along"] = problem.start_length * draw(st.sampled_from([-1.0, 0.0, 0.5, 1.0]))
    part = Margins({"u": s}, lengths2, radius**2, weights)
    return problem, part, {"epochs": draw(st.integers(1, 3)), "radius": radius, **more}


def both(game):
    """What the theorem says with each margin by itself, and in bins."""
    problem, part, facts = game
    theorem = theorem_for(problem)
    bins = Bins.of(part.margins["u"], None if theorem.weigh is None else theorem.weigh(part))
    return [theorem.bound(WitnessedRun(problem=problem, margins=one, **facts)) for one in (bins, bins.coarse())]


def shortfall(s, q, power, weights=1.0):
    return (weights * np.maximum(0, 1 - q * s) ** power).sum()


@examples(200)
@given(games())
def test_bounds_of_bins_are_sound_and_lose_no_more_than_is_said(game):
    exact, coarse = both(game)
    assert coarse.theorem == exact.theorem
    assert coarse.bound * ROUNDING >= exact.bound
    if game[0].rule == "romma":
        assert coarse == exact
    elif not game[0].start_length:
        assert coarse.bound <= RATIO**2 * exact.bound * ROUNDING
    else:
        _, part, facts = game
        D = math.sqrt(facts["epochs"] * shortfall(part.margins["u"], exact.q, 2))
        start = facts["radius"], facts["start_length"], facts["start_along"]
        assert coarse.bound <= _largest_k(RATIO * exact.q, RATIO * D, *start) * (1 + 1e-6) + 1e-9


@examples(200)
@given(games())
def test_at_the_gamma_that_is_chosen_bins_lose_nothing(game):
    problem, part, facts = game
    _, coarse = both(game)
    assume(problem.rule != "romma")
    s, q, epochs, R = part.margins["u"], coarse.q, facts["epochs"], facts["radius"]
    times = facts["copies"] if problem.delta else epochs
    weights = part.weights**-2.0 if problem.delta and part.weights is not None else 1.0
    if q:
        D = math.sqrt(times * shortfall(s, q, 2, weights)) / q
        assert coarse.deviation == pytest.approx(D, rel=1e-6, abs=1e-6 / q)
    if problem.rule == "pa1":
        bound = max(R**2, 1 / problem.C) * (q**2 + 2 * problem.C * epochs * shortfall(s, q, 1))
        assert coarse.bound == pytest.approx(bound, rel=1e-6)
    if problem.rule == "perceptron" and not (problem.margin or problem.delta or problem.start_length):
        assert coarse.bound == pytest.approx((R * q + math.sqrt(epochs * shortfall(s, q, 2))) ** 2, rel=1e-6)


@given(games())
def test_the_smallest_margin_is_exact(game):
    s = game[1].margins["u"]
    assert Bins.of(s).coarse().lows[0] == s.min()
    if (s > 0).all() and game[0].rule == "perceptron" and not (game[0].delta or game[0].margin or game[0].start_length):
        _, coarse = both(game)
        assert coarse.bound <= (game[2]["radius"] / s.min()) ** 2 * ROUNDING  # as Novikoff has it


# ---------------------------------------------------------------- one by one, or in bins


def collected(parts, limit):
    before = collecting.EXACT
    collecting.EXACT = limit
    try:
        collection = Collection([None])
        for part in parts:
            collection.add([part])
        [found] = collection.finish()
        return found, dict(found.bins())
    finally:
        collecting.EXACT = before


@given(st.lists(ANY, min_size=1, max_size=40), st.data())
def test_margins_are_in_bins_only_beyond_a_number_however_they_come(s, data):
    s = np.array(s)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(s)), max_size=4)))
    parts = [Margins({"u": part}, part**0, 1.0) for part in np.split(s, cuts)]
    _, kept = collected(parts, limit=len(s))
    assert kept["u"].exact
    assert kept["u"].lows.tolist() == np.sort(s).tolist()
    _, coarse = collected(parts, limit=len(s) - 1)
    assert not coarse["u"].exact
    assert_same(coarse["u"], Bins.of(s).coarse())


@pytest.mark.parametrize("limit", [0, 100])
@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_witness_with_infinite_margins_anywhere_is_no_witness(limit, bad):
    parts = [Margins({"u": np.array([1.0, s]), "v": np.ones(2)}, np.ones(2), 1.0) for s in (2.0, bad, 3.0)]
    _, kept = collected(parts, limit)
    assert kept.keys() == {"v"}
    assert kept["v"].sums[0].sum() == 6


def test_what_is_known_of_all_parts_is_put_together():
    two = Margins({"u": np.ones(2)}, np.array([0.0, 4.0]), 4.0, np.array([1.0, 2.0]), np.array([False, True]))
    three = Margins({"u": np.ones(3)}, np.full(3, 9.0), 9.0, certified=False)
    for limit in (0, 100):
        found, kept = collected([two, three], limit)
        assert (found.zero_rows, found.radius2, found.weighted, found.certified) == (2, 9.0, True, False)
        assert kept["u"].sums[0].sum() == 6
    assert collected([Margins({"u": np.ones(3)}, np.zeros(0), 1.0)], 0)[0].radius2 is None
    assert collected([Margins({"u": np.ones(1)}, np.ones(1), 0.25)], 0)[0].radius2 == 0.25


def test_parts_without_witnesses_are_not_kept():
    collection = Collection([None])
    for _ in range(3):
        collection.add([Margins({}, np.ones(10), 1.0, None)])
    [found] = collection.finish()
    assert found.radius2 == 1.0
    assert not found._parts


def test_weights_count_where_they_differ_from_one():
    for weight, differs in ((1.0, False), (2.0, True)):
        part = Margins({"u": np.ones(2)}, np.ones(2), 1.0, np.full(2, weight))
        assert collected([part], 0)[0].weighted is differs


def test_many_margins_are_laid_in_bins_some_at_a_time(monkeypatch):
    monkeypatch.setattr(collecting, "AT_ONCE", 4)
    s = np.arange(-3.0, 8.0)
    for parts in ([s], [s[:5], s[5:]], [s[:10], s[10:]]):
        _, found = collected([Margins({"u": one}, one**0, 1.0) for one in parts], limit=5)
        assert_same(found["u"], Bins.of(s).coarse())
