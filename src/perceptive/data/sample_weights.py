"""Sample weights: one number for each example."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.errors import Parameter, ParameterError
from perceptive.rules import RULES


def as_floats(values: Any, name: str) -> NDArray[np.float64]:
    """An array of float64, or a ValueError that names the argument."""
    try:
        return np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}") from None


def as_valid_weights(given: Any, n: int, what: str = "row") -> NDArray[np.float64] | None:
    """Sample weights of n examples as an array, whatever the rule is; ``what`` is what an example is called."""
    if given is None:
        return None
    weights = as_floats(given, "sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; give one weight for each of the {n} {what}s")
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(f"sample_weight[{i}] is {weights[i]}; weights must be finite and not negative")
    return weights


def check_weights(given: Any, n: int, rule: str, what: str = "row") -> NDArray[np.float64] | None:
    """Sample weights of n examples, as the core wants them; None where all are 1.

    Rules with hard constraints take 0 and 1 only. ``what`` is what an example is called.
    """
    weights = as_valid_weights(given, n, what)
    if weights is None or (weights == 1).all():
        return None
    if not takes(rule, weights):
        raise ParameterError(
            "weights other than 0 and 1 do not go with {}; choose another rule", Parameter("rule", rule)
        )
    return weights


def takes(rule: str, weights: NDArray[np.float64]) -> bool:
    """Whether a rule can obey weights: one with hard constraints takes 0 and 1 alone."""
    return RULES[rule].takes_weights or bool(np.isin(weights, (0, 1)).all())
