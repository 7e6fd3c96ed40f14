"""KernelRanker: the core beside its twin, Linear() as LinearRanker, strings, trees, certificates."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from examples import examples
from list_data import lists_by_weights
from perceptive import KernelRanker, LinearRanker, reference
from perceptive.kernels import Custom, Gaussian, Linear, Polynomial, Spectrum, SubsetTree
from perceptive.learners import KernelRankingLearner
from test_ranking_theorems import separable_game
from test_ranking_twin import PAIRS, RULES, cut, games, play_twin

pytestmark = pytest.mark.core
checked = examples(20, suppress_health_check=[HealthCheck.too_slow])


def dot(a, b):
    return sum(p * q for p, q in zip(a, b, strict=True))


def square(a, b):
    return (1.0 + dot(a, b)) ** 2


class Watched(reference.DualRanking):
    """Notes how close candidates that differ were in each list, once something had been learned."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.leads = []

    def scores(self, xs):
        self.xs = xs
        return super().scores(xs)

    def closest(self, scores, grades, c):
        i, j = super().closest(scores, grades, c)
        if self.updates and self.xs[i] != self.xs[j]:
            self.leads.append(abs(scores[i] - scores[j]))
        return i, j


def play(learner, X, grades, sizes, weights=None, epochs=1):
    dataset = learner.dataset(X, grades, weights, sizes=sizes, epochs=epochs)
    for _ in range(epochs):
        assert sum(dataset.epoch()) == len(sizes)
    return learner


def places(sizes):
    """Number of a candidate → number of its list and place in it."""
    return [(t, j) for t, size in enumerate(sizes) for j in range(size)]


def by_place(learner, coefficients, sizes):
    where = places(sizes)
    return {where[number]: a for number, a in zip(learner.dual.ids, coefficients[:, 0].tolist(), strict=True)}


# ---------------------------------------------------------------- the twin, on examples worked by hand


def test_the_twin_by_hand():
    twin = reference.DualRanking(dot)
    assert twin.learn([(1.0, 0.0), (0.0, 1.0)], 1, identity=0)  # from v = 0 a tie is a mistake
    assert twin.alpha == {(0, 1): 1.0, (0, 0): -1.0}
    assert not twin.learn([(1.0, 0.0), (0.0, 1.0), (2.0, 0.0)], 1, identity=1)
    assert twin.find_best([(1.0, 0.0), (0.0, 0.0), (0.0, 3.0)]) == 2
    assert twin.radius2 == 2.0
    assert twin.survival == [1, 1]


@given(game=games(integers=True), rule=st.sampled_from(RULES), pairs=st.sampled_from(PAIRS), delta=st.booleans())
@checked
def test_the_twins_are_one(game, rule, pairs, delta):
    """The dual with x·x' is the primal; exactly for the perceptron on integers."""
    X, grades, sizes, _ = game
    delta = 0.5 * delta
    primal = reference.Ranking(X.shape[1], reference.Rule(rule), pairs=pairs, delta=delta)
    dual = reference.DualRanking(dot, reference.Rule(rule), pairs=pairs, delta=delta)
    play_twin(primal, [[(j, v) for j, v in enumerate(x)] for x in X.tolist()], grades, sizes, epochs=2)
    play_twin(dual, [tuple(x) for x in X.tolist()], grades, sizes, epochs=2)
    assert (primal.rounds, primal.mistakes, primal.updates) == (dual.rounds, dual.mistakes, dual.updates)
    assert primal.survival == dual.survival
    v = np.zeros(X.shape[1])
    for place, a in dual.alpha.items():
        v += a * np.array(dual.candidates[place])
    assert v == pytest.approx(np.array(primal.v), rel=1e-9, abs=1e-9)
    assert dual.radius2 == pytest.approx(primal.radius2)


