"""A certificate's sentence and verdicts, and how those of several problems are added up."""

import math
from dataclasses import replace

import numpy as np
import pytest

from perceptive import LinearClassifier, certify
from perceptive.certificates.certificate import (
    ROUNDING,
    Certificate,
    _add_up,
    _certify_problem,
    _count,
    certify_datasets,
)
from perceptive.certificates.margins import Collected
from perceptive.certificates.theorems import PA1, PERCEPTRON, TRIVIAL, theorem_for
from perceptive.data.dataset import Margins, Problem, Witness
from perceptive.learners import LinearLearner

SEPARABLE = Certificate(
    mistakes=3,
    updates=5,
    rounds=1200,
    bound=1000.0,
    bounds="updates",
    theorem=PERCEPTRON,
    radius=2.0,
    margin=0.0632455,
    deviation=0.0,
    witness="last",
    separable=True,
)
NOISY = replace(SEPARABLE, separable=False, margin=0.5, deviation=1.25, witness="averaged")
END = "so k ≤ ((R + D)/γ)²"
SOURCE = "(Block 1962, Novikoff 1962; D > 0: Freund & Schapire 1999)."


def test_sentences():
    assert str(SEPARABLE) == (
        '5 updates, and the theorem allows 1,000: the vector "last" separates the examples with margin γ = 0.0632, '
        f"and no update was longer than R = 2, {END} with D = 0 {SOURCE}"
    )
    short = (
        '1,000: the vector "averaged", credited with margin γ = 0.5, falls short of it by D = 1.25 in all, '
        f"and no update was longer than R = 2, {END} {SOURCE}"
    )
    assert str(NOISY) == f"5 updates, and the theorem allows {short}"
    assert str(replace(NOISY, separable=True)) == str(NOISY)  # another vector separates
    assert str(replace(NOISY, updates=1)) == f"1 update, and the theorem allows {short}"
    assert str(replace(NOISY, bounds="mistakes")) == f"3 mistakes, and the theorem allows {short}"
    assert str(replace(NOISY, hypothetical=True)) == (
        f"On data other than the run's: 5 updates, and the theorem allows {short}"
    )
    mixed = replace(NOISY, weighted_updates=2.5, weighted_mistakes=1.5, weighted_rounds=1100.0)
    assert str(mixed).startswith("5 updates of all shards, which weigh Σμk = 2.5, and the theorem allows 1,000: ")
    assert str(replace(mixed, bounds="mistakes")).startswith("3 mistakes of all shards, which weigh Σμk = 1.5, and")
    assert str(replace(NOISY, margin=math.inf)) == (
        "5 updates, and the theorem allows 1,000: only the id features distinguish the examples (γ and D grow "
        f"without end, and D/γ tends to a limit), and no update was longer than R = 2, {END} {SOURCE}"
    )
    romma = replace(SEPARABLE, theorem="k ≤ (R/γ)² — Li & Long 2002")
    assert str(romma).endswith("no update was longer than R = 2, so k ≤ (R/γ)² (Li & Long 2002).")


def test_sentences_without_a_reason():
    nothing = replace(SEPARABLE, theorem="", bound=math.inf, weighted_updates=2.5)
    assert str(nothing) == "5 updates in 1,200 rounds; no bound is known for such a run."
    loose = replace(SEPARABLE, bound=1200.0)
    assert loose.vacuous
    why = f'the vector "last" separates the examples with margin γ = {SEPARABLE.margin:.3g}, and R = 2'
    assert str(loose) == f"5 updates; the theorem allows 1,200 ({why}); only 1,200 rounds were played."
    noisy = replace(loose, margin=math.inf, deviation=math.inf)
    assert str(noisy) == "5 updates; the theorem allows 1,200; only 1,200 rounds were played."
    none = replace(noisy, separable=False)
    assert str(none) == "5 updates in 1,200 rounds; no vector tried gives a bound below the number of rounds."
    several = replace(SEPARABLE, problems=(SEPARABLE, SEPARABLE), bound=math.inf)
    assert str(several) == "5 updates over 2 binary problems, and the theorems allow any number."


def test_a_bound_is_rounded_down_but_for_rounding():
    assert [_count(bound) for bound in (0.0, 7.9, 8 - 1e-9, 1234.5, 1e9)] == ["0", "7", "8", "1,234", "1,000,001,000"]
    assert _count(math.inf) == "any number"


