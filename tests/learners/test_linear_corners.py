"""Corners where something once went wrong."""

import copy
import pickle
import signal
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import perceptive
from perceptive import LinearClassifier, certify, reference
from perceptive.learners import LinearLearner

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)


@pytest.mark.core
@pytest.mark.parametrize("rule", ["perceptron", "pa", "romma", "aggressive-romma"])
@pytest.mark.parametrize("seed", range(6))
def test_lazy_average_where_the_scale_collapses(rule, seed):
    """Zero rows and a bias make ROMMA shrink v to almost nothing: the average must not drown in cancellation."""
    data = np.random.default_rng(seed)
    A = data.integers(-2, 3, size=(12, 2)).astype(float)
    A[::3] = 0
    b = data.integers(0, 2, size=12)
    learner = LinearLearner(classes=[0, 1], rule=rule, keep="all")
    learner.learn_many(A, b)
    problem = learner.vectors[()]
    history = [np.append(*[part.ravel() for part in problem.voter(k)]) for k in range(len(problem.journal.survival))]
    naive = reference.average(history, problem.survivals().tolist(), open=True)
    w, bias = problem.vector("averaged")
    np.testing.assert_allclose(np.append(w, bias), naive, rtol=1e-3, atol=1e-3 * np.abs(history).max())


@pytest.mark.core
@pytest.mark.parametrize("options", [{"keep": "all"}, {"delta": 1.0}, {"hypothesis": "voted"}])
def test_one_thread_learns_while_others_learn_and_predict(options):
    clf = LinearClassifier(**options).fit(X, y)
    stop = threading.Event()
    failed = []

    def work(action):
        try:
            while not stop.is_set():
                action()
        except Exception as error:
            failed.append(error)

    hypothesis = None if "delta" in options else "voted"
    actions = [lambda: clf.partial_fit(X, y), lambda: clf.partial_fit(X[:7], y[:7])]
    actions += [lambda: clf.predict(X, hypothesis=hypothesis)]
    threads = [threading.Thread(target=work, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    threading.Event().wait(0.2)
    stop.set()
    for thread in threads:
        thread.join()
    # Two threads that teach one learner may get in each other's way, but never out of bounds.
    assert all(isinstance(error, ValueError) for error in failed)


@pytest.mark.core
def test_unaligned_arrays():
    raw = np.zeros(8 * 200 + 1, np.uint8)
    A = raw[1:].view(np.float64).reshape(100, 2)
    A[:] = 1
    A[::2] *= -1
    assert LinearClassifier().fit(A, [0, 1] * 50).score(A, [0, 1] * 50) == 1.0


def test_absurd_numbers_are_refused():
    for bad in ({"max_voters": 2**62}, {"learning_rate": 10**400}, {"epochs": 2**40}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            LinearClassifier(**bad).fit(X, y)
    LinearClassifier(random_state=np.int64(3)).fit(X, y)


@pytest.mark.slow
def test_an_exception_of_any_kind_leaves_the_average_right():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(10_000, 30))
    b = (A[:, 0] + rng.normal(size=10_000) > 0).astype(int)

    def alarm(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, alarm)
    clf = LinearClassifier(epochs=100_000, keep="all")
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.1)  # CPU time: a loaded machine is no early riser
        with pytest.raises(TimeoutError):
            clf.fit(A, b)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert clf.n_iter_ >= 1
    problem = clf.learner_.vectors[()]
    averaged = problem.vector("averaged")[0].ravel().astype(float)
    survival = problem.survivals()
    steps = problem.journal.to_arrays()
    entry = steps["first_entry"][: len(survival) - 1]
    vectors = sp.csr_array((steps["value"], steps["index"], steps["vector_start"]))
    added = vectors[steps["entry_vector"][entry]].toarray()
    v = np.cumsum(steps["entry_coefficient"][entry][:, None] * added, axis=0, dtype=float)  # v_k, step by step; v_0 = 0
    total = survival[1:] @ v
    np.testing.assert_allclose(averaged, total / survival.sum(), rtol=1e-2, atol=1e-2 * np.abs(averaged).max())


def test_rows_of_ones_have_different_fingerprints():
    A1, A2 = [[1.0, 0, 0, 1], [1, 0, 0, 1]] * 3, [[1.0, 0, 0, 1], [0, 1, 1, 0]] * 3
    learner = LinearLearner(classes=[0, 1], bias=0.0)
    for _ in range(21):
        learner.learn_many(A1, [1, 0] * 3)
    assert certify(learner, A2, [1, 0] * 3).hypothetical
    assert not certify(learner, A1, [1.0, 0.0] * 3).hypothetical  # 1.0 is 1


def test_copies_of_a_vector_that_has_come_back_to_zero(tmp_path):
    learner = LinearLearner(classes=[0, 1], bias=0.0)
    learner.learn_many([[0.05], [0.05]], [1, 0])
    for again in (pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)):
        assert again.updates == 2
    perceptive.save(learner, tmp_path / "a.model")
    perceptive.load_learner(tmp_path / "a.model")


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_problems_stay_in_the_order_of_the_classes(multiclass, tmp_path):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(30, 4))
    clf = LinearClassifier(multiclass=multiclass).partial_fit(A, np.array(["b", "c", "a"] * 10))
    if multiclass == "ovr":
        np.testing.assert_allclose(A @ clf.coef_.T + clf.intercept_, clf.decision_function(A), rtol=1e-4, atol=1e-4)
    perceptive.save(clf, tmp_path / "a.model")
    again = perceptive.load(tmp_path / "a.model")
    np.testing.assert_array_equal(again.decision_function(A), clf.decision_function(A))


