"""Schemes that a tagger's labels keep to; labels that are free, and labels that are forced."""

import warnings

import numpy as np
import pytest

from perceptive import SequenceTagger
from perceptive.evaluation.conlleval import evaluate
from perceptive.features import schemes
from tagger_data import NAMES, WORDS, X_TEST, Y_TEST, X, Y

pytestmark = pytest.mark.core


@pytest.mark.parametrize("scheme", [scheme for scheme in schemes.SCHEMES if scheme != "bmewo"])  # here they are BMES
def test_schemes_are_recognised_and_kept(scheme):
    y = [schemes.convert(labels, "bio", scheme) for labels in Y]
    assert [schemes.convert(labels, scheme, "bio") for labels in y] == Y
    rng = np.random.default_rng(0)
    tagger = SequenceTagger(template="hmm", epochs=2).fit(X, y)
    assert tagger.scheme_ == scheme
    noise = [[str(word) for word in rng.choice(NAMES + WORDS + ["per", "org"], n)] for n in rng.integers(1, 9, 300)]
    for hypothesis in ("averaged", "last"):
        assert all(schemes.violation(scheme, p) is None for p in tagger.predict(noise, hypothesis=hypothesis))
    for paths in tagger.predict_kbest(noise[:50], 4):
        assert all(schemes.violation(scheme, labels) is None for labels, _ in paths)
    free = SequenceTagger(template="hmm", epochs=2, constraints=None).fit(X, y)
    assert free.scheme_ is None


def test_other_labels_are_free():
    assert SequenceTagger(template="word").fit([["a", "b"]], [["DT", "NN"]]).scheme_ is None


def test_a_wanted_scheme_is_enforced_on_the_training_data():
    with pytest.raises(ValueError, match="sentence 0, token 1: label 'I-NP' is not allowed here"):
        SequenceTagger(template="word", constraints="bio").fit([["a", "b"]], [["O", "I-NP"]])


@pytest.mark.parametrize("scheme", [scheme for scheme in schemes.SCHEMES if scheme != "bio"])
@pytest.mark.parametrize("encoding", [None, "bioes"])
def test_a_wanted_scheme_is_enforced_under_an_encoding_too(scheme, encoding):
    cure = f"the labels follow the scheme 'bio': convert them by 'perceptive convert --scheme {scheme}'"
    with pytest.raises(ValueError, match=f"not allowed here in the scheme '{scheme}'; {cure}"):
        SequenceTagger(constraints=scheme, encoding=encoding).fit(X, Y)


def test_what_comes_later_keeps_to_a_wanted_scheme_under_an_encoding():
    tagger = SequenceTagger(template="hmm", constraints="bioes", encoding="bioes", repair="off")
    tagger.fit([["a", "b"], ["c"]], [["B-X", "E-X"], ["O"]])
    with pytest.raises(ValueError, match=r"'B-X' is not allowed here in the scheme 'bioes'|'O' is not allowed here"):
        tagger.partial_fit([["a", "b"]], [["B-X", "O"]])
    assert tagger.predict([["a", "b"]]) == [["B-X", "E-X"]]
    free = SequenceTagger(template="hmm", encoding="bioes").fit(X, Y)
    assert (free.scheme_, free.learner_.scheme) == ("bio", "bioes")


def broken(y, every, scheme="bio"):
    """Labels of a scheme, of which the first of every so many segments begins wrongly; and how many do."""
    found, n, wrong = [], 0, {"B": "I", "I": "B"}
    for labels in y:
        labels = schemes.convert(labels, "bio", scheme)
        for begin, _, _ in schemes.spans(labels, scheme):
            before = labels[begin - 1] if begin else "O"
            n += before == "O"
            if before == "O" and n % every == 0:
                labels[begin] = wrong[labels[begin][0]] + labels[begin][1:]
        found.append(labels)
    return found, n // every


