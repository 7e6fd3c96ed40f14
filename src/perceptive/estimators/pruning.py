"""`PruneMixin`: estimators whose weights can be made fewer and shorter."""

from __future__ import annotations

from typing import Self

from sklearn.utils.validation import check_is_fitted


class PruneMixin:
    """An estimator whose learner can be pruned."""

    def prune(self, threshold: float = 0.0, precision: str | None = None) -> Self:
        """Keep only the vector that predicts, and of it only the weights above a threshold in absolute value.

        Learning may go on from there; the average begins anew. A model that keeps every update (``keep="all"``, best,
        voted, random) cannot be pruned.

        Parameters
        ----------
        threshold : float
        precision : "float16", "int8" or None
            What the weights are rounded to, in classifiers and rankers: a file then holds each in two bytes, or one.

        Examples
        --------
        >>> from perceptive import LinearClassifier
        >>> clf = LinearClassifier(epochs=5).fit([[2, 0.01], [-1, 0.02]], ["a", "b"])
        >>> clf.prune(0.1).coef_.round(2).tolist()
        [[-2.0, 0.0]]
        """
        check_is_fitted(self, "learner_")
        vars(self)["learner_"].prune(threshold, precision=precision)
        vars(self).pop("certificate_", None)
        return self
