"""Certificates, recomputed by hand, and tight where theorems are."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from examples import examples
from perceptive import certify
from perceptive.certificates import margins as collecting
from perceptive.certificates.bins import RATIO
from perceptive.games import hard_game, separable_game
from perceptive.learners import LinearLearner
from perceptive.reference import Binary, Joint, Rule
from perceptive.rules import RULES
from test_theorems import ROUNDING, SEEDS, as_row, fit, joint_game, joint_margins, quick

# ---------------------------------------------------------------- certificates, by hand


def naive_bound(p, q, s, length2, w, epochs, R):
    """Every theorem written out, as a function of q = 1/γ; short = d_t/γ."""
    short = np.maximum(0, 1 - q * s)
    if p.delta:
        return R**2 * (q**2 + ((short / (w * p.delta)) ** 2).sum())  # the id feature is w·Δ
    if p.rule == "perceptron":
        return (math.sqrt(R**2 + 2 * p.margin / p.learning_rate) * q + math.sqrt(epochs * (short**2).sum())) ** 2
    if p.rule in ("pa", "mira"):
        nothing = length2 == 0  # always a mistake, never an update
        seen = ~nothing
        return R**2 * (q + 2 * math.sqrt(epochs * (short[seen] ** 2 / length2[seen]).sum())) ** 2 + epochs * sum(
            nothing
        )
    if p.rule == "pa1":
        return max(R**2, 1 / p.C) * (q**2 + 2 * p.C * epochs * short.sum())
    if p.rule == "pa2":
        return (R**2 + 1 / (2 * p.C)) * (q**2 + 2 * p.C * epochs * (short**2).sum())
    return R**2 * q**2 if short.max() <= 1e-9 else math.inf


def check_by_hand(clf, X, y, weight=None):
    """Recompute each problem's certificate from its witness's γ, R and D, and see that no other γ or u is better."""
    learner, certificate = clf.learner_, clf.certificate_
    p = learner.parameters
    parts = certificate.problems or (certificate,)
    assert len(parts) == len(learner.vectors)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    rows = np.asarray(X, dtype=float)
    if p.normalize:
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(lengths > 0, lengths, 1)
    rows = np.column_stack([rows, np.full(len(y), p.bias)])
    index = np.searchsorted(clf.classes_, y)
    for (pair, problem), c in zip(learner.vectors.items(), parts, strict=True):
        assert c.holds
        assert not c.hypothetical
        assert (c.mistakes, c.updates, c.rounds) == (problem.run.mistakes, problem.run.updates, problem.run.rounds)
        if not c.theorem:
            assert math.isinf(c.bound)
            continue
        if not c.witness:  # all vectors are 0: no more than a mistake in every round
            assert c.bound == c.rounds
            continue
        present = weight > 0
        if len(pair) == 2:
            present &= np.isin(index, pair)
        epochs = c.rounds / present.sum()
        assert epochs == int(epochs)
        length2 = (rows**2).sum(axis=1) + p.delta**2
        length2 = (length2 * weight**2 * (1 if problem.binary else 2))[present]
        assert c.radius**2 <= length2.max() * (1 + 1e-6)

        def margins(name, problem=problem, pair=pair, present=present):
            w, b = (part.astype(float) for part in problem.vector(name))
            u = np.vstack([w[:, : problem.n_classes], b])
            u = u / np.linalg.norm(u)
            scores = rows @ u
            if problem.binary:
                s = scores[:, 0] * np.where(index == (pair[-1] if pair else 1), 1, -1)
            else:
                s = joint_margins(rows, index, u.T)
            return (s * weight)[present], u

        if c.vacuous and math.isinf(c.margin):  # no margin is told
            assert c.bound >= c.rounds * (1 - 1e-6)
            continue
        s, u = margins(c.witness)
        q, clean = 1 / c.margin, c.separable and c.deviation == 0.0  # it may allow twice as many as a γ > R
        if problem.initial is not None and any(part.any() for part in problem.initial):
            check_start(p, problem, c, s, u, epochs)
            continue
        if math.isinf(c.bound):
            assert p.rule in ("romma", "aggressive-romma")
            continue
        assert naive_bound(p, q, s, length2, weight[present], epochs, c.radius) == pytest.approx(c.bound, rel=1e-5)
        if math.isfinite(c.margin):  # D as reported; at γ = ∞ it has no finite value
            times = weight[present] ** -2.0 if p.delta else epochs
            D = math.sqrt((times * np.maximum(0, c.margin - s) ** 2).sum())
            assert c.deviation == pytest.approx(D, rel=1e-4, abs=2e-5 * c.margin)
        smallest = -math.inf  # margin, of the best of the vectors tried
        for name in ("last", "averaged", "best"):
            if np.any(problem.vector(name)[0]) or np.any(problem.vector(name)[1]):
                s, _ = margins(name)
                smallest = max(smallest, s.min())
                for gamma in [*np.geomspace(1e-3, 1e3, 20), *np.abs(s[s != 0])[::2]]:
                    other = naive_bound(p, 1 / gamma, s, length2, weight[present], epochs, c.radius)
                    assert c.bound <= other * (1 + 1e-5) * (2 if clean and gamma > c.radius else 1)
        assert smallest > -1e-6 if c.separable else smallest < 1e-6


def check_start(p, problem, c, s, u, epochs):
    """kγ = √k·D − v₀·u/η + √(‖v₀‖²/η² + k(R² + 2β/η)) at k = the bound."""
    eta, k = p.learning_rate, c.bound
    w0, b0 = problem.initial
    v0 = np.vstack([w0[:, : problem.n_classes], np.reshape(b0, (1, -1))]) / eta
    short = math.sqrt(epochs * (np.maximum(0, 1 - s / c.margin) ** 2).sum())
    growth2 = c.radius**2 + 2 * p.margin / eta
    along = (v0 * u).sum()
    right = math.sqrt(k) * short + (math.sqrt((v0**2).sum() + k * growth2) - along) / c.margin
    assert k == pytest.approx(right, rel=1e-4, abs=1e-4)
    for gamma in np.geomspace(1e-3, c.radius if c.deviation == 0.0 else 1e3, 40):  # with 0.99·k it would not do
        short = math.sqrt(epochs * (np.maximum(0, 1 - s / gamma) ** 2).sum())
        right = math.sqrt(0.99 * k) * short + (math.sqrt((v0**2).sum() + 0.99 * k * growth2) - along) / gamma
        assert 0.99 * k <= right + 1e-4


@st.composite
def runs(draw):
    """Any rule on any game, with one or several options."""
    rule = draw(st.sampled_from(list(RULES)))
    multiclass = draw(st.sampled_from(["binary", "joint", "ovr", "ovo"]))
    n_classes = 2 if multiclass == "binary" else draw(st.integers(3, 4))
    seed = draw(SEEDS)
    X, y, _ = joint_game(
        seed, draw(st.integers(8, 30)), draw(st.integers(1, 4)), n_classes, draw(st.sampled_from([0, 0.3]))
    )
    if draw(st.booleans()):
        X = np.round(2 * X)  # ties, equal rows, zero rows
    p = {
        "rule": rule,
        "multiclass": "joint" if multiclass == "binary" else multiclass,
        "epochs": draw(st.integers(1, 4)),
        "normalize": draw(st.booleans()),
        "bias": draw(st.sampled_from([0.0, 1.0])),
        "dtype": draw(st.sampled_from(["float32", "float64"])),
        "shuffle": draw(st.booleans()),
        "keep": "all",
    }
    weight = start = None
    rng = np.random.default_rng(seed)
    if rule in ("pa1", "pa2"):
        p["C"] = draw(st.sampled_from([0.1, 1.0, 5.0]))
    if rule == "perceptron":
        p["learning_rate"] = draw(st.sampled_from([0.25, 1.0, 3.0]))
        p["margin"] = draw(st.sampled_from([0.0, 0.0, 0.7]))
        if multiclass == "binary":
            p["ties"] = draw(st.sampled_from(["mistake", "positive"]))
    if rule != "arow":
        p["delta"] = draw(st.sampled_from([0.0, 0.0, 0.0, 0.5, 2.0]))
    if draw(st.booleans()):
        values = [0.0, 0.1, 1.0, 2.5] if RULES[rule].takes_weights else [0.0, 1.0]
        weight = rng.choice(values, size=len(y))
        weight[:n_classes] = 1.0
    if multiclass in ("binary", "joint") and draw(st.booleans()):
        start = 2 * rng.normal(size=(1 if multiclass == "binary" else n_classes, X.shape[1]))
    return X, y, weight, start, p


@examples(160)
@given(runs())
def test_every_certificate_holds_and_does_not_lie(run):
    X, y, weight, start, p = run
    clf = fit(X, y, weight, start, **p)
    assert clf.certificate_.holds
    check_by_hand(clf, X, y, weight)


@examples(100)
@given(runs())
def test_certificates_from_bins_hold_and_lose_little(run):
    """As where there are so many examples that their margins lie in bins; here all do."""
    X, y, weight, start, p = run
    clf = fit(X, y, weight, start, **p)
    exact = clf.certificate_
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collecting, "EXACT", 0)
        binned = clf.certificate(X, y, weight)
    assert binned.holds
    assert (binned.theorem, binned.separable, binned.radius) == (exact.theorem, exact.separable, exact.radius)
    assert binned.bound >= exact.bound * (1 - 1e-9)
    if start is None and math.isfinite(exact.bound):
        assert binned.bound <= exact.bound * RATIO**2 * ROUNDING


@pytest.mark.core
@quick
@given(runs())
def test_radius_is_that_of_the_updates(run):
    X, y, weight, _, p = run
    assume(p["multiclass"] == "joint")
    p = {**p, "shuffle": False, "epochs": 2, "dtype": "float64", "ties": "mistake"}
    clf = fit(X, y, weight, **p)
    rule = Rule(p["rule"], p.get("learning_rate", 1.0), p.get("margin", 0.0), p.get("C", 1.0))
    options = {"bias": p["bias"], "normalize": p["normalize"], "delta": p.get("delta", 0.0)}
    n_classes = len(set(y))
    twin = Binary(X.shape[1], rule, **options) if n_classes == 2 else Joint(X.shape[1], n_classes, rule, **options)
    for i in (*range(len(y)), *range(len(y))):
        label = int(y[i]) if n_classes > 2 else 2 * int(y[i]) - 1
        twin.learn(as_row(X[i]), label, weight=1.0 if weight is None else float(weight[i]), identity=i)
    if clf.n_iter_ == 2:
        assert clf.certificate_.updates == twin.updates
    assert clf.certificate_.radius**2 == pytest.approx(twin.radius2)


# Each rule is as tight as can be where A plays best.
@pytest.mark.core
@pytest.mark.parametrize("rule", ["perceptron", "pa", "pa1", "pa2", "mira", "romma", "aggressive-romma"])
@pytest.mark.parametrize("delta", [0.0, 0.5])
def test_certificate_is_tight_on_orthonormal_examples(rule, delta):
    X, y, _ = hard_game(50)
    certificate = fit(X, y, rule=rule, delta=delta, epochs=1).certificate_
    assert certificate.mistakes == 50
    if delta and rule in ("pa1", "pa2"):
        assert not certificate.theorem  # none is claimed
    else:
        assert certificate.bound * ROUNDING >= 50
        assert certificate.bound <= 50 * 1.000001


@pytest.mark.core
def test_certificate_is_tight_on_orthonormal_examples_joint():
    X, y, _ = hard_game(50)
    learner = LinearLearner(bias=0.0, hypothesis="averaged")  # classes not announced: two vectors compete
    learner.learn_many(X, y)
    certificate = certify(learner, X, y)
    assert certificate.updates == 49  # the first example had no rival yet
    assert certificate.bound <= 50 * 1.000001
    assert certificate.radius == pytest.approx(math.sqrt(2))


def test_certificate_is_tight_with_a_margin():
    X, y, _ = hard_game(50)
    certificate = fit(X, y, margin=3.0, epochs=10).certificate_
    assert certificate.updates == 4 * 50  # scores 0, 1, 2, 3 are all too low
    assert certificate.bound <= 1.75 * certificate.updates * ROUNDING


def test_certificate_is_tight_from_a_start():
    """v₀ = −3·Σ y_i e_i must first be undone: four updates for each example, where (R/γ)² alone would allow one."""
    X, y, _ = hard_game(50)
    certificate = fit(X, y, coef_init=-3.0 * y, epochs=10).certificate_
    assert certificate.updates == 4 * 50 < certificate.bound * ROUNDING
    assert certificate.bound <= 7 * 50 * 1.000001  # (‖v₀‖ cos + √(‖v₀‖² + k))/γ
    good = fit(X, y, coef_init=2.0 * y).certificate_
    assert good.updates == 0
    assert good.bound <= 1e-6


@pytest.mark.parametrize(("gamma", "ratio"), [(0.02, 5.0), (0.2, 5.0)])
def test_certificate_is_tight_on_a_fixed_game_in_the_plane(gamma, ratio):
    """Two long examples that pull apart and leave a narrow gap."""
    X, y = np.array([[1.0, gamma], [-1.0, gamma]]), np.array([1, 1])
    X, y = np.vstack([X, -X]), np.append(y, -y)
    certificate = fit(X, y, epochs=100_000, hypothesis="last").certificate_
    assert certificate.separable
    assert certificate.updates <= certificate.bound <= ratio * certificate.updates


def test_certificate_of_the_movies_is_of_the_right_size():
    X = np.array([[1, 1, 1], [1, 3, 2], [1, 2, 4], [1, 3, 4], [1, 2, 3]])
    certificate = fit(X, np.array([-1, 1, 1, 1, -1]), epochs=1000).certificate_
    assert certificate.updates <= certificate.bound <= 5 * certificate.updates


@quick
@given(SEEDS, st.sampled_from(["joint", "ovr", "ovo"]), st.integers(2, 3))
def test_perceptron_bound_is_never_worse_than_trivial(seed, multiclass, n_classes):
    """As γ → ∞ the bound becomes the number of rounds: a search of γ never reports more."""
    X, y, _ = joint_game(seed, 30, 2, n_classes, noise=0.5)
    certificate = fit(X, y, multiclass=multiclass, epochs=3).certificate_
    assert certificate.bound <= certificate.rounds * (1 + 1e-6)


def test_given_witness_is_tried():
    X, y, u = separable_game(300, 4, 0.3, 1.0, 3)
    clf = fit(X, y, epochs=1)
    plain, better = clf.certificate(X, y), clf.certificate(X, y, witness=5 * u)
    assert better.bound <= min(plain.bound, (1 / 0.3) ** 2 * ROUNDING)
    assert better.witness == "given"
    assert better.separable
    assert clf.certificate(X, y, witness=-u).bound == plain.bound  # a bad one does no harm
