"""KernelRanker as an estimator: its contract, bad input, files."""

import inspect
import pickle
from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import perceptive
from list_data import lists_by_weights
from perceptive import KernelRanker, _core
from perceptive.kernels import Custom, Gaussian, Linear, Spectrum, SubsetTree
from perceptive.learners import KernelRankingLearner
from perceptive.model_file import ModelFileError
from perceptive.parameters import KernelRankingParameters, TrainingParameters
from test_ranking_twin import PAIRS

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def lists():
    return lists_by_weights(150, noisy=True)


# ---------------------------------------------------------------- the estimator's contract


def test_parameters_are_declared_once():
    signature = {name: p.default for name, p in inspect.signature(KernelRanker).parameters.items()}
    declared = {f.name: f.default for kind in (KernelRankingParameters, TrainingParameters) for f in fields(kind)}
    assert signature == {**declared, "certify": False}
    documented = inspect.getdoc(KernelRanker)
    assert all(f"\n{name} : " in documented for name in declared)


def test_contract(lists):
    ranker = KernelRanker(kernel=Gaussian(gamma=0.1), pairs="all")
    assert clone(ranker).get_params() == ranker.get_params()
    with pytest.raises(ValueError, match="not fitted"):
        ranker.predict([[[1.0]]])
    ranker.fit(*lists)
    again = pickle.loads(pickle.dumps(ranker))
    assert again.predict(lists[0]).tolist() == ranker.predict(lists[0]).tolist()
    ranker.set_params(C=2.0)
    with pytest.raises(ValueError, match="parameters have changed"):
        ranker.partial_fit(*lists)


