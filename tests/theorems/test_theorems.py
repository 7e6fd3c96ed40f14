"""The theorems of the notes, watched at every step, and the certificates, recomputed by hand."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from perceptive import LinearClassifier, certify
from perceptive.certificates import margins as collecting
from perceptive.certificates.bins import RATIO
from perceptive.games import hard_game, noisy_game, play, separable_game
from perceptive.learners import LinearLearner
from perceptive.learners.linear import ALL
from perceptive.reference import Binary, Joint, Rule, average, vote_binary, vote_joint
from perceptive.rules import RULES

quick = settings(max_examples=40)
SEEDS = st.integers(0, 10**6)
ROUNDING = 1 + 1e-9


def fit(X, y, sample_weight=None, coef_init=None, **parameters):
    clf = LinearClassifier(**{"bias": 0.0, "shuffle": False, "dtype": "float64", "certify": True, **parameters})
    return clf.fit(X, y, sample_weight, coef_init)


def every_v(clf):
    """v₀, v₁, … of a binary (k × features) or joint (k × classes × features) run without bias."""
    problem = clf.learner_.vectors[ALL]
    vectors = [problem.voter(k)[0] for k in range(problem.run.updates + 1)]
    return np.array([v[:, 0] if problem.binary else v[:, : problem.n_classes].T for v in vectors])


# ---------------------------------------------------------------- Lemmas 1 and 2, Theorem 1


@quick
@given(SEEDS, st.integers(1, 8), st.floats(0.02, 0.9), st.floats(1.0, 10.0))
def test_lemmas_and_theorem_at_every_round(seed, d, margin, radius):
    X, y, u = separable_game(60, d, margin, radius, seed)
    for k, along, length2 in play(X, y, u):
        assert along * ROUNDING >= k * margin  # Lemma 1
        assert length2 <= k * radius**2 * ROUNDING  # Lemma 2
        assert k <= (radius / margin) ** 2  # Theorem 1


@pytest.mark.core
@quick
@given(SEEDS, st.integers(1, 6), st.floats(0.05, 0.9), st.integers(1, 20), st.booleans())
def test_lemmas_and_theorem_for_the_core(seed, d, margin, epochs, shuffle):
    X, y, u = separable_game(40, d, margin, 1.0, seed)
    clf = fit(X, y, epochs=epochs, shuffle=shuffle, keep="all")
    V = every_v(clf)
    k = np.arange(len(V))
    assert (V @ u * ROUNDING >= k * margin).all()
    assert ((V**2).sum(axis=1) <= k * ROUNDING).all()
    assert k[-1] == clf.updates_.sum() <= (1 / margin) ** 2
    if not shuffle and epochs == 1:
        assert [*play(X, y, u)][-1].k == k[-1]


def joint_game(seed, n, d, n_classes, noise=0.0):
    """Rows labelled by a random unit matrix U, the first few and a share of the others with a lie."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(n_classes, d))
    U /= np.linalg.norm(U)
    X = rng.normal(size=(n, d))
    y = np.argmax(X @ U.T, axis=1)
    lies = rng.uniform(size=n) < noise
    y[lies] = rng.integers(n_classes, size=lies.sum())
    y[:n_classes] = np.arange(n_classes)  # every class is there
    return X, y, U


def joint_margins(X, y, U):
    """U·δ against the closest competitor."""
    scores = X @ U.T
    mine = scores[np.arange(len(y)), y].copy()
    scores[np.arange(len(y)), y] = -np.inf
    return mine - scores.max(axis=1)


@pytest.mark.core
@quick
@given(SEEDS, st.integers(2, 5), st.integers(3, 5), st.integers(1, 6))
def test_lemmas_and_theorem_for_joint_multiclass(seed, d, n_classes, epochs):
    X, y, U = joint_game(seed, 60, d, n_classes)
    right = joint_margins(X, y, U) > 0.02
    X, y = X[right], y[right]
    assume(len(set(y)) == n_classes)
    margin, radius2 = joint_margins(X, y, U).min(), 2 * (X**2).sum(axis=1).max()
    clf = fit(X, y, epochs=epochs, keep="all")
    V = every_v(clf)
    k = np.arange(len(V))
    assert ((V * U).sum(axis=(1, 2)) * ROUNDING >= k * margin).all()
    assert ((V**2).sum(axis=(1, 2)) <= k * radius2 * ROUNDING).all()
    assert k[-1] <= radius2 / margin**2
    assert clf.certificate_.radius**2 <= radius2 * ROUNDING


