"""The weights of many classes are kept without zeros, and are the same bits as those of arrays."""

import copy
import pickle
import resource

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptive
from perceptive import _core
from perceptive.certificates import certify
from perceptive.explanation import explain
from perceptive.inspection import heaviest
from perceptive.learners import LinearLearner
from perceptive.learners.weights import MANY, Cells, DenseWeights, SparseWeights
from perceptive.models.registry import from_state
from perceptive.parameters import TrainingParameters
from perceptive.training.loop import History, InMemory, Run, train

pytestmark = pytest.mark.core
CLASSES, WORDS, ROWS = 90, 120, 130
rng = np.random.default_rng(0)
Y = rng.integers(0, CLASSES, ROWS)
SPARSE = sp.csr_array(rng.integers(1, 4, (ROWS, WORDS)) * (rng.random((ROWS, WORDS)) < 0.05))
SPARSE = sp.csr_array(SPARSE + sp.csr_array((np.ones(ROWS), (np.arange(ROWS), Y)), shape=(ROWS, WORDS)))
DICTS = [{f"w{j}": float(row[j]) for j in np.flatnonzero(row)} for row in SPARSE.toarray()]
COST = 1.0 + rng.random((CLASSES, CLASSES))
np.fill_diagonal(COST, 0.0)
RULES = ["perceptron", "pa", "pa1", "pa2", "romma", "aggressive-romma", "arow"]


