"""Estimators that learn from files."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from test_training import made, started

from command_line import perceptive
from perceptive import LinearClassifier, _core, load, save, streams
from perceptive.data.labels import Labels
from perceptive.learners import LinearLearner
from perceptive.parameters import TrainingParameters
from perceptive.training.blocks import RowBlocks
from perceptive.training.source import FileSource

pytestmark = pytest.mark.core


# ---------------------------------------------------------------- the estimator


def test_fit_stream(file, tmp_path):
    clf = LinearClassifier(epochs=3, probability=True, keep="all").fit_stream(file, cache=str(tmp_path / "c"))
    X, y = streams.load(file)
    assert clf.score(X, y) > 0.8
    assert clf.predict_proba(X).shape == (400, 2)
    assert clf.n_iter_ == 3
    assert clf.n_features_in_ == 40
    save(clf, tmp_path / "m")
    again = load(tmp_path / "m")
    assert np.array_equal(again.predict(X), clf.predict(X))
    assert again.learner_.space.format == streams.FileFormat(scale=None, apart=False, words=None)
    with pytest.raises(ValueError, match="warm_start is for examples in memory"):
        LinearClassifier(warm_start=True).fit_stream(file)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_stream_is_read_in_the_type_of_the_weights(dtype, file, tmp_path):
    """As the command line reads it, unless another type was chosen."""
    perceptive("train", file, "--rule", "arow", "--bias", "auto", "--dtype", dtype, "--quiet", "-o", tmp_path / "m")
    expected = load(tmp_path / "m").learner_
    model = LinearClassifier(rule="arow", bias="auto", dtype=dtype)
    for source in (file, streams.open(file), streams.open(file, dtype=dtype)):
        found = model.fit_stream(source).learner_
        assert found.bias == expected.bias
        vectors = [next(iter(learner.vectors.values())).vector("averaged")[0] for learner in (found, expected)]
        assert np.array_equal(*vectors)


def test_how_a_file_is_read_may_be_said_with_its_path(tmp_path):
    path, text = tmp_path / "a.csv", "price,a\nhigh,1\nlow,2\nhigh,1\n"
    path.write_text(text)
    assert LinearClassifier().fit_stream(path, label="price").classes_.tolist() == ["high", "low"]
    assert LinearClassifier().fit_stream(path, label="price", bits=4).coef_.shape == (1, 16)
    with pytest.raises(TypeError, match=r"csv files have no option label_column; they have .* ignore, .* label, "):
        LinearClassifier().fit_stream(path, label_column="price")
    with pytest.raises(TypeError, match=r"label: the stream is open; give this to streams\.open"):
        LinearClassifier().fit_stream(streams.open(path, label="price"), label="price")


def test_hashed_svmlight_is_the_hash_kernel_of_its_indices(file):
    from perceptive.features.hashing import HashKernel

    X, y = streams.load(file, bits=8)
    plain, _ = streams.load(file)
    kernel = HashKernel(8)
    buckets, signs = kernel.hash([str(j + 1) for j in range(40)])
    M = sp.csr_array((signs, buckets, np.arange(41)), shape=(40, 256))
    assert abs(X - plain @ M).max() < 1e-12
    assert X.shape == (400, 256)
    clf = LinearClassifier(bits=8, epochs=2).fit_stream(file)
    assert clf.score(X, y) > 0.7


def test_interactions_are_products(tmp_path):
    from perceptive.features.hashing import HashKernel

    path = tmp_path / "a.svm"
    path.write_text("1 1:2 3:5 10:7\n")
    X, _ = streams.load(path, bits=20, interactions=("all",))
    kernel = HashKernel(20)
    expected = {"1": 2, "3": 5, "10": 7, "1*3": 10, "1*10": 14, "10*3": 35}
    buckets, signs = kernel.hash(list(expected))
    assert dict(zip(X.indices.tolist(), X.data.tolist(), strict=True)) == {
        b: s * v for b, s, v in zip(buckets.tolist(), signs.tolist(), expected.values(), strict=True)
    }
    with pytest.raises(ValueError, match="interactions needs hashed features; give bits"):
        streams.open(path, interactions=("all",))


def test_names_are_remembered_in_the_same_pass(file):
    stream = streams.open(file, bits=4, remember_names=True, threads=3)
    for _ in stream:
        pass
    found = {name for bucket in stream.log.names.buckets(1) for name in stream.log.names.names(bucket)}
    assert found == {str(j + 1) for j in range(40)}
    assert stream.log.names.buckets(2)  # 40 names in 16 buckets collide


def test_learners_hash_dicts_by_themselves(tmp_path):
    dicts = [{"a": 1.0, "b": "x"}, {"a": -1.0, "c": 2}, {"d": 1}] * 5
    y = ["p", "q", "q"] * 5
    clf = LinearClassifier(bits=12).fit(dicts, y)
    assert clf.predict(dicts).tolist() == y
    assert clf.learner_.n_features == 4096
    clf.learn_one({"unheard": 1.0}, "p")
    save(clf, tmp_path / "m")
    assert load(tmp_path / "m").predict(dicts).tolist() == clf.predict(dicts).tolist()
    learner = LinearLearner(classes=["p", "q"], bits=12)
    assert learner.learn({"a": 1.0}, "q")
    with pytest.raises(ValueError, match="n_features=7 does not go with bits=3"):
        LinearLearner(bits=3, n_features=7)


def test_labels_of_a_stream_are_plain(file):
    labels = next(streams.open(file).blocks()).labels
    assert all(type(label) is int for label in labels)
    assert Labels.of([1, 2]).values == [1, 2]


@pytest.mark.skipif("sanitize" in _core.__file__, reason="speed means nothing there")
def test_the_cache_is_faster_than_parsing(tmp_path):
    path = made(tmp_path / "big.svm", n=5000, d=300)
    stream = streams.open(path, dtype="float32", threads=1)
    with FileSource(stream, RowBlocks(), epochs=2, memory=1 << 20) as source:
        began = time.process_time()
        run = started(source, TrainingParameters(epochs=2))
        parsed = time.process_time()
        for _ in source.blocks(run):
            pass
        assert time.process_time() - parsed < parsed - began
