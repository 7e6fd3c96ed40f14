"""Runs of a classifier: errors of the hypotheses over the epochs, survivals, and updates under their certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptive.certificates import Certificate
from perceptive.plots.pyplot import FAINT, Display, V

Floats = NDArray[np.float64]
HYPOTHESES = ("last", "averaged", "voted", "best", "random")
STYLES = dict(zip(HYPOTHESES, ("-", "--", "-.", ":", (0, (1, 3))), strict=True))


@dataclass(eq=False, repr=False)
class HypothesesDisplay(Display):
    """Test error against epochs, for every hypothesis of one run (Freund & Schapire 1999, the figure with d = 1).

    Parameters
    ----------
    epochs : array
        Where the errors were measured, including fractions of the first epoch.
    errors : dict
        Maps hypotheses to their errors there.
    """

    epochs: Floats
    errors: dict[str, Floats]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        X_test: Any,
        y_test: Any,
        *,
        epochs: int = 5,
        parts: int = 5,
        ax: Any = None,
    ) -> HypothesesDisplay:
        """Train a copy of a linear or kernel classifier once, and test it during training.

        Parameters
        ----------
        estimator : LinearClassifier or KernelClassifier
            The classifier; the copy keeps every update.
        X, y, X_test, y_test : arrays
        epochs : int
        parts : int
            How often to test in each epoch.
        ax : matplotlib axes or None

        Examples
        --------
        >>> from perceptive import LinearClassifier
        >>> from perceptive.games import noisy_game
        >>> from perceptive.plots import HypothesesDisplay
        >>> X, y, _ = noisy_game(300, 5, margin=0.1, radius=1, noise=0.1)
        >>> display = HypothesesDisplay.from_estimator(LinearClassifier(), X[:200], y[:200], X[200:], y[200:], epochs=2)
        >>> len(display.epochs), bool(display.errors["averaged"][-1] <= display.errors["last"][-1])
        (10, True)
        """
        from sklearn.base import clone

        if epochs < 1 or parts < 1:
            raise ValueError(f"epochs={epochs}, parts={parts}: give at least one of each")
        X, y, truth = np.asarray(X), np.asarray(y), np.asarray(y_test)
        model = clone(estimator).set_params(keep="all")
        rng = np.random.default_rng(model.random_state)
        at: list[float] = []
        errors: dict[str, list[float]] = {name: [] for name in HYPOTHESES}
        for epoch in range(epochs):
            for part, rows in enumerate(np.array_split(rng.permutation(len(y)), parts), 1):
                model.partial_fit(X[rows], y[rows], classes=np.unique(y))
                at.append(epoch + part / parts)
                for name in HYPOTHESES:
                    errors[name].append(float(np.mean(model.predict(X_test, hypothesis=name) != truth)))
        return cls(np.array(at), {name: np.array(values) for name, values in errors.items()}).plot(ax)

    def _draw(self, ax: Any) -> None:
        for name, values in self.errors.items():
            ax.plot(self.epochs, 100 * values, linestyle=STYLES[name], label=name)
        ax.set(xlabel="epochs", ylabel="test error, %")
        ax.legend(frameon=False)


@dataclass(eq=False, repr=False)
class SurvivalDisplay(Display):
    """How many examples each v_k predicted, including the one it got wrong.

    Parameters
    ----------
    survivals : array of int
        m_0, m_1, …
    """

    survivals: NDArray[np.int64]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> SurvivalDisplay:
        """Draw the survivals of a linear classifier of two classes, fitted with ``keep="all"``.

        Examples
        --------
        >>> from perceptive import LinearClassifier
        >>> from perceptive.games import hard_game
        >>> from perceptive.plots import SurvivalDisplay
        >>> X, y, _ = hard_game(4)
        >>> model = LinearClassifier(keep="all", epochs=2, bias=0.0, shuffle=False).fit(X, y)
        >>> SurvivalDisplay.from_estimator(model).survivals.tolist()
        [1, 1, 1, 1, 4]
        """
        vectors = list(getattr(estimator.learner_, "vectors", {}).values())
        if len(vectors) != 1:
            raise ValueError(
                "survivals are of one sequence v_0, v_1, …: fit a linear classifier of two classes, or joint"
            )
        return cls(vectors[0].survivals()).plot(ax)

    def _draw(self, ax: Any) -> None:
        ax.bar(np.arange(len(self.survivals)), self.survivals, width=1.0, color=V)
        ax.set(xlabel="k", ylabel="$m_k$", title=f"{len(self.survivals)} vectors, {self.survivals.sum()} rounds")


@dataclass(eq=False, repr=False)
class LearningCurveDisplay(Display):
    """Updates so far after each epoch, and how many the theorem allows.

    Parameters
    ----------
    updates : array of int
        Updates in each epoch.
    certificate : Certificate
    """

    updates: NDArray[np.int64]
    certificate: Certificate

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, ax: Any = None) -> LearningCurveDisplay:
        """Draw the run of a fitted estimator, on its training data.

        Examples
        --------
        >>> from perceptive import LinearClassifier
        >>> from perceptive.games import separable_game
        >>> from perceptive.plots import LearningCurveDisplay
        >>> X, y, _ = separable_game(200, 5, margin=0.1, radius=1)
        >>> display = LearningCurveDisplay.from_estimator(LinearClassifier(bias=0.0).fit(X, y), X, y)
        >>> bool(display.updates.sum() <= display.certificate.bound)
        True
        """
        from perceptive.certificates import certify

        certificate = certify(estimator.learner_, X, y)
        return cls(np.asarray(estimator.updates_), certificate).plot(ax)

    def _draw(self, ax: Any) -> None:
        total = np.concatenate([[0], np.cumsum(self.updates)])
        ax.step(np.arange(len(total)), total, where="post", color=V, label="updates so far")
        bound = self.certificate.bound
        if np.isfinite(bound):
            ax.axhline(bound, color=FAINT, linestyle="--", label=f"certificate: {bound:.4g} at most")
        ax.set(xlabel="epochs", ylabel="updates", ylim=(0, None))
        ax.legend(frameon=False)
