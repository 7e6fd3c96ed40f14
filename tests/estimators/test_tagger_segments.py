"""Semi-Markov taggers."""

import math
import time

import numpy as np
import pytest

import perceptive
from perceptive import SequenceTagger, certify
from perceptive.features import schemes
from perceptive.features.terms import segment_in
from perceptive.learners import SequenceLearner
from tagger_data import records

pytestmark = pytest.mark.core


def test_segments_learn_and_are_saved(tmp_path):
    X, y = records(60)
    X_test, y_test = records(30, seed=1)
    (tmp_path / "cities.txt").write_text("New York\nOak Park\nRome\n")
    (tmp_path / "t.template").write_text("norm\nshape\n@label[-1]\nsegment in(cities.txt)\n")
    tagger = SequenceTagger(template=tmp_path / "t.template", segments=True, epochs=5).fit(X, y)
    assert tagger.score(X_test, y_test) > 0.95
    assert tagger.learner_.labelling.longest == 2
    names = {name for name, _, _ in tagger.learner_.heaviest(1000)}
    assert any(name.startswith("segment text = ") for name in names)
    assert any(name.startswith("segment in(cities.txt)") for name in names)
    perceptive.save(tagger, tmp_path / "a.model")
    (tmp_path / "cities.txt").unlink()
    loaded = perceptive.load(tmp_path / "a.model")
    assert loaded.predict(X_test) == tagger.predict(X_test)
    loaded.partial_fit(X_test, y_test)
    tagger.partial_fit(X_test, y_test)
    assert loaded.predict(X) == tagger.predict(X)
    tagger.prune(0.0)
    assert tagger.predict(X) == loaded.predict(X)


def test_segments_obey_and_complete(tmp_path):
    X, y = records(60)
    some = [[label if i % 2 else None for i, label in enumerate(labels)] for labels in y]
    tagger = SequenceTagger(template="records", segments=True, max_segment=3, rule="pa1").fit(X, some)
    forced = [["B-CITY", *[None] * (len(x) - 1)] for x in X]
    predicted = tagger.predict(X, forced=forced)
    assert all(labels[0] == "B-CITY" for labels in predicted)
    assert all(schemes.violation("bio", labels) is None for labels in predicted)
    assert all(end - begin <= 3 for labels in predicted for begin, end, _ in schemes.spans(labels))


def test_what_segments_cannot_do_is_said():
    X, y = records(10)
    with pytest.raises(ValueError, match="set max_segment=2"):
        SequenceTagger(template="records", segments=True, max_segment=1).fit(X, y)
    with pytest.raises(ValueError, match="is not allowed here in the scheme 'bio'"):
        SequenceTagger(template="records", segments=True).fit([["a", "b"]], [["NN", "VB"]])
    for parameters in ({"beam": 2}, {"constraints": "bioes"}):
        with pytest.raises(ValueError, match="segments=True"):
            SequenceTagger(template="records", segments=True, **parameters).fit(X, y)
    with pytest.raises(ValueError, match="needs segments=True"):
        SequenceTagger(max_segment=3).fit(X, y)


@pytest.mark.parametrize("rule", ["perceptron", "pa", "pa1", "pa2", "mira"])
def test_segments_have_scores_and_a_certificate(rule):
    X, y = records(40)
    X_test, y_test = records(15, seed=1)
    tagger = SequenceTagger(template="records", segments=True, rule=rule, probability=True, epochs=10).fit(X, y)
    assert tagger.score(X_test, y_test) > 0.95
    margins = tagger.decision_margin(X_test, per="sequence")
    for margin, (best, second) in zip(margins, tagger.predict_kbest(X_test, 2), strict=True):
        assert margin == pytest.approx(best[1] - second[1], abs=1e-4)
    for p, labels in zip(tagger.predict_proba(X_test), tagger.predict(X_test), strict=True):
        assert p.sum(axis=1) == pytest.approx(1)
        assert [tagger.classes_[i] for i in p.argmax(axis=1)] == labels
    tagger = SequenceTagger(template="records", segments=True, rule=rule, epochs=10).fit(X, y)
    certificate = certify(tagger.learner_, X, y)
    assert certificate.holds
    assert not certificate.hypothetical
    assert (certificate.bound < math.inf) == (rule == "perceptron")
    assert certify(tagger.learner_, X_test, y_test).hypothetical


