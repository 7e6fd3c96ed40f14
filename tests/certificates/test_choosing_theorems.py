"""Which theorem a run is certified by, how it is worded, and what it says of games that are worked by hand."""

import math

import numpy as np
import pytest

from perceptive.certificates import theorems as t
from perceptive.certificates.bins import Bins
from perceptive.data.dataset import Margins, Problem

THEOREMS = {
    "perceptron": t._perceptron,
    "pa": t._pa,
    "pa1": t._pa1,
    "pa2": t._pa2,
    "mira": t._pa,
    "romma": t._romma,
    "aggressive-romma": t._romma,
}

SINGLE = t.PERCEPTRON, t.PERCEPTRON_MARGIN, t.PERCEPTRON_START, t.DELTA, t.PA, t.PA1, t.PA2, t.ROMMA


def problem(rule="perceptron", **facts):
    return Problem(rule=rule, rounds=9, mistakes=1, updates=1, radius2=4.0, witnesses={}, **facts)


def game(margins, rule="perceptron", weights=None, epochs=2, radius=2.0, facts=None, **more):
    bins = Bins.of(np.array(margins, float), None if weights is None else np.array(weights, float))
    return t.WitnessedRun(problem=problem(rule, **(facts or {})), epochs=epochs, radius=radius, margins=bins, **more)


@pytest.mark.parametrize("rule", THEOREMS)
def test_every_rule_has_its_theorem(rule):
    assert t.theorem_for(problem(rule)).bound is THEOREMS[rule]
    assert t.theorem_for(problem(rule, certified=False)) is None
    assert (t.theorem_for(problem(rule), weighted=True) is None) == (rule != "perceptron")
    assert (t.theorem_for(problem(rule, start_length=0.0)) is None) == (rule != "perceptron")
    mixed = problem(rule, weighted_updates=1.0)
    assert (t.theorem_for(mixed) is None) == (rule != "perceptron")
    assert t.theorem_for(problem(rule, weighted_updates=1.0, weighted_mistakes=1.0)).bound is THEOREMS[rule]
    assert (t.theorem_for(problem(rule, mean_of_pairs=True)) is None) == (rule in ("pa", "mira"))
    with_delta = None if rule in ("pa1", "pa2") else t.WITH_DELTA
    assert t.theorem_for(problem(rule, delta=0.5)) is with_delta
    assert t.theorem_for(problem(rule, delta=0.5, mean_of_pairs=True)) is with_delta
    assert t.theorem_for(problem(rule, delta=1e-200)) is None  # Δ² is 0
    assert t.theorem_for(problem(rule, delta=1e-120)) is with_delta
    assert t.theorem_for(problem(rule, delta=0.5, margin=0.1)) is None
    assert t.theorem_for(problem(rule, delta=0.5, start_length=1.0)) is None


def test_no_theorem():
    assert t.theorem_for(problem("arow")) is None
    assert t.theorem_for(problem(margin=0.1), weighted=True) is None
    assert t.theorem_for(problem(margin=0.1)).bound is t._perceptron


def test_what_theorems_weigh_examples_by():
    part = Margins({}, np.array([4.0, 0.0, 0.25]), 4.0, np.array([1.0, 2.0, 0.5]))
    assert t.theorem_for(problem("pa")).weigh(part).tolist() == [0.25, 0.0, 4.0]
    assert t.theorem_for(problem(delta=1.0)).weigh(part).tolist() == [1.0, 0.25, 4.0]
    assert t._by_sample_weight(Margins({}, np.zeros(2), 4.0)).tolist() == [1.0, 1.0]
    assert [t.theorem_for(problem(rule)).weigh for rule in ("perceptron", "pa1", "pa2", "romma")] == [None] * 4


