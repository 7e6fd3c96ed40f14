"""The learner L of the notes for ranking in the dual: a kernel compares candidates with those of its mistakes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from perceptive.data.dataset import Problem
from perceptive.data.fingerprint import hash_examples
from perceptive.data.lists import candidates, check_grades, objects, starts_of
from perceptive.data.sample_weights import check_weights
from perceptive.kernels import Kernel
from perceptive.kernels.storage import kernel_from_plain
from perceptive.learners.dual import Dual
from perceptive.learners.dual_learner import DualLearner
from perceptive.learners.kernel_lists import KernelLists, list_votes
from perceptive.learners.kernel_values import Floats, check_norms
from perceptive.learners.learner import at_one_moment
from perceptive.learners.ranking import ListLearner
from perceptive.named_functions import Functions
from perceptive.parameters import KernelRankingParameters
from perceptive.state import State


class KernelRankingLearner(DualLearner, ListLearner):
    """An online learner that picks the best of a list of anything that a kernel compares.

    v = Σ α_s φ(x_s) over the candidates s that were learned from. In a pair, the α of the better one rises as much as
    that of the worse one falls. A list with one candidate, or with equally good candidates, is not a round.

    Parameters
    ----------
    **parameters
        See `perceptive.parameters.KernelRankingParameters`. The default hypothesis is ``"last"``.

    Examples
    --------
    Here, candidates are words.

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
        """Whether candidates are arbitrary objects, not rows of numbers."""
        return not (self.kernel.vectors or self.kernel.pairwise)

    def candidates(self, xs: Any) -> Any:
        """Return one list: rows if the kernel compares vectors, else objects."""
        return objects(xs) if self.takes_objects else self.as_rows(candidates(xs))

    def _new_dual(self, kernel: Kernel) -> Dual:
        return Dual(kernel, "binary", 1, self.parameters)

    # ------------------------------------------------------------ learning

    def dataset(
        self, X: Any, y: Any, weights: Any = None, *, sizes: Any = None, epochs: int | None = None, grow: bool = True
    ) -> KernelLists:
        """Check lists and prepare them for learning; see `ListLearner.dataset`."""
        X, y, sizes = self._lists(X, y, sizes)
        with self.reading(X, grow) as rows, self.settling(y, sizes, grow):
            kernel, examples = self.prepared(rows, grow)
            n = len(examples)
            starts = starts_of(sizes, n)
            checked = check_weights(weights, len(starts) - 1, self.parameters.rule, "list")
            check_norms(kernel.norms(examples), kernel, "candidate")
            grades, hashes = check_grades(y, n), hash_examples(rows)
            if not grow:
                return KernelLists(self, examples, starts, grades, checked, hashes)
            before, dual = (self.kernel, self.dual, self.n_features), self._dual_or_start(kernel)
            self.take(kernel, dual, rows)
            return KernelLists(self, examples, starts, grades, checked, hashes, dual, epochs, before)

    # ------------------------------------------------------------ predicting

    @at_one_moment
    def scores(self, X: Any, sizes: Any = None, hypothesis: str | None = None) -> Floats:
        """Return Σ α_s K(x_s, x); for ``voted`` the share of the votes in the list (``sizes=None``: one list)."""
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
        """Return the sequence v₀, v₁, … of the theorems."""
        p = self.parameters
        facts = {"certified": p.cost is None, "mean_of_pairs": p.pairs == "all"}
        return [replace(problem, **facts) for problem in super().problems(witness)]

    @classmethod
    def from_state(cls, state: State, functions: Functions | None = None) -> Self:
        """Make a learner from what `state` returned; raise ValueError if the parts do not fit together."""
        kernel = kernel_from_plain(state.meta["kernel"], state.arrays, functions or {})
        learner = cls(kernel=kernel, **state.meta["parameters"])
        learner._read_state(state, "binary", 1)
        return learner
