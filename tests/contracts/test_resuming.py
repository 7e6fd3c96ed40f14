"""Runs over examples in memory are resumed between any two chunks, bit for bit.

Rows of linear learners come from files in blocks: tests/training resumes their runs between two blocks.
"""

import pytest

from perceptive.parameters import TrainingParameters
from perceptive.training.checkpoint import Checkpoint
from perceptive.training.loop import InMemory, Run, train
from test_learners import everything
from zoo import CASES

pytestmark = pytest.mark.core
IN_MEMORY = [case for case in CASES if not case.name.startswith(("linear", "ranking", "reranking"))]


class Stop(Exception):
    pass


class StopAfter(Checkpoint):
    """A checkpoint after so many chunks; then the run is broken off."""

    def __init__(self, path, stop):
        super().__init__(path, {})
        self.left = stop

    def after_chunk(self, run, dataset):
        self.left -= dataset is not None
        if self.left == 0 and dataset is not None:
            self.save(run, dataset)
            self.close()
            raise Stop


@pytest.mark.parametrize("stop", [1, 4, 6])
@pytest.mark.parametrize("case", IN_MEMORY, ids=lambda case: case.name)
def test_a_run_is_resumed_between_two_chunks(case, stop, tmp_path):
    training, path = TrainingParameters(epochs=4), tmp_path / "checkpoint"

    def begin(learner):
        return InMemory(halved(learner.dataset(case.X, case.y, epochs=4)), shuffle=True)

    whole = case.make()
    train(Run.of(whole, training), begin(whole))
    learner = case.make()
    source = begin(learner)
    try:
        train(Run.of(learner, training), source, checkpoint=StopAfter(path, stop))
    except Stop:
        run = Checkpoint(path, {}).resume()
        train(run, begin(run.learner))
        learner = run.learner
    assert everything(learner) == everything(whole)


def halved(dataset):
    """A dataset that is played in chunks of some examples, whatever its size."""
    chunks = dataset.chunks

    def in_parts(order):
        for chunk in chunks(order):
            yield from (chunk[begin : begin + 7] for begin in range(0, len(chunk), 7))

    dataset.chunks = in_parts
    return dataset
