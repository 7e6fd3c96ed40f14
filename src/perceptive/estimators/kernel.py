"""`KernelClassifier`: the dual perceptron as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from perceptive.certificates import Certificate, certify
from perceptive.data.labels import Labels
from perceptive.data.sample_weights import as_floats
from perceptive.errors import ParameterError
from perceptive.estimators.data import check_data, example_weights, hold_out, label_array, take
from perceptive.estimators.kernel_state import KernelStateMixin
from perceptive.estimators.progress import progress_bar
from perceptive.estimators.run import ClassifierRunMixin, nothing_half_learned, one_at_a_time
from perceptive.estimators.signature import checked, with_parameters
from perceptive.estimators.supports import SupportVectorsMixin, take_examples
from perceptive.kernels import Kernel, as_kernel
from perceptive.kernels.examples import check_real, listed
from perceptive.learners.dual_learner import ONE_SET
from perceptive.learners.kernel import KernelLearner
from perceptive.parameter_groups import CertifyGroup, ClassWeightGroup, DualGroup, TrainingGroup
from perceptive.parameters import EstimatorParameters, KernelParameters, TrainingParameters
from perceptive.state import State, array_of
from perceptive.training.loop import History, InMemory, Run, progress_of, train


def _can_go_on(self: KernelClassifier) -> bool:
    try:
        if not as_kernel(self.kernel).one_way:
            return True
    except (TypeError, ValueError):  # no kernel at all, which learning will say
        return True
    raise AttributeError(f"{ONE_SET}; give the kernel itself, or use fit")


@with_parameters
class KernelClassifier(
    DualGroup,
    TrainingGroup,
    ClassWeightGroup,
    CertifyGroup,
    KernelStateMixin[KernelLearner],
    ClassifierRunMixin[KernelLearner],
    SupportVectorsMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Mistake-driven kernel classifier: the model is its list of mistakes; averaged, voted, last or best.

    Examples are what the kernel takes: rows of numbers, strings, trees, tuples of such, or anything at all.

    {parameters}

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
    n_iter_, mistakes_, updates_, loss_, converged_, rounds_, held_out_
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

    _learner = KernelLearner
    _lost = ("certificate_", "_support_vectors", "_signs")

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
        if training.validation_fraction and as_kernel(self.kernel).one_way:
            raise ParameterError(
                "{} does not go with a precomputed Gram matrix, which has a column for every example that is learned "
                "from; give the kernel itself",
                "validation_fraction",
            )
        X, y = self._check_data(X, y, reset=True)
        classes, which = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only, {classes[0]!r}: a classifier needs examples of at least 2 classes to fit"
            )
        weights = example_weights(y, classes, self.class_weight, sample_weight)
        learner = KernelLearner(classes=classes.tolist(), **parameters)
        held = np.zeros(len(y), bool)
        if training.validation_fraction:
            held = hold_out(Labels(learner.classes, which), training.validation_fraction, self.random_state)
        taught, X_held = None, None
        if held.any():
            taught, X_held = np.flatnonzero(~held), take_examples(X, np.flatnonzero(held))
            X, weights = take_examples(X, taught), take(weights, taught)
            alpha_init = None if alpha_init is None else as_floats(alpha_init, "alpha_init")[taught]
        labels = Labels(learner.classes, take(which, taught))
        dataset = learner.dataset(X, labels, weights, epochs=training.epochs, alpha_init=alpha_init)

        def accuracy() -> float:
            return float(np.mean(learner.decide(learner.scores(X_held)) == which[held]))

        self._take(learner, History(), classes_=classes, _held=None if taught is None else np.flatnonzero(held))
        source = InMemory(dataset, training.shuffle, None if taught is None else accuracy)
        with progress_bar(self.progress, self.epochs * len(dataset), learner) as report:
            train(Run.of(learner, training, self._history), source, report=report)
        self._keep_supports(X, np.where(which[self.support_] == 1, 1.0, -1.0))
        if self.certify:
            self.certificate_ = certify(learner, X, labels, weights)
        return self

    @available_if(_can_go_on)  # type: ignore[untyped-decorator]
    @one_at_a_time
    def partial_fit(
        self, X: Any, y: Any, classes: Sequence[Any] | None = None, sample_weight: ArrayLike | None = None
    ) -> KernelClassifier:
        """Go on learning: one epoch over these examples, in the order given.

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
        weights = example_weights(y, np.unique(y), self.class_weight, sample_weight)
        with learner.lock.learning():
            before = progress_of(learner)
            try:
                learner.learn_many(X, Labels.of(y), weights)
            except KeyboardInterrupt:
                if learner.classes:
                    self._note_call(learner, before, first, classes_=label_array(learner.classes, y))
                raise
            self._note_call(learner, before, first, classes_=label_array(learner.classes, y))
        return self

    @available_if(_can_go_on)  # type: ignore[untyped-decorator]
    @one_at_a_time
    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> KernelClassifier:
        """Learn from one example."""
        first = not hasattr(self, "learner_")
        learner = KernelLearner(**self._check_parameters()[0]) if first else self.learner_
        learner.learn(x, y, w)
        self._take(learner, History() if first else None, classes_=label_array(learner.classes, None))
        return self

    def _check_parameters(self) -> tuple[dict[str, Any], TrainingParameters]:
        checked(self, EstimatorParameters)
        kernel = clone(self.kernel) if isinstance(self.kernel, Kernel) else self.kernel
        return {**vars(checked(self, KernelParameters)), "kernel": kernel}, checked(self, TrainingParameters)

    def _check_data(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        return check_data(self, X, y, reset, KernelClassifier._check_examples)

    def _check_examples(self, X: Any, reset: bool) -> Any:
        kernel, X = as_kernel(self.kernel), listed(X)
        if not kernel.vectors and not kernel.pairwise:
            if len(X) == 0:
                raise ValueError("X has 0 examples; a minimum of 1 is required")
            return X
        check_real(X)
        return validate_data(
            self, X, reset=reset, accept_sparse="csr" if kernel.vectors else False, dtype=[np.float64, np.float32],
            order="C", accept_large_sparse=True,
        )  # fmt: skip

    # ------------------------------------------------------------ predicting

    def decision_function(self, X: Any, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Scores: one per row for two classes (> 0: the second), else one per class; shares of votes if voted."""
        check_is_fitted(self)
        scores = self.learner_.scores(self._check_examples(X, reset=False), hypothesis)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.ndim == 2 and scores.shape[1] == 2 else scores

    def predict(self, X: Any, hypothesis: str | None = None) -> NDArray[Any]:
        """The label of each example, under ``hypothesis`` or any other."""
        check_is_fitted(self)
        return self._labels(self._check_examples(X, reset=False), hypothesis)

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
        weights = example_weights(y, self.classes_, self.class_weight, sample_weight)
        return certify(self.learner_, X, y, weights)

    # ------------------------------------------------------------ files

    def state(self) -> State:
        """All that it is, as plain values and arrays."""
        meta, arrays = super().state()
        return State(meta, arrays if self._held is None else {**arrays, "held_out": self._held})

    @classmethod
    def from_state(cls, state: State, functions: Any = None) -> Self:
        """What `state` gave; raises ValueError where the parts do not fit together."""
        model = super().from_state(state, functions)
        if "held_out" in state.arrays:
            model._held = np.array(array_of(state.arrays, "held_out", np.int64, (None,)))
            if (np.diff(model._held, prepend=-1) <= 0).any():
                raise ValueError("held_out must be numbers of examples, in order")
        return model