@pytest.mark.parametrize("large", [1, 10**6])
def test_holds_and_vacuous_but_for_rounding(large):
    kept = replace(SEPARABLE, updates=5 * large, mistakes=9 * large, rounds=20 * large)
    for bounds, count in (("updates", 5 * large), ("mistakes", 9 * large)):
        assert replace(kept, bounds=bounds, bound=count * (1 - 4e-7)).holds
        assert not replace(kept, bounds=bounds, bound=count * (1 - 4e-6)).holds
        mixed = replace(kept, bounds=bounds, **{f"weighted_{bounds}": 2.0 * large})
        assert replace(mixed, bound=2.0 * large).holds
        assert not replace(mixed, bound=1.9 * large).holds
    assert Certificate.holds.fget(replace(kept, updates=0, bound=0.0))
    assert replace(kept, bound=20 * large * (1 - 4e-7)).vacuous
    assert not replace(kept, bound=20 * large * (1 - 4e-6)).vacuous
    assert replace(kept, bound=10.0 * large, weighted_rounds=10.0 * large).vacuous
    assert not replace(kept, bound=19.0 * large, weighted_rounds=20.0 * large).vacuous


def test_several_problems_are_added_up():
    one = replace(SEPARABLE, weighted_updates=1.5, weighted_mistakes=0.5, weighted_rounds=600.0, deviation=3.0)
    two = replace(
        NOISY,
        mistakes=10,
        updates=20,
        rounds=100,
        bound=50.0,
        radius=7.0,
        margin=0.01,
        deviation=4.0,
        theorem=PA1,
        weighted_updates=2.0,
        weighted_mistakes=1.0,
        weighted_rounds=60.0,
    )
    empty = replace(one, theorem=TRIVIAL)
    total = _add_up([empty, two, one])
    assert (total.mistakes, total.updates, total.rounds) == (16, 30, 2500)
    assert (total.bound, total.radius, total.margin) == (2050.0, 7.0, 0.01)
    assert total.deviation == pytest.approx(math.sqrt(9 + 16 + 9))
    assert (total.weighted_updates, total.weighted_mistakes, total.weighted_rounds) == (5.0, 2.0, 1260.0)
    assert (total.witness, total.separable, total.theorem) == ("each problem has its own", False, PA1)
    assert total.problems == (empty, two, one)
    assert _add_up([one, one]).separable
    assert _add_up([empty, empty]).theorem == TRIVIAL
    plain = _add_up([SEPARABLE, NOISY])
    assert (plain.weighted_updates, plain.weighted_mistakes, plain.weighted_rounds) == (None, None, None)


def problem(rule="perceptron", **facts):
    witnesses = {"last": Witness(None, 1.0, 0.5), "averaged": Witness(None, 1.0, -0.5)}
    return Problem(rule=rule, rounds=12, mistakes=4, updates=5, radius2=4.0, witnesses=witnesses, **facts)


def made(p, margins, epochs=3, copies=1, hypothetical=False, lengths2=(1.0, 1.0), **facts):
    theorem = theorem_for(p)
    found = Collected(None if theorem is None else theorem.weigh)
    found.add(Margins({name: np.array(s) for name, s in margins.items()}, np.array(lengths2), 9.0, **facts))
    return _certify_problem(p, found, epochs, copies, hypothetical)


def test_the_smallest_bound_of_all_witnesses():
    found = made(problem(), {"last": [0.5, 1.0], "averaged": [1.0, 1.0]}, epochs=100)
    assert (found.mistakes, found.updates, found.rounds, found.bounds) == (4, 5, 12, "updates")
    assert (found.witness, found.separable, found.hypothetical) == ("averaged", True, False)
    assert (found.bound, found.margin, found.radius) == (pytest.approx(4), pytest.approx(1), 2.0)
    assert found.deviation == 0.0
    other = made(problem(), {"last": [1e-3, 1e-3], "averaged": [-0.1, 5.0]}, epochs=10)
    assert (other.witness, other.separable) == ("averaged", True)  # it is the other that separates
    assert not made(problem(), {"last": [0.0, 1.0]}).separable
    assert made(problem(), {"last": [0.5, 1.0]}, hypothetical=True).radius == 3.0
    assert made(problem(), {"last": [0.5, 1.0]}, hypothetical=True).hypothetical


def test_sure_of_nothing():
    nothing = made(problem("arow"), {"last": [1.0, 1.0]})
    assert (nothing.bound, nothing.theorem, nothing.witness) == (math.inf, "", "")
    assert (nothing.margin, nothing.deviation, nothing.separable) == (0.0, math.inf, False)
    assert nothing.bounds == "mistakes"
    assert made(problem(), {"last": [1.0, 1.0]}, certified=False) == replace(nothing, bounds="updates")
    weighted = np.array([1.0, 2.0])
    assert made(problem("pa1"), {"last": [1.0, 1.0]}, weights=weighted).theorem == ""
    trivial = made(problem(), {"last": [np.inf, 1.0]})
    assert (trivial.bound, trivial.theorem, trivial.separable) == (12.0, TRIVIAL, False)
    mixed = problem(weighted_updates=2.0, weighted_mistakes=1.5, heaviest=0.5)
    assert made(mixed, {"last": [np.nan, 1.0]}).bound == 6.0
    assert made(mixed, {"last": [1.0, 1.0]}).weighted_rounds == 6.0
    assert (made(mixed, {"last": [1.0, 1.0]}).weighted_updates, made(mixed, {}).weighted_mistakes) == (2.0, 1.5)