@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_orthonormal_examples_attain_the_bound(n):
    X, y, u = hard_game(n)
    game = [*play(X, y, u)]
    assert game[-1].k == n
    assert (1 / min(y * (X @ u))) ** 2 == pytest.approx(n)  # (R/γ)²
    assert game[-1].along == pytest.approx(n * min(y * (X @ u)))  # Lemma 1, with equality
    assert game[-1].length2 == n  # Lemma 2, with equality


# ---------------------------------------------------------------- noise: D


@quick
@given(SEEDS, st.integers(1, 5), st.floats(0.0, 0.5), st.integers(1, 6), st.floats(0.05, 5.0))
def test_deviation_bound_on_noisy_games(seed, d, noise, epochs, gamma):
    X, y, u = noisy_game(40, d, 0.1, 1.0, noise, seed)
    k = fit(X, y, epochs=epochs, certify=False).updates_.sum()
    for w in (u, -u, np.eye(d)[0]):  # any u, any γ
        D = math.sqrt(epochs * (np.maximum(0, gamma - y * (X @ w)) ** 2).sum())
        assert k <= ((1 + D) / gamma) ** 2 * ROUNDING


def test_counting_deviation_once_per_example_fails_over_epochs():
    """One example with both labels: two mistakes in every pass, for ever. D once would allow two in all."""
    X, y, epochs = np.ones((2, 1)), np.array([1, -1]), 10
    clf = fit(X, y, epochs=epochs)
    k = clf.updates_.sum()
    assert k == 2 * epochs
    gammas = np.geomspace(1e-3, 1e6, 200)
    once = np.array([(np.maximum(0, g - y) ** 2).sum() for g in gammas])
    assert (((1 + np.sqrt(once)) / gammas) ** 2).min() == pytest.approx(2, rel=1e-3)  # far below k
    assert (((1 + np.sqrt(epochs * once)) / gammas) ** 2 >= k).all()
    assert k <= clf.certificate_.bound <= k * (1 + 1e-6)  # ours counts right, and is tight


@quick
@given(SEEDS, st.integers(2, 4), st.integers(3, 4), st.integers(1, 5), st.floats(0.05, 5.0))
def test_deviation_bound_on_noisy_joint_games(seed, d, n_classes, epochs, gamma):
    X, y, U = joint_game(seed, 40, d, n_classes, noise=0.3)
    clf = fit(X, y, epochs=epochs)
    D = math.sqrt(epochs * (np.maximum(0, gamma - joint_margins(X, y, U)) ** 2).sum())
    R = math.sqrt(2 * (X**2).sum(axis=1).max())
    assert clf.updates_.sum() <= ((R + D) / gamma) ** 2 * ROUNDING


@pytest.mark.core
@quick
@given(SEEDS, st.floats(0.3, 3.0), st.floats(0.05, 3.0), st.sampled_from(["perceptron", "pa", "romma"]))
def test_delta_trick_makes_noise_separable(seed, delta, gamma, rule):
    X, y, u = noisy_game(25, 3, 0.1, 1.0, 0.2, seed)
    assume(len(set(y)) == 2)
    clf = fit(X, y, epochs=3000, delta=delta, rule=rule)
    count = clf.updates_.sum() if rule == "perceptron" else clf.mistakes_.sum()
    D2 = (np.maximum(0, gamma - y * (X @ u)) ** 2).sum()  # once per example, however many passes
    assert count <= (1 + delta**2) * (1 + D2 / delta**2) / gamma**2 * ROUNDING
    assert clf.certificate_.holds
    if rule == "perceptron":
        assert clf.converged_
    # It is the perceptron on [X | ΔI], whose id features are dropped.
    if rule == "perceptron":
        wide = fit(np.hstack([X, delta * np.eye(25)]), y, epochs=3000, hypothesis="last")
        assert wide.mistakes_.tolist() == clf.mistakes_.tolist()
        np.testing.assert_allclose(clf.learner_.vectors[ALL].vector("last")[0][:, 0], wide.coef_[0, :3])


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

        s, u = margins(c.witness)
        q = 1 / c.margin
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
                for gamma in [*np.geomspace(1e-3, 1e3, 40), *np.abs(s[s != 0])]:
                    other = naive_bound(p, 1 / gamma, s, length2, weight[present], epochs, c.radius)
                    assert c.bound <= other * (1 + 1e-5)
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
    for gamma in np.geomspace(1e-3, 1e3, 40):  # no other γ allows fewer: with 0.99·k it would not do
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


