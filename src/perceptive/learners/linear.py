"""The notes' L for two and more classes: plain vectors, one loop, every hypothesis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.features.hashing import HashKernel
from perceptive.features.vocabulary import Vocabulary
from perceptive.learners.fingerprint import hash_label
from perceptive.learners.lesson import ALL, Labels, Lesson, Pair, plain_label
from perceptive.learners.problem import Problem, Vector
from perceptive.learners.rows import as_rows, is_dicts
from perceptive.parameters import LinearParameters
from perceptive.rules import RULES
from perceptive.streams.reading import Reading


class LinearLearner:
    """An on-line learner: it predicts, is told the truth, and learns from its mistakes.

    Two classes that are announced are one binary problem. Classes that are not announced may appear at any time:
    the learner then keeps a vector per class from the first example on (``multiclass="joint"``), so that a third
    class finds exactly what a joint learner would have made of the first two.

    Parameters
    ----------
    classes : sequence of labels or None
        All classes, if they are known before the data.
    **parameters
        See `perceptive.parameters.LinearParameters`.

    Examples
    --------
    The movies of the lecture notes: two critics, and whether the film made a profit.

    >>> from perceptive.learners import LinearLearner
    >>> L = LinearLearner(classes=["loss", "profit"])
    >>> for x, y in [((1, 1), "loss"), ((3, 2), "profit"), ((2, 4), "profit"), ((2, 3), "loss")]:
    ...     mistake = L.learn(x, y)
    >>> L.predict((4, 4)), L.mistakes
    ('profit', 3)
    """

    def __init__(self, classes: Sequence[Any] | None = None, **parameters: Any) -> None:
        self.parameters = LinearParameters(**parameters)
        self.announced = classes is not None
        self.classes: list[Any] = []
        self.index: dict[Any, int] = {}
        self.vocabulary: Vocabulary | None = None
        self.kernel = HashKernel(self.parameters.bits) if self.parameters.bits is not None else None
        self.reading: Reading | None = None  # how files become rows, where it learned from files
        self.idf: NDArray[np.float32] | None = None  # of the features of texts, where that is part of the reading
        self.names: _core.InvertedIndex | None = None  # of hashed features, where they are remembered
        self.n_features: int | None = self.parameters.n_features if self.kernel is None else self.kernel.width
        self.problems: dict[Pair, Problem] = {}
        self.fingerprint = 0  # sum of the hashes of all examples played
        self.played = 0  # how many those were; a pass broken off counts as whole
        self.ids = 0  # id features that the Δ-trick has handed out
        self.first_pass: tuple[int, int] | None = None  # its rounds and mistakes, where there were more
        self.temperature: float | None = None  # of the probabilities, once calibrated
        self.cost: NDArray[np.float64] | None = None
        if classes is not None:
            labels = [plain_label(label) for label in classes]
            if len(set(labels)) < max(2, len(labels)):
                raise ValueError(f"classes={list(classes)!r}: give at least two classes, each once")
            self._set_classes(labels)
        if self.parameters.ties == "positive" and self.joint:
            raise ValueError("ties='positive' is about two classes; announce two, or choose multiclass='ovr' or 'ovo'")
        if self.parameters.cost is not None and not self.announced:
            raise ValueError("cost needs the classes to be announced")

    # ------------------------------------------------------------ shape

    @property
    def binary(self) -> bool:
        """Whether this is one problem of +1 against −1."""
        return self.announced and len(self.classes) == 2 and self.parameters.cost is None

    @property
    def joint(self) -> bool:
        """Whether all classes compete in one problem."""
        return not self.binary and self.parameters.multiclass == "joint"

    @property
    def grows(self) -> bool:
        """Whether features may appear at any time: those with names, and numbered ones of files."""
        return self.vocabulary is not None or (self.reading is not None and self.reading.width is None)

    def _set_classes(self, labels: list[Any]) -> None:
        self.classes = labels
        self.index = {label: i for i, label in enumerate(labels)}
        reference = self.parameters.reference
        if reference is not None and self.announced and reference not in self.index:
            raise ValueError(f"reference={reference!r} is none of the classes {labels!r}")
        cost = self.parameters.cost
        if cost is not None:
            self.cost = _check_cost(cost, len(labels))

    def _wanted_problems(self) -> list[Pair]:
        if self.binary or self.joint:
            return [ALL]
        indices = range(len(self.classes))
        if self.parameters.multiclass == "ovo":
            return list(combinations(indices, 2))
        return [(k,) for k in indices if self.classes[k] != self.parameters.reference]

    def _open_problems(self) -> None:
        """Problems that are wanted but not there start now, at zero."""
        assert self.n_features is not None
        for pair in self._wanted_problems() if self.classes else []:
            if pair not in self.problems:
                n_classes = len(self.classes) if self.joint else None
                self.problems[pair] = Problem(self.n_features, n_classes, self.parameters)
        self.problems = {pair: self.problems[pair] for pair in self._wanted_problems() if pair in self.problems}

    def start(self, n_features: int, initial: Mapping[Pair, Vector] | None = None) -> None:
        """Forget everything but the classes and start from zero, or from the given vectors."""
        self.n_features = n_features
        self.problems = {}
        self.fingerprint = self.played = self.ids = 0
        self.first_pass = self.temperature = None
        self._open_problems()
        for pair, vector in (initial or {}).items():
            old = self.problems[pair]
            n_classes = None if old.binary else old.n_classes
            self.problems[pair] = Problem(n_features, n_classes, self.parameters, vector)

    def _check_features(self, n_features: int, grows: bool) -> None:
        known = self.n_features
        if known is None or n_features == known:
            return
        if not grows or (n_features > known and self.parameters.n_features is not None):
            raise ValueError(f"X has {n_features} features, but this model expects {known} features as input")

    def _meet_features(self, n_features: int) -> None:
        """Make room for the features of named rows that are new."""
        self._check_features(n_features, self.grows)
        if self.n_features is None or n_features > self.n_features:
            self.n_features = n_features
            for problem in self.problems.values():
                problem.grow_features(n_features)

    def _check_labels(self, labels: Iterable[Any]) -> None:
        """Whether new classes may come, if some of the labels are new."""
        new = [label for label in labels if label not in self.index]
        if new and self.announced:
            raise ValueError(f"label {new[0]!r} is none of the classes {self.classes!r}; announce all classes, or none")

    def meet_class(self, label: Any) -> None:
        """Add a class that nobody announced; its weights start at zero."""
        old = self.classes
        self._set_classes(in_order_of_labels([*old, label]))
        moved = np.array([self.index[label] for label in old], dtype=np.int64)
        if self.joint:
            for problem in self.problems.values():
                problem.grow_classes(len(self.classes), moved)
        else:
            self.problems = {tuple(int(moved[c]) for c in pair): p for pair, p in self.problems.items()}
        self._open_problems()

    # ------------------------------------------------------------ learning

    def rows(self, X: Any) -> _core.Rows:
        """Check rows that are to be predicted; unknown names are left out."""
        rows = as_rows(X, self.kernel or self.vocabulary)
        self._meet_features(rows.d)
        return rows

    def prepare(self, X: Any, y: Sequence[Any] | NDArray[Any], weights: Any = None, *, defer: bool = False) -> Lesson:
        """Check examples and make them ready to be played; with ``defer`` the average waits for `Lesson.settle`.

        Nothing is changed before all is checked; then new names get their places. New classes join the game when
        their first example is played.
        """
        labels, which = Labels.of(y)
        self._check_labels(labels)
        weights = self.check_weights(weights, len(which))
        first = self.vocabulary is None and self.kernel is None and not self.problems and is_dicts(X)
        vocabulary = Vocabulary() if first else self.vocabulary
        known = 0 if vocabulary is None else len(vocabulary)
        try:
            rows = as_rows(X, self.kernel or vocabulary, grow=True, fingerprint=True)
            if rows.n != len(which):
                raise ValueError(f"X has {rows.n} rows, but y has {len(which)} labels; give one label per row")
            if rows.n == 0 or (rows.d == 0 and vocabulary is None and not self.grows):
                raise ValueError(f"X has {rows.n} rows and {rows.d} feature(s); a minimum of 1 is required")
            self._check_features(rows.d, vocabulary is not None or self.grows)
        except BaseException:
            if vocabulary is not None:
                vocabulary.forget(known)
            raise
        self.vocabulary = vocabulary
        self._meet_features(rows.d)
        self._open_problems()
        for problem in self.problems.values():
            problem.begin(rows, defer)
        return Lesson(self, rows, labels, which, weights)

    def lesson(self, rows: _core.Rows, y: Sequence[Any] | NDArray[Any], weights: Any = None) -> Lesson:
        """Rows with labels that are all known, to be looked at and not learned from."""
        labels, which = Labels.of(y)
        self._meet_features(rows.d)
        if len(which) != rows.n:
            raise ValueError(f"X has {rows.n} rows, but y has {len(which)} labels; give one label per row")
        self.encode(labels)
        return Lesson(self, rows, labels, which, self.check_weights(weights, rows.n))

    def encode(self, labels: list[Any]) -> NDArray[np.int64]:
        """The index of each label in ``classes``."""
        unknown = [label for label in labels if label not in self.index]
        if unknown:
            raise ValueError(f"label {unknown[0]!r} is none of the classes {self.classes!r}")
        return np.array([self.index[label] for label in labels], dtype=np.int64)

    def check_weights(self, given: Any, n: int) -> NDArray[np.float64] | None:
        """Sample weights as the core wants them; None where all are 1."""
        if given is None:
            return None
        weights = as_floats(given, "sample_weight")
        if weights.shape != (n,):
            raise ValueError(f"sample_weight has shape {weights.shape}; give one weight for each of the {n} rows")
        if not np.isfinite(weights).all() or (weights < 0).any():
            row = int(np.argmax(~np.isfinite(weights) | (weights < 0)))
            raise ValueError(f"sample_weight[{row}] is {weights[row]}; weights must be finite and not negative")
        if (weights == 1).all():
            return None
        rule = self.parameters.rule
        if not RULES[rule].takes_weights and not np.isin(weights, (0, 1)).all():
            raise ValueError(f"weights other than 0 and 1 do not go with rule={rule!r}; choose another rule")
        return weights

    def learn(self, x: Any, y: Any, weight: float = 1.0) -> bool:
        """Be told that y is the label of x; learn if that is wanted. Returns whether it was a mistake."""
        if type(x) is dict and weight == 1.0:
            mistake = self._learn_named(x, y)
            if mistake is not None:
                return mistake
        before = self.mistakes
        lesson = self.prepare(_one(x), [y], None if weight == 1.0 else [weight])
        lesson.play_as_they_come()
        return self.mistakes > before

    def _learn_named(self, x: dict[str, Any], y: Any) -> bool | None:
        """The short way for one plain dict of a known class: whether it was a mistake; None if it cannot be gone."""
        problem = self.problems.get(ALL)
        if problem is None or self.vocabulary is None or self.parameters.delta or self.cost is not None:
            return None
        try:
            target = self.index[y]
        except (KeyError, TypeError):
            return None
        if problem.binary:
            target = 1 if target else -1
        may_add = self.parameters.n_features is None
        played = problem.learn_named(self.vocabulary, may_add, x, target, hash_label(self.classes[self.index[y]]))
        if played is None:
            return None
        self._meet_features(len(self.vocabulary))
        self.fingerprint = (self.fingerprint + played[0]) % 2**64
        self.played += 1
        self.ids += 1
        return played[1]

    def learn_many(self, X: Any, y: Sequence[Any], weights: Any = None) -> None:
        """Learn from many examples, in the order given."""
        self.prepare(X, y, weights).play_as_they_come()

    # ------------------------------------------------------------ predicting

    def score(self, x: Any, hypothesis: str | None = None) -> float | NDArray[np.float64]:
        """The notes' ``predict``: v·x, or one such number per class."""
        scores = self.scores(_one(x), hypothesis)[0]
        return scores if isinstance(scores, np.ndarray) else float(scores)

    def predict(self, x: Any, hypothesis: str | None = None) -> Any:
        """The label of x."""
        problem = self.problems.get(ALL)
        if type(x) is dict and problem is not None and self.vocabulary is not None:
            scores = problem.scores_named(self.vocabulary, x, hypothesis or self.parameters.hypothesis)
            if scores is not None and self.binary:
                return self.classes[scores[0] > 0 or (scores[0] == 0 and self.parameters.ties == "positive")]
            if scores is not None:
                return self.classes[scores.index(max(scores))]
        return self.predict_many(_one(x), hypothesis)[0]

    def predict_many(self, X: Any, hypothesis: str | None = None) -> list[Any]:
        """The label of each row."""
        return [self.classes[i] for i in self.decide(self.scores(X, hypothesis))]

    def scores(self, X: Any, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Scores of many examples: one per row for two classes, else one per row and class."""
        if not self.problems:
            raise ValueError("this learner has learned nothing yet; let it learn first")
        return self.scores_of(self.rows(X), hypothesis)

    def scores_of(self, rows: _core.Rows, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Scores of rows that have been checked."""
        hypothesis = hypothesis or self.parameters.hypothesis
        if self.binary or self.joint:
            scores = self.problems[ALL].scores(rows, hypothesis)
            return scores[:, 0] if self.binary else scores
        scores = np.zeros((rows.n, len(self.classes)))
        if self.parameters.multiclass == "ovr":
            for (k,), problem in self.problems.items():
                scores[:, k] = problem.scores(rows, hypothesis)[:, 0]
            return scores
        # one against one: a vote per pair, and how sure the pairs were to break ties (less than half a vote in all)
        votes = np.zeros_like(scores)
        for (i, j), problem in self.problems.items():
            score = problem.scores(rows, hypothesis)[:, 0]
            votes[:, j] += score > 0
            votes[:, i] += score < 0
            scores[:, j] += score
            scores[:, i] -= score
        votes += scores / (3 * (np.abs(scores) + 1))
        return votes

    def decide(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """From scores to indices of classes; ties go to the lowest index."""
        if self.binary:
            positive = scores >= 0 if self.parameters.ties == "positive" else scores > 0
            return positive.astype(np.int64)
        if self.parameters.multiclass == "ovr" and self.parameters.reference in self.index:
            reference = self.index[self.parameters.reference]
            others = np.delete(scores, reference, axis=1)
            winner: NDArray[np.int64] = np.delete(np.arange(len(self.classes)), reference)[np.argmax(others, axis=1)]
            winner[others.max(axis=1) <= 0] = reference
            return winner
        best: NDArray[np.int64] = np.argmax(scores, axis=1)
        return best

    def criterion(self, X: Any, y: Sequence[Any], hypothesis: str | None = None) -> float:
        """The perceptron criterion E_p(w): how far the wrong answers are from being right, summed.

        Two classes: −Σ y·score over the misclassified; else Σ max(0, best rival's score − score of y).
        """
        scores = self.scores(X, hypothesis)
        labels, which = Labels.of(y)
        if len(which) != len(scores):
            raise ValueError(f"X has {len(scores)} rows, but y has {len(which)} labels; give one label per row")
        truth = self.encode(labels)[which]
        if self.binary:
            return float(np.maximum(0, -np.where(truth == 1, scores, -scores)).sum())
        mine = scores[np.arange(len(truth)), truth]
        scores[np.arange(len(truth)), truth] = -np.inf
        return float(np.maximum(0, scores.max(axis=1) - mine).sum())

    # ------------------------------------------------------------ the run so far

    @property
    def mistakes(self) -> int:
        """Mistakes so far, over all problems."""
        return sum(problem.run.mistakes for problem in self.problems.values())

    @property
    def updates(self) -> int:
        """Updates so far, over all problems."""
        return sum(problem.run.updates for problem in self.problems.values())

    @property
    def rounds(self) -> int:
        """Examples played so far, over all problems."""
        return sum(problem.run.rounds for problem in self.problems.values())

    @property
    def touched(self) -> int:
        """Weights written so far: grows with the updates, not with the dimension."""
        return sum(problem.run.touched for problem in self.problems.values())

    @property
    def loss(self) -> float:
        """The perceptron criterion of the mistakes as they happened."""
        return sum(problem.run.criterion for problem in self.problems.values())

    def finish(self) -> None:
        """Learning is over for now; predictions may write vectors out."""
        for problem in self.problems.values():
            problem.finish()

    def snapshot(self) -> dict[str, Any]:
        """Everything that learning changes, copied."""
        return {
            "problems": {pair: problem.snapshot() for pair, problem in self.problems.items()},
            "fingerprint": self.fingerprint,
            "played": self.played,
            "ids": self.ids,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to a snapshot."""
        for pair, problem in self.problems.items():
            problem.restore(state["problems"][pair])
        self.fingerprint, self.played, self.ids = state["fingerprint"], state["played"], state["ids"]


def _one(x: Any) -> Any:
    """A single example as a batch of one."""
    if isinstance(x, Mapping):
        return [x]
    if hasattr(x, "tocsr"):
        return x.reshape(1, -1) if x.ndim == 1 else x
    return np.asarray(x)[None, :] if np.ndim(x) == 1 else x


def in_order_of_labels(labels: list[Any]) -> list[Any]:
    """Sorted, or in the order of arrival where labels of different kinds cannot be compared."""
    try:
        return sorted(labels)
    except TypeError:
        return labels


def as_floats(values: Any, name: str) -> NDArray[np.float64]:
    """An array of float64, or a ValueError that names the argument."""
    try:
        return np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}") from None


def _check_cost(cost: Any, n_classes: int) -> NDArray[np.float64]:
    matrix = as_floats(cost, "cost")
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(f"cost has shape {matrix.shape}; give a {n_classes} × {n_classes} matrix")
    off_diagonal = matrix[~np.eye(n_classes, dtype=bool)]
    if not np.isfinite(matrix).all() or np.diag(matrix).any() or (off_diagonal <= 0).any():
        raise ValueError("cost must be finite, 0 on the diagonal and > 0 elsewhere")
    return matrix.ravel()