# ---------------------------------------------------------------- learner and twin are one


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("pairs", PAIRS)
@given(game=games(integers=True), vectors=st.booleans(), cost=st.sampled_from([None, "grade"]), several=st.booleans())
@checked
def test_learner_equals_twin(rule, pairs, game, vectors, cost, several):
    """As vectors in blocks, and as objects of any kind with kept kernel values."""
    X, grades, sizes, weights = game
    # in quarters: sums are exact in whatever order, and ties are ties
    weights = [round(4 * w) / 4 for w in weights] if rule in ("perceptron", "pa1", "pa2") else None
    kernel = Polynomial(2) if vectors else Custom(square)
    items = X if vectors else [tuple(x) for x in X.tolist()]
    epochs = 2 if several else 1
    learner = KernelRankingLearner(kernel=kernel, rule=rule, C=0.7, pairs=pairs, cost=cost, dtype="float64")
    play(learner, items, grades, sizes, weights, epochs)
    twin = Watched(square, reference.Rule(rule, C=0.7), pairs=pairs, cost=cost)
    play_twin(twin, [tuple(x) for x in X.tolist()], grades, sizes, weights, epochs)
    # means and quotients are no integers, and round either way
    assume((pairs != "all" and rule == "perceptron") or min(twin.leads, default=1.0) > 1e-9)
    assert (learner.rounds, learner.mistakes, learner.updates) == (twin.rounds, twin.mistakes, twin.updates)
    assert learner.loss == pytest.approx(twin.criterion)
    if not twin.updates:
        return
    dual = learner.dual
    assert by_place(learner, dual.alpha, sizes) == pytest.approx(twin.alpha)
    assert dual.radius2[0] == pytest.approx(twin.radius2)
    survival = dual.journals[0].survivals(dual.rounds)
    assert survival.sum() == sum(twin.survival)
    total = max(1, sum(twin.survival))
    average = {place: 0.0 for place in twin.candidates}
    for alpha, m in zip(twin.history, twin.survival, strict=True):
        for place, a in alpha.items():
            average[place] += m / total * a
    assert by_place(learner, dual.coefficients("averaged"), sizes) == pytest.approx(average, abs=1e-12)
    best = twin.history[reference.best(twin.survival)]
    mine = by_place(learner, dual.coefficients("best"), sizes)
    assert {place: a for place, a in mine.items() if a} == pytest.approx({p: a for p, a in best.items() if a})
    assert any(
        by_place(learner, dual.coefficients("random"), sizes) == pytest.approx({**dict.fromkeys(mine, 0.0), **alpha})
        for alpha in twin.history
    )


@given(game=games(integers=True), delta=st.sampled_from([0.5, 2.0]), pairs=st.sampled_from(PAIRS))
@checked
def test_delta_equals_twin(game, delta, pairs):
    X, grades, sizes, _ = game
    learner = play(KernelRankingLearner(kernel=Linear(), delta=delta, pairs=pairs), X, grades, sizes, epochs=3)
    twin = reference.DualRanking(dot, delta=delta, pairs=pairs)
    play_twin(twin, [tuple(x) for x in X.tolist()], grades, sizes, epochs=3)
    assert learner.mistakes == twin.mistakes
    assert by_place(learner, learner.dual.alpha, sizes) == pytest.approx(twin.alpha)


@given(game=games(integers=True))
@checked
def test_votes_for_items(game):
    X, grades, sizes, _ = game
    learner = play(KernelRankingLearner(kernel=Polynomial(2), hypothesis="voted"), X, grades, sizes, epochs=2)
    rows = [tuple(x) for x in X.tolist()]
    twin = play_twin(reference.DualRanking(square), rows, grades, sizes, epochs=2)
    votes = []
    for xs in cut(rows, sizes):
        votes += reference.vote_joint(
            twin.history, twin.survival, lambda alpha, xs=xs: [twin.score(x, alpha) for x in xs]
        )
    assert learner.scores(X, sizes) * max(1, sum(twin.survival)) == pytest.approx(votes)


# ---------------------------------------------------------------- Linear() is LinearRanker


@pytest.fixture(scope="module")
def lists():
    return lists_by_weights(34, noisy=True)


