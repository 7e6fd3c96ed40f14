"""A reranker reads a text: the labels that words had before are features of its candidates."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptive
from perceptive import LinearRanker, Reranker, SequenceTagger
from perceptive.learners import RankingLearner
from perceptive.learners.description import View, describe
from perceptive.learners.lookback import Lookback
from perceptive.learners.reranking import RerankingLearner

WORDS = st.lists(st.sampled_from("abcd"), max_size=4)


@given(st.lists(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 2)), max_size=4), max_size=12), WORDS)
def test_the_last_label_of_a_word_is_recalled(text, words):
    for sentences in (0, 1, 2, 5, 100):
        lookback = Lookback(sentences)
        for sentence in text:
            lookback.add([word for word, _ in sentence], [label for _, label in sentence])
        near = dict(pair for sentence in text[max(0, len(text) - sentences) :] for pair in sentence)
        assert lookback.recall(words) == {word: near[word] for word in words if word in near}
        assert len(lookback._labels) <= 4


def test_what_is_forgotten_takes_no_memory():
    lookback = Lookback(10)
    for i in range(1000):
        lookback.add([str(i)], ["O"])
    assert len(lookback._labels) < 20


def news(n, seed):
    """Texts of two sentences: only the first tells whether its name is a person or a place."""
    rng, X, y = np.random.default_rng(seed), [], []
    for _ in range(n):
        name, person = f"Name{rng.integers(10**6)}", rng.integers(2)
        label, clue = ("B-PER", "says") if person else ("B-LOC", "lies")
        X += [[name, clue, "here"], ["again", name, "is", "new"]]
        y += [[label, "O", "O"], ["O", label, "O", "O"]]
    return X, y


@pytest.fixture(scope="module")
def fitted():
    tagger = SequenceTagger(template=["word[1]", "shape", "@label[-1]"], epochs=5)
    return Reranker(tagger, k=8).fit(*news(200, 0))


def test_a_name_that_comes_again_has_the_label_it_had(fitted):
    X, y = news(100, 1)
    assert fitted.score(X, y) == 1.0
    assert fitted.tagger_.score(X, y) < 0.8
    alone = Reranker(fitted.tagger, k=8, lookback=0).fit(*news(200, 0))
    assert alone.score(X, y) < 0.8
    assert alone.predict(X) == [labels for x in X for labels in alone.predict([x])]


def test_a_text_in_parts_is_read_as_a_whole(fitted, tmp_path):
    X, _ = news(100, 2)
    expected = fitted.predict(X)
    learner = fitted.learner_
    for size in (1, 2, 7, 64, 65):
        reader = learner.reader()
        assert [labels for i in range(0, len(X), size) for labels in reader.predict_many(X[i : i + size])] == expected
        reader = learner.reader()
        assert [reader.chosen(x)[1] for x in X] == expected
    assert [found[0][0] for found in learner.k_best(X, 3)] == expected
    assert learner.text is None
    assert learner.predict_many(X) == expected  # a text of its own each time
    perceptive.save(fitted, tmp_path / "m")
    assert perceptive.load(tmp_path / "m").lookback == 1000
    assert perceptive.load(tmp_path / "m").predict(X) == expected


def test_voters_recall_what_the_tagger_chose_whatever_the_parts():
    X, y = news(100, 7)
    tagger = SequenceTagger(template=["word[1]", "shape", "@label[-1]"], epochs=2)
    ranker = LinearRanker(rule="pa1", C=0.1, cost="grade", bits=16, hypothesis="voted")
    learner = Reranker(tagger, k=4, ranker=ranker).fit(X, y).learner_
    expected = learner.predict_many(X)
    for size in (1, 7, 65):
        reader = learner.reader()
        assert [labels for i in range(0, len(X), size) for labels in reader.predict_many(X[i : i + size])] == expected
    reader = learner.reader()
    assert [reader.chosen(x)[1] for x in X] == expected


def test_sentences_that_are_learned_one_by_one_recall_nothing(fitted):
    X, y = news(60, 3)
    one, many = (RerankingLearner(fitted.learner_.tagger, RankingLearner(bits=18), k=4) for _ in range(2))
    many.learn_many(X, y)
    for x, labels in zip(X, y, strict=True):
        one.learn(x, labels)
    assert many.updates > 0
    assert all((one.ranker.state().arrays[name] == array).all() for name, array in many.ranker.state().arrays.items())


def test_what_is_seen_of_labels_beyond_a_segment():
    x = ["Bob", "met", "Bob"]
    found = [(["B-PER", "O", "B-PER"], 1.0), (["B-PER", "O", "B-LOC"], 0.5)]
    one, other = describe(x, found, View(), {"bob": "B-LOC", "met": "O"})
    assert one["again here B-PER B-PER"] == one["again here True"] == other["again here False"] == 1
    assert not any("text" in name for name in (*one, *other))  # only the first Bob, whose labels are the same
    assert {"links PER O LOC bob met _", "link O LOC met bob", "opens O LOC bob", "link LOC $ bob _"} < {*other}
    assert (one["count PER 2"], other["count PER 1"], other["count LOC 1"]) == (1, 1, 1)
    assert "count O 1" not in one
    assert other["case 0 2 True X B-LOC"] == 1
    one, other = describe(["Bob"], [(["B-PER"], 1.0), (["B-LOC"], 0.5)], View(), {"bob": "B-LOC"})
    assert (one["again text B-LOC B-PER"], one["again text False"], other["again text True"]) == (1, 1, 1)
    before = describe(x, found)
    assert not any(name.split()[0] in ("again", "link", "links", "opens", "count", "case") for name in before[0])


def test_every_candidate_is_told_apart_by_the_same_features_wherever_they_are_equal():
    X, _ = news(20, 4)
    tagger = SequenceTagger(template=["word", "@label[-1]"], epochs=2).fit(*news(30, 5)).learner_
    for x, found in zip(X, tagger.k_best(X, 6), strict=True):
        for row in describe(x, [found[0], found[0]], View(), {}):
            assert {*row} == {"score"}  # nothing is left of what candidates share


@pytest.mark.parametrize("kind", ["columns", "features", "attributes", "nothing"])
def test_tokens_of_every_kind_have_a_word(kind):
    X, y = news(60, 6)
    token = {
        "columns": lambda word: (word, "x"),
        "features": lambda word: {"word": word, "shape": word[0].isupper()},
        "attributes": lambda word: {f"w={word}": 1.0, **({"upper": 1.0} if word[0].isupper() else {})},
        "nothing": lambda word: {"upper": 1.0} if word[0].isupper() else {},
    }[kind]
    X = [[token(word) for word in x] for x in X]
    template = ["word", "@label[-1]"] if kind == "columns" else None
    tagger = SequenceTagger(epochs=2, **({"template": template} if template else {}))
    reranker = Reranker(tagger, k=4, ranker=LinearRanker(rule="pa1", C=0.1, cost="grade", bits=16))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few sentences
        found = reranker.fit(X, y).predict(X)
    assert [len(labels) for labels in found] == [len(x) for x in X]
