"""Taggers whose sentences are elsewhere: weights, mixtures and strings travel, and features are counted in parts."""

import copy
import pickle

import numpy as np
import pytest

from perceptive.learners import SequenceLearner
from perceptive.training.mixing import Block, order_of, play_shard
from tagger_data import sentences

pytestmark = pytest.mark.core
X, Y = sentences(30)
TEMPLATES = ["word[-1:1]\nsuffix(2)\n@label[-1]", "word\nword & @label[-1]\n@label[-2]"]


def tagger(**how):
    return SequenceLearner(**{"template": TEMPLATES[0], "hypothesis": "averaged", **how})


def played(dataset, seed):
    """What a replica becomes that plays all sentences."""
    return play_shard(dataset.learner, dataset, order_of(np.arange(len(dataset)), 0, seed), Block(seed, False))[0]


def parts(mixture):
    return {name: array.tobytes() for name, array in mixture.__getstate__().items()}


@pytest.mark.parametrize("how", [{}, {"template": TEMPLATES[1]}, {"segments": True}])
def test_weights_and_mixtures_travel(how):
    learner = tagger(**how)
    dataset = learner.dataset(X, Y, epochs=2)
    for seed in range(2):
        dataset.meet()
        state, functions = learner.departure()
        twin = SequenceLearner.from_state(pickle.loads(pickle.dumps(state)), functions)
        assert (twin.rounds, twin.core.n_state_rows) == (0, learner.core.n_state_rows)
        assert not any(name.endswith("sum") for name in state.arrays)
        elsewhere = twin.dataset(X, Y, grow=False)
        elsewhere.meet()
        mixture = played(elsewhere, seed)
        assert parts(mixture) == parts(played(dataset, seed))
        both = copy.copy(mixture)
        both.add(pickle.loads(pickle.dumps(mixture)))
        assert both.run.updates == 2 * mixture.run.updates > 0
        learner.played_rows = None  # they have not come along
        learner.mix({0: pickle.loads(pickle.dumps(both))})


def test_a_damaged_mixture():
    learner = tagger()
    dataset = learner.dataset(X, Y, epochs=1)
    dataset.meet()
    mixture = played(dataset, 0)
    for name, array in mixture.__getstate__().items():
        if len(array) == 0:
            continue
        broken = {**mixture.__getstate__(), name: array[:-1].copy()}
        with pytest.raises((ValueError, RuntimeError, IndexError)):
            type(mixture).__new__(type(mixture)).__setstate__(broken)


def test_sentences_made_ready_by_a_learner_of_later():
    early = tagger()
    early.dataset(X, Y, epochs=1)
    late = copy.deepcopy(early)
    late.learn_many(X, Y)
    ready = late.dataset(X, Y, grow=False)  # knows rows of weights that the other does not have
    found = []
    for dataset in (early.dataset(X, Y, grow=False), copy.copy(ready)):
        dataset.learner = copy.deepcopy(early)
        dataset.meet()
        found.append(parts(played(dataset, 1)))
    assert found[0] == found[1]


def test_strings_of_parts_are_those_of_the_whole():
    whole, joined = tagger(), tagger()
    whole.dataset(X, Y, epochs=1)
    joined.meet_elsewhere(X[0], Y, whole=True)
    for i in range(0, len(X), 7):
        joined.meet_strings(copy.deepcopy(tagger()).strings_of(X[i : i + 7]))
    expected, found = whole.core.state(None, 0.0), joined.core.state(None, 0.0)
    assert [name for name, array in expected.items() if not np.array_equal(array, found[name])] == []
    assert joined.labels == whole.labels


def test_rare_features_are_those_of_all_parts():
    learner = tagger(template="word[-1..1]\n@label[-1]", min_count=2)
    whole = learner.dataset(X, Y, epochs=1).sentences.tally()
    every = learner.dataset(X, Y, grow=False).sentences
    rare = {name: keys[counts < 2] for name, (keys, counts) in every.tally().items()}
    assert len(rare["state"])
    every.drop(**rare)
    for name, (keys, counts) in every.tally().items():
        assert [keys.tolist(), counts.tolist()] == [part.tolist() for part in whole[name]]
