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
from perceptive.features import bioes, schemes
from perceptive.learners import SequenceLearner
from perceptive.learners.sequence_model import guess_preset
from perceptive.reference.rules import Rule
from perceptive.reference.sequence import SequencePerceptron
from perceptive.reference.viterbi import all_paths
from tagger_data import X_TEST, Y_TEST, X, Y

pytestmark = pytest.mark.core
# without segments of one token, labels in BMEWO are labels in BMES
ENCODED = [scheme for scheme in schemes.SCHEMES if scheme not in ("bioes", "bmewo")]


def written(y, scheme):
    return [schemes.convert(labels, "bio", scheme) for labels in y]


@pytest.mark.once
@pytest.mark.parametrize("scheme", ENCODED)
def test_an_encoding_stays_within(scheme, tmp_path):
    y, y_test = written(Y, scheme), written(Y_TEST, scheme)
    tagger = SequenceTagger(template="ner", encoding="bioes", keep="all").fit(X, y)
    assert tagger.scheme_ == scheme
    assert tagger.learner_.scheme == "bioes"
    assert "S-ORG" in tagger.learner_.labels or "E-ORG" in tagger.learner_.labels
    assert tagger.score(X_TEST, y_test) > 0.98
    assert set(tagger.classes_) <= {f"{p}-{kind}" for p in schemes.PREFIXES[scheme] for kind in ("PER", "ORG")} | {"O"}
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


@given(st.data(), st.integers(1, 4), st.sampled_from(ENCODED))
def test_choices_are_what_a_label_may_be_within(data, n, scheme):
    """Of all sequences of BIOES those that have a label of each choice are those that are as given when written."""
    as_given = written_in(scheme, n)
    valid = list(as_given)
    one = data.draw(st.sampled_from(valid))
    wanted = [label if data.draw(st.booleans()) else None for label in as_given[one]]
    chosen = bioes.choices(wanted, scheme, BIOES)
    fit = [path for path in valid if all(c is None or y in c.labels for c, y in zip(chosen, path, strict=True))]
    assert fit == [path for path in valid if obeys(as_given[path], wanted)]
    assert schemes.Paths("bioes", BIOES).fit(chosen)
    assert not schemes.Paths("bioes", BIOES).fit([*chosen[:-1], schemes.Choice(())])


def close(trellis):
    """Whether float32 and float64 may part ways here."""
    scores = [score for score, _ in all_paths(trellis)]
    return any(a - b < 1e-4 for a, b in itertools.pairwise(scores))


@pytest.mark.parametrize("scheme", ENCODED)
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
        said = [None if c is None else {names.index(z) for z in c.labels} for c in bioes.choices(y, scheme, names)]
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


@pytest.mark.parametrize("scheme", ENCODED)
def test_partial_labels_are_learned_from_under_an_encoding(scheme, tmp_path):
    y, y_test = written(Y, scheme), written(Y_TEST, scheme)
    rng = np.random.default_rng(1)
    some = [[label if rng.random() < 0.7 else None for label in labels] for labels in y]
    tagger = SequenceTagger(template="ner", encoding="bioes", constraints=scheme).fit(X, some)
    assert tagger.learner_.scheme == "bioes"
    assert tagger.score(X_TEST, y_test) > 0.9
    letters = schemes.PREFIXES[scheme][:3]  # no segment has one token only
    assert set(tagger.classes_) == {f"{p}-{kind}" for p in letters for kind in ("PER", "ORG")} | {"O"}
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
    new = schemes.convert(["B-NEW"], "bio", scheme)[0]
    tagger.partial_fit([["a", "b", "c"]], [[new, None, "O"] if scheme != "ioe2" else [None, new, "O"]])
    assert tagger.learner_.labels[-1] == "S-NEW"  # in BIO a segment of two needs an I
    assert ("I-NEW" in tagger.learner_.labels) == (scheme in ("iob1", "ioe1"))


@pytest.mark.parametrize("scheme", ENCODED)
@pytest.mark.parametrize("how", [{}, {"template": "ner"}, {"template": "ner", "rule": "mira", "epochs": 2}], ids=str)
def test_the_same_segments_give_the_same_model_in_every_scheme(scheme, how):
    usual = SequenceTagger(probability=True, **how).fit(X, written(Y, "bioes"))
    other = SequenceTagger(probability=True, **how).fit(X, written(Y, scheme))
    assert (usual.scheme_, other.scheme_) == ("bioes", scheme)
    assert other.learner_.labels == usual.learner_.labels
    assert sorted(other.learner_.heaviest(-1)) == sorted(usual.learner_.heaviest(-1))
    said = usual.predict(X_TEST)
    assert other.predict(X_TEST) == [schemes.convert(labels, "bioes", scheme) for labels in said]
    assert other.score(X_TEST, written(Y_TEST, scheme)) == usual.score(X_TEST, written(Y_TEST, "bioes"))
    for x, labels in zip(X_TEST[:5], other.predict(X_TEST[:5]), strict=True):
        [best, *_] = other.predict_kbest([x], 2)[0]
        assert best[0] == labels == other.predict([x], forced=[labels])[0]


@pytest.mark.parametrize("scheme", schemes.SCHEMES)
def test_the_preset_does_not_depend_on_the_scheme(scheme):
    alone = [[f"B-{'XY'[t % 3 == 0]}" for t in range(30)]] * 10  # each token is a segment of its own
    words = [[f"w{t}" for t in range(30)]] * 10
    assert guess_preset(words, written(alone, scheme)) == "pos"
    assert guess_preset(X, written(Y, scheme)) == guess_preset(X, Y)


@pytest.mark.parametrize("scheme", ENCODED)
def test_announced_labels_are_known_under_an_encoding(scheme):
    tagger, every = SequenceTagger(template="hmm", encoding="bioes"), [f"{p}-NEW" for p in schemes.PREFIXES[scheme]]
    tagger.partial_fit(X[:20], written(Y[:20], scheme), classes=every)
    assert {*every} <= {*tagger.classes_}
    assert {f"{p}-NEW" for p in "BIES"} <= {*tagger.learner_.labels}


@pytest.mark.parametrize("scheme", ["ioe1", "ioe2", "bioes", "bio"])
def test_a_stream_that_began_with_one_prefix_finds_its_scheme(scheme):
    learner = SequenceLearner(template="hmm", encoding="bioes")
    learner.learn(["a", "b"], ["O", "I-X"])  # like IOB1
    y = schemes.convert(["B-X", "I-X", "O", "B-X"], "bio", scheme)
    if scheme == "ioe1":
        y = ["E-X", "I-X", "O", "O"]
    learner.learn(list("abcd"), y)
    assert (learner.given or learner.scheme) == scheme


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


@pytest.mark.parametrize(
    ("scheme", "named"),
    [(scheme, p + kind) for scheme in ENCODED for p in schemes.PREFIXES[scheme][:2] for kind in ("", "-N")],
)
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