def test_formulas_and_sources():
    crammer = "Crammer et al. 2006, Theorem"
    assert {
        t.PERCEPTRON: "k ≤ ((R + D)/γ)² — Block 1962, Novikoff 1962; D > 0: Freund & Schapire 1999",
        t.PERCEPTRON_MARGIN: "k ≤ ((√(R² + 2β/η) + D)/γ)² — the perceptron with margin β, by the same proof",
        t.PERCEPTRON_START: "kγ ≤ √k·D − v₀·u/η + √(‖v₀‖²/η² + kR²) — the perceptron from v₀, by the same proof",
        t.DELTA: "k ≤ R²(1 + D²/Δ²)/γ², R² counting Δ² and D each example once — the Δ-trick, Freund & Schapire 1999",
        t.PA: f"k ≤ (R/γ)²(1 + 2√Σ(d_t/‖δ_t‖)²)² — {crammer}s 2 and 3",
        t.PA1: f"k ≤ max(R², 1/C)(1/γ² + 2C·Σd_t/γ) — {crammer} 4",
        t.PA2: f"k ≤ (R² + 1/2C)(1/γ² + 2C·D²/γ²) — {crammer} 5",
        t.ROMMA: "k ≤ (R/γ)² — Li & Long 2002",
        t.TRIVIAL: "k ≤ T — every round a mistake; v = 0 is no witness for less",
    } == {text: text for text in (*SINGLE, t.TRIVIAL)}


def test_wording():
    assert t._worded(t.PERCEPTRON, problem()) == t.PERCEPTRON
    assert t._worded(t.PERCEPTRON, problem(batch=4)) == (
        "k ≤ ((√b·R + D)/γ)² — batches of b: Zhao & Huang 2013; "
        "Block 1962, Novikoff 1962; D > 0: Freund & Schapire 1999"
    )
    assert t._worded(t.PERCEPTRON_MARGIN, problem(batch=2)).startswith("k ≤ ((√(b·R² + 2β/η) + D)/γ)² — batches")
    assert t._worded(t.PERCEPTRON_START, problem(weighted_updates=1.0)) == (
        "Σμk·γ ≤ √Σμk·D − v₀·u/η + √(‖v₀‖²/η² + Σμk·R²) — parameter mixing, with Σμk and D² = Σμd²: "
        "McDonald, Hall & Mann 2010; the perceptron from v₀, by the same proof"
    )
    assert t._worded(t.PA1, problem("pa1", weighted_updates=1.0)) == (
        "Σμk ≤ max(R², 1/C)(1/γ² + 2C·Σμd_t/γ) — parameter mixing, with Σμ for every Σ: ‖v − u‖² is convex in v, "
        "as in McDonald, Hall & Mann 2010; Crammer et al. 2006, Theorem 4"
    )
    assert "Σμ(d_t/‖δ_t‖)²" in t._worded(t.PA, problem("pa", weighted_updates=1.0))


# Margins [1, 1], R = 2: γ = 1 and D = 0 wherever a step costs more than it saves; [-1, -1]: γ = ∞.


def test_separable_games():
    """(2/1)² for the perceptron, from R² + 2β/η for its margin, b times as much for batches."""
    for facts, bound, formula in (
        ({}, 4.0, t.PERCEPTRON),
        ({"margin": 3.0, "learning_rate": 2.0}, 7.0, t.PERCEPTRON_MARGIN),
        ({"batch": 5}, 20.0, t._worded(t.PERCEPTRON, problem(batch=5))),
    ):
        found = t._perceptron(game([1, 1], epochs=100, facts=facts))
        assert found == (formula, pytest.approx(bound), pytest.approx(1), pytest.approx(0, abs=1e-6))
    pa = t._pa(game([1, 1], "pa", epochs=100, weights=[0.25, 0.25], zero_rows=3))
    assert pa == (t.PA, pytest.approx(4 + 3 * 100), pytest.approx(1), pytest.approx(0, abs=1e-6))
    pa1 = t._pa1(game([1, 1], "pa1", facts={"C": 0.125}))
    assert (pa1.theorem, pa1.bound) == (t.PA1, pytest.approx(8 * (2 * 0.125 * 2 * 2 * (1 - pa1.q) + pa1.q**2)))
    pa2 = t._pa2(game([1, 1], "pa2", facts={"C": 10.0}))
    short = 2 * 2 * (1 - pa2.q) ** 2
    assert (pa2.theorem, pa2.bound) == (t.PA2, pytest.approx(4.05 * (pa2.q**2 + 20 * short)))
    assert pa2.deviation == pytest.approx(math.sqrt(short) / pa2.q)
    assert t._romma(game([0.5, 1], "romma")) == (t.ROMMA, 16.0, 2.0, 0.0)


