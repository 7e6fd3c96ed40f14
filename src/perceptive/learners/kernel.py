"""The notes' L in the dual: it remembers its mistakes, and a kernel compares new examples with them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.kernels import Kernel, as_kernel
from perceptive.kernels.examples import check_alike, listed
from perceptive.learners.dual import Dual, Weights
from perceptive.learners.fingerprint import combine, hash_examples
from perceptive.learners.lesson import Labels, plain_label
from perceptive.learners.linear import as_floats, in_order_of_labels
from perceptive.learners.passes import Passes
from perceptive.parameters import KernelParameters
from perceptive.streams.reading import Reading

ONE_SET = "a precomputed Gram matrix is about one set of examples"


class KernelLearner:
    """An on-line learner of anything that a kernel compares.

    Two classes that are announced are one problem with signed α; otherwise all classes compete with α_{i,y}
    (``multiclass="joint"``), and new ones may appear at any time, or each is learned against the rest ("ovr").

    Parameters
    ----------
    classes : sequence of labels or None
        All classes, if they are known before the data.
    **parameters
        See `perceptive.parameters.KernelParameters`.

    Examples
    --------
    XOR, which no line separates:

    >>> from perceptive.kernels import Quadratic
    >>> from perceptive.learners import KernelLearner
    >>> L = KernelLearner(classes=[0, 1], kernel=Quadratic())
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> for _ in range(10):
    ...     L.learn_many(X, y)
    >>> L.predict_many(X, hypothesis="last")
    [0, 1, 1, 0]
    """

    def __init__(self, classes: Sequence[Any] | None = None, **parameters: Any) -> None:
        self.parameters = KernelParameters(**parameters)
        self.asked_kernel = as_kernel(self.parameters.kernel)
        self.kernel: Kernel = self.asked_kernel
        self.announced = classes is not None
        self.classes: list[Any] = []
        self.index: dict[Any, int] = {}
        self.dual: Dual | None = None
        self.n_features: int | None = None
        self.seen = 0  # examples so far, which numbers them
        self.played = 0  # the same, counted once for each time they were played
        self.fingerprint = 0
        self.first_pass: tuple[int, int] | None = None
        self.temperature: float | None = None  # scores are not calibrated
        self.reading: Reading | None = None  # how files become rows, where it learned from files
        self.takes_objects = False  # whether these were JSON lines
        if classes is not None:
            labels = [plain_label(label) for label in classes]
            if len(set(labels)) < max(2, len(labels)):
                raise ValueError(f"classes={list(classes)!r}: give at least two classes, each once")
            self._set_classes(labels)
        elif self.parameters.multiclass == "ovr":
            raise ValueError("multiclass='ovr' needs the classes to be announced; give classes, or take 'joint'")
        if self.parameters.ties == "positive" and not self.binary:
            raise ValueError("ties='positive' is about two classes; announce two")

    @property
    def binary(self) -> bool:
        """Whether this is one problem of +1 against −1."""
        return self.announced and len(self.classes) == 2

    @property
    def task(self) -> str:
        """ "binary", "joint" or "ovr"."""
        return "binary" if self.binary else self.parameters.multiclass

    def _set_classes(self, labels: list[Any]) -> None:
        self.classes = labels
        self.index = {label: i for i, label in enumerate(labels)}

    # ------------------------------------------------------------ learning

    def prepare(
        self, X: Any, y: Any, weights: Any = None, *, several: bool = False, alpha_init: Any = None
    ) -> KernelLesson:
        """Check examples and make them ready to be played, once or several times."""
        X = listed(X)
        labels, which = Labels.of(y)
        new = [label for label in labels if label not in self.index]
        if new and self.announced:
            raise ValueError(f"label {new[0]!r} is none of the classes {self.classes!r}; announce all classes, or none")
        fresh = self.dual is None
        if self.asked_kernel.one_way:
            check_gram(X, fresh)
        kernel = self.asked_kernel.resolved(X) if fresh else self.kernel
        examples = kernel.prepare(X, np.dtype(self.parameters.dtype))
        if len(examples) != len(which):
            raise ValueError(f"X has {len(examples)} rows, but y has {len(which)} labels; give one label per row")
        if len(examples) == 0:
            raise ValueError("X has 0 rows; a minimum of 1 is required")
        if self.dual is not None and self.dual.supports is not None:
            check_alike(self.dual.supports, examples)
        checked = check_weights(weights, len(which))
        self._check_features(X)
        if fresh:
            self.kernel = kernel
        if self.dual is None:
            outputs = 1 if self.binary else max(1, len(self.classes))
            self.dual = Dual(kernel, self.task, outputs, self.parameters)
        if alpha_init is not None:
            self._start(examples, alpha_init)
        return KernelLesson(self, examples, labels, which, checked, several, hash_examples(X))

    def _check_features(self, X: Any) -> None:
        shape = getattr(X, "shape", None)
        if not self.kernel.vectors or shape is None or len(shape) != 2:
            return
        if self.n_features is not None and shape[1] != self.n_features:
            raise ValueError(f"X has {shape[1]} features, but this model expects {self.n_features} features as input")
        self.n_features = int(shape[1])

    def _start(self, examples: Any, alpha_init: Any) -> None:
        assert self.dual is not None
        alpha = as_floats(alpha_init, "alpha_init")
        if alpha.ndim == 1 and self.dual.n_outputs == 1:
            alpha = alpha[:, None]
        wanted = (len(examples), self.dual.n_outputs)
        if alpha.shape != wanted or not np.isfinite(alpha).all():
            raise ValueError(f"alpha_init must hold finite numbers in the shape {wanted}, one row per example")
        if len(self.dual) or self.dual.forgetting is not None:
            raise ValueError("alpha_init is for a learner that has learned nothing, and without a budget")
        self.dual.start(examples, alpha, self.seen)

    def meet_class(self, label: Any) -> None:
        """Add a class that nobody announced; its coefficients start at zero."""
        first = not self.classes
        self._set_classes(in_order_of_labels([*self.classes, label]))
        if not first and self.dual is not None:
            self.dual.meet_output(self.index[label])

    def learn(self, x: Any, y: Any, weight: float = 1.0) -> bool:
        """Be told that y is the label of x; learn if that is wanted. Returns whether it was a mistake."""
        before = self.mistakes
        self.learn_many(_one(x), [y], None if weight == 1.0 else [weight])
        return self.mistakes > before

    def learn_many(self, X: Any, y: Any, weights: Any = None) -> None:
        """Learn from many examples, in the order given."""
        self.prepare(X, y, weights).play_as_they_come()

    def snapshot(self) -> tuple[Dual, int, int]:
        """What learning changes, as it is now."""
        kept = copy.deepcopy(self.dual, {id(self.kernel): self.kernel})
        assert kept is not None
        return kept, self.played, self.fingerprint

    def restore(self, snapshot: tuple[Dual, int, int]) -> None:
        """Go back there; lessons that were begun cannot be played on."""
        self.dual, self.played, self.fingerprint = snapshot

    # ------------------------------------------------------------ predicting

    def examples(self, X: Any) -> Any:
        """Check examples that are to be predicted."""
        if self.dual is None:
            raise ValueError("this learner has learned nothing yet; let it learn first")
        X = listed(X)
        self._check_features(X)
        return self.kernel.prepare(X, self.dual.predictor().dtype)

    def scores(self, X: Any, hypothesis: str | None = None, normalized: bool | None = None) -> Weights:
        """Scores of many examples: one per row for two classes, else one per row and class."""
        examples = self.examples(X)
        assert self.dual is not None
        normalized = self.parameters.normalized if normalized is None else normalized
        scores = self.dual.predictor().scores(examples, hypothesis or self.parameters.hypothesis, normalized)
        return scores[:, 0] if self.binary else scores

    def score(self, x: Any, hypothesis: str | None = None) -> Any:
        """The notes' ``predict``: Σ α_i K(x_i, x), or one such number per class."""
        scores = self.scores(_one(x), hypothesis)[0]
        return scores if isinstance(scores, np.ndarray) else float(scores)

    def decide(self, scores: Weights) -> NDArray[np.int64]:
        """From scores to indices of classes; ties go to the lowest index."""
        if self.binary:
            positive = scores >= 0 if self.parameters.ties == "positive" else scores > 0
            return positive.astype(np.int64)
        return np.asarray(np.argmax(scores, axis=1), dtype=np.int64)

    def predict_many(self, X: Any, hypothesis: str | None = None) -> list[Any]:
        """The label of each example."""
        return [self.classes[i] for i in self.decide(self.scores(X, hypothesis))]

    def predict(self, x: Any, hypothesis: str | None = None) -> Any:
        """The label of x."""
        return self.predict_many(_one(x), hypothesis)[0]

    # ------------------------------------------------------------ the run so far

    @property
    def mistakes(self) -> int:
        """Mistakes so far, over all problems."""
        return 0 if self.dual is None else int(self.dual.mistakes.sum())

    @property
    def updates(self) -> int:
        """Updates so far, over all problems."""
        return 0 if self.dual is None else self.dual.updates

    @property
    def rounds(self) -> int:
        """Examples played so far, over all problems."""
        return 0 if self.dual is None else self.dual.rounds * len(self.dual.runs)

    @property
    def loss(self) -> float:
        """The perceptron criterion of the mistakes as they happened."""
        return 0.0 if self.dual is None else float(self.dual.criterion.sum())