@settings(max_examples=250)
@given(runs())
def test_every_certificate_holds_and_does_not_lie(run):
    X, y, weight, start, p = run
    clf = fit(X, y, weight, start, **p)
    assert clf.certificate_.holds
    check_by_hand(clf, X, y, weight)


@settings(max_examples=100)
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


def as_row(x):
    return [(j, float(value)) for j, value in enumerate(x)]


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


# ---------------------------------------------------------------- what a certificate says


@quick
@given(SEEDS)
def test_convergence_is_a_proof_of_separability(seed):
    X, y, _ = separable_game(30, 3, 0.05, 1.0, seed)
    assume(len(set(y)) == 2)
    clf = fit(X, y, epochs=5000, bias=1.0)
    assert clf.converged_
    assert clf.certificate_.separable  # the last vector separates, whichever gave the smallest bound


@quick
@given(SEEDS)
def test_the_sentence_names_a_margin_only_where_it_is_one(seed):
    X, y, _ = separable_game(30, 3, 0.05, 1.0, seed)
    assume(len(set(y)) == 2)
    clf = fit(X, y, epochs=5000)
    if "separates the examples with margin" in str(clf.certificate_):
        w = clf.learner_.vectors[ALL].vector(clf.certificate_.witness)[0][:, 0]
        assert (y * (X @ w)).min() / np.linalg.norm(w) == pytest.approx(clf.certificate_.margin, rel=1e-5)


def test_a_run_that_ends_at_zero_is_certified():
    """Two examples that undo each other: v = 0 is no witness, but k ≤ rounds needs none."""
    certificate = fit([[1.0], [1.0]], [1, -1], hypothesis="last", epochs=3).certificate_
    assert certificate.updates == 6
    assert certificate.theorem
    assert certificate.bound == pytest.approx(6)
    assert "no bound is known for this rule" not in str(certificate)


def test_pairs_that_never_played_do_not_spoil_the_sum():
    X, y = [[1.0, 0.0], [0.0, 1.0]], [2, 3]
    clf = LinearClassifier(multiclass="ovo").partial_fit(X, y, classes=[0, 1, 2, 3])
    certificate = clf.certificate(X, y)
    assert certificate.theorem
    assert certificate.holds
    assert certificate.bound <= certificate.rounds * (1 + 1e-6)


def test_weighted_delta_trick_is_certified():
    """A light example takes many small steps to be told apart by its id feature."""
    clf = fit([[1.0], [1.0]], [1, -1], [1.0, 1e-3], delta=1.0, epochs=5000)
    assert clf.converged_
    assert clf.certificate_.holds


def test_delta_trick_over_several_calls_is_certified():
    """Rows that come again in another call are other rows to the Δ-trick: D counts once per call."""
    clf = LinearClassifier(bias=0.0, delta=1.0)
    X, y = [[1.0], [1.0]], [1, -1]
    for _ in range(10):
        clf.partial_fit(X, y)
    certificate = clf.certificate(X, y)
    assert certificate.holds or certificate.hypothetical


def test_certificate_counts_k_over_m_of_the_first_pass():
    X, y, _ = noisy_game(50, 3, 0.1, 1.0, 0.2, 5)
    for shuffle, epochs in itertools.product((False, True), (1, 4)):
        clf = fit(X, y, epochs=epochs, shuffle=shuffle)
        assert clf.certificate_.first_epoch_error == clf.mistakes_[0] / 50
    learner = LinearLearner(classes=[-1, 1])
    for x, label in zip(X, y, strict=True):
        learner.learn(x, label)
    assert certify(learner, X, y).first_epoch_error == learner.mistakes / 50


def test_arow_and_noisy_romma_claim_nothing():
    X, y, _ = noisy_game(30, 3, 0.1, 1.0, 0.3, 1)
    assert not fit(X, y, rule="arow").certificate_.theorem
    assert math.isinf(fit(X, y, rule="arow").certificate_.bound)
    assert math.isinf(fit(X, y, rule="romma").certificate_.bound)


# ---------------------------------------------------------------- whose certificate it is