def test_warm_start_knows_features_by_name():
    clf = LinearClassifier(warm_start=True, epochs=20).fit([{"a": 1}, {"b": 1}] * 5, [0, 1] * 5)
    assert clf.fit([{"b": 1}, {"a": 1, "c": 0.1}] * 5, [1, 0] * 5).mistakes_.tolist() == [0]
    with pytest.raises(ValueError, match="warm_start"):
        clf.set_params(multiclass="ovo").fit([{"a": 1}, {"b": 1}, {"c": 1}], [0, 1, 2])


def test_certificates_of_huge_numbers():
    rng = np.random.default_rng(1)
    b = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    for scale in (1e15, 1e18):
        certificate = LinearClassifier(certify=True).fit(X * scale, b).certificate_
        assert certificate.holds
    assert LinearClassifier(delta=1e-200, certify=True).fit(X, b).certificate_.theorem == ""


def test_none_may_be_a_label():
    learner = LinearLearner()
    learner.learn_many([[1.0], [-1.0]] * 5, np.array([None, "a"] * 5, dtype=object))
    assert learner.rounds == learner.played == 10
    assert set(learner.predict_many([[1.0], [-1.0]])) == {None, "a"}


def test_many_is_one_by_one_for_labels_of_any_kind():
    for labels in (["a", 1, "a"], [-1, 2**63, -1]):
        many, one = LinearLearner(), LinearLearner()
        many.learn_many([[1.0], [-1.0], [2.0]], labels)
        for x, label in zip([[1.0], [-1.0], [2.0]], labels, strict=True):
            one.learn(x, label)
        assert many.classes == one.classes


def test_initial_weights_grow_with_the_features(tmp_path):
    clf = LinearClassifier(keep="all").fit([{"a": 1}, {"b": 1}], [0, 1], coef_init=[[1.0, 2.0]])
    clf.partial_fit([{"c": 1, "a": 1}], [0])
    clf.predict([{"c": 1}], hypothesis="voted")
    perceptive.save(clf, tmp_path / "a.model")
    perceptive.load(tmp_path / "a.model")


def test_parameters_set_after_fit_wait_for_the_next_fit():
    clf = LinearClassifier(keep="all").fit(X, y)
    coef, intercept, scores = clf.coef_, clf.intercept_, clf.decision_function(X)
    clf.set_params(hypothesis="last", bias=5.0)
    np.testing.assert_array_equal(clf.coef_, coef)
    np.testing.assert_array_equal(clf.intercept_, intercept)
    np.testing.assert_array_equal(clf.decision_function(X), scores)
    with pytest.raises(ValueError, match="parameters have changed"):
        clf.partial_fit(X, y)


