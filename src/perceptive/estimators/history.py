"""The history of a run, which every estimator has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from perceptive.estimators.data import row_of
from perceptive.explanation import Explanation, explain
from perceptive.training.loop import History


def _of_history(name: str, doc: str, dtype: Any = None) -> Any:
    """A property of fitted estimators: what their history tells, as an array where it has a ``dtype``."""

    def told(self: Any) -> Any:
        check_is_fitted(self)
        value = getattr(self._history, name)
        return value if dtype is None else np.array(value, dtype)

    return property(told, doc=doc)


class HistoryMixin:
    """The history of a run as attributes with scikit-learn's names, and `explain`."""

    learner_: Any
    _history: History

    n_iter_: int = _of_history("epochs", "Epochs played.")
    mistakes_: NDArray[np.int64] = _of_history("mistakes", "Mistakes per epoch.", np.int64)
    updates_: NDArray[np.int64] = _of_history("updates", "Updates per epoch.", np.int64)
    loss_: NDArray[np.float64] = _of_history("loss", "Perceptron criterion of the mistakes, per epoch.", np.float64)
    held_out_: NDArray[np.float64] = _of_history("held_out", "Score on the held-out part, per epoch.", np.float64)
    converged_: bool = _of_history("converged", "Whether an epoch went by without a mistake or an update.")

    @property
    def history_(self) -> list[dict[str, Any]]:
        """What happened, epoch by epoch; with shards also where the seconds went.

        ``computing``: shards played, over all threads or workers; ``waiting``: threads had nothing to do (on a cluster
        0); ``mixing``: shards were added up; ``transferring``: on a cluster all other time, also that of waiting.
        """
        check_is_fitted(self)
        history, told = self._history, []
        for i, counts in enumerate(zip(history.mistakes, history.updates, history.loss, strict=True)):
            epoch: dict[str, Any] = dict(zip(("mistakes", "updates", "loss"), counts, strict=True))
            if i < len(history.held_out):
                epoch["held_out"] = history.held_out[i]
            told.append(epoch | (history.seconds[i] if i < len(history.seconds) else {}))
        return told

    @property
    def rounds_(self) -> int:
        """Examples played, over all epochs and problems."""
        check_is_fitted(self)
        rounds: int = self.learner_.rounds
        return rounds

    def explain(
        self, x: Any, *, label: Any = None, top: int | None = None, hypothesis: str | None = None
    ) -> Explanation | list[Explanation]:
        """Explain the prediction for one example: its features, or supports, and what each adds to the score.

        Parameters
        ----------
        x : an example
            For a tagger, a sentence: each token has an explanation. For a ranker, a candidate.
        label : label or None
            Explain the score of this class instead of the predicted one; not for sentences.
        top : int or None
            How many features are listed; the others are summed as ``rest``.
        hypothesis : str or None
            Use this hypothesis instead of the model's own.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        x = x if names is None else row_of(self, x, self.learner_)
        told: Explanation | list[Explanation] = explain(
            self.learner_, x, label=label, top=top, hypothesis=hypothesis, names=names
        )
        return told
