"""Probabilities of linear and kernel classifiers: calibrated on held-out examples, or shares of votes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from perceptive.errors import Parameter, ParameterError
from perceptive.learners.calibration import probabilities


def _has_probabilities(self: ProbabilityMixin) -> bool:
    if self.probability or self.hypothesis == "voted":
        return True
    said = "predict_proba needs probability=True or hypothesis='voted'"
    raise AttributeError(f"{said}; a model of the command line learns it by `perceptive train --holdout 0.1`")


class ProbabilityMixin:
    """`predict_proba` and `predict_proba_one`."""

    probability: bool
    hypothesis: str
    learner_: Any

    @property
    def _calibrates(self) -> bool:
        """Whether scores become probabilities on examples that are held out; votes need none."""
        return self.probability and self.hypothesis != "voted"

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities, in the order of the scores.

        For ``voted``, the shares of the votes; an abstention counts for all classes equally. Otherwise
        softmax(a·scores) (two classes: the logistic function of a·score) with one a > 0 that makes the held-out labels
        most likely. The number of held-out examples limits how confident they can be.

        Probabilities are only as good as the scores. If columns of X differ much in size, `fit` warns
        (`perceptive.errors.ScaleWarning`), and the probabilities are poor too: scale the columns first. On
        scikit-learn's wine, the worst log loss over 10 splits is 0.7 unscaled, and 0.2 standardised.
        """
        return self._probabilities(self.decision_function(X))  # type: ignore[attr-defined]

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each class for one example, as River does; empty before anything was learned.

        A stream has nothing to calibrate on: use ``hypothesis="voted"`` there, or start with `fit`.
        """
        if not hasattr(self, "learner_") or not self.learner_.classes:
            return {}
        learner = self.learner_
        classes, score = learner.asked(lambda: (learner.classes, learner.score(x)))
        found = self._probabilities(np.asarray(score)[None])[0]
        return dict(zip(classes, found.tolist(), strict=True))

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        learner = self.learner_
        voted = learner.parameters.hypothesis == "voted"
        if not voted and learner.temperature is None:
            raise ParameterError(
                "the probabilities were not calibrated; use fit with {} (not partial_fit), or {}",
                Parameter("probability", True), Parameter("hypothesis", "voted"),
            )  # fmt: skip
        return probabilities(scores, None if voted else learner.temperature)
