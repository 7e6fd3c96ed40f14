"""`KernelClassifier`: the dual perceptron as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from perceptive.certificate import Certificate
from perceptive.dual_certificate import certify_kernel
from perceptive.estimators.progress import progress_bar
from perceptive.estimators.run import RunMixin, nothing_half_learned
from perceptive.kernels import Kernel, as_kernel
from perceptive.kernels.examples import check_real, listed, own_item
from perceptive.kernels.trees import Trees
from perceptive.learners.kernel import ONE_SET, KernelLearner
from perceptive.learners.lesson import Labels, is_missing
from perceptive.learners.linear import as_floats
from perceptive.parameters import KernelParameters, KernelTrainingParameters
from perceptive.training import History, train_kernel

LEARNER = [f.name for f in fields(KernelParameters)]


def _can_go_on(self: KernelClassifier) -> bool:
    try:
        if not as_kernel(self.kernel).one_way:
            return True
    except (TypeError, ValueError):  # no kernel at all, which learning will say
        return True
    raise AttributeError(f"{ONE_SET}; give the kernel itself, or use fit")


class KernelClassifier(RunMixin, ClassifierMixin, BaseEstimator):
    """Mistake-driven kernel classifier: the model is its list of mistakes; averaged, voted, last or best.

    Examples are what the kernel takes: rows of numbers, strings, trees, tuples of such, or anything at all.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel of `perceptive.kernels`, its text as in ``"0.5*gaussian(sigma=2)+poly(4)"``, a function of two
        examples, or "precomputed" for Gram matrices.
    rule : {"perceptron", "pa1", "pa2"}
        When and how far to move on an example.
    learning_rate : float
        η of the perceptron.
    margin : float
        β: the perceptron also updates on right answers with y·score ≤ β.
    C : float
        Aggressiveness of pa1 and pa2.
    hypothesis : {"averaged", "last", "best", "voted", "random"}
        What of v₀, v₁, … predicts; all are at hand after one run.
    normalized : bool
        Divide each v_k by its length, as Freund & Schapire do.
    multiclass : {"joint", "ovr"}
        How more than two classes are learned.
    bias : float
        b: the kernel becomes K + b².
    delta : float
        Δ-trick: train with K + Δ²I.
    ties : {"mistake", "positive"}
        A score of 0 is a mistake, or predicts the second class.
    budget : int or None
        How many supports are kept at most.
    forget : {"projectron", "oldest", "random"}
        What makes room when the budget is used up: the new example is projected on the supports, which stay, or takes
        the place of one of them. The latter have no average, only a ``hypothesis="last"``.
    cache_size : float
        Megabytes for kernel values of strings, trees and functions that later passes use again; the rest is made anew.
    dtype : {"float32", "float64"}
        Of the kernel values.
    random_state : int
        Seed of the shuffling, of forgetting and of the random hypothesis.
    epochs : int
        Passes at most; a pass without an update ends the training.
    shuffle : bool
        Play each pass in a new random order.
    progress : bool
        Show a progress bar where training takes longer than a second.
    class_weight : dict, "balanced" or None
        Weights of the classes.
    certify : bool
        Make ``certificate_`` at the end of `fit`.

    Attributes
    ----------
    classes_ : array of labels
    support_ : array of int
        Which examples were learned from, in the order of their first mistake.
    support_vectors_ : array, sparse matrix or list
        These examples (of `fit`).
    alpha_ : array of shape (n_support,) or (n_support, n_classes)
        Signed coefficients of the last vector; ``alpha_counts_`` has them beside y, as counts ≥ 0.
    kernel_ : Kernel
        The kernel as it was used, "scale" replaced by a number.
    n_iter_, mistakes_, updates_, loss_, converged_, rounds_
        Of the run, as in `LinearClassifier`.
    certificate_ : Certificate
        With ``certify=True``.
    learner_ : KernelLearner
        The learner itself.

    Examples
    --------
    >>> from perceptive import KernelClassifier
    >>> from perceptive.kernels import Quadratic
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> clf = KernelClassifier(kernel=Quadratic(), hypothesis="last", epochs=20).fit(X, y)
    >>> clf.predict(X)
    array([0, 1, 1, 0])
    """

    def __init__(
        self,
        *,
        kernel: Any = "gaussian",
        rule: str = "perceptron",
        learning_rate: float = 1.0,
        margin: float = 0.0,
        C: float = 1.0,
        hypothesis: str = "averaged",
        normalized: bool = False,
        multiclass: str = "joint",
        bias: float = 0.0,
        delta: float = 0.0,
        ties: str = "mistake",
        budget: int | None = None,
        forget: str = "projectron",
        cache_size: float = 200.0,
        dtype: str = "float32",
        random_state: int = 0,
        epochs: int = 10,
        shuffle: bool = True,
        progress: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        certify: bool = False,
    ) -> None:
        self.kernel = kernel
        self.rule = rule
        self.learning_rate = learning_rate
        self.margin = margin
        self.C = C
        self.hypothesis = hypothesis
        self.normalized = normalized
        self.multiclass = multiclass
        self.bias = bias
        self.delta = delta
        self.ties = ties
        self.budget = budget
        self.forget = forget
        self.cache_size = cache_size
        self.dtype = dtype
        self.random_state = random_state
        self.epochs = epochs
        self.shuffle = shuffle
        self.progress = progress
        self.class_weight = class_weight
        self.certify = certify

    learner_: KernelLearner
    classes_: NDArray[Any]
    _history: History

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = as_kernel(self.kernel)
        tags.input_tags.sparse = kernel.vectors
        tags.input_tags.pairwise = kernel.pairwise
        return tags

    # ------------------------------------------------------------ learning

    @nothing_half_learned
    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, alpha_init: ArrayLike | None = None
    ) -> KernelClassifier:
        """Learn from scratch.

        Parameters
        ----------
        X : examples
            An array or sparse matrix for kernels of vectors, a list for others, a Gram matrix for "precomputed".
        y : array of labels
        sample_weight : array or None
            Weights of the examples: each multiplies the step of its example, or C for "pa1" and "pa2"; 0 leaves it out.
        alpha_init : array of shape (n_samples,) or (n_samples, n_classes), or None
            Signed coefficients to start from.
        """
        parameters, training = self._check_parameters()
        X, y = self._check_data(X, y, reset=True)
        classes, which = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only, {classes[0]!r}: a classifier needs examples of at least 2 classes to fit"
            )
        weights = self._weights(y, classes, sample_weight)
        learner = KernelLearner(classes=classes.tolist(), **parameters)
        labels = Labels(learner.classes, which)
        lesson = learner.prepare(X, labels, weights, several=training.epochs > 1, alpha_init=alpha_init)
        self.classes_, self.learner_ = classes, learner
        self._X = X
        self.__dict__.pop("certificate_", None)
        history = self._history = History()
        with progress_bar(self.progress, self.epochs * len(lesson)) as report:
            train_kernel(lesson, training.epochs, training.shuffle, report, history)
        self._keep_support_vectors()
        self._signs = np.where(which[self.support_] == 1, 1.0, -1.0)
        if self.certify:
            self.certificate_ = certify_kernel(learner, X, labels, weights)
        return self

    @available_if(_can_go_on)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Sequence[Any] | None = None, sample_weight: ArrayLike | None = None
    ) -> KernelClassifier:
        """Go on learning: one pass over these examples, in the order given.

        Parameters
        ----------
        X : examples
        y : array of labels
        classes : sequence of labels or None
            All classes, at the first call; without it, classes may appear at any time (``multiclass="joint"``).
        sample_weight : array or None
        """
        first = not hasattr(self, "learner_")
        parameters, _ = self._check_parameters()
        X, y = self._check_data(X, y, reset=first)
        known = None if classes is None else np.unique(np.asarray(classes)).tolist()
        if first:
            learner = KernelLearner(classes=known, **parameters)
        else:
            learner = self.learner_
            if known is not None and known != learner.classes:
                raise ValueError(
                    f"classes={list(classes or [])!r} is not what the first call announced: {learner.classes!r}"
                )
        before = learner.mistakes, learner.updates, learner.loss
        weights = self._weights(y, np.unique(y), sample_weight)
        learner.learn_many(X, Labels.of(y), weights)
        self.learner_ = learner
        self.classes_ = np.array(learner.classes, dtype=None if y.dtype != object else object)
        if first:
            self._history = History()
        self._history.mistakes.append(learner.mistakes - before[0])
        self._history.updates.append(learner.updates - before[1])
        self._history.loss.append(learner.loss - before[2])
        self.__dict__.pop("certificate_", None)
        self._forget_supports()
        return self

    @available_if(_can_go_on)  # type: ignore[untyped-decorator]
    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> KernelClassifier:
        """Learn from one example."""
        if not hasattr(self, "learner_"):
            learner = KernelLearner(**self._check_parameters()[0])
            learner.learn(x, y, w)
            self.learner_, self._history = learner, History()
        else:
            self.learner_.learn(x, y, w)
        classes = self.learner_.classes
        self.classes_ = np.array(classes, dtype=None if len(set(map(type, classes))) == 1 else object)
        self.__dict__.pop("certificate_", None)
        self._forget_supports()
        return self

    def _check_parameters(self) -> tuple[dict[str, Any], KernelTrainingParameters]:
        learner = {name: getattr(self, name) for name in LEARNER}
        if isinstance(self.kernel, Kernel):
            learner["kernel"] = clone(self.kernel)
        KernelParameters(**learner)
        names = [f.name for f in fields(KernelTrainingParameters)]
        return learner, KernelTrainingParameters(**{name: getattr(self, name) for name in names})

    def _check_data(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        X = self._check_examples(X, reset)
        y = column_or_1d(y, warn=True)
        if y.dtype.kind in "mM":
            raise ValueError("y holds dates or times; give numbers, strings or booleans as labels")
        if y.dtype == object and any(is_missing(label) for label in y):
            raise ValueError("y contains missing labels; drop such examples")
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if n == 0:
            raise ValueError("X has 0 examples; a minimum of 1 is required")
        check_classification_targets(y)
        if n != len(y):
            raise ValueError(f"X has {n} rows, but y has {len(y)} labels; give one label per row")
        return X, y

    def _check_examples(self, X: Any, reset: bool) -> Any:
        kernel, X = as_kernel(self.kernel), listed(X)
        if not kernel.vectors and not kernel.pairwise:
            return X
        check_real(X)
        return validate_data(
            self, X, reset=reset, accept_sparse="csr" if kernel.vectors else False, dtype=[np.float64, np.float32],
            order="C", accept_large_sparse=True,
        )  # fmt: skip

    def _weights(
        self, y: NDArray[Any], classes: NDArray[Any], sample_weight: ArrayLike | None
    ) -> NDArray[np.float64] | None:
        if sample_weight is None and self.class_weight is None:
            return None
        if sample_weight is not None:
            sample_weight = as_floats(sample_weight, "sample_weight")
        weights: NDArray[np.float64] = _check_sample_weight(
            sample_weight, np.empty((len(y), 1)), dtype=np.float64, copy=True
        )
        if self.class_weight is not None:
            try:
                per_class = compute_class_weight(self.class_weight, classes=classes, y=y)
            except ValueError:
                raise ValueError(
                    f"class_weight={self.class_weight!r}: give a dict with a weight for each of {classes.tolist()}, "
                    "'balanced', or None"
                ) from None
            weights *= per_class[np.searchsorted(classes, y)]
        return weights

    def _forget_supports(self) -> None:
        for name in ("_support_vectors", "_signs"):
            self.__dict__.pop(name, None)

    def _keep_support_vectors(self) -> None:
        X, index = self.__dict__.pop("_X"), self.support_
        assert self.learner_.dual is not None
        if isinstance(self.learner_.dual.supports, Trees):  # which are kept as they came, and copied however deep
            self.__dict__.pop("_support_vectors", None)
            return
        if hasattr(X, "iloc"):
            self._support_vectors = X.iloc[index]
        else:
            self._support_vectors = X[index] if hasattr(X, "shape") else [own_item(X[i]) for i in index]

    # ------------------------------------------------------------ the run

    @property
    def kernel_(self) -> Kernel:
        """The kernel as it was used."""
        check_is_fitted(self)
        return self.learner_.kernel

    @property
    def support_(self) -> NDArray[np.int64]:
        """Which examples were learned from (numbered as they came), in the order of their first mistake."""
        check_is_fitted(self)
        assert self.learner_.dual is not None
        return np.array(self.learner_.dual.ids, dtype=np.int64)

    @property
    def support_vectors_(self) -> Any:
        """The examples that were learned from: those of `fit`, else as the kernel prepared them.

        AttributeError after `partial_fit`, `learn_one` and loading where the kernel sees several parts of an example.
        """
        check_is_fitted(self)
        if hasattr(self, "_support_vectors"):
            return self._support_vectors
        assert self.learner_.dual is not None
        supports = self.learner_.dual.supports
        for name in ("array", "matrix", "items"):  # as prepared: float32, say
            if hasattr(supports, name):
                return getattr(supports, name)
        raise AttributeError("support_vectors_ of several parts are kept by fit only; see learner_.dual.supports")

    @property
    def alpha_(self) -> NDArray[np.float64]:
        """Signed coefficients of the supports in the last vector: one for two classes, else one per class."""
        check_is_fitted(self)
        assert self.learner_.dual is not None
        alpha = self.learner_.dual.alpha.copy()
        return alpha[:, 0] if self.learner_.binary else alpha

    @property
    def alpha_counts_(self) -> NDArray[np.float64]:
        """The other spelling: ``alpha_counts_ * y[support_]`` is `alpha_`, with y as ±1.

        That is how often (times the step) each support was learned from; where equal examples have both labels, those
        with the other label count against it. For more than two classes, the sizes of the coefficients.
        """
        alpha = self.alpha_
        return alpha * self._support_signs() if self.learner_.binary else np.abs(alpha)

    def _support_signs(self) -> NDArray[np.float64]:
        """y of each support as ±1: from `fit`, else from the first update that each one made."""
        if hasattr(self, "_signs"):
            return self._signs
        assert self.learner_.dual is not None
        dual = self.learner_.dual
        signs = np.where(dual.alpha[:, 0] < 0, -1.0, 1.0)  # within a budget, runs are not written down
        run = dual.runs[0]
        slots, first = np.unique(np.array(run.slot, dtype=np.int64), return_index=True)
        signs[slots] = np.sign(np.array(run.step, dtype=np.float64)[first])
        return signs

    # ------------------------------------------------------------ predicting

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learner_")

    def decision_function(self, X: Any, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Scores: one per row for two classes (> 0: the second), else one per class; shares of votes if voted."""
        check_is_fitted(self)
        scores = self.learner_.scores(self._check_examples(X, reset=False), hypothesis)
        if scores.ndim == 2 and len(self.learner_.classes) == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores

    def predict(self, X: Any, hypothesis: str | None = None) -> NDArray[Any]:
        """The label of each example, under ``hypothesis`` or any other."""
        check_is_fitted(self)
        scores = self.learner_.scores(self._check_examples(X, reset=False), hypothesis)
        return self.classes_[self.learner_.decide(scores)]

    def predict_one(self, x: Any) -> Any:
        """The label of one example; None before anything was learned."""
        if not hasattr(self, "learner_") or not self.learner_.classes:
            return None
        return self.learner_.predict(x)

    # ------------------------------------------------------------ certificate

    def certificate(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Certificate:
        """What the theorem allows this run: see `Certificate`. Data other than trained on makes it hypothetical."""
        check_is_fitted(self)
        X, y = self._check_data(X, y, reset=False)
        return certify_kernel(self.learner_, X, y, self._weights(y, self.classes_, sample_weight))
