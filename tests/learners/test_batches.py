"""Batches of sentences: the number of threads changes no bit, whatever a model is made of."""

import numpy as np
import pytest

from perceptive.learners import SequenceLearner
from perceptive.parameters import TrainingParameters
from perceptive.training.loop import InMemory, Run, train
from tagger_data import X, Y

pytestmark = pytest.mark.core

MANY = [[f"{word}{t % 7}" for t, word in enumerate(x)] for x in X]
MODELS = {
    "features of labels": ({"template": "word[-1:1]\nsuffix(1..2)\n@label[-1]"}, Y),
    "features of pairs, and triples": ({"template": "word\nword & @label[-1]\n@label[-2]"}, Y),
    "templates that share features": ({"template": "bag(word[-2:2])\n@label[-1]"}, Y),
    "sets of labels": ({"template": "(y==B or y==I) and capitalised\ny==I and y[-1]==B and word\nword"}, Y),
    "segments": ({"template": "word\nshape\n@label[-1]", "segments": True}, Y),
    "rows without zeros": ({"template": "word[-1:1]\n@label[-1]"}, MANY),
    "a journal": ({"template": "word[-1:1]\n@label[-1]", "hypothesis": "voted"}, Y),
    "a margin": ({"template": "word[-1:1]\n@label[-1]", "margin": 1.0}, Y),
}


def learned(how, y, batch, threads):
    learner = SequenceLearner(**{"hypothesis": "averaged", "batch": batch, **how})
    dataset = learner.dataset(X, y, epochs=2)
    train(Run.of(learner, TrainingParameters(epochs=2)), InMemory(dataset, True), threads=threads)
    meta, arrays = learner.state()
    return meta, {name: array.tobytes() for name, array in arrays.items()}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("batch", [2, 7])
def test_threads_change_no_bit(model, batch):
    alone, *others = [learned(*MODELS[model], batch, threads) for threads in (1, 2, 3)]
    assert all(other == alone for other in others)


def test_sentences_that_were_prepared_before_others_were_learned_from():
    learner = SequenceLearner(["A", "B"], template="word", rule="pa1", C=100.0, hypothesis="last", constraints=None)
    first, second = (learner.dataset([["x"]], [[label]]) for label in "AB")
    first.play(np.arange(1))
    second.play(np.arange(1))  # a passive-aggressive step as long as what was learned from the first wants it
    assert learner.k_best([["x"]], 2) == [[(["B"], 0.5), (["A"], -0.5)]]
