"""Taggers whose labels are BIOES within."""

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptive
from examples import examples
from perceptive import SequenceTagger, _core, certify
from perceptive.features import schemes
from perceptive.learners import SequenceLearner
from perceptive.reference.rules import Rule
from perceptive.reference.sequence import SequencePerceptron
from perceptive.reference.viterbi import all_paths
from tagger_data import X_TEST, Y_TEST, X, Y

pytestmark = pytest.mark.core


@pytest.mark.once
@pytest.mark.parametrize("scheme", ["bio", "iob1"])
def test_an_encoding_stays_within(scheme, tmp_path):
    y = [schemes.convert(labels, "bio", scheme) for labels in Y]
    y_test = [schemes.convert(labels, "bio", scheme) for labels in Y_TEST]
    tagger = SequenceTagger(template="ner", encoding="bioes", keep="all").fit(X, y)
    assert tagger.scheme_ == scheme
    assert tagger.learner_.scheme == "bioes"
    assert "S-ORG" in tagger.learner_.labels or "E-ORG" in tagger.learner_.labels
    assert tagger.score(X_TEST, y_test) > 0.98
    assert set(tagger.classes_) <= {f"{p}-{kind}" for p in "BI" for kind in ("PER", "ORG")} | {"O"}
    for predicted in (tagger.predict(X_TEST), tagger.predict(X_TEST, hypothesis="voted")):
        assert all(schemes.violation(scheme, labels) is None for labels in predicted)
    for paths, best in zip(tagger.predict_kbest(X_TEST, 4), tagger.predict(X_TEST), strict=True):
        assert paths[0][0] == best
        assert all(schemes.violation(scheme, labels) is None for labels, _ in paths)
        assert len({tuple(labels) for labels, _ in paths}) == len(paths)
    perceptive.save(tagger, tmp_path / "a.model")
    loaded = perceptive.load(tmp_path / "a.model")
    assert loaded.predict(X_TEST) == tagger.predict(X_TEST)
    assert loaded.scheme_ == scheme


def test_margins_under_an_encoding_are_those_of_the_users_labels():
    tagger = SequenceTagger(template="hmm", encoding="bioes", epochs=2).fit(X, Y)
    for x, margins in zip(X_TEST[:20], tagger.decision_margin(X_TEST[:20]), strict=True):
        paths = tagger.predict_kbest([x], 300)[0]
        best, score = paths[0]
        for t, margin in enumerate(margins):
            others = [other for labels, other in paths if labels[t] != best[t]]
            if others:
                assert margin == pytest.approx(score - max(others), abs=1e-4)


def test_forced_labels_are_obeyed_whatever_they_are_within():
    """Of all label sequences those that have the labels given, the best first."""
    tagger = SequenceTagger(template="hmm", encoding="bioes", epochs=2).fit(X, Y)
    rng = np.random.default_rng(0)
    for x in X_TEST[:20]:
        x = x[:4]
        paths = tagger.predict_kbest([x], 10**6)[0]
        wanted = [label if rng.random() < 0.5 else None for label in paths[rng.integers(len(paths))][0]]
        fit = [one for one in paths if all(want in (None, got) for want, got in zip(wanted, one[0], strict=True))]
        found = tagger.predict_kbest([x], 5, forced=[wanted])[0]
        assert [score for _, score in found] == pytest.approx([score for _, score in fit[:5]])
        assert found[0][0] == tagger.predict([x], forced=[wanted])[0]
        assert all(want in (None, got) for want, got in zip(wanted, found[0][0], strict=True))
    with pytest.raises(ValueError, match="'S-PER' is not one of the labels"):
        tagger.predict([["a"]], forced=[["S-PER"]])
    with pytest.raises(ValueError, match="forced, sentence 0"):
        tagger.predict([["a", "b"]], forced=[["O", "I-PER"]])


BIOES = [f"{prefix}-{kind}" for kind in "XY" for prefix in "BIES"] + ["O"]


def obeys(labels, wanted):
    return all(want in (None, got) for want, got in zip(wanted, labels, strict=True))


@functools.cache
def written_in(scheme, n):
    """All sequences of BIOES, and each as it is written in another scheme."""
    valid = [path for path in itertools.product(BIOES, repeat=n) if schemes.violation("bioes", path) is None]
    return {path: schemes.convert(path, "bioes", scheme) for path in valid}


@given(st.data(), st.integers(1, 4), st.sampled_from(["bio", "iob1"]))
def test_choices_are_what_a_label_may_be_within(data, n, scheme):
    """Of all sequences of BIOES those that have a label of each choice are those that are as given when written."""
    written = written_in(scheme, n)
    valid = list(written)
    one = data.draw(st.sampled_from(valid))
    wanted = [label if data.draw(st.booleans()) else None for label in written[one]]
    chosen = schemes.choices(wanted, scheme, BIOES)
    fit = [path for path in valid if all(c is None or y in c.labels for c, y in zip(chosen, path, strict=True))]
    assert fit == [path for path in valid if obeys(written[path], wanted)]
    assert schemes.Paths("bioes", BIOES).fit(chosen)
    assert not schemes.Paths("bioes", BIOES).fit([*chosen[:-1], schemes.Choice(())])