@pytest.mark.parametrize(
    ("kernel", "X", "y", "qid", "message"),
    [
        ("linear", [], [], None, "no lists"),
        ("linear", [[[1.0], [2.0]], []], [0, 0], None, "no candidates"),
        ("spectrum(2)", [["a", "b"], []], [0, 0], None, "no candidates"),
        ("spectrum(2)", ["ab", "cd"], [0, 0], None, "not a single str"),
        ("linear", [[[1.0], [2.0]]], [2], None, "list 0: best is 2"),
        ("linear", [[[1.0], [2.0]]], [0, 1], None, "1 lists, but y has 2"),
        ("linear", [[[1.0], [np.nan]]], [0], None, "nan"),
        ("linear", [[[1.0]], [[2.0]]], [0, 0], None, "nothing to learn"),
        ("linear", np.eye(3), [1, 0, 0], None, "qid is missing"),
        ("linear", np.eye(3), [1, 0, 0], [1, 1], "one query for each of the 3 rows"),
        ("spectrum(1)", ["a", "b"], [1, 0], [1], "one query for each of the 2 rows"),
        ("linear", np.eye(3), None, [1, 1, 1], "y is None"),
        (Custom(lambda a, b: -1.0), [["a", "b"]], [0], None, "finite numbers ≥ 0"),
    ],
)
def test_bad_input(kernel, X, y, qid, message):
    ranker = KernelRanker(kernel=kernel)
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y, qid=qid)
    assert not hasattr(ranker, "learner_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rule": "romma"}, "rule=.*: it must be one of"),
        ({"pairs": "some"}, "pairs=.*: it must be one of"),
        ({"rule": "pa", "margin": 1.0}, "margin does not go"),
        ({"delta": 1.0, "cost": "grade"}, "delta does not go"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelRankingLearner(**parameters)


def test_a_refused_partial_fit_teaches_nothing(lists):
    ranker = KernelRanker(kernel="linear").partial_fit(*lists)
    before = ranker.alpha_, ranker.rounds_, ranker.learner_.fingerprint, ranker.learner_.seen
    with pytest.raises(ValueError, match="list 1: best is 7"):
        ranker.partial_fit([np.ones((2, 6)), np.ones((2, 6))], [0, 7])
    with pytest.raises(ValueError, match="expecting 6 features"):
        ranker.partial_fit([np.ones((2, 5))], [0])
    with pytest.raises(ValueError, match="dense rows"):
        ranker.partial_fit([sp.csr_array(np.ones((2, 6)))], [0])
    assert ranker.alpha_.tolist() == before[0].tolist()
    assert (ranker.rounds_, ranker.learner_.fingerprint, ranker.learner_.seen) == before[1:]


@pytest.mark.parametrize(
    ("grades", "sizes", "message"),
    [
        ([1, 0, 0], [2], "2 candidates in all, but X has 3 rows"),
        ([1, 0, 0], [3, 0], "list 1 has no candidates"),
        ([1, 0], [3], "one for each of the 3"),
        ([1, 0, np.inf], [3], "grade 2 is not finite"),
    ],
)
def test_bad_groups(grades, sizes, message):
    learner = KernelRankingLearner(kernel="linear")
    with pytest.raises(ValueError, match=message):
        learner.learn_many(np.eye(3), grades, sizes=sizes)
    assert learner.dual is None
    assert not learner.learn([[1.0, 2.0]], 0)  # one candidate is no round
    assert (learner.rounds, learner.mistakes) == (0, 0)


def test_the_core_checks_what_it_is_given():
    player = _core.ListPlayer("perceptron", 1.0, 0.0, 1.0, "best")
    scores, grades, extra = np.zeros(3), np.array([1.0, 0, 0]), np.zeros(1)
    good = {"scores": scores, "starts": np.array([0, 3]), "grades": grades, "gains": None, "weights": None,
            "extra": extra, "begin": 0, "shares": np.zeros(3)}  # fmt: skip
    assert player.scan(**good) == (0, 1, 1, 0.0, 0.0, 1.0)
    bad = [
        {"starts": np.array([0, 2])},
        {"starts": np.array([0, 0, 3])},
        {"grades": np.zeros(2)},
        {"grades": np.array([1.0, np.nan, 0.0])},
        {"gains": np.zeros(2)},
        {"weights": np.zeros(2)},
        {"extra": np.zeros(2)},
        {"shares": np.zeros(2)},
        {"begin": -1},
    ]
    for change in bad:
        with pytest.raises(ValueError, match=r"."):
            player.scan(**{**good, **change})
    with pytest.raises(ValueError, match="length 0"):
        player.step(0.0, 0.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="does not go here"):
        _core.ListPlayer("romma", 1.0, 0.0, 1.0, "best")
    K, votes = np.zeros((3, 1)), np.zeros(3, np.int64)
    for slot, starts, out in ((1, [0, 3], votes), (-1, [0, 3], votes), (0, [0, 2], votes), (0, [0, 3], votes[:2])):
        journal = _core.DualJournal()
        journal.write_together(np.array([slot]), np.ones(1), 1, 0.0, 1.0, 1.0)
        with pytest.raises(ValueError, match=r"."):
            journal.list_votes(K, 2, np.array(starts), out)
    with pytest.raises(ValueError, match="differ in length"):
        journal.write_together(np.array([0]), np.ones(2), 1, 0.0, 1.0, 1.0)


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("kind", ["estimator", "learner", "trees", "pairs"])
def test_save_and_load(tmp_path, lists, kind):
    X, y = lists[0][:60], lists[1][:60]
    kernel = {"trees": SubsetTree(0.5), "pairs": Linear().on(0) + Spectrum(1).on(1)}.get(kind, "gaussian")
    if kind == "trees":
        X = [[f"(S {' '.join('(A b)' if v > 0 else '(B c)' for v in x)})" for x in xs] for xs in X]
    if kind == "pairs":
        X = [[(x.tolist(), "ab"[int(x[0] > 0)]) for x in xs] for xs in X]
    ranker = KernelRanker(kernel=kernel, epochs=3, pairs="worst").fit(X[:30], y[:30])
    path = tmp_path / "rank.model"
    perceptive.save(ranker.learner_ if kind == "learner" else ranker, path)
    again = (perceptive.load_learner if kind == "learner" else perceptive.load)(path)
    assert isinstance(again, KernelRankingLearner if kind == "learner" else KernelRanker)
    if kind == "learner":
        assert [again.find_best(xs) for xs in X] == ranker.predict(X).tolist()
        return
    for hypothesis in ("averaged", "voted", "best"):
        assert again.predict(X, hypothesis=hypothesis).tolist() == ranker.predict(X, hypothesis=hypothesis).tolist()
    assert again.get_params() == ranker.get_params()
    assert again.mistakes_.tolist() == ranker.mistakes_.tolist()
    assert str(again.certificate(X[:30], y[:30])) == str(ranker.certificate(X[:30], y[:30]))
    assert not again.certificate(X[:30], y[:30]).hypothetical
    for one in (ranker, again):
        one.partial_fit(X[30:50], y[30:50])
    assert again.predict(X).tolist() == ranker.predict(X).tolist()
    assert again.learner_.fingerprint == ranker.learner_.fingerprint


def test_functions_are_asked_for_again(tmp_path):
    def overlap(a, b):
        return len(set(a) & set(b))

    path = tmp_path / "rank.model"
    ranker = KernelRanker(kernel=overlap).fit([["abc", "xyz"], ["ab", "xy"]], [0, 0])
    perceptive.save(ranker, path)
    with pytest.raises(ValueError, match="functions="):
        perceptive.load(path)
    again = perceptive.load(path, functions={"overlap": overlap})
    assert again.predict([["bc", "yz"]]).tolist() == [0]


def test_damaged_models_are_refused(tmp_path, lists):
    from perceptive import model_file

    path = tmp_path / "rank.model"
    perceptive.save(KernelRanker().fit(*lists), path)
    kind, meta, arrays = model_file.read(path)
    for change in ({"seen": -1}, {"played": -1}, {"parameters": {"rule": "romma"}}, {"dual": {}}, {"kernel": {}}):
        model_file.write(path, kind, {**meta, **change}, dict(arrays))
        with pytest.raises(ModelFileError, match="does not fit together"):
            perceptive.load(path)
    for name, array in (("alpha", np.zeros((1, 1))), ("run0.slot", np.full_like(arrays["run0.slot"], 10**6))):
        model_file.write(path, kind, meta, {**arrays, name: array})
        with pytest.raises(ModelFileError, match="does not fit together"):
            perceptive.load(path)
    with pytest.raises(ValueError, match="has not learned"):
        perceptive.save(KernelRanker(), path)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("hypothesis", ["averaged", "best", "random", "voted", "last"])
def test_rounds_without_an_update_count(hypothesis, dtype, tmp_path):
    """What was asked for before is not what is asked for after more rounds."""
    xs = [[1.0, 0.0], [0.0, 1.0]]
    ranker = KernelRanker(kernel="linear", dtype=dtype)
    ranker.learn(xs, 1)
    for _ in range(5):
        ranker.rank(xs, hypothesis)
        ranker.learn(xs, 1)
        perceptive.save(ranker, tmp_path / "ranker.model")
        assert ranker.rank(xs, hypothesis) == perceptive.load(tmp_path / "ranker.model").rank(xs, hypothesis)
    assert ranker.learner_.updates == 1


@pytest.mark.parametrize("budget", [None, 4])
def test_rounds_without_an_update_count_for_classifiers(budget, tmp_path):
    model = perceptive.KernelClassifier(kernel="linear", budget=budget, forget="projectron")
    x = np.array([[1.0, 0.5]])
    model.partial_fit(x, [1], classes=[0, 1])
    for _ in range(5):
        before = model.decision_function(x)
        model.learn_one(x[0], 1)
        perceptive.save(model, tmp_path / "one.model")
        assert model.decision_function(x) == perceptive.load(tmp_path / "one.model").decision_function(x)
    assert model.decision_function(x) >= before


def test_a_gram_matrix_is_the_kernel_or_is_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    grades, qid, gram = (X @ [1, 2, -1]).round(), np.repeat(np.arange(6), 4), X @ X.T
    by_kernel = KernelRanker(kernel="linear", dtype="float64").fit(X, grades, qid=qid)
    ranker = KernelRanker(kernel="precomputed", dtype="float64").fit(gram, grades, qid=qid)
    assert ranker.__sklearn_tags__().input_tags.pairwise
    assert not by_kernel.__sklearn_tags__().input_tags.pairwise
    apart = rng.permutation(24)
    found = ranker.decision_function(gram[apart], qid=qid[apart])
    np.testing.assert_allclose(found, by_kernel.decision_function(X[apart], qid=qid[apart]))
    assert ranker.score(gram[apart], grades[apart], qid[apart]) == by_kernel.score(X, grades, qid)
    for again in (ranker.fit, ranker.certificate):
        with pytest.raises(ValueError, match="must be grouped by query; sort them"):
            again(gram, grades, qid=np.tile(np.arange(6), 4))
    with pytest.raises(ValueError, match="validation_fraction does not go with a precomputed"):
        clone(ranker).set_params(validation_fraction=0.3).fit(gram, grades, qid=qid)
    with pytest.raises(ValueError, match="one set of examples"):
        ranker.partial_fit(gram[4:8], grades[4:8], qid=qid[4:8])
    with pytest.raises(ValueError, match="should be square, not 4 × 24"):
        clone(ranker).fit(gram[:4], grades[:4], qid=qid[:4])


@pytest.mark.parametrize("pairs", PAIRS)
def test_long_lists_are_tiled(pairs, monkeypatch):
    """What a tile holds changes neither the run nor its certificate."""
    from perceptive.learners import kernel_lists, kernel_values

    rng = np.random.default_rng(0)
    X = [np.vstack([x, x[:2]]) for x in rng.normal(size=(4, 20, 3)).round(1)]
    y = [rng.integers(0, 3, size=22).tolist() for _ in X]
    found = []
    for columns in (kernel_values.COLUMNS, 1):
        monkeypatch.setattr(kernel_values, "COLUMNS", columns)
        for module in (kernel_lists, kernel_values):
            monkeypatch.setattr(module, "ROWS", 512 if columns > 1 else 40)
        ranker = KernelRanker(kernel="linear", rule="pa1", pairs=pairs, dtype="float64", epochs=2).fit(X, y)
        certificate = ranker.certificate(X, y)
        found.append((list(ranker.mistakes_), ranker.rank(X[0], "last"), certificate.bound, certificate.radius))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-9, atol=1e-12)
    assert found[0][2:] == pytest.approx(found[1][2:], rel=1e-9, nan_ok=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("first_pass", [1]),
        ("first_pass", ["x", 2]),
        ("n_features", "x"),
        ("n_features", -1),
        ("asked", 7),
        ("asked", "nobody"),
        ("seen", True),
        ("run0.slot", np.float32),
        ("ids", np.float64),
        ("criterion", np.int64),
    ],
)
def test_impossible_parts_of_a_file_are_refused(tmp_path, name, value):
    from perceptive import model_file

    path = tmp_path / "ranker.model"
    perceptive.save(KernelRanker(kernel="spectrum(2)").fit([["abc", "abd"], ["xab", "zzz"]], [0, 1]), path)
    kind, meta, arrays = model_file.read(path)
    if not isinstance(value, type):
        meta[name] = value
    else:
        arrays = {**arrays, name: np.array(arrays[name]).astype(value)}
    broken = tmp_path / "broken.model"
    model_file.write(broken, kind, meta, arrays)
    with pytest.raises(ModelFileError, match="does not fit together"):
        perceptive.load(broken)