@pytest.mark.core
class TestSameData:
    X, y, _ = noisy_game(40, 4, 0.1, 1.0, 0.1, 0)
    clf = LinearClassifier(epochs=3, certify=True).fit(X, y)

    def is_hypothetical(self, X, y, weight=None):
        return self.clf.certificate(X, y, weight).hypothetical

    def test_same_in_any_order(self):
        order = np.random.default_rng(0).permutation(40)
        assert not self.is_hypothetical(self.X, self.y)
        assert not self.is_hypothetical(self.X[order], self.y[order])

    def test_same_dense_or_sparse(self):
        for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix):
            assert not self.is_hypothetical(kind(self.X), self.y)
        clf = LinearClassifier().fit(sp.csr_array(self.X), self.y)
        dense, sparse = clf.certificate(self.X, self.y), clf.certificate(sp.csr_array(self.X), self.y)
        assert not dense.hypothetical
        assert dense.bound == pytest.approx(sparse.bound)

    def test_same_with_unit_weights(self):
        assert not self.is_hypothetical(self.X, self.y, np.ones(40))

    def test_other_values_labels_rows_or_weights(self):
        X, y = self.X.copy(), self.y.copy()
        X[7, 2] *= 1.001
        y[3] *= -1
        swapped = self.X.copy()
        swapped[5, [0, 1]] = swapped[5, [1, 0]]
        exchanged = self.y.copy()
        a, b = np.flatnonzero(exchanged == 1)[0], np.flatnonzero(exchanged == -1)[0]
        exchanged[[a, b]] = exchanged[[b, a]]
        assert self.is_hypothetical(X, self.y)
        assert self.is_hypothetical(self.X, y)
        assert self.is_hypothetical(swapped, self.y)
        assert self.is_hypothetical(self.X, exchanged)
        assert self.is_hypothetical(self.X[:-1], self.y[:-1])
        assert self.is_hypothetical(self.X[::2], self.y[::2])
        assert self.is_hypothetical(np.vstack([self.X, self.X[:1]]), np.append(self.y, self.y[0]))
        assert self.is_hypothetical(self.X, self.y, np.full(40, 2.0))

    def test_weights_are_part_of_the_data(self):
        weight = np.arange(40) % 3
        clf = LinearClassifier(epochs=2).fit(self.X, self.y, weight)
        order = np.random.default_rng(1).permutation(40)
        assert not clf.certificate(self.X[order], self.y[order], weight[order]).hypothetical
        assert clf.certificate(self.X, self.y).hypothetical
        assert clf.certificate(self.X, self.y, weight[::-1]).hypothetical
        assert clf.certificate(self.X, self.y, weight).holds
        played = weight > 0  # what has no weight was not there
        assert not clf.certificate(self.X[played], self.y[played], weight[played]).hypothetical

    def test_held_out_rows_were_not_played(self):
        clf = LinearClassifier(validation_fraction=0.25, certify=True).fit(self.X, self.y)
        assert not clf.certificate_.hypothetical
        assert clf.certificate_.holds
        assert clf.certificate(self.X, self.y).hypothetical

    def test_hypothetical_says_so(self):
        X, y, _ = separable_game(40, 4, 0.2, 1.0, 8)
        clf = LinearClassifier(epochs=1, bias=0.0).fit(X, y)
        certificate = clf.certificate(2 * X, y)
        assert certificate.hypothetical
        assert "other than the run's" in str(certificate)
        assert certificate.radius == pytest.approx(np.linalg.norm(2 * X, axis=1).max(), rel=1e-6)

    def test_stream_then_whole(self):
        learner = LinearLearner(classes=[-1, 1])
        for x, label in zip(self.X, self.y, strict=True):
            learner.learn(x, label)
        assert not certify(learner, self.X, self.y).hypothetical
        assert certify(learner, self.X[:20], self.y[:20]).hypothetical


# ---------------------------------------------------------------- lazy average = naive average

RULE_NAMES = [*RULES]


def flat(problem, vector):
    w, b = vector
    return np.append(w[:, : problem.n_classes].ravel(), b)


def twin_history(twin):
    if isinstance(twin, Binary):
        return [[*v, bias] for v, bias in twin.history]
    return [[*np.array(v).T.ravel(), *bias] for v, bias in twin.history]


