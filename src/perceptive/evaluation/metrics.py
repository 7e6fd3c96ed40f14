"""Measures: accuracy, precision, recall, F1, confusion, AUC; for ranking top-1, MRR, MAP, NDCG."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class ClassReport:
    """Precision, recall and F1 of one class."""

    label: Any
    precision: float
    recall: float
    f1: float
    support: int


@dataclass
class Confusion:
    """Counts of (true, predicted) pairs, in the order of ``labels``; they can be added in parts.

    Memory holds the pairs that occur, however many labels there are.

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
        self._pairs, self._counts = np.empty((2, 0), np.int64), np.empty(0, np.int64)  # of those that occur

    def add(self, truth: NDArray[np.int64], predicted: NDArray[np.int64]) -> None:
        """Count more examples, given as indices into ``labels``."""
        k, (before, said) = len(self.labels), self._pairs
        codes, which = np.unique(np.concatenate([before * k + said, truth * k + predicted]), return_inverse=True)
        n = np.concatenate([self._counts, np.ones(len(truth), np.int64)])
        self._pairs, self._counts = np.stack(np.divmod(codes, k)), np.zeros(len(codes), np.int64)
        np.add.at(self._counts, which, n)

    def widen(self, label: Any) -> int:
        """Add a label; return its index."""
        self.labels.append(label)
        return len(self.labels) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """A row for each true label, a column for each predicted one."""
        matrix = np.zeros((len(self.labels), len(self.labels)), np.int64)
        matrix[*self._pairs] = self._counts
        return matrix

    def pairs(self) -> list[tuple[Any, Any, int]]:
        """The (true, predicted) pairs that occur, and how often: the most frequent first."""
        order = np.argsort(-self._counts, kind="stable")
        found = zip(*self._pairs[:, order].tolist(), self._counts[order].tolist(), strict=True)
        return [(self.labels[truth], self.labels[predicted], n) for truth, predicted, n in found]

    @property
    def right(self) -> NDArray[np.int64]:
        """Examples of each class that got their label."""
        return self._sums(self._pairs[0], self._pairs[0] == self._pairs[1])

    @property
    def there(self) -> NDArray[np.int64]:
        """Examples of each class."""
        return self._sums(self._pairs[0])

    @property
    def said(self) -> NDArray[np.int64]:
        """Examples that got the label of each class."""
        return self._sums(self._pairs[1])

    def _sums(self, places: NDArray[np.int64], where: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        counts = self._counts if where is None else self._counts * where
        sums = np.zeros(len(self.labels), np.int64)
        np.add.at(sums, places, counts)
        return sums

    @property
    def total(self) -> int:
        """Examples counted."""
        return int(self._counts.sum())

    @property
    def accuracy(self) -> float:
        """Share of the examples with the right label."""
        return float(self.right.sum() / self.total) if self.total else float("nan")

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the classes that some example has, or was predicted to have."""
        met = (self.said + self.there > 0).tolist()
        return _mean([report.f1 for report, there in zip(self.reports(), met, strict=True) if there])

    def reports(self) -> list[ClassReport]:
        """Precision, recall and F1 of each class; 0 instead of a division by 0."""
        right, said, there = self.right.astype(float), self.said, self.there
        precision = np.divide(right, said, out=np.zeros_like(right), where=said > 0)
        recall = np.divide(right, there, out=np.zeros_like(right), where=there > 0)
        f1 = np.divide(2 * right, said + there, out=np.zeros_like(right), where=said + there > 0)
        columns = (precision.tolist(), recall.tolist(), f1.tolist(), there.tolist())
        return [ClassReport(label, *row) for label, *row in zip(self.labels, *columns, strict=True)]


@dataclass
class LogLoss:
    """The mean of −ln p(true class), added in parts. A probability of 0 counts as the smallest number above 0.

    Examples
    --------
    >>> loss = LogLoss()
    >>> loss.add(np.array([0, 1]), np.array([[0.5, 0.5], [0.75, 0.25]]))
    >>> round(loss.mean, 4)
    1.0397
    """

    total: float = 0.0
    examples: int = 0

    def add(self, truth: NDArray[np.int64], proba: Numbers) -> None:
        """Count more examples: their classes, and the probabilities of all classes."""
        p = np.maximum(proba[np.arange(len(truth)), truth], np.finfo(float).eps)
        self.total -= float(np.log(p).sum())
        self.examples += len(truth)

    def include(self, other: LogLoss) -> None:
        """Add the examples of another one."""
        self.total += other.total
        self.examples += other.examples

    @property
    def mean(self) -> float:
        """The mean over all examples counted; nan if there are none."""
        return self.total / self.examples if self.examples else float("nan")


def auc(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the area under the ROC curve: how often a positive example scores above a negative one; ties are half.

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


# ---------------------------------------------------------------- ranking
#
# Lists lie one after the other: list t is [starts[t], starts[t + 1]). A list in which no candidate is better than
# another is left out; nan where none is left. Candidates with equal scores may stand in any order: every metric is its
# mean over these orders.


def _checked(grades: ArrayLike, scores: ArrayLike, starts: ArrayLike) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
    """The three as arrays; raises ValueError where they do not fit each other."""
    try:
        g, s, at = np.asarray(grades, np.float64), np.asarray(scores, np.float64), np.asarray(starts)
    except (TypeError, ValueError) as error:
        raise ValueError(f"grades, scores and starts must be numbers: {error}") from None
    if g.ndim != 1 or g.shape != s.shape:
        raise ValueError(f"grades have shape {g.shape} and scores {s.shape}; give one of each for every candidate")
    if at.ndim != 1 or len(at) == 0 or at.dtype.kind not in "iu" or at[0] != 0 or at[-1] != len(g):
        raise ValueError(f"starts must be whole numbers from 0 to {len(g)}: where each list begins, and the last ends")
    empty = np.flatnonzero(np.diff(at.astype(np.int64)) < 1)
    if len(empty):
        raise ValueError(f"list {empty[0]} has no candidates; give at least one, and starts that rise")
    for name, values in (("grade", g), ("score", s)):
        if np.isnan(values).any():
            raise ValueError(f"the {name} of candidate {int(np.argmax(np.isnan(values)))} is NaN; leave its list out")
    return g, s, at.astype(np.int64)


def _lists(grades: ArrayLike, scores: ArrayLike, starts: ArrayLike) -> list[tuple[Numbers, Numbers]]:
    """The grades and the scores of each list that tells something."""
    grades, scores, starts = _checked(grades, scores, starts)
    lists = [(grades[begin:end], scores[begin:end]) for begin, end in pairwise(starts.tolist())]
    return [(g, s) for g, s in lists if g.max() > g.min()]


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def top1(grades: ArrayLike, scores: ArrayLike, starts: ArrayLike) -> float:
    """Return the share of lists with a best candidate on top.

    Examples
    --------
    >>> starts = np.array([0, 3, 5])
    >>> top1(np.array([0, 2, 1, 1, 0]), np.array([0.1, 0.9, 0.5, 0.2, 0.3]), starts)
    0.5
    """
    right, lists = top1_counts(grades, scores, starts)
    return right / lists if lists else float("nan")


def top1_counts(grades: ArrayLike, scores: ArrayLike, starts: ArrayLike) -> tuple[float, int]:
    """Count lists with a best candidate on top, and all lists in which one candidate is better than another.

    If several candidates share the top, a list counts by the share of the best among them.

    Examples
    --------
    >>> top1_counts(np.array([0, 2, 1, 1, 0]), np.array([0.1, 0.9, 0.5, 0.2, 0.3]), np.array([0, 3, 5]))
    (1.0, 2)
    """
    told = [float(np.mean(g[s == s.max()] == g.max())) for g, s in _lists(grades, scores, starts)]
    return sum(told, 0.0), len(told)


def mrr(grades: ArrayLike, scores: ArrayLike, starts: ArrayLike) -> float:
    """Return the mean reciprocal rank: 1/place of the first best candidate.

    Examples
    --------
    >>> mrr(np.array([0, 1, 0, 1]), np.array([3.0, 2.0, 1.0, 0.0]), np.array([0, 4]))
    0.5
    """
    return _mean([_reciprocal_rank(g == g.max(), s) for g, s in _lists(grades, scores, starts)])


def _reciprocal_rank(good: NDArray[np.bool_], scores: Numbers) -> float:
    """The mean of 1/place of the first good one, over the orders of those that share its score."""
    highest = scores[good].max()
    before, tied = int(np.sum(scores > highest)), scores == highest
    n, r = int(np.sum(tied)), int(np.sum(good[tied]))
    first = np.arange(n - r + 1)  # how many of the others may stand before it
    here = r / (n - first)  # the chance that it is the next one
    return float(np.cumprod(np.append(1.0, 1.0 - here[:-1])) * here @ (1.0 / (before + first + 1)))


def mean_average_precision(grades: ArrayLike, scores: ArrayLike, starts: ArrayLike) -> float:
    """Return the mean average precision: the precision at the place of each good candidate (grade above 0).

    Lists without a grade above 0, or with no other grade, are left out.

    Examples
    --------
    >>> round(mean_average_precision(np.array([1, 0, 1]), np.array([3.0, 2.0, 1.0]), np.array([0, 3])), 4)
    0.8333
    """
    lists = [(g > 0, s) for g, s in _lists(grades, scores, starts)]
    return _mean([_average_precision(good, s) for good, s in lists if 0 < np.sum(good) < len(good)])


def _average_precision(good: NDArray[np.bool_], scores: Numbers) -> float:
    """Its mean over the orders of equal scores.

    Of n that are equal, r of them good, place i is a good one's in r/n of the orders; (i − 1)(r − 1)/(n − 1) of the
    other good ones then stand before it.
    """
    _, place, counts = np.unique(-scores, return_inverse=True, return_counts=True)  # the highest first
    found = np.bincount(place, weights=good).astype(np.int64)
    begin, before = np.cumsum(counts) - counts, np.cumsum(found) - found
    n, r, above = (np.repeat(each, counts) for each in (counts, found, before))
    at = np.arange(len(good))
    i = at - np.repeat(begin, counts)  # i − 1 of the formula
    precision = (above + 1 + i * (r - 1) / np.maximum(n - 1, 1)) / (at + 1)
    return float((r / n) @ precision / np.sum(good))


def ndcg(
    grades: ArrayLike,
    scores: ArrayLike,
    starts: ArrayLike,
    k: int | None = None,
    *,
    exponential: bool = False,
) -> float:
    """Return NDCG: the mean of Σ gain/log₂(place + 1) among the first k, as a share of the largest possible.

    Parameters
    ----------
    grades, scores, starts : arrays
        Grades must not be negative.
    k : int or None
        How many places count; None for all.
    exponential : bool
        Whether the gain is 2^grade − 1 instead of the grade.

    Examples
    --------
    >>> round(ndcg(np.array([0, 2, 1]), np.array([3.0, 2.0, 1.0]), np.array([0, 3])), 4)
    0.6697
    """
    if k is not None and (not isinstance(k, Integral) or isinstance(k, bool) or k < 1):
        raise ValueError(f"k is {k!r}; give a whole number of at least 1, or None for all places")
    told = _checked(grades, scores, starts)
    if (told[0] < 0).any():
        raise ValueError("ndcg needs grades that are not negative")
    values = []
    for g, s in _lists(*told):
        shift = max(0.0, float(g.max()) - 1000.0)  # gains may be divided by 2^shift, so that none overflows
        gain = 2.0 ** (g - shift) - 2.0**-shift if exponential else g
        discount = 1.0 / np.log2(np.arange(len(g)) + 2.0)
        discount[len(g) if k is None else k :] = 0.0
        _, place, counts = np.unique(-s, return_inverse=True, return_counts=True)
        mean_gain = np.bincount(place, weights=gain) / counts
        ends = np.cumsum(counts)
        shares = np.concatenate([[0.0], np.cumsum(discount)])
        found = float(mean_gain @ (shares[ends] - shares[ends - counts]))
        values.append(found / float(np.sort(gain)[::-1] @ discount))
    return _mean(values)
