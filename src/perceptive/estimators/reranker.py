"""`Reranker`: what a tagger proposes, put into a better order (Collins 2002)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from perceptive.conlleval import evaluate, segments
from perceptive.estimators.ranker import LinearRanker
from perceptive.estimators.tagger import SequenceTagger
from perceptive.learners.sentences import as_lists

Candidate = tuple[list[Any], float]  # labels and score
Features = Callable[[Sequence[Any], Sequence[Any]], Mapping[str, float]]
BITS = 20


class Reranker(BaseEstimator):
    """Learn which of a tagger's k best label sequences is best, by features of the whole sequence.

    The candidates to learn from come from taggers that have not seen the sentence (cross-fitting), so that they look
    like those at test time. A candidate has its place, its score, and features of its segments: words, shapes, other
    columns, ends, neighbours, and what surrounds them.

    Parameters
    ----------
    tagger : SequenceTagger or None
        What proposes; None for ``SequenceTagger()``.
    k : int
        How many sequences it proposes.
    folds : int
        Parts of the training data, each of which is tagged by a tagger that learned from the others.
    target : {"f1", "exact"}
        Candidates are graded by F to the truth, or only the truth itself is good.
    features : callable or None
        ``features(sentence, labels)`` gives further features of a candidate, as a dict.
    ranker : LinearRanker or None
        What learns the order; None for ``LinearRanker(rule="pa1", C=0.01, bits=20)``.

    Attributes
    ----------
    tagger_ : SequenceTagger
        Fitted to all sentences.
    ranker_ : LinearRanker
        Fitted.
    oracle_ : float
        F of the best candidates of the cross-fitted lists: what no order can exceed; between 0 and 1.

    Examples
    --------
    >>> from perceptive import Reranker, SequenceTagger
    >>> X = [s.split() for s in ("Ann met Bob", "we saw Eve", "Dan left", "they met Ann", "Bob saw Dan", "we left")]
    >>> y = [["B", "O", "B"], ["O", "O", "B"], ["B", "O"], ["O", "O", "B"], ["B", "O", "B"], ["O", "O"]]
    >>> reranker = Reranker(SequenceTagger(template=["shape", "@label[-1]"]), k=3, folds=2).fit(X, y)
    >>> reranker.predict(["we met Eve".split()])
    [['O', 'O', 'B']]
    """

    def __init__(
        self,
        tagger: SequenceTagger | None = None,
        *,
        k: int = 20,
        folds: int = 5,
        target: str = "f1",
        features: Features | None = None,
        ranker: LinearRanker | None = None,
    ) -> None:
        self.tagger = tagger
        self.k = k
        self.folds = folds
        self.target = target
        self.features = features
        self.ranker = ranker

    tagger_: SequenceTagger
    ranker_: LinearRanker
    oracle_: float

    def fit(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> Reranker:
        """Learn from sentences, anew: the tagger, its candidates by cross-fitting, and their order."""
        self._check_parameters()
        X, y = as_lists(X), as_lists(y)
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} sentences, but y has {len(y)} label sequences; give one per sentence")
        if len(X) < self.folds:
            raise ValueError(f"{len(X)} sentences are too few for {self.folds} folds; give more")
        base = SequenceTagger() if self.tagger is None else self.tagger
        proposed: list[list[Candidate]] = [[] for _ in X]
        for fold in range(self.folds):
            rest = [i for i in range(len(X)) if i % self.folds != fold]
            kept = range(fold, len(X), self.folds)
            tagger = clone(base).fit([X[i] for i in rest], [y[i] for i in rest])
            for i, found in zip(kept, tagger.predict_kbest([X[i] for i in kept], self.k), strict=True):
                proposed[i] = found
        graded = [[self._grade(truth, labels) for labels, _ in found] for truth, found in zip(y, proposed, strict=True)]
        told = [i for i, grades in enumerate(graded) if max(grades) > min(grades)]
        if not told:
            raise ValueError("no candidate is better than another: the tagger leaves nothing to learn, or k is small")
        ranker = LinearRanker(rule="pa1", C=0.01, bits=BITS) if self.ranker is None else clone(self.ranker)
        ranker.fit([self._describe(X[i], proposed[i]) for i in told], [graded[i] for i in told])
        best = [found[int(np.argmax(grades))][0] for found, grades in zip(proposed, graded, strict=True)]
        self.tagger_, self.ranker_ = clone(base).fit(X, y), ranker
        self.oracle_ = evaluate(y, best).f1 / 100.0
        return self

    def _check_parameters(self) -> None:
        if self.target not in ("f1", "exact"):
            raise ValueError(f"target={self.target!r}: choose 'f1' or 'exact'")
        for name in ("k", "folds"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 2:
                raise ValueError(f"{name}={value!r}: {name} must be a whole number of at least 2")

    def predict(self, X: Sequence[Any], hypothesis: str | None = None) -> list[list[Any]]:
        """The labels of each sentence: of the tagger's candidates, the one that the ranker puts on top."""
        check_is_fitted(self, "ranker_")
        X = as_lists(X)
        return [self._choose(x, found, hypothesis) for x, found in zip(X, self.candidates(X), strict=True)]

    def candidates(self, X: Sequence[Any]) -> list[list[Candidate]]:
        """What the tagger proposes: for each sentence label sequences with scores, the best first."""
        check_is_fitted(self, "ranker_")
        return self.tagger_.predict_kbest(X, self.k)

    def score(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> float:
        """F of whole segments, between 0 and 1."""
        return evaluate(as_lists(y), self.predict(X)).f1 / 100.0

    def oracle(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> float:
        """F that choosing the best candidate of every list would reach; between 0 and 1."""
        y = as_lists(y)
        best = [
            max(found, key=lambda one: self._f1(truth, one[0]))[0]
            for truth, found in zip(y, self.candidates(X), strict=True)
        ]
        return evaluate(y, best).f1 / 100.0

    def _choose(self, x: Sequence[Any], found: list[Candidate], hypothesis: str | None) -> list[Any]:
        if len(found) < 2:
            return found[0][0]
        return found[self.ranker_.find_best(self._describe(x, found), hypothesis)][0]

    def _grade(self, truth: Sequence[Any], labels: Sequence[Any]) -> float:
        return float(list(truth) == list(labels)) if self.target == "exact" else self._f1(truth, labels)

    def _f1(self, truth: Sequence[Any], labels: Sequence[Any]) -> float:
        there, found = set(segments(truth)), set(segments(labels))
        return 2.0 * len(there & found) / (len(there) + len(found)) if there or found else 1.0

    def _describe(self, x: Sequence[Any], found: list[Candidate]) -> list[dict[str, float]]:
        """Features of the candidates of a sentence. What all of them share cancels out, and is left out."""
        spans = [segments(labels) for labels, _ in found]
        shared = set.intersection(*map(set, spans))
        best = found[0][1]
        rows = []
        for place, ((labels, score), mine) in enumerate(zip(found, spans, strict=True)):
            row = {"place": math.log(place + 1.0), "score": score - best}
            around = ["^", *(kind for _, _, kind in mine), "$"]
            for at, span in enumerate(mine):
                names = _of_neighbours(around[at : at + 3])
                if span not in shared:
                    names = [*names, *_of_segment(x, *span)]
                for name in names:
                    row[name] = row.get(name, 0.0) + 1.0
            if self.features is not None:
                row |= self.features(x, labels)
            rows.append(row)
        return rows


def _shape(word: str) -> str:
    """Capitals, small letters and digits, runs of a kind as one: New-York → X-X, U.S. → X.X., 1,200 → 0,0."""
    kinds = re.sub(r"[^\W\d_a-z]+[a-z]*", "X", word)
    return re.sub(r"\d+", "0", re.sub(r"[a-z]+", "x", kinds))


def _columns(token: Any) -> list[str]:
    return [token] if isinstance(token, str) else [str(column) for column in token]


def _of_neighbours(kinds: Sequence[str]) -> list[str]:
    before, kind, after = kinds
    return [f"n {before} {kind}", f"n {before} {kind} {after}"]


def _of_segment(x: Sequence[Any], begin: int, end: int, kind: str) -> Iterable[str]:
    """Features of one segment: each column as a whole, its ends, its shape, its length, and what surrounds it."""
    inside = [_columns(token) for token in x[begin:end]]
    yield f"{kind} length {min(end - begin, 8)}"
    yield f"{kind} shape {' '.join(_shape(columns[0]) for columns in inside)}"
    for c in range(len(inside[0])):
        words = [columns[c] for columns in inside]
        before = _columns(x[begin - 1])[c] if begin else "^"
        after = _columns(x[end])[c] if end < len(x) else "$"
        yield f"{kind} {c} all {' '.join(words)}"
        yield f"{kind} {c} first {words[0]}"
        yield f"{kind} {c} last {words[-1]}"
        yield f"{kind} {c} before {before} {words[0]}"
        yield f"{kind} {c} after {words[-1]} {after}"
        yield f"{kind} {c} around {before} {after}"