def dense(make):
    """The same, with arrays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("perceptive.learners.weight_vector.MANY", 10**6)
        found = make()
    for one in found if isinstance(found, tuple) else (found,):
        if isinstance(one, LinearLearner):
            assert isinstance(one.vectors[()].weights, DenseWeights)
    return found


def learned(X=SPARSE, y=Y, classes=range(CLASSES), epochs=3, shards=1, **parameters):
    learner = LinearLearner(classes if classes is None else list(classes), **{"hypothesis": "averaged", **parameters})
    training = TrainingParameters(epochs=epochs, shards=shards)
    train(Run.of(learner, training, History()), InMemory(learner.dataset(X, y, epochs=epochs), True))
    return learner


def bits(learner, norm2=True):
    """All that a learner is; `touched` counts weights that are written, of which there are fewer without zeros."""
    meta, arrays = learner.state()
    for problem in meta["problems"]:
        for name in ["touched"] + ["norm2", "norm2_error"] * (not norm2):
            problem["run"].pop(name)
    return meta, {name: (array.dtype, array.tobytes()) for name, array in arrays.items()}


def same(one, other, norm2=True):
    """‖v‖² may be a sum in another order."""
    assert isinstance(one.vectors[()].weights, SparseWeights)
    assert bits(one, norm2) == bits(other, norm2)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("X", [SPARSE, SPARSE.toarray(), SPARSE.astype(np.float32)], ids=["sparse", "dense", "float32"])
def test_same_bits_for_every_rule(rule, X):
    make = lambda: learned(X, rule=rule)  # noqa: E731
    one, other = make(), dense(make)
    same(one, other)
    for hypothesis in ("last", "averaged"):
        assert one.scores(X, hypothesis).tobytes() == other.scores(X, hypothesis).tobytes()
        for mine, theirs in zip(one.vectors[()].vector(hypothesis), other.vectors[()].vector(hypothesis), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    "parameters",
    [
        {"dtype": "float64"}, {"hypothesis": "last"}, {"delta": 0.5}, {"normalize": True, "margin": 1.0},
        {"average": "mistakes"}, {"bias": 0.0}, {"rule": "mira", "cost": COST}, {"rule": "arow", "hypothesis": "last"},
        {"hypothesis": "voted"}, {"hypothesis": "best"}, {"hypothesis": "random"},
        {"rule": "romma", "hypothesis": "best"},
        {"rule": "arow", "hypothesis": "voted"}, {"keep": "all", "max_voters": 20}, {"n_features": 2**14},
    ],
    ids=lambda parameters: "-".join(parameters),
)  # fmt: skip
def test_same_bits_for_every_option(parameters):
    X = sp.csr_array((SPARSE.data, SPARSE.indices, SPARSE.indptr), shape=(ROWS, parameters.get("n_features", WORDS)))
    make = lambda: learned(X, **parameters)  # noqa: E731
    one, other = make(), dense(make)
    same(one, other)
    assert one.scores(X).tobytes() == other.scores(X).tobytes()
    assert one.predict_many(X) == other.predict_many(X)


@pytest.mark.parametrize("rule", ["perceptron", "arow"])
@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("X", [SPARSE, DICTS], ids=["rows", "dicts"])
def test_same_bits_where_classes_come_later(rule, shards, X):
    """From two classes to all of them, and sorted in the end; a third of the features come later, too."""
    numbers = [f"c{y}" for y in Y]
    make = lambda: learned(X, numbers, None, rule=rule, shards=shards)  # noqa: E731
    one, other = make(), dense(make)
    mine, theirs = bits(one), bits(other)
    assert mine[1] == theirs[1]
    one.finish(), other.finish()
    assert one.classes == sorted(one.classes)
    assert one.scores(X).tobytes() == other.scores(X).tobytes()


@pytest.mark.parametrize("rule", ["perceptron", "pa1", "arow"])
@pytest.mark.parametrize("hypothesis", ["last", "averaged"])
def test_same_bits_of_shards(rule, hypothesis):
    make = lambda: learned(rule=rule, hypothesis=hypothesis, shards=3)  # noqa: E731
    same(make(), dense(make), norm2=False)


def test_one_example_at_a_time():
    def stream():
        learner = LinearLearner(hypothesis="averaged")
        said = []
        for x, y in zip(DICTS, Y.tolist(), strict=True):
            said.append(learner.predict(x) if learner.classes else None)
            learner.learn(x, y)
        return learner, said

    one, other = stream(), dense(stream)
    assert one[1] == other[1]
    assert bits(one[0])[1] == bits(other[0])[1]
    assert isinstance(one[0].vectors[()].weights, SparseWeights)


@pytest.mark.parametrize("rule", ["perceptron", "arow"])
def test_states_pickles_and_copies_go_on(rule):
    one, other = learned(rule=rule), dense(lambda: learned(rule=rule))
    again = [
        from_state("LinearLearner", one.state()),
        pickle.loads(pickle.dumps(one)),
        copy.deepcopy(one),
    ]
    for learner in again:
        assert bits(learner) == bits(one)
        learner.learn_many(SPARSE[:50], Y[:50])
    dense(lambda: other.learn_many(SPARSE[:50], Y[:50]))
    for learner in again:
        assert bits(learner) == bits(other)


def test_snapshots():
    learner = learned()
    snapshot, before = learner.snapshot(), bits(learner)
    learner.learn_many(SPARSE[:50], Y[:50])
    assert bits(learner) != before
    for _ in range(2):
        learner.restore(snapshot)
        assert bits(learner) == before
        learner.learn_many(SPARSE[50:], Y[50:])
    few = LinearLearner()
    few.learn_many(SPARSE[:20], Y[:20])
    snapshot = few.snapshot()
    few.learn_many(SPARSE, Y)
    with pytest.raises(ValueError, match="too few weights"):
        few.restore(snapshot)


def test_very_many_updates_widen_the_weights(monkeypatch):
    monkeypatch.setattr("perceptive.learners.weight_vector.MOST_UPDATES", 100)
    make = lambda: learned(hypothesis="averaged", keep="all")  # noqa: E731
    one, other = make(), dense(make)
    assert one.vectors[()].dtype == np.float64
    same(one, other)


@pytest.mark.parametrize("precision", [None, "int8", "float16"])
@pytest.mark.parametrize("bits_of_hash", [None, 14])
def test_pruning(precision, bits_of_hash):
    def make():
        X = SPARSE if bits_of_hash is None else DICTS
        learner = learned(X, rule="arow", bits=bits_of_hash)
        learner.prune(0.05, precision=precision)
        scores = learner.scores(X)
        again = from_state("LinearLearner", learner.state())
        assert again.scores(X).tobytes() == scores.tobytes()
        again.learn_many(X, Y)
        return learner, again

    (one, then), (other, after) = make(), dense(make)
    same(one, other, norm2=False)
    same(then, after, norm2=False)


def test_start_from_given_weights():
    w, b = rng.normal(size=(WORDS, 92)).astype(np.float32), rng.normal(size=CLASSES)
    w[:, CLASSES:] = 0
    w[rng.random(w.shape) < 0.9] = 0

    def make():
        learner = LinearLearner(list(range(CLASSES)), keep="all")
        learner.dataset(SPARSE, Y)
        learner.start({(): (w, b)})
        learner.learn_many(SPARSE, Y)
        return learner

    one, other = make(), dense(make)
    same(one, other, norm2=False)
    for hypothesis in ("last", "best", "voted"):
        assert one.scores(SPARSE, hypothesis).tobytes() == other.scores(SPARSE, hypothesis).tobytes()
    mine, theirs = certify(one, SPARSE, Y), certify(other, SPARSE, Y)
    assert mine.bound == pytest.approx(theirs.bound, rel=1e-12)


def test_inspection_and_explanation_and_certificate():
    one, other = learned(keep="all"), dense(lambda: learned(keep="all"))
    assert heaviest(one, 3) == heaviest(other, 3)
    for row in range(5):
        assert explain(one, SPARSE[[row]]) == explain(other, SPARSE[[row]])
    mine, theirs = certify(one, SPARSE, Y), certify(other, SPARSE, Y)
    assert mine.bound == pytest.approx(theirs.bound, rel=1e-12)
    assert mine.holds


def test_estimator():
    def fit():
        model = perceptive.LinearClassifier(epochs=2).fit(SPARSE, Y)
        more = copy.deepcopy(model).set_params(warm_start=True).fit(SPARSE, Y)
        return model.coef_, model.intercept_, more.coef_

    for mine, theirs in zip(fit(), dense(fit), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_overflow_is_told():
    X = sp.csr_array(np.full((CLASSES, 1), 3e38))
    learner = LinearLearner(list(range(CLASSES)), learning_rate=10.0)
    with pytest.raises(ValueError, match="overflowed"):
        learner.learn_many(X, np.arange(CLASSES))


@pytest.mark.once
def test_memory_grows_with_the_weights_that_there_are():
    """A thousand classes over 2¹⁸ columns would be a gigabyte in each array."""
    n, d, rng = 1000, 2**18, np.random.default_rng(4)
    X = sp.csr_array((np.ones(5 * n), rng.integers(0, d, 5 * n), 5 * np.arange(n + 1)), shape=(n, d))
    X.sum_duplicates()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    learner = LinearLearner(list(range(n)), rule="arow", hypothesis="averaged")
    learner.learn_many(X, np.arange(n))
    learner.finish()
    assert np.mean(learner.predict_many(X) == np.arange(n)) > 0.95
    [vector] = learner.vectors.values()
    assert len(vector.weights.cells().at) <= 2 * X.nnz
    assert sum(array.nbytes for array in learner.state().arrays.values()) < 1e6
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_mixtures_travel():
    learner = learned(rule="arow")
    replica = learner.replica()
    replica.learn_many(SPARSE[:50], Y[:50])
    mixture = learner.mixture(replica, by_updates=False)
    again = pickle.loads(pickle.dumps(mixture))
    other = copy.deepcopy(learner)
    learner.mix(mixture)
    other.mix(again)
    assert bits(learner) == bits(other)
    assert learner.updates > 0


# ---------------------------------------------------------------------- the rows of the core


@given(st.data(), st.sampled_from([np.float32, np.float64]))
@settings(max_examples=30, deadline=None)
def test_cells_there_and_back(data, dtype):
    """Rows of any fill, spread out or not, give the cells that were set, −0 included."""
    width = data.draw(st.sampled_from([4, 16, 100]))
    places = st.dictionaries(st.integers(0, 5 * width - 1), st.sampled_from([1.0, -0.0, 2.5, 1e-30]), max_size=120)
    cells = sorted(data.draw(places).items())
    at = np.array([place for place, _ in cells], np.int64)
    z = np.array([value for _, value in cells], dtype)
    values = {"z": z, "sum": z * 2, "sigma": np.where(z == 1, 0.5, z).astype(dtype)}
    weights = SparseWeights(["z", "sum", "sigma"], dtype, width)
    some = data.draw(st.integers(1, 3))  # rows that are there already get more
    for first in range(some):
        weights.core.set(
            width, at[first::some].copy(), **{name: array[first::some].copy() for name, array in values.items()}
        )
    found = weights.cells()
    assert found.at.tolist() == at.tolist()
    for name, array in values.items():
        assert found.values[name].tobytes() == array.tobytes()
    again = pickle.loads(pickle.dumps(weights)).astype(dtype).with_room(10, 2 * width)
    assert again.core.width == 2 * width
    assert again.cells(width).at.tolist() == at.tolist()
    spread = weights.to_array(5)
    for c in range(width):
        np.testing.assert_array_equal(weights.column(c, 5), spread[:, c])


def test_cells_are_added_up():
    one = Cells(np.array([1, 5]), {"z": np.array([1.0, 2.0])}, 4)
    other = Cells(np.array([0, 5]), {"z": np.array([10.0, 20.0])}, 4)
    found = one + other
    assert (found.at.tolist(), found.values["z"].tolist()) == ([0, 1, 5], [10.0, 1.0, 22.0])


@pytest.mark.parametrize(
    ("stride", "at", "parts", "message"),
    [
        (8, [0], {}, "no room"),
        (0, [0], {}, "no room"),
        (4, [-1], {}, "in range"),
        (4, [2**40], {}, "in range"),
        (4, [0, 1], {}, "differ in number"),
        (4, [0], {"sum": np.ones(1, np.float32)}, "other parts"),
    ],
)
def test_cells_that_do_not_fit(stride, at, parts, message):
    weights = _core.SparseWeights32(4)
    with pytest.raises(ValueError, match=message):
        weights.set(stride, np.array(at, np.int64), np.ones(1, np.float32), **parts)


def test_a_feature_far_out_takes_no_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _core.SparseWeights32(100).set(100, np.array([2**27 * 100]), np.ones(1, np.float32))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB; a gigabyte is set aside


def test_classes_are_numbered_anew():
    z = rng.normal(size=(40, 100)) * (rng.random((40, 100)) < np.linspace(0, 1, 40)[:, None])
    weights, to = SparseWeights.of_arrays({"z": z}), rng.permutation(100)
    weights.sorted(to, 100).with_room(0, 104)
    expected = np.zeros((40, 200))
    expected[:, to] = z
    np.testing.assert_array_equal(weights.to_array(40), expected)
    for bad in ([0, 0], [-1, 0], [1, 2], range(204)):
        with pytest.raises(ValueError, match=r"own number|more classes"):
            weights.core.relabel(np.array(bad, np.int64))
    for width in (96, 203):
        with pytest.raises(ValueError, match=r"less room|multiple of 4"):
            weights.core.widen(width)


def test_cells_must_rise():
    with pytest.raises(ValueError, match="must rise"):
        _core.SparseWeights32(4).set(4, np.array([3, 3]), np.ones(2, np.float32))


@pytest.mark.parametrize("width", [0, 3, 2**31])
def test_bad_widths(width):
    with pytest.raises(ValueError, match="multiple of 4"):
        _core.SparseWeights64(width)


def test_few_classes_have_arrays():
    learner = LinearLearner(list(range(MANY)))
    learner.learn_many(SPARSE, Y % MANY)
    assert isinstance(learner.vectors[()].weights, DenseWeights)
