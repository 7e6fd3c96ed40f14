"""`tune`: an estimator with the parameters that do best on examples that are held out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from perceptive.declarations import declared
from perceptive.training.tuning import Choice, rules_among, successive_halving

HELD_OUT = 0.1


def tune(estimator: Any, X: Any, y: Any, choices: Sequence[Choice] | None = None, **fit: Any) -> Any:
    """Try parameters by successive halving, and fit an estimator with the best of them.

    Every choice is trained for a ninth of ``estimator.epochs``, the best third for a third of them, the best ninth for
    all, each with a part of the examples held out (``validation_fraction``, by default 0.1). Then the best one is
    fitted to all examples.

    Parameters
    ----------
    estimator : estimator
        `LinearClassifier`, `KernelClassifier`, `LinearRanker`, `KernelRanker` or `SequenceTagger`; it is not changed.
    X, y : as its ``fit`` takes them
    choices : sequence of dicts of parameters, or None
        By default the rules that the estimator takes, pa1 and arow with several C and r.
    **fit
        What ``fit`` takes besides.

    Returns
    -------
    tuned : estimator
        A new one, fitted. Its ``tuning_`` is the list of `Trial`: choice, epochs and score, the best first.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from perceptive import LinearClassifier, tune
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = tune(LinearClassifier(), scale(X), y)
    >>> len(clf.tuning_), clf.score(scale(X), y) > 0.95
    (7, True)
    """
    if choices is None:
        choices = rules_among(declared(type(estimator))["rule"].said["check"].choices)
    held_out = estimator.validation_fraction or HELD_OUT

    def play(choice: Choice, epochs: int) -> float:
        tried = clone(estimator).set_params(**choice, epochs=epochs, validation_fraction=held_out)
        return float(max(tried.fit(X, y, **fit).held_out_))

    trials = successive_halving(choices, play, estimator.epochs)
    tuned = clone(estimator).set_params(**trials[0].choice).fit(X, y, **fit)
    tuned.tuning_ = trials
    return tuned
