"""Certificates on other data than the run's call themselves hypothetical, also where a name is new to the model."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from command_line import perceptive as run
from perceptive import HashedText, LinearClassifier, LinearRanker, SequenceTagger, certify
from perceptive.learners import LinearLearner, RankingLearner, SequenceLearner

pytestmark = pytest.mark.core
DICTS = [{"a": 1.0}, {"b": 2.0, "word": "x"}, {"c": 1.0, "a": -1.0}, {"b": -1.0}]
NEW = {"new": 100.0}
MANY = {"classes": list(range(70)), "fixed": True}


def changed(X, x=NEW):
    """The same examples with one more feature in the last of them."""
    return [*X[:-1], {**X[-1], **x}]


@pytest.mark.parametrize(
    "how",
    [
        {"classes": [0, 1, 2]},
        {"classes": [0, 1, 2], "multiclass": "ovr"},
        {"classes": [0, 1, 2], "multiclass": "ovo"},
        {"classes": [0, 1, 2], "bits": 10},
        MANY,
        {**MANY, "bits": 10},
        {"classes": [0, 1, 2], "rule": "pa1", "hypothesis": "averaged"},
    ],
)
@pytest.mark.parametrize("one_by_one", [False, True])
def test_names_of_dicts(how, one_by_one):
    learner, y = LinearLearner(**how), [0, 1, 2, 1]
    if one_by_one:
        for x, label in zip(DICTS, y, strict=True):
            learner.learn(x, label)
    else:
        learner.learn_many(DICTS, y)
    before, width = learner.scores(changed(DICTS)), learner.n_features
    assert not certify(learner, DICTS, y).hypothetical
    found = certify(learner, changed(DICTS), y)
    assert found.hypothetical
    assert found.radius > 100
    assert certify(learner, changed(DICTS, {"word": "never"}), y).hypothetical
    assert not certify(learner, changed(DICTS, {"new": 0.0}), y).hypothetical  # which is no feature
    assert learner.n_features == width
    assert np.array_equal(learner.scores(changed(DICTS)), before)


def test_what_is_looked_at_is_not_learned_from():
    learner = LinearLearner(classes=[0, 1])
    learner.learn_many(DICTS, [0, 1, 1, 0])
    with pytest.raises(ValueError, match="more features than the weights"):
        learner.dataset(changed(DICTS), [0, 1, 1, 0], grow=False).play(np.arange(4))


def test_two_classes():
    learner = LinearLearner(classes=["no", "yes"])
    learner.learn_many(DICTS, ["no", "yes", "no", "yes"])
    assert not certify(learner, DICTS, ["no", "yes", "no", "yes"]).hypothetical
    assert certify(learner, changed(DICTS), ["no", "yes", "no", "yes"]).hypothetical


@pytest.mark.parametrize("how", [{}, {"bits": 10}])
def test_names_of_candidates(how):
    lists = [DICTS[:2], DICTS[2:], [DICTS[0], DICTS[3]]]
    ranker = RankingLearner(**how)
    ranker.learn_many(lists, [0, 1, 0])
    assert not certify(ranker, lists, [0, 1, 0]).hypothetical
    found = certify(ranker, [*lists[:2], changed(lists[2])], [0, 1, 0])
    assert found.hypothetical
    assert found.radius > 99
    estimator = LinearRanker(**how).fit(lists, [0, 1, 0])
    assert not certify(estimator, lists, [0, 1, 0]).hypothetical
    assert certify(estimator, [*lists[:2], changed(lists[2])], [0, 1, 0]).hypothetical


@pytest.mark.parametrize("y", [[0, 1, 1, 0], [0, 1, 2, 1]])
@pytest.mark.parametrize("how", [{}, {"bits": 10}])
def test_estimators_on_dicts_and_frames(how, y):
    clf = LinearClassifier(**how).fit(DICTS, y)
    assert not clf.certificate(DICTS, y).hypothetical
    assert clf.certificate(changed(DICTS), y).hypothetical
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 1.0], "colour": ["red", "blue", "red", "green"]})
    clf = LinearClassifier(**how).fit(frame, y)
    assert not clf.certificate(frame, y).hypothetical
    assert clf.certificate(frame.replace("green", "violet"), y).hypothetical


def test_tokens():
    X, y = [["Ann", "left"], ["we", "saw", "Bob"]], [["B", "O"], ["O", "O", "B"]]
    for template in (["word", "@label[-1]"], "attributes"):
        sentences = X if template != "attributes" else [[[f"w={word}"] for word in x] for x in X]
        other = [sentences[0], [*sentences[1][:2], "Eve" if template != "attributes" else ["w=Eve"]]]
        learner = SequenceLearner(template=template)
        learner.learn_many(sentences, y)
        assert not certify(learner, sentences, y).hypothetical
        assert certify(learner, other, y).hypothetical
    tagger = SequenceTagger(template=lambda x, t: {x[t]: 1.0}).fit(X, y)
    assert not certify(tagger, X, y).hypothetical
    assert certify(tagger, [X[0], ["we", "saw", "Eve"]], y).hypothetical


FILES = {
    "a.svm": ("1 1:1\n2 2:1 3:2\n1 1:-1 2:3\n", "2 2:1 3:2", "2 2:1 3:2 9:100", ()),
    "a.csv": ("size,colour,label\n1,red,a\n2,blue,b\n3,green,a\n", "2,blue,b", "2,violet,b", ("--label", "label")),
    "a.jsonl": ('{"x": 1, "label": "a"}\n{"y": 2, "label": "b"}\n', '"y": 2', '"y": 2, "z": 3', ("--label", "label")),
    "a.tsv": ("a\tone two\nb\tthree four\n", "three", "seven", ("--text", "--words", "1")),
    "a.vw": ("1 | a b\n2 | c d\n", "c d", "c d e", ()),
    "rank.svm": ("2 qid:1 1:1\n1 qid:1 2:1\n1 qid:2 1:2 3:1\n2 qid:2 2:1\n", "3:1", "3:1 9:4", ("--task", "rank")),
    "many.svm": ("".join(f"{i} {i + 1}:1\n" for i in range(70)), "69 70:1", "69 70:1 99:3", ()),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("epochs", ["1", "4"])
def test_files(name, epochs, tmp_path):
    text, old, new, options = FILES[name]
    assert old in text
    (tmp_path / name).write_text(text)
    other = tmp_path / f"other-{name}"
    other.write_text(text.replace(old, new))
    rule = ("--rule", "perceptron", "--epochs", epochs, "--quiet", "-o", "m")
    run("train", name, *options, *rule, cwd=tmp_path)

    def hypothetical(path):
        return json.loads(run("certify", "m", path, "--json", cwd=tmp_path).stdout)["certificate"]["hypothetical"]

    assert not hypothetical(name)
    assert hypothetical(other.name)


def test_raw_lines_and_wider_arrays(tmp_path):
    (tmp_path / "a.svm").write_text(FILES["a.svm"][0])
    clf = LinearClassifier(epochs=3).fit_stream(tmp_path / "a.svm")
    y = [1, 2, 1]
    for X in (["1 1:1", "2 2:1 3:2", "1 1:-1 2:3"], sp.csr_array(np.array([[1, 0, 0], [0, 1, 2], [-1, 3, 0.0]]))):
        assert not certify(clf.learner_, X, y).hypothetical
    wide = np.array([[1, 0, 0, 0], [0, 1, 2, 7], [-1, 3, 0, 0.0]])
    for X in (["1 1:1", "2 2:1 3:2 4:7", "1 1:-1 2:3"], wide, sp.csr_array(wide)):
        found = certify(clf.learner_, X, y)
        assert found.hypothetical
        assert found.radius > 7


def test_texts():
    texts, y = ["one two", "three four"], [0, 1]
    hashed = HashedText(bits=12).fit(texts)
    clf = LinearClassifier().fit(hashed.transform(texts), y)
    assert not certify(clf, hashed.transform(texts), y).hypothetical
    assert certify(clf, hashed.transform(["one two", "three seven"]), y).hypothetical
