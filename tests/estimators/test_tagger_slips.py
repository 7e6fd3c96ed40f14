"""Labels that are slips of the pen, and labels that break their scheme where learning goes on."""

import itertools
import pickle
import warnings

import numpy as np
import pytest

from perceptive import SequenceTagger
from perceptive.data.conversion import repair
from perceptive.errors import ExampleWarning
from perceptive.features import label_repair, schemes
from perceptive.features.label_repair import meant

X = [["Ada", "Byron", "met", "Charles"], ["in", "Rome"]] * 30
Y = [["B-PER", "I-PER", "O", "B-PER"], ["O", "B-LOC"]] * 30


def with_label(label, i=10, t=0):
    y = [list(labels) for labels in Y]
    y[i][t] = label
    return y


@pytest.mark.parametrize(
    ("slip", "t", "read"),
    [("0", 3, "O"), ("B_PER", 3, "B-PER"), ("b-per", 3, "B-PER"), ("E-PER", 1, "I-PER"), ("S-PER", 3, "B-PER")],
)
def test_a_slip_does_not_change_the_scheme(slip, t, read):
    said = rf"sentence 10, token {t}: label {slip!r} \(1 of 180\) does not belong .* 'bio': it is read as {read!r}"
    with pytest.warns(UserWarning, match=said):
        tagger = SequenceTagger().fit(X, with_label(slip, t=t))
    assert tagger.scheme_ == "bio"
    assert slip not in tagger.classes_
    assert tagger.learner_.parameters.rule == "pa1"
    assert tagger.learner_.given == "bio"  # so the preset is that of names
    assert repair(with_label(slip, t=t)).changed[0] == (10, t, slip, read)


def test_a_slip_is_refused_or_left_where_that_is_asked_for():
    with pytest.raises(ValueError, match="sentence 10, token 0: label '0' is not allowed here in the scheme 'bio'"):
        SequenceTagger(repair="error").fit(X, with_label("0"))
    tagger = SequenceTagger(repair="off").fit(X, with_label("0"))
    assert tagger.scheme_ is None
    assert "0" in tagger.classes_


def test_what_slips_leave_behind_is_read_as_conlleval_reads_it():
    with pytest.warns(UserWarning, match="'0'") as told:
        tagger = SequenceTagger().fit(X, with_label("0"))  # I-PER behind it begins a segment
    assert "'I-PER' is not allowed here" in str(told[1].message)
    assert tagger.score(X, Y) > 0.9


def test_other_labels_stay_what_they_are():
    tags = [["DT", "B-X"], ["NN", "O"]] * 100  # a set of tags that has some like a scheme's
    assert meant(tags) is None
    assert meant([["B-X", "N"]] * 3) is None  # too few to tell
    assert meant([["O"] * 100, ["X"]]) is None


@pytest.mark.parametrize("template", ["auto", "hmm"])
@pytest.mark.parametrize("begun", ["fit", "partial_fit", "learn_one"])
def test_labels_are_repaired_where_learning_goes_on(template, begun):
    tagger = SequenceTagger(template=template)
    if begun == "learn_one":
        for x, y in zip(X[:4], Y[:4], strict=True):
            tagger.learn_one(x, y)
    else:
        getattr(tagger, begun)(X, Y)
    for label in ("I-PER", "b-per"):
        with pytest.warns(UserWarning, match=f"sentence 0, token 1: label '{label}'"):
            tagger.partial_fit([["met", "Ada"]], [["O", label]])
        with pytest.warns(UserWarning, match=f"sentence 0, token 1: label '{label}'"):
            tagger.learn_one(["met", "Ada"], ["O", label])
    assert tagger.scheme_ == "bio"
    assert set(tagger.classes_) == {"B-PER", "I-PER", "O", "B-LOC"}
    with pytest.raises(ValueError, match="is not allowed here"):  # these are no slips
        SequenceTagger().fit(X, Y).partial_fit([["a", "b", "c"]], [["DT", "NN", "VB"]])


def test_a_stream_of_iob1_that_turns_out_to_be_bio_is_bio():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tagger = SequenceTagger().learn_one(["Ada", "met"], ["I-PER", "O"])
        assert tagger.scheme_ == "iob1"
        tagger.learn_one(["Ada", "Byron", "met"], ["B-PER", "I-PER", "O"])
    assert tagger.scheme_ == "bio"


def test_a_stream_of_other_labels_that_begins_like_a_scheme_is_left_alone():
    tagger = SequenceTagger(template="hmm").learn_one(["b", "b"], ["B", "B"])
    with pytest.warns(UserWarning, match="predictions follow no scheme"):
        tagger.learn_one(["a", "b"], ["A", "B"])
    assert tagger.scheme_ is None
    assert tagger.classes_ == ["A", "B"]
    tagger = SequenceTagger(template="hmm").learn_one(["b", "b"], ["B-X", "O"])
    with pytest.warns(UserWarning, match="predictions follow no scheme"):
        tagger.learn_one(["a", "b"], ["NN", "O"])
    assert "NN" in tagger.classes_


