"""LinearRanker and JointClassifier: input of every form, hypotheses, files, metrics."""

import inspect
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import _num_samples, check_is_fitted

import perceptive
from list_data import lists_by_weights
from perceptive import KernelRanker, LinearRanker
from perceptive.evaluation import metrics
from perceptive.learners import RankingLearner
from perceptive.model_file import ModelFileError
from perceptive.parameters import RankingParameters, TrainingParameters

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def lists():
    return lists_by_weights(300)


def flat(X, y):
    qid = np.repeat(np.arange(len(X)) * 3, [len(xs) for xs in X])
    grades = np.concatenate([np.arange(len(xs)) == b for xs, b in zip(X, y, strict=True)]).astype(float)
    return np.vstack(X), grades, qid


def test_all_forms_of_input_are_one(lists):
    X, y = lists
    rows, grades, qid = flat(X, y)
    made = {
        "lists": LinearRanker().fit(X, y),
        "lists of lists": LinearRanker().fit([xs.tolist() for xs in X], y),
        "grades": LinearRanker().fit(X, [[float(j == b) for j in range(len(xs))] for xs, b in zip(X, y, strict=True)]),
        "sets": LinearRanker().fit(X, [{b} for b in y]),
        "sparse lists": LinearRanker().fit([sp.csr_array(xs) for xs in X], y),
        "queries": LinearRanker().fit(rows, grades, qid=qid),
        "sparse queries": LinearRanker().fit(sp.csr_matrix(rows), grades, qid=qid),
        "named queries": LinearRanker().fit(rows, grades, qid=qid.astype(str)),
    }
    expected = made["lists"].coef_
    for name, ranker in made.items():
        assert ranker.coef_ == pytest.approx(expected, abs=1e-4), name
    assert made["lists"].score(X, y) > 0.95
    assert made["queries"].score(rows, grades, qid=qid) == made["lists"].score(X, y)


def test_queries_may_be_scattered(lists):
    rows, grades, qid = flat(*lists)
    order = np.random.default_rng(1).permutation(len(qid))
    ranker = LinearRanker(shuffle=False, dtype="float64").fit(rows[order], grades[order], qid=qid[order])
    scores = ranker.decision_function(rows[order], qid=qid[order])
    assert scores == pytest.approx(rows[order] @ ranker.coef_)
    best = ranker.predict(rows[order], qid=qid[order])
    first = [q for i, q in enumerate(qid[order]) if q not in qid[order][:i]]
    assert qid[order][best].tolist() == first
    for row, q in zip(best, first, strict=True):
        assert scores[row] == scores[qid[order] == q].max()


def test_dicts_and_hashed_dicts():
    X = [[{"a": 1}, {"b": 1}], [{"b": 1, "c": "x"}, {"a": 2}]]
    for bits in (None, 8):
        ranker = LinearRanker(bits=bits).fit(X, [0, 1])
        assert ranker.predict(X).tolist() == [0, 1]
        assert ranker.find_best([{"b": 1}, {"a": 1, "never met": 1}]) == 1
        flat_dicts = [x for xs in X for x in xs]
        assert LinearRanker(bits=bits).fit(flat_dicts, [1, 0, 0, 1], qid=[0, 0, 1, 1]).score(X, [0, 1]) == 1.0


def test_many_are_one_by_one(lists):
    X, y = lists
    many = LinearRanker().partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    single = LinearRanker()
    for xs, best in zip(X, y, strict=True):
        single.learn_one(xs, best)
    assert many.coef_.tolist() == single.coef_.tolist()
    assert many.mistakes_.sum() == single.learner_.mistakes
    assert many.learner_.fingerprint == single.learner_.fingerprint
    assert single.predict_one(X[0]) == single.rank(X[0])[0][0]


def test_one_list_at_a_time_with_every_kind_of_answer():
    """`learn` takes what `fit` takes for a list: an index, a set, grades; and says whether it was a mistake."""
    xs = np.eye(3)
    for ranker in (LinearRanker(pairs="all", hypothesis="last"), KernelRanker(kernel="linear", pairs="all")):
        assert ranker.learn(xs, 1)
        assert not ranker.learn(xs, {1})
        assert ranker.learn(xs, [0.0, 1.0, 2.0])
        assert ranker.learn(xs, np.array([2, 1, 0]))
        many = clone(ranker).partial_fit([xs] * 4, [1, {1}, [0.0, 1.0, 2.0], np.array([2, 1, 0])])
        assert many.learner_.mistakes == ranker.learner_.mistakes == 3
        assert many.decision_function(xs).tolist() == ranker.decision_function(xs).tolist()
        for best, message in ((3, "3 candidates"), ([1.0], "one for each of the 3"), ("1", "index"), (True, "index")):
            with pytest.raises(ValueError, match=message):
                ranker.learn(xs, best)
        with pytest.raises(ValueError, match="not finite"):
            ranker.learn(xs, [0.0, np.nan, 1.0])


