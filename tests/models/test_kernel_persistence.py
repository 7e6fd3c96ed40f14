"""Kernel models go to disk and come back: the same scores, and learning goes on as if nothing had happened."""

import numpy as np
import pytest
import scipy.sparse as sp

import perceptive
from perceptive import KernelClassifier
from perceptive.kernels import AllSubsequences, Custom, Gaussian, Linear, Polynomial, Spectrum, Subsequence, SubsetTree
from perceptive.learners import KernelLearner
from perceptive.model_file import ModelFileError

rng = np.random.default_rng(0)
VECTORS, LABELS = rng.normal(size=(60, 3)), rng.integers(3, size=60)
TEXTS = ["".join(rng.choice(list("abcä"), size=8)) for _ in range(60)]
WORDS = [tuple(text) for text in TEXTS]
TREES = [f"(S (A {t[0]}) (B {t[1]}))" for t in TEXTS]
PAIRS = [(tree, [float(x) for x in row]) for tree, row in zip(TREES, VECTORS, strict=True)]


def overlap(a, b):
    return len(set(a) & set(b))


def length(x):
    return float(np.abs(x).sum())


CASES = {
    "vectors": (0.5 * Gaussian(sigma=2.0) + Polynomial(2), VECTORS),
    "sparse": (Polynomial(2), sp.csr_array(VECTORS)),
    "scale": ("gaussian", VECTORS),
    "matrix": (Linear(A=np.diag([1.0, 2.0, 3.0])).normalized(), VECTORS),
    "centered": (Linear().centered(VECTORS[:9]), VECTORS),
    "centered sparse": (Linear().centered(sp.csr_array(VECTORS[:9])), sp.csr_array(VECTORS)),
    "centered texts": (Spectrum(2).centered(TEXTS[:9]), TEXTS),
    "centered words": (Spectrum(1).centered(WORDS[:9]), WORDS),
    "centered trees": (SubsetTree(0.5).centered(TREES[:9]).normalized(), TREES),
    "centered tuples": (SubsetTree(0.5).centered([("S", ("A", t[0]), t[1]) for t in TEXTS[:9]]), TREES),
    "centered pairs": ((SubsetTree().on(0) + Linear().on(1)).centered(PAIRS[:9]), PAIRS),
    "twice centered": (Linear().centered(VECTORS[:9]) + Polynomial(2).centered(VECTORS[9:20]), VECTORS),
    "columns": (Linear().on(slice(0, 2)) * Gaussian(gamma=1.0).on([2]), VECTORS),
    "spectrum": (Spectrum(2).normalized(), TEXTS),
    "words": (Subsequence(2, 0.5) ** 2, WORDS),
    "all": (AllSubsequences(), TEXTS),
    "trees": (SubsetTree(0.5), TREES),
    "tuples": (SubsetTree(0.5), [("S", ("A", t[0]), t[1]) for t in TEXTS]),
    "pairs": (SubsetTree().on(0) + Linear().on(1), PAIRS),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("budget", [None, 20])
def test_models_come_back(case, budget, tmp_path):
    kernel, X = CASES[case]
    path = tmp_path / "a.model"
    forgetful = {"budget": budget, "forget": "random", "hypothesis": "last"} if budget else {}
    clf = KernelClassifier(kernel=kernel, epochs=2, **forgetful).fit(X, LABELS)
    perceptive.save(clf, path)
    again = perceptive.load(path)
    assert repr(again.kernel_) == repr(clf.kernel_)
    assert again.get_params(deep=False).keys() == clf.get_params(deep=False).keys()
    for hypothesis in ("last",) if budget else ("last", "averaged", "best", "voted", "random"):
        ours, theirs = (model.decision_function(X, hypothesis=hypothesis) for model in (clf, again))
        assert np.array_equal(ours, theirs)
    assert again.mistakes_.tolist() == clf.mistakes_.tolist()
    if case in ("vectors", "sparse", "words", "trees"):
        rows = again.support_vectors_
        assert (rows.shape[0] if hasattr(rows, "shape") else len(rows)) == len(clf.support_)
    if hasattr(X, "tocsr"):
        return
    for model in (clf, again):
        model.partial_fit(X[:30], LABELS[:30])
    assert np.array_equal(clf.alpha_, again.alpha_)
    assert np.array_equal(clf.decision_function(X), again.decision_function(X))


class Labelled(list):
    """As NLTK's trees are."""

    def label(self):
        return "S"


def test_a_reference_of_trees_with_labels(tmp_path):
    clf = KernelClassifier(kernel=SubsetTree().centered([Labelled(["a"]), Labelled(["b"])])).fit(TREES, LABELS)
    perceptive.save(clf, tmp_path / "a.model")
    assert np.array_equal(perceptive.load(tmp_path / "a.model").predict(TREES), clf.predict(TREES))
    assert np.array_equal(perceptive.load(tmp_path / "a.model").decision_function(TREES), clf.decision_function(TREES))


def test_subclasses_are_not_saved_as_what_they_derive_from(tmp_path):
    """A function may ask them for what a plain tuple or list does not have."""
    kernel = Custom(lambda a, b: float(a.label() == b.label()), name="labels")
    clf = KernelClassifier(kernel=kernel).fit([Labelled(["a"]), Labelled(["b"])], [0, 1])
    with pytest.raises(ValueError, match="a Labelled cannot be saved"):
        perceptive.save(clf, tmp_path / "a.model")


def test_functions_are_asked_for_again(tmp_path):
    path = tmp_path / "a.model"
    clf = KernelClassifier(kernel=Custom(overlap), epochs=2).fit(TEXTS, LABELS)
    perceptive.save(clf, path)
    with pytest.raises(ValueError, match=r"'overlap'.*load\(path, functions="):
        perceptive.load(path)
    again = perceptive.load(path, functions={"overlap": overlap})
    assert np.array_equal(again.predict(TEXTS), clf.predict(TEXTS))
    named = KernelClassifier(kernel=Custom(lambda a, b: overlap(a, b), name="mine")).fit(TEXTS, LABELS)
    perceptive.save(named, path)
    assert np.array_equal(perceptive.load(path, functions={"mine": overlap}).predict(TEXTS), named.predict(TEXTS))
    plain = KernelClassifier(kernel=overlap, epochs=2).fit(TEXTS, LABELS)
    perceptive.save(plain, path)
    assert np.array_equal(perceptive.load(path, functions={"overlap": overlap}).predict(TEXTS), plain.predict(TEXTS))
    scaled = KernelClassifier(kernel=Linear().scaled_by(length), epochs=2).fit(VECTORS, LABELS)
    perceptive.save(scaled, path)
    with pytest.raises(ValueError, match="'length'"):
        perceptive.load(path)
    assert np.array_equal(perceptive.load(path, functions={"length": length}).predict(VECTORS), scaled.predict(VECTORS))


def test_learners_and_their_certificates_come_back(tmp_path):
    from perceptive.certificates import certify

    path = tmp_path / "a.model"
    learner = KernelLearner(kernel="poly(2)")
    learner.learn_many(VECTORS, LABELS)
    perceptive.save(learner, path)
    again = perceptive.load_learner(path)
    assert certify(again, VECTORS, LABELS) == certify(learner, VECTORS, LABELS)
    assert again.classes == learner.classes
    again.learn(VECTORS[0], 7)
    assert again.classes == [0, 1, 2, 7]


def test_what_cannot_be_saved_is_named(tmp_path):
    path = tmp_path / "a.model"

    class Thing:
        pass

    clf = KernelClassifier(kernel=Custom(lambda a, b: 1.0, name="one"), bias=1.0).fit([Thing(), Thing()], [0, 1])
    with pytest.raises(ValueError, match="a Thing cannot be saved"):
        perceptive.save(clf, path)

    class Mine(Linear):
        pass

    own = KernelClassifier(kernel=Mine()).fit(VECTORS, LABELS)
    with pytest.raises(ValueError, match="of your own"):
        perceptive.save(own, path)
    with pytest.raises(ValueError, match="has not learned"):
        perceptive.save(KernelClassifier(), path)


def test_damaged_models_are_refused(tmp_path):
    from perceptive import model_file

    path = tmp_path / "a.model"
    perceptive.save(KernelClassifier(kernel="poly(2)", epochs=2).fit(VECTORS, LABELS), path)
    kind, meta, arrays = model_file.read(path)
    for name, wrong in (
        ("alpha", np.zeros((1, 3))),
        ("ids", np.zeros(len(arrays["ids"]), np.int64)),
        ("run0.slot", arrays["run0.slot"] + 1000),
        ("run0.at", arrays["run0.at"][:-1]),
        ("supports.rows", np.zeros((1, 3), np.float32)),
        ("mistakes", np.zeros(5, np.int64)),
    ):
        model_file.write(path, kind, meta, {**arrays, name: wrong})
        with pytest.raises(ModelFileError, match="does not fit together"):
            perceptive.load(path)
    for change in ({"kernel": {"kernel": "os", "parameters": {}}}, {"seen": -1}, {"classes": ["a"]}):
        model_file.write(path, kind, {**meta, **change}, dict(arrays))
        with pytest.raises(ModelFileError):
            perceptive.load(path)


def spoilt(array, value):
    wrong = array.copy()
    wrong.flat[-1] = value
    return wrong


@pytest.mark.parametrize("name", ["alpha", "sums", "run0.length2", "run0.step", "criterion", "supports.rows"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(name, value, tmp_path):
    refuse(tmp_path / "a.model", lambda meta, arrays: arrays.update({name: spoilt(arrays[name], value)}))


def nest(meta, arrays):
    meta["dual"]["supports"] = {"kind": "objects"}
    text = b"[" * 100_000 + b"]" * 100_000
    arrays.update({"supports.text": np.frombuffer(text, np.uint8), "supports.ends": np.array([len(text)])})


@pytest.mark.parametrize(
    "spoil",
    [
        lambda meta, arrays: meta["dual"].update(rounds=-1),
        lambda meta, arrays: meta["dual"].update(rounds=1),
        lambda meta, arrays: meta["dual"].update(rounds=1e9),
        lambda meta, arrays: arrays.update(mistakes=np.full_like(arrays["mistakes"], 2**63 - 1)),
        lambda meta, arrays: arrays.update(mistakes=np.full_like(arrays["mistakes"], meta["dual"]["rounds"] + 1)),
        lambda meta, arrays: arrays.update({"run0.at": arrays["run0.at"] * 0}),
        lambda meta, arrays: arrays.update({"run0.at": arrays["run0.at"][::-1].copy()}),
        lambda meta, arrays: arrays.update(ids=arrays["ids"] + 0.5),
        lambda meta, arrays: arrays.update(ids=arrays["ids"] - 100),
        lambda meta, arrays: meta["dual"]["runs"][0].update(radius2=float("nan")),
        lambda meta, arrays: meta.update(kernel={"kernel": "VectorKernel", "parameters": {}}),
        lambda meta, arrays: meta.update(kernel={"kernel": "TreeKernel", "parameters": {}}),
        lambda meta, arrays: meta.update(kernel={"kernel": "Spectrum", "parameters": {"n": 2, "distinct": False}}),
        lambda meta, arrays: meta.update(kernel={"kernel": "SubsetTree", "parameters": {"decay": 1.0}}),
        lambda meta, arrays: meta.update(kernel={"kernel": "Normalized", "parameters": {"k": meta["kernel"]}}),
        lambda meta, arrays: meta.update(kernel={"kernel": "Precomputed", "parameters": {}}),
        nest,
    ],
)
def test_impossible_models_are_refused(spoil, tmp_path):
    refuse(tmp_path / "a.model", spoil)


def refuse(path, spoil):
    from perceptive import model_file

    perceptive.save(KernelClassifier(kernel="poly(2)", epochs=2).fit(VECTORS, LABELS), path)
    kind, meta, arrays = model_file.read(path)
    arrays = dict(arrays)
    spoil(meta, arrays)
    model_file.write(path, kind, meta, arrays)
    with pytest.raises(ModelFileError):
        perceptive.load(path)
