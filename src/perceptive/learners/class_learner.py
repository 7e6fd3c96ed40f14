"""What all learners of classes share: the classes that they know, and the label of an example."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.data.labels import announced_classes
from perceptive.learners.learner import Recorded, at_one_moment
from perceptive.learners.multiclass import decide_argmax, decide_binary


class ClassLearner(Recorded):
    """``learn`` and ``predict`` of the notes, for learners of classes with `dataset` and `scores`."""

    temperature: float | None = None  # of the probabilities, once calibrated

    def _begin(self, classes: Sequence[Any] | None, fixed: bool) -> None:
        """Know the classes that are announced, or none."""
        self.announced, self.fixed = classes is not None, fixed
        self.classes: list[Any] = []
        self.index: dict[Any, int] = {}
        if classes is not None:
            self.set_classes(announced_classes(classes))

    def set_classes(self, labels: list[Any]) -> None:
        """Set the classes, in this order."""
        self.classes = labels
        self.index = dict(zip(labels, range(len(labels)), strict=True))

    @property
    def binary(self) -> bool:
        """Whether this is one problem of +1 against −1."""
        return self.announced and len(self.classes) == 2

    @abstractmethod
    def meet_class(self, label: Any) -> None:
        """Add a class that was not known in advance; it starts at zero."""

    @staticmethod
    @abstractmethod
    def batch_of(x: Any) -> Any:
        """Return one example as a batch of one."""

    # ------------------------------------------------------------ learning

    def learn(self, x: Any, y: Any, weight: float = 1.0) -> bool:
        """Learn from x with the label y, by the rule. Return whether it was a mistake."""
        return self._is_mistake(self.batch_of(x), [y], None if weight == 1.0 else [weight])

    # ------------------------------------------------------------ predicting

    @abstractmethod
    def scores(self, X: Any, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Return scores of many examples: one per row for two classes, else one per row and class."""

    @abstractmethod
    def decisions(self, X: Any, hypothesis: str | None = None) -> NDArray[np.int64]:
        """Return the index of the class of each example."""

    def score(self, x: Any, hypothesis: str | None = None) -> Any:
        """Return v·x (``predict`` in the notes; in the dual Σ α_i K(x_i, x)), or one such number per class."""
        scores = self.scores(self.batch_of(x), hypothesis)[0]
        return scores if isinstance(scores, np.ndarray) else float(scores)

    def predict(self, x: Any, hypothesis: str | None = None) -> Any:
        """Return the label of x."""
        return self.predict_many(self.batch_of(x), hypothesis)[0]

    @at_one_moment
    def predict_many(self, X: Any, hypothesis: str | None = None) -> list[Any]:
        """Return the label of each example."""
        return [self.classes[i] for i in self.decisions(X, hypothesis)]

    def decide(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Turn scores into indices of classes; the lowest index wins ties."""
        if self.binary:
            return decide_binary(scores, self.parameters.ties)
        return decide_argmax(scores, self.index.get(getattr(self.parameters, "reference", None)))