@pytest.mark.once
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("delta", [0.0, 1.0])
def test_linear_kernel_is_the_linear_ranker(lists, rule, pairs, delta):
    """The same mistakes, orders and bound."""
    X, y = lists
    options = {"rule": rule, "pairs": pairs, "delta": delta, "dtype": "float64", "epochs": 4, "certify": True, "C": 0.5}
    primal = LinearRanker(keep="all", **options).fit(X, y)
    dual = KernelRanker(kernel=Linear(), **options).fit(X, y)
    assert dual.mistakes_.tolist() == primal.mistakes_.tolist()
    assert dual.updates_.tolist() == primal.updates_.tolist()
    assert dual.loss_ == pytest.approx(primal.loss_)
    for hypothesis in ("last", "averaged", "best", "voted", "random"):
        mine, theirs = (r.decision_function(X, hypothesis=hypothesis) for r in (dual, primal))
        assert list(map(len, mine)) == list(map(len, theirs))
        np.testing.assert_allclose(np.concatenate(mine), np.concatenate(theirs), rtol=1e-7, atol=1e-7)
        assert dual.predict(X, hypothesis=hypothesis).tolist() == primal.predict(X, hypothesis=hypothesis).tolist()
    for xs in X[:10]:
        assert [j for j, _ in dual.rank(xs)] == [j for j, _ in primal.rank(xs)]
    mine, theirs = dual.certificate_, primal.certificate_
    assert mine.bound == pytest.approx(theirs.bound, rel=1e-6)
    assert mine.radius == pytest.approx(theirs.radius)
    assert (mine.witness, mine.theorem, mine.hypothetical) == (theirs.witness, theirs.theorem, False)
    mine, theirs = (r.certificate(X[:-1], y[:-1]) for r in (dual, primal))
    assert mine.hypothetical
    assert theirs.hypothetical
    assert (mine.bound, mine.radius) == pytest.approx((theirs.bound, theirs.radius), rel=1e-6)


def test_all_forms_of_input_are_one(lists):
    X, y = lists
    rows = np.vstack(X)
    qid = np.repeat(np.arange(len(X)), [len(xs) for xs in X])
    grades = np.concatenate([np.arange(len(xs)) == b for xs, b in zip(X, y, strict=True)]).astype(float)
    kernel = Gaussian(gamma=0.2)
    made = {
        "lists": KernelRanker(kernel=kernel).fit(X, y),
        "lists of lists": KernelRanker(kernel=kernel).fit([xs.tolist() for xs in X], y),
        "sets": KernelRanker(kernel=kernel).fit(X, [{b} for b in y]),
        "sparse": KernelRanker(kernel=kernel).fit([sp.csr_array(xs) for xs in X], y),
        "queries": KernelRanker(kernel=kernel).fit(rows, grades, qid=qid),
        "graded": KernelRanker(kernel=kernel).fit(X, cut(grades, [len(xs) for xs in X])),
    }
    function = Custom(lambda a, b: float(np.exp(-0.2 * np.sum((np.array(a) - np.array(b)) ** 2))), name="rbf")
    made["objects"] = KernelRanker(kernel=function).fit([[tuple(x) for x in xs.tolist()] for xs in X], y)
    made["precomputed"] = KernelRanker(kernel="precomputed").fit(kernel(rows), grades, qid=qid)
    for name, ranker in made.items():
        assert ranker.mistakes_.tolist() == made["lists"].mistakes_.tolist(), name
        assert ranker.alpha_ == pytest.approx(made["lists"].alpha_, rel=1e-4), name
    assert made["queries"].score(rows, grades, qid=qid) == made["lists"].score(X, y)
    assert (
        made["precomputed"].predict(kernel(rows), qid=qid).tolist() == made["queries"].predict(rows, qid=qid).tolist()
    )


def test_many_are_one_by_one(lists):
    X, y = lists
    many = KernelRanker(kernel="poly(2)").partial_fit(X[:25], y[:25]).partial_fit(X[25:], y[25:])
    single = KernelRanker(kernel="poly(2)")
    for i, (xs, best) in enumerate(zip(X, y, strict=True)):
        single.learn_one(xs.tolist() if i % 2 else xs, best)
    assert many.support_.tolist() == single.support_.tolist()
    assert many.alpha_ == pytest.approx(single.alpha_)
    assert many.mistakes_.sum() == single.learner_.mistakes
    assert many.learner_.fingerprint == single.learner_.fingerprint
    assert single.predict_one(X[0]) == single.rank(X[0])[0][0]


def test_blocks_do_not_change_the_result(lists, monkeypatch):
    from perceptive.learners import kernel_lists

    X, y = lists
    found = []
    for rows in (1, 40, 10**6):
        monkeypatch.setattr(kernel_lists, "ROWS", rows)
        ranker = KernelRanker(kernel="gaussian(gamma=0.3)", dtype="float64", epochs=3).fit(X, y)
        found.append((ranker.mistakes_.tolist(), ranker.predict(X, hypothesis="voted").tolist()))
    assert found[0] == found[1] == found[2]


