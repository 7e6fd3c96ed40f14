"""How good a tagger's proposed label sequences are, and lists of them that a ranker learns from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.data.rows import hashed_rows
from perceptive.errors import Parameter, ParameterError, ParameterWarning
from perceptive.evaluation.conlleval import evaluate, segments
from perceptive.features.hashing import HashKernel
from perceptive.kernels import Kernel, Linear
from perceptive.learners.description import PLAIN, Candidate, View, describe, structure_of

BATCH = 64  # sentences whose candidates are in memory
KERNEL_BITS = 18  # fewer than of linear rankers: every comparison of sparse rows walks over the columns
FEW = 200  # sentences: rerankers of fewer are often worse than their taggers, those of 250 and more were always better
NOTHING_TOLD = "no candidate is better than another: the tagger leaves nothing to learn, or k is small"


# ---------------------------------------------------------------- grades


def f1(truth: Sequence[Any], labels: Sequence[Any]) -> float:
    """Return F of whole segments, between 0 and 1; 1 if there are none and none are found."""
    there, found = set(segments(truth)), set(segments(labels))
    return 2.0 * len(there & found) / (len(there) + len(found)) if there or found else 1.0


def accuracy(truth: Sequence[Any], labels: Sequence[Any]) -> float:
    """Return the share of tokens with the right label, among those with a known label; 1 if there are none."""
    right = [one == other for one, other in zip(truth, labels, strict=True) if one is not None]
    return sum(right) / len(right) if right else 1.0


def grade(truth: Sequence[Any], labels: Sequence[Any], target: str) -> float:
    """Return how good a candidate is.

    −1 for each wrong or missed segment, or each wrong token; for "exact", whether it is the true sequence.

    Examples
    --------
    >>> grade(["B-A", "O", "B-A"], ["B-A", "O", "B-B"], "f1"), grade(["X", "Y"], ["X", "Z"], "accuracy")
    (-2.0, -1.0)
    """
    if target == "exact":
        return float(list(truth) == list(labels))
    if target == "f1":
        return -float(len({*segments(truth)} ^ {*segments(labels)}))
    return -float(sum(one not in (None, other) for one, other in zip(truth, labels, strict=True)))


# ---------------------------------------------------------------- lists to learn from


class CandidateLists(NamedTuple):
    """Graded candidates, list after list.

    Attributes
    ----------
    rows : list, or (indptr, indices, data)
        The candidates, or their hashed features in CSR form.
    grades : array
        How good each candidate is.
    sizes : array of int
        How many candidates each list has.
    sentences : array of int
        The sentence of each list.
    oracle : float
        F (0 to 1) of the best candidate of every list; no order can exceed it.
    """

    rows: Any
    grades: NDArray[np.float64]
    sizes: NDArray[np.int64]
    sentences: NDArray[np.int64]
    oracle: float

    def weights(self, given: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Return the weights of the lists, from those of the sentences."""
        return None if given is None else given[self.sentences]


def graded_lists(
    X: Sequence[Any],
    y: Sequence[Any],
    proposed: list[list[Candidate]],
    target: str,
    view: View = PLAIN,
    recalled: Sequence[Mapping[str, Any] | None] | None = None,
    *,
    hashing: HashKernel | None = None,
    only_telling: bool = True,
    in_segments: bool = True,
) -> CandidateLists:
    """Make lists to learn from, of the candidates of sentences.

    ``recalled`` are the labels that the words of each sentence had before; see `describe`. With ``hashing``, features
    are hashed when they are made: storing them all as dicts would take many times the memory. ``only_telling`` leaves
    out lists in which no candidate is better than another. If labels are not ``in_segments``, tokens replace segments.
    """
    graded = grades_of(y, proposed, target, in_segments)
    told = [i for i, grades in enumerate(graded) if not only_telling or max(grades) > min(grades)]
    if not told:
        raise ValueError(NOTHING_TOLD)
    before = recalled or [None] * len(X)
    rows: Any = []
    for begin in range(0, len(told), BATCH):
        batch = told[begin : begin + BATCH]
        some = [row for i in batch for row in describe(X[i], proposed[i], view, before[i])]
        if hashing is None:
            rows += some
        else:
            rows.append(hashing.encode(some))
    if hashing is not None:
        starts, indices, data = ([part[i] for part in rows] for i in range(3))
        indptr = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part) for part in starts]))])
        kind = np.int32 if indptr[-1] < 2**31 else np.int64
        rows = indptr.astype(kind), np.concatenate(indices).astype(kind, copy=False), np.concatenate(data)
    sizes = np.array([len(graded[i]) for i in told], np.int64)
    grades, best = np.concatenate([graded[i] for i in told]), best_of(y, proposed, in_segments)
    return CandidateLists(rows, grades, sizes, np.array(told, np.int64), f1_or_accuracy(y, best, in_segments))


def grades_of(y: Sequence[Any], proposed: list[list[Candidate]], target: str, in_segments: bool) -> list[list[float]]:
    """Return how good each candidate of each sentence is."""
    target = target if in_segments else target.replace("f1", "accuracy")
    return [[grade(truth, labels, target) for labels, _ in found] for truth, found in zip(y, proposed, strict=True)]


def best_of(y: Sequence[Any], proposed: list[list[Candidate]], in_segments: bool) -> list[list[Any]]:
    """Return the labels of the best proposal for each sentence."""
    good = f1 if in_segments else accuracy
    return [max(found, key=lambda one: good(truth, one[0]))[0] for truth, found in zip(y, proposed, strict=True)]


def f1_or_accuracy(y: Sequence[Any], labels: list[list[Any]], in_segments: bool) -> float:
    """Return F of label sequences, or their accuracy; that of the best candidates is the oracle."""
    result = evaluate(y, labels)
    return float(result.f1 if in_segments else result.accuracy) / 100.0


# ---------------------------------------------------------------- what kernels compare, and what is checked


def kernel_of(kernel: Kernel) -> Kernel:
    """Return x·x' of the features plus a kernel of the structures."""
    return Linear().after(hashed).on(0) + kernel.on(1)


def hashed(row: Mapping[str, float]) -> Any:
    """Return features as a sparse row."""
    return hashed_rows([row], HashKernel(KERNEL_BITS))


def check_reranking(k: Any, folds: Any, target: Any, lookback: Any, structure: Any) -> None:
    """Raise ValueError for impossible parameters."""
    if target not in ("f1", "exact"):
        raise ParameterError("{}: choose 'f1' or 'exact'", Parameter("target", target))
    for name, value, least in (("k", k, 2), ("folds", folds, 2), ("lookback", lookback, 0)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ParameterError(f"{{}}: it must be a whole number of at least {least}", Parameter(name, value))
    if structure is not None:
        structure_of(structure)


def warn_of_few(n: int) -> None:
    """Warn if a reranker learns from few sentences."""
    if n < FEW:
        said = (
            f"{n} sentences are few for a reranker: with fewer than {FEW} it is often worse than its tagger; compare "
            "the two on sentences that neither has learned from (perceptive eval, or score), and try larger steps: {}"
        )
        warnings.warn(ParameterWarning(said, Parameter("C", 0.1)), stacklevel=3)
