"""Probabilities are fitted to some of the held-out examples where there are many, the same from arrays and files."""

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from command_line import perceptive
from perceptive import KernelClassifier, LinearClassifier, load, save, streams
from perceptive.errors import ParameterError, ScaleWarning
from perceptive.learners import calibration
from perceptive.streams import blocks


def test_some_of_many_examples_tell_the_same():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=400_000)
    truth = (rng.random(400_000) < 1 / (1 + np.exp(-2.5 * scores))).astype(np.int64)
    assert calibration.thinning(len(scores), 2) > 1
    assert calibration.fit_temperature(scores, truth) == pytest.approx(2.5, rel=0.03)


def test_files_are_calibrated_on_the_examples_that_arrays_are(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = np.argmax(X[:, :2] + 0.5 * rng.normal(size=(600, 2)), axis=1)
    path = tmp_path / "rows.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    monkeypatch.setattr(blocks, "BLOCK", 2_000)
    options = {"epochs": 2, "shuffle": False, "dtype": "float64", "bias": 1.0}
    options |= {"probability": True, "validation_fraction": 0.5}
    found = []
    for scores, examples in ((2**17, 2**12), (200, 10)):  # all, and some
        monkeypatch.setattr(calibration, "SCORES", scores)
        monkeypatch.setattr(calibration, "EXAMPLES", examples)
        from_file = LinearClassifier(**options).fit_stream(streams.open(path, dtype="float64"))
        from_array = LinearClassifier(**options).fit(X, y)
        assert from_file.learner_.temperature == pytest.approx(from_array.learner_.temperature, rel=1e-6)
        found.append(from_file.learner_.temperature)
    assert found[0] != found[1]


def test_the_factor_is_bounded_where_all_is_right():
    """Of n examples that are all right by the same score, the next is right with probability (n + 1)/(n + 2)."""
    for n in (1, 5, 100):
        scores, truth = np.tile([3.0, -3.0], n)[:n], np.tile([1, 0], n)[:n]
        a = calibration.fit_temperature(scores, truth)
        assert calibration.probabilities(scores, a)[np.arange(n), truth] == pytest.approx((n + 1) / (n + 2))
    many = np.full((50, 4), -9.0)
    many[:, 1:3] = [5.0, 1.0]  # what is far below does not matter
    a = calibration.fit_temperature(many, np.ones(50, np.int64))
    assert calibration.probabilities(many, a)[0, 1] == pytest.approx(51 / 52, abs=1e-3)


@pytest.mark.parametrize("data", [load_wine, load_iris, load_breast_cancer])
@pytest.mark.parametrize("kernel", [None, "linear"])
def test_probabilities_do_not_explode(data, kernel):
    """The worst log loss over ten splits; it was 2.3."""
    X, y = data(return_X_y=True)
    worst = 0.0
    for seed in range(10):
        A, B, a, b = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        scaler = StandardScaler().fit(A)
        made = LinearClassifier() if kernel is None else KernelClassifier(kernel=kernel, bias=1.0)
        made.set_params(probability=True, random_state=seed).fit(scaler.transform(A), a)
        worst = max(worst, log_loss(b, made.predict_proba(scaler.transform(B))))
    assert worst <= 0.5


@pytest.mark.parametrize("data", [load_iris, load_breast_cancer])
def test_probabilities_of_columns_as_they_are(data):
    """Wine is the exception: its perceptron is right on 70 % of what it learned from."""
    X, y = data(return_X_y=True)
    for seed in range(10):
        A, B, a, b = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        made = LinearClassifier(probability=True).fit(A, a)
        assert log_loss(b, made.predict_proba(B)) <= 0.5


def test_who_asks_for_probabilities_of_wine_as_it_is_is_warned():
    X, y = load_wine(return_X_y=True)
    for seed in range(10):
        A, B, a, b = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        with pytest.warns(ScaleWarning, match=r"column 12 is .* as large as column 7 .*; scale X first, by sklearn"):
            made = LinearClassifier(probability=True).fit(A, a)
        assert log_loss(b, made.predict_proba(B)) <= 0.7
    assert "ScaleWarning" in LinearClassifier.predict_proba.__doc__


def test_probabilities_of_wine_from_a_table(tmp_path):
    """Columns of very different size, which files have scaled."""
    X, y = load_wine(return_X_y=True)
    names = [f"c{i}" for i in range(X.shape[1])]
    for seed in range(10):
        A, B, a, b = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        rows = [",".join(map(str, [*row, label])) for row, label in zip(A.tolist(), a.tolist(), strict=True)]
        (tmp_path / "a.csv").write_text("\n".join([",".join([*names, "label"]), *rows, ""]))
        made = LinearClassifier(probability=True).fit_stream(tmp_path / "a.csv")
        assert log_loss(b, made.predict_proba([dict(zip(names, row, strict=True)) for row in B.tolist()])) <= 0.5


def test_probabilities_of_one_example():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    calibrated = LinearClassifier(probability=True), KernelClassifier(probability=True)
    for clf in (*calibrated, LinearClassifier(hypothesis="voted")):
        clf.fit(X, names[y])
        assert clf.predict_proba_one(X[0]) == pytest.approx(dict(zip(names, clf.predict_proba(X[:1])[0], strict=True)))
    binary = LinearClassifier(probability=True).fit(X, y == 0)
    assert binary.predict_proba_one(X[0])[True] == pytest.approx(binary.predict_proba(X[:1])[0, 1])
    stream = LinearClassifier(hypothesis="voted")
    assert stream.predict_proba_one({"a": 1}) == {}
    for _ in range(3):
        stream.learn_one({"a": 1}, "x").learn_one({"b": 1}, "y")
    assert max(stream.predict_proba_one({"a": 1}).items(), key=lambda one: one[1])[0] == "x"
    with pytest.raises(ValueError, match=r"not calibrated; use fit with probability=True .*, or hypothesis='voted'"):
        LinearClassifier(probability=True).learn_one({"a": 1}, "x").learn_one({"b": 1}, "y").predict_proba_one({"a": 1})
    assert not hasattr(LinearClassifier(), "predict_proba_one")


def test_kernel_models_keep_their_probabilities(tmp_path):
    X, y = load_wine(return_X_y=True)
    clf = KernelClassifier(kernel="poly(2)", probability=True).fit(X, y)
    save(clf, tmp_path / "a.model")
    assert np.array_equal(load(tmp_path / "a.model").predict_proba(X), clf.predict_proba(X))
    with pytest.raises(ParameterError, match="probability does not go with a precomputed Gram matrix"):
        KernelClassifier(kernel="precomputed", probability=True).fit(X @ X.T, y)


def test_kernel_models_of_the_command_line_have_probabilities(tmp_path):
    X, y = load_iris(return_X_y=True)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    options = ("--kernel", "poly(2)", "--dtype", "float64", "--epochs", 3, "--quiet")
    perceptive("train", tmp_path / "a.svm", "-o", tmp_path / "m", *options, "--holdout", 0.2)
    lines = perceptive("predict", tmp_path / "m", tmp_path / "a.svm", "--proba").stdout.splitlines()
    settings = {"kernel": "poly(2)", "dtype": "float64", "epochs": 3, "validation_fraction": 0.2, "probability": True}
    clf = KernelClassifier(**settings).fit(X, y)
    found = np.array([line.split("\t")[1:] for line in lines], float)
    assert found == pytest.approx(clf.predict_proba(X), abs=1e-4)
    perceptive("train", tmp_path / "a.svm", "-o", tmp_path / "u", *options)
    assert "was not calibrated" in perceptive("predict", tmp_path / "u", tmp_path / "a.svm", "--proba", code=2).stderr
