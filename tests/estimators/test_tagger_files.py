"""Taggers in files, copies and columns; what is pruned."""

import copy
import pickle

import numpy as np
import pytest

import perceptive
from perceptive import SequenceTagger, certify, model_file
from perceptive.learners import SequenceLearner
from perceptive.model_file import ModelFileError
from perceptive.streams import conll
from tagger_data import NAMES, X_TEST, Y_TEST, X, Y, sentences

pytestmark = pytest.mark.core


@pytest.mark.parametrize(
    "parameters",
    [
        {"template": "ner"},
        {"template": "lower\n@label[-2]", "rule": "pa1"},
        {"template": "y==B and capitalised\nword & @label[-1]\n@label[-1]", "hypothesis": "voted", "max_voters": 20},
        {"template": "hmm", "keep": "all", "probability": True},
    ],
)
def test_a_model_file_holds_everything(parameters, tmp_path):
    X, Y = sentences(60, kinds=("PER", "ORG"))
    tagger = SequenceTagger(**parameters).fit(X, Y)
    perceptive.save(tagger, tmp_path / "a.model")
    loaded = perceptive.load(tmp_path / "a.model")
    assert loaded.get_params() == tagger.get_params()
    assert loaded.predict(X_TEST) == tagger.predict(X_TEST)
    assert certify(loaded.learner_, X, Y) == certify(tagger.learner_, X, Y)
    for one in (tagger, loaded):
        one.partial_fit(X_TEST, Y_TEST)  # goes on learning in the same way
    assert loaded.predict(X) == tagger.predict(X)
    assert loaded.learner_.mistakes == tagger.learner_.mistakes
    perceptive.save(tagger.learner_, tmp_path / "b.model")
    assert perceptive.load_learner(tmp_path / "b.model").predict_many(X) == tagger.predict(X)


def test_dictionaries_travel_with_the_model(tmp_path):
    (tmp_path / "names.txt").write_text("\n".join(NAMES))
    (tmp_path / "t.template").write_text("in(names.txt)\n@label[-1]\n")
    tagger = SequenceTagger(template=tmp_path / "t.template").fit(X, Y)
    perceptive.save(tagger, tmp_path / "a.model")
    (tmp_path / "names.txt").unlink()
    assert perceptive.load(tmp_path / "a.model").predict(X_TEST) == tagger.predict(X_TEST)


def test_pruning_keeps_the_predictions(tmp_path):
    tagger = SequenceTagger(template="ner").fit(X, Y)
    expected = tagger.predict(X_TEST)
    perceptive.save(tagger, tmp_path / "whole.model")
    tagger.prune(0.0)
    assert tagger.predict(X_TEST) == expected
    perceptive.save(tagger, tmp_path / "pruned.model")
    assert (tmp_path / "pruned.model").stat().st_size < (tmp_path / "whole.model").stat().st_size
    assert perceptive.load(tmp_path / "pruned.model").predict(X_TEST) == expected
    assert tagger.prune(1e9).learner_.core.n_state_rows == 0
    tagger.partial_fit(X, Y)  # learning goes on
    assert tagger.score(X_TEST, Y_TEST) > 0.9


def test_hostile_states_are_refused(tmp_path):
    tagger = SequenceTagger(template="word & @label[-1]\nword\n@label[-1]", keep="all", epochs=1).fit(X[:20], Y[:20])
    learner = tagger.learner_
    good = learner.snapshot()[0]
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(150):
        bad = {name: array.copy() for name, array in good.items()}
        name = str(rng.choice([name for name in bad if bad[name].size and bad[name].dtype.kind in "iu"]))
        at = rng.integers(bad[name].size)
        info = np.iinfo(bad[name].dtype)
        bad[name].flat[at] = rng.integers(info.min, info.max, dtype=bad[name].dtype, endpoint=True)
        fresh = SequenceLearner(learner.labels, template="word & @label[-1]\nword\n@label[-1]", keep="all")
        try:
            fresh.core.restore(bad)
        except (ValueError, RuntimeError):
            refused += 1
            continue
        fresh.predict_many(X_TEST)
        fresh.predict_many(X_TEST[:3], "voted")
    assert refused > 50
    for name in good:
        fresh = SequenceLearner(learner.labels, template="word & @label[-1]\nword\n@label[-1]", keep="all")
        with pytest.raises((ValueError, RuntimeError)):
            fresh.core.restore({**good, name: good[name][:-1]} if good[name].size else {})


@pytest.mark.parametrize("label", ["", 3])
def test_a_label_that_no_scheme_has_does_not_fit(tmp_path, label):
    learner = SequenceTagger(template="word\n@label[-1]", encoding="bioes").fit(X[:5], Y[:5]).learner_
    assert learner.labelling.given == "bio"
    learner.labels[1] = label
    perceptive.save(learner, tmp_path / "a.model")
    with pytest.raises(ModelFileError, match="the labels of a scheme must be texts that are not empty"):
        perceptive.load(tmp_path / "a.model")


def test_a_file_of_another_label_count_does_not_fit(tmp_path):
    tagger = SequenceTagger(template="word\n@label[-1]").fit(X[:5], Y[:5])
    tagger.learner_.labels.pop()
    perceptive.save(tagger.learner_, tmp_path / "a.model")
    with pytest.raises(ModelFileError, match="does not fit together"):
        perceptive.load(tmp_path / "a.model")