def close(trellis):
    """Whether float32 and float64 may part ways here."""
    scores = [score for score, _ in all_paths(trellis)]
    return any(a - b < 1e-4 for a, b in itertools.pairwise(scores))


@pytest.mark.parametrize("scheme", ["bio", "iob1"])
@examples(15)
@given(data=st.data())
def test_labels_that_are_none_are_free_under_an_encoding(scheme, data):
    """Whole runs against the twin, to whom what is said of a label is a set."""
    names = ["B-X", "E-X", "I-X", "O", "S-X"]
    rule, hamming = data.draw(st.sampled_from([("perceptron", False), ("perceptron", True), ("mira", True)]))
    learner = SequenceLearner(
        names, template="@label[-1]", constraints=scheme, encoding="bioes", hypothesis="last",
        rule=rule, C=0.5, cost="hamming" if hamming else None,
    )  # fmt: skip
    twin = SequencePerceptron(
        5,
        Rule(rule, C=0.5),
        hamming=hamming,
        allowed=lambda p, y: schemes.follows("bioes", *(None if z is None else names[z] for z in (p, y))),
    )
    every = [path for n in (1, 2, 3) for path in itertools.product(names, repeat=n)]
    every = [path for path in every if schemes.violation("bioes", path) is None]
    for _ in range(4):
        path = data.draw(st.sampled_from(every))
        y = [label if data.draw(st.booleans()) else None for label in schemes.convert(path, "bioes", scheme)]
        said = [None if c is None else {names.index(z) for z in c.labels} for c in schemes.choices(y, scheme, names)]
        if None not in y:
            said = [names.index(label) for label in path]
        words = [{data.draw(st.sampled_from(["fa", "fb"])): 1.0} for _ in path]
        if rule == "mira" and twin.updates and close(twin.trellis(words, twin.v, said)):
            break
        assert learner.learn(words, y) == twin.learn(words, said)
        assert learner.updates == twin.updates
        if rule == "mira" and close(twin.trellis(words, twin.v)):
            break
        assert learner.predict(words) == schemes.convert([names[z] for z in twin.predict(words)], "bioes", scheme)
    assert learner.labels == names


@pytest.mark.parametrize("scheme", ["bio", "iob1"])
def test_partial_labels_are_learned_from_under_an_encoding(scheme, tmp_path):
    y, y_test = ([schemes.convert(labels, "bio", scheme) for labels in some] for some in (Y, Y_TEST))
    rng = np.random.default_rng(1)
    some = [[label if rng.random() < 0.7 else None for label in labels] for labels in y]
    tagger = SequenceTagger(template="ner", encoding="bioes", constraints=scheme).fit(X, some)
    assert tagger.learner_.scheme == "bioes"
    assert tagger.score(X_TEST, y_test) > 0.9
    assert set(tagger.classes_) == {"B-ORG", "B-PER", "I-ORG", "I-PER", "O"}
    assert all(schemes.violation(scheme, labels) is None for labels in tagger.predict(X_TEST))
    for x, labels in zip(X_TEST, y_test, strict=True):
        wanted = [label if rng.random() < 0.5 else None for label in labels]
        for found, _ in tagger.predict_kbest([x], 3, forced=[wanted])[0]:
            assert obeys(found, wanted)
            assert schemes.violation(scheme, found) is None
    assert "no bound is known" in str(certify(tagger.learner_, X, some))
    perceptive.save(tagger, tmp_path / "a.model")
    assert perceptive.load(tmp_path / "a.model").predict(X_TEST) == tagger.predict(X_TEST)
    tagger.partial_fit(X[:1], [[None] * len(X[0])])
    tagger.partial_fit([["a", "b", "c"]], [["I-NEW" if scheme == "iob1" else "B-NEW", None, "O"]])
    assert tagger.learner_.labels[-1] == "S-NEW"  # in BIO a segment of two needs an I
    assert ("I-NEW" in tagger.learner_.labels) == (scheme == "iob1")


def test_partial_labels_under_an_encoding_bring_the_labels_they_need():
    tagger = SequenceTagger(template="hmm", encoding="bioes").fit([["a", "b", "c"]], [["B-X", None, "O"]])
    assert tagger.learner_.labels == ["O", "S-X"]
    tagger = SequenceTagger(template="hmm", encoding="bioes", constraints="bio")
    tagger.fit([["a", "b", "c"]], [[None, "I-X", "O"]])
    assert tagger.predict([["a", "b", "c"]]) == [["B-X", "I-X", "O"]]
    tagger = SequenceTagger(template="hmm", encoding="bioes", constraints="iob1").fit([["a", "b"]], [[None, "B-X"]])
    assert tagger.predict([["a", "b"]]) == [["I-X", "B-X"]]


