"""`tune`: an estimator with the parameters that do best on examples that are held out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

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
        `LinearClassifier`, `KernelClassifier`, `LinearRanker`, `KernelRanker` or `SequenceTagger`, or a pipeline that
        ends in one; it is not changed.
    X, y : as its ``fit`` takes them
    choices : sequence of dicts of parameters, or None
        By default the rules that the estimator takes, pa1 and arow with several C and r. A pipeline has names such as
        ``linearclassifier__rule``.
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
    step, last = estimator.steps[-1] if isinstance(estimator, Pipeline) else ("", estimator)
    prefix = f"{step}__" if step else ""
    if not hasattr(last, "validation_fraction"):
        raise TypeError(
            f"cannot tune {type(last).__name__}; give an estimator of perceptive, or a pipeline ending in one"
        )
    if choices is None:
        rules = rules_among(declared(type(last))["rule"].said["check"].choices)
        choices = [{prefix + name: value for name, value in rule.items()} for rule in rules]
    held_out = last.validation_fraction or HELD_OUT

    def play(choice: Choice, epochs: int) -> float:
        how = {**choice, f"{prefix}epochs": epochs, f"{prefix}validation_fraction": held_out}
        tried = clone(estimator).set_params(**how).fit(X, y, **fit)
        return float(max((tried[-1] if step else tried).held_out_))

    trials = successive_halving(choices, play, last.epochs)
    tuned = clone(estimator).set_params(**trials[0].choice).fit(X, y, **fit)
    tuned.tuning_ = trials
    return tuned