@pytest.mark.parametrize("scheme", ["bio", "iob1"])
def test_labels_that_break_their_scheme_in_a_few_places_are_read_as_conlleval_reads_them(scheme):
    clean = SequenceTagger(template="hmm").fit(X, [schemes.convert(labels, "bio", scheme) for labels in Y])
    y, n = broken(Y, 20, scheme)
    with pytest.warns(UserWarning, match=f"not allowed here in the scheme '{scheme}'; labels .* sentences") as told:
        tagger = SequenceTagger(template="hmm").fit(X, y)
    assert n > 10
    assert len(told) == 1
    assert tagger.scheme_ == scheme
    assert tagger.predict(X_TEST) == clean.predict(X_TEST)
    with pytest.warns(UserWarning, match="is not allowed here"):
        assert SequenceTagger(encoding="bioes").fit(X, y).predict(X_TEST)
    with pytest.raises(ValueError, match=f"is not allowed here in the scheme '{scheme}'"):
        SequenceTagger(template="hmm", repair="error").fit(X, y)
    with pytest.warns(UserWarning, match="so predictions follow no scheme"):
        assert SequenceTagger(template="hmm", repair="off").fit(X, y).scheme_ is None


@pytest.mark.parametrize(("name", "scheme"), [("iob2", "bio"), ("iobes", "bioes")])
def test_schemes_have_the_other_names_in_use(name, scheme):
    y = [schemes.convert(labels, "bio", scheme) for labels in Y]
    tagger, known = (SequenceTagger(template="hmm", constraints=one).fit(X, y) for one in (name, scheme))
    assert tagger.scheme_ == scheme
    assert tagger.predict(X_TEST) == known.predict(X_TEST)


def test_labels_that_break_a_scheme_everywhere_have_none():
    y, _ = broken(Y, 2)
    with pytest.warns(UserWarning, match="so predictions follow no scheme"):
        assert SequenceTagger(template="hmm").fit(X, y).scheme_ is None


@pytest.mark.parametrize(("label", "better"), [("X", "O"), ("b-PER", "B-PER"), ("", "O"), (7, "O")])
def test_labels_of_no_scheme_that_are_too_many_for_slips_are_told(label, better):
    y = [[label, *labels[1:]] if i % 3 == 0 else labels for i, labels in enumerate(Y)]
    with pytest.warns(UserWarning, match=rf"token 0: label {label!r} \(.* of .*\) does not belong .*'bio'.*{better}"):
        tagger = SequenceTagger(template="hmm").fit(X, y)
    assert tagger.scheme_ is None
    assert tagger.score(X, y) == evaluate(y, tagger.predict(X)).f1 / 100
    with pytest.raises(ValueError, match=rf"label {label!r} .* as most others do; rename it, such as to '{better}'"):
        SequenceTagger(template="hmm", repair="error").fit(X, y)


def test_labels_that_break_a_scheme_everywhere_are_refused_where_repair_is():
    y, _ = broken(Y, 2)
    with pytest.raises(ValueError, match=r"label '.*' is not allowed here in the scheme '\w+'; repair the labels"):
        SequenceTagger(template="hmm", repair="error").fit(X, y)


def test_the_score_is_f1_wherever_labels_mark_segments():
    free = SequenceTagger(template="hmm", constraints=None).fit(X, Y)
    assert free.score(X_TEST, Y_TEST) == evaluate(Y_TEST, free.predict(X_TEST)).f1 / 100
    with pytest.warns(UserWarning, match="so predictions follow no scheme"):
        broke = SequenceTagger(template="hmm").fit(X, broken(Y, 2)[0])
    assert broke.score(X_TEST, Y_TEST) == evaluate(Y_TEST, broke.predict(X_TEST)).f1 / 100
    tags = [["N" if label == "O" else "V" for label in labels] for labels in Y]
    tagger = SequenceTagger(template="hmm").fit(X, tags)
    right = np.concatenate(tagger.predict(X)) == np.concatenate(tags)
    assert tagger.score(X, tags) == pytest.approx(np.mean(right))