def test_lists_of_one_length_may_be_an_array():
    X = np.random.default_rng(0).normal(size=(30, 4, 3))
    y = np.argmax(X[:, :, 0], axis=1)
    ranker = LinearRanker().fit(X, y)
    assert ranker.predict(X).tolist() == ranker.predict(list(X)).tolist()
    assert ranker.score(X, y) > 0.8


def test_hypotheses(lists):
    X, y = lists
    ranker = LinearRanker(keep="all", epochs=3, C=0.1, rule="pa1").fit(X, y)
    for hypothesis in ("last", "averaged", "best", "voted", "random"):
        alone = LinearRanker(hypothesis=hypothesis, epochs=3, C=0.1, rule="pa1").fit(X, y)
        assert alone.predict(X).tolist() == ranker.predict(X, hypothesis=hypothesis).tolist()
    votes = ranker.decision_function(X, hypothesis="voted")
    assert all(v.min() >= 0 and v.sum() <= 1 + 1e-9 for v in votes)
    with pytest.raises(ValueError, match="keep='all'"):
        LinearRanker().fit(X, y).predict(X, hypothesis="voted")
    with pytest.raises(AttributeError, match="voted"):
        _ = LinearRanker(hypothesis="voted").fit(X, y).coef_


def test_early_stopping(lists):
    X, y = lists
    noisy = [int(b) if i % 3 else 0 for i, b in enumerate(y)]
    ranker = LinearRanker(validation_fraction=0.3, patience=1, epochs=50, hypothesis="last").fit(X, noisy)
    assert ranker.n_iter_ < 50
    assert ranker.n_iter_ == len(ranker.held_out_)


def test_weights(lists):
    X, y = lists
    weights = np.arange(len(X)) % 2
    half = LinearRanker(shuffle=False).fit(X, y, sample_weight=weights)
    alone = LinearRanker(shuffle=False).fit(X[1::2], y[1::2])
    assert half.coef_.tolist() == alone.coef_.tolist()
    with pytest.raises(ValueError, match="each of the 300 lists"):
        LinearRanker().fit(X, y, sample_weight=[1.0])


def test_grades_beat_the_best_alone_on_the_whole_order():
    rng = np.random.default_rng(2)
    w = rng.normal(size=20)
    X = [rng.normal(size=(10, 20)) for _ in range(200)]
    y = [np.argsort(np.argsort(xs @ w)) // 2 for xs in X]
    starts = np.arange(0, 2010, 10)
    found = {}
    for pairs in ("best", "all"):
        ranker = LinearRanker(pairs=pairs, epochs=1).fit(X[:100], y[:100])
        scores = np.concatenate(ranker.decision_function(X))
        found[pairs] = metrics.ndcg(np.concatenate(y), scores, starts)
    assert found["all"] > found["best"]


def test_parameters_are_declared_once():
    """The estimator's signature has the declared names and defaults."""
    signature = {name: p.default for name, p in inspect.signature(LinearRanker).parameters.items()}
    declared = {f.name: f.default for kind in (RankingParameters, TrainingParameters) for f in fields(kind)}
    assert signature == {**declared, "certify": False}


def test_contract(lists):
    ranker = LinearRanker(pairs="all", C=0.5)
    assert clone(ranker).get_params() == ranker.get_params()
    with pytest.raises(ValueError, match="not fitted"):
        ranker.predict([[[1.0]]])
    check_is_fitted(ranker.fit(*lists))
    ranker.set_params(C=2.0)
    with pytest.raises(ValueError, match="parameters have changed"):
        ranker.partial_fit(*lists)


def queries(X):
    """Five lists, of rows from all over: y may be sorted."""
    return np.arange(_num_samples(X)) % 5


class OfRows:
    """A ranker in the terms of scikit-learn's checks, which know no queries; it predicts a score per row."""

    def fit(self, X, y):
        return super().fit(X, y, qid=queries(X))

    def partial_fit(self, X, y):
        return super().partial_fit(X, y, qid=queries(X))

    def predict(self, X):
        return self.decision_function(X)

    def score(self, X, y):
        return super().score(X, y, qid=queries(X))


class LinearOfRows(OfRows, LinearRanker):
    __init__ = LinearRanker.__init__


class KernelOfRows(OfRows, KernelRanker):
    __init__ = KernelRanker.__init__


EXPECTED = {
    "check_fit2d_1sample": "one candidate is a list without a round; the error says that nothing is to be learned",
}


@parametrize_with_checks([LinearOfRows(), KernelOfRows(), LinearOfRows(hypothesis="best", pairs="worst")],
                         expected_failed_checks=lambda ranker: EXPECTED)  # fmt: skip
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_scikit_learn_checks_know_no_queries():
    """Why they are run on the above: without queries rows are refused, and the cure is named."""
    with pytest.raises(ValueError, match="qid is missing"):
        LinearRanker().fit(np.eye(3), [1, 0, 0])


def test_names_of_columns(lists, tmp_path):
    rows, grades, qid = flat(*lists)
    frame = pd.DataFrame(rows, columns=list("abcdef"))
    ranker = LinearRanker().fit(frame, grades, qid=qid)
    assert ranker.feature_names_in_.tolist() == list("abcdef")
    assert ranker.n_features_in_ == 6
    perceptive.save(ranker, tmp_path / "named.model")
    assert perceptive.load(tmp_path / "named.model").feature_names_in_.tolist() == list("abcdef")
    assert LinearRanker().fit(*lists).n_features_in_ == 6
    assert (
        ranker.predict(frame, qid=qid).tolist()
        == LinearRanker().fit(rows, grades, qid=qid).predict(rows, qid=qid).tolist()
    )
    assert ranker.predict(frame[list("fedcba")], qid=qid).tolist() == ranker.predict(frame, qid=qid).tolist()
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(frame[list("fedcb")], qid=qid)
    with pytest.raises(ValueError, match="all of these have weight 0"):
        LinearRanker().fit(*lists, sample_weight=np.zeros(300))


@pytest.mark.parametrize(
    ("X", "y", "qid", "message"),
    [
        ([], [], None, "no lists"),
        ([[[1.0], [2.0]], []], [0, 0], None, "no candidates"),
        ([[[1.0], [2.0]]], [2], None, "list 0: best is 2"),
        ([[[1.0], [2.0]]], [0, 1], None, "1 lists, but y has 2"),
        ([[[1.0], [2.0]]], [[1.0]], None, "list 0: grades have shape"),
        ([[[1.0], [np.nan]]], [0], None, "NaN"),
        ([[[1.0]], [[2.0]]], [0, 0], None, "nothing to learn"),
        (
            [[[1.0], [2.0]], [[1.0, 2.0]]],
            [0, 0],
            None,
            "list 1: its candidates have 2 features, those of list 0 have 1",
        ),
        (np.eye(3), [1, 0, 0], None, "qid is missing"),
        (np.eye(3), [1, 0, 0], [1, 1], "one query for each of the 3 rows"),
        (np.eye(3), [1, 0], [1, 1, 1], "one for each of the 3"),
        (np.eye(3), [1, 0, 0], [1, 1, np.nan], "qid contains NaN"),
        (np.eye(3), None, [1, 1, 1], "y is None"),
    ],
)
def test_bad_input(X, y, qid, message):
    ranker = LinearRanker()
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y, qid=qid)
    assert not hasattr(ranker, "learner_")


