"""How an estimator with a kernel goes into a file: the kernel as it was asked for stands beside the parameters."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from perceptive.estimators.run import Learner, RunMixin
from perceptive.kernels import Kernel, as_kernel
from perceptive.kernels.storage import kernel_from_plain, kernel_to_plain
from perceptive.parameters import TrainingParameters
from perceptive.state import Arrays, State


class KernelStateMixin(RunMixin[Learner]):
    """The state of an estimator with a parameter ``kernel``, of which its learner gets a copy."""

    kernel: Any

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
