"""SequenceLearner as a Learner: many as one by one, states, snapshots, and every hypothesis."""

import copy
import pickle

import numpy as np
import pytest

import perceptive
from perceptive import SequenceTagger
from perceptive.hypotheses import HYPOTHESES
from perceptive.learners import SequenceLearner
from perceptive.models.registry import from_state
from perceptive.state import State
from tagger_data import sentences

X, Y = sentences(40)
TEMPLATE = "word[-1:1]\n@label[-1]"


def learned(**parameters):
    learner = SequenceLearner(template=TEMPLATE, **parameters)
    learner.learn_many(X, Y)
    return learner


def counts(learner):
    names = ("rounds", "mistakes", "updates", "loss", "played", "fingerprint", "ids")
    return [getattr(learner, name) for name in names]


def test_many_are_learned_as_one_by_one():
    one_by_one = SequenceLearner(template=TEMPLATE, labels=learned().labels)
    many = SequenceLearner(template=TEMPLATE, labels=learned().labels)
    many.learn_many(X, Y)
    assert sum(one_by_one.learn(x, y) for x, y in zip(X, Y, strict=True)) == many.mistakes
    assert counts(one_by_one) == counts(many)
    assert [one_by_one.predict(x) for x in X] == many.predict_many(X)


def test_a_learner_that_has_learned_nothing_counts_nothing():
    for learner in (SequenceLearner(), SequenceLearner(template=TEMPLATE)):
        assert counts(learner) == [0] * 7
        with pytest.raises(ValueError, match="no labels are known yet"):
            learner.predict(["a"])
    with pytest.raises(ValueError, match="has learned nothing yet"):
        SequenceLearner().state()
    with pytest.raises(ValueError, match=r"sample_weight has shape \(1,\); give one weight for each"):
        learned().learn_many(X, Y, [1.0])
    with pytest.raises(ValueError, match="witness does not go with sequences"):
        learned().problems(np.ones(3))


@pytest.mark.parametrize("template", ["auto", TEMPLATE])
@pytest.mark.parametrize("hypothesis", ["last", "averaged", "voted", "best", "random"])
@pytest.mark.parametrize("sentence", [["a", "b"], [("a", "N"), ("b", "V")], [{"word": "a"}, {"word": "b"}]])
def test_labels_that_are_announced_are_predicted_before_the_first_sentence(template, hypothesis, sentence):
    if template == TEMPLATE and not isinstance(sentence[0], str):
        pytest.skip("the template reads words")
    learner = SequenceLearner(labels=["X", "Y"], template=template, hypothesis=hypothesis)
    assert learner.predict(sentence) == ["X", "X"]


@pytest.mark.parametrize("again", ["state", "snapshot", "pickle", "copy"])
@pytest.mark.parametrize(
    "parameters", [{}, {"keep": "all", "max_voters": 4}, {"segments": True}, {"encoding": "bioes"}]
)
def test_going_on_equals_not_having_stopped(again, parameters):
    learner = learned(**parameters)
    if again == "state":
        other = SequenceLearner.from_state(learner.state())
    elif again == "snapshot":
        other = learned(**parameters)
        kept = other.snapshot()
        other.learn_many(X[::-1], Y[::-1])
        other.restore(kept)
    else:
        other = pickle.loads(pickle.dumps(learner)) if again == "pickle" else copy.deepcopy(learner)
    assert counts(other) == counts(learner)
    for one in (learner, other):
        one.learn_many(X[::-1], Y[::-1])
    assert counts(other) == counts(learner)
    assert other.k_best(X, 2) == learner.k_best(X, 2)