@pytest.mark.core
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["examples", "mistakes"])
@pytest.mark.parametrize("rule", RULE_NAMES)
def test_lazy_average_is_the_naive_one_at_every_stop(rule, kind, n_classes):
    rng = np.random.default_rng(4)
    X, y = rng.integers(-3, 4, size=(40, 3)).astype(float), rng.integers(n_classes, size=40)
    twin = Binary(3, Rule(rule)) if n_classes == 2 else Joint(3, n_classes, Rule(rule))
    parameters = {"rule": rule, "average": kind, "dtype": "float64", "hypothesis": "averaged"}
    going = LinearLearner(classes=range(n_classes), **parameters)  # asked at every round, never finished
    for T in range(1, len(y) + 1):
        label = int(y[T - 1]) if n_classes > 2 else 2 * int(y[T - 1]) - 1
        twin.learn(as_row(X[T - 1]), label)
        going.learn(X[T - 1], y[T - 1])
        stopped = LinearLearner(classes=range(n_classes), **parameters)
        stopped.learn_many(X[:T], y[:T])
        stopped.finish()
        stopped.open = False
        expected = np.array(average(twin_history(twin), twin.survival, kind))
        problem = stopped.vectors[ALL]
        lazy = flat(problem, problem.vector("averaged"))
        if rule == "perceptron":
            assert lazy.tolist() == expected.tolist()  # whole numbers: no rounding
        else:
            np.testing.assert_allclose(lazy, expected, rtol=1e-9, atol=1e-9)
        V = np.reshape(average(twin_history(twin), twin.survival, kind, open=True), (4, -1))
        np.testing.assert_allclose(
            np.reshape(going.scores(X), (40, -1)), np.column_stack([X, np.ones(40)]) @ V, rtol=1e-9, atol=1e-9
        )


@pytest.mark.core
@quick
@given(SEEDS, st.integers(1, 60))
def test_float32_average_is_exact_on_small_integers(seed, T):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(T, 3)).astype(np.float32), rng.choice([-1, 1], size=T)
    learner, twin = LinearLearner(classes=[-1, 1], hypothesis="averaged"), Binary(3)
    learner.learn_many(X, y)
    learner.open = False
    for x, label in zip(X, y, strict=True):
        twin.learn(as_row(x), int(label))
    problem = learner.vectors[ALL]
    expected = average(twin_history(twin), twin.survival)
    assert flat(problem, problem.vector("averaged"))[:3].tolist() == np.float32(expected[:3]).tolist()


# ---------------------------------------------------------------- touched weights


def sparse_rows(n_features, n_rows=300, per_row=12):
    rng = np.random.default_rng(6)
    indices = np.concatenate([np.sort(rng.choice(2**16, per_row, replace=False)) for _ in range(n_rows)])
    data = rng.normal(size=n_rows * per_row).astype(np.float32)
    indptr = np.arange(0, n_rows * per_row + 1, per_row)
    return sp.csr_array((data, indices, indptr), shape=(n_rows, n_features)), rng.integers(2, size=n_rows)


@pytest.mark.parametrize("hypothesis", ["last", "averaged", "voted"])
@pytest.mark.parametrize("rule", ["perceptron", "pa1", "romma"])
def test_touched_weights_do_not_grow_with_the_dimension(rule, hypothesis):
    touched = {}
    for bits in (16, 26):
        X, y = sparse_rows(2**bits)
        clf = LinearClassifier(rule=rule, hypothesis=hypothesis, epochs=3).fit(X, y)
        touched[bits] = clf.learner_.touched
        entries = 12 * clf.updates_.sum()  # the non-zeros of the updates, in the weights and once more in the sums
        assert entries <= touched[bits] <= (entries if hypothesis == "last" else 2 * entries)
    assert touched[16] == touched[26]


@pytest.mark.core
def test_touched_weights_of_joint():
    touched = {}
    for bits in (16, 22):
        X, y = sparse_rows(2**bits)
        y = y + (np.arange(len(y)) % 3 == 0)
        clf = LinearClassifier(epochs=3).fit(X, y)
        touched[bits] = clf.learner_.touched
        entries = 2 * 12 * clf.updates_.sum()
        assert entries <= touched[bits] <= 2 * entries
    assert touched[16] == touched[22]


def test_touched_weights_where_romma_starts_anew():
    """The one exception, and no more than it: ROMMA that starts anew writes every weight."""
    lengths = np.append(np.linspace(1.0, 0.1, 20), -1.0)
    for dimension in (2**10, 2**16):
        X = sp.csr_array((lengths, np.zeros(21, dtype=int), np.arange(22)), shape=(21, dimension))
        y = np.where(lengths > 0, 1, -1)
        clf = LinearClassifier(rule="aggressive-romma", bias=0.0, epochs=1, shuffle=False).fit(X, y)
        updates = int(clf.updates_.sum())
        assert updates == 20
        restarts = updates - 1  # each along the same axis as the one before
        assert restarts * dimension <= clf.learner_.touched <= 2 * updates + restarts * dimension