def test_kept_kernel_values_change_nothing(lists):
    X, y = lists
    items = [["".join("abcdef"[int(v > 0) + 2 * j % 5] for j, v in enumerate(x)) for x in xs] for xs in X]
    found = [KernelRanker(kernel=Spectrum(2), cache_size=size, epochs=4).fit(items, y) for size in (0.0, 200.0)]
    assert found[0].mistakes_.tolist() == found[1].mistakes_.tolist()
    assert found[0].predict(items).tolist() == found[1].predict(items).tolist()


def test_what_no_line_ranks():
    """The best is the candidate nearest to a circle: a Gaussian sees it, a line cannot."""
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(5, 2)) for _ in range(180)]
    y = [int(np.argmin(np.abs(np.linalg.norm(xs, axis=1) - 1.0))) for xs in X]
    kernel = KernelRanker(kernel="gaussian(gamma=2)", epochs=5).fit(X[:120], y[:120])
    line = LinearRanker(epochs=5).fit(X[:120], y[:120])
    assert kernel.score(X[120:], y[120:]) > line.score(X[120:], y[120:]) + 0.3


def test_trees():
    def parses(verb, noun):
        return [f"(S (V {verb}) (NP (N {noun}) (PP with it)))", f"(S (VP (V {verb}) (N {noun})) (PP with it))"]

    words = [("eat", "soup"), ("see", "stars"), ("cut", "bread")]
    ranker = KernelRanker(kernel=SubsetTree(0.5), certify=True).fit([parses(*w) for w in words], [1, 1, 1])
    assert ranker.predict([parses("peel", "apples")]).tolist() == [1]
    assert ranker.certificate_.holds


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("pairs", PAIRS)
@given(seed=st.integers(0, 10**6), noise=st.sampled_from([0.0, 0.3]), delta=st.sampled_from([0.0, 1.0]))
@examples(8)
def test_no_run_exceeds_its_certificate(rule, pairs, seed, noise, delta):
    rng = np.random.default_rng(seed)
    lists, bests, _ = separable_game(rng, 14, 5)
    lists.append(np.repeat(lists[0][:1], 2, axis=0))  # two that are the same: a mistake each time
    bests.append(1)
    bests = [int(rng.integers(len(xs))) if rng.random() < noise else b for xs, b in zip(lists, bests, strict=True)]
    ranker = KernelRanker(kernel="gaussian(gamma=0.5)", rule=rule, pairs=pairs, epochs=4, delta=delta, certify=True)
    certificate = ranker.fit(lists, bests).certificate_
    assert certificate.holds
    assert not certificate.hypothetical
    assert certificate.rounds == 15 * ranker.n_iter_
    assert ranker.certificate(lists[:-2], bests[:-2]).hypothetical


def test_the_delta_trick_converges_on_noise():
    lists, bests = [np.eye(2)] * 2, [0, 1]
    assert not KernelRanker(epochs=100).fit(lists, bests).converged_
    ranker = KernelRanker(epochs=100, delta=1.0, certify=True).fit(lists, bests)
    assert ranker.converged_
    assert ranker.certificate_.holds
    assert "Δ" in ranker.certificate_.theorem


def test_early_stopping(lists):
    X, y = lists
    ranker = KernelRanker(validation_fraction=0.3, patience=1, epochs=50, hypothesis="last").fit(X, y)
    assert ranker.n_iter_ == len(ranker.held_out_) < 50
    ranker.partial_fit(X, y)  # goes on from where it went back to


def test_weights(lists):
    X, y = lists
    weights = np.arange(len(X)) % 2
    half = KernelRanker(shuffle=False).fit(X, y, sample_weight=weights)
    alone = KernelRanker(shuffle=False, kernel=half.kernel_).fit(X[1::2], y[1::2])
    assert half.mistakes_.tolist() == alone.mistakes_.tolist()
    with pytest.raises(ValueError, match="each of the 34 lists"):
        KernelRanker().fit(X, y, sample_weight=[1.0])
    with pytest.raises(ValueError, match="do not go with rule='pa'"):
        KernelRanker(rule="pa").fit(X, y, sample_weight=weights + 0.5)