def test_epochs_and_start_reach_the_theorem():
    noisy = {"last": [-0.1, 5.0]}
    found = made(problem(), noisy)
    q = 1 / found.margin
    D = math.sqrt(3 * ((1 + 0.1 * q) ** 2 + max(0, 1 - 5 * q) ** 2))  # three epochs; D/γ
    assert q > 0
    assert found.bound == pytest.approx((2 * q + D) ** 2)
    assert found.deviation == pytest.approx(D / q)
    half = made(problem(heaviest=0.5, weighted_updates=1.0), noisy, epochs=6)
    assert half.bound == pytest.approx(made(problem(), noisy).bound)
    begun = made(problem(start_length=3.0, learning_rate=2.0), {"last": [1.0, 1.0]}, epochs=100)
    k, length, along = begun.bound, 1.5, 0.25  # kγ = −v₀·u/η + √(‖v₀‖²/η² + kR²), with γ = 1
    assert begun.margin == pytest.approx(1)
    assert k == pytest.approx(-along + math.sqrt(length**2 + 4 * k), rel=1e-6)
    delta = made(problem(delta=0.5), {"last": [-1.0, -1.0]}, copies=2)
    assert delta.bound == pytest.approx(4 * 2 * 2 / 0.25)  # R²·copies·Σ(d/γ)²/Δ² at γ = ∞
    assert math.isinf(delta.margin)


def test_examples_of_length_zero_are_mistakes_of_their_own():
    game = {"last": [1.0, 0.0]}
    assert made(problem("pa"), game, epochs=5, lengths2=(1.0, 0.0)).bound == pytest.approx(4 + 5)


def test_what_is_nearly_nothing_is_nothing():
    near = made(problem(), {"last": [1.0, 1.0 - 1e-9]}, epochs=100)
    assert near.deviation == 0.0
    assert "separates the examples" in str(replace(near, bound=3.0))


def test_certifying_leaves_the_learner_as_it_was():
    learner = LinearLearner(classes=[0, 1])
    for _ in range(3):
        learner.learn({"a": 1.0}, 1)
    certificate = certify(learner, [{"a": 1.0}], [1])
    assert not certificate.hypothetical  # one example, three epochs
    assert math.isnan(certificate.first_epoch_error)  # nobody said where the first ended
    certify(learner, [{"a": 1.0, "b": 1.0}], [1])
    assert learner.n_features == 1


def test_estimators_are_certified_as_their_learners_are():
    X, y = np.array([[1.0, 0.0], [0.0, 4.0], [-1.0, 0.0], [0.0, -4.0]] * 50), [1, 1, 0, 0] * 50
    clf = LinearClassifier(bias=0.0, epochs=5, shuffle=False).fit(X, y)
    found = certify(clf, X, y)
    assert found == clf.certificate(X, y)
    assert found.holds
    assert found.separable
    assert not found.hypothetical
    assert certify(clf, X[1:], y[1:]).hypothetical
    given = certify(clf, X, y, witness=[[4.0, 1.0]])
    assert given == clf.certificate(X, y, witness=[[4.0, 1.0]])
    assert given.witness == "given"
    assert given.bound < found.bound
    assert given.bound <= 17 * (1 + 1e-9)  # R²‖u‖²/γ² = 16·17/16


def test_data_in_parts_give_the_certificate_of_the_whole():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    learner = LinearLearner(classes=[0, 1])
    for _ in range(2):
        learner.learn_many(X, y)
    parts = (learner.dataset(X[i : i + 25], y[i : i + 25], grow=False) for i in range(0, 60, 25))
    whole = certify(learner, X, y)
    assert certify_datasets(learner, parts) == whole
    assert not whole.hypothetical
    assert not whole.separable
    assert certify_datasets(learner, [learner.dataset(X[:25], y[:25], grow=False)]).hypothetical
    given = certify_datasets(learner, [learner.dataset(X, y, grow=False)], witness=[[1.0, 0.0, 0.0]])
    assert given == certify(learner, X, y, witness=[[1.0, 0.0, 0.0]])


def test_a_bound_of_all_rounds_says_nothing():
    assert replace(SEPARABLE, bound=1200 * (1 - ROUNDING)).vacuous
    assert not replace(SEPARABLE, bound=1199.0).vacuous
    assert "problems" not in repr(SEPARABLE)