def test_forced_labels_of_iob1_are_obeyed_under_an_encoding():
    iob1 = [schemes.convert(labels, "bio", "iob1") for labels in Y]
    tagger = SequenceTagger(template="hmm", encoding="bioes", epochs=2).fit(X, iob1)
    rng = np.random.default_rng(0)
    for x in X_TEST[:20]:
        x = x[:4]
        paths = tagger.predict_kbest([x], 10**6)[0]
        wanted = [label if rng.random() < 0.5 else None for label in paths[rng.integers(len(paths))][0]]
        fit = [one for one in paths if obeys(one[0], wanted)]
        found = tagger.predict_kbest([x], 5, forced=[wanted])[0]
        assert [score for _, score in found] == pytest.approx([score for _, score in fit[:5]])
        assert found[0][0] == tagger.predict([x], forced=[wanted])[0]
        assert all(obeys(labels, wanted) for labels, _ in found)
    wanted = ["I-PER", "I-PER", "B-PER", "I-PER"]
    assert tagger.predict([list("abcd")], forced=[wanted]) == [wanted]
    for wanted in (["B-PER", None], ["O", "B-PER"], ["I-ORG", "B-PER"]):
        with pytest.raises(ValueError, match="forced, sentence 0"):
            tagger.predict([["a", "b"]], forced=[wanted])
    for label in ("S-PER", 3, ["O"]):
        with pytest.raises(ValueError, match="is not one of the labels"):
            tagger.predict([["a"]], forced=[[label]])


def test_choices_that_are_not_there_are_refused_by_the_core():
    learner = SequenceLearner(["a", "b"], template="word", constraints=None)
    for index, choices in (({"a": -3}, [[0]]), ({"a": -2}, []), ({"a": -2}, [[-1]]), ({"a": -2}, [[2**40]])):
        with pytest.raises(ValueError, match="choice"):
            learner.core.encode([["x"]], [["a"]], index, choices, 1, 0)
        with pytest.raises(ValueError, match="choice"):
            learner.core.predict([["x"]], ["a", "b"], None, _core.Forced([["a"]], index, choices), 0)
    lesson = learner.core.encode([["x"]], [["a"]], {"a": -2}, [[7]], 1, 0)  # a label that nobody has
    with pytest.raises(ValueError, match="no labels fit"):
        learner.play(lesson, lesson.rows, np.zeros(1, np.int64))


def test_what_an_encoding_cannot_do_is_said():
    tagger = SequenceTagger(template="hmm", encoding="bioes", repair="off").fit(X, Y)
    with pytest.raises(ValueError, match="is not allowed here in the scheme 'bio'"):
        tagger.partial_fit([["a", "b"]], [["O", "I-PER"]])
    with pytest.raises(ValueError, match="does not go with segments"):
        SequenceTagger(segments=True, encoding="bioes").fit(X, Y)
    assert SequenceTagger(template="word", encoding="bioes").fit([["a", "b"]], [["D", "N"]]).predict([["a"]]) == [["D"]]


@pytest.mark.parametrize("named", ["B", "I", "B-N", "I-N"])
@pytest.mark.parametrize("scheme", ["bio", "iob1"])
def test_labels_in_templates_are_the_users_under_an_encoding(scheme, named):
    """A set holds the labels within that some sequence writes as it says."""
    x, y = [list("abcdef")], [["B-N", "I-N", "I-N", "B-N", "O", "B-M"]]
    template = f"y=={named} and word\ny=={named} and y[-1]=={named} and word\n@label[-1]"
    tagger = SequenceTagger(template=template, hypothesis="last", encoding="bioes", constraints=scheme)
    labels = tagger.fit(x, [schemes.convert(y[0], "bio", scheme)]).learner_.labels
    valid = [path for path in itertools.product(labels, repeat=3) if schemes.violation("bioes", path) is None]
    meant = {
        label
        for path in valid
        for label, name in zip(path, schemes.convert(path, "bioes", scheme), strict=True)
        if name == named or name.startswith(named + "-")
    }
    spoken_of = {}
    for name, of, _ in tagger.learner_.heaviest(-1):
        spoken_of.setdefault(name, set()).add(of)
    single, pairs = meant, {f"{before} → {now}" for before in meant for now in meant}
    found = {name: of for name, of in spoken_of.items() if name.startswith("y in")}
    assert any("y[-1]" not in name for name in found)
    assert all(of == (pairs if "y[-1]" in name else single) for name, of in found.items())


def test_probabilities_of_iob1_under_an_encoding_are_those_of_bio():
    iob1 = [schemes.convert(labels, "bio", "iob1") for labels in Y]
    bio, other = (
        SequenceTagger(template="hmm", encoding="bioes", epochs=1, probability=True).fit(X, y) for y in (Y, iob1)
    )
    assert (bio.scheme_, other.scheme_) == ("bio", "iob1")
    assert bio.classes_ == other.classes_
    for ours, theirs in zip(bio.predict_proba(X_TEST), other.predict_proba(X_TEST), strict=True):
        assert ours.tolist() == theirs.tolist()
