"""`KernelClassifier`: the dual perceptron as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if

from perceptive.data.sample_weights import as_floats
from perceptive.errors import ParameterError
from perceptive.estimators.classifier import ClassifierRunMixin
from perceptive.estimators.data import check_rows, is_raw, take
from perceptive.estimators.run import LearnerType, RunMixin, nothing_half_learned
from perceptive.estimators.signature import with_parameters
from perceptive.kernels import Kernel, as_kernel
from perceptive.kernels.examples import listed, own_item
from perceptive.kernels.storage import kernel_from_plain, kernel_to_plain
from perceptive.kernels.trees import Trees
from perceptive.learners.dual_learner import ONE_SET
from perceptive.learners.kernel import KernelLearner
from perceptive.parameter_groups import CertifyGroup, ClassWeightGroup, DualGroup, ProbabilityGroup, TrainingGroup
from perceptive.parameters import KernelParameters, TrainingParameters
from perceptive.sparse import inspected
from perceptive.state import Arrays, State, array_of

OTHER_KERNELS = "choose a kernel of what it holds: kernels.Spectrum(2) is one of strings"


class KernelMixin(RunMixin[LearnerType]):
    """The supports of the learner and their coefficients, and the state of an estimator with a ``kernel`` parameter.

    The learner gets a copy of the kernel; a file stores the kernel as the user gave it, next to the parameters.
    """

    kernel: Any
    _held: NDArray[np.int64] | None = None  # the rows of `fit` that were held out

    def _check_parameters(self) -> tuple[dict[str, Any], TrainingParameters]:
        parameters, training = super()._check_parameters()
        kernel = clone(self.kernel) if isinstance(self.kernel, Kernel) else self.kernel
        return {**parameters, "kernel": kernel}, training

    @classmethod
    def _learned_parameters(cls, learner: Any) -> dict[str, Any]:
        return {**super()._learned_parameters(learner), "kernel": learner.asked_kernel}

    def _saved_parameters(self, arrays: Arrays) -> dict[str, Any]:
        found = super()._saved_parameters(arrays)
        asked = found["estimator"].pop("kernel")
        asked = kernel_to_plain(asked, arrays) if isinstance(asked, Kernel) else asked
        return {**found, "asked": asked if isinstance(asked, str | dict) else None}  # the learner knows a function

    @classmethod
    def _loaded_parameters(cls, state: State, learner: Any, functions: Any) -> dict[str, Any]:
        asked = state.meta["asked"]
        kernel = kernel_from_plain(asked, state.arrays, functions or {}) if isinstance(asked, dict) else asked
        kernel = learner.kernel if kernel is None else kernel
        as_kernel(kernel)
        return {**super()._loaded_parameters(state, learner, functions), "kernel": kernel}

    @property
    def kernel_(self) -> Kernel:
        """The kernel that was used."""
        kernel: Kernel = self._learned.kernel
        return kernel

    @property
    def support_(self) -> NDArray[np.int64]:
        """The examples that were learned from (numbered in the order seen), in the order of their first mistake."""
        dual, held = self._learned.dual, self._held
        ids = np.array([] if dual is None else dual.ids, dtype=np.int64)
        if held is None or len(ids) == 0:
            return ids
        return np.setdiff1d(np.arange(ids.max() + 1 + len(held)), held)[ids]  # the learner has not seen those

    @property
    def alpha_(self) -> NDArray[np.float64]:
        """Signed coefficients of the supports in the last vector; one per class for more than two classes."""
        dual = self._learned.learned()
        alpha: NDArray[np.float64] = dual.alpha.copy()
        return alpha[:, 0] if dual.task == "binary" else alpha


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
    ProbabilityGroup,
    CertifyGroup,
    KernelMixin[KernelLearner],
    ClassifierRunMixin[KernelLearner],
    ClassifierMixin,
    BaseEstimator,
):
    """Mistake-driven kernel classifier: the model is a list of mistakes; averaged, voted, last or best.

    Examples can be anything that the kernel compares: rows of numbers, strings, trees, tuples of these, or other
    objects.

    {parameters}

    Attributes
    ----------
    classes_ : array of labels
    support_ : array of int
        The examples that were learned from, in the order of their first mistake.
    support_vectors_ : array, sparse matrix or list
        These examples, if `fit` was used.
    alpha_ : array of shape (n_support,) or (n_support, n_classes)
        Signed coefficients of the last vector; ``alpha_counts_`` has them without the sign of y, as counts ≥ 0.
    kernel_ : Kernel
        The kernel that was used, with "scale" replaced by a number.
    {run}

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
    _parameters = KernelParameters
    _lost = ("certificate_", "_support_vectors", "_signs")
    _support_vectors: Any
    _signs: NDArray[np.float64]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = as_kernel(self.kernel)
        tags.input_tags.sparse = kernel.vectors
        tags.input_tags.pairwise = kernel.pairwise
        return tags

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
        if (training.validation_fraction or self._calibrates) and as_kernel(self.kernel).one_way:
            raise ParameterError(
                "{} does not go with a precomputed Gram matrix, which has a column for every example that is learned "
                "from; give the kernel itself",
                "validation_fraction" if training.validation_fraction else "probability",
            )
        begun = self._begin(X, y, sample_weight, parameters, training)
        _, learner, taught, held = begun
        if held is not None and alpha_init is not None:
            alpha_init = np.delete(as_floats(alpha_init, "alpha_init"), held.rows, axis=0)
        dataset = learner.dataset(*taught, epochs=training.epochs, alpha_init=alpha_init)
        self._warn_of_columns(learner, taught[0])
        kept, rows = (None, None) if held is None else (held.X, held.rows)
        self._play(begun, training, dataset, lambda: learner.decisions(kept), _held=rows)
        self._keep_supports(taught[0], taught[1].which)
        return self

    partial_fit = available_if(_can_go_on)(ClassifierRunMixin.partial_fit)
    learn_one = available_if(_can_go_on)(ClassifierRunMixin.learn_one)

    def _check_examples(self, X: Any, reset: bool) -> Any:
        kernel, X = as_kernel(self.kernel), listed(X)
        if is_raw(self, X, reset):
            return X
        if not kernel.vectors and not kernel.pairwise:
            if (inspected(X).shape[0] if hasattr(X, "shape") else len(X)) == 0:
                raise ValueError("X has 0 examples; a minimum of 1 is required")
            return X
        named, sparse = kernel.vectors, "csr" if kernel.vectors else False
        how = {"cure": OTHER_KERNELS, "accept_sparse": sparse, "ensure_all_finite": not kernel.vectors}
        return check_rows(self, X, reset, named, **how)

    @property
    def support_vectors_(self) -> Any:
        """The examples that were learned from: as given to `fit`, else as the kernel prepared them.

        Raises AttributeError after `partial_fit`, `learn_one` or loading if the kernel compares several parts of an
        example.
        """
        learner = self._learned
        if hasattr(self, "_support_vectors"):
            return self._support_vectors
        supports = learner.learned().supports
        for name in ("array", "matrix", "items"):  # as prepared: float32, say
            if hasattr(supports, name):
                return getattr(supports, name)
        raise AttributeError("support_vectors_ of several parts are kept by fit only; see learner_.dual.supports")

    @property
    def alpha_counts_(self) -> NDArray[np.float64]:
        """The coefficients as counts: ``alpha_counts_ * y[support_]`` is `alpha_`, with y as ±1.

        The count is how often (times the step) each support was learned from. If equal examples have both labels, those
        with the other label are subtracted. For more than two classes, the absolute values of the coefficients.
        """
        alpha = self.alpha_
        return alpha * self._support_signs() if self.learner_.binary else np.abs(alpha)

    def _support_signs(self) -> NDArray[np.float64]:
        """y of each support as ±1: from `fit`, else from the first update that each one made."""
        if hasattr(self, "_signs"):
            return self._signs
        dual = self.learner_.learned()
        signs = np.where(dual.alpha[:, 0] < 0, -1.0, 1.0)  # within a budget, updates are not written down
        journal = dual.journals[0].to_arrays()
        slots, first = np.unique(journal["slot"], return_index=True)
        signs[slots] = np.sign(journal["step"][first])
        return signs

    def _keep_supports(self, X: Any, which: NDArray[np.int64]) -> None:
        """Keep the examples of `fit` that were learned from, and which class each has, as ±1."""
        dual = self.learner_.learned()
        ids = np.array(dual.ids, dtype=np.int64)
        self._signs = np.where(which[ids] == 1, 1.0, -1.0)
        if not isinstance(dual.supports, Trees):  # which are kept as they came, and copied however deep
            found = take(X, ids)
            self._support_vectors = [own_item(x) for x in found] if isinstance(found, list) else found

    def state(self) -> State:
        """Return the whole state, as plain values and arrays."""
        meta, arrays = super().state()
        return State(meta, arrays if self._held is None else {**arrays, "held_out": self._held})

    @classmethod
    def from_state(cls, state: State, functions: Any = None) -> Self:
        """Make an estimator from what `state` returned; raise ValueError if the parts do not fit together."""
        model = super().from_state(state, functions)
        if "held_out" in state.arrays:
            model._held = np.array(array_of(state.arrays, "held_out", np.int64, (None,)))
            if (np.diff(model._held, prepend=-1) <= 0).any():
                raise ValueError("held_out must be numbers of examples, in order")
        return model
