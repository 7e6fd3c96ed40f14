"""The walk from ``perceptive train x.svm`` to the model is short enough to be read."""

import os
import sys

import perceptive as package
from command_line import perceptive

HOME = os.path.dirname(package.__file__)
# Where bytes become rows, where a rule learns from them, and where the model goes to its file.
STATIONS = {"parse.<locals>.work", "WeightVector.learn", "write"}


def test_the_walk(data):
    """Functions of ours that stand on the stack at some station of the walk."""
    walk = {}

    def note(frame, event, argument):
        if event != "call" or frame.f_code.co_qualname not in STATIONS:
            return
        while frame is not None:
            code = frame.f_code
            if code.co_filename.startswith(HOME) and not code.co_name.startswith("<"):
                walk[code.co_filename, code.co_qualname] = None
            frame = frame.f_back

    sys.setprofile(note)
    try:
        perceptive("train", data / "train.svm", "-o", data / "m", "--epochs", 1, "--quiet", "--threads", 1)
    finally:
        sys.setprofile(None)
    assert {name for _, name in walk} >= STATIONS
    assert len(walk) <= 25
    assert len({module for module, _ in walk}) <= 14
