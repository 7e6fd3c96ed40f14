"""Ranking: the core beside its twin, the notes' theorems, joint multiclass as a special case, and bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from examples import examples
from perceptive import reference
from perceptive.data.lists import gains
from perceptive.learners import LinearLearner, RankingLearner
from perceptive.reference.ranking import gains as twin_gains

pytestmark = pytest.mark.core

RULES = ["perceptron", "pa", "pa1", "pa2", "mira"]
PAIRS = ["best", "worst", "all"]
checked = examples(60, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def games(draw, integers=False, graded=True):
    """Lists of candidates with grades: some have one candidate, some are all equally good; features are missing."""
    d = draw(st.integers(1, 11))
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=8))
    n = sum(sizes)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    numbers = range(-4, 5) if integers else [0.0, 0.0, 1.0, -1.0, 0.3, -2.7, 5.1, 1e-3]
    X = rng.choice(numbers, size=(n, d)).astype(float)
    X[rng.random(n) < 0.1] = 0
    if graded:
        grades = rng.choice([0.0, 0.0, 1.0, 2.0, -0.5], size=n)
        alike = np.repeat(rng.random(len(sizes)) < 0.1, sizes)
        grades[alike] = 1.0
    else:
        grades = np.concatenate([np.arange(size) == rng.integers(size) for size in sizes]).astype(float)
    weights = rng.choice([0.0, 0.5, 1.0, 2.0, 3.7], size=len(sizes)).tolist()
    return X, grades, np.array(sizes), weights


def rows_for(X, sparse):
    if sparse:
        return sp.csr_array(X), [[(int(j), float(v)) for j, v in enumerate(row) if v] for row in X]
    return X, [[(j, float(v)) for j, v in enumerate(row)] for row in X]


def cut(values, sizes):
    """Values in lists."""
    ends = np.cumsum(sizes)
    return [values[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def play(learner, X, grades, sizes, weights=None, epochs=1):
    dataset = learner.dataset(X, grades, weights, sizes=sizes)
    for _ in range(epochs):
        dataset.play(np.arange(len(dataset)))
        dataset.record()
    return learner


def play_twin(twin, rows, grades, sizes, weights=None, epochs=1):
    for _ in range(epochs):
        for t, (xs, g) in enumerate(zip(cut(rows, sizes), cut(list(grades), sizes), strict=True)):
            twin.learn_graded(xs, g, weight=1.0 if weights is None else weights[t], identity=t)
    return twin


def averages(twin):
    return reference.average(twin.history, twin.survival)


# ---------------------------------------------------------------- the twin, on examples worked by hand


def test_the_twin_by_hand():
    twin = reference.Ranking(2)
    assert twin.learn([[(0, 1.0)], [(1, 1.0)]], 1)  # from v = 0 a tie is a mistake
    assert twin.v == [-1.0, 1.0]
    assert not twin.learn([[(0, 1.0)], [(1, 1.0)], [(0, 2.0)]], 1)
    assert twin.find_best([[(0, 1.0)], [], [(1, 3.0)]]) == 2
    assert twin.learn([[(0, 1.0)], [(1, 2.0)], [(1, 1.0)]], 2)
    assert twin.v == [-1.0, 0.0]
    assert twin.survival == [1, 2, 0]


def test_equally_good_candidates():
    twin = reference.Ranking(3)
    twin.v = [1.0, 2.0, 0.0]
    xs = [[(0, 1.0)], [(1, 1.0)], [(2, 1.0)]]
    assert not twin.learn(xs, {0, 1})
    assert twin.learn(xs, {0, 2})  # the better one of the two is set against the winner
    assert twin.v == [2.0, 1.0, 0.0]


def test_graded_lists_by_hand():
    xs, grades = [[(0, 1.0)], [(1, 1.0)], [(2, 1.0)]], [2.0, 1.0, 0.0]
    for pairs, after in (("best", [0.0, 0.0, 1.0]), ("worst", [0.0, 0.0, 1.0]), ("all", None)):
        twin = reference.Ranking(3, pairs=pairs)
        twin.v = [-1.0, 0.0, 2.0]
        twin.learn_graded(xs, grades)
        # 0 < 2 is most wrong; 0 < 1 and 1 < 2 are wrong too
        assert twin.v == (after or pytest.approx([-1 + 2 / 3, 0.0, 2 - 2 / 3]))


def test_one_candidate_is_no_round():
    for learner in (reference.Ranking(1), RankingLearner(n_features=1)):
        learner.learn([[(0, 1.0)]] if isinstance(learner, reference.Ranking) else [[1.0]], 0)
        assert (learner.rounds, learner.mistakes) == (0, 0)


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.0, 2.5]), min_size=1, max_size=6), min_size=1, max_size=4))
@checked
def test_position_gains(lists):
    starts = np.cumsum([0, *map(len, lists)])
    mine = gains(np.concatenate(lists), starts, "position")
    assert mine == pytest.approx([c for one in lists for c in twin_gains(one, "position")])


# ---------------------------------------------------------------- core and twin are one


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("pairs", PAIRS)
@given(game=games(), sparse=st.booleans(), normalize=st.booleans(), cost=st.sampled_from([None, "grade"]))
@checked
def test_core_equals_twin(rule, pairs, game, sparse, normalize, cost):
    X, grades, sizes, weights = game
    weights = weights if rule in ("perceptron", "pa1", "pa2") else None
    given_rows, rows = rows_for(X, sparse)
    options = {"rule": rule, "C": 0.7, "pairs": pairs, "cost": cost, "normalize": normalize}
    learner = play(RankingLearner(dtype="float64", keep="all", **options), given_rows, grades, sizes, weights, epochs=2)
    twin = reference.Ranking(X.shape[1], reference.Rule(rule, C=0.7), pairs=pairs, cost=cost, normalize=normalize)
    play_twin(twin, rows, grades, sizes, weights, epochs=2)
    assert (learner.rounds, learner.mistakes, learner.updates) == (twin.rounds, twin.mistakes, twin.updates)
    last, _ = learner.vector.vector("last")
    assert last[:, 0].tolist() == twin.v
    average, _ = learner.vector.vector("averaged")
    assert average[:, 0] == pytest.approx(averages(twin), rel=1e-9, abs=1e-9)
    assert learner.vector.survivals().tolist() == twin.survival
    assert learner.vector.run.radius2 == twin.radius2
    assert learner.loss == pytest.approx(twin.criterion)


@given(game=games(), delta=st.sampled_from([0.5, 2.0]), pairs=st.sampled_from(PAIRS))
@checked
def test_delta_equals_twin(game, delta, pairs):
    X, grades, sizes, _ = game
    learner = play(RankingLearner(dtype="float64", delta=delta, pairs=pairs), X, grades, sizes, epochs=3)
    twin = reference.Ranking(X.shape[1], delta=delta, pairs=pairs)
    play_twin(twin, rows_for(X, False)[1], grades, sizes, epochs=3)
    assert learner.mistakes == twin.mistakes
    assert learner.vector.vector("last")[0][:, 0].tolist() == twin.v


@given(game=games(integers=True), margin=st.sampled_from([0.0, 2.0]), pairs=st.sampled_from(["best", "worst"]))
@checked
def test_float32_on_integers(game, margin, pairs):
    X, grades, sizes, _ = game
    learner = play(RankingLearner(margin=margin, pairs=pairs), sp.csr_array(X), grades, sizes, epochs=3)
    twin = reference.Ranking(X.shape[1], reference.Rule(margin=margin), pairs=pairs)
    play_twin(twin, rows_for(X, True)[1], grades, sizes, epochs=3)
    assert learner.vector.vector("last")[0][:, 0].tolist() == twin.v
    assert learner.mistakes == twin.mistakes


@given(game=games(integers=True), sparse=st.booleans())
@checked
def test_votes_for_items(game, sparse):
    X, grades, sizes, _ = game
    learner = play(RankingLearner(dtype="float64", hypothesis="voted"), rows_for(X, sparse)[0], grades, sizes, epochs=2)
    rows = rows_for(X, sparse)[1]
    twin = play_twin(reference.Ranking(X.shape[1]), rows, grades, sizes, epochs=2)
    votes = []
    for xs in cut(rows, sizes):

        def scores(v, xs=xs):
            twin.v = v
            return twin.scores(xs)

        votes += reference.vote_joint(twin.history, twin.survival, scores)
    mine = learner.scores(rows_for(X, sparse)[0], sizes) * max(1, sum(twin.survival))
    assert mine == pytest.approx(votes)


@given(game=games(integers=True), limit=st.integers(1, 3))
@checked
def test_best_and_random_are_voters(game, limit):
    X, grades, sizes, _ = game
    learner = play(RankingLearner(dtype="float64", keep="all", max_voters=limit), X, grades, sizes, epochs=2)
    twin = play_twin(reference.Ranking(X.shape[1]), rows_for(X, False)[1], grades, sizes, epochs=2)
    best = twin.history[reference.best(twin.survival)]
    assert learner.vector.vector("best")[0][:, 0].tolist() == best
    assert learner.vector.vector("random")[0][:, 0].tolist() in twin.history


def test_updates_touch_what_they_must():
    """An update writes the entries of δ, in v and in the sum: nothing grows with the dimension."""
    X = sp.csr_array(([1.0, 1.0, 1.0], ([0, 0, 1], [5, 7, 99_999])), shape=(2, 100_000))
    learner = play(RankingLearner(hypothesis="averaged"), X, [1, 0], [2], epochs=5)
    assert learner.touched == 6


# ---------------------------------------------------------------- joint multiclass is the block φ


@pytest.mark.parametrize("rule", RULES)
@given(st.data())
@checked
def test_block_features_are_joint_multiclass(rule, data):
    n, d, classes = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 5)), data.draw(st.integers(2, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    X = rng.integers(-4, 5, size=(n, d)).astype(float)
    if rule != "perceptron":  # steps that are quotients round in two ways: no score may be a tie but for that
        X = rng.normal(size=(n, d))
    y = rng.integers(classes, size=n).tolist()
    joint = LinearLearner(classes=[*range(classes), "never"], rule=rule, C=0.5, dtype="float64", keep="all")
    ranker = RankingLearner(rule=rule, C=0.5, dtype="float64", keep="all")
    classes += 1

    def phi(x):  # (x, 1) in the block of each class
        return np.kron(np.eye(classes), np.append(x, 1.0))

    for _ in range(2):
        for x, label in zip(X, y, strict=True):
            assert joint.learn(x, label) == ranker.learn(phi(x), label)
    assert (joint.mistakes, joint.updates) == (ranker.mistakes, ranker.updates)
    w, b = joint.vectors[()].vector("last")
    blocks = ranker.vector.vector("last")[0][:, 0].reshape(classes, d + 1)
    exact = {"rel": 0, "abs": 0} if rule == "perceptron" else {"rel": 1e-9, "abs": 1e-9}  # PA's steps are no integers
    assert np.hstack([w[:, :classes].T, b[:, None]]) == pytest.approx(blocks, **exact)
    for x in X:
        for hypothesis in ("last", "averaged", "voted"):
            scores = joint.scores([x], hypothesis)[0]
            assert ranker.scores(phi(x), None, hypothesis) == pytest.approx(scores, abs=1e-9)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("xs", "best", "message"),
    [
        ([], 0, "no candidates"),
        ([[1.0], [2.0]], 2, "the list has 2 candidates"),
        ([[1.0], [2.0]], -1, "the list has 2 candidates"),
        ([[1.0], [2.0]], set(), "no candidate is named"),
        ([[1.0], [2.0]], "0", "index of the best"),
        ([[1.0], [2.0]], 0.0, "index of the best"),
        ([[1.0], [np.nan]], 0, "NaN"),
        ([[1.0], [2.0, 3.0]], 0, "all rows of one length"),
        ([[1.0, 2.0]], 0, "expects 1 features"),
        ([{"a": 1}], 0, "holds dicts"),
    ],
)
def test_bad_lists_teach_nothing(xs, best, message):
    learner = RankingLearner()
    learner.learn([[1.0], [2.0]], 1)
    before = learner.vector.vector("last")[0].copy(), learner.rounds, learner.fingerprint
    with pytest.raises(ValueError, match=message):
        learner.learn(xs, best)
    assert (learner.vector.vector("last")[0] == before[0]).all()
    assert (learner.rounds, learner.fingerprint) == before[1:]


@pytest.mark.parametrize(
    ("grades", "sizes", "message"),
    [
        ([1, 0, 0], [2], "2 candidates in all, but X has 3 rows"),
        ([1, 0, 0], [2, 2], "4 candidates in all"),
        ([1, 0, 0], [3, 0], "list 1 has no candidates"),
        ([1, 0, 0], [1.5, 1.5], "whole numbers"),
        ([1, 0], [3], "one for each of the 3"),
        ([1, 0, np.inf], [3], "grade 2 is not finite"),
        (["a", "b", "c"], [3], "must be numbers"),
    ],
)
def test_bad_groups(grades, sizes, message):
    learner = RankingLearner()
    with pytest.raises(ValueError, match=message):
        learner.learn_many(np.eye(3), grades, sizes=sizes)
    assert not learner.vectors


def test_new_names_of_a_refused_list_are_forgotten():
    learner = RankingLearner()
    learner.learn([{"a": 1}, {"b": 1}], 0)
    with pytest.raises(ValueError, match="candidates"):
        learner.learn_graded([{"a": 1}, {"c": 1}], [1.0])
    assert len(learner.space.vocabulary) == 2
    learner.learn([{"a": 1}, {"c": 1}], 1)
    assert learner.find_best([{"unknown": 5}, {"c": 1}], "last") == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rule": "romma"}, "rule='romma': it must be one of"),
        ({"pairs": "some"}, "pairs='some': it must be one of"),
        ({"cost": "price"}, "cost='price': it must be one of"),
        ({"rule": "pa", "margin": 1.0}, "margin does not go"),
        ({"delta": 1.0, "cost": "grade"}, "delta does not go"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RankingLearner(**parameters)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("sparse", [False, True])
def test_equal_candidates_teach_nothing(rule, sparse):
    """The mean of their differences is 0 but for rounding, which no rule may blow up."""
    X = np.tile([[0.1, 0.7, 1.3]], (7, 1))
    grades = [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 1.0]
    learner = RankingLearner(rule=rule, pairs="all", dtype="float64")
    learner.learn_many(sp.csr_array(X) if sparse else X, grades, sizes=[7])
    twin = reference.Ranking(3, reference.Rule(rule), pairs="all")
    twin.learn_graded([list(enumerate(x)) for x in X.tolist()], grades)
    assert (learner.mistakes, learner.updates) == (twin.mistakes, twin.updates) == (1, 0)
    assert not learner.scores(X, hypothesis="last").any()


def test_small_differences_of_large_candidates_teach():
    learner = RankingLearner(rule="pa", pairs="all", dtype="float64")
    learner.learn([[1e7, 0.0], [1e7, 1.0], [1e7, 2.0]], 2)
    assert learner.updates == 1
    assert learner.find_best([[1e7, 0.0], [1e7, 3.0]], "last") == 1


@pytest.mark.parametrize("options", [{}, {"margin": 0.5}, {"rule": "pa1"}, {"delta": 1.0}, {"cost": "grade"}], ids=str)
@pytest.mark.parametrize("levels", [2, 5, 1000])
def test_all_pairs_of_long_lists_equal_twin(options, levels):
    """Those of more than 32 candidates are counted in the order of their scores; ties, too."""
    rng = np.random.default_rng(levels)
    X, sizes = rng.integers(-2, 3, (300, 4)).astype(float), [33, 100, 167]
    grades = rng.integers(levels, size=300).astype(float)
    learner = play(RankingLearner(pairs="all", dtype="float64", **options), X, grades, sizes, epochs=3)
    rule = reference.Rule(
        **{"name" if key == "rule" else key: options[key] for key in options if key in ("rule", "margin")}
    )
    others = {key: options[key] for key in options if key in ("delta", "cost")}
    twin = reference.Ranking(4, rule, pairs="all", **others)
    _, rows = rows_for(X, False)
    for _ in range(3):
        for t, (xs, own) in enumerate(zip(cut(rows, sizes), cut(grades, sizes), strict=True)):
            twin.learn_graded(xs, own.tolist(), identity=t)
    assert (learner.mistakes, learner.updates) == (twin.mistakes, twin.updates)
    assert learner.updates > 1
    assert learner.scores(X, hypothesis="last").tolist() == pytest.approx(twin.scores(rows), rel=1e-12, abs=1e-9)


def test_a_chunk_has_so_many_pairs():
    """Ctrl-C is answered between two chunks; where pairs have costs a list takes as long as it has pairs."""
    n, sizes = 6000, [1000] * 6
    X, grades = np.ones((n, 1)), np.tile([0.0, 1.0], n // 2)
    counts = {}
    for cost in (None, "grade"):
        dataset = RankingLearner(pairs="all", cost=cost).dataset(X, grades, sizes=sizes)
        counts[cost] = [len(chunk) for chunk in dataset.chunks(np.arange(6))]
    assert counts == {None: [6], "grade": [2, 2, 2]}
    assert list(dataset.chunks(np.arange(0))) == []
