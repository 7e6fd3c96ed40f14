"""`tune`: find the parameters that do best on held-out examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from perceptive.declarations import declared
from perceptive.features.presets import LONGER
from perceptive.rules import RULES
from perceptive.training.tuning import (
    PAIRS,
    Choice,
    products,
    rules_among,
    successive_halving,
    with_default,
)

HELD_OUT = 0.1


def tune(estimator: Any, X: Any, y: Any, choices: Sequence[Choice] | None = None, **fit: Any) -> Any:
    """Try parameters by successive halving, and fit an estimator with the best ones.

    Every choice is trained for a ninth of ``estimator.epochs``, the best third for a third of them, the best ninth for
    all, each with a part of the examples held out (``validation_fraction``, by default 0.1). Then the best choice is
    fitted to all examples. By default, the first choice is the estimator's own parameters, which stay to the end.

    Parameters
    ----------
    estimator : estimator
        `LinearClassifier`, `KernelClassifier`, `LinearRanker`, `KernelRanker` or `SequenceTagger`, or a pipeline that
        ends with one. It is not changed.
    X, y : in the same form as for its ``fit``
    choices : sequence of dicts of parameters, or None
        Default: all rules of the estimator, pa1 and arow with several C and r, and for rankers the kinds of ``pairs``.
        A pipeline uses names such as ``linearclassifier__rule``.
    **fit
        Other arguments of ``fit``.

    Returns
    -------
    tuned : estimator
        A new, fitted estimator. Its ``tuning_`` is the list of `Trial`: choice, epochs and score, the best first.

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
    from sklearn.pipeline import Pipeline  # takes a while to import

    step, last = estimator.steps[-1] if isinstance(estimator, Pipeline) else ("", estimator)
    prefix = f"{step}__" if step else ""
    if not hasattr(last, "validation_fraction"):
        raise TypeError(
            f"cannot tune {type(last).__name__}; give an estimator of perceptive, or a pipeline ending in one"
        )
    default: Choice | None = None
    if choices is None:
        known, mine = declared(type(last)), last.get_params(deep=False)
        rules = rules_among(known["rule"].facts["check"].choices)
        tried = products(rules, PAIRS) if "pairs" in known else rules
        heeds = () if last.rule == "auto" else RULES[last.rule].heeds
        names = (name for name in ("rule", *heeds, "pairs") if any(name in one for one in tried))
        default = {name: mine[name] for name in names}
        tried = with_default(tried, default)
        choices = [{prefix + name: value for name, value in one.items()} for one in tried]
    held_out = last.validation_fraction or HELD_OUT
    longest = int(LONGER["epochs"] if last.epochs == "auto" else last.epochs)

    def play(choice: Choice, epochs: int) -> float:
        epochs = last.epochs if epochs == longest else epochs  # in the end as it will be trained
        how = {**choice, f"{prefix}epochs": epochs, f"{prefix}validation_fraction": held_out}
        tried = clone(estimator).set_params(**how).fit(X, y, **fit)
        return float(max((tried[-1] if step else tried).held_out_))

    trials = successive_halving(choices, play, longest, stays=choices[0] if default else None)
    tuned = clone(estimator).set_params(**trials[0].choice).fit(X, y, **fit)
    tuned.tuning_ = trials
    return tuned