def test_a_certificate_is_of_the_last_run():
    clf = LinearClassifier(certify=True).fit(X, y)
    assert not hasattr(clf.partial_fit(X, y), "certificate_")
    clf.fit(X, y)
    assert not hasattr(clf.set_params(certify=False).fit(X, y), "certificate_")


def test_a_converged_pass_is_kept_under_early_stopping():
    clf = LinearClassifier(validation_fraction=0.2, epochs=500, patience=500, margin=0.0)
    separable = X[np.abs(X[:, 0]) > 0.3]
    clf.fit(separable, (separable[:, 0] > 0).astype(int))
    assert clf.converged_
    assert len(clf.held_out_) == clf.n_iter_


def test_scores_are_the_same_after_a_copy():
    clf = LinearClassifier(multiclass="ovo").partial_fit(X, np.arange(60) % 4)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).decision_function(X), clf.decision_function(X))


def test_what_fails_changes_nothing():
    clf = LinearClassifier().fit(X, y)
    with pytest.raises(ValueError, match="at least 2 classes"):
        clf.fit(np.ones((4, 5)), [1] * 4)
    clf.predict(X)
    learner = LinearLearner(n_features=2)
    with pytest.raises(ValueError, match="expects 2 features"):
        learner.learn({"a": 1, "b": 1, "c": 1}, 0)
    learner.learn({"a": 1}, 0)
    for bad in ({"b": 1e300, "c": 1}, {"b": 1, "bad\ud800": 1}, {"b": 1, "c": 1}, {"b": [1]}):
        with pytest.raises(ValueError, match="feature"):
            learner.learn(bad, 0)
        assert learner.predict_many([{"a": 1}]) == [0]
    new = LinearClassifier()
    with pytest.raises(ValueError, match="feature 'a'"):
        new.learn_one({"a": [1]}, 1)
    assert not hasattr(new, "learner_")


def test_messages_name_the_argument():
    for call, message in [
        (lambda: perceptive.save(LinearClassifier(), "x.model"), "fit it before"),
        (lambda: LinearClassifier().fit(X, np.array([1, "a"] * 30, dtype=object)), "different kinds"),
        (lambda: LinearClassifier().fit(X, np.array(["2020-01-01", "2021-01-01"] * 30, dtype="M8[D]")), "dates"),
        (lambda: LinearClassifier().fit(X, np.array(["a", None] * 30, dtype=object)), "missing labels"),
        (lambda: LinearClassifier().fit([[1, 2], [3]], [0, 1]), "X must hold numbers, all rows of one length"),
        (lambda: LinearClassifier().fit(X, y).predict([["a", "b", "c"]]), "X must hold numbers"),
        (lambda: LinearClassifier(class_weight={5: 1.0}).fit(X, y), "class_weight=.* each of"),
        (lambda: LinearClassifier(class_weight="foo").fit(X, y), "class_weight='foo'"),
        (lambda: LinearLearner().learn([1.0], pd.NA), "missing labels"),
        (lambda: LinearClassifier().fit(X, y).predict(X, hypothesis=["last"]), "it must be one of"),
        (lambda: LinearClassifier(rule="mira", cost="abc").fit(X, np.arange(60) % 3), "cost must hold numbers"),
        (lambda: LinearClassifier().fit(X, y, coef_init="a"), "coef_init must hold numbers"),
        (lambda: LinearClassifier().fit(X, y, sample_weight="x"), "sample_weight must hold numbers"),
        (lambda: LinearClassifier().fit(X, y).certificate(X, y, witness="abc"), "witness must hold numbers"),
        (lambda: LinearClassifier().fit(X, y).perceptron_criterion(X, y[:3]), "one label per row"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


def test_matrices_of_other_shapes_and_kinds():
    assert LinearClassifier().fit(sp.coo_array(X), y).score(sp.csc_array(X), y) > 0.9
    with pytest.raises(ValueError, match="two dimensions"):
        LinearLearner(classes=[0, 1]).learn_many(np.ones((2, 2, 2)), [0, 1])
