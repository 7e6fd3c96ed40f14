"""What a golden model is: how it is made, and what it is asked. The models themselves are in `golden_cases`."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from comparing import plain

import perceptive
from perceptive import model_file
from perceptive.models import registry

HYPOTHESES = ("last", "averaged", "best", "voted", "random")
FOLDER = Path(__file__).parent / "models"


@dataclass
class Case:
    """A model.

    Attributes
    ----------
    make : callable
        Trains it; gets a folder in which files may be written.
    ask : callable
        What it says of the inputs held apart, as a dict.
    exact : bool
        Whether every bit must be the same: no BLAS, exp or log is involved.
    holdout : bool
        Whether training holds out a part of the data, so that another way to draw it gives another model.
    functions : dict
        What `load` is told.
    saved : callable
        What of the model goes into the file.
    """

    make: Callable[[Path], Any]
    ask: Callable[[Any], dict[str, Any]]
    exact: bool = True
    holdout: bool = False
    functions: dict[str, Any] = field(default_factory=dict)
    saved: Callable[[Any], Any] = lambda model: model


CASES: dict[str, Case] = {}


def add(name, make, ask, **options):
    """Put a case into the table."""
    assert name not in CASES, name
    CASES[name] = Case(make if make.__code__.co_argcount else lambda folder: make(), ask, **options)


def counters(model):
    """What the run counted."""
    names = ("mistakes_", "updates_", "loss_", "rounds_", "n_iter_", "converged_", "held_out_")
    if not hasattr(model, "get_params"):
        names = ("mistakes", "updates", "rounds", "loss")
    found = {}
    for name in names:
        value = getattr(model, name, None)
        if value is not None:
            found[name] = plain(value)
    return found


def partial(model, parts, X, y):
    """Several calls of `partial_fit`, classes and features as they come."""
    for part in range(parts):
        model.partial_fit(X[part::parts], y[part::parts])
    return model


def one_by_one(model, X, y):
    """An example at a time."""
    for x, label in zip(X, list(y), strict=True):
        model.learn_one(x, label)
    return model


def made(case, folder):
    """The model of a case, trained now."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.make(folder)


def loaded(name):
    """The model of a case, from its golden file."""
    more = {"functions": CASES[name].functions} if CASES[name].functions else {}
    path = FOLDER / f"{name}.model"
    load = perceptive.load_learner if model_file.read(path)[0] in registry.LEARNERS else perceptive.load
    return load(path, **more)
