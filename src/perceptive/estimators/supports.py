"""What kernel estimators share: their supports, and how the kernel is saved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from perceptive.estimators.run import Learner, RunMixin
from perceptive.kernels import Kernel, as_kernel
from perceptive.kernels.storage import kernel_from_plain, kernel_to_plain
from perceptive.parameters import TrainingParameters
from perceptive.state import Arrays, State


class KernelMixin(RunMixin[Learner]):
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