class KernelLesson:
    """Examples with their labels, ready to be played by a `KernelLearner`."""

    def __init__(
        self,
        learner: KernelLearner,
        examples: Any,
        labels: list[Any],
        which: NDArray[np.int64],
        weights: Weights | None,
        several: bool,
        hashes: NDArray[np.uint64],
    ) -> None:
        self.learner, self.examples, self.weights, self.several = learner, examples, weights, several
        self._labels, self._which, self._hashes = labels, which, hashes
        self._first_id = learner.seen
        learner.seen += len(which)
        self._passes: Passes | None = None

    def __len__(self) -> int:
        return len(self._which)

    def targets(self) -> NDArray[np.int32]:
        """±1 for two classes, else the class; −1 for a class that has not joined yet."""
        index = np.array([self.learner.index.get(label, -1) for label in self._labels], dtype=np.int32)
        y = index[self._which]
        return np.where(y == 1, 1, -1).astype(np.int32) if self.learner.binary else y

    def play(self, order: NDArray[np.int64], report: Any = None) -> None:
        """One pass over all examples, whose classes are all known."""
        assert self.learner.dual is not None
        if self._passes is None:
            self._passes = Passes(
                self.learner.dual, self.examples, self.targets(), self.weights, self._first_id, self.several
            )
        self._passes.play(order, report)
        self.record()

    def play_as_they_come(self) -> None:
        """One pass in the order given; a class that nobody announced joins with its first example."""
        learner = self.learner
        new = [
            (int(np.argmax(self._which == i)), label)
            for i, label in enumerate(self._labels)
            if label not in learner.index
        ]
        new.sort(key=lambda arrival: arrival[0])
        borders = [0, *(at for at, _ in new), len(self)]
        for k, (begin, end) in enumerate(pairwise(borders)):
            if k:
                learner.meet_class(new[k - 1][1])
            if begin < end:
                assert learner.dual is not None
                part = slice(begin, end)
                weights = None if self.weights is None else self.weights[part]
                passes = Passes(
                    learner.dual, self.examples.take(part), self.targets()[part], weights, self._first_id + begin, False
                )
                passes.play(np.arange(end - begin))
        self.record()

    @property
    def n_played(self) -> int:
        """Examples that a pass plays: those with a weight."""
        return len(self) if self.weights is None else int(np.count_nonzero(self.weights))

    def fingerprint(self) -> int:
        """An order-free hash of the examples, their labels and weights."""
        return combine(self._hashes, self._which, self._labels, self.weights)

    def record(self) -> None:
        """Note that every example has been played once more."""
        learner = self.learner
        learner.fingerprint = (learner.fingerprint + self.fingerprint()) % 2**64
        learner.played += self.n_played


def check_gram(X: Any, fresh: bool) -> None:
    """Raise ValueError where this cannot be the Gram matrix of all examples that there will be."""
    if not fresh:
        raise ValueError(f"{ONE_SET}; give the kernel itself, or start anew")
    shape = np.shape(X) if isinstance(X, np.ndarray) else ()
    if len(shape) == 2 and shape[0] != shape[1]:
        raise ValueError(f"the precomputed Gram matrix should be square, not {shape[0]} × {shape[1]}")


def check_weights(given: Any, n: int) -> Weights | None:
    """Sample weights; None where all are 1."""
    if given is None:
        return None
    weights = as_floats(given, "sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; give one weight for each of the {n} rows")
    if not np.isfinite(weights).all() or (weights < 0).any():
        row = int(np.argmax(~np.isfinite(weights) | (weights < 0)))
        raise ValueError(f"sample_weight[{row}] is {weights[row]}; weights must be finite and not negative")
    return None if (weights == 1).all() else weights


def _one(x: Any) -> Any:
    """A single example as a batch of one."""
    if hasattr(x, "tocsr"):
        return x
    return np.asarray(x)[None, :] if isinstance(x, np.ndarray) and x.ndim == 1 else [x]