def test_a_state_is_checked_field_by_field():
    good = learned(constraints="bio").state()
    wrong = {
        "parameters": [None, 3, {"colour": 1}, {"rule": "hebb"}],
        "text": [None, 3, "sufix(2)"],
        "where": [None, 3],
        "dictionaries": [None, 3, [3], ["words"]],
        "labels": [None, 3, "O", [["O"]], ["O", "O"], ["O", None]],
        "scheme": ["x", 3, [], {}],
        "given": ["bioes", 3, []],
        "recognised": [None, 1, "yes"],
        "settled": [None, 1],
        "longest": [0, -1, 1.5, 2**16, "2", True],
        "label_column": [0, "x", 1.5],
        "fingerprint": [None, 3, "x", "-1", "9" * 30],
        "first_pass": [3, [1], [1, -1], [1, 2.5], "12"],
        "temperature": [0, -1.0, "x", float("nan"), True],
        "tokens": [3, "rows"],
        "numbers": [-1, 1.5, "3", True],
        "function": [3, {}, {"function": 3}],
    }
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(ValueError, match=r"\w"):
                from_state("SequenceLearner", State({**good.meta, name: value}, good.arrays))
    optional = {"settled", "label_column", "n_columns", "first_pass", "temperature", "longest", "tokens", "columns"}
    optional |= {"numbers", "tokeniser"}
    for name in set(good.meta) - optional:
        with pytest.raises(ValueError, match=rf"{name} is missing"):
            from_state("SequenceLearner", State({k: v for k, v in good.meta.items() if k != name}, good.arrays))
    for name in good.arrays:
        if name not in ("model.state.sum", "model.open"):  # which pruned models and older files do not have
            with pytest.raises(ValueError, match=r"\w"):
                from_state("SequenceLearner", State(good.meta, {k: v for k, v in good.arrays.items() if k != name}))
        with pytest.raises(ValueError, match=r"\w"):
            from_state("SequenceLearner", State(good.meta, {**good.arrays, name: np.zeros((1, 2), np.complex128)}))


def test_the_state_of_an_estimator_is_checked():
    good = SequenceTagger(template=TEMPLATE, epochs=2).fit(X, Y).state()
    assert from_state("SequenceTagger", good).mistakes_.size == 2
    for change in ({"estimator": None}, {"estimator": {"colour": 1}}, {"history": None}, {"history": {"mistakes": 3}}):
        with pytest.raises(ValueError, match=r"\w"):
            from_state("SequenceTagger", State({**good.meta, **change}, good.arrays))


# ---------------------------------------------------------------- hypotheses


def test_random_is_one_vector_drawn_by_its_survival():
    """The drawn v_k predicts what a learner that stopped there predicts, and is drawn as often as it has survived."""
    learner = learned(keep="all")
    survival, voters = np.array(learner.core.survival), {}
    drawn = []
    for seed in range(300):
        one = SequenceLearner.from_state(learner.state())
        one.parameters = type(one.parameters)(**{**one.parameters.__dict__, "random_state": seed})
        one._vectors._parameters = one.parameters
        total = int(survival.sum())
        k = int(np.searchsorted(np.cumsum(survival), np.random.default_rng(seed).integers(total), side="right"))
        drawn.append(k)
        if k not in voters:
            vector = learner.core.voter(k)
            voters[k] = learner.core.predict(X, learner.labels, vector, perceptive._core.Forced(), 0)
        assert one.predict_many(X, "random") == voters[k]
    shares = np.bincount(drawn, minlength=len(survival)) / len(drawn)
    assert np.abs(shares - survival / survival.sum()).max() < 0.1
    assert survival.max() < survival.sum()


def test_random_implies_the_journal_and_is_saved(tmp_path):
    tagger = SequenceTagger(template=TEMPLATE, hypothesis="random", random_state=3, epochs=2).fit(X, Y)
    assert tagger.learner_.parameters.keeps_journal
    perceptive.save(tagger, tmp_path / "m")
    loaded = perceptive.load(tmp_path / "m")
    assert loaded.predict(X) == tagger.predict(X)
    for hypothesis in HYPOTHESES:
        assert loaded.predict(X, hypothesis=hypothesis) == tagger.predict(X, hypothesis=hypothesis)
    with pytest.raises(ValueError, match="best, voted or random"):
        tagger.prune()
    with pytest.raises(ValueError, match="needs every update; train with keep='all'"):
        learned().predict_many(X, "random")
    with pytest.raises(ValueError, match="it must be one of 'last'"):
        learned().predict_many(X, "median")
