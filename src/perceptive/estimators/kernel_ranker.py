"""`KernelRanker`: the ranking learner in the dual as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from sklearn.base import BaseEstimator

from perceptive.estimators.kernel import KernelMixin
from perceptive.estimators.ranker import RankerMixin
from perceptive.estimators.signature import with_parameters
from perceptive.kernels import as_kernel
from perceptive.kernels.storage import Functions
from perceptive.learners.kernel_ranking import KernelRankingLearner
from perceptive.parameter_groups import CertifyGroup, DualRankingGroup, TrainingGroup
from perceptive.parameters import KernelRankingParameters
from perceptive.state import State


@with_parameters
class KernelRanker(
    DualRankingGroup,
    TrainingGroup,
    CertifyGroup,
    KernelMixin[KernelRankingLearner],
    RankerMixin[KernelRankingLearner],
    BaseEstimator,
):
    """Mistake-driven kernel ranker: picks the best of a list of vectors, strings, trees, or whatever a kernel compares.

    The score of x is Σ α_ij (K(x_iℓ, x) − K(x_ij, x)) over the pairs that were learned from.

    {parameters}

    Attributes
    ----------
    support_ : array of int
        The candidates that were learned from (numbered in the order seen), in the order of their first mistake.
    alpha_ : array
        Their signed coefficients in the last vector.
    kernel_ : Kernel
        The kernel that was used, with "scale" replaced by a number.
    {run}

    Examples
    --------
    Choose, among several parses, the one that attaches the phrase to the verb:

    >>> from perceptive import KernelRanker
    >>> from perceptive.kernels import SubsetTree
    >>> def parses(verb, noun):
    ...     high = f"(S (VP (V {verb}) (NP {noun}) (PP with it)))"
    ...     return [f"(S (VP (V {verb}) (NP (NP {noun}) (PP with it))))", high]
    >>> ranker = KernelRanker(kernel=SubsetTree(0.5)).fit([parses("eat", "soup"), parses("see", "stars")], [1, 1])
    >>> ranker.predict([parses("cut", "bread")]).tolist()
    [1]
    """

    _learner = KernelRankingLearner
    _parameters = KernelRankingParameters

    @property
    def _any_kind(self) -> bool:
        kernel = as_kernel(self.kernel)
        return not (kernel.vectors or kernel.pairwise)

    @property
    def _one_set(self) -> bool:
        return as_kernel(self.kernel).pairwise

    @classmethod
    def from_state(cls, state: State, functions: Functions | None = None) -> Self:
        """Make an estimator from what `state` returned; raise ValueError if the parts do not fit together."""
        model = super().from_state(state, functions)
        learner = model.learner_
        learner.parameters = replace(learner.parameters, kernel=model.kernel)  # as it was asked for
        return model