@pytest.mark.parametrize("margins", [[0.0, 1.0], [-1.0, 1.0]])
def test_romma_knows_nothing_of_noise(margins):
    assert t._romma(game(margins, "romma")) == (t.ROMMA, math.inf, 0.0, math.inf)


def test_hopeless_games():
    """No vector but 0: the perceptron errs in each of 2 × 2 rounds, PA-I and PA-II by their formulas at q = 0."""
    assert t._perceptron(game([-1, -1])) == (t.PERCEPTRON, pytest.approx(4), 0.0, math.inf)
    assert t._pa(game([-1, -1], "pa", weights=[0.25, 0.5])).bound == pytest.approx(4 * 4 * 2 * 0.75)
    assert t._pa1(game([-1, -1], "pa1", facts={"C": 3.0})).bound == pytest.approx(4 * 6 * 4)
    assert t._pa1(game([-1, -1], "pa1", facts={"C": 0.1})).bound == pytest.approx(10 * 0.2 * 4)
    assert t._pa2(game([-1, -1], "pa2", facts={"C": 3.0})).bound == pytest.approx((4 + 1 / 6) * 6 * 4)
    delta = t._delta(game([-1, -1], weights=[1, 4], facts={"delta": 0.5}, copies=3, zero_rows=1))
    assert delta == (t.DELTA, pytest.approx(4 * 3 / 0.25 * 5 + 2), 0.0, math.inf)


def test_noisy_games():
    """At the γ that is chosen, all is as the formulas have it."""
    s, w = np.array([-0.5, 1.0, 2.0]), np.array([1.0, 0.5, 2.0])
    facts = {"delta": 2.0}
    delta = t._delta(game(s, weights=w, facts=facts, copies=3, radius=1.5))
    short2 = (w * np.maximum(0, 1 - delta.q * s) ** 2).sum()
    assert delta.q > 0
    assert delta.bound == pytest.approx(1.5**2 * (delta.q**2 + 3 / 4 * short2))
    assert delta.deviation == pytest.approx(math.sqrt(3 * short2) / delta.q)
    pa = t._pa(game(s, "pa", weights=w / 10, radius=1.5))
    short = np.maximum(0, 1 - pa.q * s) ** 2
    assert pa.q > 0
    assert pa.bound == pytest.approx((1.5 * (pa.q + 2 * math.sqrt(2 * (w / 10 * short).sum()))) ** 2)
    assert pa.deviation == pytest.approx(math.sqrt(2 * short.sum()) / pa.q)
    one = t._perceptron(game(s, epochs=1, radius=0.1))
    assert one.q > 0
    assert one.deviation == pytest.approx(math.sqrt((np.maximum(0, 1 - one.q * s) ** 2).sum()) / one.q)


def test_from_a_start():
    """kγ = √k·D − v₀·u + √(‖v₀‖² + kR²); from v₀ = −u·3 with margins 1 and R = 2: k = 3 + √(9 + 4k)."""
    begun = t._perceptron(game([1, 1], epochs=100, start_length=3.0, start_along=-3.0))
    assert begun == (t.PERCEPTRON_START, pytest.approx(10), pytest.approx(1), pytest.approx(0, abs=1e-6))
    along = t._perceptron(game([1, 1], start_length=3.0, start_along=3.0)).bound
    assert along == pytest.approx(0, abs=1e-6)
    assert t._perceptron(game([1, 1], start_length=3.0, start_along=3.1)).bound == pytest.approx(0, abs=1e-6)
    for q, D, radius, length, v0u in (
        (1.0, 0.5, 2.0, 3.0, -1.0),
        (0.2, 2.0, 1.0, 10.0, 4.0),
        (3.0, 0.0, 1.0, 0.5, 0.5),
    ):
        k = t._largest_k(q, D, radius, length, v0u)
        assert k == pytest.approx(math.sqrt(k) * D + q * (math.sqrt(length**2 + k * radius**2) - v0u), rel=1e-9)
    many = t._largest_k(np.array([1.0, 0.2]), np.array([0.5, 2.0]), 2.0, 3.0, -1.0)
    assert many[0] == pytest.approx(t._largest_k(1.0, 0.5, 2.0, 3.0, -1.0))


def test_defaults_of_a_game():
    plain = game([1.0])
    assert (plain.zero_rows, plain.copies, plain.start_length, plain.start_along) == (0, 1, 0.0, 0.0)
