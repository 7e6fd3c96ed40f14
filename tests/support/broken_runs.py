"""Runs that end before they are done."""

from contextlib import contextmanager

import pytest

from perceptive.training.checkpoint import Checkpoint


@contextmanager
def broken_off(after):
    """What is run in this block ends when it has written down so many checkpoints."""
    saves, save = [], Checkpoint.save

    class Enough(Exception):
        pass

    def saved(self, *where):
        save(self, *where)
        saves.append(where)
        if len(saves) == after:
            raise Enough

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Checkpoint, "save", saved)
        with pytest.raises(Enough):
            yield
