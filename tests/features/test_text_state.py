"""Text features as a state, and as a transformer."""

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from perceptive import HashedText, LinearClassifier
from perceptive.features.text import TextFeatures
from test_text import rows_of

pytestmark = pytest.mark.core


# ---------------------------------------------------------------- state


def test_options_and_factors_are_the_whole_state():
    texts = ["The cat sat", "on the mat", "日本 cat"]
    features = TextFeatures(words=(1, 2), chars=(2, 3), weighting="log-tf", idf=True, bits=8, seed=5)
    features.learn_idf(texts)
    options = json.loads(json.dumps(features.options()))
    again = TextFeatures.from_options(options, features.idf_)
    assert rows_of(*again.encode(texts)) == rows_of(*features.encode(texts))
    assert again.options() == features.options()
    assert repr(again) == repr(features)
    with pytest.raises(ValueError, match="without the counts"):
        again.learn_idf(texts)
    read_only = features.idf_.copy()
    read_only.flags.writeable = False
    assert rows_of(*TextFeatures.from_options(options, read_only).encode(texts)) == rows_of(*again.encode(texts))
    for bad in (
        features.idf_[:-1],
        features.idf_.astype(float),
        -features.idf_,
        features.idf_ * np.nan,
        [1.0] * 256,
        np.ones(512, np.float32)[::2],
    ):
        with pytest.raises(ValueError, match="idf must be 256 positive numbers of float32"):
            TextFeatures.from_options(options, bad)
    for bad in ({**options, "more": 1}, {}, {**options, "bits": 31}, {**options, "words": 3}):
        with pytest.raises(ValueError, match=r"text options must be|bits must be|words must be"):
            TextFeatures.from_options(bad)


def test_copies():
    features = TextFeatures(idf=True, bits=3, remember_names=True)
    features.learn_idf(["a b c d e f g", "a b"])
    features.encode(["a b c d e f g"])
    for again in (copy.deepcopy(features), pickle.loads(pickle.dumps(features))):
        assert again.collisions() == features.collisions() != {}
        assert np.array_equal(again.idf_, features.idf_)
        assert rows_of(*again.encode(["g f x"])) == rows_of(*features.encode(["g f x"], grow=False))


def test_what_cannot_be():
    with pytest.raises(ValueError, match="both None"):
        TextFeatures(words=None)
    for pair in ((0, 1), (2, 1), (1, 33), (1.5, 2), (True, 2)):
        with pytest.raises(ValueError, match=r"words\[[01]\] must be an integer from"):
            TextFeatures(words=pair)
    for pair in (3, (1,), (1, 2, 3), "12"):
        with pytest.raises(ValueError, match="chars must be None or two integers"):
            TextFeatures(chars=pair)
    with pytest.raises(ValueError, match="weighting must be one of 'binary', 'tf', 'log-tf', not 'idf'"):
        TextFeatures(weighting="idf")
    with pytest.raises(ValueError, match="bits must be an integer from 1 to 30"):
        TextFeatures(bits=31)
    with pytest.raises(ValueError, match="call learn_idf"):
        TextFeatures(idf=True).encode(["a"])
    features = TextFeatures(bits=4)
    for one in ("text", b"text"):
        for take in (features.encode, features.learn_idf):
            with pytest.raises(ValueError, match="put it in a list"):
                take(one)
    with pytest.raises(TypeError):
        features.encode(3)
    for ask in (lambda: features.names(0), features.collisions):
        with pytest.raises(ValueError, match="remember_names=True"):
            ask()
    with pytest.raises(ValueError, match="bucket must be an integer from 0 to 15, not 16"):
        TextFeatures(bits=4, remember_names=True).names(16)
    with pytest.raises(ValueError, match="idf must hold"):
        features._core.encode(["a"], np.ones(8, np.float32), False)
    assert rows_of(*features.encode([])) == []
    assert features.encode(["a"])[0].tolist() == [0, 1]


# ---------------------------------------------------------------- the transformer


@parametrize_with_checks([HashedText(bits=8), HashedText(bits=3, chars=(2, 3), idf=True, remember_names=True)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_the_transformer():
    texts = ["the cat", "THE dog", "", "cat dog"]
    hashed_text = HashedText(words=(1, 2), idf=True, bits=10, remember_names=True)
    X = hashed_text.fit_transform(iter(texts))
    assert X.shape == (4, 1024)
    assert X.has_canonical_format
    assert (hashed_text.transform(texts) != X).nnz == 0
    assert (clone(hashed_text).fit(np.array(texts)).transform(np.array(texts, object)) != X).nnz == 0
    hashed_text.transform(["bird"])
    assert "bird" not in {name for found in hashed_text.features_._core.index.inverted(1).values() for name in found}
    assert (pickle.loads(pickle.dumps(hashed_text)).transform(texts) != X).nnz == 0
    assert len(hashed_text.get_feature_names_out()) == 1024
    with pytest.raises(ValueError, match="put it in a list"):
        hashed_text.fit("text")


def test_it_feeds_a_classifier():
    texts = ["free money now", "win a prize now", "see you at home", "are you at work"] * 3
    model = make_pipeline(HashedText(words=(1, 2), bits=12), LinearClassifier())
    spam = [True, True, False, False] * 3
    assert model.fit(texts, spam).predict(texts).tolist() == spam


def test_text_needs_neither_scipy_nor_scikit_learn():
    code = "import sys, perceptive.features.text; sys.exit(bool({'scipy', 'sklearn'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