def test_the_preset_is_chosen_by_the_labels():
    tokens = [[*((word, "T") for word in x), *[("and", "C")] * 9] for x in X[:60]]
    names = [[*labels, *["O"] * 9] for labels in Y[:60]]
    chunks = [["B-OTHER" if label == "O" else label for label in labels] for labels in names]
    letters = [[word[:1] for word, _ in x] for x in tokens]
    for labels, preset in ((names, "ner"), (chunks, "chunking"), (letters, "pos")):
        assert SequenceTagger(epochs=1).fit(tokens, labels).learner_.templates.where == f"preset '{preset}'"


def test_free_labels_and_forced_labels():
    rng = np.random.default_rng(1)
    some = [[label if rng.random() < 0.7 else None for label in labels] for labels in Y]
    tagger = SequenceTagger(template="ner").fit(X, some)
    assert tagger.score(X_TEST, Y_TEST) > 0.9
    forced = [["B-ORG", *[None] * (len(x) - 1)] for x in X_TEST]
    assert all(labels[0] == "B-ORG" for labels in tagger.predict(X_TEST, forced=forced))
    assert all(p[0][0][0] == "B-ORG" for p in tagger.predict_kbest(X_TEST, 2, forced=forced))


def test_partial_labels_that_need_a_label_not_seen_learn_it():
    for options in ({"template": "hmm", "constraints": "bio"}, {"template": "records", "segments": True}):
        tagger = SequenceTagger(**options).fit([["a", "b", "c"]], [[None, "I-X", "O"]])
        assert "B-X" in tagger.classes_
        assert tagger.predict([["a", "b", "c"]]) == [["B-X", "I-X", "O"]]
        assert schemes.violation("bio", tagger.predict([["b", "b", "a"]])[0]) is None
    tagger = SequenceTagger(template="hmm", constraints="iob1").fit([["a", "b"]], [[None, "B-X"]])
    assert tagger.predict([["a", "b"]]) == [["I-X", "B-X"]]
    tagger = SequenceTagger(template="hmm", constraints="bioes").fit([["a", "b"], ["c"]], [[None, "E-X"], ["O"]])
    assert tagger.predict([["a", "b"]]) == [["B-X", "E-X"]]


@pytest.mark.parametrize("options", [{"constraints": "bioes"}, {"segments": True, "max_segment": 2}])
def test_partial_labels_that_nothing_fits_are_refused_before_anything_is_learned(options):
    bad = ["B-X", None, "E-Y"] if "constraints" in options else ["B-X", None, "I-X", "I-X"]
    tagger = SequenceTagger(template="hmm", **options)
    good = (["a"], ["O"])
    with pytest.raises(ValueError, match="sentence 1"):
        tagger.fit([good[0], list("abcd")[: len(bad)]], [good[1], bad])
    tagger = SequenceTagger(template="hmm", **options).partial_fit([good[0]], [good[1]])
    with pytest.raises(ValueError, match="sentence 0"):
        tagger.partial_fit([list("abcd")[: len(bad)]], [bad])
    assert tagger.learner_.rounds == 1
    assert tagger.learner_.labels == ["O"]


def test_forced_labels_that_no_sequence_fits_are_refused():
    X, y = [["a", "b"], ["b", "a"]], [["B-X", "I-X"], ["O", "O"]]
    for options in ({"template": "hmm"}, {"template": "records", "segments": True}, {"template": "hmm", "beam": 1}):
        tagger = SequenceTagger(**options).fit(X, y)
        many = [[None, None]] * 70
        with pytest.raises(ValueError, match="forced, sentence 70"):
            tagger.predict([["a", "b"]] * 71, forced=[*many, ["O", "I-X"]])
        assert tagger.predict([["b", "a"]], forced=[[None, "I-X"]]) == [["B-X", "I-X"]]
    tagger = SequenceTagger(template="hmm").fit(X, y)
    with pytest.raises(ValueError, match="forced, sentence 0"):
        tagger.predict_kbest([["a", "b"]], 2, forced=[["O", "I-X"]])


