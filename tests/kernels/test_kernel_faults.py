"""Kernels at the edges: compositions of Gram matrices, far-off data, functions of one name, hostile texts."""

import argparse
import copy
import json
import pickle
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import cross_val_score

import perceptive
from perceptive import KernelClassifier, KernelRanker, LinearClassifier
from perceptive.cli.tasks.objects import Objects
from perceptive.content import digest
from perceptive.kernels import (
    Constant,
    Custom,
    Gaussian,
    Linear,
    Polynomial,
    Precomputed,
    Spectrum,
    SubsetTree,
    mercer_report,
)
from perceptive.kernels.algebra import Scaled
from perceptive.kernels.grammar import OPERATIONS, parse
from perceptive.learners import KernelLearner

pytestmark = pytest.mark.core

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("kernel", [2 * Precomputed(), Precomputed() + Constant(0.0), "2*precomputed"])
def test_what_is_made_of_gram_matrices_is_pairwise(kernel):
    K = Gaussian(gamma=1.0).gram(X)
    plain = cross_val_score(KernelClassifier(kernel="precomputed"), K, y)
    assert np.array_equal(cross_val_score(KernelClassifier(kernel=kernel), K, y), plain)
    assert not hasattr(KernelClassifier(kernel=kernel), "partial_fit")
    with pytest.raises(ValueError, match="square"):
        KernelClassifier(kernel=kernel).fit(K[:, :9], y)


def test_a_gram_row_may_be_one_part_of_an_example():
    K = Gaussian(gamma=1.0).gram(X)
    kernel = Precomputed().on(0) + Spectrum(1).on(1)
    pairs = [(row, "ab"[label]) for row, label in zip(K, y, strict=True)]
    assert KernelClassifier(kernel=kernel).fit(pairs, y).score(pairs, y) == 1.0


@pytest.mark.parametrize("inner", [Precomputed(), 2 * Precomputed() + 1, Precomputed().on(0)])
def test_gram_matrices_are_normalized_and_centered_before(inner):
    """K(x, x) of new examples is nowhere in K(new, training)."""
    with pytest.raises(ValueError, match=r"has no K\(x, x\) of the new ones; divide"):
        inner.normalized()
    with pytest.raises(ValueError, match="KernelCenterer"):
        inner.centered(np.eye(3))
    late = Scaled(2.0, Linear()).normalized()
    with pytest.raises(ValueError, match="divide the matrix"):
        late.set_params(k__k=inner)
    late.k.set_params(k=inner)
    with pytest.raises(ValueError, match="divide the matrix"):
        late.prepare(np.eye(3))
    late = Scaled(2.0, Linear()).centered(np.eye(3))
    late.k.set_params(k=inner)
    with pytest.raises(ValueError, match="KernelCenterer"):
        late.prepare(np.eye(3))
    with pytest.raises(ValueError, match="position 13"):
        parse("precomputed.normalized()")


def test_what_to_do_instead_is_the_same():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KernelCenterer

    rng = np.random.default_rng(1)
    k, new = Polynomial(2), rng.normal(size=(60, 3))
    lengths = np.sqrt(np.outer(k.diag(X), k.diag(X)))
    by_hand = KernelClassifier(kernel="precomputed", dtype="float64").fit(k(X) / lengths, y)
    K = k(new, X) / np.sqrt(np.outer(k.diag(new), k.diag(X)))
    itself = KernelClassifier(kernel=k.normalized(), dtype="float64").fit(X, y)
    assert by_hand.decision_function(K) == pytest.approx(itself.decision_function(new))
    by_hand = make_pipeline(KernelCenterer(), KernelClassifier(kernel="precomputed", dtype="float64")).fit(k(X), y)
    itself = KernelClassifier(kernel=k.centered(X), dtype="float64").fit(X, y)
    assert by_hand.decision_function(k(new, X)) == pytest.approx(itself.decision_function(new), abs=1e-6)


