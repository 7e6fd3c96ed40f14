"""`LinearRanker`: the ranking learner as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from perceptive.estimators.lists import RankerMixin
from perceptive.estimators.run import PruneMixin
from perceptive.estimators.signature import with_parameters
from perceptive.learners.ranking import RankingLearner
from perceptive.parameter_groups import CertifyGroup, RankingGroup, TrainingGroup
from perceptive.parameters import RankingParameters


@with_parameters
class LinearRanker(
    RankingGroup, TrainingGroup, CertifyGroup, PruneMixin[RankingLearner], RankerMixin[RankingLearner], BaseEstimator
):
    """Mistake-driven linear ranker: picks the best of a list, or orders it; averaged, voted, last or best.

    {parameters}

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Of ``hypothesis``. Voted has no single vector, so it has none.
    {run}

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

    _learner = RankingLearner
    _parameters = RankingParameters

    @property
    def coef_(self) -> NDArray[Any]:
        """The weights."""
        weights: NDArray[Any] = self._of_vector(lambda learner, hypothesis: learner.vector.vector(hypothesis))[0][:, 0]
        return weights