def test_columns_from_files(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("\n\nthe DT B-NP\r\ndog NN I-NP\n\n\nbarks VB B-VP")
    assert conll.read(path) == ([[("the", "DT"), ("dog", "NN")], [("barks", "VB")]], [["B-NP", "I-NP"], ["B-VP"]])
    assert conll.read(path, label=1)[1] == [["DT", "NN"], ["VB"]]
    assert conll.read(path, label=None)[0][1] == [("barks", "VB", "B-VP")]
    path.write_text("New York\tB-LOC\n\tO\n")
    assert conll.read(path) == ([[("New York",), ("",)]], [["B-LOC", "O"]])
    path.write_text("the DT B-NP\ndog NN\n")
    with pytest.raises(ValueError, match=r"a\.conll:2: 2 columns where line 1 has 3"):
        conll.read(path)
    path.write_bytes(b"the DT B-NP\n\xff NN O\n")
    with pytest.raises(ValueError, match=r"a\.conll:2: not UTF-8"):
        conll.read(path)
    path.write_text("the\n")
    with pytest.raises(ValueError, match="column 3 cannot hold"):
        conll.read(path, label=3)


@pytest.mark.parametrize(
    "options", [{}, {"keep": "all"}, {"encoding": "bioes"}, {"segments": True}, {"hypothesis": "voted"}]
)
def test_a_fitted_tagger_can_be_pickled_and_copied(options):
    X, y = sentences(12)
    more, labels = sentences(6, seed=1)
    tagger = SequenceTagger(template="ner", epochs=2, **options).fit(X, y)
    for twin in (pickle.loads(pickle.dumps(tagger)), copy.deepcopy(tagger)):
        assert twin.predict(more) == tagger.predict(more)
        assert twin.learner_.core.fingerprint == tagger.learner_.core.fingerprint
        twin.partial_fit(more, labels)
        again = pickle.loads(pickle.dumps(tagger)).partial_fit(more, labels)
        assert twin.predict(X) == again.predict(X)
        assert twin.updates_.tolist() == again.updates_.tolist()
    rounds = tagger.learner_.rounds
    assert rounds == 24
    empty = pickle.loads(pickle.dumps(SequenceLearner()))
    assert empty.learn(X[0], y[0])


@pytest.mark.parametrize("template", ["ner", "word[-1:1]\nshape & @label[-1]\n@label[-1]\n@label[-2]", "hmm"])
def test_a_loaded_tagger_reads_packed_rows_as_it_would_rows(template, tmp_path):
    """A pruned model stays packed until its rows are wanted; all that it says must be the same before and after."""

    def says(tagger):
        return (
            tagger.predict(X_TEST),
            tagger.predict_kbest(X_TEST[:5], 3),
            [margin.tolist() for margin in tagger.decision_margin(X_TEST[:5])],
        )

    tagger = SequenceTagger(template=template, epochs=3, random_state=0).fit(X, Y).prune(0.1)
    perceptive.save(tagger, tmp_path / "a.model")
    packed = perceptive.load(tmp_path / "a.model")
    before = says(packed)
    assert before == says(tagger)
    assert packed.learner_.heaviest(50)  # unpacks
    assert says(packed) == before
    perceptive.save(packed, tmp_path / "b.model")
    first, second = (model_file.read(tmp_path / name)[2] for name in ("a.model", "b.model"))
    assert {name: a.tolist() for name, a in first.items()} == {name: a.tolist() for name, a in second.items()}
    for one in (tagger, packed, perceptive.load(tmp_path / "a.model")):  # and learns on in the same way
        one.partial_fit(X[:20], Y[:20])
    assert says(tagger) == says(packed)


def test_a_loaded_tagger_unpacks_when_it_is_used_much(tmp_path):
    tagger = SequenceTagger(template="word[-1:1]\nshape\n@label[-1]", epochs=3, random_state=0).fit(X, Y).prune()
    perceptive.save(tagger, tmp_path / "a.model")
    loaded = perceptive.load(tmp_path / "a.model")
    assert sum(map(len, X_TEST)) * 145 > 50_000
    assert loaded.predict(X_TEST * 145) == tagger.predict(X_TEST) * 145


@pytest.mark.parametrize("options", [{"keep": "all"}, {"hypothesis": "best"}, {"hypothesis": "voted"}])
def test_a_tagger_with_a_log_is_not_pruned(options):
    X, y = sentences(10)
    tagger = SequenceTagger(template="hmm", **options).fit(X, y)
    expected = tagger.predict(X)
    with pytest.raises(ValueError, match="averaged or last"):
        tagger.prune()
    assert tagger.predict(X) == expected


def test_columns_are_separated_by_spaces_and_tabs_alone(tmp_path):
    path = tmp_path / "a.conll"
    path.write_bytes("10\u00a0000  CD N\n\u3000 SP\tN\r\n \t \nb  X N\n".encode())
    assert conll.read(path)[0] == [[("10\u00a0000", "CD"), ("\u3000", "SP")], [("b", "X")]]