def test_a_gram_matrix_is_about_one_set():
    K = Gaussian(gamma=1.0).gram(X)
    clf = KernelClassifier(kernel="precomputed", certify=True).fit(K, y)
    assert clf.certificate(K, y) == clf.certificate_
    with pytest.raises(ValueError, match="that of the training examples"):
        clf.certificate(K[:30], y[:30])
    with pytest.raises(AttributeError, match="learn_one"):
        clf.learn_one(K[0], 1)
    learner = KernelLearner(classes=[0, 1], kernel="precomputed")
    with pytest.raises(ValueError, match="square"):
        learner.learn_many(K[:30], y[:30])
    learner.learn_many(K, y)
    with pytest.raises(ValueError, match="one set of examples"):
        learner.learn_many(K, y)
    with pytest.raises(ValueError, match=r"no K\(x, x\) of example 59"):
        Precomputed().diag(K[:, :9])


def test_an_asymmetric_gram_matrix_is_refused():
    rng = np.random.default_rng(3)
    for dtype, rounding in ((np.float64, 1e-9), (np.float32, 1e-5), (np.int64, 0)):
        K = (10 * Gaussian(gamma=1.0).gram(X)).astype(dtype)
        K += (rounding * rng.normal(size=K.shape)).astype(dtype)
        KernelClassifier(kernel="precomputed").fit(K, y)
        K[[4, 7, 9], [2, 3, 1]] += 1
        with pytest.raises(ValueError, match=r"not symmetric: .* at \[1, 9\], but .* at \[9, 1\]; repair the kernel"):
            KernelClassifier(kernel="2*precomputed").fit(K, y)
        with pytest.raises(ValueError, match=r"at \[1, 9\]"):
            KernelRanker(kernel="precomputed").fit(K, y, np.arange(len(K)) // 2)


def test_many_columns_are_told_apart():
    rng = np.random.default_rng(1)
    many = rng.normal(size=(5, 2002))
    one, two = np.arange(2000), np.arange(2000)
    two[1000] = 2001
    k = Linear().on(one) + Linear().on(two)
    assert k.gram(many) == pytest.approx(many[:, one] @ many[:, one].T + many[:, two] @ many[:, two].T)
    assert Linear().on(one).view == Linear().on(one.copy()).view


def test_functions_of_one_name_are_not_confused(tmp_path):
    def named(power):
        def f(x):
            return float(np.abs(x).sum()) ** power

        return f

    one, two = named(1), named(2)
    path = tmp_path / "a.model"
    clf = KernelClassifier(kernel=Linear().scaled_by(one) + Linear().scaled_by(two)).fit(X, y)
    with pytest.raises(ValueError, match="two functions of the kernel are called 'f'"):
        perceptive.save(clf, path)
    mixed = Custom(lambda a, b: 1.0, name="f") + Linear().scaled_by(one)
    with pytest.raises(ValueError, match="two functions"):
        perceptive.save(KernelClassifier(kernel=mixed).fit(X, y), path)
    same = KernelClassifier(kernel=Linear().scaled_by(one) + Polynomial(2).scaled_by(one)).fit(X, y)
    perceptive.save(same, path)
    assert np.array_equal(perceptive.load(path, functions={"f": one}).predict(X), same.predict(X))


def test_long_sums_take_no_longer_than_their_terms():
    k = Linear().on([0])
    for i in range(60):
        k = k + Linear().on([i % 3])
    began = time.process_time()
    assert k.gram(X[:3]).shape == (3, 3)  # twice as long for each term would be for ever
    assert time.process_time() - began < 10


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_gaussian_far_from_the_origin(wrap):
    far = (X + 300.0).astype(np.float32)
    exact = Gaussian(gamma=0.5).gram(far.astype(np.float64))
    found = Gaussian(gamma=0.5).gram(wrap(far))
    assert found.dtype == np.float32
    assert np.abs(found - exact).max() < 1e-4
    one = Gaussian(gamma=0.5)(wrap(far[:1]), wrap(far))
    assert np.abs(one - exact[:1]).max() < 1e-4


def test_a_number_is_a_vector_of_one():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    gamma = 1 / X[:, 0].var()
    for kernel, examples in (
        (Gaussian().on("a"), frame),
        (Gaussian().on(1), [("a", x) for x in X[:, 0]]),
        ("gaussian@a", [{"a": x} for x in X[:, 0].tolist()]),
    ):
        assert KernelClassifier(kernel=kernel).fit(examples, y).kernel_.k.gamma == pytest.approx(gamma)
    rows = [sp.csr_array(row[None, :]) for row in X]
    learner = KernelLearner(classes=[0, 1], kernel="gaussian")
    learner.learn_many(rows, y)
    assert learner.kernel.gamma == pytest.approx(1 / (3 * X.var()))


@pytest.mark.parametrize("kernel", [Linear(), Linear().normalized() + Polynomial(2)])
def test_dense_and_sparse_do_not_mix(kernel):
    sparse = sp.csr_array(X)
    for first, second, message in ((X, sparse, "X is sparse"), (sparse, X, "X is dense")):
        clf = KernelClassifier(kernel=kernel).partial_fit(first, y, classes=[0, 1])
        before = clf.alpha_
        with pytest.raises(ValueError, match=message):
            clf.partial_fit(second, 1 - y)
        assert np.array_equal(clf.alpha_, before)


OPTIONS = {"format": None, "on_error": "stop", "classes": None, "reference": None}


@pytest.mark.parametrize("label", [[1], {"a": 1}])
def test_strange_labels_are_named_with_their_line(tmp_path, label):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"t": "a", "label": "x"}) + "\n" + json.dumps({"t": "a", "label": label}) + "\n")
    with pytest.raises(ValueError, match=r"a.jsonl:2: .* cannot be a label"):
        list(Objects(argparse.Namespace(data=[str(path)], **OPTIONS), None))


