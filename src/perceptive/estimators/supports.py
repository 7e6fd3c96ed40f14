"""What kernel estimators share: their supports, and how the kernel goes into a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from perceptive.estimators.data import take
from perceptive.estimators.run import Learner, RunMixin
from perceptive.kernels import Kernel, as_kernel
from perceptive.kernels.examples import own_item
from perceptive.kernels.storage import kernel_from_plain, kernel_to_plain
from perceptive.kernels.trees import Trees
from perceptive.parameters import TrainingParameters
from perceptive.state import Arrays, State


class KernelMixin(RunMixin[Learner]):
    """The supports of the learner and their coefficients, and the state of an estimator with a parameter ``kernel``.

    The learner gets a copy of the kernel; in a file, the kernel as it was asked for stands beside the parameters.
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

    # ------------------------------------------------------------ supports

    @property
    def kernel_(self) -> Kernel:
        """The kernel as it was used."""
        kernel: Kernel = self._learned.kernel
        return kernel

    @property
    def support_(self) -> NDArray[np.int64]:
        """Which examples were learned from (numbered as they came), in the order of their first mistake."""
        dual, held = self._learned.dual, self._held
        ids = np.array([] if dual is None else dual.ids, dtype=np.int64)
        if held is None or len(ids) == 0:
            return ids
        return np.setdiff1d(np.arange(ids.max() + 1 + len(held)), held)[ids]  # the learner has not seen those

    @property
    def alpha_(self) -> NDArray[np.float64]:
        """Signed coefficients of the supports in the last vector; for more than two classes one per class."""
        dual = self._learned.learned()
        alpha: NDArray[np.float64] = dual.alpha.copy()
        return alpha[:, 0] if dual.task == "binary" else alpha


class SupportVectorsMixin(KernelMixin[Learner]):
    """The same of a classifier, which keeps the examples of `fit` that were learned from."""

    _support_vectors: Any
    _signs: NDArray[np.float64]

    @property
    def support_vectors_(self) -> Any:
        """The examples that were learned from: those of `fit`, else as the kernel prepared them.

        AttributeError after `partial_fit`, `learn_one` and loading where the kernel sees several parts of an example.
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
