"""``--prune`` and ``--precision``: fewer and shorter weights, and what they cost on the held-out part."""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

from perceptive.learners.pruning import check_prunable

UNKNOWN = "its cost is not known: hold examples out with --holdout"


class Pruned(NamedTuple):
    """What was kept, and the held-out score before and after; None where nothing was held out."""

    threshold: float
    precision: str | None
    before: float | None
    after: float | None

    def told(self, metric: str) -> str:
        """In words.

        >>> Pruned(0.1, "int8", 0.9, 0.875).told("accuracy")
        'weights above 0.1, as int8; held-out accuracy 90.00% before, 87.50% now'
        """
        kept = f"weights above {self.threshold:g}" + (f", as {self.precision}" if self.precision else "")
        if self.before is None or self.after is None:
            return f"{kept}; {UNKNOWN}"
        return f"{kept}; held-out {metric} {self.before:.2%} before, {self.after:.2%} now"


def is_wanted(options: argparse.Namespace) -> bool:
    """Whether weights are to be pruned or rounded."""
    return options.prune is not None or options.precision is not None


def check(options: argparse.Namespace, learner: Any) -> None:
    """Raise, before anything is learned, where a learner cannot be pruned."""
    if is_wanted(options):
        check_prunable(learner.parameters, options.prune or 0.0, options.precision)


def prune(options: argparse.Namespace, learner: Any, source: Any) -> Pruned:
    """Prune a learner that has been trained from a source, which scores it."""
    threshold, precision, before = options.prune or 0.0, options.precision, source.score(learner)
    learner.prune(threshold, precision=precision)
    return Pruned(threshold, precision, before, source.score(learner))