def test_deep_json_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"t": ' + "[" * 200_000 + "]" * 200_000 + ', "label": 1}\n')
    with pytest.raises(ValueError, match=r"a.jsonl:1: this JSON is nested too deeply"):
        list(Objects(argparse.Namespace(data=[str(path)], **OPTIONS), None))


@pytest.mark.parametrize(
    "text",
    [
        f"{10**400}*linear",
        f"linear+{10**400}",
        f"gaussian(sigma={10**400})",
        f"poly(2,{10**400})",
        f"subsequence(2,{10**400})",
        f"subsettree({10**400})",
        f"spectrum({'9' * 5000})",
        "+".join(["linear"] * 1500),
        "linear" + ".exp()" * 1500,
        "poly(degree=2,degree=3)",
        "spectrum(2,distinct='no')",
    ],
)
def test_hostile_texts_are_plain_errors(text):
    with pytest.raises(ValueError, match=r"must be|more than|given twice") as told:
        parse(text)
    assert len(str(told.value)) < 1000


def test_as_many_operations_as_allowed_work(tmp_path):
    kernel = "+".join(["linear"] * (OPERATIONS + 1))
    clf = KernelClassifier(kernel=parse(kernel)).fit(X, y)
    perceptive.save(clf, tmp_path / "a.model")
    assert np.array_equal(perceptive.load(tmp_path / "a.model").predict(X), clf.predict(X))
    assert np.array_equal(pickle.loads(pickle.dumps(clf)).predict(X), clf.predict(X))


def test_substrings_longer_than_all_texts():
    assert Spectrum(10**30).gram(["ab", "abc", ""]).tolist() == np.zeros((3, 3)).tolist()
    assert Spectrum(3).gram(["ab", "abc"]).tolist() == [[0, 0], [0, 1]]


def test_mercer_report_of_a_scaled_kernel():
    assert mercer_report(Linear().scaled_by(np.sum), X).psd


def test_inspect_keeps_the_classes(tmp_path, capsys):
    from perceptive.cli import main

    path = str(tmp_path / "a.model")
    perceptive.save(KernelClassifier().fit(X, y), path)
    main(["inspect", path, "--json"])
    assert json.loads(capsys.readouterr().out)["learner"]["classes"] == [0, 1]


def test_no_examples():
    with pytest.raises(ValueError, match="0 examples"):
        KernelClassifier(kernel=Spectrum(2)).fit([], [])


def test_learning_on_drops_the_certificate():
    clf = KernelClassifier(certify=True).fit(X, y)
    assert not hasattr(clf.learn_one(X[0], 1), "certificate_")
    linear = LinearClassifier(certify=True, n_features=16).fit([{"a": 1.0}, {"b": 1.0}], [0, 1])
    assert hasattr(linear, "certificate_")
    assert not hasattr(linear.learn_one({"a": 1.0}, 1), "certificate_")


def test_models_of_trees_are_copied():
    trees = ["(S (A a) b)", ("S", ("A", "a"), "c"), "(S (B b) d)", "(S (B c) d)"]
    clf = KernelClassifier(kernel=SubsetTree().normalized()).fit(trees, [0, 0, 1, 1])
    for again in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        assert np.array_equal(again.decision_function(trees), clf.decision_function(trees))
        again.learn_one(trees[0], 1)