def test_a_refused_partial_fit_teaches_nothing(lists):
    ranker = LinearRanker().partial_fit(*lists)
    before = ranker.coef_.copy(), ranker.rounds_, ranker.mistakes_.tolist()
    with pytest.raises(ValueError, match="list 1: best is 7"):
        ranker.partial_fit([np.ones((2, 6)), np.ones((2, 6))], [0, 7])
    assert (ranker.coef_ == before[0]).all()
    assert (ranker.rounds_, ranker.mistakes_.tolist()) == before[1:]


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("hypothesis", ["averaged", "voted"])
@pytest.mark.parametrize("kind", ["estimator", "learner", "dicts"])
def test_save_and_load(tmp_path, lists, hypothesis, kind):
    X, y = lists
    if kind == "dicts":
        X = [[{f"f{j}": float(v) for j, v in enumerate(x)} for x in xs] for xs in X]
    ranker = LinearRanker(hypothesis=hypothesis, epochs=3, pairs="worst").fit(X[:200], y[:200])
    path = tmp_path / "rank.model"
    perceptive.save(ranker.learner_ if kind == "learner" else ranker, path)
    again = (perceptive.load_learner if kind == "learner" else perceptive.load)(path)
    assert isinstance(again, RankingLearner if kind == "learner" else LinearRanker)
    if kind == "learner":
        assert [again.find_best(xs) for xs in X] == ranker.predict(X).tolist()
        return
    assert again.predict(X).tolist() == ranker.predict(X).tolist()
    assert again.get_params() == ranker.get_params()
    assert again.mistakes_.tolist() == ranker.mistakes_.tolist()
    for one in (ranker, again):
        one.partial_fit(X[200:], y[200:])
    assert again.predict(X).tolist() == ranker.predict(X).tolist()
    certificates = [one.certificate(X[:200], y[:200]) for one in (ranker, again)]
    assert str(certificates[0]) == str(certificates[1])


def test_damaged_models_are_refused(tmp_path, lists):
    from perceptive import model_file

    path = tmp_path / "rank.model"
    perceptive.save(LinearRanker().fit(*lists), path)
    kind, meta, arrays = model_file.read(path)
    for change in ({"n_features": 7}, {"played": -1}, {"parameters": {"rule": "romma"}}, {"problem": {}}):
        model_file.write(path, kind, {**meta, **change}, dict(arrays))
        with pytest.raises(ModelFileError, match="does not fit together"):
            perceptive.load(path)
    with pytest.raises(ValueError, match="has not learned"):
        perceptive.save(LinearRanker(), path)
