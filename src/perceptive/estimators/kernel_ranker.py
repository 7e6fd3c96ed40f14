"""`KernelRanker`: the ranking learner in the dual as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from perceptive.certificate import Certificate
from perceptive.dual_certificate import certify_kernel_lists
from perceptive.estimators.lists import RankerMixin
from perceptive.kernels import Kernel, as_kernel
from perceptive.learners.kernel_ranking import KernelLists, KernelRankingLearner
from perceptive.parameters import KernelRankingParameters, TrainingParameters

LEARNER = [f.name for f in fields(KernelRankingParameters)]
TRAINING = [f.name for f in fields(TrainingParameters)]


class KernelRanker(RankerMixin, BaseEstimator):
    """Mistake-driven kernel ranker: picks the best of a list of vectors, strings, trees, or whatever a kernel compares.

    The score of x is Σ α_ij (K(x_iℓ, x) − K(x_ij, x)) over the pairs that were learned from.

    Parameters
    ----------
    kernel : Kernel, str or callable
        From `perceptive.kernels`, its text ("gaussian", "poly(4)", …), a function of two candidates, or "precomputed":
        then `fit` takes the Gram matrix of all candidates, those of a list side by side.
    rule : {"perceptron", "pa", "pa1", "pa2", "mira"}
        When and how far to move on a list.
    learning_rate : float
        η of the perceptron.
    margin : float
        β: the perceptron also updates where the best leads by β or less.
    C : float
        Aggressiveness of pa1 and pa2.
    pairs : {"best", "worst", "all"}
        Learn from the best candidate against the best of the rest; from the pair that is most in the wrong order; or
        from the mean of all pairs that are.
    cost : {None, "grade", "position"}
        How much a pair counts; as in `LinearRanker`.
    hypothesis : {"averaged", "last", "best", "voted", "random"}
        What of v₀, v₁, … predicts; every one is at hand after one run.
    delta : float
        Δ-trick: an id feature for each list.
    cache_size : float
        Megabytes for kernel values of strings, trees and functions that later passes use again.
    dtype : {"float32", "float64"}
        Of the kernel values.
    random_state : int
        Seed of the shuffling and of the random hypothesis.
    epochs : int
        Passes at most; a pass without an update ends the training.
    shuffle : bool
        Play each pass in a new random order of the lists.
    validation_fraction : float
        Part of the lists held out for early stopping; 0 for none.
    patience : int
        Passes without a better held-out score before stopping.
    progress : bool
        Show a progress bar where training takes longer than a second.
    certify : bool
        Make ``certificate_`` at the end of `fit`.

    Attributes
    ----------
    support_ : array of int
        Which candidates were learned from (numbered as they came), in the order of their first mistake.
    alpha_ : array
        Their signed coefficients in the last vector.
    kernel_ : Kernel
        The kernel as it was used, "scale" replaced by a number.
    n_iter_, mistakes_, updates_, loss_, converged_, rounds_, held_out_
        Of the run, as in `LinearRanker`.
    certificate_ : Certificate
        With ``certify=True``.
    learner_ : KernelRankingLearner
        The learner itself.

    Examples
    --------
    Of several parses, the one that hangs the phrase on the verb:

    >>> from perceptive import KernelRanker
    >>> from perceptive.kernels import SubsetTree
    >>> def parses(verb, noun):
    ...     high = f"(S (VP (V {verb}) (NP {noun}) (PP with it)))"
    ...     return [f"(S (VP (V {verb}) (NP (NP {noun}) (PP with it))))", high]
    >>> ranker = KernelRanker(kernel=SubsetTree(0.5)).fit([parses("eat", "soup"), parses("see", "stars")], [1, 1])
    >>> ranker.predict([parses("cut", "bread")]).tolist()
    [1]
    """

    def __init__(
        self,
        *,
        kernel: Any = "gaussian",
        rule: str = "perceptron",
        learning_rate: float = 1.0,
        margin: float = 0.0,
        C: float = 1.0,
        pairs: str = "best",
        cost: str | None = None,
        hypothesis: str = "averaged",
        delta: float = 0.0,
        cache_size: float = 200.0,
        dtype: str = "float32",
        random_state: int = 0,
        epochs: int = 10,
        shuffle: bool = True,
        validation_fraction: float = 0.0,
        patience: int = 3,
        progress: bool = False,
        certify: bool = False,
    ) -> None:
        self.kernel = kernel
        self.rule = rule
        self.learning_rate = learning_rate
        self.margin = margin
        self.C = C
        self.pairs = pairs
        self.cost = cost
        self.hypothesis = hypothesis
        self.delta = delta
        self.cache_size = cache_size
        self.dtype = dtype
        self.random_state = random_state
        self.epochs = epochs
        self.shuffle = shuffle
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.progress = progress
        self.certify = certify

    learner_: KernelRankingLearner

    @property
    def _any_kind(self) -> bool:
        kernel = as_kernel(self.kernel)
        return not (kernel.vectors or kernel.pairwise)

    @property
    def _one_set(self) -> bool:
        return as_kernel(self.kernel).pairwise

    def _new_learner(self, parameters: dict[str, Any]) -> KernelRankingLearner:
        return KernelRankingLearner(**parameters)

    def _check_parameters(self) -> tuple[dict[str, Any], TrainingParameters]:
        learner = {name: getattr(self, name) for name in LEARNER}
        if isinstance(self.kernel, Kernel):
            learner["kernel"] = clone(self.kernel)
        KernelRankingParameters(**learner)
        return learner, TrainingParameters(**{name: getattr(self, name) for name in TRAINING})

    def _prepare(
        self, learner: KernelRankingLearner, X: Any, grades: Any, sizes: Any, weights: Any, several: bool
    ) -> KernelLists:
        return learner.prepare(X, grades, sizes, weights, several=several)

    def _certify(self, X: Any, grades: Any, sizes: Any, weights: Any) -> Certificate:
        return certify_kernel_lists(self.learner_, self.learner_.lesson(X, grades, sizes, weights))

    @property
    def kernel_(self) -> Kernel:
        """The kernel as it was used."""
        check_is_fitted(self)
        return self.learner_.kernel

    @property
    def support_(self) -> NDArray[np.int64]:
        """Which candidates were learned from, in the order of their first mistake."""
        check_is_fitted(self)
        return np.array([] if self.learner_.dual is None else self.learner_.dual.ids, dtype=np.int64)

    @property
    def alpha_(self) -> NDArray[np.float64]:
        """Signed coefficients of the supports in the last vector."""
        check_is_fitted(self)
        assert self.learner_.dual is not None
        return self.learner_.dual.alpha[:, 0].copy()