def test_one_asymmetric_pair_is_noticed():
    def asymmetric(a, b):
        return 5.0 if (a, b) == (2, 7) else float(a == b)

    with pytest.raises(ValueError, match=r"not symmetric: .* the pair 7, 2"):
        Custom(asymmetric).gram(list(range(10)))
    with pytest.raises(ValueError, match="not symmetric"):
        KernelClassifier(kernel=lambda a, b: 1.0 + (a > b)).fit(list(range(60)), y)


@pytest.mark.parametrize("value", [None, "much", 10**400], ids=["none", "text", "huge"])
def test_functions_that_give_no_number(value):
    with pytest.raises(ValueError, match="for the pair 1, 1; it must give a number"):
        Custom(lambda a, b: value).gram([1, 2])


@pytest.mark.once
def test_trees_with_too_many_parts():
    tree = "(S (A a) (A a))"
    for _ in range(9):
        tree = f"(S {tree} {tree})"
    for kernel in (SubsetTree(), SubsetTree().normalized()):
        with pytest.raises(ValueError, match="too many common parts"):
            kernel.gram([tree])


def test_feature_maps_of_sparse_rows():
    sparse = sp.csr_array(X)
    for k in (
        Linear() + Linear(),
        Linear() + Constant(2.0),
        Linear() * Linear(),
        Linear() ** 2,
        3 * Linear(),
        Linear().on([0, 2]),
    ):
        phi = k.feature_map(sparse)
        product = phi @ phi.T
        assert (product.toarray() if hasattr(product, "tocsr") else product) == pytest.approx(k.gram(X))
    phi = Linear().scaled_by(lambda x: 2.0).feature_map(sparse)
    assert (phi @ phi.T).toarray() == pytest.approx(4 * Linear().gram(X))


@pytest.mark.parametrize("order", [-1, 1.5, True, "2"])
def test_orders_of_taylor_series(order):
    for ask in (Gaussian(gamma=1.0).feature_map, Gaussian(gamma=1.0).truncation_error):
        with pytest.raises(ValueError, match="must be 0, 1, 2, …"):
            ask(X, order=order)


def test_pairs_of_vectors_are_named():
    with pytest.raises(ValueError, match=r"gives nan for the pair array\(\[1., 2.\]\), array\(\[1., 2.\]\)"):
        Custom(lambda a, b: float("nan")).gram(np.array([[1.0, 2.0]]))


def test_contents():
    """Equal values of equal types, and no others."""
    values = [
        1, 1.0, True, "1", b"1", None, (), [], {}, (1,), [1], ((1,),), ([1],), [[1]], ["a", "b"], ["ab"], ("a", ("b",)),
        ("a", "b", ()), (("a",), "b"), {"a": 1}, {"a": (1,)}, np.ones(2), np.ones(2, np.float32), np.ones((2, 1)),
        np.int64(1), np.array(["a", "b"], object), "\ud800", ("\ud800", ()), sp.csr_array(np.eye(2)), 0.0, -0.0,
    ]  # fmt: skip
    digests = [digest(value) for value in values]
    assert None not in digests
    assert len(set(digests)) == len(values)
    assert digests == [digest(copy.deepcopy(value)) for value in values]
    assert digest(["a", object()]) is None
    assert digest(["a", object], strict=False) is not None
    long = np.zeros(5000)
    other = long.copy()
    other[2500] = 1.0  # which repr leaves out
    assert digest(("a", long), strict=False) != digest(("a", other), strict=False)


def test_entries_of_one_cell_are_summed_for_the_scale():
    X = sp.csr_matrix(([1.0, 1.0, 3.0, 4.0, 1.0, 1.0, 5.0], [0, 0, 1, 0, 1, 0, 1], [0, 2, 3, 5, 7]), shape=(4, 2))
    y = [0, 1, 0, 1]
    kernel = Gaussian(gamma="scale")
    found, expected = (KernelClassifier(kernel=kernel).fit(rows, y).decision_function(X) for rows in (X, X.toarray()))
    np.testing.assert_allclose(found, expected)
    assert X.nnz == 7  # as it was given