@pytest.mark.once
def test_long_segments_take_time_in_proportion():
    """The segments that begin at one token share their work; sentences pay for the lengths they have room for."""

    def seconds(n):
        X, y = [[f"w{i}" for i in range(n)], ["a"]], [["B-X"] + ["I-X"] * (n - 1), ["O"]]
        before = time.process_time()
        SequenceTagger(template="hmm", segments=True, epochs=1).fit(X, y).predict(X)
        return time.process_time() - before

    # four times as long: 16 times as many segments, and 64 times as many tokens in them
    assert min(seconds(1200) for _ in range(2)) < 48 * max(seconds(300) for _ in range(3))
    tagger = SequenceTagger(template="hmm", segments=True, max_segment=20, epochs=1).fit(*records(20))
    words = [word for x in records(2000)[0] for word in x]
    assert len(tagger.predict([words])[0]) == len(words)
    assert len(tagger.decision_margin([words])[0]) == len(words)


def test_the_longest_segment_grows_where_no_bound_was_set():
    tagger = SequenceTagger(template="hmm", segments=True)
    tagger.learn_one(["a"], ["O"]).learn_one(["a", "b"], ["B-X", "I-X"])
    assert tagger.learner_.labelling.longest == 2
    with pytest.raises(TypeError, match="token 1: got a value of type 'int'"):
        tagger.partial_fit([["a", 3, "b"]], [["B-Y", "I-Y", "I-Y"]])
    assert tagger.classes_ == ["B-X", "I-X", "O"]
    assert tagger.learner_.labelling.longest == 2
    assert tagger.predict([["a", "b"]], hypothesis="last") == [["B-X", "I-X"]]
    with pytest.raises(ValueError, match="sentence 0: the segment 'X' of tokens 0 to 2 is longer than 2"):
        certify(tagger.learner_, [["a", "b", "c"]], [["B-X", "I-X", "I-X"]])
    for _ in range(5):
        tagger.learn_one(list("abcd"), ["B-X", "I-X", "I-X", "I-X"])
    assert tagger.predict([list("abcd")], hypothesis="last") == [["B-X", "I-X", "I-X", "I-X"]]
    bounded = SequenceTagger(template="hmm", segments=True, max_segment=3).learn_one(["a"], ["O"])
    with pytest.raises(ValueError, match="set max_segment=4"):
        bounded.learn_one(list("abcd"), ["B-X", "I-X", "I-X", "I-X"])
    with pytest.raises(ValueError, match="max_segment"):
        SequenceTagger(segments=True, max_segment=1 << 16).fit([["a"]], [["O"]])


def test_a_lesson_of_other_segments_is_refused_by_the_core():
    learner = SequenceLearner(template="hmm", segments=True, max_segment=3)
    learner.learn_many(*records(5))
    index = learner.index
    words, labels = ["a", "b", "c", "d"], ["B-CITY", "I-CITY", "I-CITY", "I-CITY"]
    for lesson in (
        learner.core.encode([words], [labels], index, [], 1, 3),
        learner.core.encode([words], [["O"] * 4], index, [], 1, 2),
    ):
        with pytest.raises((ValueError, RuntimeError), match="segment"):
            learner.play(lesson, lesson.rows, np.zeros(1, np.int64))
        with pytest.raises((ValueError, RuntimeError), match="segment"):
            learner.core.leads(lesson, None)


def test_hostile_states_of_segments_are_refused_or_harmless():
    template = ["word", segment_in("cities", ["New York"]), "@label[-1]"]
    X, y = records(20)
    tagger = SequenceTagger(template=template, segments=True, epochs=2).fit(X, y)
    good = tagger.learner_.snapshot()[0]
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(100):
        bad = {name: array.copy() for name, array in good.items()}
        name = str(rng.choice([name for name in bad if bad[name].size and bad[name].dtype.kind in "iu"]))
        info = np.iinfo(bad[name].dtype)
        bad[name].flat[rng.integers(bad[name].size)] = rng.integers(
            info.min, info.max, dtype=bad[name].dtype, endpoint=True
        )
        fresh = SequenceLearner(tagger.learner_.labels, template=template, segments=True, max_segment=2)
        try:
            fresh.core.restore(bad)
        except (ValueError, RuntimeError):
            refused += 1
            continue
        fresh.predict_many(X)
        fresh.k_best(X[:3], 3)
        fresh.margins(X[:3])
        fresh.heaviest(-1)
    assert refused > 25
