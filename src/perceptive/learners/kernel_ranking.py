"""The notes' L for ranking in the dual: it remembers the candidates it was wrong about, and a kernel compares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from perceptive.data.dataset import Problem
from perceptive.data.fingerprint import hash_examples
from perceptive.data.lists import candidates, check_grades, objects, starts_of
from perceptive.data.sample_weights import check_weights
from perceptive.kernels import Kernel
from perceptive.kernels.storage import Functions, kernel_from_plain
from perceptive.learners.dual import Dual
from perceptive.learners.dual_journal import Floats
from perceptive.learners.dual_learner import DualLearner
from perceptive.learners.kernel_lists import KernelLists, list_votes
from perceptive.learners.list_learner import ListLearner
from perceptive.parameters import KernelRankingParameters
from perceptive.state import State


class KernelRankingLearner(DualLearner, ListLearner):
    """An on-line learner that picks the best of a list of anything that a kernel compares.

    v = Σ α_s φ(x_s) over the candidates s that were learned from; in a pair the better one's α rises by as much as the
    worse one's falls. A list with one candidate, or whose candidates are all equally good, is no round.

    Parameters
    ----------
    **parameters
        See `perceptive.parameters.KernelRankingParameters`. The hypothesis is ``"last"`` unless another one is given.

    Examples
    --------
    Candidates are words here.

    >>> from perceptive.kernels import Spectrum
    >>> from perceptive.learners import KernelRankingLearner
    >>> L = KernelRankingLearner(kernel=Spectrum(2))
    >>> L.learn(["sing", "sand", "sink"], best=1), L.learn(["ring", "band", "rink"], best=1)
    (True, False)
    >>> L.find_best(["king", "hand"])
    1
    """

    def __init__(self, **parameters: Any) -> None:
        super().__init__(KernelRankingParameters.of_learner(parameters))

    @property
    def takes_objects(self) -> bool:
        """Whether candidates are any objects, and not rows of numbers."""
        return not (self.kernel.vectors or self.kernel.pairwise)

    def candidates(self, xs: Any) -> Any:
        """One list: rows where the kernel is of vectors, else objects."""
        return objects(xs) if self.takes_objects else self.as_rows(candidates(xs))

    def _new_dual(self, kernel: Kernel) -> Dual:
        return Dual(kernel, "binary", 1, self.parameters)

    # ------------------------------------------------------------ learning

    def dataset(
        self, X: Any, y: Any, weights: Any = None, *, sizes: Any = None, epochs: int | None = None, grow: bool = True
    ) -> KernelLists:
        """Check lists and make them ready to be learned from; see `ListLearner.dataset`."""
        X, y, sizes = self._lists(X, y, sizes)
        columns = self.space.columns_of(X) if grow else []
        X = self.read_raw(X, grow)
        with self.lock.learning() if grow else self.lock.shared(), self.settling(y, sizes, grow):
            dataset = self._dataset(X, y, weights, sizes, epochs, grow)
            self.space.remember(None, columns)
            return dataset

    def _dataset(self, X: Any, y: Any, weights: Any, sizes: Any, epochs: int | None, grow: bool) -> KernelLists:
        kernel, examples = self.prepared(X, grow)
        n = len(examples)
        starts = starts_of(sizes, n)
        checked = check_weights(weights, len(starts) - 1, self.parameters.rule, "list")
        norms = kernel.norms(examples)
        good = np.isfinite(norms) & ((norms >= 0) | kernel.one_way)
        if not good.all():
            i = int(np.argmin(good))
            raise ValueError(f"K(x, x) of candidate {i} is {norms[i]:g}; a kernel gives finite numbers ≥ 0 there")
        grades, hashes = check_grades(y, n), hash_examples(X)
        if not grow:
            return KernelLists(self, examples, starts, grades, checked, hashes)
        before = self.kernel, self.dual, self.n_features
        dual = self._dual_or_start(kernel)
        n_features = self.check_features(X)
        with self.lock.changing():
            self.kernel, self.dual, self.n_features = kernel, dual, n_features
        return KernelLists(self, examples, starts, grades, checked, hashes, self.dual, epochs, before)

    # ------------------------------------------------------------ predicting

    def scores(self, X: Any, sizes: Any = None, hypothesis: str | None = None) -> Floats:
        """Σ α_s K(x_s, x); under ``voted`` the share of the votes in the list (``sizes``: one list)."""
        return self.asked(lambda: self._scores(X, sizes, hypothesis))

    def _scores(self, X: Any, sizes: Any, hypothesis: str | None) -> Floats:
        dual, X = self._dual_or_start(self.kernel).predictor(), self.read_raw(X)
        self.check_features(X)
        prepared = self.as_predicted(X, dual)
        starts = starts_of([len(prepared)] if sizes is None else sizes, len(prepared))
        hypothesis = hypothesis or self.parameters.hypothesis
        dual.check_hypothesis(hypothesis)
        if hypothesis == "voted":
            return list_votes(dual, prepared, starts) / max(1, dual.rounds)
        return dual.scores(prepared, hypothesis)[:, 0]

    # ------------------------------------------------------------ theorems and files

    def problems(self, witness: Any = None) -> list[Problem]:
        """The sequence v₀, v₁, … as theorems see it."""
        p = self.parameters
        facts = {"certified": p.cost is None, "mean_of_pairs": p.pairs == "all"}
        return [replace(problem, **facts) for problem in super().problems(witness)]

    def state(self) -> State:
        """The whole state, as plain values and arrays."""
        with self.lock.exclusive():
            return self._state()

    @classmethod
    def from_state(cls, state: State, functions: Functions | None = None) -> Self:
        """What `state` gave; raises ValueError where the parts do not fit together."""
        kernel = kernel_from_plain(state.meta["kernel"], state.arrays, functions or {})
        learner = cls(kernel=kernel, **state.meta["parameters"])
        learner._read_state(state, "binary", 1)
        return learner
