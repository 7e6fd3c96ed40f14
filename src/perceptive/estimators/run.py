"""What every estimator tells of its run."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from perceptive.training import History

Fit = TypeVar("Fit", bound=Callable[..., Any])


def nothing_half_learned(fit: Fit) -> Fit:
    """Let an estimator be what it was where `fit` raises; what Ctrl-C or a timeout breaks off is kept."""

    @wraps(fit)
    def fit_or_not(self: Any, *arguments: Any, **options: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return fit(self, *arguments, **options)
        except TimeoutError:
            raise
        except Exception:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return fit_or_not  # type: ignore[return-value]


class RunMixin:
    """The history of the passes as attributes, as scikit-learn names them."""

    learner_: Any
    _history: History

    @property
    def n_iter_(self) -> int:
        """Passes played."""
        check_is_fitted(self)
        return self._history.epochs

    @property
    def mistakes_(self) -> NDArray[np.int64]:
        """Mistakes per pass."""
        check_is_fitted(self)
        return np.array(self._history.mistakes, dtype=np.int64)

    @property
    def updates_(self) -> NDArray[np.int64]:
        """Updates per pass."""
        check_is_fitted(self)
        return np.array(self._history.updates, dtype=np.int64)

    @property
    def loss_(self) -> NDArray[np.float64]:
        """Perceptron criterion of the mistakes as they happened, per pass."""
        check_is_fitted(self)
        return np.array(self._history.loss)

    @property
    def held_out_(self) -> NDArray[np.float64]:
        """Score on the validation part, per pass."""
        check_is_fitted(self)
        return np.array(self._history.held_out)

    @property
    def converged_(self) -> bool:
        """Whether a pass went by without a mistake or an update."""
        check_is_fitted(self)
        return self._history.converged

    @property
    def rounds_(self) -> int:
        """Examples played, over all passes and problems."""
        check_is_fitted(self)
        rounds: int = self.learner_.rounds
        return rounds