def test_a_scheme_of_a_whole_training_set_stays():
    tagger = SequenceTagger().fit(X, [["I-PER", "I-PER", "O", "I-PER"], ["O", "I-LOC"]] * 30)
    with pytest.warns(UserWarning, match="'B-PER' is not allowed here in the scheme 'iob1'"):
        tagger.learn_one(["Ada", "met"], ["B-PER", "O"])
    assert tagger.scheme_ == "iob1"


@pytest.mark.parametrize("labels", [("B_PER", "I_PER", "O"), ("PER-B", "PER-I", "O"), ("b-PER", "i-PER", "o")])
def test_labels_of_segments_in_another_style_are_told_of(labels):
    said = f"sentence 0, token 1: label '{labels[0]}' is read as a tag without segments, .* write 'B-PER', as 'percep"
    with pytest.warns(ExampleWarning, match=said):
        SequenceTagger(epochs=1).fit([["met", "Ada", "King"]] * 3, [[labels[2], labels[0], labels[1]]] * 3)


def test_tags_that_only_look_like_some_are_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for labels in (["A_B", "C_D"], ["x-B", "y-B"], ["NN", "B_X"], ["I_X", "X"], [1, 2]):
            SequenceTagger(epochs=1).fit([["a", "b"]] * 3, [labels] * 3)


def test_a_single_label_is_told_of():
    with pytest.warns(ExampleWarning, match="every label is 'O', so there is nothing to learn; check the column"):
        SequenceTagger().fit([["a", "b"]] * 3, [["O", "O"]] * 3)
    with pytest.warns(ExampleWarning, match="every label is 'B-PER'"):  # not S-PER, as it is learned
        SequenceTagger(template="ner").fit([["Ada"]] * 3, [["B-PER"]] * 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SequenceTagger().partial_fit([["a", "b"]], [["O", "O"]])  # others may come


def test_the_warning_counts_the_labels_that_are_repaired_and_names_the_first_places():
    y = [list(labels) for labels in Y]
    for i in range(0, 12, 2):
        y[i][3] = "I-PER"
    y[0][0] = "I-PER"
    with pytest.warns(ExampleWarning, match="sentence 0, token 0: label 'I-PER' is not allowed here") as told:
        SequenceTagger(epochs=1).fit(X, y)
    (warning,) = told
    about = warning.message
    assert about.worded(lambda i, t: f"a.conll:{i}.{t}", lambda one: f"--{one.name}") == (
        "a.conll:0.0: label 'I-PER' is not allowed here in the scheme 'bio'; labels that break it: 7, in 6 sentences; "
        "they are read as conlleval reads them; first: a.conll:0.0 I-PER → B-PER, a.conll:0.3 I-PER → B-PER, "
        "a.conll:2.3 I-PER → B-PER, a.conll:4.3 I-PER → B-PER, a.conll:6.3 I-PER → B-PER. Repair them, as 'perceptive "
        "convert' does, or choose --repair"
    )
    assert "first: sentence 0, token 0 I-PER → B-PER, sentence 0, token 3 I-PER" in str(about)
    assert str(pickle.loads(pickle.dumps(about))) == str(about)
    assert len(repair(y).changed) == 7


@pytest.mark.parametrize("scheme", schemes.SCHEMES)
def test_labels_that_may_stand_stay_where_others_are_free(scheme):
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 9))
        ends = sorted({0, n, *rng.integers(0, n + 1, 3).tolist()})
        spans = [(a, b, str(rng.choice(["X", "Y"]))) for a, b in itertools.pairwise(ends) if rng.random() < 0.8]
        labels = [None if rng.random() < 0.3 else label for label in schemes.write(spans, n, scheme)]
        assert label_repair.mended(labels, scheme) == labels


def test_a_few_broken_labels_are_repaired_where_others_are_free():
    y = [["B-PER", "I-PER", "O", "B-PER"], ["O", "B-LOC"]] * 30
    free = [[None if (i + t) % 7 == 0 else label for t, label in enumerate(labels)] for i, labels in enumerate(y)]
    free[8] = ["I-PER", "I-PER", None, "B-PER"]
    with pytest.warns(UserWarning, match="sentence 8, token 0: label 'I-PER' is not allowed here in the scheme 'bio'"):
        tagger = SequenceTagger().fit([["Ada", "King", "met", "Bob"], ["in", "Rome"]] * 30, free)
    assert tagger.scheme_ == "bio"
