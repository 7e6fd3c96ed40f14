"""The worked examples of the lecture notes, number by number, through the learner and through the estimator."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from perceptive import LinearClassifier
from perceptive.games import cycle, separate
from perceptive.learners import LinearLearner
from perceptive.learners.linear import ALL

pytestmark = pytest.mark.core

AS_IN_THE_NOTES = {"hypothesis": "last", "bias": 0.0}


def learner(start, **parameters):
    """A binary learner of −1 and +1 that starts from the given weights."""
    start = np.array(start, dtype=float)
    L = LinearLearner(classes=[-1, 1], n_features=len(start), **{**AS_IN_THE_NOTES, **parameters})
    L.start({ALL: (start[:, None], np.zeros(1))})
    return L


def weights(L):
    return L.vectors[ALL].vector("last")[0][:, 0].tolist()


def classifier(**parameters):
    return LinearClassifier(**{**AS_IN_THE_NOTES, "shuffle": False, **parameters})


def with_bias(points):
    return np.array([[1, *point] for point in points])


# ---------------------------------------------------------------- 001 §3: the movies

MOVIES = with_bias([(1, 1), (3, 2), (2, 4), (3, 4), (2, 3)])
PROFIT = np.array([-1, 1, 1, 1, -1])


def test_movies_step_by_step():
    L = learner([-1, 0, 0], ties="positive")
    before, scores, mistakes = [], [], []
    for x, y in zip(MOVIES, PROFIT, strict=True):
        before.append(weights(L))
        scores.append(L.score(x))
        mistakes.append(L.learn(x, y))
    assert before == [[-1, 0, 0], [-1, 0, 0], [0, 3, 2], [0, 3, 2], [0, 3, 2]]
    assert scores == [-1, -1, 14, 17, 12]
    assert mistakes == [False, True, False, False, True]
    assert weights(L) == [-1, 1, -1]
    # point 2 scores 0, which counts as +
    assert [L.predict(x) == y for x, y in zip(MOVIES, PROFIT, strict=True)] == [True, True, False, False, True]
    assert L.score(MOVIES[1]) == 0


@pytest.mark.parametrize("bias_is", ["a column", "the bias"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_movies_with_fit(bias_is, dtype):
    def fit(epochs):
        if bias_is == "a column":
            clf = classifier(ties="positive", epochs=epochs, dtype=dtype)
            clf.fit(MOVIES, PROFIT, coef_init=[-1, 0, 0])
            return clf, clf.coef_[0].tolist()
        clf = classifier(ties="positive", epochs=epochs, dtype=dtype, bias=1.0)
        clf.fit(MOVIES[:, 1:], PROFIT, coef_init=[0, 0], intercept_init=[-1])
        return clf, [*clf.intercept_.tolist(), *clf.coef_[0].tolist()]

    clf, w = fit(1)
    assert w == [-1, 1, -1]
    assert clf.mistakes_.tolist() == [2]
    clf, w = fit(1000)
    assert w == [-24, 10, 1]
    assert (clf.n_iter_, clf.updates_.sum(), clf.mistakes_.sum(), clf.converged_) == (176, 339, 339, True)
    X = MOVIES if bias_is == "a column" else MOVIES[:, 1:]
    assert clf.predict(X).tolist() == PROFIT.tolist()


def test_movies_with_learn():
    L = learner([-1, 0, 0], ties="positive")
    passes = 0
    while True:
        passes += 1
        before = L.updates
        for x, y in zip(MOVIES, PROFIT, strict=True):
            L.learn(x, y)
        if L.updates == before:
            break
    assert (passes, L.updates, weights(L)) == (176, 339, [-24, 10, 1])


def test_movies_in_exact_arithmetic():
    end = cycle(MOVIES, PROFIT, [-1, 0, 0], ties="positive")
    assert (end.epochs, end.updates, end.weights) == (176, 339, (-24, 10, 1))


def scenario(highest, profitable):
    points = list(itertools.product(range(1, highest + 1), repeat=2))
    return with_bias(points), np.array([1 if profitable(a, b) else -1 for a, b in points])


def test_scenario_a_more_than_8_in_total_is_learned():
    X, y = scenario(8, lambda a, b: a + b > 8)
    clf = classifier(epochs=1000).fit(X, y)
    assert clf.converged_
    assert clf.score(X, y) == 1
    assert separate(X, y).separable
    # The notes' [−8, 1, 1] errs at a total of exactly 8, since a score of 0 counts as +.
    notes = X @ [-8, 1, 1] >= 0
    assert X[notes != (y > 0)].sum(axis=1).tolist() == [9] * 7  # the 1 of the bias included
    # And scores of 1 to 4 never exceed 8: there is nothing to learn.
    assert set(scenario(4, lambda a, b: a + b > 8)[1]) == {-1}


SCENARIOS = {
    "b: each gives 2 or 3": lambda a, b: {a, b} <= {2, 3},
    "c: both agree": lambda a, b: a == b,
}


@pytest.mark.parametrize("rule", SCENARIOS)
def test_scenarios_b_and_c_cannot_be_learned(rule):
    X, y = scenario(4, SCENARIOS[rule])
    # By Gordan's theorem: a mean of the y·x that is 0 leaves no room for w.
    proof = separate(X, y)
    assert not proof.separable
    assert proof.exact
    assert sum(proof.witness) == 1
    assert min(proof.witness) >= 0
    assert all(sum(share * Fraction(int(z)) for share, z in zip(proof.witness, column, strict=True)) == 0
               for column in (X * y[:, None]).T)  # fmt: skip
    # By the perceptron itself: it comes back to where it was.
    circle = cycle(X, y)
    assert not circle.converged
    back = classifier(epochs=circle.period, dtype="float64").fit(X, y, coef_init=circle.weights)
    assert back.coef_[0].tolist() == list(circle.weights)
    assert not back.converged_


# ---------------------------------------------------------------- 001 Q4

Q4 = np.array([(1, 1), (0, 3), (1, -1), (3, 0), (-1, 1), (0, -3), (-1, -1), (-3, 0)])
CLASS = np.array([1, -1, 1, -1, 1, -1, 1, -1])


@pytest.mark.parametrize("ties", ["mistake", "positive"])
def test_q4_primal(ties):
    L = learner([1, 1], ties=ties)
    erred, after = [], []
    for i, (x, y) in enumerate(zip(Q4, CLASS, strict=True), start=1):
        if L.learn(x, y):
            erred.append(i)
            after.append(weights(L))
    if ties == "mistake":
        assert erred == [2, 4, 5, 6, 8]
        assert after[-1] == [0, 2]
    assert erred[:2] == [2, 4]
    assert after[:2] == [[1, -2], [-2, -2]]


def test_q4_with_fit():
    clf = classifier(epochs=1, keep="all").fit(Q4, CLASS, coef_init=[1, 1])
    assert clf.coef_.tolist() == [[0, 2]]
    assert clf.mistakes_.tolist() == [5]
    problem = clf.learner_.vectors[ALL]
    assert problem.survivals().tolist() == [2, 2, 1, 1, 2, 0]
    voters = [problem.voter(k)[0][:, 0].tolist() for k in range(6)]
    assert voters[:3] == [[1, 1], [1, -2], [-2, -2]]
    assert voters[-1] == [0, 2]


def test_q4_dual_counts():
    """α from (1, 0, …): after the first two mistakes (1, −1, 0, −1, 0, …), and w = Σ α_i x_i all along."""
    alpha, L = np.eye(8)[0], learner([1, 1])
    seen = []
    for i, (x, y) in enumerate(zip(Q4, CLASS, strict=True)):
        if L.learn(x, y):
            alpha[i] += y
            seen.append(alpha.tolist())
        assert weights(L) == (alpha @ Q4).tolist()
    assert seen[0] == [1, -1, 0, 0, 0, 0, 0, 0]
    assert seen[1] == [1, -1, 0, -1, 0, 0, 0, 0]


class TestQ4Statements:
    """Q4(i): six statements, each decided by a witness."""

    def test_linearly_separable_is_false(self):
        for X in (Q4, with_bias(Q4)):
            proof = separate(X, CLASS)
            assert not proof.separable
            assert proof.exact

    def test_separable_by_squares_is_true(self):
        squares = np.column_stack([Q4**2, np.ones(8, dtype=int)])
        assert (CLASS * (squares @ [-1, -1, 5]) > 0).all()  # inside or outside a circle
        assert classifier(epochs=1000).fit(squares, CLASS).converged_

    def test_some_kernel_separates_is_true(self):
        gram = (Q4 @ Q4.T + 1) ** 2
        assert separate(gram * CLASS, CLASS).separable  # scores Σ_j α_j y_j K(x_i, x_j)
        # a valid kernel: K = Φ·Φ with Φ = (1, √2 a, √2 b, a², √2 ab, b²)
        a, b = Q4.T.astype(float)
        root = np.sqrt(2)
        phi = np.column_stack([np.ones(8), root * a, root * b, a**2, root * a * b, b**2])
        np.testing.assert_allclose(phi @ phi.T, gram)

    def test_unambiguous_labels_always_have_a_kernel_is_true(self):
        """K(x, x') = [x = x'] maps each point to an axis of its own: any labelling is separated, in one pass."""
        rng = np.random.default_rng(0)
        points = rng.integers(0, 4, size=(60, 2))
        label = {tuple(point): int(rng.choice([-1, 1])) for point in points}
        y = np.array([label[tuple(point)] for point in points])
        gram = (points[:, None] == points[None]).all(axis=2).astype(int)
        axes = np.unique(gram, axis=1)
        assert np.array_equal(axes @ axes.T, gram)  # a valid kernel
        assert (y * (axes @ (axes.T @ y)) > 0).all()
        assert classifier().fit(axes, y).n_iter_ <= 2

    def test_all_datasets_have_a_kernel_is_false(self):
        """The same point with both labels: whatever Φ, y·w·Φ(x) > 0 for both signs is impossible."""
        point = np.array([[2, 3], [2, 3]])
        for phi in (point, with_bias(point), point**2, np.eye(2, dtype=int)[[0, 0]]):
            proof = separate(phi, [1, -1])
            assert not proof.separable
            assert proof.witness.tolist() == [Fraction(1, 2)] * 2

    def test_every_kernel_separates_something_is_false(self):
        """K = 0 is valid (Φ = 0) and separates nothing: every score is 0."""
        proof = separate(np.zeros((2, 1)), [1, -1])
        assert not proof.separable
        # nor does K = 1, without a bias: all points look the same
        assert not separate(np.ones((2, 1)), [1, -1]).separable


# ---------------------------------------------------------------- 000 §2: survivals

# One feature per v_k, so that it errs where it should: x_i·v ≤ 0 exactly at rounds 1, 4, 8 and 10.
MISTAKES_AT = (1, 4, 8, 10)


def ten_examples():
    """Ten examples, all positive: a mistake brings a new axis, the rounds until the next repeat it."""
    k = np.cumsum([i in MISTAKES_AT for i in range(1, 11)]) - 1
    return np.eye(4)[k], np.ones(10, dtype=int)


def ten_rounds(**parameters):
    X, y = ten_examples()
    L = LinearLearner(classes=[-1, 1], bias=0.0, keep="all", **parameters)
    erred = [i for i, (x, label) in enumerate(zip(X, y, strict=True), start=1) if L.learn(x, label)]
    return L, erred


def test_survivals_of_the_table():
    L, erred = ten_rounds()
    assert erred == list(MISTAKES_AT)
    problem = L.vectors[ALL]
    assert problem.survivals().tolist() == [1, 3, 4, 2, 0]
    V = np.array([problem.voter(k)[0][:, 0] for k in range(5)])
    assert V.tolist() == np.tril(np.ones((5, 4)), -1).tolist()  # v_k = e_1 + … + e_k

    # averaged: (1·v₀ + 3·v₁ + 4·v₂ + 2·v₃)/10, where learning is over
    L.open = False
    average = problem.vector("averaged")[0][:, 0]
    np.testing.assert_allclose(average, np.array([1, 3, 4, 2, 0]) @ V / 10, rtol=1e-6)
    # best: v₂, which was used for 4 examples
    assert problem.vector("best")[0][:, 0].tolist() == [1, 1, 0, 0]
    # last: v₄, which was never used
    assert problem.vector("last")[0][:, 0].tolist() == [1, 1, 1, 1]
    # voted: v₀ abstains everywhere; e₁ is known from v₁ on, e₂ from v₂ on, …
    assert [L.score(e, "voted") for e in np.eye(4)] == [0.9, 0.6, 0.2, 0.0]
    assert [L.predict(e, "voted") for e in np.eye(4)] == [1, 1, 1, -1]
    # random: one of the v_k, never v₄
    drawn = {
        tuple(ten_rounds(random_state=seed)[0].vectors[ALL].vector("random")[0][:, 0].tolist()) for seed in range(60)
    }
    assert drawn == {tuple(v) for v in V[:4].tolist()}


def test_survivals_of_the_table_with_fit():
    X, y = ten_examples()
    X, y = np.vstack([X, -X[:1]]), np.append(y, -1)  # fit wants two classes: v₄ gets −e₁ right
    clf = LinearClassifier(bias=0.0, keep="all", shuffle=False, epochs=1).fit(X, y)
    assert clf.learner_.vectors[ALL].survivals().tolist() == [1, 3, 4, 2, 1]
    assert clf.mistakes_.tolist() == [4]
    np.testing.assert_allclose(clf.coef_, [[10 / 11, 7 / 11, 3 / 11, 1 / 11]], rtol=1e-6)


# ---------------------------------------------------------------- 004


@pytest.mark.parametrize("power", [-7, -1, 1, 6])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_learning_rate_changes_no_prediction(power, n_classes):
    rng = np.random.default_rng(power + 10)
    X = rng.normal(size=(80, 4)).astype(np.float32)
    y = rng.integers(n_classes, size=80)
    one = LinearClassifier(epochs=3, keep="all").fit(X, y)
    other = LinearClassifier(epochs=3, keep="all", learning_rate=2.0**power).fit(X, y)
    assert other.mistakes_.tolist() == one.mistakes_.tolist()
    for hypothesis in ("last", "averaged", "best", "voted", "random"):
        assert (other.predict(X, hypothesis) == one.predict(X, hypothesis)).all()
    assert (other.decision_function(X, "last") == one.decision_function(X, "last") * 2.0**power).all()


@pytest.mark.parametrize("eta", [0.25, 1.0, 4.0])
def test_update_raises_the_score_by_eta_times_length_squared(eta):
    rng = np.random.default_rng(1)
    L = LinearLearner(classes=[-1, 1], hypothesis="last", learning_rate=eta)
    risen = 0
    for _ in range(60):
        x, y = rng.integers(-5, 6, size=3).astype(float), int(rng.choice([-1, 1]))
        L.learn(np.zeros(3), y)  # no features: also the bias moves by the rule
        before = y * L.score(x)
        mistake = L.learn(x, y)
        rise = y * L.score(x) - before
        assert rise == (eta * (x @ x + 1) if mistake else 0)
        risen += mistake
    assert risen > 5


def test_least_squares_on_outputs_is_four_times_the_mistakes():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(50, 3)), rng.choice([-1, 1], size=50)
    clf = LinearClassifier().fit(X, y)
    predicted = clf.predict(X)
    assert ((predicted - y) ** 2).sum() == 4 * (predicted != y).sum() > 0
    # and the perceptron criterion is what is left of it to descend
    scores = clf.decision_function(X)
    assert clf.perceptron_criterion(X, y) == pytest.approx(-(y * scores)[y * scores < 0].sum())


CORNERS = with_bias(itertools.product((0, 1), repeat=2))
GATES = {"AND": [-1, -1, -1, 1], "OR": [-1, 1, 1, 1], "XOR": [-1, 1, 1, -1]}
# The largest margin is that of the vector halfway between the classes.
WIDEST = {"AND": [-3, 2, 2], "OR": [-1, 2, 2]}


@pytest.mark.parametrize("gate", WIDEST)
def test_and_and_or_converge_in_time(gate):
    y, u = np.array(GATES[gate]), np.array(WIDEST[gate])
    gamma2 = Fraction(int(min(y * (CORNERS @ u))) ** 2, int(u @ u))
    bound = max(int(x @ x) for x in CORNERS) / gamma2
    passes = int(bound) + 1
    for X, bias in ((CORNERS, 0.0), (CORNERS[:, 1:], 1.0)):
        clf = classifier(epochs=passes, bias=bias).fit(X, y)
        assert clf.converged_
        assert clf.updates_.sum() <= bound
        assert clf.predict(X).tolist() == y.tolist()
    for order in itertools.permutations(range(4)):
        end = cycle(CORNERS[list(order)], y[list(order)])
        assert end.converged
        assert end.epochs <= passes
        assert end.updates <= bound


def test_xor_never_converges():
    y = GATES["XOR"]
    assert separate(CORNERS, y).witness.tolist() == [Fraction(1, 4)] * 4
    circle = cycle(CORNERS, y)
    assert not circle.converged
    clf = classifier(epochs=500).fit(CORNERS, y)
    assert not clf.converged_
    assert clf.n_iter_ == 500
    L = learner(circle.weights)  # one turn of the circle, example by example
    for _ in range(circle.period):
        for x, label in zip(CORNERS, y, strict=True):
            L.learn(x, label)
    assert tuple(weights(L)) == circle.weights


def test_xor_with_the_product_converges():
    X = np.column_stack([CORNERS, CORNERS[:, 1] * CORNERS[:, 2]])
    y = np.array(GATES["XOR"])
    assert separate(X, y).separable
    clf = classifier(epochs=1000).fit(X, y)
    assert clf.converged_
    assert clf.predict(X).tolist() == y.tolist()
    assert cycle(X, y).weights == tuple(clf.coef_[0].tolist())