def test_a_scheme_is_recognised_when_its_first_labels_come():
    for encoding in (None, "bioes"):
        tagger = SequenceTagger(template="hmm", encoding=encoding).partial_fit([["a", "b"]], [["O", "O"]])
        assert tagger.scheme_ is None
        tagger.partial_fit([["a", "b"]], [["B-X", "I-X"]])
        assert tagger.scheme_ == "bio"
        assert tagger.learner_.scheme == (encoding or "bio")
    tagger = SequenceTagger(template="hmm").partial_fit([["a", "b"]], [["O", "I-X"]])
    tagger.partial_fit([["a", "b"]], [["I-X", "B-X"]])
    assert tagger.scheme_ == "iob1"
    tagger = SequenceTagger(template="hmm").partial_fit([["a"]], [["N"]])
    assert tagger.partial_fit([["a"]], [["B"]]).scheme_ is None


def test_segments_in_bioes_are_scored_as_segments():
    tagger = SequenceTagger(template="hmm").fit([["a", "b", "c"]], [["S-X", "S-X", "O"]])
    assert tagger.scheme_ == "bioes"
    assert tagger.score([["a", "b", "c"]], [["S-X", "S-X", "O"]]) == 1.0
    assert tagger.score([["a", "b", "c"]], [["B-X", "E-X", "O"]]) == 0.0
    assert tagger.score([["a", "b", "c"]], [["S-X", "O", "O"]]) == pytest.approx(2 / 3)


def test_labels_that_break_the_scheme_they_look_like_are_told():
    X, y = [["a", "b"]] * 3, [["B-X", "I-X"], ["B-X", "O"], ["O", "I-X"]]
    with pytest.warns(UserWarning, match="sentence 2, token 1: label 'I-X' is not allowed here in the scheme 'bio'"):
        tagger = SequenceTagger(template="hmm").fit(X, y)
    assert tagger.scheme_ is None
    tagger = SequenceTagger(template="hmm", repair="error").fit(X[:2], y[:2])
    for learn in (lambda: tagger.partial_fit(X[2:], y[2:]), lambda: tagger.learn_one(X[2], y[2])):
        with pytest.raises(
            ValueError, match="sentence 0, token 1: label 'I-X' is not allowed here in the scheme 'bio'"
        ):
            learn()
    assert tagger.scheme_ == "bio"
    tagger = SequenceTagger(template="hmm", repair="off").partial_fit(X[:2], y[:2])  # not a whole training set
    with pytest.warns(UserWarning, match="sentence 0, token 1: label 'I-X'"):
        tagger.partial_fit(X[2:], y[2:])
    assert tagger.scheme_ is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SequenceTagger(template="hmm", constraints=None).fit(X, y)
        SequenceTagger(template="hmm").fit(X, [["B-X", "N"]] * 3)


def test_between_the_ends_of_a_segment_of_bioes_a_free_label_goes_on():
    tagger = SequenceTagger(template="hmm", constraints="bioes")
    tagger.fit([["a", "b", "c"], ["c"]], [["B-X", None, "E-X"], ["O"]])
    assert tagger.predict([["a", "b", "c"]], forced=[["B-X", None, "E-X"]]) == [["B-X", "I-X", "E-X"]]
    tagger = SequenceTagger(template="hmm", constraints="bioes").fit([["a"], ["b"]], [["S-X"], [None]])
    assert tagger.classes_ == ["S-X"]


def test_free_labels_are_not_counted():
    X = [["a", "b", "c"]]
    tagger = SequenceTagger(template="word", constraints=None).fit(X, [["D", "N", "V"]])
    assert tagger.score(X, [["D", None, "N"]]) == 0.5
    assert tagger.score(X, [[None, None, "V"]]) == 1.0
    y = [["B-X", "I-X", "O"]]
    for options in ({}, {"encoding": "bioes"}):
        tagger = SequenceTagger(template="word", **options).fit(X, y)
        assert tagger.score(X, [["B-X", None, "O"]]) == 1.0
        assert tagger.score(X, [[None, None, None]]) == 1.0
        assert tagger.score(X, [[None, "O", None]]) == 0.0
    tagger = SequenceTagger(template="word").fit(X, [["B-X", "E-X", "O"]])
    assert tagger.scheme_ == "bioes"
    assert tagger.score(X, [[None, "E-X", "O"]]) == 1.0
    assert tagger.score(X, [[None, "O", "O"]]) == 0.0


