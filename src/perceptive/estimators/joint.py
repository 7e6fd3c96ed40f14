"""`JointClassifier`: arg max_t w·φ(x, t) with your own φ, or a kernel of pairs, and your own candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from perceptive.estimators.ranker import KernelRanker, LinearRanker


@dataclass(eq=False, repr=False)
class JointClassifier(BaseEstimator):
    """The general form of the lecture notes: the answer to x is arg max_t w·φ(x, t) over the candidates t of x.

    It ranks the vectors φ(x, t). If φ(x, t) puts x into the block of t, this is joint multiclass learning: exactly for
    the perceptron, up to rounding for PA, whose steps are quotients. In the dual, a kernel K((x, t), (x', t')) compares
    the pairs, and φ is never computed.

    Parameters
    ----------
    phi : callable or None
        ``phi(x, t)`` returns the features of answer t to x: a dict, a one-dimensional array, or a sparse row; with a
        kernel, anything that the kernel compares. None: the pair (x, t) itself, for a kernel.
    candidates : callable or sequence
        ``candidates(x)`` returns the possible answers to x; a sequence holds the possible answers to every x.
    ranker : LinearRanker, KernelRanker or None
        The ranker that learns; None: ``LinearRanker()``, or ``KernelRanker(kernel=kernel)``.
    kernel : Kernel, str, callable or None
        Compares what phi returns, or pairs (x, t) without phi. ``k.on(0) * same.on(1)`` compares x by k if the answers
        t are the same, which is joint multiclass learning again.

    Attributes
    ----------
    ranker_ : LinearRanker or KernelRanker
        The fitted ranker.

    Examples
    --------
    Which word of a sentence is the name? The features belong to the pair.

    >>> from perceptive import JointClassifier
    >>> def phi(sentence, i):
    ...     word = sentence[i]
    ...     return {"capital": word[0].isupper(), "first": i == 0, "after=" + (sentence[i - 1] if i else ""): 1}
    >>> X = ["we met Ann today".split(), "The man met Bob".split(), "Today Eve met us".split()]
    >>> clf = JointClassifier(phi, lambda sentence: range(len(sentence))).fit(X, [2, 3, 1])
    >>> clf.predict(["Perhaps they met Dan".split()])
    [3]

    Joint multiclass learning with a kernel, as a kernel of pairs:

    >>> from perceptive.kernels import Custom, Quadratic
    >>> K = Quadratic().on(0) * Custom(lambda t, u: t == u).on(1)
    >>> clf = JointClassifier(candidates=["even", "odd"], kernel=K)
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf.fit(X, ["even", "odd", "odd", "even"]).predict(X, "last")
    ['even', 'odd', 'odd', 'even']
    """

    phi: Callable[[Any, Any], Any] | None = None
    candidates: Callable[[Any], Sequence[Any]] | Sequence[Any] = ()
    ranker: LinearRanker | KernelRanker | None = None
    kernel: Any = None

    def state(self) -> NoReturn:
        """Raise: a file cannot hold this estimator, because it contains the user's functions."""
        raise TypeError(
            "a JointClassifier is made of your functions phi and candidates, which no file holds; save its ranker_, "
            "and set that of a new JointClassifier(phi, candidates): ranker_ = load(path)"
        )

    def _new_ranker(self) -> LinearRanker | KernelRanker:
        if self.kernel is not None and self.ranker is not None:
            raise ValueError("kernel and ranker are both given; give the kernel to the ranker: KernelRanker(kernel=…)")
        if self.kernel is not None:
            return KernelRanker(kernel=self.kernel)
        if self.phi is None and not isinstance(self.ranker, KernelRanker):
            raise ValueError("phi is missing: give phi(x, t), or a kernel of pairs (x, t)")
        return LinearRanker() if self.ranker is None else clone(self.ranker)

    def _pair(self, x: Any, t: Any) -> Any:
        if self.phi is None:
            return x, t
        found = self.phi(x, t)
        any_kind = self.kernel is not None or isinstance(self.ranker, KernelRanker)
        if not any_kind and (found is None or isinstance(found, Number | str | bytes)):
            raise ValueError(
                f"phi gave {found!r} for the answer {t!r}; give a dict, a one-dimensional array or a sparse row"
            )
        return found

    def _answers(self, x: Any) -> list[Any]:
        answers = list(self.candidates(x) if callable(self.candidates) else self.candidates)
        if not answers:
            raise ValueError(f"there are no candidates for {x!r}; give at least one")
        try:
            return list(dict.fromkeys(answers))  # an answer that is given twice does not compete with itself
        except TypeError:  # arrays, lists
            return answers

    def _lists(self, X: Iterable[Any], y: Iterable[Any]) -> tuple[list[Any], list[int]]:
        X, y = _paired(X, y)
        lists, best = [], []
        for i, (x, t) in enumerate(zip(X, y, strict=True)):
            answers = self._answers(x)
            right = next((j for j, answer in enumerate(answers) if _same(answer, t)), None)
            if right is None:
                raise ValueError(f"example {i}: its answer {t!r} is not one of its {len(answers)} candidates")
            lists.append([self._pair(x, answer) for answer in answers])
            best.append(right)
        return lists, best

    def fit(self, X: Iterable[Any], y: Iterable[Any]) -> JointClassifier:
        """Learn from scratch. y has the right answers; each must be a candidate of its example."""
        self.ranker_: LinearRanker | KernelRanker = self._new_ranker().fit(*self._lists(X, y))
        return self

    def partial_fit(self, X: Iterable[Any], y: Iterable[Any]) -> JointClassifier:
        """Continue learning: play one epoch over these examples, in the given order."""
        ranker = self.ranker_ if hasattr(self, "ranker_") else self._new_ranker()
        self.ranker_ = ranker.partial_fit(*self._lists(X, y))
        return self

    def learn_one(self, x: Any, y: Any) -> JointClassifier:
        """Learn from one example."""
        return self.partial_fit([x], [y])

    def predict(self, X: Iterable[Any], hypothesis: str | None = None) -> list[Any]:
        """Return the best answer to each x."""
        check_is_fitted(self, "ranker_")
        X = _examples(X)
        answers = [self._answers(x) for x in X]
        if not answers:
            return []
        lists = [[self._pair(x, t) for t in possible] for x, possible in zip(X, answers, strict=True)]
        return [possible[i] for possible, i in zip(answers, self.ranker_.predict(lists, None, hypothesis), strict=True)]

    def predict_one(self, x: Any, hypothesis: str | None = None) -> Any:
        """Return the best answer to x; None before anything was learned."""
        return self.predict([x], hypothesis)[0] if hasattr(self, "ranker_") else None

    def score(self, X: Iterable[Any], y: Iterable[Any]) -> float:
        """Return the share of right answers."""
        X, y = _paired(X, y)
        return float(sum(_same(a, b) for a, b in zip(self.predict(X), y, strict=True)) / max(1, len(X)))


def _examples(X: Iterable[Any], name: str = "X") -> list[Any]:
    """Examples one by one; raises ValueError for tables, whose rows are to be taken out first."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        raise ValueError(f"{name} is a table; give its rows in a list: list({name}.to_numpy()), or to_dict('records')")
    if hasattr(X, "tocsr"):
        raise ValueError(f"{name} is a sparse matrix; give its rows in a list: [{name}[[i]] for i in range(…)]")
    if isinstance(X, str | bytes | dict) or not isinstance(X, Iterable):
        raise ValueError(f"{name} is a {type(X).__name__}; give a list, one entry for each example")
    return list(X)


def _paired(X: Iterable[Any], y: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    X, y = _examples(X), _examples(y, "y")
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} examples, but y has {len(y)} answers; give one per example")
    return X, y


def _same(a: Any, b: Any) -> bool:
    """Whether two answers are equal, arrays as a whole."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    return a is b or bool(a == b)
