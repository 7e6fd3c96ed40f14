"""What all learners of classes share: the classes that they know, and how scores become one of them.

Two classes are one problem; more compete in one (joint), or have problems of their own: each against the rest (ovr),
or each against each (ovo).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.data.labelled_rows import own_and_rival
from perceptive.data.labels import announced_classes
from perceptive.data.sample_weights import as_floats
from perceptive.errors import Parameter, ParameterError
from perceptive.learners.learner import Recorded, at_one_moment

MOST_PROBLEMS = 50_000  # a model file has room for somewhat more
Scores = NDArray[np.float64]
Decisions = NDArray[np.int64]


def check_problems(multiclass: str, n_classes: int) -> None:
    """Raise ParameterError where so many classes are more problems than a model can be saved with."""
    problems = {"joint": 1, "ovr": n_classes}.get(multiclass, n_classes * (n_classes - 1) // 2)
    if problems > MOST_PROBLEMS:
        raise ParameterError(
            f"{{}} makes {problems:,} problems of {n_classes:,} classes, more than {MOST_PROBLEMS:,}; choose {{}}",
            Parameter("multiclass", multiclass), Parameter("multiclass", "joint"),
        )  # fmt: skip


def combine_ovr(parts: Mapping[tuple[int, ...], Scores], n: int, n_classes: int) -> Scores:
    """One against the rest: the score of each class is that of its problem; a reference class has 0."""
    scores = np.zeros((n, n_classes))
    for (k,), score in parts.items():
        scores[:, k] = score
    return scores


def combine_ovo(parts: Mapping[tuple[int, ...], Scores], n: int, n_classes: int) -> Scores:
    """One against one: a vote per pair; how sure the pairs are breaks ties, with less than half a vote in all."""
    votes, scores = np.zeros((n, n_classes)), np.zeros((n, n_classes))
    for (i, j), score in parts.items():
        votes[:, j] += score > 0
        votes[:, i] += score < 0
        scores[:, j] += score
        scores[:, i] -= score
    votes += scores / (3 * (np.abs(scores) + 1))
    return votes


def name_of_output(classes: Sequence[Any], pair: tuple[int, ...], k: int | None) -> Any:
    """What a score speaks for: class k of a joint problem, the class of a binary one, or one class against another."""
    if len(pair) == 2:
        return f"{classes[pair[1]]} against {classes[pair[0]]}"
    return classes[k if k is not None else pair[0] if pair else 1]


def perceptron_criterion(scores: Scores, truth: Decisions) -> float:
    """The perceptron criterion: how far the wrong answers are from being right, summed."""
    if scores.ndim == 1:
        return float(np.maximum(0, -np.where(truth == 1, scores, -scores)).sum())
    own, rival = own_and_rival(scores, truth)
    return float(np.maximum(0, rival - own).sum())


def check_cost(cost: Any, n_classes: int) -> Scores:
    """A matrix of the cost of answering ŷ (column) for y (row), as one row after the other."""
    matrix = as_floats(cost, "cost")
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(f"cost has shape {matrix.shape}; give a {n_classes} × {n_classes} matrix")
    off_diagonal = matrix[~np.eye(n_classes, dtype=bool)]
    if not np.isfinite(matrix).all() or np.diag(matrix).any() or (off_diagonal <= 0).any():
        raise ValueError("cost must be finite, 0 on the diagonal and > 0 elsewhere")
    return matrix.ravel()


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

    def facts(self, **own: Any) -> dict[str, Any]:
        return super().facts(classes=self.classes, **own)

    def sort_classes(self) -> None:
        """Sort classes that appeared one by one by their labels, unless they always are."""

    @abstractmethod
    def meet_class(self, label: Any) -> None:
        """Add a class that was not known in advance; it starts at zero."""

    @abstractmethod
    def batch_of(self, x: Any) -> Any:
        """Return one example as a batch of one."""

    def explained(self, n: int, label: Any, decisions: Callable[[], Decisions]) -> list[tuple[int, Any]]:
        """Return which score explains each of n predictions, and its label: of a class, or of the predicted ones."""
        if label is not None and label not in self.index:
            raise ValueError(f"no class {label!r}; there are {', '.join(map(str, self.classes))}")
        which = decisions().tolist() if label is None else [self.index[label]] * n
        return [(k, self.classes[k]) for k in which]

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
        """Turn scores into indices of classes; the lowest index wins ties.

        A reference class has no score of its own and wins where no other is positive.
        """
        if self.binary:
            positive = scores >= 0 if self.parameters.ties == "positive" else scores > 0
            return positive.astype(np.int64)
        reference = self.index.get(getattr(self.parameters, "reference", None))
        if reference is None:
            best: Decisions = np.argmax(scores, axis=1)
            return best
        others = np.delete(scores, reference, axis=1)
        winner: Decisions = np.delete(np.arange(scores.shape[1]), reference)[np.argmax(others, axis=1)]
        winner[others.max(axis=1) <= 0] = reference
        return winner
