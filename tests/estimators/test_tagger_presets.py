"""What the preset of a `SequenceTagger` brings: rule, C, min_count, encoding and enough epochs."""

import warnings

import pytest
from sklearn.base import clone

import perceptive
from perceptive import SequenceTagger
from perceptive.features.presets import LONGER, PARAMETERS, PRESETS, brought
from perceptive.learners import SequenceLearner
from perceptive.training.loop import History

WORDS = [["we", "saw", "Rome"], ["Ann", "left", "it"]] * 8
TAGGED = [[(word, "NN") for word in sentence] for sentence in WORDS]
TAGS = [["PRP", "VBD", "NNP"], ["NNP", "VBD", "PRP"]] * 8
NAMES = [["O", "O", "B-LOC"], ["B-PER", "O", "O"]] * 8
CHUNKS = [["B-NP", "B-VP", "B-NP"], ["B-NP", "B-VP", "B-NP"]] * 8


@pytest.mark.parametrize(
    ("X", "y", "preset"),
    [(WORDS, TAGS, "pos"), (WORDS, NAMES, "ner"), (TAGGED, NAMES, "ner"), (TAGGED, CHUNKS, "chunking")],
)
@pytest.mark.parametrize("named", [False, True])
def test_labels_choose_the_preset_and_it_brings_its_parameters(X, y, preset, named):
    tagger = SequenceTagger(template=preset if named else "auto").fit(X, y)
    p = tagger.learner_.parameters
    assert (p.template, p.rule, p.C) == (preset, "pa1", 0.03)
    assert p.min_count == PARAMETERS[preset].get("min_count", 1)
    assert p.encoding == PARAMETERS[preset].get("encoding")
    assert tagger.get_params()["rule"] == "auto"  # as given
    assert tagger.predict(X) == y


@pytest.mark.parametrize("learn", ["partial_fit", "learn_one"])
def test_who_learns_bit_by_bit_gets_it_from_the_first_sentences(learn):
    tagger = SequenceTagger()
    if learn == "partial_fit":
        tagger.partial_fit(WORDS, NAMES)
    else:
        tagger.learn_one(WORDS[0], NAMES[0])
    assert (tagger.learner_.parameters.rule, tagger.learner_.parameters.encoding) == ("pa1", "bioes")


def test_templates_of_another_bring_nothing():
    p = SequenceTagger(template="word\n@label[-1]").fit(WORDS, NAMES).learner_.parameters
    assert (p.rule, p.min_count, p.encoding) == ("perceptron", 1, None)
    learner = SequenceLearner(template="ner")  # the notes' L is the perceptron, whatever it reads
    assert (learner.parameters.rule, learner.parameters.encoding) == ("perceptron", None)


def test_rare_features_are_left_out_where_there_are_many_tokens():
    for repeated, seen in ((100, True), (2000, False)):
        words = [["the", "cat", "sat"]] * repeated
        tagger = SequenceTagger(template="pos").fit([*words, ["hapax"]], [["D", "N", "V"]] * repeated + [["X"]])
        [told] = tagger.explain(["hapax"])
        assert any("hapax" in str(part.name) for part in told.parts) == seen


def test_words_with_two_labels_are_read_where_labels_are_few():
    for n, pairs in ((60, True), (70, False)):
        X, y = [[f"w{i}", f"v{i}"] for i in range(n)], [[f"A{i}", f"A{(i + 1) % n}"] for i in range(n)]
        lines = str(SequenceTagger(template="pos", epochs=1).fit(X, y).learner_.templates.text)
        assert ("lower[-1] & @label[-1]" in lines) == pairs


def test_what_is_given_stays():
    given = {"rule": "perceptron", "min_count": 3, "encoding": None, "epochs": 2}
    tagger = SequenceTagger(template="chunking", **given).fit(TAGGED, CHUNKS)
    p = tagger.learner_.parameters
    assert (p.rule, p.min_count, p.encoding) == ("perceptron", 3, None)


@pytest.mark.parametrize("given", [{"margin": 0.5}, {"learning_rate": 0.5}, {"batch": 2}])
def test_what_only_the_perceptron_heeds_makes_it_the_rule(given):
    assert SequenceTagger(template="ner", **given).fit(WORDS, NAMES).learner_.parameters.rule == "perceptron"


def test_labels_are_not_encoded_where_they_are_bound():
    assert "encoding" not in brought("ner", {"segments": True})
    assert "encoding" not in brought("ner", {"constraints": None})
    assert SequenceTagger(template="ner", segments=True).fit(WORDS, NAMES).predict(WORDS) == NAMES


def test_rules_of_small_steps_get_more_epochs():
    assert brought("word", {"rule": "pa1"}) == LONGER
    assert brought("word", {}) == {}
    assert brought("word", {"rule": "pa1", "epochs": 3}) == {"tol": LONGER["tol"]}
    assert all(name in PRESETS for name in PARAMETERS)


def test_wrong_words_are_refused():
    with pytest.raises(ValueError, match="rule='none': it must be one of 'perceptron'"):
        SequenceTagger(rule="none").fit(WORDS, NAMES)
    with pytest.raises(ValueError, match="tol=1: it must be in"):
        SequenceTagger(tol=1).fit(WORDS, NAMES)


def test_a_saved_tagger_can_be_fitted_anew(tmp_path):
    tagger = SequenceTagger().fit(WORDS, NAMES)
    perceptive.save(tagger, tmp_path / "m")
    loaded = perceptive.load(tmp_path / "m")
    assert loaded.get_params() == tagger.get_params()
    assert loaded.learner_.parameters.rule == "pa1"
    assert clone(loaded).fit(WORDS, TAGS).learner_.parameters.template == "pos"


# ---------------------------------------------------------------- when to stop


@pytest.mark.parametrize(
    ("mistakes", "enough"),
    [([0] * 9, False), ([9] * 5 + [1] * 5, True), ([9] * 6 + [1] * 5, False), ([9] * 6 + [1] * 6, True)],
)
def test_the_latter_half_of_the_epochs_is_to_make_few_mistakes(mistakes, enough):
    assert History(mistakes=mistakes).few(1.5) is enough
    assert not History(mistakes=mistakes).few(0.0)


def test_training_stops_when_few_mistakes_are_left():
    y = [*NAMES[:-1], ["B-LOC", "O", "O"]]  # one of sixteen sentences contradicts the others
    noisy = {"template": "word", "rule": "pa1", "constraints": None}
    epochs = [SequenceTagger(**noisy, epochs=30, tol=tol).fit(WORDS, y).n_iter_ for tol in (0, 0.2)]
    assert epochs[0] == 30 > epochs[1]


def test_batches_that_keep_away_the_rule_of_a_preset_are_told():
    X, y = [["Ada", "left", "Rome"]], [["B-PER", "O", "B-LOC"]]
    said = r"batch=8 is for the perceptron alone, so rule='pa1' is not taken, which does better with template='ner'"
    with pytest.warns(UserWarning, match=said):
        SequenceTagger(batch=8).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SequenceTagger(batch=8, rule="perceptron").fit(X, y)
        SequenceTagger(batch=8, template="word").fit(X, y)
