"""`JointClassifier`: arg max_t w·φ(x, t) with a φ and a candidate generator of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from perceptive.estimators.ranker import LinearRanker


class JointClassifier(BaseEstimator):
    """The general form of the lecture notes: the answer to x is arg max_t w·φ(x, t) over the candidates t of x.

    It is a ranker of the vectors φ(x, t). With φ(x, t) = x in the block of t it is joint multiclass learning.

    Parameters
    ----------
    phi : callable
        ``phi(x, t)`` gives the features of answer t to x: a dict, a one-dimensional array, or a sparse row.
    candidates : callable or sequence
        ``candidates(x)`` gives the answers that x may have; or a sequence of answers that all x may have.
    ranker : LinearRanker or None
        What learns; None for ``LinearRanker()``.

    Attributes
    ----------
    ranker_ : LinearRanker
        Fitted.

    Examples
    --------
    Which of the words in a sentence is the name? Features of the pair.

    >>> from perceptive import JointClassifier
    >>> def phi(sentence, i):
    ...     word = sentence[i]
    ...     return {"capital": word[0].isupper(), "first": i == 0, "after=" + (sentence[i - 1] if i else ""): 1}
    >>> X = ["we met Ann today".split(), "The man met Bob".split(), "Today Eve met us".split()]
    >>> clf = JointClassifier(phi, lambda sentence: range(len(sentence))).fit(X, [2, 3, 1])
    >>> clf.predict(["Perhaps they met Dan".split()])
    [3]
    """

    def __init__(
        self,
        phi: Callable[[Any, Any], Any],
        candidates: Callable[[Any], Sequence[Any]] | Sequence[Any],
        ranker: LinearRanker | None = None,
    ) -> None:
        self.phi = phi
        self.candidates = candidates
        self.ranker = ranker

    ranker_: LinearRanker

    def _answers(self, x: Any) -> list[Any]:
        answers = list(self.candidates(x) if callable(self.candidates) else self.candidates)
        if not answers:
            raise ValueError(f"there are no candidates for {x!r}; give at least one")
        return answers

    def _lists(self, X: Sequence[Any], y: Sequence[Any]) -> tuple[list[Any], list[int]]:
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} examples, but y has {len(y)} answers; give one per example")
        lists, best = [], []
        for i, (x, t) in enumerate(zip(X, y, strict=True)):
            answers = self._answers(x)
            if t not in answers:
                raise ValueError(f"example {i}: its answer {t!r} is none of its {len(answers)} candidates")
            lists.append([self.phi(x, answer) for answer in answers])
            best.append(answers.index(t))
        return lists, best

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> JointClassifier:
        """Learn from scratch: y are the right answers, each one of its example's candidates."""
        ranker = LinearRanker() if self.ranker is None else clone(self.ranker)
        self.ranker_ = ranker.fit(*self._lists(X, y))
        return self

    def partial_fit(self, X: Sequence[Any], y: Sequence[Any]) -> JointClassifier:
        """Go on learning: one pass over these examples, in the order given."""
        ranker = getattr(self, "ranker_", None) or (LinearRanker() if self.ranker is None else clone(self.ranker))
        self.ranker_ = ranker.partial_fit(*self._lists(X, y))
        return self

    def learn_one(self, x: Any, y: Any) -> JointClassifier:
        """Learn from one example."""
        return self.partial_fit([x], [y])

    def predict(self, X: Sequence[Any], hypothesis: str | None = None) -> list[Any]:
        """The best answer to each x."""
        return [self.predict_one(x, hypothesis) for x in X]

    def predict_one(self, x: Any, hypothesis: str | None = None) -> Any:
        """The best answer to x."""
        check_is_fitted(self, "ranker_")
        answers = self._answers(x)
        return answers[self.ranker_.find_best([self.phi(x, t) for t in answers], hypothesis)]

    def score(self, X: Sequence[Any], y: Sequence[Any]) -> float:
        """Share of right answers."""
        return float(sum(a == b for a, b in zip(self.predict(X), y, strict=True)) / max(1, len(X)))
