"""`LinearRanker`: the ranking learner as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from perceptive.certificate import Certificate, certify_lists
from perceptive.estimators.lists import RankerMixin
from perceptive.learners.linear import as_floats
from perceptive.learners.ranking import RankingLearner, RankingLesson
from perceptive.parameters import RankingParameters, TrainingParameters

LEARNER = [f.name for f in fields(RankingParameters)]
TRAINING = [f.name for f in fields(TrainingParameters)]


class LinearRanker(RankerMixin, BaseEstimator):
    """Mistake-driven linear ranker: picks the best of a list, or orders it; averaged, voted, last or best.

    Parameters
    ----------
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
        How much a pair counts: all alike, by the difference of the grades, or of the discounts 1/log₂(place + 1) of the
        places that the grades have in the right order. A margin for rules with a hinge, a factor for the perceptron.
    hypothesis : {"averaged", "last", "best", "voted", "random"}
        What of v₀, v₁, … predicts. ``voted``: every v_k votes for the candidate that it finds best.
    keep : {None, "all"}
        "all" keeps the journal of updates, so that every hypothesis is at hand after one run.
    max_voters : int or None
        How many of the longest survivors the journal keeps.
    average : {"examples", "mistakes"}
        Mean over the lists, or of v₀ … v_K.
    normalize : bool
        Scale candidates to unit length.
    delta : float
        Δ-trick: an id feature for each list.
    dtype : {"float32", "float64"}
        Of the weights.
    n_features : int or None
        Number of features, if known before the data.
    bits : int or None
        Hash the names of dicts into 2^bits columns, instead of giving each name a column of its own.
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
    coef_ : array of shape (n_features,)
        Under ``hypothesis`` (not for voted, which has no single vector).
    n_iter_ : int
        Passes played.
    mistakes_, updates_, loss_ : arrays
        Per pass of `fit` or call of `partial_fit`.
    rounds_ : int
        Lists played, over all passes; lists in which nobody is better than another are no rounds.
    converged_ : bool
        Whether a pass went by without a mistake or an update.
    held_out_ : array
        Share of the held-out lists whose best is on top, per pass.
    certificate_ : Certificate
        With ``certify=True``.
    learner_ : RankingLearner
        The learner itself.

    Examples
    --------
    Lists of candidates with the index of the best:

    >>> from perceptive import LinearRanker
    >>> lists = [[[3, 1], [1, 2], [2, 2]], [[0, 4], [5, 5]], [[1, 0]]]
    >>> ranker = LinearRanker().fit(lists, [0, 1, 0])
    >>> ranker.predict([[[0, 1], [4, 1], [1, 9]]]).tolist(), ranker.rank([[0, 1], [4, 1]])[0][0]
    ([1], 1)

    Rows with a query and a grade each:

    >>> X, y, qid = [[3, 1], [1, 2], [2, 2], [0, 4], [5, 5]], [2, 0, 1, 0, 1], [7, 7, 7, 9, 9]
    >>> LinearRanker(pairs="all").fit(X, y, qid=qid).score(X, y, qid=qid)
    1.0
    """

    def __init__(
        self,
        *,
        rule: str = "perceptron",
        learning_rate: float = 1.0,
        margin: float = 0.0,
        C: float = 1.0,
        pairs: str = "best",
        cost: str | None = None,
        hypothesis: str = "averaged",
        keep: str | None = None,
        max_voters: int | None = None,
        average: str = "examples",
        normalize: bool = False,
        delta: float = 0.0,
        dtype: str = "float32",
        n_features: int | None = None,
        bits: int | None = None,
        random_state: int = 0,
        epochs: int = 10,
        shuffle: bool = True,
        validation_fraction: float = 0.0,
        patience: int = 3,
        progress: bool = False,
        certify: bool = False,
    ) -> None:
        self.rule = rule
        self.learning_rate = learning_rate
        self.margin = margin
        self.C = C
        self.pairs = pairs
        self.cost = cost
        self.hypothesis = hypothesis
        self.keep = keep
        self.max_voters = max_voters
        self.average = average
        self.normalize = normalize
        self.delta = delta
        self.dtype = dtype
        self.n_features = n_features
        self.bits = bits
        self.random_state = random_state
        self.epochs = epochs
        self.shuffle = shuffle
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.progress = progress
        self.certify = certify

    learner_: RankingLearner

    def _new_learner(self, parameters: dict[str, Any]) -> RankingLearner:
        return RankingLearner(**parameters)

    def _check_parameters(self) -> tuple[dict[str, Any], TrainingParameters]:
        learner = {name: getattr(self, name) for name in LEARNER}
        RankingParameters(**learner)
        return learner, TrainingParameters(**{name: getattr(self, name) for name in TRAINING})

    def _prepare(
        self, learner: RankingLearner, X: Any, grades: Any, sizes: Any, weights: Any, several: bool
    ) -> RankingLesson:
        return learner.prepare(X, grades, sizes, weights)

    @property
    def coef_(self) -> NDArray[Any]:
        """The weights."""
        check_is_fitted(self)
        hypothesis = self.learner_.parameters.hypothesis
        if hypothesis == "voted":
            raise AttributeError("a voted model has no single weight vector; use learner_, or another hypothesis")
        assert self.learner_.problem is not None
        weights: NDArray[Any] = self.learner_.problem.vector(hypothesis)[0][:, 0]
        return weights

    # ------------------------------------------------------------ the run

    def certificate(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        witness: ArrayLike | None = None,
    ) -> Certificate:
        """What the theorem allows this run: see `Certificate`. Data other than trained on makes it hypothetical."""
        check_is_fitted(self)
        return self._certify(*self._lists(X, y, qid), sample_weight, witness)

    def _certify(self, X: Any, grades: Any, sizes: Any, weights: Any, witness: ArrayLike | None = None) -> Certificate:
        weights = None if weights is None else as_floats(weights, "sample_weight")
        return certify_lists(self.learner_, [self.learner_.lesson(X, grades, sizes, weights)], witness=witness)