# ---------------------------------------------------------------- voted, best, random


@pytest.mark.core
@pytest.mark.parametrize("rule", RULE_NAMES)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_voted_is_the_replay_of_every_vector(rule, n_classes):
    rng = np.random.default_rng(9)
    X, y = rng.integers(-4, 5, size=(50, 3)).astype(float), rng.integers(n_classes, size=50)
    T = rng.normal(size=(70, 3))
    clf = LinearClassifier(rule=rule, hypothesis="voted", shuffle=False, epochs=2, dtype="float64", bias=1.0).fit(X, y)
    twin = Binary(3, Rule(rule)) if n_classes == 2 else Joint(3, n_classes, Rule(rule))
    for x, label in [*zip(X, y, strict=True)] * 2:
        twin.learn(as_row(x), int(label) if n_classes > 2 else 2 * int(label) - 1)
    problem = clf.learner_.vectors[ALL]
    assert problem.survivals().tolist() == twin.survival
    assert sum(twin.survival) == clf.rounds_ == 100
    for k in range(len(twin.survival)):
        replayed = flat(problem, problem.voter(k))
        np.testing.assert_allclose(replayed, twin_history(twin)[k], rtol=1e-9, atol=1e-9)

    def votes(x):
        if n_classes == 2:
            return vote_binary(twin.history, twin.survival, lambda v: float(np.dot(v[0], x) + v[1]))
        return vote_joint(twin.history, twin.survival, lambda v: (np.array(v[0]) @ x + v[1]).tolist())

    np.testing.assert_array_equal(clf.decision_function(T), np.array([votes(x) for x in T]) / 100)


def drawn_vectors(n_seeds, learn):
    """How often each vector is drawn, over seeds."""
    counts = {}
    for seed in range(n_seeds):
        problem = learn(seed)
        v = tuple(flat(problem, problem.vector("random")).tolist())
        counts[v] = counts.get(v, 0) + 1
    return counts


def test_random_draws_by_survival():
    X, y, _ = noisy_game(40, 3, 0.1, 1.0, 0.25, 2)

    def learn(seed):
        learner = LinearLearner(classes=[-1, 1], hypothesis="random", random_state=seed, bias=0.0)
        learner.learn_many(X, y)
        return learner.vectors[ALL]

    problem = learn(0)
    expected = {}
    for k, m in enumerate(problem.survivals()):
        v = tuple(flat(problem, problem.voter(k)).tolist())
        expected[v] = expected.get(v, 0) + m * 2400 / 40
    counts = drawn_vectors(2400, learn)
    assert counts.keys() <= {v for v, m in expected.items() if m > 0}
    expected = {v: m for v, m in expected.items() if m > 0}
    assert len(expected) > 5
    assert stats.chisquare([counts.get(v, 0) for v in expected], [*expected.values()]).pvalue > 0.001


def test_random_draw_is_independent_of_the_shuffled_order():
    """Where every round is a mistake, v_k has the k examples played first: whether a given example is among them
    must not depend on whether it was played last."""
    n, n_seeds, told = 8, 800, 0
    X, y, _ = hard_game(n)
    for seed in range(n_seeds):
        clf = LinearClassifier(hypothesis="random", bias=0.0, epochs=1, random_state=seed).fit(X, y)
        problem = clf.learner_.vectors[ALL]
        before_last = np.flatnonzero(problem.voter(n - 1)[0][:, 0] == 0)  # the example played last
        k = np.count_nonzero(problem.vector("random")[0])
        told += k == before_last[0]
    assert stats.binomtest(told, n_seeds, 1 / n).pvalue > 0.001


def test_k_over_m_estimates_the_error_of_random():
    """Over many one-pass runs, k/m and the error of the drawn vector on new examples agree on average."""
    difference = []
    for seed in range(300):
        X, y, _ = noisy_game(90, 4, 0.05, 1.0, 0.1, seed)
        learner = LinearLearner(classes=[-1, 1], hypothesis="random", random_state=seed, bias=0.0)
        learner.learn_many(X[:50], y[:50])
        estimate = certify(learner, X[:50], y[:50]).first_epoch_error
        assert estimate == learner.mistakes / 50
        # a score of 0 counts as a mistake in training, so here too
        scores = learner.scores(X[50:])
        difference.append(estimate - np.mean(y[50:] * scores <= 0))
    error = np.std(difference) / math.sqrt(len(difference))
    assert abs(np.mean(difference)) < 4 * error < 0.1
