"""How good predictions are: accuracy, precision, recall, F1, confusion, and the area under the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ClassReport:
    """One class: of the examples said to be of it, and of those that are, how many are both."""

    label: Any
    precision: float
    recall: float
    f1: float
    support: int


@dataclass
class Confusion:
    """Counts of (true, predicted) pairs, in the order of ``labels``; they may come in parts.

    Examples
    --------
    >>> confusion = Confusion(["ham", "spam"])
    >>> confusion.add(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    >>> confusion.accuracy
    0.75
    >>> [round(report.f1, 2) for report in confusion.reports()]
    [0.67, 0.8]
    """

    labels: list[Any]

    def __post_init__(self) -> None:
        self.counts = np.zeros((len(self.labels), len(self.labels)), np.int64)

    def add(self, truth: NDArray[np.int64], predicted: NDArray[np.int64]) -> None:
        """Count more examples, given as places in ``labels``."""
        k = len(self.labels)
        self.counts += np.bincount(truth * k + predicted, minlength=k * k).reshape(k, k)

    def widen(self, label: Any) -> int:
        """Add a label; returns its place."""
        self.labels.append(label)
        self.counts = np.pad(self.counts, ((0, 1), (0, 1)))
        return len(self.labels) - 1

    @property
    def total(self) -> int:
        """Examples counted."""
        return int(self.counts.sum())

    @property
    def accuracy(self) -> float:
        """Share of the examples that got their label."""
        return float(np.trace(self.counts) / self.total) if self.total else float("nan")

    def reports(self) -> list[ClassReport]:
        """Precision, recall and F1 of each class; 0 where there is nothing to divide by."""
        right = np.diag(self.counts).astype(float)
        said, there = self.counts.sum(axis=0), self.counts.sum(axis=1)
        precision = np.divide(right, said, out=np.zeros_like(right), where=said > 0)
        recall = np.divide(right, there, out=np.zeros_like(right), where=there > 0)
        f1 = np.divide(2 * right, said + there, out=np.zeros_like(right), where=said + there > 0)
        columns = (precision.tolist(), recall.tolist(), f1.tolist(), there.tolist())
        return [ClassReport(label, *row) for label, *row in zip(self.labels, *columns, strict=True)]


def auc(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Area under the ROC curve: how often a positive example has the higher score than a negative one; ties are half.

    Examples
    --------
    >>> auc(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]))
    0.75
    """
    n_positive = int(np.count_nonzero(positive))
    n_negative = len(positive) - n_positive
    if n_positive == 0 or n_negative == 0:
        return float("nan")
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2  # the mean rank of those that are equal
    return float((rank[place][positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))