def test_held_out_labels_that_are_free_do_not_stop_early():
    X, y = [[word] for word in "abcdefgh"], [["D"], ["N"]] * 4
    some = [labels if i % 2 else [None] for i, labels in enumerate(y)]
    tagger = SequenceTagger(template="word", constraints=None, validation_fraction=0.5, random_state=1).fit(X, some)
    assert set(tagger.held_out_) == {1.0}


@pytest.mark.parametrize("scheme", schemes.SCHEMES)
def test_prefixes_that_no_scheme_knows_take_no_time(scheme, monkeypatch):
    """Each pair is as `follows` says; a table of prefixes is made, however many labels there are."""
    odd = ["B-x", "I-x", "E-x", "S-y", "L-x", "U-y", "O", "", "-x", "BI-x", "IE-x", "N", "NN-x", "7", "bi-x"]
    pair, _, _ = schemes.constraints(scheme, odd)
    assert pair.tolist() == [schemes.follows(scheme, a, b) for a in odd for b in odd]
    asked, follows = [], schemes._follows
    monkeypatch.setattr(schemes, "_follows", lambda *given: asked.append(1) or follows(*given))
    schemes.constraints(scheme, list(map(str, range(500))))
    assert len(asked) < 1500


@pytest.mark.parametrize("scheme", schemes.SCHEMES)
def test_a_sentence_of_one_token_has_a_label_in_every_scheme(scheme):
    y = [schemes.convert(["B-X", "I-X", "I-X"], "bio", scheme)]
    tagger = SequenceTagger(constraints=scheme, encoding=None).fit([list("abc")], y)
    assert schemes.violation(scheme, tagger.predict([["a"]])[0]) is None


@pytest.mark.parametrize("kind", ["", "-X"])
@pytest.mark.parametrize("encoding", ["bioes", None])
@pytest.mark.parametrize(("scheme", "letters"), [("bmes", "BMMESBE"), ("bmewo", "BMMEWBE")])
def test_bmes_is_bioes_with_other_letters(scheme, letters, encoding, kind):
    labels = [letter + kind for letter in letters]
    tagger = SequenceTagger(encoding=encoding).fit([list("abcdefg")], [labels])
    assert (tagger.scheme_, tagger.predict([list("abcdefg")])[0]) == (scheme, labels)
    assert tagger.score([list("abcdefg")], [labels]) == 1.0
    bio = schemes.convert(labels, scheme, "bio")
    assert bio == [letter + kind for letter in "BIIIBBI"]
    assert schemes.convert(bio, "bio", scheme) == labels


@pytest.mark.parametrize("encoding", ["bioes", None])
def test_a_scheme_that_was_learned_is_not_left_by_what_comes_later(encoding):
    tagger = SequenceTagger(encoding=encoding, repair="off").fit([["Ann", "left"]], [["B-P", "O"]])
    for labels, cure in (
        (["O", "I-P"], "the labels follow the scheme 'iob1': convert them by 'perceptive convert --scheme bio'"),
        (["S-P", "O"], "the labels follow the scheme 'bioes': convert them by 'perceptive convert --scheme bio'"),
        (["O", "E-P"], "the labels follow the scheme 'ioe2': convert them by 'perceptive convert --scheme bio'"),
        (["I-P", "S-P"], "repair the labels, as 'perceptive convert --scheme bio' does"),
    ):
        with pytest.raises(ValueError, match=rf"not allowed here in the scheme 'bio'; {cure}, or train a new tagger"):
            tagger.partial_fit([["we", "left"]], [labels])
